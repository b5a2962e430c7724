"""``RecallMPropertyGraphStore``: the temporal graph of a memory as a LlamaIndex property graph."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any

import fsspec
from llama_index.core.graph_stores.types import (
    DEFAULT_PERSIST_DIR,
    DEFAULT_PG_PERSIST_FNAME,
    ChunkNode,
    LabelledNode,
    PropertyGraphStore,
    Relation,
)
from llama_index.core.graph_stores.types import Triplet as Path
from llama_index.core.schema import BaseNode
from llama_index.core.vector_stores.types import VectorStoreQuery, VectorStoreQueryMode

from llama_index_recallm._keeping import persisted, read_again
from llama_index_recallm._nodes import as_llama_node, is_chunk
from llama_index_recallm._reading import (
    among,
    found,
    has,
    nodes_of,
    of_sources,
    paths_of,
    several,
    simple_form,
)
from llama_index_recallm._rel_map import rel_map
from llama_index_recallm._schema import schema_of, schema_text, values_text
from llama_index_recallm._values import encoded
from llama_index_recallm._writing import (
    checked,
    write_chunks,
    write_entities,
    write_relations,
)
from recallm import InvalidInputError, RecallM
from recallm.adapting import checked_memory

__all__ = ["RecallMPropertyGraphStore"]


class RecallMPropertyGraphStore(PropertyGraphStore):
    """The entities, triplets and passages of ``memory`` as a property graph.

    Entity nodes are entities, by their exact id; chunk nodes are passages, their text verbatim, so
    that recall finds what they say; relations are triplets with their label as predicate, which
    grow stronger with each knowledge update that shows them. A chunk with what LlamaIndex extracted
    from it is one knowledge update, and where it is deleted, what another chunk says as well stays.
    ``triplet_source_id`` of a node or relation is on read the latest chunk that shows it.

    Nodes are looked up by exact id, then by casing, then by stem (``get``, ``get_triplets``);
    ``delete`` takes exact ids and names alone. An empty list names nothing, None anything.
    Properties hold what JSON holds, and datetimes, dates, times and bytes; they are merged, a new
    value takes the place of the old one, and those that a chunk brought go with it.
    ``embedding_model`` names the embeddings that LlamaIndex hands with its nodes: under one name
    all have the same dimension. They are not given back.

    ``timestamp_key``: the metadata of a chunk that says when it was said (an aware datetime, ISO
    8601 text, or a date, which begins in UTC), if any: what is recalled stands in that order.
    ``structured_queries=True`` (Neo4j alone) lets ``structured_query`` run Cypher, in sessions that
    can only read: it sees every namespace of the server.

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
        UnknownPassageError: in a call, a chunk was forgotten while what it brings was written.
        StoreError: in a call, where the store failed. What LlamaIndex hands over at once is written
            in transactions of 500 knowledge updates.

    """

    supports_vector_queries = True

    def __init__(
        self,
        memory: RecallM,
        *,
        embedding_model: str = "llama-index",
        timestamp_key: str | None = None,
        structured_queries: bool = False,
    ) -> None:
        self._memory = checked_memory(memory)
        for argument, name in (
            ("embedding_model", embedding_model),
            ("timestamp_key", timestamp_key),
        ):
            if not (isinstance(name, str) and name) and (argument, name) != ("timestamp_key", None):
                raise InvalidInputError(
                    f"{argument} must be a name, not {name!r}", argument=argument
                )
        self._model = embedding_model
        self._timestamp_key = timestamp_key
        if structured_queries and memory.graph.cypher_schema is None:
            raise InvalidInputError(
                "structured_queries=True needs a memory on Neo4j, as in RecallM('neo4j://…')",
                argument="structured_queries",
            )
        self.supports_structured_queries = structured_queries
        self._schema: dict[str, Any] | None = None

    @property
    def memory(self) -> RecallM:
        """The memory that the graph is of."""
        return self._memory

    @property
    def client(self) -> RecallM:
        """The memory."""
        return self._memory

    # -- reading ---------------------------------------------------------------------------

    def get(
        self, properties: dict[str, Any] | None = None, ids: list[str] | None = None
    ) -> list[LabelledNode]:
        """The nodes with these ids (all if None) that have all of ``properties``; an entity's
        ``name`` is one of them."""
        entities = self._memory.graph.entities() if ids is None else found(self._memory, ids)
        nodes = nodes_of(self._memory, entities)
        return [
            nodes[entity.id]
            for entity in entities
            if entity.id in nodes and has(nodes[entity.id], properties)
        ]

    def get_triplets(
        self,
        entity_names: list[str] | None = None,
        relation_names: list[str] | None = None,
        properties: dict[str, Any] | None = None,
        ids: list[str] | None = None,
    ) -> list[Path]:
        """The relations, with their two nodes, that meet every condition given: an end has one of
        these names; their label is one of these; the relation or an end has all of ``properties``;
        an end has one of these ids. In the order of their t_index."""
        ends = [
            None if names is None else {it.id for it in found(self._memory, names)}
            for names in (entity_names, ids)
        ]
        given = [names for names in ends if names is not None]
        triplets = self._memory.graph.triplets(
            ends=given[0] if given else None, predicates=relation_names
        )
        if len(given) == 2:
            triplets = [it for it in triplets if {it.subject, it.object} & given[1]]
        paths = paths_of(self._memory, sorted(triplets, key=lambda it: it.t_index))
        return [path for path in paths if any(has(part, properties) for part in path)]

    def get_rel_map(
        self,
        graph_nodes: list[LabelledNode],
        depth: int = 2,
        limit: int = 30,
        ignore_rels: list[str] | None = None,
    ) -> list[Path]:
        """At most ``limit`` relations at most ``depth`` away from ``graph_nodes``, in the order of
        their t_index: the nearest, and of those the latest, of each node in turn. Relations with a
        label in ``ignore_rels`` are left out, and take no place; paths lead over them all the same.
        A chunk stands for the relations between entities that the chunk brought; that it mentions
        an entity (MENTIONS, from a chunk to an entity) is neither shown nor followed."""
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
        wanted = several(node_ids, "node_ids")
        chunks = [it for it in self._memory.graph.entities(wanted) if is_chunk(it)]
        nodes = nodes_of(self._memory, chunks)
        kept = [nodes[id] for id in dict.fromkeys(wanted) if id in nodes]
        return [as_llama_node(node) for node in kept if isinstance(node, ChunkNode)]

    def vector_query(
        self,
        query: VectorStoreQuery,
        **kwargs: Any,  # noqa: ARG002
    ) -> tuple[list[LabelledNode], list[float]]:
        """The ``similarity_top_k`` nodes whose embeddings are nearest to ``query_embedding``, with
        the cosine, nearest first: of those with these ``node_ids``, from these ``doc_ids``, whose
        properties meet ``filters``. Every embedding is looked at.

        Raises:
            InvalidInputError: there is no embedding, or a mode other than the default.
            DimensionError: the embedding has another dimension than those kept.

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
            ids=among(self._memory, query),
        )
        nodes = nodes_of(self._memory, [entity for entity, _ in near])
        shown = [(nodes[entity.id], cosine) for entity, cosine in near if entity.id in nodes]
        return [node for node, _ in shown], [cosine for _, cosine in shown]

    def structured_query(self, query: str, param_map: dict[str, Any] | None = None) -> Any:
        """The rows that a Cypher query gives, in a session that can only read.

        Raises:
            NotImplementedError: it was not asked for with ``structured_queries=True``.
            InvalidInputError: the query cannot be run, or would write.

        """
        if not self.supports_structured_queries:
            raise NotImplementedError(
                "structured queries are off: they see every namespace of a Neo4j server; "
                "RecallMPropertyGraphStore(memory=…, structured_queries=True) allows them"
            )
        return self._memory.graph.cypher(query, param_map)

    def get_schema(self, refresh: bool = False) -> dict[str, Any]:
        """``node_props`` and ``rel_props`` (label → property → type), ``relationships`` (labels of
        source, relation and target), as they were when last read or refreshed."""
        if refresh or self._schema is None:
            graph = self._memory.graph
            self._schema = schema_of(graph.entities(), graph.triplets())
        return copy.deepcopy(self._schema)

    def get_schema_str(self, refresh: bool = False) -> str:
        """``get_schema`` in words; with structured queries as the graph stands in Neo4j."""
        schema = self.get_schema(refresh=refresh)
        if not self.supports_structured_queries:
            return schema_text(schema)
        return f"{self._memory.graph.cypher_schema}\n{values_text(schema)}"

    # -- writing ---------------------------------------------------------------------------

    def upsert_nodes(self, nodes: Sequence[LabelledNode]) -> None:
        """Write nodes; those that there are already are merged."""
        chunks, entities = checked(self._memory, list(nodes), self._model)
        if chunks:
            write_chunks(self._memory, chunks, model=self._model, timestamp_key=self._timestamp_key)
        if entities:
            write_entities(self._memory, entities, model=self._model)

    def upsert_llama_nodes(self, llama_nodes: Sequence[BaseNode]) -> None:
        """Write the chunks that LlamaIndex's nodes are.

        Raises:
            InvalidInputError: one cannot be written, or has metadata that its entities, which come
                later, could not have as properties; nothing was written.

        """
        nodes = list(llama_nodes)
        for node in nodes:
            encoded(node.metadata, of=node.node_id)
        super().upsert_llama_nodes(nodes)

    def upsert_relations(self, relations: list[Relation]) -> None:
        """Write relations; an end that is not there becomes an entity with that name."""
        told = list(relations)
        if told:
            write_relations(self._memory, told)

    def delete(
        self,
        entity_names: list[str] | None = None,
        relation_names: list[str] | None = None,
        properties: dict[str, Any] | None = None,
        ids: list[str] | None = None,
    ) -> None:
        """Delete the entities with these names, the relations with these labels, the nodes that
        have all of ``properties``, and the nodes with these ids: exactly those. A node goes with
        its relations. With a chunk goes all that no other chunk and no other call told of."""
        graph = self._memory.graph
        named = {name.replace('"', " ") for name in several(entity_names or (), "entity_names")}
        doomed = [entity for entity in graph.entities(named) if not is_chunk(entity)]
        doomed += graph.entities(several(ids or (), "ids"))
        if properties:
            doomed += graph.entities([node.id for node in self.get(properties=properties)])
        if relation_names:
            triplets = graph.triplets(predicates=relation_names)
            graph.delete(triplets=[(it.subject, it.predicate, it.object) for it in triplets])
        gone = {entity.id: entity for entity in doomed}
        for id in [id for id, entity in gone.items() if is_chunk(entity)]:
            self._memory.forget(id=id)
            del gone[id]
        if gone:
            graph.delete(entities=gone)

    def delete_llama_nodes(
        self, node_ids: list[str] | None = None, ref_doc_ids: list[str] | None = None
    ) -> None:
        """Delete the chunks with these ids, and those of these documents, as ``delete`` does: a
        document that was not split is a chunk with the document's own id. The entities that came
        without a chunk, and name such a chunk or document as their source, go too."""
        chunks = several(node_ids or (), "node_ids")
        documents = several(ref_doc_ids or (), "ref_doc_ids")
        self.delete(ids=of_sources(self._memory, chunks, documents))

    # -- keeping ---------------------------------------------------------------------------

    def persist(self, persist_path: str, fs: fsspec.AbstractFileSystem | None = None) -> None:
        """Write all that the memory's namespace holds to a file, which ``from_persist_path`` reads.
        A memory in a file or on a server is kept without such a file. LlamaIndex's own store reads
        the nodes and relations in the file: ``StorageContext.from_defaults(persist_dir=…)`` gives
        that one, without recall, unless ``property_graph_store=`` is given; where that store is
        persisted to the same folder, the file keeps the graph alone and all else is lost.

        Raises:
            ArchiveError: the file cannot be written, or another program wrote it.

        """
        persisted(self._memory, simple_form(self._memory), persist_path, fs)

    @classmethod
    def from_persist_path(
        cls,
        persist_path: str,
        fs: fsspec.AbstractFileSystem | None = None,
        *,
        memory: RecallM | None = None,
        **settings: Any,
    ) -> RecallMPropertyGraphStore:
        """A store of what ``persist`` wrote: in ``memory``, whose namespace must be empty (a new
        one, embedded and in memory, if None). ``settings`` are the constructor's.

        Raises:
            ArchiveError: the file cannot be read.
            InvalidInputError: the namespace is not empty.

        """
        return cls(read_again(memory, persist_path, fs), **settings)

    @classmethod
    def from_persist_dir(
        cls,
        persist_dir: str = DEFAULT_PERSIST_DIR,
        fs: fsspec.AbstractFileSystem | None = None,
        *,
        memory: RecallM | None = None,
        **settings: Any,
    ) -> RecallMPropertyGraphStore:
        """``from_persist_path`` for the file that a ``StorageContext`` writes into a directory."""
        path = str(PurePosixPath(persist_dir) / DEFAULT_PG_PERSIST_FNAME)
        return cls.from_persist_path(path, fs, memory=memory, **settings)

    # -- off the event loop ----------------------------------------------------------------

    async def aget(
        self, properties: dict[str, Any] | None = None, ids: list[str] | None = None
    ) -> list[LabelledNode]:
        """``get``, off the event loop."""
        return await asyncio.to_thread(self.get, properties, ids)

    async def aget_triplets(
        self,
        entity_names: list[str] | None = None,
        relation_names: list[str] | None = None,
        properties: dict[str, Any] | None = None,
        ids: list[str] | None = None,
    ) -> list[Path]:
        """``get_triplets``, off the event loop."""
        return await asyncio.to_thread(
            self.get_triplets, entity_names, relation_names, properties, ids
        )

    async def aget_rel_map(
        self,
        graph_nodes: list[LabelledNode],
        depth: int = 2,
        limit: int = 30,
        ignore_rels: list[str] | None = None,
    ) -> list[Path]:
        """``get_rel_map``, off the event loop."""
        return await asyncio.to_thread(self.get_rel_map, graph_nodes, depth, limit, ignore_rels)

    async def aget_llama_nodes(self, node_ids: list[str]) -> list[BaseNode]:
        """``get_llama_nodes``, off the event loop."""
        return await asyncio.to_thread(self.get_llama_nodes, node_ids)

    async def aupsert_nodes(self, nodes: Sequence[LabelledNode]) -> None:
        """``upsert_nodes``, off the event loop."""
        await asyncio.to_thread(self.upsert_nodes, nodes)

    async def aupsert_llama_nodes(self, llama_nodes: Sequence[BaseNode]) -> None:
        """``upsert_llama_nodes``, off the event loop."""
        await asyncio.to_thread(self.upsert_llama_nodes, llama_nodes)

    async def aupsert_relations(self, relations: list[Relation]) -> None:
        """``upsert_relations``, off the event loop."""
        await asyncio.to_thread(self.upsert_relations, relations)

    async def adelete(
        self,
        entity_names: list[str] | None = None,
        relation_names: list[str] | None = None,
        properties: dict[str, Any] | None = None,
        ids: list[str] | None = None,
    ) -> None:
        """``delete``, off the event loop."""
        await asyncio.to_thread(self.delete, entity_names, relation_names, properties, ids)

    async def adelete_llama_nodes(
        self, node_ids: list[str] | None = None, ref_doc_ids: list[str] | None = None
    ) -> None:
        """``delete_llama_nodes``, off the event loop."""
        await asyncio.to_thread(self.delete_llama_nodes, node_ids, ref_doc_ids)

    async def astructured_query(self, query: str, param_map: dict[str, Any] | None = None) -> Any:
        """``structured_query``, off the event loop."""
        return await asyncio.to_thread(self.structured_query, query, param_map)

    async def avector_query(
        self, query: VectorStoreQuery, **kwargs: Any
    ) -> tuple[list[LabelledNode], list[float]]:
        """``vector_query``, off the event loop."""
        return await asyncio.to_thread(self.vector_query, query, **kwargs)

    async def aget_schema(self, refresh: bool = False) -> Any:
        """``get_schema``, off the event loop."""
        return await asyncio.to_thread(self.get_schema, refresh)

    async def aget_schema_str(self, refresh: bool = False) -> str:
        """``get_schema_str``, off the event loop."""
        return await asyncio.to_thread(self.get_schema_str, refresh)
