"""SQLite's errors as errors of recallm, each with advice."""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from recallm.errors import (
    ClosedError,
    InvalidInputError,
    RecallMError,
    StoreBusyError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
)

__all__ = ["DRIVER_ERRORS", "busy", "damage", "guarded", "is_busy", "translated"]

DRIVER_ERRORS = (sqlite3.Error, UnicodeDecodeError)
"""The errors of the driver. UnicodeDecodeError: SQLite's message about damaged text need not be
UTF-8."""

_ERRORS_OF_DAMAGED_ROWS = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    StopIteration,
    TypeError,
    ValueError,
)
"""The errors that a damaged row causes: a null, another type, invalid JSON, a missing row that
another row names."""

_T = TypeVar("_T")

_PRIMARY = 0xFF
"""The low byte of an extended result code is the primary one."""


_WRITE_FAILURES = (
    sqlite3.SQLITE_IOERR_WRITE,
    sqlite3.SQLITE_IOERR_TRUNCATE,
    sqlite3.SQLITE_IOERR_SHMSIZE,
)


def busy(name: str, waited: float, limit: float) -> StoreBusyError:
    """The error of a writer that did not get the lock."""
    return StoreBusyError(
        f"{name}: another writer held the database for {waited:.1f} s (the limit is {limit:g} s); "
        "try again, write smaller batches, or open the store with a longer timeout"
    )


@contextmanager
def damage(name: str) -> Iterator[None]:
    """Turn the errors that damaged rows of ``name`` cause in the block into a StoreCorruptError.

    Raises:
        StoreCorruptError: a row is damaged.
    """
    try:
        yield
    except RecallMError:
        raise
    except _ERRORS_OF_DAMAGED_ROWS as error:
        what = str(error) if type(error) is ValueError else f"{type(error).__name__}: {error}"
        raise StoreCorruptError(
            f"{name} is damaged: its rows do not fit together ({what}); restore a backup"
        ) from error


def guarded(
    name: Callable[[Any], str], *, but: Collection[str] = ()
) -> Callable[[type[_T]], type[_T]]:
    """A class decorator: run every public method, ``but`` these, within ``damage``. ``name`` gives
    the database name of an instance."""

    def decorate(cls: type[_T]) -> type[_T]:
        for key, method in list(vars(cls).items()):
            if callable(method) and not key.startswith("_") and key not in but:
                setattr(cls, key, _within(name, method))
        return cls

    return decorate


def _within(name: Callable[[Any], str], method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def within(self: Any, *args: Any, **kwargs: Any) -> Any:
        with damage(name(self)):
            return method(self, *args, **kwargs)

    return within


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another connection holds a lock."""
    return _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def translated(
    error: sqlite3.Error | UnicodeDecodeError, name: str, *, waited: float, limit: float
) -> RecallMError:
    """The error of the ``RecallMError`` tree for an error of the database ``name``."""
    match _code(error):
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return busy(name, waited, limit)
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
            return StoreReadOnlyError(
                f"{name} cannot be written ({error}); check the permissions of the file and of "
                "its folder"
            )
        case sqlite3.SQLITE_FULL:
            return StoreFullError(
                f"no space is left for {name}; nothing of this was written: make room, try again"
            )
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return StoreCorruptError(
                f"{name} is not a recallm database, or it is damaged ({error}); restore a backup "
                "or name another file"
            )
        case sqlite3.SQLITE_CANTOPEN:
            return StoreError(
                f"{name} cannot be opened ({error}); check that its folder exists and may be read"
            )
        case sqlite3.SQLITE_IOERR:
            if (
                getattr(error, "sqlite_errorcode", None) in _WRITE_FAILURES
                and _file_size_is_limited()
            ):
                return StoreFullError(
                    f"{name} cannot grow ({error}): this process has a limit on the size of its "
                    "files (ulimit -f); nothing of this was written: raise the limit, try again"
                )
            return StoreError(f"{name}: reading or writing failed ({error}); check the disk")
        case sqlite3.SQLITE_TOOBIG:
            return InvalidInputError(
                "a text is longer than SQLite can hold (1 GB); split it", argument="text"
            )
    if isinstance(error, UnicodeDecodeError) or "decode to UTF-8" in str(error):
        return StoreCorruptError(f"{name} is damaged ({error}); restore a backup")
    if isinstance(error, sqlite3.ProgrammingError) and "closed" in str(error):
        return ClosedError()
    return StoreError(f"{name}: SQLite failed: {error}")


def _code(error: Exception) -> int | None:
    code = getattr(error, "sqlite_errorcode", None)
    return code & _PRIMARY if isinstance(code, int) else None


def _file_size_is_limited() -> bool:
    try:
        import resource
    except ImportError:  # Windows
        return False
    return resource.getrlimit(resource.RLIMIT_FSIZE)[0] != resource.RLIM_INFINITY
