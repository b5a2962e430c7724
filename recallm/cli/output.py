"""How results are written.

A stored text or the name of a file may hold characters that control a terminal: ESC and
the other C0 and C1 controls, marks of writing direction. All output for people, errors too, shows
U+FFFD in their place; JSON escapes them. The text for a prompt and the answer of a model keep them,
unless the output is a terminal: a program that reads them needs the original text.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable
from typing import Any

import typer
from pydantic_core import to_json
from rich.console import Console
from rich.text import Text

from recallm import RecalledStatement
from recallm.memory.archive import escaped_for_terminals

_CONTROLS = dict.fromkeys(
    [*range(32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A),
     *range(0xD800, 0xE000)],
    "\N{REPLACEMENT CHARACTER}",
)  # fmt: skip
_IN_A_LINE = _CONTROLS | dict.fromkeys(map(ord, "\t\n\r\u2028\u2029"), " ")
_IN_LINES = {code: shown for code, shown in _CONTROLS.items() if chr(code) not in "\t\n"}


def console() -> Console:
    """The current standard output; text is never read as markup."""
    return Console(highlight=False, markup=False, emoji=False)


def printable(text: str) -> str:
    """The text on one line, without characters that control a terminal."""
    return text.translate(_IN_A_LINE)


class PrintableFormatter(logging.Formatter):
    """A log record on one line, without characters that control a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as ``Formatter`` writes it, made printable."""
        return printable(super().format(record))


def write_text(text: str) -> None:
    """Write a text of several lines; on a terminal, without characters that control it."""
    typer.echo(text.translate(_IN_LINES) if sys.stdout.isatty() else text)


def counted(count: int, noun: str) -> str:
    """``1 entity``, ``2 entities``."""
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{count:,} {noun if count == 1 else plural}"


def write_statements(statements: Iterable[RecalledStatement]) -> None:
    """Write each statement on one line, however long."""
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
    """Write values of recallm as JSON."""
    text = to_json(value, indent=2, fallback=dict).decode()
    typer.echo(escaped_for_terminals(text))
