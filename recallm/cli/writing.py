"""Commands that write: update, load, export, forget."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from recallm import InvalidInputError
from recallm.cli.command import Opener, command
from recallm.cli.output import console, counted
from recallm.cli.times import date, moment
from recallm.cli.web import page_text

__all__ = ["export", "forget", "load", "update"]


@command(creates=True)
def update(
    open_memory: Opener,
    *,
    text: Annotated[
        list[str] | None,
        typer.Argument(help="Each one a knowledge update. Without any: standard input."),
    ] = None,
    file: Annotated[
        list[Path] | None,
        typer.Option(
            "--file",
            "-f",
            help="Text in UTF-8, a knowledge update a paragraph; - is standard input.",
        ),
    ] = None,
    url: Annotated[
        list[str] | None,
        typer.Option(help="The main text of a web page, a knowledge update a paragraph."),
    ] = None,
    id: Annotated[
        str | None, typer.Option(help="Of a single TEXT: said twice, it is stored once.")
    ] = None,
    speaker: Annotated[str | None, typer.Option(help="Who said it.")] = None,
    timestamp: Annotated[str | None, typer.Option(help="When it was said, ISO 8601.")] = None,
    source: Annotated[
        str | None, typer.Option(help="Where it is from; else the file's name or the URL.")
    ] = None,
    session: Annotated[str | None, typer.Option(help="Its conversation or document.")] = None,
) -> None:
    """Remember TEXT, files or web pages."""
    if id is not None and (len(text or ()) != 1 or file or url):
        raise typer.BadParameter("--id goes with one TEXT, and nothing else")
    if not (text or file or url):
        if sys.stdin.isatty():
            raise typer.BadParameter("give TEXT, --file or --url, or pipe text in")
        file = [Path("-")]
    if text == ["-"] and not (file or url):
        text, file = None, [Path("-")]
    for path in file or ():
        _check_readable(path)
    given = {
        "id": id,
        "speaker": speaker,
        "timestamp": None if timestamp is None else date(timestamp, "--timestamp"),
        "source": source,
        "session": session,
    }
    common = {name: value for name, value in given.items() if value is not None}
    pages = [(address, page_text(address)) for address in url or ()]

    def items() -> Iterator[dict[str, Any]]:
        for each in text or ():
            yield {"text": each, **common}
        for path in file or ():
            origin = {} if str(path) == "-" else {"source": path.name}
            for paragraph in _paragraphs(_lines(path)):
                yield {"text": paragraph, **origin, **common}
        for address, page in pages:
            for paragraph in page.splitlines():
                if paragraph.strip():
                    yield {"text": paragraph, "source": address, **common}

    with open_memory() as memory:
        written = memory.update_many(items(), progress=sys.stderr.isatty())
    fresh = [each for each in written if not each.duplicate]
    parts = [counted(len(fresh), "knowledge update")]
    parts.append(counted(sum(len(each.statements) for each in fresh), "statement"))
    if len(fresh) < len(written):
        parts.append(f"{len(written) - len(fresh)} known already")
    console().print(", ".join(parts))


@command(creates=True)
def load(
    open_memory: Opener,
    *,
    file: Annotated[Path, typer.Argument(help="- is stdin.")] = Path("-"),
) -> None:
    """Fill an empty memory with what ``export`` wrote."""
    _check_readable(file)
    with open_memory() as memory:
        count = memory.load(sys.stdin if str(file) == "-" else file)
    console().print(f"{counted(count, 'knowledge update')} loaded")


@command()
def export(
    open_memory: Opener,
    *,
    file: Annotated[Path, typer.Argument(help="- is stdout.")] = Path("-"),
) -> None:
    """Write everything down as JSON Lines."""
    with open_memory() as memory:
        count = memory.export(sys.stdout if str(file) == "-" else file)
    typer.echo(f"{counted(count, 'knowledge update')} exported", err=True)


@command()
def embed(open_memory: Opener) -> None:
    """Give a vector to every statement that has none (with --embeddings)."""
    with open_memory() as memory:
        count = memory.embed(progress=sys.stderr.isatty())
    console().print(f"{counted(count, 'statement')} embedded")


@command()
def forget(
    open_memory: Opener,
    *,
    id: Annotated[str | None, typer.Option(help="A knowledge update.")] = None,
    statement: Annotated[str | None, typer.Option(help="A statement, by its id.")] = None,
    source: Annotated[str | None, typer.Option(help="All from this source.")] = None,
    session: Annotated[str | None, typer.Option(help="All of this session.")] = None,
    concept: Annotated[str | None, typer.Option(help="All that mentions it.")] = None,
    before: Annotated[str | None, typer.Option(help="All before a t or a date.")] = None,
    expired: Annotated[bool, typer.Option("--expired", help="What has expired.")] = False,
    everything: Annotated[bool, typer.Option("--everything", help="All.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Forget what exactly one option names, and all that stood on it alone."""
    given: dict[str, Any] = {
        "id": id,
        "statement": statement,
        "source": source,
        "session": session,
        "concept": concept,
        "before": moment(before, "--before"),
        "expired": expired or None,
        "everything": everything or None,
    }
    chosen = {name: value for name, value in given.items() if value is not None}
    if len(chosen) != 1:
        raise typer.BadParameter("name what to forget by exactly one option")
    if everything and not yes:
        typer.confirm("Forget everything in this namespace?", abort=True, err=True)
    with open_memory() as memory:
        forgotten = dataclasses.asdict(memory.forget(**chosen))
    is_pending = forgotten.pop("erasure_pending")
    counts = [counted(count, name[:-1]) for name, count in forgotten.items() if count]
    console().print("forgotten: " + (", ".join(counts) or "nothing, there was no such thing"))
    if is_pending:
        console().print(
            "its bytes are still in the file, since somebody reads an earlier state; the next "
            "write or opening overwrites them"
        )


def _check_readable(path: Path) -> None:
    # Before the memory is opened: a command that cannot be done leaves no new file behind. (Typer
    # can say exists=True, but then takes "-" for a file's name.)
    if str(path) != "-" and not path.is_file():
        raise typer.BadParameter(f"there is no file {path}")


def _lines(path: Path) -> Iterator[str]:
    try:
        if str(path) == "-":
            yield from sys.stdin
        else:
            with path.open(encoding="utf-8-sig") as stream:
                yield from stream
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{path} is not text in UTF-8: {error}", argument="file") from error


def _paragraphs(lines: Iterable[str]) -> Iterator[str]:
    paragraph: list[str] = []
    for line in lines:
        if line.strip():
            paragraph.append(line)
        elif paragraph:
            yield "".join(paragraph).rstrip("\r\n")
            paragraph = []
    if paragraph:
        yield "".join(paragraph).rstrip("\r\n")
