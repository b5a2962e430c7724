"""The commands of ``recallm``."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import typer
from rich.table import Table
from rich.text import Text

from recallm import InvalidInputError, LLMError
from recallm.cli.app import Opener, command
from recallm.cli.arguments import STANDARD_STREAM, check_readable, date_of, moment_of
from recallm.cli.output import (
    console,
    counted,
    printable,
    write_json,
    write_statements,
    write_text,
)
from recallm.config import RankingName

__all__ = [
    "ask",
    "command_model",
    "embed",
    "export",
    "forget",
    "history",
    "load",
    "recall",
    "stats",
    "update",
]

_Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Write JSON.")]
_Limit: TypeAlias = Annotated[int | None, typer.Option(help="Recall at most this many statements.")]
_MaxTokens: TypeAlias = Annotated[
    int | None, typer.Option(help="Recall at most this many tokens of text.")
]
_Ranking: TypeAlias = Annotated[
    RankingName,
    typer.Option(
        help="statements: the default; paper: as in the RecallM paper; ement and vectors need "
        "--embeddings."
    ),
]
_TABLES = frozenset((".csv", ".tsv", ".json", ".jsonl", ".ndjson"))
"""Endings of the names of files that hold rows, not prose."""


# -- writing -----------------------------------------------------------------------------------


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
    id: Annotated[
        str | None,
        typer.Option(help="The id of a single TEXT: the same id and text are stored only once."),
    ] = None,
    speaker: Annotated[str | None, typer.Option(help="Who said it.")] = None,
    timestamp: Annotated[
        str | None, typer.Option(help="When it was said, in ISO 8601 (local time without a zone).")
    ] = None,
    source: Annotated[
        str | None, typer.Option(help="Where it comes from. Default: the name of the file.")
    ] = None,
    session: Annotated[
        str | None, typer.Option(help="The conversation or document that it belongs to.")
    ] = None,
    propositions: Annotated[
        Literal["clauses"] | None,
        typer.Option(help="Split sentences into clauses that stand alone."),
    ] = None,
) -> None:
    """Remember TEXT or files."""
    if id is not None and (len(text or ()) != 1 or file):
        raise typer.BadParameter("--id goes with one TEXT, and nothing else")
    if not (text or file):
        if sys.stdin.isatty():
            raise typer.BadParameter("give TEXT or --file, or pipe text in")
        file = [STANDARD_STREAM]
    if text == ["-"] and not file:
        text, file = None, [STANDARD_STREAM]
    for path in file or ():
        check_readable(path)
        _check_no_table(path)
    given = {
        "id": id,
        "speaker": speaker,
        "timestamp": None if timestamp is None else date_of(timestamp, "--timestamp"),
        "source": source,
        "session": session,
    }
    common = {name: value for name, value in given.items() if value is not None}

    def items() -> Iterator[dict[str, Any]]:
        for each in text or ():
            yield {"text": each, **common}
        for path in file or ():
            origin = {} if path == STANDARD_STREAM else {"source": path.name}
            for paragraph in _paragraphs(_lines(path)):
                yield {"text": paragraph, **origin, **common}

    with open_memory(propositions=propositions) as memory:
        updates = memory.update_many(items(), progress=sys.stderr.isatty())
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
    """Fill an empty memory from an archive that ``export`` wrote."""
    check_readable(file)
    with open_memory() as memory:
        count = memory.load(sys.stdin if file == STANDARD_STREAM else file)
    console().print(f"{counted(count, 'knowledge update')} loaded")


@command()
def export(
    open_memory: Opener,
    *,
    file: Annotated[
        Path, typer.Argument(help="The archive; - is standard output.")
    ] = STANDARD_STREAM,
) -> None:
    """Write the memory to an archive (JSON Lines)."""
    with open_memory() as memory:
        count = memory.export(sys.stdout if file == STANDARD_STREAM else file)
    typer.echo(f"{counted(count, 'knowledge update')} exported", err=True)


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
) -> None:
    """Forget what exactly one option selects, and everything that only it supported."""
    given: dict[str, Any] = {
        "id": id,
        "statement": statement,
        "source": source,
        "session": session,
        "concept": concept,
        "before": moment_of(before, "--before"),
        "expired": expired or None,
        "everything": everything or None,
    }
    chosen = {name: value for name, value in given.items() if value is not None}
    if len(chosen) != 1:
        raise typer.BadParameter("say what to forget with exactly one option")
    if everything and not yes:
        typer.confirm("Forget everything in this namespace?", abort=True, err=True)
    with open_memory() as memory:
        forgotten = dataclasses.asdict(memory.forget(**chosen))
    is_pending = forgotten.pop("erasure_pending")
    counts = [counted(count, name[:-1]) for name, count in forgotten.items() if count]
    console().print("forgotten: " + (", ".join(counts) or "nothing, because nothing matched"))
    if is_pending:
        console().print(
            "the bytes are still in the file, because another process reads an earlier state; the "
            "next process that writes or opens the file overwrites them"
        )


# -- asking ------------------------------------------------------------------------------------


@command()
def recall(
    open_memory: Opener,
    *,
    question: Annotated[str, typer.Argument()],
    limit: _Limit = None,
    max_tokens: _MaxTokens = None,
    as_of: Annotated[
        str | None, typer.Option(help="Recall as of this t_index or date, and nothing later.")
    ] = None,
    since: Annotated[str | None, typer.Option(help="Not before this t_index or date.")] = None,
    until: Annotated[str | None, typer.Option(help="Not after this t_index or date.")] = None,
    speaker: Annotated[str | None, typer.Option(help="Only what this speaker said.")] = None,
    session: Annotated[str | None, typer.Option(help="Only what was said in this session.")] = None,
    min_score: Annotated[
        float | None, typer.Option(help="Only statements of at least this score (0 to 1).")
    ] = None,
    asker: Annotated[
        str | None, typer.Option(help='Who asks: whom "I" in the question stands for.')
    ] = None,
    ranking: _Ranking = "statements",
    prompt: Annotated[
        bool, typer.Option("--prompt", help="Write the text for a prompt, without scores.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say why each statement was recalled.")
    ] = False,
    as_json: _Json = False,
) -> None:
    """Show the statements that answer QUESTION, in the order in which they became true."""
    if prompt + explain + as_json > 1:
        raise typer.BadParameter("choose one of --prompt, --explain and --json")
    with open_memory(ranking=ranking) as memory:
        context = memory.recall(
            question,
            limit=limit,
            max_tokens=max_tokens,
            as_of=moment_of(as_of, "--as-of"),
            since=moment_of(since, "--since"),
            until=moment_of(until, "--until"),
            speaker=speaker,
            session=session,
            min_score=min_score,
            asker=asker,
        )
    if as_json:
        write_json(context)
    elif not context:
        typer.echo("nothing recalled", err=True)
    elif prompt:
        write_text(context.text)
    elif explain:
        for line in context.explain().splitlines():
            console().print(Text(printable(line)), soft_wrap=True)
    else:
        write_statements(context.statements)


def command_model(llm_command: str) -> Callable[[str], str]:
    """A language model that is a shell command: the prompt on its standard input, its standard
    output the answer.

    Raises:
        LLMError: (of what is returned) the command failed.

    """

    def answer(prompt: str) -> str:
        # The command is the user's own, for the user's own shell.
        done = subprocess.run(  # noqa: S602
            llm_command,
            shell=True,
            check=False,
            input=prompt,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        if done.returncode:
            raise LLMError(f"--llm-command ended with exit code {done.returncode}")
        return done.stdout.strip()

    return answer


@command()
def ask(
    open_memory: Opener,
    *,
    question: Annotated[str, typer.Argument()],
    llm_command: Annotated[
        str,
        typer.Option(
            envvar="RECALLM_LLM_COMMAND",
            help="A shell command that reads the prompt from its standard input and writes the "
            "answer: 'ollama run NAME'.",
        ),
    ],
    limit: _Limit = None,
    max_tokens: _MaxTokens = None,
    ranking: _Ranking = "statements",
) -> None:
    """Let a language model answer QUESTION from the recalled statements."""
    with open_memory(ranking=ranking) as memory:
        answer = memory.ask(
            question, llm=command_model(llm_command), limit=limit, max_tokens=max_tokens
        )
    write_text(str(answer))


@command()
def history(
    open_memory: Opener,
    *,
    concept: Annotated[str, typer.Argument(help="A name, or any noun.")],
    as_json: _Json = False,
) -> None:
    """Show all statements about CONCEPT, in order."""
    with open_memory() as memory:
        statements = memory.history(concept)
    if as_json:
        write_json(statements)
    elif not statements:
        typer.echo("no statement mentions it", err=True)
    else:
        write_statements(statements)


@command()
def stats(open_memory: Opener, *, as_json: _Json = False) -> None:
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


# -- files -----------------------------------------------------------------------------------


def _check_no_table(path: Path) -> None:
    if path.suffix.lower() in _TABLES:
        raise typer.BadParameter(
            f"{path} is no prose; write the rows of a table as facts with 'recallm facts load "
            f"{path.name} --key COLUMN', or give its text to standard input"
        )


def _lines(path: Path) -> Iterator[str]:
    try:
        if path == STANDARD_STREAM:
            yield from sys.stdin
        else:
            with path.open(encoding="utf-8-sig") as stream:
                yield from stream
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{path} is not text in UTF-8: {error}", argument="file") from error


def _paragraphs(lines: Iterable[str]) -> Iterator[str]:
    """The runs of lines that are not blank."""
    for has_text, paragraph in groupby(lines, key=lambda line: bool(line.strip())):
        if has_text:
            yield "".join(paragraph).rstrip("\r\n")
