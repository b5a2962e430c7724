"""Scores of passages, for items: the probability of their best statement, exact texts first."""

from __future__ import annotations

from collections.abc import Mapping

from recallm.ground.untrusted_text import one_line
from recallm.model import Passage, StoredStatement
from recallm.recall.ranking.linear_model import RankedStatements


def passage_scores(
    ranked: RankedStatements, question: str, first_passages: Mapping[str, Passage]
) -> dict[str, float]:
    """The ids of the passages, best first, each with the probability of its best statement.

    First, with 1, come the passages that equal ``question`` or have a statement that equals it,
    with or without a label ("team: IT"). ``first_passages`` holds the passages whose ids
    ``possible_exact_passages`` gives.
    """
    asked = _folded(question)
    statements = [ranked.statements[place] for place in ranked.order]
    best = {
        statement.passage_id: 1.0
        for statement in statements
        if asked
        and (
            _equals_without_label(statement.text, asked)
            or _passage_equals(statement, asked, first_passages)
        )
    }
    for place, statement in zip(ranked.order, statements, strict=True):
        best.setdefault(statement.passage_id, float(ranked.scores[place]))
    return best


def possible_exact_passages(ranked: RankedStatements, question: str) -> list[str]:
    """The ids of the passages whose text may equal ``question``, though their first statement is
    only a part of it."""
    asked = _folded(question)
    return [
        statement.passage_id
        for statement in map(ranked.statements.__getitem__, ranked.order)
        if asked
        and _starts_like(statement, asked)
        and not _equals_without_label(statement.text, asked)
    ]


def _starts_like(statement: StoredStatement, asked: str) -> bool:
    """Whether this first statement of a passage, without its label, is a part of ``asked``."""
    return not statement.position and _folded(statement.text).rpartition(": ")[2] in asked


def _passage_equals(
    statement: StoredStatement, asked: str, passages: Mapping[str, Passage]
) -> bool:
    passage = passages.get(statement.passage_id) if _starts_like(statement, asked) else None
    return passage is not None and _equals_without_label(passage.text, asked)


def _equals_without_label(text: str, asked: str) -> bool:
    """Whether a text equals ``asked``, with or without its label ("team: ")."""
    folded = _folded(text)
    return asked in (folded, folded.partition(": ")[2])


def _folded(text: str) -> str:
    return one_line(text).casefold()
