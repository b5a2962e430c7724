"""The embedded store: one SQLite file, or memory, and nothing to install.

``connections`` says where views come from, ``schema`` what a row means, ``view`` what a
reader may see; the rest does one thing each that ``GraphStore`` or ``GraphReader`` asks.
"""

from __future__ import annotations

import os
import sqlite3
import uuid
import weakref
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from recallm.ground import checks
from recallm.model import Amendment, Forgotten, Horizon, PreparedUpdate, Selection, Summary
from recallm.stores.base import Applied, GraphStore
from recallm.stores.semantics.applying import (
    DryRun,
    amend,
    apply_updates,
    forget,
    restore_records,
)
from recallm.stores.sqlite.connections import Connections, MemoryConnections
from recallm.stores.sqlite.failures import damage, guarded
from recallm.stores.sqlite.file import FileConnections, back_up
from recallm.stores.sqlite.postings import faults
from recallm.stores.sqlite.reader import SQLiteReader
from recallm.stores.sqlite.rows import SQLiteRows

__all__ = ["SQLiteStore", "back_up"]

_ALL = Horizon()


# The records of a restore come from elsewhere, and so do their errors.
@guarded(GraphStore, but=("restore",))
class SQLiteStore:
    """A temporal graph in one SQLite file, or in memory.

    What is read of a damaged file is a StoreCorruptError wherever the damage shows (``schema``
    says where it does not).

    Safe for threads, and for several processes on one file (on a local disk): readers never wait;
    writers take turns and wait at most ``timeout`` seconds. A write that returned is on the disk
    (WAL with ``synchronous=FULL``).

    When ``forget`` returns, no byte of what it took away is in the file or the log, unless the
    ``Forgotten`` says ``erasure_pending``: a reader, here or in another process, still sees an
    earlier state; whoever writes or opens the file next erases. What an update replaces, and what
    has expired and is swept by a write, is erased by the next ``forget``.

    A process may be forked while the store is open: parent and child each go on with connections of
    their own (of a store in memory, the child has a copy). Readers that are open in the parent are
    closed in the child. Where the thread that forks is itself writing, the child may not use the
    store.

    Args:
        path: the file, made if there is none; None for memory.
        timeout: seconds that a writer waits for another.

    Raises:
        StoreError: the file cannot be opened; see its subclasses.
    """

    def __init__(
        self, path: str | os.PathLike[str] | None = None, *, timeout: float = 30.0
    ) -> None:
        patience = checks.seconds(timeout, "timeout") or 0.0
        # A file stays the same where the process changes its folder.
        self._connections: Connections = (
            MemoryConnections(patience)
            if path is None
            else FileConnections(Path(path).absolute(), patience)
        )
        self.name = self._connections.name
        # What is in memory is no other store's, though a later one may have the same address.
        self._place = uuid.uuid4().hex if path is None else os.path.realpath(path)
        # A memory that is dropped and not closed leaves no open file behind.
        self._finalizer = weakref.finalize(self, self._connections.close)

    def __repr__(self) -> str:
        return f"SQLiteStore({self._place!r})"

    def apply(
        self,
        namespace: str,
        updates: Sequence[PreparedUpdate],
        *,
        now: datetime | None = None,
    ) -> list[Applied]:
        return self._connections.write(
            lambda connection: apply_updates(SQLiteRows(connection, namespace), updates, now=now)
        )

    @contextmanager
    def reader(
        self, namespace: str, horizon: Horizon = _ALL
    ) -> Generator[SQLiteReader, None, None]:
        with self._connections.read() as snapshot:
            yield SQLiteReader(snapshot, namespace, horizon)

    def amend(self, namespace: str, amendment: Amendment) -> int:
        return self._connections.write(
            lambda connection: amend(SQLiteRows(connection, namespace), amendment)
        )

    def forget(self, namespace: str, selection: Selection) -> Forgotten:

        def forget_selected(connection: sqlite3.Connection) -> Forgotten:
            forgotten = forget(SQLiteRows(connection, namespace), selection)
            if forgotten:
                connection.execute("INSERT OR REPLACE INTO erasure (rowid, due) VALUES (1, 1)")
            return forgotten

        try:
            forgotten = self._connections.write(forget_selected)
        except DryRun as dry_run:
            return dry_run.forgotten
        pending = bool(forgotten) and self._connections.erasure_pending
        return replace(forgotten, erasure_pending=pending)

    def restore(
        self, namespace: str, t_index: int, records: Iterable[PreparedUpdate | Summary]
    ) -> int:
        # Records may be read from this store: in memory, a write beside a reader makes a copy.
        with self._connections.read():
            return self._connections.write(
                lambda connection: restore_records(
                    SQLiteRows(connection, namespace), namespace, t_index, records
                )
            )

    def namespaces(self) -> list[str]:
        with self._connections.read() as snapshot:
            rows = snapshot.rows("SELECT name FROM namespace WHERE t > 0 ORDER BY name")
            return [name for (name,) in rows]

    def problems(self) -> list[str]:
        with self._connections.read() as snapshot, damage(self.name):
            found = [text for (text,) in snapshot.rows("PRAGMA integrity_check")]
            return [*faults(snapshot.rows)] if found == ["ok"] else found

    def close(self) -> None:
        self._connections.close()
        self._finalizer.detach()
