"""Opens the store that a user names: a path, a URI, a driver or a store.

Each backend is imported inside a function, when a user names it: the neo4j driver is optional, and
the backends import ``recallm.stores.addresses`` and ``base``, so that an import at the top would
make a circle of packages.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from recallm.errors import InvalidInputError, MissingDependencyError
from recallm.ground import checks
from recallm.stores.addresses import TARGETS, is_server
from recallm.stores.base import GraphStore

if TYPE_CHECKING:
    from neo4j import Driver

StoreTarget: TypeAlias = "str | os.PathLike[str] | Driver | GraphStore | None"
"""What names one store."""


def open_store(
    target: StoreTarget,
    *,
    auth: tuple[str, str] | None = None,
    database: str | None = None,
    timeout: float | None = None,
) -> tuple[GraphStore, bool]:
    """The store, and whether it was opened here, so that the caller must close it.

    Raises:
        InvalidInputError: ``target`` names no store.
        MissingDependencyError: the driver is not installed.
        StoreError: it cannot be opened.
    """
    is_driver = hasattr(target, "verify_connectivity")
    if is_driver or (isinstance(target, str) and is_server(target)):
        return _open_neo4j(target, auth, database, timeout), True
    for value, argument in ((auth, "auth"), (database, "database")):
        if value is not None:
            raise InvalidInputError(
                f"{argument} goes with a neo4j:// or bolt:// URI alone", argument=argument
            )
    if target is None or isinstance(target, str | os.PathLike):
        from recallm.stores.sqlite import SQLiteStore

        in_memory = target is None or os.fspath(target) == ":memory:"
        path = None if in_memory else checks.file_path(target, "store")
        return SQLiteStore(path, **({} if timeout is None else {"timeout": timeout})), True
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
) -> GraphStore:
    try:
        from recallm.stores.neo4j import Neo4jStore
    except ModuleNotFoundError as error:
        if error.name != "neo4j":
            raise
        raise MissingDependencyError("neo4j", extra="neo4j") from None
    patience = {} if timeout is None else {"retry_time": timeout}
    return Neo4jStore(target, auth=auth, database=database, **patience)
