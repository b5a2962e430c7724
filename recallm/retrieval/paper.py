"""``ranking="paper"``: the contexts of the best concepts, least important first.

Repeated sentences and all, as in the paper: a statement stands in the context of every concept
that it mentions. Where a budget is given, the least important contexts are left out first, and of
the last one that fits in part the newest statements stay.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from recallm.config import RecallConfig
from recallm.contexts import ConceptContext, concept_contexts, sentence
from recallm.model import Filter, Question, StoredStatement, Summary
from recallm.prompts import CHRONOLOGICAL_PREFIX
from recallm.results import RankedConcept, RecalledContext, RecalledStatement, chronological
from recallm.retrieval.traversal import rank_concepts
from recallm.stores.base import GraphReader

__all__ = ["recall_paper"]


def recall_paper(
    reader: GraphReader,
    question: Question,
    *,
    config: RecallConfig,
    where: Filter,
    limit: int | None,
    max_tokens: int | None,
    count_tokens: Callable[[str], int],
    known: Collection[str] = (),
) -> RecalledContext:
    """Recall as the paper does; ``limit`` counts concepts' contexts (paper: 10). Statements of the
    passages ``known`` are left out of them."""
    best = rank_concepts(reader, question, config=config)[: limit or config.max_concepts]
    contexts = concept_contexts(reader, [row for _, row in best], where=where, known=known)
    ranked = [concept for concept, _ in best if concept.name in contexts]
    lines = [
        (place, line)
        for place, concept in enumerate(ranked)
        for line in _newest_first(contexts[concept.name])
    ]
    kept = len(lines)
    if max_tokens is not None:
        kept = bisect_right(
            range(1, len(lines) + 1),
            max_tokens,
            key=lambda size: count_tokens(_render(lines[:size])),
        )
    if not kept:
        return RecalledContext(question=question.text)
    lines = lines[:kept]
    text = _render(lines)
    return RecalledContext(
        question=question.text,
        text=text,
        statements=_statements(lines, ranked),
        concepts=tuple(ranked[: lines[-1][0] + 1]),
        tokens=count_tokens(text),
    )


def _newest_first(context: ConceptContext) -> list[StoredStatement | Summary]:
    lines: list[StoredStatement | Summary] = list(reversed(context.statements))
    return lines if context.summary is None else [*lines, context.summary]


def _render(lines: Sequence[tuple[int, StoredStatement | Summary]]) -> str:
    paragraphs: dict[int, list[str]] = {}
    for place, line in reversed(lines):
        speaker = line.speaker if isinstance(line, StoredStatement) else None
        paragraphs.setdefault(place, []).append(sentence(line.text, speaker))
    return "\n\n".join([CHRONOLOGICAL_PREFIX, *map(" ".join, paragraphs.values())])


def _statements(
    lines: Sequence[tuple[int, StoredStatement | Summary]], ranked: Sequence[RankedConcept]
) -> tuple[RecalledStatement, ...]:
    contexts: dict[str, list[str]] = {}
    first: dict[str, RecalledStatement] = {}
    for place, line in lines:
        recalled = (
            RecalledStatement.of_summary(line)
            if isinstance(line, Summary)
            else RecalledStatement.of(line)
        )
        first.setdefault(recalled.id, recalled)
        concept = ranked[place]
        role = "essential concept" if concept.essential else "related concept"
        contexts.setdefault(recalled.id, []).append(f"context of the {role} {concept.label}")
    return tuple(
        chronological(replace(recalled, path=tuple(contexts[id])) for id, recalled in first.items())
    )
