"""The relations around given nodes, for ``get_rel_map``."""

from __future__ import annotations

from collections.abc import Collection

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
                (
                    origins[triplet.subject if triplet.subject in origins else triplet.object],
                    triplet,
                )
                for triplet in graph.triplets(ends=frontier)
            ]
        if distance == 0:
            found += [
                (chunk, triplet) for chunk in chunks for triplet in graph.triplets(passages=[chunk])
            ]
        found = _without_mentions(graph, found)
        new = [
            (origin, triplet)
            for origin, triplet in found
            if triplet.predicate not in not_returned and key_of(triplet) not in chosen
        ]
        for triplet in _round_robin(new)[: limit - len(chosen)]:
            chosen[key_of(triplet)] = triplet
        frontier = []
        for origin, triplet in found:
            for end in (triplet.subject, triplet.object):
                if end not in origins:
                    origins[end] = origin
                    frontier.append(end)
    return sorted(chosen.values(), key=lambda triplet: (triplet.t_index, *key_of(triplet)))


def _without_mentions(
    graph: MemoryGraph, found: list[tuple[str, Triplet]]
) -> list[tuple[str, Triplet]]:
    """``found`` without LlamaIndex's own MENTIONS, which lead from a chunk to an entity; a user's
    relations may have the same label between other nodes."""
    mentions = [triplet for _, triplet in found if triplet.predicate == MENTIONS]
    if not mentions:
        return found
    ends = {end for triplet in mentions for end in (triplet.subject, triplet.object)}
    entities = {entity.id for entity in graph.entities(ends) if entity.concept}
    own = {
        key_of(triplet)
        for triplet in mentions
        if triplet.subject not in entities and triplet.object in entities
    }
    return [(origin, triplet) for origin, triplet in found if key_of(triplet) not in own]


def _round_robin(found: list[tuple[str, Triplet]]) -> list[Triplet]:
    """The latest triplet of each origin, then the next of each, and so on; each triplet once."""
    latest_first = sorted(found, key=lambda pair: (-pair[1].t_index, key_of(pair[1])))
    counts: dict[str, int] = {}
    rounds: dict[TripletKey, tuple[int, Triplet]] = {}
    for origin, triplet in latest_first:
        if key_of(triplet) not in rounds:
            rounds[key_of(triplet)] = (counts.get(origin, 0), triplet)
            counts[origin] = counts.get(origin, 0) + 1
    return [triplet for _, triplet in sorted(rounds.values(), key=lambda numbered: numbered[0])]
