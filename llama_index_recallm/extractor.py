"""``RecallMExtractor``: concepts and relations of a text for a property graph, with no model."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any

from llama_index.core.graph_stores.types import (
    KG_NODES_KEY,
    KG_RELATIONS_KEY,
    EntityNode,
    Relation,
)
from llama_index.core.schema import BaseNode, MetadataMode, TransformComponent
from pydantic import BeforeValidator, ConfigDict, Field, computed_field, model_validator
from tqdm import tqdm

from llama_index_recallm._nodes import alike
from recallm import ConceptMention, Extraction, InvalidInputError, MemoryGraph, RecallM
from recallm.adapting import checked_memory, digest

__all__ = ["RecallMExtractor"]

_RELATED = "RELATED"
_AT_ONCE = 200


class RecallMExtractor(TransformComponent):
    """Finds the concepts of each node's text, and which of them are neighbours, as ``memory`` does.

    A concept becomes an ``EntityNode`` named as the text spells it, its label the concept's kind
    (noun, name, number, entity). What differs in capitals alone is one entity: an entity that the
    memory has already keeps its id and its label, else the spelling that came first in the call
    holds. Two neighbours become a ``Relation`` RELATED; as it has no direction of its own, it leads
    from one to the other the same way in every text. Both have a copy of the node's metadata as
    properties. What an extractor before this one found stays.

    Give it the memory of the store that the index writes to, namespace and all: spellings and
    labels come from there. What is read here the memory does not read again when the text is
    written to it. So an index is
    built and asked with no language model and no embedding model where it is given
    ``kg_extractors=`` and ``embed_kg_nodes=False``, to ``from_documents`` and ``from_existing``
    too, and ``sub_retrievers=`` where it is asked (a query engine needs ``llm=`` to answer):

    >>> from llama_index.core import PropertyGraphIndex
    >>> from llama_index.core.schema import Document
    >>> from recallm import RecallM
    >>> from llama_index_recallm import RecallMPropertyGraphStore, RecallMSubRetriever
    >>> memory = RecallM()
    >>> store = RecallMPropertyGraphStore(memory=memory)
    >>> index = PropertyGraphIndex.from_documents(
    ...     [Document(text="Ann met Bo in Porto.")],
    ...     kg_extractors=[RecallMExtractor(memory=memory)],
    ...     property_graph_store=store,
    ...     embed_kg_nodes=False,
    ... )
    >>> [(a.name, b.name) for a, _, b in store.get_triplets(relation_names=["RELATED"])]
    [('Ann', 'Bo'), ('Bo', 'Porto')]
    >>> sub_retriever = RecallMSubRetriever(store, include_text=False)
    >>> retriever = index.as_retriever(sub_retrievers=[sub_retriever])
    >>> [found.text for found in retriever.retrieve("Whom did Ann meet?")]
    ['Ann met Bo in Porto.']

    Raises:
        ValidationError: ``memory`` is none (pydantic's; a ``ValueError``).
        InvalidInputError: in a call, a node's text cannot be read; no node was changed.
        ClosedError: in a call, where the memory is closed.
        StoreError: in a call, where the store failed.

    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    memory: Annotated[RecallM, BeforeValidator(checked_memory)] = Field(exclude=True)

    @model_validator(mode="before")
    @classmethod
    def _without_what_is_computed(cls, given: Any) -> Any:
        return (
            {k: it for k, it in given.items() if k != "reads"} if isinstance(given, dict) else given
        )

    @computed_field  # type: ignore[prop-decorator]
    @property
    def reads(self) -> str:
        """A digest of what the result depends on besides the text: the memory's store, namespace
        and settings. An ``IngestionCache`` tells one extractor from another by the digest: for a
        file and for a server (opened by its address) in every process, for a memory without a file
        as long as the memory lives."""
        # LlamaIndex leaves addresses of objects out of its keys: two stores would look the same.
        return digest(repr(self.memory), repr(self.memory.config))

    @classmethod
    def class_name(cls) -> str:
        """The name of the class, for LlamaIndex."""
        return "RecallMExtractor"

    def __call__(
        self, nodes: Sequence[BaseNode], show_progress: bool = False, **kwargs: Any
    ) -> Sequence[BaseNode]:
        """Give ``nodes`` back, each with its concepts and relations in the metadata."""
        del kwargs
        return self._extract(nodes, show_progress)

    async def acall(
        self, nodes: Sequence[BaseNode], show_progress: bool = False, **kwargs: Any
    ) -> Sequence[BaseNode]:
        """``__call__``, off the event loop."""
        del kwargs
        return await asyncio.to_thread(self._extract, nodes, show_progress)

    def __getstate__(self) -> dict[str, Any]:
        raise InvalidInputError(
            "a RecallMExtractor holds a memory, which stays in its process: run the pipeline "
            "without num_workers",
            argument="num_workers",
        )

    def _extract(self, nodes: Sequence[BaseNode], show_progress: bool) -> Sequence[BaseNode]:
        read = list(self._read(nodes, show_progress))
        before = [_found_before(node) for node in nodes]
        spellings = _Spellings(
            self.memory.graph,
            (entity for entities, _ in before for entity in entities),
            (mention for it in read for said in it.statements for mention in said.concepts),
        )
        for node, extraction, (entities, relations) in zip(nodes, read, before, strict=True):
            own = _own_metadata(node)
            new_entities, new_relations = _graph_of(extraction, spellings, own)
            known = {entity.id for entity in entities if isinstance(entity, EntityNode)}
            entities += [entity for entity in new_entities if entity.id not in known]
            node.metadata[KG_NODES_KEY] = entities
            node.metadata[KG_RELATIONS_KEY] = [*relations, *new_relations]
        return nodes

    def _read(self, nodes: Sequence[BaseNode], show_progress: bool) -> Iterator[Extraction]:
        """What each node's text says: the very text that a property graph store writes."""
        with tqdm(
            total=len(nodes), disable=not show_progress, desc="Extracting concepts", unit="node"
        ) as bar:
            for start in range(0, len(nodes), _AT_ONCE):
                some = nodes[start : start + _AT_ONCE]
                texts = [node.get_content(metadata_mode=MetadataMode.NONE) for node in some]
                try:
                    yield from self.memory.extract(texts)
                except InvalidInputError:
                    for node, text in zip(some, texts, strict=True):
                        _check(self.memory, node, text)
                    raise
                bar.update(len(some))


class _Spellings:
    """Which entity a concept is, by what it is called without regard to capitals: one that the
    graph has, one that was found before, or a new one."""

    def __init__(
        self, graph: MemoryGraph, before: Iterable[object], mentions: Iterable[ConceptMention]
    ) -> None:
        self._exact: dict[str, tuple[str, str]] = {}
        self._entities: dict[str, tuple[str, str]] = {}
        said = list(mentions)
        wanted = {mention.label.casefold() for mention in said}
        for entity in alike(graph, (mention.label for mention in said)):
            self._exact[entity.id] = entity.id, entity.type
            for name in (entity.id, entity.label):
                if name.casefold() in wanted:
                    self._entities.setdefault(name.casefold(), (entity.id, entity.type))
        for found in before:
            if isinstance(found, EntityNode):
                self._entities.setdefault(found.name.casefold(), (found.name, found.label))
        for mention in said:
            self._entities.setdefault(mention.label.casefold(), (mention.label, mention.kind))

    def of(self, mention: ConceptMention) -> tuple[str, str]:
        """The name and the label of its entity."""
        return self._exact.get(mention.label) or self._entities[mention.label.casefold()]


def _graph_of(
    extraction: Extraction, spellings: _Spellings, properties: dict[str, Any]
) -> tuple[list[EntityNode], list[Relation]]:
    """The entities and the relations that one text shows, each once."""
    entities: dict[str, EntityNode] = {}
    placed: dict[tuple[int, str], str] = {}
    for said in extraction.statements:
        for mention in said.concepts:
            name, label = spellings.of(mention)
            node = EntityNode(name=name, label=label, properties=copy.deepcopy(properties))
            placed[said.position, mention.name] = entities.setdefault(node.id, node).id
    pairs: dict[tuple[str, str], None] = {}
    for pair in extraction.neighbours:
        at_a, at_b = (
            (pair.earlier, pair.later)
            if (pair.earlier, pair.a) in placed and (pair.later, pair.b) in placed
            else (pair.later, pair.earlier)
        )
        source, target = placed[at_a, pair.a], placed[at_b, pair.b]
        if source != target:
            pairs[source, target] = None
    return list(entities.values()), [
        Relation(
            label=_RELATED,
            source_id=source,
            target_id=target,
            properties=copy.deepcopy(properties),
        )
        for source, target in pairs
    ]


def _found_before(node: BaseNode) -> tuple[list[Any], list[Any]]:
    """What an extractor before this one found."""
    return list(node.metadata.get(KG_NODES_KEY) or ()), list(
        node.metadata.get(KG_RELATIONS_KEY) or ()
    )


def _own_metadata(node: BaseNode) -> dict[str, Any]:
    return {
        key: value
        for key, value in node.metadata.items()
        if key not in (KG_NODES_KEY, KG_RELATIONS_KEY)
    }


def _check(memory: RecallM, node: BaseNode, text: str) -> None:
    """Say of which node it is that the text cannot be read."""
    try:
        memory.extract([text])
    except InvalidInputError as error:
        raise InvalidInputError(
            f"the text of node {node.node_id!r} cannot be read: {error}", argument="nodes"
        ) from None
