"""``RecallMGraphStore``: the triplets of a memory for LlamaIndex's ``KnowledgeGraphIndex``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

from llama_index.core.graph_stores.types import DEFAULT_PERSIST_FNAME, GraphStore

from llama_index_recallm._nodes import TripletKey, key_of
from llama_index_recallm._store_on_memory import StoreOnMemory
from recallm import NewEntity, NewTriplet, Triplet
from recallm.adapting import new_lock

_WRITE_LOCK = new_lock()
"""Among all stores of this process, the graph does not change between a read and the write that
depends on it."""


class RecallMGraphStore(StoreOnMemory, GraphStore):
    """The triplets of ``memory``, with their ends and predicates as they were given.

    For users of ``KnowledgeGraphIndex``, which LlamaIndex has deprecated: for a new index use
    ``RecallMPropertyGraphStore``, which has the same graph. Triplets stand in the order of the
    latest knowledge update that showed them.

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

    _file_name = DEFAULT_PERSIST_FNAME

    def get(self, subj: str) -> list[list[str]]:
        """Predicate and object of each triplet whose subject has exactly this id."""
        return [[triplet.predicate, triplet.object] for triplet in self._triplets([subj])]

    def get_rel_map(
        self, subjs: list[str] | None = None, depth: int = 2, limit: int = 30
    ) -> dict[str, list[list[str]]]:
        """For each subject (None: all) the triplets that lead away from it, in at most ``depth``
        steps: the nearest first, each once. ``limit`` counts the triplets of all subjects; the
        nearest of any subject are taken. A subject without triplets is left out."""
        if subjs is None:
            subjs = list(dict.fromkeys(triplet.subject for triplet in self._triplets(None)))
        found: dict[str, dict[TripletKey, None]] = {subj: {} for subj in subjs}
        ends = {subj: [subj] for subj in found}
        room = limit
        for _ in range(depth):
            step: dict[str, list[TripletKey]] = {}
            for triplet in self._triplets({end for reached in ends.values() for end in reached}):
                step.setdefault(triplet.subject, []).append(key_of(triplet))
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
            around = {key_of(triplet) for triplet in graph.triplets(ends=[subj, obj])}
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

    def get_schema(self, refresh: bool = False) -> NoReturn:
        """Not supported, as ``query``."""
        raise NotImplementedError("a RecallMGraphStore runs no queries, and describes no schema")

    def query(self, query: str, param_map: dict[str, Any] | None = None) -> NoReturn:
        """Not supported: no language model writes a query here.

        Raises:
            NotImplementedError: always.

        """
        raise NotImplementedError("a RecallMGraphStore runs no queries; get_rel_map reads triplets")

    def _triplets(self, subjects: Iterable[str] | None) -> list[Triplet]:
        """The triplets of these subjects (None: all) in the order of their t_index."""
        found = self._memory.graph.triplets(subjects=None if subjects is None else list(subjects))
        return sorted(found, key=lambda triplet: (triplet.t_index, *key_of(triplet)))
