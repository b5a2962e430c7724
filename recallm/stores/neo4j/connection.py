"""The driver: sessions, managed transactions, and its errors as recallm's."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, LiteralString, TypeVar
from urllib.parse import urlsplit

import neo4j
from neo4j import Driver, GraphDatabase, ManagedTransaction, Session, Transaction
from neo4j.exceptions import (
    AuthError,
    ConfigurationError,
    DriverError,
    Forbidden,
    ForbiddenOnReadOnlyDatabase,
    IncompleteCommit,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
    TransientError,
)

from recallm.errors import (
    ClosedError,
    InvalidInputError,
    StoreBusyError,
    StoreCredentialsError,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
    StoreUnavailableError,
)

__all__ = ["Connection", "Row", "Tx", "already_exists", "chunks", "rows"]

Result = TypeVar("Result")
Item = TypeVar("Item")
Row = Mapping[str, Any]
Tx = ManagedTransaction | Transaction

# Version 5 of the driver has no class of its own for a pool without a free connection.
_PoolError: type[Exception] = getattr(neo4j.exceptions, "ConnectionPoolError", ServiceUnavailable)
_CREDENTIALS = (
    "Neo.ClientError.Security.AuthenticationRateLimit",
    "Neo.ClientError.Security.CredentialsExpired",
    "Neo.ClientError.Security.Unauthorized",
)
_EXISTS = (
    "Neo.ClientError.Schema.ConstraintAlreadyExists",
    "Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists",
    "Neo.ClientError.Schema.IndexAlreadyExists",
)
_NO_DATABASE = "Neo.ClientError.Database.DatabaseNotFound"
_TOO_LARGE = (
    "Neo.TransientError.General.MemoryPoolOutOfMemoryError",
    "Neo.TransientError.General.OutOfMemoryError",
    "Neo.TransientError.General.TransactionOutOfMemoryError",
)


class Connection:
    """A driver, ours or a user's, and the database that it is to use.

    Args:
        server: a ``bolt://`` or ``neo4j://`` URI (``+s``, ``+ssc``), or a driver, which stays open.
        auth: user name and password; only with a URI.
        database: the database's name; None: the user's home database.
        retry_time: seconds for which a transaction is tried again after transient errors.
    """

    def __init__(
        self,
        server: str | Driver,
        *,
        auth: tuple[str, str] | None,
        database: str | None,
        retry_time: float,
    ) -> None:
        self._database = database
        self._closed = False
        self._owned = not isinstance(server, Driver)
        # Later transactions of this store wait for its earlier ones, whichever member of a
        # cluster they reach.
        self._bookmarks = GraphDatabase.bookmark_manager()
        if isinstance(server, Driver):
            if auth is not None:
                raise InvalidInputError(
                    "auth goes with a URI: a driver was made with its own", argument="auth"
                )
            self.driver = server
            self._name = "the server"
        else:
            self._name = server
            try:
                # The driver would find a bad port only when it connects.
                _ = urlsplit(server).port
                self.driver = GraphDatabase.driver(
                    server,
                    auth=auth,
                    connection_timeout=10.0,
                    max_transaction_retry_time=retry_time,
                    user_agent="recallm",
                )
            except (ConfigurationError, ValueError) as error:
                raise InvalidInputError(
                    f"{server!r} cannot be used as a Neo4j URI: {error}", argument="store"
                ) from error

    def check(self) -> None:
        """Connect once, without the patience of ``read`` and ``write``.

        Raises:
            StoreError: nothing answers, or not to this user.
        """
        with self.errors():
            self.driver.verify_connectivity()

    def read(self, work: Callable[[ManagedTransaction], Result]) -> Result:
        """Run ``work`` in a read transaction, again after transient errors."""
        with self.errors(), self._session() as session:
            return session.execute_read(work)

    def read_only(self, work: Callable[[Transaction], Result], *, timeout: float) -> Result:
        """Run ``work`` once, where the server refuses every write, for so many seconds at most."""
        with self.errors(), self._session(default_access_mode=neo4j.READ_ACCESS) as session:
            with session.begin_transaction(timeout=timeout) as tx:
                return work(tx)

    def write(self, work: Callable[[ManagedTransaction], Result]) -> Result:
        """Run ``work`` in a write transaction, again after transient errors: all or nothing."""
        with self.errors(), self._session() as session:
            return session.execute_write(work)

    def close(self) -> None:
        """Close the driver if it is ours."""
        if not self._closed:
            self._closed = True
            if self._owned:
                self.driver.close()

    def check_open(self) -> None:
        """Raise ClosedError after ``close``."""
        if self._closed:
            raise ClosedError

    @contextmanager
    def errors(self) -> Generator[None, None, None]:
        """Let errors of the driver come out as errors of recallm."""
        self.check_open()
        try:
            yield
        except (DriverError, Neo4jError) as error:
            if self._closed:
                raise ClosedError from error
            raise self._translated(error) from error

    def _session(self, **config: Any) -> Session:
        return self.driver.session(
            **config,
            database=self._database,
            bookmark_manager=self._bookmarks,
            notifications_min_severity=neo4j.NotificationMinimumSeverity.OFF,
        )

    def _translated(self, error: DriverError | Neo4jError) -> StoreError:
        code = error.code if isinstance(error, Neo4jError) else None
        if isinstance(error, AuthError) or code in _CREDENTIALS:
            return StoreCredentialsError(
                f"{self._name} refused the user name or the password ({error}); "
                'give the right ones as auth=("neo4j", "…")'
            )
        if isinstance(error, IncompleteCommit):
            return StoreUnavailableError(
                f"the connection to {self._name} was lost while a transaction was committed, and "
                "whether it was is unknown; do it again (an update with the same id is never "
                "written twice)"
            )
        if isinstance(error, Forbidden | ForbiddenOnReadOnlyDatabase):
            return StoreReadOnlyError(
                f"{self._name} does not let this user do that ({error}); "
                "give the user a role that may write data and create constraints"
            )
        if code == _NO_DATABASE:
            return StoreUnavailableError(
                f"{self._name} has no database {self._database!r}; create it or name another "
                "with database=…"
            )
        if code in _TOO_LARGE:
            return StoreFullError(
                f"the transaction is too large for the memory of {self._name} ({error}); write "
                "smaller batches, forget less at once, or raise dbms.memory.transaction.total.max "
                "and the heap of the server"
            )
        if isinstance(error, ServiceUnavailable | SessionExpired | _PoolError) or (
            code is not None and "DatabaseUnavailable" in code
        ):
            return StoreUnavailableError(
                f"{self._name} cannot be reached or dropped the connection ({error}); nothing was "
                "written; check that the server runs and that the address is right"
            )
        if isinstance(error, TransientError):
            return StoreBusyError(
                f"{self._name} was too busy with other transactions ({error}); try again"
            )
        return StoreError(f"{self._name} failed: {error}")


def already_exists(error: StoreError) -> bool:
    """Whether a constraint or an index could not be made because it is there."""
    cause = error.__cause__
    return isinstance(cause, Neo4jError) and cause.code in _EXISTS


def rows(tx: Tx, query: LiteralString, parameters: Mapping[str, Any]) -> Sequence[Row]:
    """Run one query and fetch all of its result."""
    return tx.run(query, dict(parameters)).data()


def chunks(items: Iterable[Item], size: int = 2000) -> Iterator[list[Item]]:
    """The items, so many at a time: what one query is given at once."""
    iterator = iter(items)
    while chunk := list(islice(iterator, size)):
        yield chunk
