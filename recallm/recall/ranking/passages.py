"""Scores of passages, for items: the probability of their best statement, exact texts first."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from recallm.ground.untrusted_text import one_line
from recallm.model import Passage, StoredStatement
from recallm.recall.ranking.linear_model import RankedStatements


def passage_scores(
    ranked: RankedStatements, question: str, read: Callable[[list[str]], Iterable[Passage]]
) -> dict[str, float]:
    """The ids of the passages, best first, each with the probability of its best statement.

    First, with 1, come the passages that equal ``question`` or have a statement that equals it,
    with or without a label ("team: IT"). ``read`` gives the passages of ids: those are read of
    whose text the first statement may be a part alone.
    """
    asked = _folded(question)
    statements = [ranked.statements[place] for place in ranked.order]
    best: dict[str, float] = {}
    if asked:
        equal = {each.key for each in statements if _equals(each.text, asked)}
        first = {
            each.key: each.passage_id
            for each in statements
            if each.key not in equal and _begins(each, asked)
        }
        whole = {each.id for each in read([*first.values()]) if _equals(each.text, asked)}
        equal |= {key for key, passage in first.items() if passage in whole}
        best = {each.passage_id: 1.0 for each in statements if each.key in equal}
    for place, statement in zip(ranked.order, statements, strict=True):
        best.setdefault(statement.passage_id, float(ranked.scores[place]))
    return best


def _begins(statement: StoredStatement, asked: str) -> bool:
    """Whether this first statement of a passage, without its label, is a part of ``asked``."""
    return not statement.position and _folded(statement.text).rpartition(": ")[2] in asked


def _equals(text: str, asked: str) -> bool:
    """Whether a text equals ``asked``, with or without its label ("team: ")."""
    folded = _folded(text)
    return asked in (folded, folded.partition(": ")[2])


def _folded(text: str) -> str:
    return one_line(text).casefold()
