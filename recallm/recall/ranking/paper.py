"""``ranking="paper"``: the contexts of the best concepts, least important first.

A concept's score is the sum of ``strength + α · t_index`` over its relations in the subgraph
(RecallM, Questioning the System). As in the paper, a statement stands in the context of every
concept that it mentions, repeated or not. A budget drops the least important contexts
first; a context that fits in part loses its oldest statements.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter

from recallm.model import ConceptRow, Relation, StoredStatement, Summary
from recallm.recall.contexts import Context, sentence
from recallm.recall.prompts import CHRONOLOGICAL_PREFIX
from recallm.recall.ranking.budget import Budget, EqualSentences, fitting_number
from recallm.recall.request import RecallRequest
from recallm.recall.results import RankedConcept, RecalledContext, RecalledStatement, chronological

_PARAGRAPH_SEPARATOR = "\n\n"
"""Between the contexts of two concepts."""

_Line = tuple[int, StoredStatement | Summary]
"""A line of a context, and the place of its concept in the order."""


def ranked_concepts(
    nodes: Iterable[ConceptRow],
    relations: Iterable[Relation],
    essential: Collection[str],
    temporal_weight: float,
) -> list[RankedConcept]:
    """Every concept of the subgraph, most important first: the essential ones, then by score.

    ``relations`` are those between ``nodes``; ``temporal_weight`` is the paper's α.
    """
    concepts = {node.name: node for node in nodes}
    scores = dict.fromkeys(concepts, 0.0)
    for relation in relations:
        weight = relation.strength + temporal_weight * relation.t_index
        scores[relation.a] += weight
        scores[relation.b] += weight
    ranked = [
        RankedConcept.of(node, score=scores[node.name], essential=node.name in essential)
        for node in concepts.values()
    ]
    ranked.sort(key=lambda each: (not each.essential, -each.score, -each.t_index, each.name))
    return ranked


def symbolically_revised(
    contexts: Mapping[str, Context], outdated: Collection[int]
) -> dict[str, Context]:
    """The contexts without the statements with the keys ``outdated``, and with the latest of equal
    statements alone (paper, Future Works: symbolic context revision); summaries and empty contexts
    are left out."""
    revised: dict[str, Context] = {}
    for name, context in contexts.items():
        stated = (each for each in context if isinstance(each, StoredStatement))
        current = EqualSentences().distinct(each for each in stated if each.key not in outdated)
        if current:
            revised[name] = [*sorted(current.values(), key=attrgetter("key"))]
    return revised


def context_of_concepts(
    ranked: Sequence[RankedConcept],
    contexts: Mapping[str, Context],
    request: RecallRequest,
) -> RecalledContext:
    """The contexts of ``ranked`` (most important first) that the budget holds."""
    ranked = [concept for concept in ranked if concept.name in contexts]
    lines: list[_Line] = [
        (place, line)
        for place, concept in enumerate(ranked)
        for line in reversed(contexts[concept.name])
    ]
    budget = Budget.of(request, None)
    lines = lines[: fitting_number(len(lines), lambda size: _text(lines[:size]), budget)]
    if not lines:
        return RecalledContext(question=request.question)
    text = _text(lines)
    return RecalledContext(
        question=request.question,
        text=text,
        statements=_statements(lines, ranked),
        concepts=tuple(ranked[: lines[-1][0] + 1]),
        tokens=request.count_tokens(text),
    )


def _text(lines: Sequence[_Line]) -> str:
    paragraphs: dict[int, list[str]] = {}
    for place, line in reversed(lines):
        paragraphs.setdefault(place, []).append(sentence(line))
    return _PARAGRAPH_SEPARATOR.join([CHRONOLOGICAL_PREFIX, *map(" ".join, paragraphs.values())])


def _statements(
    lines: Sequence[_Line], ranked: Sequence[RankedConcept]
) -> tuple[RecalledStatement, ...]:
    """Each statement once, with the concepts in whose contexts it stands."""
    paths: dict[str, list[str]] = {}
    first: dict[str, RecalledStatement] = {}
    for place, line in lines:
        if isinstance(line, Summary):
            recalled = RecalledStatement.of_summary(line)
        else:
            recalled = RecalledStatement.of(line)
        first.setdefault(recalled.id, recalled)
        concept = ranked[place]
        role = "essential concept" if concept.essential else "related concept"
        paths.setdefault(recalled.id, []).append(f"context of the {role} {concept.label}")
    return tuple(
        chronological(replace(recalled, path=tuple(paths[id])) for id, recalled in first.items())
    )
