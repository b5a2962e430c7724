"""Locks and resources that survive a fork of the process.

A forked child has one thread, the one that forked. A lock that another thread held stays locked in
the child for ever; a connection of SQLite must not be used by both processes.
"""

from __future__ import annotations

import ctypes
import functools
import os
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, Protocol, TypeVar

_T = TypeVar("_T")

_WAIT = 10.0
"""Seconds that a fork waits for other threads to release the locks."""

_locks: weakref.WeakSet[threading.Lock] = weakref.WeakSet()
_loading: weakref.WeakSet[threading.RLock] = weakref.WeakSet()


def new_lock() -> threading.Lock:
    """A lock that is free in a forked child. Use it for state that every statement leaves
    consistent."""
    lock = threading.Lock()
    _locks.add(lock)
    return lock


def new_loading_lock() -> threading.RLock:
    """A lock that a fork waits for. Use it around imports and loading: a child could not finish
    them, and would wait for ever for the import."""
    lock = threading.RLock()
    _loading.add(lock)
    return lock


def keep_for_good(thing: object) -> None:
    """Never destroy ``thing``, not even when the interpreter ends: its destructor would change
    files of another process."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


class ForkAware(Protocol):
    """An object with resources that parent and child must not share."""

    def fork_locks(self, level: int) -> Sequence[threading.RLock]:
        """The locks of one level (0 to 2) that protect the resources. A thread that holds a lock of
        one level takes no lock of a lower level. Called while the locks of the lower levels are
        held."""
        ...

    def before_fork(self) -> None:
        """Release what can be opened again. The thread that forks holds all locks."""
        ...

    def after_fork_in_child(self, *, prepared: bool) -> None:
        """Make new locks. ``prepared`` is False if a resource was in use during the fork: by
        the thread that forked, or by a thread that did not finish in time."""
        ...


_watched: weakref.WeakSet[ForkAware] = weakref.WeakSet()
_gate = new_loading_lock()
_held: list[threading.RLock] = []
_prepared: set[int] = set()
_LEVELS = 3


def watch(thing: ForkAware) -> None:
    """Call the methods of ``thing`` around each fork, as long as it lives. Call this before
    ``thing`` opens anything. It waits while a fork is under way."""
    with _gate:
        _watched.add(thing)


def _before() -> None:
    deadline = time.monotonic() + _WAIT
    watched = list(_watched)
    busy: set[int] = set()
    for lock in list(_loading):
        _hold(lock, deadline)
    for level in range(_LEVELS):
        # Level by level over all objects, so that a thread that uses two of them can finish.
        for thing in watched:
            if not all(_hold(lock, deadline) for lock in thing.fork_locks(level)):
                busy.add(id(thing))
    for thing in watched:
        if id(thing) not in busy:
            thing.before_fork()
            _prepared.add(id(thing))


def _hold(lock: threading.RLock, deadline: float) -> bool:
    _held.append(lock)  # before it is acquired: an interrupt must not lose it
    return lock.acquire(timeout=max(0.0, deadline - time.monotonic()))


def _after_in_parent() -> None:
    while _held:
        try:
            _held.pop().release()
        except RuntimeError:  # the wait timed out: another thread holds it
            continue
    _prepared.clear()


def _after_in_child() -> None:
    for lock in [*_locks, *_loading]:
        lock._at_fork_reinit()  # type: ignore[attr-defined]
    _held.clear()
    prepared = set(_prepared)
    _prepared.clear()
    for thing in list(_watched):
        thing.after_fork_in_child(prepared=id(thing) in prepared)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_child
    )


class cached_property(functools.cached_property[_T]):  # noqa: N801 - the name that it stands for
    """``functools.cached_property`` without the lock of Python 3.11: a fork while another
    thread computes the value would leave that lock taken in the child for ever."""

    def __init__(self, compute: Callable[[Any], _T]) -> None:
        super().__init__(compute)
        self.lock = nullcontext()
