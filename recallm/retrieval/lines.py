"""The text of a recalled context: chronological, one statement a line, as data.

A statement with line breaks stays on one line, so that nothing it holds can pass for another
statement, nor for one that somebody else said.
"""

from __future__ import annotations

from collections.abc import Sequence

from recallm.model import StoredStatement
from recallm.results import as_line

__all__ = ["PREFIX", "line", "render"]

PREFIX = "In chronological order:"


def line(statement: StoredStatement) -> str:
    """A statement with its marks: ``[2023-05-08] Caroline: …``, each where it is known."""
    return as_line(statement.text, speaker=statement.speaker, timestamp=statement.timestamp)


def render(lines: Sequence[str]) -> str:
    """The whole text; empty where there is no line."""
    return "\n".join((PREFIX, *lines)) if lines else ""
