"""The text of a recalled context: chronological, one statement a line, as data.

A statement with line breaks stays on one line, so that nothing it holds can pass for another
statement or for the marks that recallm sets.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from recallm.model import StoredStatement

__all__ = ["PREFIX", "chronological", "line", "render"]

PREFIX = "In chronological order:"


def chronological(statements: Iterable[StoredStatement]) -> list[StoredStatement]:
    """By timestamp where all have one, else by t_index; then by position."""
    ordered = sorted(statements, key=lambda statement: statement.key)
    if all(statement.timestamp is not None for statement in ordered):
        ordered.sort(key=lambda statement: (statement.timestamp, statement.key))
    return ordered


def line(statement: StoredStatement) -> str:
    """A statement with its marks: ``[2023-05-08] Caroline: …``, each where it is known."""
    said = statement.timestamp
    date = f"[{said.date().isoformat()}] " if said is not None else ""
    speaker = f"{_flat(statement.speaker)}: " if statement.speaker else ""
    return f"{date}{speaker}{_flat(statement.text)}"


def render(lines: Sequence[str]) -> str:
    """The whole text; empty where there is no line."""
    return "\n".join((PREFIX, *lines)) if lines else ""


def _flat(text: str) -> str:
    return " ".join(text.split())
