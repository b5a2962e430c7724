"""The relations around given nodes: what ``get_rel_map`` gives."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from llama_index_recallm._nodes import MENTIONS
from recallm import MemoryGraph, Triplet

__all__ = ["rel_map"]

_Key = tuple[str, str, str]


def rel_map(
    graph: MemoryGraph,
    entities: Collection[str],
    chunks: Collection[str],
    *,
    depth: int,
    limit: int,
    ignored: Collection[str],
) -> list[Triplet]:
    """At most ``limit`` triplets at most ``depth`` relations away from ``entities``, or brought by
    ``chunks``, in the order of their t_index.

    Relations are followed in both directions; those with a label in ``ignored`` are followed too,
    and left out of what is given. That a chunk mentions an entity says where the entity comes from,
    and is not followed. The nearest are chosen first; at each distance the latest of every given
    node, then the next one of every node.
    """
    left_out = {*ignored}
    chosen: dict[_Key, Triplet] = {}
    # From which of the given nodes an entity was reached.
    reached = {id: id for id in entities}
    frontier = list(reached)
    for distance in range(depth):
        if len(chosen) >= limit:
            break
        found: list[tuple[str, Triplet]] = []
        if frontier:
            found += [
                (reached[it.subject if it.subject in reached else it.object], it)
                for it in graph.triplets(ends=frontier)
            ]
        if distance == 0 and chunks:
            found += _brought(graph, chunks)
        found = _without_provenance(graph, found)
        new = [
            (seed, it)
            for seed, it in found
            if it.predicate not in left_out and _key(it) not in chosen
        ]
        for it in _in_turns(new)[: limit - len(chosen)]:
            chosen[_key(it)] = it
        frontier = []
        for seed, it in found:
            for end in (it.subject, it.object):
                if end not in reached:
                    reached[end] = seed
                    frontier.append(end)
    return sorted(chosen.values(), key=lambda it: (it.t_index, *_key(it)))


def _brought(graph: MemoryGraph, chunks: Collection[str]) -> list[tuple[str, Triplet]]:
    """The triplets between entities that these chunks brought."""
    found = [(chunk, it) for chunk in chunks for it in graph.triplets(passages=[chunk])]
    named = _named(graph, (it for _, it in found))
    return [(chunk, it) for chunk, it in found if {it.subject, it.object} <= named]


def _without_provenance(
    graph: MemoryGraph, found: list[tuple[str, Triplet]]
) -> list[tuple[str, Triplet]]:
    """What was found without LlamaIndex's own MENTIONS, which lead from a chunk to an entity; a
    user's relation may have the same label, between other ends."""
    mentions = [it for _, it in found if it.predicate == MENTIONS]
    if not mentions:
        return found
    named = _named(graph, mentions)
    own = {_key(it) for it in mentions if it.subject not in named and it.object in named}
    return [(seed, it) for seed, it in found if _key(it) not in own]


def _named(graph: MemoryGraph, triplets: Iterable[Triplet]) -> set[str]:
    """The ids of the entities at the ends of ``triplets``: without those of chunks."""
    ends = {end for it in triplets for end in (it.subject, it.object)}
    return {entity.id for entity in graph.entities(ends) if entity.concept}


def _in_turns(found: list[tuple[str, Triplet]]) -> list[Triplet]:
    """The latest of each node, then the next of each, and so on; each triplet once."""
    found = sorted(found, key=lambda each: (-each[1].t_index, _key(each[1])))
    places: dict[str, int] = {}
    turns: dict[_Key, tuple[int, Triplet]] = {}
    for seed, it in found:
        if _key(it) not in turns:
            turns[_key(it)] = (places.get(seed, 0), it)
            places[seed] = places.get(seed, 0) + 1
    return [it for _, it in sorted(turns.values(), key=lambda turn: turn[0])]


def _key(triplet: Triplet) -> _Key:
    return triplet.subject, triplet.predicate, triplet.object
