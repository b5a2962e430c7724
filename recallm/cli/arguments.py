"""Arguments that several commands read alike."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from recallm import InvalidInputError
from recallm.ground import checks

STANDARD_STREAM = Path("-")

_log = logging.getLogger(__name__)

Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Write JSON.")]


def moment_of(value: str | None, option: str) -> int | datetime | None:
    """A t_index, or a date."""
    if value is None or not value.isdecimal():
        return None if value is None else date_of(value, option)
    try:
        return int(value)
    except ValueError as error:
        raise typer.BadParameter(f"{option}: a t_index has fewer digits") from error


def date_of(value: str, option: str) -> datetime:
    """What ``checks.iso_moment`` reads."""
    try:
        return checks.iso_moment(value, option.removeprefix("--").replace("-", "_"))
    except InvalidInputError as error:
        raise typer.BadParameter(error.message) from error


def check_readable(path: Path) -> None:
    """Refuse the name of a file that is not there, before the memory is opened: a command that
    fails must not leave a new file behind."""
    # Typer's exists=True would take "-" for the name of a file.
    if path != STANDARD_STREAM and not path.is_file():
        if path.parts[:1] in (("http:",), ("https:",)):
            raise typer.BadParameter("no page is fetched: take its text, and give the text")
        raise typer.BadParameter(f"there is no file {path}")


def lines_of(path: Path) -> Iterator[str]:
    """The lines of a text in UTF-8, or of standard input."""
    try:
        if path == STANDARD_STREAM:
            yield from sys.stdin
        else:
            with path.open(encoding="utf-8-sig") as stream:
                yield from stream
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{path} is not text in UTF-8: {error}", argument="file") from error


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
