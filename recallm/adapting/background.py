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

import atexit
import contextvars
import logging
import os
import threading
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from recallm.ground.forking import new_lock
from recallm.memory import RecallM

Writing = Literal["durable", "background"]
"""When messages are written: before the call that hands them in returns, or behind it."""

MOST_WAITING = 1_000
"""Jobs that wait before ``put`` does."""

_IDLE = 5.0
"""Seconds without a job after which the thread ends; the next job starts another."""
_MOST_FAILURES = 1_000

_writers: weakref.WeakKeyDictionary[RecallM, BackgroundWriter] = weakref.WeakKeyDictionary()
_lock = new_lock()


@dataclass(frozen=True, slots=True)
class _Job:
    namespace: str
    write: Callable[[], object]
    loss: str
    log: logging.Logger


class BackgroundWriter:
    """Writes the jobs of one memory and of all that are derived from it."""

    _process: int
    _jobs: deque[_Job]
    _changed: threading.Condition
    _thread: threading.Thread | None
    _failures: OrderedDict[str, Exception]

    def __init__(self) -> None:
        self._begin()

    @staticmethod
    def of(memory: RecallM) -> BackgroundWriter:
        """The writer of a memory, the same for all namespaces of its store."""
        root = memory.root
        with _lock:
            writer = _writers.get(root)
            if writer is None:
                writer = BackgroundWriter()
                at_exit = partial(_finish, weakref.ref(writer))
                # Registered after what closes the store at the end, and called before it.
                atexit.register(at_exit)
                root.before_closing(writer.wait)
                weakref.finalize(root, atexit.unregister, at_exit).atexit = False
                _writers[root] = writer
            return writer

    @staticmethod
    def wait_for(memory: RecallM) -> None:
        """Wait until all jobs of the memory's namespace are done, where it has any."""
        writer = _writers.get(memory.root)
        if writer is not None:
            writer.wait(memory.namespace)

    def put(
        self, namespace: str, write: Callable[[], object], loss: str, log: logging.Logger
    ) -> None:
        """Have ``write`` called behind the jobs before it, in the present context. ``loss`` says in
        the ``log`` what is lost where it fails."""
        context = contextvars.copy_context()
        job = _Job(namespace, lambda: context.run(write), loss, log)
        self._begin_in_child()
        with self._changed:
            if threading.current_thread() is not self._thread:  # a job of a job: nobody makes room
                self._changed.wait_for(lambda: len(self._jobs) < MOST_WAITING)
            self._jobs.append(job)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name="recallm-background-writer", daemon=True
                )
                self._thread.start()
            self._changed.notify_all()

    def wait(self, namespace: str | None = None, timeout: float | None = None) -> bool:
        """Wait until all jobs (of a namespace) are done; whether they are, within ``timeout``
        seconds. A job does not wait for itself."""
        self._begin_in_child()
        with self._changed:
            if threading.current_thread() is self._thread:
                return True
            return self._changed.wait_for(
                lambda: not any(namespace in (None, job.namespace) for job in self._jobs), timeout
            )

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

    def raise_failure(self, namespace: str | None = None) -> None:
        """Raise the first error of the jobs (of a namespace) since the last call, and forget the
        others: all of them are in the log."""
        with self._changed:
            failed = [name for name in self._failures if namespace in (None, name)]
            errors = [self._failures.pop(name) for name in failed]
        if errors:
            raise errors[0]

    def _begin(self) -> None:
        self._process = os.getpid()
        self._jobs = deque()
        self._changed = threading.Condition()
        self._thread = None
        self._failures = OrderedDict()

    def _begin_in_child(self) -> None:
        with _lock:
            if self._process != os.getpid():
                self._begin()

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._changed.wait_for(lambda: self._jobs, timeout=_IDLE):
                    self._thread = None
                    return
                job = self._jobs[0]  # it stays, so that others wait for it
            failure: Exception | None = None
            try:
                job.write()
            except Exception as error:
                failure = error
                job.log.warning("writing in the background failed: %s", job.loss, exc_info=True)
            with self._changed:
                if failure is not None:
                    self._failures.setdefault(job.namespace, failure)
                    while len(self._failures) > _MOST_FAILURES:
                        self._failures.popitem(last=False)
                self._jobs.popleft()
                self._changed.notify_all()
            del job, failure  # a memory may be freed while the thread is idle


def _finish(writer: weakref.ref[BackgroundWriter]) -> None:
    alive = writer()
    if alive is not None:
        alive.wait()
