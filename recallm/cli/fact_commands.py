"""The commands of ``recallm facts``."""

from __future__ import annotations

import csv
import json
import sys
from io import StringIO
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from recallm import InvalidInputError
from recallm.cli.app import Opener, command, facts
from recallm.cli.arguments import (
    STANDARD_STREAM,
    Json,
    check_readable,
    date_of,
    lines_of,
    moment_of,
)
from recallm.cli.output import console, counted, write_changes, write_facts, write_found
from recallm.facts import FactMemory

_AsOf: TypeAlias = Annotated[str | None, typer.Option(help="What held as of this t_index or date.")]


@command(creates=True, group=facts)
def load(
    open_memory: Opener,
    *,
    file: Annotated[
        Path, typer.Argument(help="A table in UTF-8, CSV or JSON; - is standard input.")
    ],
    key: Annotated[str, typer.Option(help="The column that names the subject of each row.")],
    name: Annotated[
        str | None,
        typer.Option(help="The table's name, its source. Default: the name of the file."),
    ] = None,
    timestamp: Annotated[
        str | None,
        typer.Option(help="When it was said, in ISO 8601 (local time without a zone)."),
    ] = None,
) -> None:
    """Write a table as facts; of a table that was loaded before, what has changed."""
    if file == STANDARD_STREAM and name is None:
        raise typer.BadParameter("name the table of standard input with --name")
    check_readable(file)
    said = None if timestamp is None else date_of(timestamp, "--timestamp")
    rows = _rows("".join(lines_of(file)).removeprefix("\ufeff"), key)
    with open_memory() as memory:
        report = FactMemory(memory).load(
            rows, key=key, name=name or file.name, said=said, progress=sys.stderr.isatty()
        )
    console().print(
        f"{counted(report.rows, 'row')}: {counted(report.added, 'fact')} added, "
        f"{report.changed:,} changed, {report.ended:,} ended, {report.unchanged:,} unchanged"
    )


def _rows(text: str, key: str) -> list[dict[str, Any]]:
    """The rows of a table: a JSON list of objects, an object a line, or a CSV with a header that
    has ``key``; its delimiter is that of comma, semicolon and tab which the header has most."""
    place = 0
    try:
        if text.lstrip().startswith("["):
            return list(json.loads(text))
        if text.lstrip().startswith("{"):
            return [json.loads(line) for line in text.split("\n") if line.strip()]
        delimiter = max(",;\t", key=text.partition("\n")[0].count)
        reader = csv.DictReader(StringIO(text), delimiter=delimiter, strict=True)
        if key not in (reader.fieldnames or ()):
            raise ValueError(f"there is no column {key!r}")
        rows = []
        for row in reader:
            place = reader.line_num
            if None in row or None in row.values():  # a missing cell would end a fact
                raise ValueError("the row and the header have not the same number of cells")
            rows.append(row)
    except (csv.Error, ValueError, RecursionError) as error:
        raise InvalidInputError(
            f"the table cannot be read behind line {place}: {error}", argument="file"
        ) from error
    return rows


@command(group=facts)
def read(
    open_memory: Opener,
    *,
    subject: Annotated[str | None, typer.Option(help="Of what or whom.")] = None,
    relation: Annotated[str | None, typer.Option(help='In what relation: "works for".')] = None,
    object: Annotated[str | None, typer.Option(help="To what or whom.")] = None,
    as_of: _AsOf = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="Only the given terms, none that are similar.")
    ] = False,
    limit: Annotated[int | None, typer.Option(help="At most this many facts.")] = None,
    as_json: Json = False,
) -> None:
    """Show the facts that hold and have the given terms, newest first."""
    horizon = moment_of(as_of, "--as-of")
    with open_memory() as memory:
        found = FactMemory(memory).read(
            subject,
            relation,
            object,
            as_of=horizon,
            match="exact" if exact else "similar",
            limit=limit,
        )
    write_found(found, write_facts, as_json=as_json, nothing="no fact found")


@command(group=facts)
def changes(
    open_memory: Opener,
    *,
    subject: Annotated[str, typer.Argument(help="Of what or whom.")],
    relation: Annotated[str, typer.Argument(help='In what relation: "works for".')],
    as_of: _AsOf = None,
    as_json: Json = False,
) -> None:
    """Show every value that RELATION has or had for SUBJECT, in order."""
    horizon = moment_of(as_of, "--as-of")
    with open_memory() as memory:
        found = FactMemory(memory).changes(subject, relation, as_of=horizon)
    write_found(found, write_changes, as_json=as_json, nothing="no fact found")
