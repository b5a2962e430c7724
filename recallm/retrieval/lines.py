"""The text of a recalled context: chronological, one statement a line, as data.

``recallm.untrusted_text`` says what a line is, and what keeps a statement from passing for another
one.
"""

from __future__ import annotations

from collections.abc import Sequence

from recallm.model import StoredStatement
from recallm.untrusted_text import statement_line

__all__ = ["PREFIX", "SHORTEST_LINE", "line", "render"]

PREFIX = "In chronological order:"

SHORTEST_LINE = 5
"""Tokens of a short statement: how many a budget may hold."""


def line(statement: StoredStatement) -> str:
    """A statement with its marks: ``[2023-05-08] Caroline: …``, each where it is known."""
    return statement_line(statement.text, speaker=statement.speaker, timestamp=statement.timestamp)


def render(statements: Sequence[StoredStatement]) -> str:
    """The whole text; empty where there is no statement. Sentences of one passage stand in its own
    order: only where several passages are told from does the text begin with what order it has."""
    several = len({statement.passage_id for statement in statements}) > 1
    return "\n".join((*([PREFIX] if several else []), *map(line, statements)))
