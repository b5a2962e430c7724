"""``ShardedStore``: many stores that look like one, each with namespaces of its own.

A namespace lives in one shard as a whole, so that nothing that a store promises about a namespace
changes. No operation of a memory touches two namespaces in one transaction.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack
from datetime import datetime
from pathlib import Path
from typing import Any

from recallm.errors import ClosedError, InvalidInputError, RecallMError
from recallm.ground.forking import new_loading_lock
from recallm.model import Amendment, Forgotten, Horizon, PreparedUpdate, Selection, Summary
from recallm.stores.addresses import is_server
from recallm.stores.base import Applied, GraphReader, GraphStore

_ALL = Horizon()


class ShardedStore:
    """A ``GraphStore`` over several: ``place`` says where a namespace lives.

    Args:
        place: namespace → target (a path, a URI, a driver or a store). Called at each operation: it
            must be quick, and always give a namespace the same target.
        open_target: target, bookmark → its store, and whether ``close`` must close the store.
            Called once for each distinct target, when a namespace there is first used.
    """

    def __init__(
        self,
        place: Callable[[str], Any],
        open_target: Callable[[Any, str | None], tuple[GraphStore, bool]],
    ) -> None:
        self._place = place
        self._open_target = open_target
        self._shards: dict[object, tuple[GraphStore, bool, object]] = {}
        self._gates: dict[object, threading.RLock] = {}
        self._gate = new_loading_lock()
        self._closed = False

    def __repr__(self) -> str:
        return f"ShardedStore({len(self._shards)} open)"

    def shard(self, namespace: str, *, bookmark: str | None = None) -> GraphStore:
        """The store where ``namespace`` lives, opened with ``bookmark`` where it was not open.

        Raises:
            InvalidInputError: ``place`` failed or gave no store.
            StoreError: the store cannot be opened.
        """
        if self._is_closed():
            raise ClosedError
        target = self._target(namespace)
        key = _key(target)
        known = self._shards.get(key)
        if known is not None:
            return known[0]
        with self._gate:
            gate = self._gates.setdefault(key, new_loading_lock())
        with gate:  # a server that does not answer keeps nobody from the other shards
            if key not in self._shards:
                store, own = self._open_target(target, bookmark)
                with self._gate:
                    self._shards[key] = (store, own, target)
                    if own and self._is_closed():  # in the meantime, by another thread
                        store.close()
            return self._shards[key][0]

    def apply(
        self,
        namespace: str,
        updates: Sequence[PreparedUpdate],
        *,
        now: datetime | None = None,
    ) -> list[Applied]:
        return self.shard(namespace).apply(namespace, updates, now=now)

    def reader(
        self, namespace: str, horizon: Horizon = _ALL
    ) -> AbstractContextManager[GraphReader]:
        return self.shard(namespace).reader(namespace, horizon)

    def amend(self, namespace: str, amendment: Amendment) -> int:
        return self.shard(namespace).amend(namespace, amendment)

    def forget(self, namespace: str, selection: Selection) -> Forgotten:
        return self.shard(namespace).forget(namespace, selection)

    def restore(
        self, namespace: str, t_index: int, records: Iterable[PreparedUpdate | Summary]
    ) -> int:
        return self.shard(namespace).restore(namespace, t_index, records)

    def namespaces(self) -> list[str]:
        """The namespaces of the shards that are open, sorted: a function cannot be asked for all of
        its values. Names that live elsewhere by ``place`` are left out."""
        if self._is_closed():
            raise ClosedError
        return sorted(
            name
            for key, (store, _, _) in list(self._shards.items())
            for name in store.namespaces()
            if _key(self._target(name)) == key
        )

    def close(self) -> None:
        with self._gate:
            self._closed = True
            shards = list(self._shards.values())
        with ExitStack() as closing:  # all of them, also where one fails
            for store, own, _ in shards:
                if own:
                    closing.callback(store.close)

    def _target(self, namespace: str) -> Any:
        try:
            return self._place(namespace)
        except RecallMError:
            raise
        except Exception as error:  # whose text may hold a password
            raise InvalidInputError(
                f"the function given as store= failed with {type(error).__name__}; it takes the "
                "name of a namespace and returns a store for any name",
                argument="store",
            ) from error

    def _is_closed(self) -> bool:
        return self._closed


def _key(target: Any) -> object:
    """What two targets that mean one store have in common. The shard keeps an object alive, so that
    its id is not given away."""
    if isinstance(target, str) and is_server(target):
        return target.strip()
    if target == ":memory:" or target is None:
        return None
    if isinstance(target, str | os.PathLike):
        return Path(target).absolute()
    return id(target)
