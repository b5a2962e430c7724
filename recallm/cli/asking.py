"""The commands that read: recall, ask, history, stats, namespaces."""

from __future__ import annotations

import dataclasses
import subprocess
from typing import Annotated, TypeAlias

import typer
from rich.text import Text

from recallm import LLMError
from recallm.cli.app import Json, Opener, command, moment_of
from recallm.cli.output import (
    console,
    counted,
    printable,
    write_json,
    write_statements,
    write_text,
)
from recallm.ground.config import RankingName

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
    as_json: Json = False,
) -> None:
    """Show the statements that answer QUESTION, in the order in which they became true."""
    if prompt + explain + as_json > 1:
        raise typer.BadParameter("choose one of --prompt, --explain and --json")
    with open_memory(ranking=ranking) as memory:
        context = memory.recall(
            question,
            limit=limit,
            max_tokens=max_tokens,
            as_of=moment_of(as_of, "as_of"),
            since=moment_of(since, "since"),
            until=moment_of(until, "until"),
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

    def answer_to(prompt: str) -> str:
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
        return done.stdout

    with open_memory(ranking=ranking) as memory:
        answer = memory.ask(question, llm=answer_to, limit=limit, max_tokens=max_tokens)
    write_text(str(answer))


@command()
def history(
    open_memory: Opener,
    *,
    concept: Annotated[str, typer.Argument(help="A name, or any noun.")],
    as_json: Json = False,
) -> None:
    """Show all statements about CONCEPT, in order."""
    with open_memory() as memory:
        statements = memory.history(concept)
    if as_json:
        write_json(statements)
    elif statements:
        write_statements(statements)
    else:
        typer.echo("no statement mentions it", err=True)


@command()
def stats(open_memory: Opener, *, as_json: Json = False) -> None:
    """Show how much the memory holds."""
    with open_memory() as memory:
        found = memory.stats()
    if as_json:
        write_json(found)
        return
    for name, count in dataclasses.asdict(found).items():
        typer.echo(f"{name:12}  {count:>12,}")


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
        counts = f"{counted(held.passages, 'update')}, {counted(held.statements, 'statement')}"
        typer.echo(printable(f"{name}  t={held.t_index}  {counts}"))
