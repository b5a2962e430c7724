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

from llama_index_recallm._graph_reading import structured_queries_allowed, structured_query
from llama_index_recallm._persistence import load_memory, persist_memory
from recallm import NewEntity, NewTriplet, RecallM, Triplet
from recallm.adapting import checked_memory, new_lock

__all__ = ["RecallMGraphStore"]

_WRITE_LOCK = new_lock()
"""Among all stores of this process, the graph does not change between a read and the write that
depends on it."""


class RecallMGraphStore(GraphStore):
    """The triplets of ``memory``, with their ends and predicates as they were given.

    For users of ``KnowledgeGraphIndex``, which LlamaIndex has deprecated: for a new index use
    ``RecallMPropertyGraphStore``, which has the same graph. Triplets stand in the order of the
    latest knowledge update that showed them.

    ``structured_queries=True`` (on Neo4j only) lets ``query`` run Cypher, in sessions that can only
    read; a query that would read other namespaces is refused.

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
        self._structured = structured_queries_allowed(memory, structured_queries)
        self.schema = ""

    @property
    def memory(self) -> RecallM:
        """The memory whose triplets these are."""
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
        """For each subject (None: all) the triplets that lead away from it, in at most ``depth``
        steps: the nearest first, each once. ``limit`` counts the triplets of all subjects; the
        nearest of any subject are taken. A subject without triplets is left out."""
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
        """Write a triplet as one knowledge update: each further time it grows stronger. An unknown
        end becomes an entity."""
        with _WRITE_LOCK:
            self._memory.graph.upsert(
                [NewEntity(id=id, mentioned=True) for id in dict.fromkeys((subj, obj))],
                [NewTriplet(subject=subj, predicate=rel, object=obj)],
            )

    def delete(self, subj: str, rel: str, obj: str) -> None:
        """Delete exactly this triplet, and those of its ends that have no other triplet, no passage
        and no property. What another process writes about such an end in that moment may be
        deleted with it."""
        graph = self._memory.graph
        with _WRITE_LOCK:
            around = {_key(it) for it in graph.triplets(ends=[subj, obj])}
            if (subj, rel, obj) not in around:
                return
            around.remove((subj, rel, obj))
            still_used = {end for subject, _, object_ in around for end in (subject, object_)}
            graph.delete(
                entities=[
                    entity.id
                    for entity in graph.entities([subj, obj])
                    if entity.id not in still_used
                    and entity.source is None
                    and not entity.properties
                ],
                triplets=[(subj, rel, obj)],
            )

    def get_schema(self, refresh: bool = False) -> str:
        """How Neo4j holds the triplets, in words for a language model that writes Cypher; empty
        where ``query`` runs none."""
        if self._structured and (refresh or not self.schema):
            self.schema = self._memory.graph.cypher_schema or ""
        return self.schema

    def query(self, query: str, param_map: dict[str, Any] | None = None) -> Any:
        """The rows of a Cypher query, in a session that can only read.

        Raises:
            NotImplementedError: ``structured_queries=True`` was not given.
            InvalidInputError: the query cannot be run, or would write.

        """
        return structured_query(
            self._memory,
            query,
            param_map,
            allowed=self._structured,
            store=type(self).__name__,
        )

    def persist(self, persist_path: str, fs: fsspec.AbstractFileSystem | None = None) -> None:
        """Write the memory's namespace to a file, which ``from_persist_path`` reads. A memory in a
        file or on a server does not need it. LlamaIndex's ``SimpleGraphStore``, which
        ``StorageContext.from_defaults(persist_dir=…)`` opens unless ``graph_store=`` is given,
        reads the triplets in the file; where that store is persisted to the same folder, the file
        keeps the triplets alone and everything else is lost.

        Raises:
            ArchiveError: the file cannot be written, or another program wrote it.

        """
        graph = {
            subject: [[rel, obj] for _, rel, obj in keys]
            for subject, keys in self._by_subject(None).items()
        }
        persist_memory(self._memory, {"graph_dict": graph}, persist_path, fs)

    @classmethod
    def from_persist_path(
        cls,
        persist_path: str,
        fs: fsspec.AbstractFileSystem | None = None,
        *,
        memory: RecallM | None = None,
        structured_queries: bool = False,
    ) -> RecallMGraphStore:
        """A store with what ``persist`` wrote, in ``memory``, whose namespace must be empty (None:
        in a new memory, embedded and without a file).

        Raises:
            ArchiveError: the file cannot be read.
            InvalidInputError: the namespace is not empty.

        """
        return cls(load_memory(memory, persist_path, fs), structured_queries=structured_queries)

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
        """The triplets of these subjects (None: all) in the order of their t_index."""
        found = self._memory.graph.triplets(subjects=None if subjects is None else list(subjects))
        return sorted(found, key=lambda it: (it.t_index, *_key(it)))

    def _by_subject(self, subjects: Iterable[str] | None) -> dict[str, list[tuple[str, str, str]]]:
        keys: dict[str, list[tuple[str, str, str]]] = {}
        for it in self._triplets(subjects):
            keys.setdefault(it.subject, []).append(_key(it))
        return keys


def _key(triplet: Triplet) -> tuple[str, str, str]:
    return triplet.subject, triplet.predicate, triplet.object
