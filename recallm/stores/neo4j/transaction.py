"""One try of a transaction: its rows, its timeouts, its write stamp.

The server ends a transaction after ``bound`` seconds, so that a client that vanished loses its
lock. The client waits ``GRACE`` seconds longer for a reply: a server that does not answer by then
is gone. Only the first query of a writer, which takes the lock, has a shorter limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, LiteralString

from neo4j import READ_ACCESS, WRITE_ACCESS, Query, Result, Session, Transaction
from neo4j.graph import Node

Row = Mapping[str, Any]

GRACE: Final = 5.0
"""Seconds that the server may take to end a transaction whose time is over: it checks every 2 s."""


def row_of(names: Iterable[str], values: Iterable[Any]) -> Row:
    """A row by its columns; a node is a dict of its properties."""
    # Result.data() would look at each byte of a vector.
    return {
        name: dict(value.items()) if isinstance(value, Node) else value
        for name, value in zip(names, values, strict=True)
    }


class AlreadyWrittenError(Exception):
    """An earlier try of this write was committed, and its reply was lost."""


@dataclass(frozen=True, slots=True)
class WriteStamp:
    """Identifies a write, so that a retry can see whether an earlier try was committed.

    The lock query stores the stamp at the namespace.

    Attributes:
        writer: the name of a writer. A store has several; each does one write at a time.
        write: the name of the write, the same at every try.
    """

    writer: str
    write: str


class NeedsLockError(Exception):
    """A write cannot be done without the lock of its namespace held from its first query on."""


class ChangedError(Exception):
    """Another writer wrote between the look-ups of a write and its changes."""


class SingleQuery:
    """The part of ``neo4j.Transaction`` that ``Tx`` needs, for one query.

    The server opens and ends its transaction with the query: one round trip instead of three.

    Args:
        session: runs the query.
        bound: seconds after which the server ends it.
        owned: whether the driver is ours. The reply timeout of a user's connections stays as it is:
            the connection is back in the pool with the last row, before a timeout can be put back.
        access: whether the query goes to a server that can write.
    """

    def __init__(
        self, session: Session, *, bound: float, owned: bool, access: str = READ_ACCESS
    ) -> None:
        self._session = session
        self._bound = bound
        connect = getattr(session, "_connect", None)
        if owned and connect is not None:
            connect(access)  # now, so that the socket's timeout can be set before the query
        self._connection = getattr(session, "_connection", None)

    def run(self, query: LiteralString, parameters: dict[str, Any]) -> Result:
        """Run the query."""
        return self._session.run(Query(query, timeout=self._bound), parameters)

    def commit(self) -> None:
        """Nothing: the server committed with the last row."""


class UnlockedQueries:
    """The part of ``neo4j.Transaction`` that ``Tx`` needs, for queries in a transaction each.

    ``commit`` runs the query that was given to ``at_commit``, the only one that changes anything.
    """

    def __init__(self, session: Session, *, bound: float, owned: bool) -> None:
        self._session = session
        self._bound = bound
        self._owned = owned
        self._patience: float | None = None
        self.at_commit: tuple[LiteralString, dict[str, Any]] | None = None

    def set_reply_timeout(self, seconds: float | None) -> None:
        """Seconds that later queries wait for a reply at most."""
        self._patience = seconds

    def run(self, query: LiteralString, parameters: dict[str, Any]) -> Result:
        """Run the query. The server ends what waits too long for the lock of another writer; where
        no reply comes, the connection is lost."""
        patience = self._bound + GRACE if self._patience is None else self._patience
        single = SingleQuery(
            self._session,
            bound=min(self._bound, patience),
            owned=self._owned,
            access=WRITE_ACCESS,
        )
        if self._owned:
            with suppress(OSError):
                _reply_timeout(single)[1](patience + GRACE)
        return single.run(query, parameters)

    def commit(self) -> None:
        """Write.

        Raises:
            ChangedError: the query wrote nothing, for what was looked up has changed.
        """
        if self.at_commit is not None and not list(self.run(*self.at_commit)):
            raise ChangedError


class Tx:
    """One try of a transaction.

    Args:
        raw: the driver's transaction, or a query that needs none.
        bound: seconds after which the server ends it.
        stamp: identifies the write.
        lock_patience: the reply timeout (seconds) of the first query, which takes the lock; None:
            that of all other queries.
        idle_reply_timeout: the reply timeout (seconds) that the connection gets after this
            transaction; None: the timeout that it had before.
    """

    def __init__(
        self,
        raw: Transaction | SingleQuery | UnlockedQueries,
        *,
        bound: float,
        stamp: WriteStamp,
        lock_patience: float | None = None,
        idle_reply_timeout: float | None = None,
    ) -> None:
        self.raw = raw
        self.bound = bound
        self.stamp = stamp
        self.lock_patience = lock_patience
        reply_timeout, self._set_reply_timeout = _reply_timeout(raw)
        self._idle_reply_timeout = idle_reply_timeout or reply_timeout()
        self._wait(bound + GRACE if lock_patience is None else lock_patience)

    def rows(self, query: LiteralString, parameters: Mapping[str, Any]) -> list[Row]:
        """Run one query and fetch all of its rows; nodes are dicts of their properties."""
        found = self.raw.run(query, dict(parameters))
        names = found.keys()
        fetched = [row_of(names, row.values()) for row in found]
        if self.lock_patience is not None:
            self.lock_patience = None
            self._wait(self.bound + GRACE)
        return fetched

    def write_at_commit(self, query: LiteralString, parameters: Mapping[str, Any]) -> None:
        """Let the query run when the transaction is committed; without a row from the query,
        nothing is written.

        Raises:
            NeedsLockError: this is not a transaction of ``UnlockedQueries``.
        """
        if not isinstance(self.raw, UnlockedQueries):
            raise NeedsLockError
        self.raw.at_commit = query, dict(parameters)

    def settle(self) -> None:
        """Set the reply timeout of the connection for its next transaction. That of a single query
        is the same, and the connection may already serve somebody else."""
        if isinstance(self.raw, Transaction):
            self._wait(self._idle_reply_timeout)

    def _wait(self, seconds: float | None) -> None:
        """Set the reply timeout: the driver gives up the connection when a reply takes longer."""
        with suppress(OSError):  # the socket may be closed
            self._set_reply_timeout(seconds)


def _reply_timeout(
    raw: Transaction | SingleQuery | UnlockedQueries,
) -> tuple[Callable[[], Any], Callable[[Any], Any]]:
    """The getter and the setter of the socket's read timeout.

    The driver has no setting for it: it waits as long as the server says (two minutes). Where
    a version of the driver has sockets without these methods, that timeout stays.
    """
    if isinstance(raw, UnlockedQueries):
        return (lambda: None), raw.set_reply_timeout
    socket = getattr(getattr(raw, "_connection", None), "socket", None)
    for names in (("get_read_timeout", "set_read_timeout"), ("gettimeout", "settimeout")):
        if all(hasattr(socket, name) for name in names):
            return getattr(socket, names[0]), getattr(socket, names[1])
    return (lambda: None), (lambda _: None)
