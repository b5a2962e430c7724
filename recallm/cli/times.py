"""How a command line spells a moment."""

from __future__ import annotations

from datetime import datetime

import typer

__all__ = ["date", "moment"]


def moment(value: str | None, option: str) -> int | datetime | None:
    """A t_index, or a date."""
    if value is None:
        return None
    if not value.isdecimal():
        return date(value, option)
    try:
        return int(value)
    except ValueError as error:
        raise typer.BadParameter(f"{option}: a t_index has fewer digits") from error


def date(value: str, option: str) -> datetime:
    """A date or a time in ISO 8601; one without a time zone is local."""
    try:
        moment = datetime.fromisoformat(value)
        return moment if moment.utcoffset() is not None else moment.astimezone()
    except (ValueError, OverflowError) as error:
        raise typer.BadParameter(f"{option}: {error}; write it like 2024-05-01T14:30") from error
