"""One try of a transaction: its rows, its time limit, its write stamp."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, LiteralString

from neo4j import Query, Session

WriteStamp = Mapping[str, str | int]
"""Parameters that identify a write, so that a retry can see whether an earlier try was committed;
they are stored at the namespace. ``writer`` is the name of a thread, which does one write at a
time, ``write`` that of the write, the same at every try, and ``remembered`` the milliseconds after
which a writer has learnt what became of its latest write."""


class AlreadyWrittenError(Exception):
    """An earlier try of this write was committed, and its reply was lost."""


class NeedsLockError(Exception):
    """A write cannot be done without the lock of its namespace held from its first query on."""


class ChangedError(Exception):
    """Another writer wrote between the look-ups of a write and its changes."""


class Tx:
    """One try of a transaction.

    Args:
        session: of the driver.
        bound: seconds after which the server ends the transaction, so that a client that vanished
            loses its lock.
        patience: those after which it ends the first query, which waits for the lock, where that
            is a transaction of its own.
        stamp: identifies the write.
        holds: whether the queries are one transaction of the server, which holds the lock. If not,
            each is in one of its own, which the server opens and ends with the query: one round
            trip instead of three. The only one that changes anything is then that of
            ``write_at_commit``.
    """

    def __init__(
        self,
        session: Session,
        *,
        bound: float,
        patience: float,
        stamp: WriteStamp,
        holds: bool,
    ) -> None:
        self.bound = bound
        self.stamp = stamp
        self.is_answered = False
        """Whether the first query, which takes the lock, has its answer."""
        self._at_commit: tuple[LiteralString, Mapping[str, Any]] | None = None
        self._session = session
        self._timeout = min(patience, bound)
        self.raw = session.begin_transaction(timeout=bound) if holds else None

    def rows(self, query: LiteralString, parameters: Mapping[str, Any]) -> list[Any]:
        """Run one query and fetch all of its rows: the values of its only column."""
        if self.raw is None:
            found = self._session.run(Query(query, timeout=self._timeout), dict(parameters))
        else:
            found = self.raw.run(query, dict(parameters))
        fetched = found.value()
        self.is_answered = True
        self._timeout = self.bound
        return fetched

    def write_at_commit(self, query: LiteralString, parameters: Mapping[str, Any]) -> None:
        """Let the query run when the transaction is committed; without a row from the query,
        nothing is written.

        Raises:
            NeedsLockError: there is such a query already.
        """
        if self._at_commit is not None:
            raise NeedsLockError
        self._at_commit = query, parameters

    def commit(self) -> None:
        """Commit. What stands in transactions of its own is committed already.

        Raises:
            ChangedError: the query of ``write_at_commit`` wrote nothing, for what was looked up has
                changed.
        """
        if self.raw is not None:
            self.raw.commit()
        elif self._at_commit is not None and not self.rows(*self._at_commit):
            raise ChangedError
