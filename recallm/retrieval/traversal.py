"""Which concepts the paper's ranking puts into the prompt (RecallM, Questioning the System).

For each essential concept c the nodes N within λ hops whose t_index lies in the temporal window
``T(c) − s ≤ T(N) ≤ T(c)`` (as the authors' query has it; the condition printed in the paper, with
E the last relation of the path, lets old nodes through). A node's score is the sum of
``strength + α · t_index`` over its relations in the subgraph.
"""

from __future__ import annotations

from recallm.config import RecallConfig
from recallm.model import ConceptRow, Question
from recallm.results import RankedConcept
from recallm.stores.base import GraphReader

__all__ = ["rank_concepts"]


def rank_concepts(
    reader: GraphReader, question: Question, *, config: RecallConfig
) -> list[RankedConcept]:
    """Every concept of the subgraph, most important first: the essential ones, then by score."""
    essential = reader.concepts({concept.name for concept in question.concepts})
    nodes: dict[str, ConceptRow] = {concept.name: concept for concept in essential}
    for concept in essential:
        linked = reader.linked(
            concept.name,
            hops=config.hops,
            oldest=concept.t_index - config.temporal_window,
            newest=concept.t_index,
            limit=config.max_nodes,
        )
        nodes.update((node.name, node) for node in linked)
    scores = dict.fromkeys(nodes, 0.0)
    for relation in reader.relations_among(nodes):
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
    return ranked
