"""The relations around given nodes, for ``get_rel_map``."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from llama_index_recallm._nodes import MENTIONS, TripletKey, key_of
from recallm import MemoryGraph, Triplet


def rel_map(
    graph: MemoryGraph,
    entities: Collection[str],
    chunks: Collection[str],
    *,
    depth: int,
    limit: int,
    ignored: Collection[str],
) -> list[Triplet]:
    """At most ``limit`` triplets within ``depth`` relations of ``entities``, or from ``chunks``, in
    the order of their t_index.

    Relations are followed in both directions; those with a label in ``ignored`` are followed too,
    but not returned. A chunk's MENTIONS only say where an entity comes from, and are not followed.
    The nearest triplets are chosen first; at each distance the latest of every given node, then the
    next one of every node.
    """
    not_returned = {*ignored}
    chosen: dict[TripletKey, Triplet] = {}
    origins = {id: id for id in entities}  # entity → the given node that it was reached from
    frontier = list(origins)
    for distance in range(depth):
        if len(chosen) >= limit:
            break
        found: list[tuple[str, Triplet]] = []
        if frontier:
            found += [
                (origins[it.subject if it.subject in origins else it.object], it)
                for it in graph.triplets(ends=frontier)
            ]
        if distance == 0 and chunks:
            found += _triplets_of_chunks(graph, chunks)
        found = _without_mentions(graph, found)
        new = [
            (origin, it)
            for origin, it in found
            if it.predicate not in not_returned and key_of(it) not in chosen
        ]
        for it in _round_robin(new)[: limit - len(chosen)]:
            chosen[key_of(it)] = it
        frontier = []
        for origin, it in found:
            for end in (it.subject, it.object):
                if end not in origins:
                    origins[end] = origin
                    frontier.append(end)
    return sorted(chosen.values(), key=lambda it: (it.t_index, *key_of(it)))


def _triplets_of_chunks(graph: MemoryGraph, chunks: Collection[str]) -> list[tuple[str, Triplet]]:
    """Each chunk's triplets between entities."""
    found = [(chunk, it) for chunk in chunks for it in graph.triplets(passages=[chunk])]
    entities = _entity_ends(graph, (it for _, it in found))
    return [(chunk, it) for chunk, it in found if {it.subject, it.object} <= entities]


def _without_mentions(
    graph: MemoryGraph, found: list[tuple[str, Triplet]]
) -> list[tuple[str, Triplet]]:
    """``found`` without LlamaIndex's own MENTIONS, which lead from a chunk to an entity; a user's
    relations may have the same label between other nodes."""
    mentions = [it for _, it in found if it.predicate == MENTIONS]
    if not mentions:
        return found
    entities = _entity_ends(graph, mentions)
    own = {key_of(it) for it in mentions if it.subject not in entities and it.object in entities}
    return [(origin, it) for origin, it in found if key_of(it) not in own]


def _entity_ends(graph: MemoryGraph, triplets: Iterable[Triplet]) -> set[str]:
    """The ids at the ends of ``triplets`` that are entities, not chunks."""
    ends = {end for it in triplets for end in (it.subject, it.object)}
    return {entity.id for entity in graph.entities(ends) if entity.concept}


def _round_robin(found: list[tuple[str, Triplet]]) -> list[Triplet]:
    """The latest triplet of each origin, then the next of each, and so on; each triplet once."""
    latest_first = sorted(found, key=lambda pair: (-pair[1].t_index, key_of(pair[1])))
    counts: dict[str, int] = {}
    rounds: dict[TripletKey, tuple[int, Triplet]] = {}
    for origin, it in latest_first:
        if key_of(it) not in rounds:
            rounds[key_of(it)] = (counts.get(origin, 0), it)
            counts[origin] = counts.get(origin, 0) + 1
    return [it for _, it in sorted(rounds.values(), key=lambda numbered: numbered[0])]
