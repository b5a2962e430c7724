"""The commands that show what a store holds: stats, namespaces, sessions."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from recallm.cli.app import Opener, command
from recallm.cli.arguments import Json
from recallm.cli.output import console, counted, moment_text, printable, write_json


@command()
def stats(open_memory: Opener, *, as_json: Json = False) -> None:
    """Show how much the memory holds."""
    with open_memory() as memory:
        found = memory.stats()
    if as_json:
        write_json(found)
        return
    table = Table.grid(padding=(0, 2))
    table.add_column()
    table.add_column(justify="right")
    for name, count in dataclasses.asdict(found).items():
        table.add_row(name, f"{count:,}")
    console().print(table)


@command()
def namespaces(open_memory: Opener, *, as_json: Json = False) -> None:
    """List the owners in the store, with how much each holds."""
    with open_memory() as memory:
        found = {name: memory.in_namespace(name).stats() for name in memory.namespaces()}
    if as_json:
        write_json(found)
        return
    if not found:
        typer.echo("no namespace holds anything", err=True)
    for name, held in found.items():
        line = Text(printable(name), style="bold")
        line.append(f"  t={held.t_index}", style="cyan")
        parts = (("update", held.passages), ("statement", held.statements))
        counts = ", ".join(counted(count, noun) for noun, count in parts)
        line.append(f"  {counts}", style="default")
        console().print(line, soft_wrap=True)


@command()
def sessions(
    open_memory: Opener,
    *,
    limit: Annotated[int | None, typer.Option(help="At most this many, the latest first.")] = None,
    as_json: Json = False,
) -> None:
    """List the conversations and documents of a namespace, the latest first."""
    with open_memory() as memory:
        found = memory.sessions(limit=limit)
    if as_json:
        write_json(found)
        return
    if not found:
        typer.echo("no session", err=True)
    for each in found:
        line = Text("(no name)", style="dim")
        if each.name is not None:
            line = Text(printable(each.name), style="bold")
        line.append(f"  t={each.first_t}..{each.t_index}", style="cyan")
        line.append(moment_text(each.began))
        line.append(moment_text(each.ended, before=" until "))
        line.append(f"  {counted(each.passages, 'update')}", style="default")
        console().print(line, soft_wrap=True)
