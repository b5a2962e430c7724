"""A transaction as the queries of this store see it: its rows, its silences, its mark.

The server ends a transaction after a bound of seconds, so that a client that vanished holds its
lock no longer. The client waits for a reply somewhat longer than that: a server that has not
answered by then is gone. Only the wait for the lock, which is what the first query of a writer
takes, is shorter: ``timeout`` of the store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final, LiteralString, TypeVar

from neo4j import Result, Transaction
from neo4j.graph import Node

__all__ = ["GRACE", "AlreadyWrittenError", "Mark", "Row", "Tx", "chunks", "rows"]

Item = TypeVar("Item")
Row = Mapping[str, Any]

GRACE: Final = 5.0
"""Seconds that the server may take to end a transaction whose time is over: it looks every two."""


class AlreadyWrittenError(Exception):
    """An earlier try of this write was committed, and its reply was lost."""


@dataclass(frozen=True, slots=True)
class Mark:
    """What a write leaves at its namespace: ``writer`` is one of those of a store, each of which
    does one write at a time, ``write`` the write, which is the same at every try."""

    writer: str
    write: str


@dataclass(slots=True)
class Tx:
    """One try of a transaction.

    Attributes:
        raw: the driver's.
        bound: seconds after which the server ends it.
        rest: seconds that the connection waits for a reply when the transaction is over; None: as
            long as before.
        mark: of a write.
        lock_patience: seconds that the first query may wait, which takes the lock; None: as long
            as all others.
    """

    raw: Transaction
    bound: float
    rest: float | None
    mark: Mark
    lock_patience: float | None = None
    _rest: float | None = field(init=False)

    def __post_init__(self) -> None:
        self._rest = self.rest
        if self.rest is None:
            getter, _ = self._reply_timeout()
            self._rest = getter()
        self._wait(self.bound + GRACE if self.lock_patience is None else self.lock_patience)

    def run(self, query: LiteralString, parameters: Mapping[str, Any]) -> Result:
        """Run one query; its rows are still to be fetched."""
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
        """Let the connection wait for replies as it is to in the next transaction."""
        self._wait(self._rest)

    def _wait(self, seconds: float | None) -> None:
        """Give up the connection when a reply takes longer."""
        _, setter = self._reply_timeout()
        with suppress(OSError):  # the socket may be closed
            setter(seconds)

    def _reply_timeout(self) -> tuple[Callable[[], Any], Callable[[Any], Any]]:
        """How the socket is asked and set. The driver has no setting for that, and waits as long
        as the server says, which is two minutes: where another version of the driver has other
        sockets, that remains, and the server's bound."""
        socket = getattr(getattr(self.raw, "_connection", None), "socket", None)
        for names in (("get_read_timeout", "set_read_timeout"), ("gettimeout", "settimeout")):
            if all(hasattr(socket, name) for name in names):
                return getattr(socket, names[0]), getattr(socket, names[1])
        return (lambda: None), (lambda _: None)


def rows(tx: Tx, query: LiteralString, parameters: Mapping[str, Any]) -> Sequence[Row]:
    """Run one query and fetch all of its rows."""
    return tx.rows(query, parameters)


def chunks(items: Iterable[Item], size: int = 2000) -> Iterator[list[Item]]:
    """The items, so many at a time: what one query is given at once."""
    iterator = iter(items)
    while chunk := list(islice(iterator, size)):
        yield chunk


def _properties_of(value: Any) -> Any:
    """A node as its properties, which compare by what they are."""
    return dict(value.items()) if isinstance(value, Node) else value
