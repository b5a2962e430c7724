"""Arguments that several commands read alike."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import typer

__all__ = ["STANDARD_STREAM", "check_readable", "date_of", "moment_of"]

STANDARD_STREAM = Path("-")


def moment_of(value: str | None, option: str) -> int | datetime | None:
    """A t_index, or a date."""
    if value is None:
        return None
    if not value.isdecimal():
        return date_of(value, option)
    try:
        return int(value)
    except ValueError as error:
        raise typer.BadParameter(f"{option}: a t_index has fewer digits") from error


def date_of(value: str, option: str) -> datetime:
    """A date or a time in ISO 8601; local time if it has no time zone."""
    try:
        moment = datetime.fromisoformat(value)
        return moment if moment.utcoffset() is not None else moment.astimezone()
    except (ValueError, OverflowError) as error:
        raise typer.BadParameter(f"{option}: {error}; write it like 2024-05-01T14:30") from error


def check_readable(path: Path) -> None:
    """Refuse the name of a file that is not there, before the memory is opened: a command that
    fails must not leave a new file behind."""
    # Typer's exists=True would take "-" for the name of a file.
    if path != STANDARD_STREAM and not path.is_file():
        raise typer.BadParameter(f"there is no file {path}")
