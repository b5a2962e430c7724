"""Commands that ask: recall, ask, history, stats."""

from __future__ import annotations

import dataclasses
import subprocess
from typing import Annotated, Literal

import typer
from rich.table import Table
from rich.text import Text

from recallm import LLMError
from recallm.cli.command import Opener, command
from recallm.cli.output import console, printable, write_json, write_statements, write_text
from recallm.cli.times import moment

__all__ = ["ask", "history", "recall", "stats"]

_Json = Annotated[bool, typer.Option("--json", help="Write JSON.")]
_Ranking = Annotated[
    Literal["statements", "paper", "ement", "vectors"],
    typer.Option(
        help="The default ranking, the paper's, or (with --embeddings) EMENT's or the nearest by "
        "embedding alone."
    ),
]


@command()
def recall(
    open_memory: Opener,
    *,
    question: Annotated[str, typer.Argument()],
    limit: Annotated[int | None, typer.Option(help="So many statements at most.")] = None,
    max_tokens: Annotated[int | None, typer.Option(help="So long a text at most.")] = None,
    as_of: Annotated[str | None, typer.Option(help="As the memory stood at a t or date.")] = None,
    since: Annotated[str | None, typer.Option(help="Not before this t or date.")] = None,
    until: Annotated[str | None, typer.Option(help="Not after this t or date.")] = None,
    speaker: Annotated[str | None, typer.Option(help="Said by.")] = None,
    session: Annotated[str | None, typer.Option(help="Said in.")] = None,
    min_score: Annotated[float | None, typer.Option(help="Of a score from 0 to 1.")] = None,
    ranking: _Ranking = "statements",
    prompt: Annotated[bool, typer.Option("--prompt", help="The text for a prompt alone.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Say why.")] = False,
    as_json: _Json = False,
) -> None:
    """The statements that answer QUESTION, in the order in which they became true."""
    if prompt + explain + as_json > 1:
        raise typer.BadParameter("choose one of --prompt, --explain and --json")
    with open_memory(ranking=ranking) as memory:
        context = memory.recall(
            question,
            limit=limit,
            max_tokens=max_tokens,
            as_of=moment(as_of, "--as-of"),
            since=moment(since, "--since"),
            until=moment(until, "--until"),
            speaker=speaker,
            session=session,
            min_score=min_score,
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


@command()
def ask(
    open_memory: Opener,
    *,
    question: Annotated[str, typer.Argument()],
    llm_command: Annotated[
        str,
        typer.Option(
            envvar="RECALLM_LLM_COMMAND",
            help="A shell command that reads the prompt and writes the answer: 'ollama run NAME'.",
        ),
    ],
    limit: Annotated[int | None, typer.Option(help="So many statements at most.")] = None,
    max_tokens: Annotated[int | None, typer.Option(help="So long a context at most.")] = None,
    ranking: _Ranking = "statements",
) -> None:
    """Let a language model answer QUESTION from what is recalled."""

    def llm(prompt: str) -> str:
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

    with open_memory(ranking=ranking) as memory:
        answer = memory.ask(question, llm=llm, limit=limit, max_tokens=max_tokens)
    write_text(str(answer))


@command()
def history(
    open_memory: Opener,
    *,
    concept: Annotated[str, typer.Argument(help="A name, or any noun.")],
    as_json: _Json = False,
) -> None:
    """All statements about CONCEPT, in order."""
    with open_memory() as memory:
        statements = memory.history(concept)
    if as_json:
        write_json(statements)
    elif not statements:
        typer.echo("nothing is known of it", err=True)
    else:
        write_statements(statements)


@command()
def stats(open_memory: Opener, *, as_json: _Json = False) -> None:
    """How much is remembered."""
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
