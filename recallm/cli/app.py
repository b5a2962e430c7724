"""The application, its options for the memory, how errors are shown, and arguments that several
commands read alike."""

from __future__ import annotations

import functools
import inspect
import logging
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer
from typer.core import TyperGroup

from recallm import InvalidInputError, RecallConfig, RecallM, RecallMError, StoreError, __version__
from recallm.cli.output import printable
from recallm.ground import checks
from recallm.ground.config import RankingName
from recallm.stores.addresses import checked_uri, is_server

_log = logging.getLogger(__name__)

Opener: TypeAlias = Callable[..., RecallM]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Write JSON.")]

STANDARD_STREAM = Path("-")

_OTHER_WORDS = {
    "add": "update",
    "remember": "update",
    "search": "recall",
    "query": "recall",
    "delete": "forget",
    "import": "load",
}
"""Names of commands as other memories have them."""


class _Commands(TyperGroup):
    """Commands whose usage errors say what to write, without control characters."""

    def make_context(self, *arguments: Any, **extra: Any) -> Any:
        """Read the options before the command."""
        with _printable_usage("No such option: --db"):
            return super().make_context(*arguments, **extra)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that the arguments name."""
        if args[0] in _OTHER_WORDS:
            ctx.fail(f"No such command '{args[0]}'; write: recallm {_OTHER_WORDS[args[0]]}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Read the command's arguments and run it."""
        with _printable_usage("Got unexpected extra argument"):
            return super().invoke(ctx)


_HINTS = {
    "Got unexpected extra argument": "; a text of several words needs quotes, all else an option",
    "No such option: --db": "; it stands behind the command: recallm recall … --db FILE",
}
"""What to write instead, by how a usage error begins."""


@contextmanager
def _printable_usage(fault: str) -> Iterator[None]:
    """Usage errors without control characters; one that begins with ``fault`` gets its hint."""
    try:
        yield
    except Exception as error:
        if hasattr(error, "format_message"):
            usage: Any = error  # of click, which typer has under a name of its own
            usage.message = printable(str(usage.message))
            if usage.message.startswith(fault):
                usage.message += _HINTS[fault]
        raise


app = typer.Typer(
    name="recallm",
    cls=_Commands,
    help="A long-term memory: add text, ask questions, get the statements that answer them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _show_version(is_asked_for: bool) -> None:
    if is_asked_for:
        typer.echo(f"recallm {__version__}")
        raise typer.Exit


@app.callback()
def _options_of_all(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Show the version and exit.", callback=_show_version, is_eager=True
        ),
    ] = False,
) -> None: ...


def _option(*, help: str, envvar: str, **rest: Any) -> Any:
    return typer.Option(help=help, envvar=envvar, rich_help_panel="Memory", **rest)


DB = _option(
    help="A SQLite file, or the neo4j:// or bolt:// address of a server.", envvar="RECALLM_DB"
)

_MEMORY_OPTIONS: Mapping[str, tuple[Any, Any]] = {
    "db": (Annotated[str, DB], "recallm.db"),
    "namespace": (
        Annotated[str | None, _option(help="The owner of the memory.", envvar="RECALLM_NAMESPACE")],
        None,
    ),
    "embeddings": (
        Annotated[
            str | None,
            _option(
                help="Write and use statement vectors; 'default' is all-MiniLM-L6-v2, run on this "
                "machine (the extra 'embeddings'), or the folder of a model.",
                envvar="RECALLM_EMBEDDINGS",
            ),
        ],
        None,
    ),
    "user": (
        Annotated[str, _option(help="User of the server.", envvar="RECALLM_USER")],
        "neo4j",
    ),
    "password_file": (
        Annotated[
            Path | None,
            _option(
                help="A file with the server's password; without it, the command asks for it.",
                envvar="RECALLM_PASSWORD_FILE",
                exists=True,
                dir_okay=False,
            ),
        ],
        None,
    ),
}


def command(*, creates: bool = False) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Turn a function into a command. Its first argument is a function that opens the memory.

    The command gets the options that name the memory. Its errors are shown in one line, with exit
    code 1. Only a command with ``creates`` makes a new file.
    """

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(function)
        def run(**arguments: Any) -> None:
            where = {name: arguments.pop(name) for name in _MEMORY_OPTIONS}
            with errors_in_one_line():
                function(functools.partial(_open, creates=creates, **where), **arguments)
                sys.stdout.flush()

        own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
        added = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=value, annotation=kind)
            for name, (kind, value) in _MEMORY_OPTIONS.items()
        ]
        run.__signature__ = inspect.Signature([*own, *added])  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in [*own, *added]}
        return app.command()(run)

    return decorate


def _open(
    *,
    db: str,
    namespace: str | None,
    embeddings: str | None,
    user: str,
    password_file: Path | None,
    creates: bool,
    ranking: RankingName = "statements",
    asks: bool = True,
) -> RecallM:
    """``asks``: whether the command may ask for the password of a server."""
    options: dict[str, Any] = {
        "config": RecallConfig(ranking=ranking),
        "embeddings": embeddings,
    }
    if namespace is not None:
        options["namespace"] = namespace
    if is_server(db):
        checked_uri(db)  # before a password is asked for
        options["auth"] = (user, _password(user, password_file, asks=asks))
    elif not creates and not Path(db).exists():
        raise StoreError(
            f"there is no memory at {db}; make one with 'recallm update', or name another with --db"
        )
    return RecallM(db, **options)


def _password(user: str, file: Path | None, *, asks: bool) -> str:
    if file is None:
        if not asks:
            raise InvalidInputError(
                "give the server's password with --password-file: standard input is the client's",
                argument="password_file",
            )
        asked: str = typer.prompt(f"Password of {printable(user)}", hide_input=True, err=True)
        return asked
    return read_secret(file, "password_file")


@contextmanager
def errors_in_one_line() -> Iterator[None]:
    """Show the errors of recallm and of the system in one line, with exit code 1."""
    try:
        yield
    except (RecallMError, OSError) as error:
        if isinstance(error, BrokenPipeError) or isinstance(error.__cause__, BrokenPipeError):
            # The reader of the pipe has left: nothing more may be flushed into it.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(1) from None
        typer.echo(f"recallm: {printable(str(error))}", err=True)
        raise typer.Exit(1) from error


# -- arguments that several commands read alike -----------------------------------------------


_DIGITS = 4_000
"""Python reads no number with some more."""


def moment_of(value: str | None, argument: str) -> int | datetime | None:
    """What the memory reads as a moment. Digits alone are a t_index, but for a timestamp."""
    if value is None:
        return None
    try:
        if value.isdecimal() and len(value) < _DIGITS and argument != "timestamp":
            return int(value)
        return checks.iso_moment(value, argument)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


def check_readable(path: Path) -> None:
    """Refuse the name of a file that is not there, before the memory is opened: a command that
    fails must not leave a new file behind."""
    # Typer's exists=True would take "-" for the name of a file.
    if path != STANDARD_STREAM and not path.is_file():
        if path.parts[:1] in (("http:",), ("https:",)):
            raise typer.BadParameter("no page is fetched: take its text, and give the text")
        raise typer.BadParameter(f"there is no file {path}")


def read_secret(file: Path, argument: str) -> str:
    """The password or token in a file, without the line break at its end. Warns of a file that
    other users of the machine can read."""
    kind = "password" if argument == "password_file" else "token"
    if os.name == "posix" and file.stat().st_mode & 0o077:
        _log.warning("other users can read the %s in %s: chmod 600 it", kind, file)
    try:
        return file.read_text(encoding="utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise InvalidInputError(
            f"the {kind} in {file} is not text in UTF-8", argument=argument
        ) from error
