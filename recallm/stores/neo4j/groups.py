"""Writers of one process on one namespace, grouped: one of them writes for those that wait.

The first writer leads. Those who come while it writes wait, and the first of them leads next: it
writes its updates and those of the others in one transaction, and each call gets the answer to its
own. A call that finds no room in a group is written in the next one. If a group fails for what one
of its calls holds, each call writes alone, so that only that call fails.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from copy import copy
from datetime import datetime
from typing import Final

from recallm.errors import StoreError, StoreFullError, StoreUnavailableError
from recallm.ground.forking import new_lock
from recallm.model import PreparedUpdate
from recallm.stores.base import Applied

_ROOM: Final = 256
"""Updates in a group at most, but for a call that has more by itself."""
_PATIENCE: Final = 2.0
"""Seconds that a call waits for its group to begin; then it writes alone."""


class _Call:
    """One call of ``Groups.apply``. ``settled`` is set when it leads, writes alone, or is done."""

    def __init__(self, updates: Sequence[PreparedUpdate], now: datetime | None) -> None:
        self.updates = updates
        self.now = now
        self.settled = threading.Event()
        self.leads = False
        self.is_alone = False
        self.applied: list[Applied] = []
        self.error: Exception | None = None


class Groups:
    """Groups the calls of ``write``, which writes updates into a namespace in one transaction."""

    def __init__(
        self,
        write: Callable[[str, Sequence[PreparedUpdate], datetime | None], list[Applied]],
    ) -> None:
        self._write = write
        self._lock = new_lock()
        # Each namespace that somebody writes, with the calls that wait.
        self._waiting: dict[str, deque[_Call]] = {}
        self._process = os.getpid()

    def apply(
        self, namespace: str, updates: Sequence[PreparedUpdate], now: datetime | None
    ) -> list[Applied]:
        """Write updates, with those of other threads or alone.

        Raises:
            RecallMError, ExpiredError: as ``write`` raises for these updates alone.
        """
        call = _Call(updates, now)
        try:
            self._enter(namespace, call)
            if not call.settled.wait(_PATIENCE):
                self._give_up_waiting(namespace, call)
                call.settled.wait()
            if call.leads:
                self._lead(namespace, call)
        finally:
            self._leave(namespace, call)
        if call.is_alone:
            return self._write(namespace, updates, now)
        if call.error is not None:
            raise call.error
        return call.applied

    def _enter(self, namespace: str, call: _Call) -> None:
        with self._lock:
            if self._process != os.getpid():  # the threads that led are those of the parent
                self._process = os.getpid()
                self._waiting.clear()
            waiting = self._waiting.get(namespace)
            if waiting is not None:
                waiting.append(call)
                return
            self._waiting[namespace] = deque()
            call.leads = True
            call.settled.set()

    def _give_up_waiting(self, namespace: str, call: _Call) -> None:
        """Let a call that no group has taken write alone."""
        with self._lock:
            waiting = self._waiting.get(namespace, deque())
            if call in waiting:
                waiting.remove(call)
                call.is_alone = True
                call.settled.set()

    def _lead(self, namespace: str, call: _Call) -> None:
        """Write a group, and tell its calls what became of them."""
        group = [call, *self._joining(namespace, call)]
        try:
            updates = [update for each in group for update in each.updates]
            now = max((each.now for each in group if each.now is not None), default=None)
            applied = iter(self._write(namespace, updates, now))
            for each in group:
                each.applied = [next(applied) for _ in each.updates]
        except Exception as error:  # noqa: BLE001 - raised where it belongs
            is_of_server = isinstance(error, StoreError) and not isinstance(error, StoreFullError)
            for each in group:
                if is_of_server or len(group) == 1:
                    each.error = error if each is call else copy(error)
                else:
                    each.is_alone = True
        except BaseException:
            for each in group[1:]:
                each.error = StoreUnavailableError(
                    "the thread that wrote this update with its own was interrupted, and whether "
                    "it wrote is unknown; do it again (an update with the same id is never written "
                    "twice)"
                )
            raise
        finally:
            for each in group[1:]:
                each.settled.set()

    def _joining(self, namespace: str, leader: _Call) -> list[_Call]:
        """The calls that join the leader's; none in the main thread, which Ctrl-C and other signals
        interrupt. A call with ``now`` may write nothing, and joins none without."""
        size = len(leader.updates)
        joining: list[_Call] = []
        if threading.current_thread() is threading.main_thread():
            return joining
        with self._lock:
            waiting = self._waiting[namespace]
            while (
                waiting
                and size + len(waiting[0].updates) <= _ROOM
                and (waiting[0].now is None) == (leader.now is None)
            ):
                size += len(waiting[0].updates)
                joining.append(waiting.popleft())
        return joining

    def _leave(self, namespace: str, call: _Call) -> None:
        """Let the next call lead, if this one did; let nobody wait for a call that is gone."""
        with self._lock:
            waiting = self._waiting.get(namespace, deque())
            if not call.leads:
                if call in waiting:
                    waiting.remove(call)
                return
            call.leads = False
            if waiting:
                following = waiting.popleft()
                following.leads = True
                following.settled.set()
            else:
                self._waiting.pop(namespace, None)
