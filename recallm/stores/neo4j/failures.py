"""Translates errors of the driver and the server into recallm's, with the reason and advice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import neo4j
from neo4j.exceptions import (
    AuthError,
    ClientError,
    DriverError,
    Forbidden,
    ForbiddenOnReadOnlyDatabase,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
    TransientError,
)

from recallm.errors import (
    StoreBusyError,
    StoreCredentialsError,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
    StoreUnavailableError,
)

_ENDED: Final = (
    ".LockClientStopped",
    ".Terminated",
    ".TransactionTimedOut",
    ".TransactionTimedOutClientConfiguration",
)
"""How the codes of a transaction that the server ended end; which one depends on what it did."""


def translated(
    error: DriverError | Neo4jError, *, name: str, database: str | None, unknown: bool
) -> StoreError:
    """The error of recallm for an error of the driver. ``name`` is the address of the server,
    without user, password and query; ``unknown``: the reply to a commit was lost."""
    code = _code(error)
    if unknown:
        return StoreUnavailableError(
            f"the connection to {name} was lost while a transaction was committed, and whether it "
            f"was is unknown: {_reasons(error)}; do it again (an update with the same id is never "
            "written twice)"
        )
    if isinstance(error, Forbidden | ForbiddenOnReadOnlyDatabase):
        return StoreReadOnlyError(
            f"{name} does not let this user do that ({error}); "
            "give the user a role that may write data and create constraints"
        )
    if isinstance(error, AuthError) or code.startswith("Neo.ClientError.Security."):
        return StoreCredentialsError(
            f"{name} refused the user name or the password ({error}); "
            'give the right ones as auth=("neo4j", "…")'
        )
    if code.endswith(".DatabaseNotFound"):
        return StoreUnavailableError(
            f"{name} has no database {database!r}; create it or name another with database=…"
        )
    if code.endswith("OutOfMemoryError"):
        return StoreFullError(
            f"the transaction is too large for the memory of {name} ({error}); write "
            "smaller batches, forget less at once, or raise dbms.memory.transaction.total.max "
            "and the heap of the server"
        )
    if code.endswith(_ENDED):
        return StoreBusyError(
            f"{name} ended a transaction that waited for another writer of the namespace, or took "
            f"too long ({error}); try again, let writes wait longer with timeout=… (retry_time=… "
            "of Neo4jStore), write smaller batches, or forget less at once"
        )
    if is_lost(error) or "DatabaseUnavailable" in code:
        return StoreUnavailableError(
            f"{name} cannot be reached or dropped the connection: {_reasons(error)}. Nothing was "
            "written; check that the server runs, and that the address and its scheme are right "
            "(+s or +ssc where the server asks for TLS)"
        )
    if isinstance(error, TransientError):
        return StoreBusyError(f"{name} was too busy with other transactions ({error}); try again")
    return StoreError(f"{name} failed: {error}")


def is_lost(error: DriverError | Neo4jError) -> bool:
    """Whether the connection could not be made, or was lost."""
    return isinstance(error, ServiceUnavailable | SessionExpired) or _is_of_pool(error)


def is_passing(error: DriverError | Neo4jError) -> bool:
    """Whether a retry may succeed soon; not where the memory of the server is too small. ``IF NOT
    EXISTS`` does not see which constraint or index another store is creating at this moment; the
    next try does."""
    code = _code(error)
    if code.endswith("OutOfMemoryError"):
        return False
    return error.is_retryable() or is_lost(error) or code.endswith("AlreadyExists")


def _code(error: BaseException) -> str:
    """The server's name for an error; "" for an error that is not the server's."""
    return (error.code or "") if isinstance(error, Neo4jError) else ""


def _is_of_pool(error: DriverError | Neo4jError) -> bool:
    """Whether the pool had no free connection in time; version 5 has no class for that."""
    of_pool = getattr(neo4j.exceptions, "ConnectionPoolError", None)
    if of_pool is not None:
        return isinstance(error, of_pool)
    return type(error) is ClientError and error.code is None


def _reasons(error: BaseException) -> str:
    """Why there is no connection: the root causes below the driver's own errors."""
    return "; ".join(dict.fromkeys(str(root) or type(root).__name__ for root in _roots(error)))


def _roots(error: BaseException) -> Iterator[BaseException]:
    """The root causes of an error, or the error itself. A routing error has a group with one error
    per server."""
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from _roots(each)
    elif error.__cause__ is not None:
        yield from _roots(error.__cause__)
    else:
        yield error
