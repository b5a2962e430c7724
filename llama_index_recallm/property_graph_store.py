"""``RecallMPropertyGraphStore``: the temporal graph of a memory as a LlamaIndex property graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from llama_index.core.graph_stores.types import (
    DEFAULT_PG_PERSIST_FNAME,
    ChunkNode,
    LabelledNode,
    PropertyGraphStore,
    Relation,
)
from llama_index.core.graph_stores.types import Triplet as Path
from llama_index.core.schema import BaseNode
from llama_index.core.vector_stores.types import VectorStoreQuery, VectorStoreQueryMode

from llama_index_recallm._graph_reading import (
    entities_meant_by,
    has_properties,
    ids_allowed_by,
    llama_id,
    nodes_of,
    paths_of,
    rel_map,
)
from llama_index_recallm._graph_writing import (
    checked_nodes,
    write_chunks,
    write_entities,
    write_relations,
)
from llama_index_recallm._nodes import is_chunk, key_of, llama_node_of, with_plain_metadata
from llama_index_recallm._store_on_memory import StoreOnMemory
from recallm import InvalidInputError, RecallM
from recallm.adapting import checks, in_thread, sync_in_thread


class RecallMPropertyGraphStore(StoreOnMemory, PropertyGraphStore):
    """The entities, triplets and passages of ``memory`` as a property graph.

    Entity nodes are entities, by their exact id. Chunk nodes are passages with their text verbatim,
    so that recall finds it. Relations are triplets with the label as predicate; they grow stronger
    with each knowledge update that shows them. A chunk with what LlamaIndex extracted from it is
    one knowledge update: where it is deleted, what another chunk says too stays. A node or relation
    is read with the latest chunk that shows it as its ``triplet_source_id``.

    Nodes are looked up by exact id, then in any casing, then by stem (``get``, ``get_triplets``);
    ``delete`` takes exact ids and names only. An empty list means none, None means all. Properties
    are JSON values: times become ISO 8601 text, tuples and sets become lists. They are merged: a
    new value replaces the old one, and a chunk's properties are deleted with it.
    ``embedding_model`` names the embeddings that LlamaIndex hands over with its nodes: under one
    name all have the same dimension. Nodes are read without them.

    ``timestamp_key``: the key in a chunk's metadata under which its time stands (an aware datetime,
    ISO 8601 text, or a date, which begins in UTC), if any: recall orders statements by it.

    >>> from llama_index.core.graph_stores.types import EntityNode, Relation
    >>> from recallm import RecallM
    >>> store = RecallMPropertyGraphStore(memory=RecallM())
    >>> store.upsert_nodes([EntityNode(name="Ann", label="PERSON"), EntityNode(name="Acme")])
    >>> works = Relation(label="WORKS_FOR", source_id="Ann", target_id="Acme")
    >>> store.upsert_relations([works])
    >>> store.upsert_relations([works])
    >>> [(source, relation, target)] = store.get_triplets(entity_names=["ann"])
    >>> source.name, relation.label, relation.strength, target.name
    ('Ann', 'WORKS_FOR', 2, 'Acme')

    Raises:
        InvalidInputError: an argument cannot be used; in a call, nothing was written.
        ConflictError: in a call, a chunk has the id of a passage that is no chunk.
        UnknownPassageError: in a call, a chunk was forgotten while its entities were written.
        StoreError: in a call, where the store failed. One call writes in transactions of 500
            knowledge updates.

    """

    supports_vector_queries = True
    _file_name = DEFAULT_PG_PERSIST_FNAME

    def __init__(
        self,
        memory: RecallM,
        *,
        embedding_model: str = "llama-index",
        timestamp_key: str | None = None,
    ) -> None:
        super().__init__(memory)
        self._model = checks.name(embedding_model, "embedding_model")
        self._timestamp_key = checks.optional_name(timestamp_key, "timestamp_key")

    # -- reading ---------------------------------------------------------------------------

    def get(
        self, properties: dict[str, Any] | None = None, ids: list[str] | None = None
    ) -> list[LabelledNode]:
        """The nodes with these ids (None: all) that have all of ``properties``; an entity's
        ``name`` is one of them."""
        memory = self._memory
        entities = memory.graph.entities() if ids is None else entities_meant_by(memory, ids)
        nodes = nodes_of(memory, entities).values()
        return [node for node in nodes if has_properties(node, properties)]

    def get_triplets(
        self,
        entity_names: list[str] | None = None,
        relation_names: list[str] | None = None,
        properties: dict[str, Any] | None = None,
        ids: list[str] | None = None,
    ) -> list[Path]:
        """The relations, with their two nodes, that meet every condition given: an end has one of
        these names; the label is one of these; the relation or an end has all of ``properties``; an
        end has one of these ids. In the order of their t_index."""
        ends = [
            {entity.id for entity in entities_meant_by(self._memory, names)}
            for names in (entity_names, ids)
            if names is not None
        ]
        triplets = self._memory.graph.triplets(
            ends=ends[0] if ends else None, predicates=relation_names
        )
        if len(ends) == 2:
            triplets = [
                triplet for triplet in triplets if {triplet.subject, triplet.object} & ends[1]
            ]
        paths = paths_of(self._memory, sorted(triplets, key=lambda triplet: triplet.t_index))
        return [path for path in paths if any(has_properties(part, properties) for part in path)]

    def get_rel_map(
        self,
        graph_nodes: list[LabelledNode],
        depth: int = 2,
        limit: int = 30,
        ignore_rels: list[str] | None = None,
    ) -> list[Path]:
        """At most ``limit`` relations within ``depth`` steps of ``graph_nodes``, in the order of
        their t_index: the nearest, and of those the latest, of each node in turn. Relations with a
        label in ``ignore_rels`` are followed, but neither returned nor counted. A chunk stands for
        the relations between entities in its update; its MENTIONS are neither returned nor
        followed."""
        nodes = list(graph_nodes)
        triplets = rel_map(
            self._memory.graph,
            [node.id for node in nodes if not isinstance(node, ChunkNode)],
            [node.id for node in nodes if isinstance(node, ChunkNode)],
            depth=depth,
            limit=limit,
            ignored=ignore_rels or (),
        )
        return paths_of(self._memory, triplets)

    def get_llama_nodes(self, node_ids: list[str]) -> list[BaseNode]:
        """The nodes that chunks were made from, with these exact ids."""
        ids = checks.strings(node_ids, "node_ids")
        chunks = [entity for entity in self._memory.graph.entities(ids) if is_chunk(entity)]
        nodes = nodes_of(self._memory, chunks)
        in_order = [nodes[id] for id in dict.fromkeys(ids) if id in nodes]
        return [llama_node_of(node) for node in in_order if isinstance(node, ChunkNode)]

    def vector_query(
        self,
        query: VectorStoreQuery,
        **kwargs: Any,  # noqa: ARG002
    ) -> tuple[list[LabelledNode], list[float]]:
        """The ``similarity_top_k`` nodes whose embeddings are nearest to ``query_embedding``, with
        their cosines, nearest first; only nodes with these ``node_ids``, from these ``doc_ids``,
        whose properties pass ``filters``. The search is exact.

        Raises:
            InvalidInputError: there is no embedding, or a mode other than the default.
            DimensionError: the embedding has another dimension than those of the nodes.

        """
        if query.query_embedding is None or query.mode != VectorStoreQueryMode.DEFAULT:
            raise InvalidInputError(
                "vector_query needs a query_embedding, and knows the default mode alone",
                argument="query",
            )
        if not query.similarity_top_k or query.similarity_top_k < 1:
            return [], []
        near = self._memory.graph.nearest(
            query.query_embedding,
            model=self._model,
            limit=query.similarity_top_k,
            ids=ids_allowed_by(self._memory, query),
        )
        nodes = nodes_of(self._memory, [entity for entity, _ in near])
        found = [(nodes[entity.id], cosine) for entity, cosine in near if entity.id in nodes]
        return [node for node, _ in found], [cosine for _, cosine in found]

    def structured_query(self, query: str, param_map: dict[str, Any] | None = None) -> NoReturn:
        """Not supported: ``supports_structured_queries`` is False.

        Raises:
            NotImplementedError: always.

        """
        raise NotImplementedError("a RecallMPropertyGraphStore runs no structured queries")

    # -- writing ---------------------------------------------------------------------------

    def upsert_nodes(self, nodes: Sequence[LabelledNode]) -> None:
        """Write nodes; known nodes are merged with the new ones."""
        chunks, entities = checked_nodes(self._memory, list(nodes), self._model)
        if chunks:
            write_chunks(self._memory, chunks, model=self._model, timestamp_key=self._timestamp_key)
        if entities:
            write_entities(self._memory, entities)

    def upsert_llama_nodes(self, llama_nodes: Sequence[BaseNode]) -> None:
        """Write LlamaIndex's nodes as chunks. LlamaIndex turns a node's metadata into JSON: lists
        for tuples and sets, text for times, paths, UUIDs and Decimals.

        Raises:
            InvalidInputError: a node cannot be written, or its metadata could not be properties of
                its entities, which are written later; nothing was written.

        """
        super().upsert_llama_nodes([with_plain_metadata(node) for node in llama_nodes])

    def upsert_relations(self, relations: list[Relation]) -> None:
        """Write relations; an unknown end becomes an entity with that name."""
        if relations := list(relations):
            write_relations(self._memory, relations)

    def delete(
        self,
        entity_names: list[str] | None = None,
        relation_names: list[str] | None = None,
        properties: dict[str, Any] | None = None,
        ids: list[str] | None = None,
    ) -> None:
        """Delete exactly the entities with these names, the relations with these labels, the nodes
        that have all of ``properties``, and the nodes with these ids. A node is deleted with its
        relations, and a chunk with everything that no other chunk and no other call showed."""
        graph = self._memory.graph
        entity_ids = {llama_id(name) for name in checks.strings(entity_names or (), "entity_names")}
        nodes = [entity for entity in graph.entities(entity_ids) if not is_chunk(entity)]
        nodes += graph.entities(checks.strings(ids or (), "ids"))
        if properties:
            nodes += graph.entities([node.id for node in self.get(properties=properties)])
        if relation_names:
            graph.delete(triplets=map(key_of, graph.triplets(predicates=relation_names)))
        for id in dict.fromkeys(node.id for node in nodes if is_chunk(node)):
            self._memory.forget(id=id)
        if entities := dict.fromkeys(node.id for node in nodes if not is_chunk(node)):
            graph.delete(entities=list(entities))

    def delete_llama_nodes(
        self, node_ids: list[str] | None = None, ref_doc_ids: list[str] | None = None
    ) -> None:
        """Delete the chunks with these ids, and those of these documents, as ``delete`` does: a
        document that was not split is a chunk with the document's own id. An entity that was
        written before the chunk that it names stays."""
        documents = checks.strings(ref_doc_ids or (), "ref_doc_ids")
        ids = [*checks.strings(node_ids or (), "node_ids"), *documents]
        for document in documents:
            ids += [passage.id for passage in self._memory.passages(session=document)]
        for entity in self._memory.graph.entities(ids):
            if is_chunk(entity):
                self._memory.forget(id=entity.id)

    # Unlike LlamaIndex's own async methods, these do not block the event loop.

    aget = sync_in_thread(PropertyGraphStore.aget)
    aget_triplets = sync_in_thread(PropertyGraphStore.aget_triplets)
    aget_rel_map = sync_in_thread(PropertyGraphStore.aget_rel_map)
    aget_llama_nodes = sync_in_thread(PropertyGraphStore.aget_llama_nodes)
    avector_query = sync_in_thread(PropertyGraphStore.avector_query)
    aupsert_nodes = sync_in_thread(PropertyGraphStore.aupsert_nodes)
    aupsert_relations = sync_in_thread(PropertyGraphStore.aupsert_relations)
    adelete = sync_in_thread(PropertyGraphStore.adelete)
    adelete_llama_nodes = sync_in_thread(PropertyGraphStore.adelete_llama_nodes)
    aupsert_llama_nodes = in_thread(upsert_llama_nodes)
