"""The driver, and transactions with time limits that are retried and committed once."""

from __future__ import annotations

import os
import threading
import time
import uuid
from asyncio import CancelledError
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final, LiteralString, TypeVar

import neo4j
from neo4j import Auth, Driver, GraphDatabase, Query, Session
from neo4j.exceptions import ConfigurationError, DriverError, Neo4jError, ServiceUnavailable

from recallm.errors import ClosedError, InvalidInputError, RecallMError, StoreBusyError
from recallm.stores.addresses import checked_uri
from recallm.stores.neo4j.failures import is_lost, is_passing, ran_out_of_time, translated

Result = TypeVar("Result")

_WORK_LIMITS: Final = (20.0, 1280.0)
"""Seconds for which a transaction may wait for the lock and work, at first and at most. A client
that vanished loses its lock after the first; large work still gets the time that it needs."""
_LONGEST_TIMEOUT: Final = 1_000_000.0
"""Seconds (eleven days); the longest that sockets, the driver and the server all accept."""
_LEAST_LOCK_WAIT: Final = 3.0
"""Seconds; the shortest wait for the lock. A server that was just started takes as long to plan the
first query."""
_GRACE: Final = 5.0
"""Seconds that the server may take to end a transaction whose time is over: it checks every 2 s."""
_LEAST_COMMIT_CHECK: Final = 10.0
"""Seconds; the shortest time of retries after the reply to a commit was lost."""
_LIVENESS_CHECK_AFTER: Final = 2.0
"""Seconds without use after which the driver tests a connection before it uses it."""
_REMEMBERED: Final = 900_000
"""Milliseconds: 15 minutes. See ``WriteStamp``."""

WriteStamp = Mapping[str, str | int]
"""Parameters that identify a write, so that a retry can see whether an earlier try was committed;
they are stored at the namespace. ``writer`` is the name of a thread, which does one write at a
time, ``write`` that of the write, the same at every try, and ``remembered`` the milliseconds after
which a writer has learnt what became of its latest write."""

_NO_STAMP: Final[WriteStamp] = {}


class AlreadyWrittenError(Exception):
    """An earlier try of this write was committed, and its reply was lost."""


class NeedsLockError(Exception):
    """A write needs the lock of its namespace held from its first query to its commit."""


_BETWEEN_REPLIES: Final = (DriverError, Neo4jError, RecallMError, NeedsLockError)
"""What the driver and the work in a transaction raise: a connection can go on after it."""


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
        self, session: Session, *, bound: float, patience: float, stamp: WriteStamp, holds: bool
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
            NeedsLockError: the query of ``write_at_commit`` wrote nothing, for another writer
                changed what was looked up.
        """
        if self.raw is not None:
            self.raw.commit()
        elif self._at_commit is not None and not self.rows(*self._at_commit):
            raise NeedsLockError


class Connection:
    """A driver (opened here, or a user's) and the name of its database.

    Args:
        server: a ``bolt://`` or ``neo4j://`` URI (``+s``, ``+ssc``), or a driver, which stays open.
        auth: user name and password; only with a URI.
        database: the database's name; None: the user's home database.
        timeout: seconds for which a write waits for another one of its namespace, and for which
            transactions are retried after transient errors.
    """

    def __init__(
        self,
        server: str | Driver,
        *,
        auth: tuple[str, str] | None,
        database: str | None,
        timeout: float,
    ) -> None:
        self._database = database
        self._closed = False
        self.timeout = min(timeout, _LONGEST_TIMEOUT)
        self.lock_patience = max(self.timeout, _LEAST_LOCK_WAIT)
        # Later transactions of this store wait for its earlier ones, whichever member of a
        # cluster they reach.
        self._bookmarks = GraphDatabase.bookmark_manager()
        self._id = uuid.uuid4().hex
        if isinstance(server, Driver):
            if auth is not None:
                raise InvalidInputError(
                    "auth goes with a URI: a driver was made with its own", argument="auth"
                )
            self.driver = server
            self._is_ours = False
            self.name = "the server"
        else:
            uri = checked_uri(server)
            self._is_ours = True
            self.name = f"{uri.scheme}://{uri.netloc}"
            # Seconds to wait for a connection, and for a server to greet.
            patience = min(max(timeout, 5.0), 10.0)
            self.driver = _driver(server.strip(), auth, patience=patience, timeout=self.timeout)

    def rows(
        self, query: LiteralString, parameters: Mapping[str, Any], *, retry: bool = True
    ) -> list[Any]:
        """The rows of one query that only reads, in one round trip. ``retry``: after transient
        errors the query is tried again, as in ``read``; without, a wrong address fails at once."""
        first = _WORK_LIMITS[0]
        return self._run(lambda tx: tx.rows(query, parameters), retries=retry, bound=first)

    def write(
        self,
        work: Callable[[Tx], Result],
        *,
        locks: bool = True,
        holds: bool = True,
        is_long: bool = False,
    ) -> Result:
        """Run ``work`` in a write transaction; retry it after transient errors.

        The first query must take a lock (``lookups.LOCK``), which also makes a retry safe when the
        reply to a commit was lost. Work that may run twice can do without: ``locks=False``.
        ``holds=False``: a first try does without a lock between its queries (``Tx``). ``is_long``:
        the first try has all the time that a later one may have.

        Raises:
            StoreBusyError: the lock was not free in time, or the work took too long.
            StoreUnavailableError: the server cannot be reached.
        """
        stamp: WriteStamp = {
            "writer": f"{self._id}.{os.getpid()}.{threading.get_ident()}.",
            "write": uuid.uuid4().hex,
            "remembered": _REMEMBERED,
        }
        bound = _WORK_LIMITS[is_long]
        return self._run(work, stamp=stamp, locks=locks, holds=holds, bound=bound)

    def _run(
        self,
        work: Callable[[Tx], Result],
        *,
        stamp: WriteStamp = _NO_STAMP,
        locks: bool = False,
        holds: bool = False,
        retries: bool = True,
        bound: float,
    ) -> Result:
        """The result of the first try of a transaction that succeeds.

        A write that needs the lock between its queries begins again with the lock. It goes on
        waiting for the lock until its time to wait is over. What the server ended for its time has
        eight times as long in the next try. After another error that passes, the next try begins
        after a pause, until the time to retry is over.

        Args:
            work: runs the queries. Without a ``stamp``, this is one query that only reads.
            stamp: identifies a write.
            locks: whether the first query takes a lock.
            holds: whether the first try, too, holds the lock between its queries (``Tx``).
            retries: whether the transaction is tried again after errors that pass.
            bound: seconds that the first try may take.

        Raises:
            StoreError: no try succeeded.
        """
        pause = 0.05
        lock_until = retry_until = 0.0  # until when a try may wait, and another may begin
        results: list[Result] = []
        is_unknown = False  # whether the reply to a commit was lost
        tx: Tx | None = None
        while True:
            self.check_open()
            now = time.monotonic()
            if tx is None or tx.is_answered:
                # A process that was stopped, or worked for long, did not wait for the lock then.
                lock_until = max(lock_until, now + self.lock_patience)
            patience = max(lock_until - now, 0.1) if locks else bound
            tx, is_committing = None, False
            try:
                with self.session(reads=not stamp) as session:
                    tx = Tx(session, bound=bound, patience=patience, stamp=stamp, holds=holds)
                    with suppress(AlreadyWrittenError):  # the result is that of an earlier try
                        results = [work(tx)]
                    is_committing = bool(stamp)
                    tx.commit()
                    return results[0]
            except NeedsLockError:
                holds = True
                continue
            except (DriverError, Neo4jError) as raised:
                error = raised
            self.check_open()
            now = time.monotonic()
            if ran_out_of_time(error):
                if locks and tx is not None and not tx.is_answered:
                    if now < lock_until:
                        continue
                    if not is_unknown:
                        raise StoreBusyError(
                            f"another writer did not let go of the namespace on {self.name} in "
                            f"{self.lock_patience:g} s; try again, or let writes wait longer with "
                            "timeout=… (retry_time=… of Neo4jStore)"
                        ) from error
                elif bound < _WORK_LIMITS[1]:
                    bound *= 8
                    continue
            retry_until = retry_until or now + self.timeout
            if is_committing and is_lost(error) and not is_unknown:
                is_unknown = True
                retry_until = max(retry_until, now + _LEAST_COMMIT_CHECK)
                # The server may keep the earlier try, and its lock, until its bound.
                lock_until = max(lock_until, now + bound + _GRACE)
            if now > retry_until or not retries or not is_passing(error):
                raise self._failure(error, unknown=is_unknown) from error
            time.sleep(pause)
            pause = min(2 * pause, 1.0)

    def close(self) -> None:
        """Begin nothing from now on, and close the driver if it is ours."""
        self._closed = True
        if self._is_ours:
            self.driver.close()

    def check_open(self) -> None:
        """Raise ClosedError after ``close``."""
        if self._closed:
            raise ClosedError

    @contextmanager
    def session(self, *, reads: bool) -> Generator[Session, None, None]:
        """A session. What a signal handler raises may end a call between two bytes of a reply: the
        next query on that connection would read the rest as its own. So the connection is cut."""
        session = self.driver.session(
            fetch_size=-1,  # rows are all wanted: none waits for a second round trip
            default_access_mode=neo4j.READ_ACCESS if reads else neo4j.WRITE_ACCESS,
            database=self._database,
            bookmark_manager=self._bookmarks,
            notifications_min_severity=neo4j.NotificationMinimumSeverity.OFF,
        )
        try:
            try:
                yield session
            except _BETWEEN_REPLIES:
                session.close()
                raise
            session.close()
        except _BETWEEN_REPLIES:
            raise
        except BaseException as error:
            # To a session, this class says: let go of the connection without another word.
            session.__exit__(CancelledError, None, None)  # type: ignore[no-untyped-call]
            if isinstance(error, ValueError) and "DNS resolve" in str(error):
                # What some versions of the driver raise for a host that is not known.
                raise ServiceUnavailable(str(error)) from error
            raise

    def _failure(self, error: DriverError | Neo4jError, *, unknown: bool) -> RecallMError:
        """The error of recallm for one of the driver. ``unknown``: see ``translated``."""
        if self._closed:
            return ClosedError()
        return translated(error, name=self.name, database=self._database, unknown=unknown)


def _driver(uri: str, auth: object, *, patience: float, timeout: float) -> Driver:
    """A driver. ``patience``: seconds to wait for a connection; ``timeout``: those for which it may
    try a transaction again.

    Raises:
        InvalidInputError: the URI or the credentials cannot be used.
    """
    credentials = _credentials(auth)
    try:
        return GraphDatabase.driver(
            uri,
            auth=credentials,
            connection_timeout=patience,
            connection_acquisition_timeout=patience,
            liveness_check_timeout=_LIVENESS_CHECK_AFTER,
            max_transaction_retry_time=timeout,
            user_agent="recallm",
        )
    except (ConfigurationError, ValueError):
        pass  # the driver's error repeats the URI
    raise InvalidInputError(
        "this cannot be used as a Neo4j URI: write neo4j://HOST:7687, or bolt://HOST:7687 for "
        "one server without routing, with +s after the scheme for TLS",
        argument="store",
    )


def _credentials(auth: object) -> tuple[str, str] | Auth | None:
    """A user name and a password, or what ``neo4j.Auth`` stands for. What is refused is not
    repeated, as the driver would do: it may be a password."""
    if auth is None or isinstance(auth, Auth):
        return auth
    if isinstance(auth, tuple | list) and [type(part) for part in auth] == [str, str]:
        user, password = auth
        return user, password
    raise InvalidInputError(
        "auth is a user name and a password, two texts: auth=(USER, PASSWORD)", argument="auth"
    )
