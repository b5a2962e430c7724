"""The text of a recalled context: chronological, one statement a line, as data.

A statement with line breaks stays on one line, so that nothing it holds can pass for another
statement. What it says itself is not changed: one without a known speaker that begins with
"Caroline:" reads like one that Caroline said.
"""

from __future__ import annotations

from collections.abc import Sequence

from recallm.model import StoredStatement
from recallm.results import flat

__all__ = ["PREFIX", "line", "render"]

PREFIX = "In chronological order:"


def line(statement: StoredStatement) -> str:
    """A statement with its marks: ``[2023-05-08] Caroline: …``, each where it is known."""
    said = statement.timestamp
    date = f"[{said.date().isoformat()}] " if said is not None else ""
    speaker = f"{flat(statement.speaker)}: " if statement.speaker else ""
    return f"{date}{speaker}{flat(statement.text)}"


def render(lines: Sequence[str]) -> str:
    """The whole text; empty where there is no line."""
    return "\n".join((PREFIX, *lines)) if lines else ""
