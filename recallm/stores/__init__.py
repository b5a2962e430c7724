"""Temporal graph stores: the protocol, SQLite (embedded), Neo4j (a server), and opening one.

A new store begins here: implement ``GraphStore`` and ``GraphReader`` of ``base`` and, for writes,
``Rows`` of ``semantics.rows``. Then copy ``tests/store_suite`` from recallm's repository into your
``tests`` and subclass its ``StoreSuite`` in a test.

Rules that every store keeps:

* **Namespace.** Every operation names one; it is part of every key and of every uniqueness
  constraint. Nothing read or counted in one namespace depends on another.
* **One transaction.** ``apply``, ``amend``, ``forget`` and ``restore`` happen as a whole or not at
  all. The store takes a namespace's next t inside the transaction, so that two writers never share
  a t and none is lost. A transaction that fails takes no t, and neither does a duplicate.
* **Evidence.** Totals (strength, t_index, updates, documents, sizes) always equal what the rows
  beneath them say: after any ``forget`` they are as if the forgotten text had never been written.
  Only the counter t never goes back, so that no statement key is ever used twice.
* **Readers** see all of an update or nothing of it, and one state for as long as they are open.
  A server without snapshots (Neo4j) keeps this rule for updates alone: what is forgotten,
  replaced, merged into an entity or amended while a reader is open shows in it at once.
* Stores know no language: names, stems and labels come ready in the values of
  ``recallm.model``.
* Every ordered result has one fixed order, so that stores agree; ties are broken by name or key.
  Strings are ordered by code point; only where a ``limit`` cuts between equals may a server compare
  them in its own order.
* **Properties.** Type, concept, label and kind of an entity are those of its latest upsert that
  does not merely mention it; forgetting that upsert does not bring older ones back. Each piece of
  evidence (of an entity or triplet, at a t and a position) keeps its own properties; a second
  upsert at the same place is merged into them. A mere mention of a known entity brings none. The
  properties of an entity or triplet are those of its evidence, merged in the order of
  (t, position): key by key, a later value replaces an earlier one as a whole, and None is a value
  like any other. Forgotten evidence takes its properties along; a horizon does not.
* **Concepts.** An entity touches the concept that it stands on now, at each t of its evidence.
  A concept that only entities touch has the label and kind of the entity with the earliest
  evidence (then by id). ``merges`` counts the updates that touched the concept after its summary
  in force, or after the first update where it has no summary.
* **Vectors.** All vectors of a namespace under one model have as many bytes as the first one
  written, also after that one is forgotten; only ``everything`` forgets the size. Vectors of
  statements are all of one model, likewise. An entity's vectors go with it.
* **Words of entities.** An entity bears the words of its concept's name, that name as a whole, and
  the codes of its vectors (``recallm.ground.entity_words``).
* **Items.** A passage with a key is an item. A store holds at most one item under a key at a path
  (except in restored archives, where the latest by t is the item).
* JSON values (metadata) are equal where their JSON texts with sorted keys are: 1, 1.0, true and
  "1" are four values.
* Failures are errors of the ``StoreError`` tree, with the driver's error as ``__cause__``.

Strings hold any character, NUL included, but lone surrogates (callers refuse those).
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

# The backends are imported where a user names them: the neo4j driver is optional, and the backends
# import modules of this package.

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
        try:
            from recallm.stores.neo4j import Neo4jStore
        except ModuleNotFoundError as error:
            if error.name != "neo4j":
                raise
            raise MissingDependencyError("neo4j", extra="neo4j") from None
        patience = {} if timeout is None else {"retry_time": timeout}
        server: Any = target
        return Neo4jStore(server, auth=auth, database=database, **patience), True
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
