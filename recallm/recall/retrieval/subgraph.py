"""Reads the part of the graph around a question's concepts that the paper's ranking orders.

For each essential concept c these are the concepts N within λ hops whose t_index lies in the
temporal window ``T(c) − s ≤ T(N) ≤ T(c)``. So does the authors' query; the condition printed in the
paper, with E the last relation of the path, lets old concepts through.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from recallm.ground.config import RecallConfig
from recallm.model import ConceptRow, Question, Relation
from recallm.stores.base import GraphReader

RELATIONS_FOLLOWED = 256
"""Newest relations of one concept that the search follows. It bounds hubs; older relations seldom
lead into the temporal window."""


def read_subgraph(
    reader: GraphReader, question: Question, config: RecallConfig
) -> tuple[dict[str, ConceptRow], list[Relation], frozenset[str]]:
    """The concepts of the subgraph by name, the relations between them, and the names of the
    essential concepts among them."""
    essential = reader.concepts({concept.name for concept in question.concepts})
    near = _within_hops(reader, [concept.name for concept in essential], config.hops)
    rows = reader.concepts(set().union(*near.values()))
    nodes = {concept.name: concept for concept in essential}
    for concept in essential:
        oldest = concept.t_index - config.temporal_window
        inside = [
            row
            for row in rows
            if row.name in near[concept.name] and oldest <= row.t_index <= concept.t_index
        ]
        nodes.update((row.name, row) for row in inside[: config.max_nodes])
    relations = reader.relations(nodes, among=True)
    return nodes, relations, frozenset(concept.name for concept in essential)


def _within_hops(reader: GraphReader, starts: Collection[str], hops: int) -> dict[str, set[str]]:
    """For each start the names of the other concepts that are at most ``hops`` relations away. The
    concepts between may be of any age. The store is asked once a hop, for all starts together."""
    neighbours: defaultdict[str, set[str]] = defaultdict(set)
    reached: set[str] = set()
    frontier = set(starts)
    for _ in range(hops):
        if not frontier:
            break
        reached |= frontier
        for relation in reader.relations(frontier, limit=RELATIONS_FOLLOWED):
            neighbours[relation.a].add(relation.b)
            neighbours[relation.b].add(relation.a)
        frontier = neighbours.keys() - reached
    near: dict[str, set[str]] = {}
    for start in starts:
        found = {start}
        edge = found
        for _ in range(hops):
            edge = {other for name in edge for other in neighbours.get(name, ())} - found
            found = found | edge
        near[start] = found - {start}
    return near
