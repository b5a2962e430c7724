"""How long a store lives: a block opens and closes it, and a thread frees the room of its expired
items from time to time."""

from __future__ import annotations

import asyncio
import logging
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Protocol, TypeVar

from recallm import ClosedError
from recallm.adapting import new_lock

_log = logging.getLogger("langchain_recallm")


class _Closable(Protocol):
    def close(self) -> None: ...


_T = TypeVar("_T", bound=_Closable)


class Opening(AbstractContextManager[_T], AbstractAsyncContextManager[_T]):
    """What ``open`` opens when the block begins, and its ``close`` closes when the block ends: in
    an ``async with`` off the event loop."""

    def __init__(self, open: Callable[[], _T]) -> None:
        self._open = open
        self._opened: _T | None = None

    def __enter__(self) -> _T:
        self._opened = self._open()
        return self._opened

    def __exit__(self, *_: object) -> None:
        if self._opened is not None:
            self._opened.close()

    async def __aenter__(self) -> _T:
        return await asyncio.to_thread(self.__enter__)

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self.__exit__)


class Sweeper:
    """Calls ``sweep``, a method, every so often, in a thread that ends with the method's object, or
    when its memory is closed. A failure is logged, and the next sweep is tried. A forked child has
    no such thread.
    """

    def __init__(self, sweep: Callable[[], int]) -> None:
        self._sweep = weakref.WeakMethod(sweep)
        self._lock = new_lock()
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self._ended: Future[None] = Future()
        # Nothing else would wake the thread of a store that nobody holds any longer.
        owner = getattr(sweep, "__self__", None)
        self._finalizer = weakref.finalize(owner, self._end)
        self._finalizer.atexit = False

    def start(self, seconds: float) -> Future[None]:
        """Start the thread, where there is none. Cancelling the result stops it; the result is done
        when the thread has ended."""
        with self._lock:
            is_alive = self._thread is not None and self._thread.is_alive()
            if is_alive and not self._stop.is_set():
                return self._ended
            self._stop = stop = threading.Event()
            self._ended = Future()
            self._ended.add_done_callback(lambda _: stop.set())
            self._thread = threading.Thread(
                target=_sweep_until,
                args=(self._stop, seconds, self._sweep, self._ended),
                name="recallm-ttl-sweeper",
                daemon=True,
            )
            self._thread.start()
            return self._ended

    def stop(self, timeout: float | None = None) -> bool:
        """Stop the thread; whether it has ended within ``timeout`` seconds (None: however long a
        sweep takes)."""
        thread = self._thread
        self._end()
        if thread is None or thread is threading.current_thread():
            return True
        thread.join(timeout)
        return not thread.is_alive()

    def _end(self) -> None:
        self._stop.set()


def _sweep_until(
    stop: threading.Event,
    seconds: float,
    method: weakref.WeakMethod[Callable[[], int]],
    ended: Future[None],
) -> None:
    while not stop.wait(seconds):
        sweep = method()
        if sweep is None:
            break
        try:
            swept = sweep()
        except ClosedError:
            break
        except Exception:  # noqa: BLE001 - the thread goes on
            _log.warning("expired items were not swept; they are tried again", exc_info=True)
        else:
            if swept:
                _log.info("%d expired item(s) were swept", swept)
        del sweep  # or the store would live as long as its thread
    if ended.set_running_or_notify_cancel():
        ended.set_result(None)
