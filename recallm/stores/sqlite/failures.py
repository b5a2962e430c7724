"""SQLite's errors as errors of recallm, each with advice."""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from recallm.errors import (
    InvalidInputError,
    RecallMError,
    StoreBusyError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
)

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

_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)

_TABLE: tuple[tuple[tuple[int, ...], type[StoreError], str], ...] = (
    (
        (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN),
        StoreReadOnlyError,
        "cannot be written ({}); check the permissions of the file and of its folder",
    ),
    (
        (
            sqlite3.SQLITE_FULL,
            sqlite3.SQLITE_IOERR_WRITE,
            sqlite3.SQLITE_IOERR_TRUNCATE,
            sqlite3.SQLITE_IOERR_SHMSIZE,
        ),
        StoreFullError,
        (
            "cannot grow ({}); nothing of this was written: make room (ulimit -f is a limit, too), "
            "try again. To forget takes room, too, for a log no larger than the file; without it, "
            "delete the file and its log (-wal) once no program uses them: that forgets everything"
        ),
    ),
    (
        (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB),
        StoreCorruptError,
        "is not a recallm database, or it is damaged ({}); restore a backup or name another file",
    ),
    ((sqlite3.SQLITE_IOERR,), StoreError, "cannot be read or written ({}); check the disk"),
)
_FAILURES = {code: (kind, advice) for codes, kind, advice in _TABLE for code in codes}
"""Result code, extended or primary → the error and its advice, in which SQLite's message is put."""

_UNKNOWN_FAILURE = (StoreError, "failed in SQLite: {}")


def busy(name: str, limit: float) -> StoreBusyError:
    """The error of a writer that did not get the lock within so many seconds."""
    return StoreBusyError(
        f"{name}: another writer held the database for {limit:g} s, the limit; try again, write "
        "smaller batches, or open the store with a longer timeout"
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


def guarded(contract: type, *, but: Collection[str] = ()) -> Callable[[type[_T]], type[_T]]:
    """A class decorator: run the methods of the ``contract``, ``but`` these, within ``damage`` of
    the database whose ``name`` an instance has."""

    def decorate(cls: type[_T]) -> type[_T]:
        for key in dir(contract):
            method = getattr(cls, key, None)
            if callable(method) and not key.startswith("_") and key not in but:
                setattr(cls, key, _within_damage(method))
        return cls

    return decorate


def _within_damage(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def within(self: Any, *args: Any, **kwargs: Any) -> Any:
        with damage(self.name):
            return method(self, *args, **kwargs)

    return within


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another connection holds a lock."""
    return _code(error) in _BUSY


def translated(
    error: sqlite3.Error | UnicodeDecodeError, name: str, limit: float = 0.0
) -> RecallMError:
    """The error of the ``RecallMError`` tree for an error of the database ``name``."""
    code = _code(error)
    if code in _BUSY:
        return busy(name, limit)
    if code == sqlite3.SQLITE_TOOBIG:
        return InvalidInputError(
            "a text is longer than SQLite can hold (1 GB); split it", argument="text"
        )
    if isinstance(error, UnicodeDecodeError) or "decode to UTF-8" in str(error):
        code = sqlite3.SQLITE_CORRUPT
    extended = getattr(error, "sqlite_errorcode", code)
    kind, advice = _FAILURES.get(extended) or _FAILURES.get(code) or _UNKNOWN_FAILURE
    return kind(f"{name} {advice.format(error)}")


def _code(error: Exception) -> int:
    """The primary result code: the low byte of an extended one."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
