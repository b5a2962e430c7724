"""One try of a transaction: its rows, its timeouts, its write stamp.

The server ends a transaction after ``bound`` seconds, so that a client that vanished loses its
lock. The client waits ``GRACE`` seconds longer for a reply: a server that does not answer by then
is gone. Only the first query of a writer, which takes the lock, has a shorter limit.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final, LiteralString

from neo4j import WRITE_ACCESS, Query, Result, Session, Transaction
from neo4j.exceptions import ServiceUnavailable

GRACE: Final = 5.0
"""Seconds that the server may take to end a transaction whose time is over: it checks every 2 s."""


class AlreadyWrittenError(Exception):
    """An earlier try of this write was committed, and its reply was lost."""


WriteStamp = Mapping[str, str | int]
"""Parameters that identify a write, so that a retry can see whether an earlier try was committed;
they are stored at the namespace. ``writer`` is the name of a writer (a store has several; each does
one write at a time), ``write`` that of the write, the same at every try, and ``remembered`` the
milliseconds after which a writer has learnt what became of its latest write."""


class NeedsLockError(Exception):
    """A write cannot be done without the lock of its namespace held from its first query on."""


class ChangedError(Exception):
    """Another writer wrote between the look-ups of a write and its changes."""


class Tx:
    """One try of a transaction.

    Args:
        session: of the driver.
        bound: seconds after which the server ends it.
        stamp: identifies the write.
        access: whether queries go to a server that can write.
        owned: whether the driver is ours. The reply timeout of a user's connections is changed
            within a transaction alone: after a query of its own, the connection is back in the pool
            with the last row, before a timeout can be put back.
        is_whole: whether the queries are one transaction of the server. If not, each is in one of
            its own, which the server opens and ends with the query: one round trip instead of
            three. The only one that changes anything is then that of ``write_at_commit``.
        lock_patience: the reply timeout (seconds) of the first query, which takes the lock; None:
            that of all other queries.
        idle_reply_timeout: the reply timeout (seconds) that the connection gets after this
            transaction; None: the timeout that it had before.
    """

    def __init__(
        self,
        session: Session,
        *,
        bound: float,
        stamp: WriteStamp,
        access: str = WRITE_ACCESS,
        owned: bool = False,
        is_whole: bool = True,
        lock_patience: float | None = None,
        idle_reply_timeout: float | None = None,
    ) -> None:
        self.bound = bound
        self.stamp = stamp
        self.lock_patience = lock_patience
        self.at_commit: tuple[LiteralString, dict[str, Any]] | None = None
        self._session = session
        self._access = access
        self._owned = owned
        with _resolving():
            self.raw = session.begin_transaction(timeout=bound) if is_whole else None
        self._idle_reply_timeout = idle_reply_timeout or _reply_timeout(self.raw)[0]()

    def rows(self, query: LiteralString, parameters: Mapping[str, Any]) -> list[Any]:
        """Run one query and fetch all of its rows: the values of its only column."""
        patience = self.bound + GRACE if self.lock_patience is None else self.lock_patience
        fetched = self._run(query, dict(parameters), patience).value()
        self.lock_patience = None
        return fetched

    def _run(self, query: LiteralString, parameters: dict[str, Any], patience: float) -> Result:
        if self.raw is not None:
            _wait(self.raw, patience)
            return self.raw.run(query, parameters)
        connect = getattr(self._session, "_connect", None)
        if self._owned and connect is not None:
            with _resolving():
                connect(self._access)  # now, so that the socket's timeout can be set before
            # The server ends a write that waits too long for the lock of another writer.
            _wait(self._session, patience + (GRACE if self._access == WRITE_ACCESS else 0.0))
        return self._session.run(Query(query, timeout=min(self.bound, patience)), parameters)

    def write_at_commit(self, query: LiteralString, parameters: Mapping[str, Any]) -> None:
        """Let the query run when the transaction is committed; without a row from the query,
        nothing is written.

        Raises:
            NeedsLockError: this is one transaction of the server.
        """
        if self.raw is not None:
            raise NeedsLockError
        self.at_commit = query, dict(parameters)

    def settle(self) -> None:
        """Set the reply timeout of the connection for its next transaction. That of a single query
        is the same, and the connection may already serve somebody else."""
        if self.raw is not None:
            _wait(self.raw, self._idle_reply_timeout)

    def commit(self) -> None:
        """Commit. What stands in transactions of its own is committed already.

        Raises:
            ChangedError: the query of ``write_at_commit`` wrote nothing, for what was looked up has
                changed.
        """
        if self.raw is not None:
            self.raw.commit()
        elif self.at_commit is not None and not self.rows(*self.at_commit):
            raise ChangedError


@contextmanager
def _resolving() -> Generator[None, None, None]:
    """Turn the ValueError for a host unknown to DNS into the driver's error of version 6."""
    try:
        yield
    except ValueError as error:
        raise ServiceUnavailable(str(error)) from error


def _wait(raw: Transaction | Session, seconds: float | None) -> None:
    """Set the reply timeout: the driver gives up the connection when a reply takes longer."""
    with suppress(OSError):  # the socket may be closed
        _reply_timeout(raw)[1](seconds)


def _reply_timeout(
    raw: Transaction | Session | None,
) -> tuple[Callable[[], Any], Callable[[Any], Any]]:
    """The getter and the setter of the socket's read timeout.

    The driver has no setting for it: it waits as long as the server says (two minutes). Where
    a version of the driver has sockets without these methods, that timeout stays.
    """
    socket = getattr(getattr(raw, "_connection", None), "socket", None)
    for names in (("get_read_timeout", "set_read_timeout"), ("gettimeout", "settimeout")):
        if all(hasattr(socket, name) for name in names):
            return getattr(socket, names[0]), getattr(socket, names[1])
    return (lambda: None), (lambda _: None)
