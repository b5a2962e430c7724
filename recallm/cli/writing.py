"""The commands that write, move, copy and forget: update, load, export, embed, forget, backup,
restore."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer
from rich.text import Text

from recallm import InvalidInputError
from recallm.cli.app import (
    DB,
    STANDARD_STREAM,
    Opener,
    app,
    check_readable,
    command,
    errors_in_one_line,
    moment_of,
)
from recallm.cli.output import console, counted, printable
from recallm.ground.checks import shown
from recallm.memory.spoken import is_message
from recallm.stores.addresses import is_server
from recallm.stores.sqlite import back_up

_Db: TypeAlias = Annotated[str, DB]


@command(creates=True)
def update(
    open_memory: Opener,
    *,
    text: Annotated[
        list[str] | None,
        typer.Argument(help="One knowledge update each. Without any: standard input."),
    ] = None,
    file: Annotated[
        list[Path] | None,
        typer.Option(
            "--file",
            "-f",
            help="A text file in UTF-8, one knowledge update a paragraph; - is standard input.",
        ),
    ] = None,
    messages: Annotated[
        list[Path] | None,
        typer.Option(
            "--messages",
            "-m",
            help='Messages {"role": …, "content": …} of a chat API, one conversation a file: JSON '
            "Lines, or a JSON list; - is standard input.",
        ),
    ] = None,
    id: Annotated[
        str | None,
        typer.Option(help="The id of a single TEXT: the same id and text are stored only once."),
    ] = None,
    speaker: Annotated[str | None, typer.Option(help="Who said it.")] = None,
    timestamp: Annotated[
        str | None, typer.Option(help="When it was said, in ISO 8601 (local time without a zone).")
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(help="Where it comes from. Default: the name of the file."),
    ] = None,
    session: Annotated[
        str | None, typer.Option(help="The conversation or document that it belongs to.")
    ] = None,
) -> None:
    """Remember TEXT, files or conversations."""
    if id is not None and (len(text or ()) != 1 or file or messages):
        raise typer.BadParameter("--id goes with one TEXT, and nothing else")
    if not (text or file or messages):
        if sys.stdin.isatty():
            raise typer.BadParameter("give TEXT, --file or --messages, or pipe text in")
        file = [STANDARD_STREAM]
    if text == ["-"] and not file:
        text, file = None, [STANDARD_STREAM]
    for each in text or ():
        _check_no_file(each)
    for path in file or ():
        check_readable(path)
        _check_prose(path)
    for path in messages or ():
        check_readable(path)
        if speaker is not None or timestamp is not None:
            raise typer.BadParameter("--messages says itself who spoke, and when")
    given = {
        "id": id,
        "speaker": speaker,
        "timestamp": moment_of(timestamp, "timestamp"),
        "source": source,
        "session": session,
    }
    common: dict[str, Any] = {name: value for name, value in given.items() if value is not None}

    def items() -> Iterator[dict[str, Any]]:
        for each in text or ():
            yield {"text": each, **common}
        for path in file or ():
            origin = {} if path == STANDARD_STREAM else {"source": path.name}
            for paragraph in _paragraphs(_lines(path)):
                yield {"text": paragraph, **origin, **common}
        for path in messages or ():
            named = {} if path == STANDARD_STREAM else {"source": path.name, "session": path.name}
            for message in _messages(path):
                yield {**named, **message, **common}

    with open_memory() as memory:
        # Their number, for a percentage; standard input may go on for ever.
        is_endless = STANDARD_STREAM in (file or ())
        updates = memory.update_many(
            items() if is_endless else list(items()), progress=sys.stderr.isatty()
        )
    fresh = [each for each in updates if not each.duplicate]
    parts = [counted(len(fresh), "knowledge update")]
    parts.append(counted(sum(len(each.statements) for each in fresh), "statement"))
    if len(fresh) < len(updates):
        parts.append(f"{len(updates) - len(fresh)} known already")
    console().print(", ".join(parts))


@command(creates=True)
def load(
    open_memory: Opener,
    *,
    file: Annotated[
        Path, typer.Argument(help="The archive; - is standard input.")
    ] = STANDARD_STREAM,
) -> None:
    """Fill an empty namespace from an archive that ``export`` wrote."""
    check_readable(file)
    with open_memory() as memory:
        source = sys.stdin if file == STANDARD_STREAM else file
        count = memory.load(source)
        namespace = memory.namespace
    console().print(
        f"{counted(count, 'knowledge update')} loaded into namespace {printable(namespace)}"
    )


@command()
def export(
    open_memory: Opener,
    *,
    file: Annotated[
        Path, typer.Argument(help="The archive; - is standard output.")
    ] = STANDARD_STREAM,
) -> None:
    """Write one namespace to an archive (JSON Lines)."""
    with open_memory() as memory:
        namespaces = memory.namespaces()
        if memory.namespace not in namespaces:
            raise InvalidInputError(
                f"there is no namespace {memory.namespace!r}; 'recallm namespaces' lists all",
                argument="namespace",
            )
        target = sys.stdout if file == STANDARD_STREAM else file
        count = memory.export(target)
        others = len(namespaces) - 1
        line = f"{counted(count, 'knowledge update')} exported from namespace {memory.namespace}"
    if others:
        line += f"; not those of {counted(others, 'other namespace')} (choose with --namespace)"
    typer.echo(printable(line), err=True)


@command()
def embed(open_memory: Opener) -> None:
    """Give a vector to every statement that has none (needs --embeddings)."""
    with open_memory() as memory:
        count = memory.embed(progress=sys.stderr.isatty())
    console().print(f"{counted(count, 'statement')} embedded")


@command()
def forget(
    open_memory: Opener,
    *,
    id: Annotated[str | None, typer.Option(help="The knowledge update with this id.")] = None,
    statement: Annotated[str | None, typer.Option(help="The statement with this id.")] = None,
    source: Annotated[str | None, typer.Option(help="Everything from this source.")] = None,
    session: Annotated[str | None, typer.Option(help="Everything in this session.")] = None,
    concept: Annotated[
        str | None, typer.Option(help="Every statement that mentions this concept.")
    ] = None,
    before: Annotated[
        str | None, typer.Option(help="Everything before this t_index or date.")
    ] = None,
    expired: Annotated[bool, typer.Option("--expired", help="Everything that expired.")] = False,
    everything: Annotated[
        bool, typer.Option("--everything", help="The whole namespace (asks first).")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would go; change nothing.")
    ] = False,
) -> None:
    """Forget what exactly one option selects, and everything that only it supported."""
    given: dict[str, Any] = {
        "id": id,
        "statement": statement,
        "source": source,
        "session": session,
        "concept": concept,
        "before": moment_of(before, "before"),
        "expired": expired or None,
        "everything": everything or None,
    }
    chosen = {name: value for name, value in given.items() if value is not None}
    if len(chosen) != 1:
        raise typer.BadParameter("say what to forget with exactly one option")
    if everything and not yes and not dry_run:
        typer.confirm("Forget everything in this namespace?", abort=True, err=True)
    with open_memory() as memory:
        forgotten = memory.forget(**chosen, dry_run=dry_run)
    if forgotten:
        what = str(forgotten)
    else:
        [(name, value)] = chosen.items()
        named = name if value is True else f"{name} {str(value)!r}"
        what = f"nothing, because nothing is stored under {named}"
    verb = "would be forgotten" if dry_run else "forgotten"
    console().print(Text(printable(f"{verb}: {what}")))
    if forgotten.erasure_pending:
        console().print(
            "the bytes are still in the file, because another process reads an earlier state; the "
            "next process that writes or opens the file overwrites them"
        )


@app.command()
def backup(
    target: Annotated[Path, typer.Argument(help="The back-up, a new file.")],
    *,
    db: _Db = "recallm.db",
) -> None:
    """Copy the whole file of the memory, with all its namespaces; others may write meanwhile."""
    with errors_in_one_line():
        back_up(_file_of(db), target)
        console().print(printable(f"{db} is copied to {target}"), soft_wrap=True)


@app.command()
def restore(
    backup: Annotated[Path, typer.Argument(help="A back-up that 'recallm backup' made.")],
    *,
    db: _Db = "recallm.db",
) -> None:
    """Put a back-up where no memory is: move the memory that is there away first, with its log."""
    with errors_in_one_line():
        back_up(backup, _file_of(db))
        console().print(printable(f"{db} is restored from {backup}"), soft_wrap=True)


def _check_prose(path: Path) -> None:
    """Refuse a table, whose cells are no sentences, and a web page, by the file's name."""
    ending = path.suffix.lower()
    if ending in (".csv", ".tsv", ".json", ".jsonl", ".ndjson"):
        raise typer.BadParameter(
            f"{path} is no prose; read messages with --messages, and write the rows of a table as "
            "facts, in Python: FactMemory(memory).load"
        )
    if ending in (".html", ".htm", ".xhtml"):
        raise typer.BadParameter(
            f"{path} is a web page, whose menus and markup are no prose; take its text first, with "
            "a loader of LangChain or LlamaIndex or with trafilatura.extract(html)"
        )


def _check_no_file(text: str) -> None:
    """Refuse the name of a file in the place of a text."""
    try:
        is_file = Path(text).is_file()
    except (OSError, ValueError):  # no name that a file can have
        return
    if is_file:
        raise typer.BadParameter(
            f"{text} is a file: read a text with --file, messages with --messages, an archive with "
            "'recallm load'"
        )


def _lines(path: Path) -> Iterator[str]:
    """The lines of a text in UTF-8, or of standard input."""
    try:
        if path == STANDARD_STREAM:
            yield from sys.stdin
        else:
            with path.open(encoding="utf-8-sig") as stream:
                yield from stream
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{path} is not text in UTF-8: {error}", argument="file") from error


def _messages(path: Path) -> list[dict[str, Any]]:
    """The messages in a file: JSON Lines, a JSON list, or an object with a list "messages"."""
    text = "".join(_lines(path))
    rows: list[Any] = []
    try:
        rows.append(json.loads(text))
    except (ValueError, RecursionError):
        # Not splitlines: JSON's texts may hold U+2028 and other ends of lines.
        for number, line in enumerate(text.split("\n"), start=1):
            try:
                rows += [json.loads(line)] if line.strip() else []
            except (ValueError, RecursionError) as error:
                raise InvalidInputError(
                    f"{path}: line {number} is not JSON: {error}", argument="messages"
                ) from error
    for place, row in enumerate(rows):
        if isinstance(row, dict) and "messages" in row:
            rows[place] = row["messages"]
    found = [message for row in rows for message in (row if isinstance(row, list) else [row])]
    for message in found:
        if not (isinstance(message, dict) and is_message(message)):
            raise InvalidInputError(
                f'{path} holds no messages {{"role": …, "content": …}} but {shown(message)}',
                argument="messages",
            )
    return found


def _paragraphs(lines: Iterable[str]) -> Iterator[str]:
    """The runs of lines that are not blank."""
    for has_text, paragraph in groupby(lines, key=lambda line: bool(line.strip())):
        if has_text:
            yield "".join(paragraph).rstrip("\r\n")


def _file_of(db: str) -> Path:
    if is_server(db):
        raise InvalidInputError(
            "a server has its own back-ups; 'recallm export' writes an archive of a namespace",
            argument="db",
        )
    return Path(db)
