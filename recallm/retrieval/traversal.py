"""Which concepts the paper's ranking puts into the prompt (RecallM, Questioning the System).

For each essential concept c the nodes N within λ hops whose t_index lies in the temporal window
``T(c) − s ≤ T(N) ≤ T(c)`` (as the authors' query has it; the condition printed in the paper, with
E the last relation of the path, lets old nodes through). A node's score is the sum of
``strength + α · t_index`` over its relations in the subgraph.
"""

from __future__ import annotations

from collections.abc import Collection

from recallm.config import RecallConfig
from recallm.model import ConceptRow, Question
from recallm.results import RankedConcept
from recallm.stores.base import GraphReader

__all__ = ["rank_concepts"]

FOLLOWED = 256
"""Relations of one concept that the search for the subgraph follows, the newest first: those of a
hub are without end, and the temporal window wants new ones."""


def rank_concepts(
    reader: GraphReader, question: Question, *, config: RecallConfig
) -> list[tuple[RankedConcept, ConceptRow]]:
    """Every concept of the subgraph, most important first: the essential ones, then by score."""
    essential = reader.concepts({concept.name for concept in question.concepts})
    near = _within_hops(reader, [concept.name for concept in essential], config.hops)
    rows = reader.concepts(set().union(*near.values()))
    nodes = {concept.name: concept for concept in essential}
    for concept in essential:
        oldest = concept.t_index - config.temporal_window
        window = [
            row
            for row in rows
            if row.name in near[concept.name] and oldest <= row.t_index <= concept.t_index
        ]
        nodes.update((row.name, row) for row in window[: config.max_nodes])
    scores = dict.fromkeys(nodes, 0.0)
    for relation in reader.relations(nodes, among=True):
        weight = relation.strength + config.temporal_weight * relation.t_index
        scores[relation.a] += weight
        scores[relation.b] += weight
    names = {concept.name for concept in essential}
    ranked = [
        RankedConcept(
            name=node.name,
            label=node.label,
            t_index=node.t_index,
            score=scores[node.name],
            essential=node.name in names,
        )
        for node in nodes.values()
    ]
    ranked.sort(key=lambda it: (not it.essential, -it.score, -it.t_index, it.name))
    return [(concept, nodes[concept.name]) for concept in ranked]


def _within_hops(reader: GraphReader, starts: Collection[str], hops: int) -> dict[str, set[str]]:
    """For each start the names of the other concepts that are at most ``hops`` relations away. The
    store is asked once a hop, for all starts together."""
    neighbours: dict[str, set[str]] = {}
    reached: set[str] = set()
    frontier = set(starts)
    for _ in range(hops):
        if not frontier:
            break
        reached |= frontier
        for relation in reader.relations(frontier, limit=FOLLOWED):
            neighbours.setdefault(relation.a, set()).add(relation.b)
            neighbours.setdefault(relation.b, set()).add(relation.a)
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
