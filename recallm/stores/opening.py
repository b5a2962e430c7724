"""Opens the store that a user names: a path, a URI, a driver, a store, or a function to these.

Each backend is imported inside a function, when a user names it: the neo4j driver is optional, and
the backends import ``recallm.stores.addresses`` and ``base``, so that an import at the top would
make a circle of packages.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard, cast

from recallm.errors import ClosedError, InvalidInputError, MissingDependencyError, RecallMError
from recallm.ground import checks
from recallm.ground.forking import new_loading_lock
from recallm.model import Amendment, Forgotten, Horizon, PreparedUpdate, Selection, Summary
from recallm.stores.addresses import TARGETS, is_server
from recallm.stores.base import Applied, GraphReader, GraphStore

if TYPE_CHECKING:
    from neo4j import Driver

StoreTarget: TypeAlias = "str | os.PathLike[str] | Driver | GraphStore | None"
"""What names one store."""


def open_store(
    target: StoreTarget | Callable[[str], StoreTarget],
    *,
    namespace: str,
    auth: tuple[str, str] | None = None,
    database: str | None = None,
    timeout: float | None = None,
    bookmark: str | None = None,
) -> tuple[GraphStore, bool]:
    """The store, and whether it was opened here, so that the caller must close it. Of the shards of
    a function only that of ``namespace`` is opened already.

    Raises:
        InvalidInputError: ``target`` names no store.
        MissingDependencyError: the driver is not installed.
        StoreError: it cannot be opened.
    """
    if _is_place(target):

        def open_shard(target: Any, bookmark: str | None) -> tuple[GraphStore, bool]:
            if _is_place(target):
                raise InvalidInputError("store= gave a function again", argument="store")
            by_uri = isinstance(target, str) and is_server(target)
            return open_store(
                target,
                namespace=namespace,
                auth=auth if by_uri else None,
                database=database if by_uri or _is_driver(target) else None,
                timeout=timeout,
                bookmark=bookmark,
            )

        sharded = ShardedStore(target, open_shard)
        sharded.shard(namespace, bookmark=bookmark)
        return sharded, True
    if (isinstance(target, str) and is_server(target)) or _is_driver(target):
        return _open_neo4j(target, auth, database, timeout, bookmark), True
    if bookmark is not None:
        raise InvalidInputError(
            "bookmark goes with a neo4j server alone: a file shows what was written at once, and a "
            "GraphStore takes the bookmark itself; leave it out",
            argument="bookmark",
        )
    for value, argument in ((auth, "auth"), (database, "database")):
        if value is not None:
            raise InvalidInputError(
                f"{argument} goes with a neo4j:// or bolt:// URI alone", argument=argument
            )
    if target is None or isinstance(target, str | os.PathLike):
        from recallm.stores.sqlite import SQLiteStore

        in_memory = target is None or os.fspath(target) == ":memory:"
        path = None if in_memory else checks.file_path(target, "store")
        store = SQLiteStore(path) if timeout is None else SQLiteStore(path, timeout=timeout)
        return store, True
    if hasattr(target, "apply") and hasattr(target, "reader"):
        return cast(GraphStore, target), False
    raise InvalidInputError(
        f"{type(target).__name__} is no store; give {TARGETS}", argument="store"
    )


def _open_neo4j(
    target: Any,
    auth: tuple[str, str] | None,
    database: str | None,
    timeout: float | None,
    bookmark: str | None,
) -> GraphStore:
    try:
        from recallm.stores.neo4j import Neo4jStore
    except ModuleNotFoundError as error:
        if error.name != "neo4j":
            raise
        raise MissingDependencyError("neo4j", extra="neo4j") from None
    open_neo4j = partial(Neo4jStore, target, auth=auth, database=database, bookmark=bookmark)
    return open_neo4j() if timeout is None else open_neo4j(retry_time=timeout)


def _is_place(target: object) -> TypeGuard[Callable[[str], StoreTarget]]:
    """Whether ``target`` is a function from namespaces to stores."""
    return callable(target) and not isinstance(target, type) and not hasattr(target, "apply")


def _is_driver(target: object) -> bool:
    """Whether ``target`` is a neo4j ``Driver``; this imports no neo4j."""
    return any(
        base.__module__.partition(".")[0] == "neo4j" and base.__name__ == "Driver"
        for base in type(target).__mro__
    )


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
