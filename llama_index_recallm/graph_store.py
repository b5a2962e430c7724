"""``RecallMGraphStore``: the triplets of a memory for LlamaIndex's ``KnowledgeGraphIndex``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any

import fsspec
from llama_index.core.graph_stores.types import (
    DEFAULT_PERSIST_DIR,
    DEFAULT_PERSIST_FNAME,
    GraphStore,
)

from llama_index_recallm._keeping import persisted, read_again
from recallm import InvalidInputError, NewEntity, NewTriplet, RecallM, Triplet
from recallm.adapting import checked_memory, new_lock

__all__ = ["RecallMGraphStore"]

_WRITING = new_lock()
"""What is read before a write stays true until it, among all stores of this process."""


class RecallMGraphStore(GraphStore):
    """The triplets of ``memory``, in both ends and in their predicate as they were given.

    For users of ``KnowledgeGraphIndex``, which LlamaIndex has deprecated: a new index is better
    made with ``RecallMPropertyGraphStore``, which sees the same graph. Triplets come in the order
    of the knowledge update that told of them last.

    ``structured_queries=True`` (Neo4j alone) lets ``query`` run Cypher, in sessions that can only
    read: it sees every namespace of the server.

    >>> from recallm import RecallM
    >>> store = RecallMGraphStore(memory=RecallM())
    >>> store.upsert_triplet("Ann", "works for", "Acme")
    >>> store.upsert_triplet("Acme", "is in", "Porto")
    >>> store.get("Ann")
    [['works for', 'Acme']]
    >>> store.get_rel_map(["Ann"], depth=2)
    {'Ann': [['Ann', 'works for', 'Acme'], ['Acme', 'is in', 'Porto']]}
    >>> store.delete("Acme", "is in", "Porto")
    >>> store.get("Acme")
    []

    Raises:
        InvalidInputError: an argument cannot be used.
        StoreError: in a call, where the store failed.

    """

    def __init__(self, memory: RecallM, *, structured_queries: bool = False) -> None:
        self._memory = checked_memory(memory)
        if structured_queries and memory.graph.cypher_schema is None:
            raise InvalidInputError(
                "structured_queries=True needs a memory on Neo4j, as in RecallM('neo4j://…')",
                argument="structured_queries",
            )
        self._structured = structured_queries
        self.schema = ""

    @property
    def memory(self) -> RecallM:
        """The memory that the triplets are of."""
        return self._memory

    @property
    def client(self) -> RecallM:
        """The memory."""
        return self._memory

    def get(self, subj: str) -> list[list[str]]:
        """Predicate and object of each triplet whose subject has exactly this id."""
        return [[it.predicate, it.object] for it in self._triplets([subj])]

    def get_rel_map(
        self, subjs: list[str] | None = None, depth: int = 2, limit: int = 30
    ) -> dict[str, list[list[str]]]:
        """For each subject (all if None) the triplets that lead away from it, in at most ``depth``
        steps: the nearest first, each once. ``limit`` counts the triplets of all subjects; those
        nearest to any of them are kept. A subject without triplets is left out."""
        if subjs is None:
            subjs = list(dict.fromkeys(it.subject for it in self._triplets(None)))
        found: dict[str, dict[tuple[str, str, str], None]] = {subj: {} for subj in subjs}
        ends = {subj: [subj] for subj in found}
        room = limit
        for _ in range(depth):
            step = self._by_subject({end for reached in ends.values() for end in reached})
            for subj, reached in ends.items():
                new = [
                    key for end in reached for key in step.get(end, ()) if key not in found[subj]
                ][: max(room, 0)]
                room -= len(new)
                found[subj].update(dict.fromkeys(new))
                ends[subj] = list(dict.fromkeys(object_ for _, _, object_ in new))
            if room <= 0 or not any(ends.values()):
                break
        return {subj: [list(key) for key in keys] for subj, keys in found.items() if keys}

    def upsert_triplet(self, subj: str, rel: str, obj: str) -> None:
        """Write a triplet, one knowledge update: told of again, it grows stronger. An end that is
        not there becomes an entity."""
        with _WRITING:
            self._memory.graph.upsert(
                [NewEntity(id=id, mentioned=True) for id in dict.fromkeys((subj, obj))],
                [NewTriplet(subject=subj, predicate=rel, object=obj)],
            )

    def delete(self, subj: str, rel: str, obj: str) -> None:
        """Delete exactly this triplet, and of its ends what nothing else holds: no other triplet,
        no passage, no property. What another process writes of an end in that moment may go with
        it."""
        graph = self._memory.graph
        with _WRITING:
            around = {_key(it) for it in graph.triplets(ends=[subj, obj])}
            if (subj, rel, obj) not in around:
                return
            around.remove((subj, rel, obj))
            held = {end for subject, _, object_ in around for end in (subject, object_)}
            graph.delete(
                entities=[
                    entity.id
                    for entity in graph.entities([subj, obj])
                    if entity.id not in held and entity.source is None and not entity.properties
                ],
                triplets=[(subj, rel, obj)],
            )

    def get_schema(self, refresh: bool = False) -> str:
        """How triplets stand in Neo4j, in words for a language model that writes Cypher; empty
        where ``query`` runs none."""
        if self._structured and (refresh or not self.schema):
            self.schema = self._memory.graph.cypher_schema or ""
        return self.schema

    def query(self, query: str, param_map: dict[str, Any] | None = None) -> Any:
        """The rows that a Cypher query gives, in a session that can only read.

        Raises:
            NotImplementedError: it was not asked for with ``structured_queries=True``.
            InvalidInputError: the query cannot be run, or would write.

        """
        if not self._structured:
            raise NotImplementedError(
                "Cypher is off: it sees every namespace of a Neo4j server; "
                "RecallMGraphStore(memory=…, structured_queries=True) allows it"
            )
        return self._memory.graph.cypher(query, param_map)

    def persist(self, persist_path: str, fs: fsspec.AbstractFileSystem | None = None) -> None:
        """Write all that the memory's namespace holds to a file, which ``from_persist_path`` reads.
        A memory in a file or on a server is kept without such a file. LlamaIndex's
        ``SimpleGraphStore``, which ``StorageContext.from_defaults(persist_dir=…)`` opens unless
        ``graph_store=`` is given, reads the triplets in the file; where that store is persisted to
        the same folder, the file keeps the triplets alone and all else is lost.

        Raises:
            ArchiveError: the file cannot be written, or another program wrote it.

        """
        led = self._by_subject(None)
        shown = {subject: [[rel, obj] for _, rel, obj in keys] for subject, keys in led.items()}
        persisted(self._memory, {"graph_dict": shown}, persist_path, fs)

    @classmethod
    def from_persist_path(
        cls,
        persist_path: str,
        fs: fsspec.AbstractFileSystem | None = None,
        *,
        memory: RecallM | None = None,
        structured_queries: bool = False,
    ) -> RecallMGraphStore:
        """A store of what ``persist`` wrote: in ``memory``, whose namespace must be empty (a new
        one, embedded and in memory, if None).

        Raises:
            ArchiveError: the file cannot be read.
            InvalidInputError: the namespace is not empty.

        """
        return cls(read_again(memory, persist_path, fs), structured_queries=structured_queries)

    @classmethod
    def from_persist_dir(
        cls,
        persist_dir: str = DEFAULT_PERSIST_DIR,
        fs: fsspec.AbstractFileSystem | None = None,
        *,
        memory: RecallM | None = None,
        structured_queries: bool = False,
    ) -> RecallMGraphStore:
        """``from_persist_path`` for the file that a ``StorageContext`` writes into a directory."""
        path = str(PurePosixPath(persist_dir) / DEFAULT_PERSIST_FNAME)
        return cls.from_persist_path(path, fs, memory=memory, structured_queries=structured_queries)

    def _triplets(self, subjects: Iterable[str] | None) -> list[Triplet]:
        """The triplets of these subjects (all if None) in the order of their t_index."""
        found = self._memory.graph.triplets(subjects=None if subjects is None else list(subjects))
        return sorted(found, key=lambda it: (it.t_index, *_key(it)))

    def _by_subject(self, subjects: Iterable[str] | None) -> dict[str, list[tuple[str, str, str]]]:
        led: dict[str, list[tuple[str, str, str]]] = {}
        for it in self._triplets(subjects):
            led.setdefault(it.subject, []).append(_key(it))
        return led


def _key(triplet: Triplet) -> tuple[str, str, str]:
    return triplet.subject, triplet.predicate, triplet.object
