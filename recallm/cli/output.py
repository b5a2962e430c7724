"""How a command line writes what it found."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import typer
from rich.console import Console
from rich.text import Text

from recallm import RecalledStatement

__all__ = ["console", "counted", "printable", "write_json", "write_statements"]

_CONTROLS = dict.fromkeys([*range(32), *range(127, 160)], "\N{REPLACEMENT CHARACTER}") | {
    ord("\t"): " ",
    ord("\n"): " ",
    ord("\r"): " ",
}


def console() -> Console:
    """Standard output as it is now; text is never read as markup."""
    return Console(highlight=False, markup=False, emoji=False)


def printable(text: str) -> str:
    """The text without control characters: what a text may do to a terminal, it does not do."""
    return text.translate(_CONTROLS)


def counted(count: int, noun: str) -> str:
    """``1 entity``, ``2 entities``."""
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{count:,} {noun if count == 1 else plural}"


def write_statements(statements: Iterable[RecalledStatement]) -> None:
    """A line each, never broken."""
    out = console()
    for each in statements:
        line = Text(f"t={each.t_index}", style="cyan")
        if each.score is not None:
            line.append(f"  {each.score:.2f}", style="dim")
        if each.timestamp is not None:
            line.append(f"  {each.timestamp.isoformat(' ', 'minutes')}", style="green")
        if each.speaker is not None:
            line.append(f"  {printable(each.speaker)}:", style="bold")
        line.append(f"  {printable(each.text)}", style="default")
        out.print(line, soft_wrap=True)


def write_json(value: Any) -> None:
    """Values of recallm as JSON."""
    typer.echo(json.dumps(value, default=_plain, ensure_ascii=False, indent=2))


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no JSON form")
