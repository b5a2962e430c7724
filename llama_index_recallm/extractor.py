"""``RecallMExtractor``: concepts and relations of a text for a property graph, with no model."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any

from llama_index.core.graph_stores.types import (
    KG_NODES_KEY,
    KG_RELATIONS_KEY,
    EntityNode,
    Relation,
)
from llama_index.core.schema import BaseNode, MetadataMode, TransformComponent
from pydantic import BeforeValidator, ConfigDict, Field, computed_field, model_validator

from llama_index_recallm._nodes import entities_named_like
from recallm import ConceptMention, Extraction, InvalidInputError, MemoryGraph, RecallM
from recallm.adapting import checked_memory, digest


class RecallMExtractor(TransformComponent):
    """Finds the concepts of each node's text, and what the text states of them, as ``memory`` does.

    A concept becomes an ``EntityNode`` named as the text spells it; its label is the concept's kind
    (noun, name, number, entity). Names that differ in casing alone are one entity: an entity that
    the memory has already keeps its id and its label; of a new one the first spelling of the call
    counts. What a text states of two concepts becomes a ``Relation`` with the verb as its label
    (Ingrid, live in, Malaga); its properties say how the text puts it (``said``), with which times
    and places (``adjuncts``), and how sure the reading is (``confidence``). What a text denies, or
    does not assert, becomes no relation. All have a copy of the node's metadata as properties.
    Entities and relations of an earlier extractor stay.

    Give it the memory of the store that the index writes to, in the same namespace: spellings and
    labels come from there, and the memory does not read a text again that was read here.

    >>> from llama_index.core import PropertyGraphIndex
    >>> from llama_index.core.schema import Document
    >>> from recallm import RecallM
    >>> from llama_index_recallm import RecallMPropertyGraphStore
    >>> memory = RecallM()
    >>> store = RecallMPropertyGraphStore(memory=memory)
    >>> index = PropertyGraphIndex.from_documents(
    ...     [Document(text="Ann met Bo in Porto.")],
    ...     kg_extractors=[RecallMExtractor(memory=memory)],
    ...     property_graph_store=store,
    ...     embed_kg_nodes=False,  # neither a language model nor an embedding model is asked
    ... )
    >>> [(a.name, relation.label, b.name) for a, relation, b in store.get_triplets(["Ann"])]
    [('Ann', 'meet', 'Bo'), ('Ann', 'meet in', 'Porto')]

    Raises:
        ValidationError: ``memory`` is no memory (pydantic's; a ``ValueError``).
        InvalidInputError: in a call, a node's text cannot be read; no node was changed.
        ClosedError: in a call, where the memory is closed.
        StoreError: in a call, where the store failed.

    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    memory: Annotated[RecallM, BeforeValidator(checked_memory)] = Field(exclude=True)

    @model_validator(mode="before")
    @classmethod
    def _drop_computed_field(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        return {name: value for name, value in given.items() if name != "reads"}

    @computed_field  # type: ignore[prop-decorator]
    @property
    def reads(self) -> str:
        """A digest of the memory's store, namespace and settings, on which the result depends
        besides the text. An ``IngestionCache`` distinguishes extractors by it: for a file or a
        server (opened by its address) the digest is the same in every process; for a memory
        without a file it holds as long as the memory lives."""
        # LlamaIndex leaves addresses of objects out of its keys: two stores would look the same.
        return digest(repr(self.memory), repr(self.memory.config))

    @classmethod
    def class_name(cls) -> str:
        """The name of the class, for LlamaIndex."""
        return "RecallMExtractor"

    async def acall(self, nodes: Sequence[BaseNode], **kwargs: Any) -> Sequence[BaseNode]:
        """``__call__``, off the event loop."""
        return await asyncio.to_thread(self, nodes, **kwargs)

    def __getstate__(self) -> dict[str, Any]:
        raise InvalidInputError(
            "a RecallMExtractor holds a memory, which stays in its process: run the pipeline "
            "without num_workers",
            argument="num_workers",
        )

    def __call__(
        self,
        nodes: Sequence[BaseNode],
        **kwargs: Any,  # noqa: ARG002 (LlamaIndex asks for bars of progress)
    ) -> Sequence[BaseNode]:
        """``nodes``, each with its concepts and relations in the metadata."""
        extractions = self._extractions(nodes)
        earlier = [_earlier_results(node) for node in nodes]
        spellings = _Spellings(
            self.memory.graph,
            (entity for entities, _ in earlier for entity in entities),
            (
                mention
                for extraction in extractions
                for statement in extraction.statements
                for mention in statement.concepts
            ),
        )
        for node, extraction, (entities, relations) in zip(
            nodes, extractions, earlier, strict=True
        ):
            new_entities, new_relations = _graph_of(extraction, spellings, _own_metadata(node))
            known_ids = {entity.id for entity in entities if isinstance(entity, EntityNode)}
            entities += [entity for entity in new_entities if entity.id not in known_ids]
            node.metadata[KG_NODES_KEY] = entities
            node.metadata[KG_RELATIONS_KEY] = [*relations, *new_relations]
        return nodes

    def _extractions(self, nodes: Sequence[BaseNode]) -> list[Extraction]:
        """The extraction of each node's text: the same text that a property graph store writes."""
        texts = [node.get_content(metadata_mode=MetadataMode.NONE) for node in nodes]
        try:
            return self.memory.extract(texts)
        except InvalidInputError:
            for node, text in zip(nodes, texts, strict=True):
                _check_text(self.memory, node, text)
            raise


class _Spellings:
    """The name and the label of the entity of each mentioned concept. By its name in any casing it
    is an entity of the graph, one of an earlier extractor, or a new one."""

    def __init__(
        self, graph: MemoryGraph, earlier: Iterable[object], mentions: Iterable[ConceptMention]
    ) -> None:
        self._exact: dict[str, tuple[str, str]] = {}
        self._entities: dict[str, tuple[str, str]] = {}
        mentions = list(mentions)
        mentioned = {mention.label.casefold() for mention in mentions}
        for entity in entities_named_like(graph, (mention.label for mention in mentions)):
            self._exact[entity.id] = entity.id, entity.type
            for name in (entity.id, entity.label):
                if name.casefold() in mentioned:
                    self._entities.setdefault(name.casefold(), (entity.id, entity.type))
        for node in earlier:
            if isinstance(node, EntityNode):
                self._entities.setdefault(node.name.casefold(), (node.name, node.label))
        for mention in mentions:
            self._entities.setdefault(mention.label.casefold(), (mention.label, mention.kind))

    def of(self, mention: ConceptMention) -> tuple[str, str]:
        """The name and the label of a mention's entity."""
        return self._exact.get(mention.label) or self._entities[mention.label.casefold()]


def _graph_of(
    extraction: Extraction, spellings: _Spellings, properties: dict[str, Any]
) -> tuple[list[EntityNode], list[Relation]]:
    """The entities and the relations that one text shows, each once."""
    entities: dict[str, EntityNode] = {}
    id_at: dict[tuple[int, str], str] = {}  # statement and concept → entity
    for statement in extraction.statements:
        for mention in statement.concepts:
            name, label = spellings.of(mention)
            node = EntityNode(name=name, label=label, properties=copy.deepcopy(properties))
            id_at[statement.position, mention.name] = entities.setdefault(node.id, node).id
    relations = list(_stated(extraction, id_at, entities, properties))
    return list(entities.values()), relations


def _stated(
    extraction: Extraction,
    id_at: Mapping[tuple[int, str], str],
    entities: dict[str, EntityNode],
    properties: dict[str, Any],
) -> Iterator[Relation]:
    """The facts that a text states, each once, the way it puts them first. An end that is no
    concept of its statement ("head of sales", "52,000 euros") is one more of the ``entities``."""

    def end(concept: ConceptMention | None, text: str, value: str, position: int) -> str | None:
        if concept is not None and not value:
            if known := id_at.get((position, concept.name)):
                return known
            text, value = concept.label, concept.kind
        if not value:
            return None  # the end names nothing
        node = EntityNode(name=text, label=value, properties=copy.deepcopy(properties))
        return entities.setdefault(node.id, node).id

    seen: set[tuple[str, str, str]] = set()
    for triplet in extraction.facts:
        if not triplet.is_fact:
            continue
        source = end(triplet.subject_concept, triplet.subject, "", triplet.position)
        target = end(triplet.object_concept, triplet.object, triplet.object_value, triplet.position)
        if source is None or target is None or source == target:
            continue
        key = source, triplet.relation, target
        if key not in seen:
            seen.add(key)
            yield Relation(
                label=triplet.relation,
                source_id=source,
                target_id=target,
                properties={**triplet.properties, **copy.deepcopy(properties)},
            )


def _earlier_results(node: BaseNode) -> tuple[list[Any], list[Any]]:
    """The entities and the relations that an earlier extractor found."""
    entities, relations = node.metadata.get(KG_NODES_KEY), node.metadata.get(KG_RELATIONS_KEY)
    return list(entities or ()), list(relations or ())


def _own_metadata(node: BaseNode) -> dict[str, Any]:
    return {
        key: value
        for key, value in node.metadata.items()
        if key not in (KG_NODES_KEY, KG_RELATIONS_KEY)
    }


def _check_text(memory: RecallM, node: BaseNode, text: str) -> None:
    """Raise an error that names the node whose text cannot be read."""
    try:
        memory.extract([text])
    except InvalidInputError as error:
        raise InvalidInputError(
            f"the text of node {node.node_id!r} cannot be read: {error}", argument="nodes"
        ) from None
