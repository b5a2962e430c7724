"""The driver, and transactions with time limits that are retried and committed once."""

from __future__ import annotations

import time
import uuid
from asyncio import CancelledError
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final, LiteralString, TypeVar

import neo4j
from neo4j import Auth, Driver, GraphDatabase, Query, Session
from neo4j.exceptions import ConfigurationError, DriverError, Neo4jError, ServiceUnavailable

from recallm.errors import ClosedError, InvalidInputError, RecallMError
from recallm.stores.addresses import checked_uri
from recallm.stores.neo4j.failures import is_lost, is_passing, translated

Result = TypeVar("Result")

_WORK_LIMIT: Final = 600.0
"""Seconds after which the server ends a transaction, and with it the lock of a client that
vanished without a word."""
_LONGEST_TIMEOUT: Final = 1_000_000.0
"""Seconds (eleven days); the longest that sockets, the driver and the server all accept."""
_LEAST_LOCK_WAIT: Final = 3.0
"""Seconds; the shortest wait for the lock. A server that was just started takes as long to plan the
first query."""
_LIVENESS_CHECK_AFTER: Final = 2.0
"""Seconds without use after which the driver tests a connection before it uses it."""


class AlreadyWrittenError(Exception):
    """An earlier try of this write was committed, and its reply was lost."""


class NeedsLockError(Exception):
    """A write needs the lock of its namespace held from its first query to its commit."""


class LostCommitError(Exception):
    """The connection was lost before the reply to a commit."""

    def __init__(self, error: DriverError | Neo4jError) -> None:
        super().__init__()
        self.error = error


_BETWEEN_REPLIES: Final = (DriverError, Neo4jError, RecallMError, NeedsLockError, LostCommitError)
"""What the driver and the work in a transaction raise: a connection can go on after it."""


class Tx:
    """One try of a transaction.

    Args:
        session: of the driver.
        holds: whether the queries are one transaction of the server, which holds the lock. If not,
            each is in one of its own, which the server opens and ends with the query: one round
            trip instead of three. The only one that changes anything is then that of
            ``write_at_commit``.
        patience: seconds after which the server ends the first query, which waits for the lock,
            where that is a transaction of its own.
        write: the name of the write, the same at every try, by which a retry sees whether an
            earlier try was committed.
    """

    def __init__(
        self,
        session: Session,
        *,
        holds: bool = False,
        patience: float = _WORK_LIMIT,
        write: str = "",
    ) -> None:
        self.write = write
        self.raw = session.begin_transaction(timeout=_WORK_LIMIT) if holds else None
        self._at_commit: tuple[LiteralString, Mapping[str, Any]] | None = None
        self._session = session
        self._timeout = patience

    def rows(self, query: LiteralString, parameters: Mapping[str, Any]) -> list[Any]:
        """Run one query and fetch all of its rows: the values of its only column."""
        if self.raw is None:
            found = self._session.run(Query(query, timeout=self._timeout), dict(parameters))
        else:
            found = self.raw.run(query, dict(parameters))
        self._timeout = _WORK_LIMIT
        return found.value()

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
            LostCommitError: whether it is committed is unknown.
        """
        try:
            if self.raw is not None:
                self.raw.commit()
            elif self._at_commit is not None and not self.rows(*self._at_commit):
                raise NeedsLockError
        except (DriverError, Neo4jError) as error:
            if is_lost(error):
                raise LostCommitError(error) from error
            raise


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
        # Later transactions of this store wait for its earlier ones, whichever member of a
        # cluster they reach.
        self._bookmarks = GraphDatabase.bookmark_manager()
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
        self,
        query: LiteralString,
        parameters: Mapping[str, Any],
        *,
        writes: bool = False,
        retries: bool = True,
    ) -> list[Any]:
        """The rows of one query, in one round trip. The query may be run twice: it only reads, or
        ``writes`` what is then there already. Without ``retries``, a wrong address fails at once.

        Raises:
            StoreError: no try succeeded.
        """

        def run() -> list[Any]:
            with self._session(reads=not writes) as session:
                return Tx(session).rows(query, parameters)

        return self._tried(run, retries=retries)

    def write(self, work: Callable[[Tx], Result]) -> Result:
        """Run ``work`` in a write transaction: first without a lock between its queries, and with
        the lock where ``work`` needs that (``Tx``).

        The first query must take a lock (``rows.LOCK``), which also makes a retry safe when the
        reply to a commit was lost.

        Raises:
            StoreBusyError: the lock was not free in time, or the work took too long.
            StoreUnavailableError: the server cannot be reached.
        """
        name = uuid.uuid4().hex
        patience = max(self.timeout, _LEAST_LOCK_WAIT)
        results: list[Result] = []

        def run() -> Result:
            with self._session(reads=False) as session:
                for holds in (False, True):
                    with suppress(NeedsLockError):
                        tx = Tx(session, holds=holds, patience=patience, write=name)
                        with suppress(AlreadyWrittenError):  # the result is that of an earlier try
                            results[:] = [work(tx)]
                        tx.commit()
                        break
                return results[0]

        return self._tried(run)

    def _tried(self, run: Callable[[], Result], *, retries: bool = True) -> Result:
        """The result of the first try that succeeds. After an error that passes, the next try
        begins after a pause, until the time to retry is over.

        Raises:
            StoreError: no try succeeded.
        """
        pause, until, is_unknown = 0.05, 0.0, False
        while True:
            self.check_open()
            try:
                return run()
            except LostCommitError as lost:
                is_unknown, error = True, lost.error
            except (DriverError, Neo4jError) as raised:
                error = raised
            now = time.monotonic()
            until = until or now + self.timeout
            if now > until or not retries or not is_passing(error):
                self.check_open()
                raise translated(
                    error, name=self.name, database=self._database, unknown=is_unknown
                ) from error
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
    def _session(self, *, reads: bool) -> Generator[Session, None, None]:
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
