"""One try of a transaction: its rows, its timeouts, its write stamp.

The server ends a transaction after ``bound`` seconds, so that a client that vanished loses its
lock. The client waits ``GRACE`` seconds longer for a reply: a server that does not answer by then
is gone. Only the first query of a writer, which takes the lock, has a shorter limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final, LiteralString, TypeVar

from neo4j import Result, Transaction
from neo4j.graph import Node

__all__ = ["GRACE", "AlreadyWrittenError", "Row", "Tx", "WriteStamp", "chunks", "rows"]

Item = TypeVar("Item")
Row = Mapping[str, Any]

GRACE: Final = 5.0
"""Seconds that the server may take to end a transaction whose time is over: it checks every 2 s."""


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


@dataclass(slots=True)
class Tx:
    """One try of a transaction.

    Attributes:
        raw: the driver's transaction.
        bound: seconds after which the server ends it.
        idle_reply_timeout: the reply timeout (seconds) that the connection gets after this
            transaction; None: the timeout that it had before.
        stamp: identifies the write.
        lock_patience: the reply timeout (seconds) of the first query, which takes the lock; None:
            that of all other queries.
    """

    raw: Transaction
    bound: float
    idle_reply_timeout: float | None
    stamp: WriteStamp
    lock_patience: float | None = None
    _idle_reply_timeout: float | None = field(init=False)

    def __post_init__(self) -> None:
        self._idle_reply_timeout = self.idle_reply_timeout
        if self.idle_reply_timeout is None:
            getter, _ = self._reply_timeout()
            self._idle_reply_timeout = getter()
        self._wait(self.bound + GRACE if self.lock_patience is None else self.lock_patience)

    def run(self, query: LiteralString, parameters: Mapping[str, Any]) -> Result:
        """Run one query without fetching its rows."""
        return self.raw.run(query, dict(parameters))

    def rows(self, query: LiteralString, parameters: Mapping[str, Any]) -> list[Row]:
        """Run one query and fetch all of its rows."""
        found = self.run(query, parameters)
        names = found.keys()
        # Result.data() would look at each byte of a vector.
        fetched: list[Row] = [
            dict(zip(names, map(_properties_of, row.values()), strict=True)) for row in found
        ]
        if self.lock_patience is not None:
            self.lock_patience = None
            self._wait(self.bound + GRACE)
        return fetched

    def settle(self) -> None:
        """Set the reply timeout of the connection for its next transaction."""
        self._wait(self._idle_reply_timeout)

    def _wait(self, seconds: float | None) -> None:
        """Set the reply timeout: the driver gives up the connection when a reply takes longer."""
        _, setter = self._reply_timeout()
        with suppress(OSError):  # the socket may be closed
            setter(seconds)

    def _reply_timeout(self) -> tuple[Callable[[], Any], Callable[[Any], Any]]:
        """The getter and the setter of the socket's read timeout.

        The driver has no setting for it: it waits as long as the server says (two minutes). Where
        a version of the driver has sockets without these methods, that timeout stays.
        """
        socket = getattr(getattr(self.raw, "_connection", None), "socket", None)
        for names in (("get_read_timeout", "set_read_timeout"), ("gettimeout", "settimeout")):
            if all(hasattr(socket, name) for name in names):
                return getattr(socket, names[0]), getattr(socket, names[1])
        return (lambda: None), (lambda _: None)


def rows(tx: Tx, query: LiteralString, parameters: Mapping[str, Any]) -> Sequence[Row]:
    """Run one query and fetch all of its rows."""
    return tx.rows(query, parameters)


def chunks(items: Iterable[Item], size: int = 2000) -> Iterator[list[Item]]:
    """The items in lists of ``size``: one query gets one list."""
    iterator = iter(items)
    while chunk := list(islice(iterator, size)):
        yield chunk


def _properties_of(value: Any) -> Any:
    """A node as a dict of its properties, which can be compared; any other value as it is."""
    return dict(value.items()) if isinstance(value, Node) else value
