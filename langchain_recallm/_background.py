"""Writing in the background: a thread for each memory that writes one job after another.

* Jobs are written in the order in which they came, whoever gave them.
* At most ``MOST_WAITING`` jobs wait; then ``put`` waits for room.
* A job that fails is logged, with what was lost; its error is raised by the next ``flush``, or
  where the adapter asks for it. The jobs after it are written.
* Closing the memory and the end of the interpreter wait for all jobs. What ends the process at once
  (``kill -9``, a power cut, ``os._exit``) loses those that wait.
* A forked child has none of the parent's jobs: the parent writes them.
"""

from __future__ import annotations

import contextvars
import logging
import os
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Literal

from recallm import RecallM
from recallm.adapting import new_lock

Writing = Literal["durable", "background"]
"""When messages are written: before the call that hands them in returns, or behind it."""

MOST_WAITING = 1_000
"""Jobs that wait before ``put`` does."""

_MOST_FAILURES = 1_000

_writers: weakref.WeakKeyDictionary[RecallM, BackgroundWriter] = weakref.WeakKeyDictionary()
_lock = new_lock()
_log = logging.getLogger("langchain_recallm")


class BackgroundWriter:
    """Writes the jobs of one memory and of all that are derived from it."""

    _thread: threading.Thread | None

    def __init__(self) -> None:
        self._begin()

    @staticmethod
    def of(memory: RecallM) -> BackgroundWriter:
        """The writer of a memory, the same for all namespaces of its store."""
        root = memory.root
        with _lock:
            writer = _writers.get(root)
            if writer is None:
                writer = _writers[root] = BackgroundWriter()
                root.before_closing(writer.wait)
            return writer

    @staticmethod
    def wait_for(memory: RecallM) -> None:
        """Wait until all jobs of the memory's namespace are done, where it has any."""
        writer = _writers.get(memory.root)
        if writer is not None:
            writer.wait(memory.namespace)

    @staticmethod
    def flush(memory: RecallM, timeout: float | None = None) -> bool:
        """Wait until all jobs of the memory's store are done, then raise the error of one that has
        failed; whether they are done within ``timeout`` seconds."""
        writer = _writers.get(memory.root)
        if writer is None:
            return True
        is_done = writer.wait(timeout=timeout)
        writer.raise_failure()
        return is_done

    def put(self, namespace: str, write: Callable[[], object], loss: str) -> None:
        """Have ``write`` called behind the jobs before it, in the present context. ``loss`` says in
        the log what is lost where it fails."""
        self._begin_in_child()
        context = contextvars.copy_context()

        def job() -> None:
            self._thread = threading.current_thread()
            try:
                context.run(write)
            except Exception as error:  # noqa: BLE001 (the next flush raises the error)
                _log.warning("writing in the background failed: %s", loss, exc_info=True)
                self._failures.setdefault(namespace, error)
                while len(self._failures) > _MOST_FAILURES:
                    del self._failures[next(iter(self._failures))]

        if threading.current_thread() is self._thread:  # a job of a job: nobody would make room
            job()
            return
        self._room.acquire()
        try:
            future = self._executor.submit(job)
        except RuntimeError:  # the interpreter ends: all jobs before are done
            self._room.release()
            job()
            return
        self._waiting[future] = namespace
        future.add_done_callback(self._done)

    def wait(self, namespace: str | None = None, timeout: float | None = None) -> bool:
        """Wait until all jobs (of a namespace) are done; whether they are, within ``timeout``
        seconds. A job does not wait for itself."""
        self._begin_in_child()
        if threading.current_thread() is self._thread:
            return True
        jobs = [job for job, name in list(self._waiting.items()) if namespace in (None, name)]
        return not wait(jobs, timeout).not_done

    def raise_failure(self, namespace: str | None = None) -> None:
        """Raise the first error of the jobs (of a namespace) since the last call, and forget the
        others: all of them are in the log."""
        failed = [name for name in list(self._failures) if namespace in (None, name)]
        errors = [error for name in failed if (error := self._failures.pop(name, None))]
        if errors:
            raise errors[0]

    def _begin(self) -> None:
        self._process = os.getpid()
        # The end of the interpreter waits for its jobs, before the memory is closed.
        self._executor = ThreadPoolExecutor(1, "recallm-background-writer")
        self._room = threading.Semaphore(MOST_WAITING)
        self._thread = None
        self._waiting: dict[Future[None], str] = {}
        self._failures: dict[str, Exception] = {}

    def _begin_in_child(self) -> None:
        with _lock:
            if self._process != os.getpid():
                self._begin()

    def _done(self, job: Future[None]) -> None:
        del self._waiting[job]
        self._room.release()
