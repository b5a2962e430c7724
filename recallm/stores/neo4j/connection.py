"""The driver, and transactions with time limits that are retried and committed once."""

from __future__ import annotations

import time
import uuid
from asyncio import CancelledError
from collections import deque
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any, Final, LiteralString, TypeVar

import neo4j
from neo4j import Driver, GraphDatabase, Session
from neo4j.exceptions import ConfigurationError, DriverError, Neo4jError, ServiceUnavailable

from recallm.errors import ClosedError, InvalidInputError, RecallMError, StoreBusyError
from recallm.stores.addresses import checked_uri
from recallm.stores.neo4j.bookmarks import bookmark_manager, bookmark_text, not_a_bookmark
from recallm.stores.neo4j.failures import (
    has_code,
    is_lost,
    is_passing,
    ran_out_of_time,
    translated,
)
from recallm.stores.neo4j.transaction import (
    GRACE,
    AlreadyWrittenError,
    ChangedError,
    NeedsLockError,
    Row,
    SingleQuery,
    Tx,
    UnlockedQueries,
    WriteStamp,
)

__all__ = ["Connection"]

Result = TypeVar("Result")

_WORK_LIMITS: Final = (20.0, 160.0, 1280.0)
"""Seconds for which a transaction may work once it has the lock. When the server ended it, the
client begins it again with the next limit. A client that vanished loses its lock after the first
limit; large work still gets the time that it needs."""
_LONGEST_TIMEOUT: Final = 1_000_000.0
"""Seconds (eleven days); the longest that sockets, the driver and the server all accept."""
_LEAST_LOCK_WAIT: Final = 3.0
"""Seconds; the shortest wait for the lock. A server that was just started takes as long to plan the
first query."""
_LOCK_WAIT_PER_TRY: Final = 20.0
"""Seconds for which one transaction waits for the lock. A writer that waits longer begins a new
transaction: the wait counts in the bound of a transaction, which must not grow with ``timeout``."""
_LEAST_COMMIT_CHECK: Final = 10.0
"""Seconds; the shortest time of retries after the reply to a commit was lost."""
_UNLOCKED_TRIES: Final = 3
"""Tries of a write without the lock; then the writer takes it, so that every writer gets on."""
_NO_STAMP: Final = WriteStamp("", "")
_BETWEEN_REPLIES: Final = (DriverError, Neo4jError, RecallMError, NeedsLockError, ChangedError)
"""What the driver and the work in a transaction raise: a connection can go on after it."""
_LIVENESS_CHECK_AFTER: Final = 2.0
"""Seconds without use after which the driver tests a connection before it uses it."""


class Connection:
    """A driver (opened here, or a user's) and the name of its database.

    Args:
        server: a ``bolt://`` or ``neo4j://`` URI (``+s``, ``+ssc``), or a driver, which stays open.
        auth: user name and password; only with a URI.
        database: the database's name; None: the user's home database.
        timeout: seconds for which a write waits for another one of its namespace, and for which
            transactions are retried after transient errors.
        bookmark: what ``bookmark`` of another connection gave; reads here wait for its writes.
    """

    def __init__(
        self,
        server: str | Driver,
        *,
        auth: tuple[str, str] | None,
        database: str | None,
        timeout: float,
        bookmark: str | None = None,
    ) -> None:
        self._database = database
        self._closed = False
        self._timeout = min(timeout, _LONGEST_TIMEOUT)
        # Seconds to wait for a connection, and for a server to greet.
        self._patience = min(max(timeout, 5.0), 10.0)
        self._lock_patience = max(self._timeout, _LEAST_LOCK_WAIT)
        # Later transactions of this store wait for its earlier ones, whichever member of a
        # cluster they reach.
        self._bookmarks = bookmark_manager(bookmark)
        self._writers: deque[str] = deque()
        if isinstance(server, Driver):
            if auth is not None:
                raise InvalidInputError(
                    "auth goes with a URI: a driver was made with its own", argument="auth"
                )
            self.driver = server
            self._owned = False
            self._name = "the server"
        else:
            uri = checked_uri(server)
            self._owned = True
            self._name = f"{uri.scheme}://{uri.netloc}"
            self.driver = self._opened(server.strip(), _credentials(auth))

    @property
    def bookmark(self) -> str | None:
        """What was written and read here, as a text; None before anything was."""
        return bookmark_text(self._bookmarks)

    def await_bookmark(self) -> None:
        """Wait until the server has what the given bookmark stands for.

        Raises:
            InvalidInputError: the server cannot read the bookmark.
            StoreBusyError: the server had not got it after ``timeout`` seconds.
            StoreError: the server failed.
        """
        until = time.monotonic() + self._lock_patience
        while True:
            self.check_open()
            wait = max(until - time.monotonic(), 0.1)
            try:
                with self._session(neo4j.READ_ACCESS) as session, _resolving():
                    raw = SingleQuery(session, bound=wait, owned=self._owned)
                    Tx(raw, bound=wait, stamp=_NO_STAMP, lock_patience=wait).rows("RETURN 1", {})
                return
            except (DriverError, Neo4jError) as error:
                if has_code(error, ".InvalidBookmark"):
                    raise not_a_bookmark() from error
                late = _is_late(error) or has_code(error, ".BookmarkTimeout")
                if late and time.monotonic() < until:
                    continue
                if late:
                    raise StoreBusyError(
                        f"{self._name} had not got the writes of the bookmark after "
                        f"{self._lock_patience:g} s; try again, wait longer with timeout=… "
                        "(retry_time=… of Neo4jStore), or check that the bookmark is of this server"
                    ) from error
                raise self._failure(error) from error

    def rows(
        self, query: LiteralString, parameters: Mapping[str, Any], *, retry: bool = True
    ) -> list[Row]:
        """The rows of one query that only reads, in one round trip. ``retry``: after transient
        errors the query is tried again, as in ``read``; without, a wrong address fails at once."""
        return self._transact(
            lambda tx: tx.rows(query, parameters),
            neo4j.READ_ACCESS,
            work_limits=_WORK_LIMITS,
            single=True,
            retry=retry,
        )

    def read(self, work: Callable[[Tx], Result], *, timeout: float | None = None) -> Result:
        """Run ``work`` in a read transaction; retry it after transient errors. ``timeout``: seconds
        for which it may work."""
        work_limits = _WORK_LIMITS if timeout is None else (min(timeout, _LONGEST_TIMEOUT),)
        return self._transact(work, neo4j.READ_ACCESS, work_limits=work_limits)

    def write(
        self,
        work: Callable[[Tx], Result],
        *,
        locks: bool = True,
        unlocked: Callable[[Tx], Result] | None = None,
    ) -> Result:
        """Run ``work`` in a write transaction; retry it after transient errors.

        The first query must take a lock. ``rows.lock`` also makes a retry safe when the reply to a
        commit was lost. Work that may run twice can use another lock. ``locks=False``: no lock.
        ``unlocked`` does the same without a lock between its queries; it is tried first, until
        other writers changed too often what it had looked up.

        Raises:
            StoreBusyError: the lock was not free in time, or the work took too long.
            StoreUnavailableError: the server cannot be reached.
        """
        try:
            writer = self._writers.pop()  # no other write uses its name at the same time
        except IndexError:
            writer = uuid.uuid4().hex
        stamp = WriteStamp(writer, uuid.uuid4().hex)
        try:
            return self._transact(
                work,
                neo4j.WRITE_ACCESS,
                work_limits=_WORK_LIMITS,
                stamp=stamp,
                locks=locks,
                unlocked=unlocked,
            )
        finally:
            self._writers.append(writer)

    def refuse(self) -> None:
        """Begin nothing from now on."""
        self._closed = True

    def close(self) -> None:
        """Begin nothing from now on, and close the driver if it is ours."""
        self.refuse()
        if self._owned:
            self.driver.close()

    def check_open(self) -> None:
        """Raise ClosedError after ``close``."""
        if self._closed:
            raise ClosedError

    def _transact(
        self,
        work: Callable[[Tx], Result],
        access: str,
        *,
        work_limits: tuple[float, ...],
        stamp: WriteStamp = _NO_STAMP,
        locks: bool = False,
        single: bool = False,
        retry: bool = True,
        unlocked: Callable[[Tx], Result] | None = None,
    ) -> Result:
        lock_until = time.monotonic() + self._lock_patience
        retry_until: float | None = None
        place = 0
        given: list[Result] = []  # the result of the latest try that reached its commit
        unknown = False  # whether the reply to a commit was lost
        unlocked_tries = 0 if unlocked is None else _UNLOCKED_TRIES
        pause = 0.05  # seconds between tries, longer each time
        while True:
            self.check_open()
            wait = min(max(lock_until - time.monotonic(), 0.1), _LOCK_WAIT_PER_TRY) if locks else 0
            bound = wait + work_limits[place]
            tx: Tx | None = None
            committing = False
            todo = work
            try:
                # A single query's rows are all wanted: none waits for a second round trip.
                with self._session(access, fetch_size=-1 if single else 1000) as session:
                    raw: neo4j.Transaction | SingleQuery | UnlockedQueries
                    with _resolving():
                        # A longer limit needs another reply timeout, which a single query cannot
                        # put back.
                        if single and not place:
                            raw = SingleQuery(session, bound=bound, owned=self._owned)
                        elif unlocked is not None and unlocked_tries and not place:
                            raw = UnlockedQueries(session, bound=bound, owned=self._owned)
                            todo = unlocked
                        else:
                            raw = session.begin_transaction(timeout=bound)
                    tx = Tx(
                        raw,
                        bound=bound,
                        idle_reply_timeout=_WORK_LIMITS[0] + GRACE if self._owned else None,
                        stamp=stamp,
                        lock_patience=wait or None,
                    )
                    try:
                        result = todo(tx)
                    except AlreadyWrittenError:
                        result = given[0]
                    finally:
                        tx.settle()
                    given = [result]
                    committing = True
                    tx.raw.commit()
                    return result
            except NeedsLockError:
                unlocked_tries = 0
                continue
            except ChangedError:
                unlocked_tries -= 1
                lock_until = max(lock_until, time.monotonic() + self._lock_patience)
                continue
            except (DriverError, Neo4jError) as error:
                now = time.monotonic()
                if committing and access == neo4j.READ_ACCESS:
                    return given[0]
                is_late = ran_out_of_time if todo is unlocked else _is_late
                if tx is not None and tx.lock_patience is not None and is_late(error):
                    if now < lock_until:
                        continue
                    if not unknown:
                        raise StoreBusyError(
                            f"another writer did not let go of the namespace on {self._name} in "
                            f"{self._lock_patience:g} s; try again, or let writes wait longer with "
                            "timeout=… (retry_time=… of Neo4jStore)"
                        ) from error
                else:
                    if locks and tx is not None and tx.lock_patience is None:
                        # This try had the lock: the next try waits for the lock anew. A process
                        # that was stopped, or worked for long, did not spend that time waiting.
                        lock_until = max(lock_until, now + self._lock_patience)
                    if ran_out_of_time(error) and place + 1 < len(work_limits):
                        place += 1
                        continue
                retry_until = now + self._timeout if retry_until is None else retry_until
                if committing and is_lost(error) and not unknown:
                    unknown = True
                    retry_until = max(retry_until, now + _LEAST_COMMIT_CHECK)
                    # The server may keep the earlier try, and its lock, until its bound.
                    lock_until = max(lock_until, now + bound + GRACE)
                if self._closed or now > retry_until or not retry or not is_passing(error):
                    raise self._failure(error, unknown=unknown) from error
            time.sleep(pause)
            pause = min(2 * pause, 1.0)

    @contextmanager
    def _session(self, access: str, *, fetch_size: int = 1000) -> Generator[Session, None, None]:
        """A session. What a signal handler raises may end a call between two bytes of a reply: the
        next query on that connection would read the rest as its own. So the connection is cut."""
        session = self.driver.session(
            fetch_size=fetch_size,
            default_access_mode=access,
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
        except BaseException:
            # To a session, this class says: let go of the connection without another word.
            session.__exit__(CancelledError, None, None)  # type: ignore[no-untyped-call]
            raise

    def _opened(self, uri: str, auth: tuple[str, str] | neo4j.Auth | None) -> Driver:
        try:
            return GraphDatabase.driver(
                uri,
                auth=auth,
                connection_timeout=self._patience,
                connection_acquisition_timeout=self._patience,
                liveness_check_timeout=_LIVENESS_CHECK_AFTER,
                max_transaction_retry_time=self._timeout,
                user_agent="recallm",
            )
        except (ConfigurationError, ValueError):
            pass  # the driver's error repeats the URI
        raise InvalidInputError(
            "this cannot be used as a Neo4j URI: write neo4j://HOST:7687, or bolt://HOST:7687 for "
            "one server without routing, with +s after the scheme for TLS",
            argument="store",
        )

    def _failure(self, error: DriverError | Neo4jError, *, unknown: bool = False) -> RecallMError:
        if self._closed:
            return ClosedError()
        return translated(error, name=self._name, database=self._database, unknown=unknown)


def _credentials(auth: object) -> tuple[str, str] | neo4j.Auth | None:
    """A user name and a password, or what ``neo4j.Auth`` stands for. What is refused is not
    repeated, as the driver would do: it may be a password."""
    if auth is None or isinstance(auth, neo4j.Auth):
        return auth
    if isinstance(auth, tuple | list) and [type(it) for it in auth] == [str, str]:
        user, password = auth
        return user, password
    raise InvalidInputError(
        "auth is a user name and a password, two texts: auth=(USER, PASSWORD)", argument="auth"
    )


@contextmanager
def _resolving() -> Generator[None, None, None]:
    """Turn the ValueError for a host unknown to DNS into the driver's error of version 6."""
    try:
        yield
    except ValueError as error:
        raise ServiceUnavailable(str(error)) from error


def _is_late(error: DriverError | Neo4jError) -> bool:
    """Whether a reply did not come in time, or the server ended the transaction."""
    return ran_out_of_time(error) or isinstance(error.__cause__, TimeoutError)
