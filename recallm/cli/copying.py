"""The commands that copy the file of a memory: backup, restore."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from recallm import InvalidInputError
from recallm.cli.app import DB, app, errors_in_one_line
from recallm.cli.output import console, printable
from recallm.stores.addresses import is_server
from recallm.stores.sqlite import back_up, restore_file

__all__ = ["backup", "restore"]

_Db: TypeAlias = Annotated[str, DB]


@app.command()
def backup(
    target: Annotated[Path, typer.Argument(help="The back-up, a new file.")],
    *,
    db: _Db = "recallm.db",
) -> None:
    """Copy the whole file of the memory, with all its namespaces; others may write meanwhile."""
    with errors_in_one_line():
        back_up(_file(db), target)
        console().print(printable(f"{db} is copied to {target}"), soft_wrap=True)


@app.command()
def restore(
    backup: Annotated[Path, typer.Argument(help="A back-up that 'recallm backup' made.")],
    *,
    db: _Db = "recallm.db",
) -> None:
    """Put a back-up in the place of the memory, which no program may have open. What was there is
    kept with the ending .old."""
    with errors_in_one_line():
        old = restore_file(backup, _file(db))
        kept = "" if old is None else f"; what was there is kept as {old}"
        console().print(printable(f"{db} is restored from {backup}{kept}"), soft_wrap=True)


def _file(db: str) -> Path:
    if is_server(db):
        raise InvalidInputError(
            "a server has its own back-ups; 'recallm export' writes an archive of a namespace",
            argument="db",
        )
    return Path(db)
