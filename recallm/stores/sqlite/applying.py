"""Which updates are written, joined, replaced or refused: ``GraphStore.apply``."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence

from recallm.errors import (
    ConflictError,
    DimensionError,
    EmbeddingModelError,
    UnknownPassageError,
)
from recallm.model import PreparedUpdate, text_digest
from recallm.stores.base import Applied
from recallm.stores.sqlite.codec import path_text
from recallm.stores.sqlite.entities import Brought
from recallm.stores.sqlite.lookup import fetch_by, fetch_from
from recallm.stores.sqlite.sizes import VectorSizes
from recallm.stores.sqlite.writing import (
    Numbered,
    create_namespace,
    open_namespace,
    write_updates,
)

__all__ = ["apply_updates"]


def apply_updates(
    connection: sqlite3.Connection,
    namespace: str,
    updates: Sequence[PreparedUpdate],
    forget: Callable[[int, set[int]], object],
) -> list[Applied]:
    """``GraphStore.apply`` inside a write transaction. ``forget`` takes the updates at these t of
    a namespace, by its id, away: what an update takes the place of."""
    applying = _Applying(connection, namespace, updates, forget)
    applied: list[Applied] = []
    for index, update in enumerate(updates):
        try:
            applied.append(applying.take(index, update))
        except (ConflictError, UnknownPassageError, EmbeddingModelError, DimensionError):
            # What an earlier update does wrong is said first.
            applying.write()
            raise
    applying.write()
    return applied


class _Applying:
    """A batch that is taken update by update, and written as late as may be."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        namespace: str,
        updates: Sequence[PreparedUpdate],
        forget: Callable[[int, set[int]], object],
    ) -> None:
        self._connection = connection
        self._namespace = namespace
        self._forget = forget
        found = open_namespace(connection, namespace)
        self._ns, self._t = found if found is not None else (0, 0)
        self._items = _Items(connection, self._ns, updates)
        self._sizes = VectorSizes(connection, self._ns)
        self._known: dict[str, tuple[int, str]] = {
            id: (t, digest)
            for id, t, digest in fetch_by(
                fetch_from(connection),
                "SELECT id, t, digest FROM passage WHERE ns = ? AND id IN",
                {update.id for update in updates if update.text is not None or update.id},
                lead=(self._ns,),
            )
        }
        self._fresh: list[Numbered] = []
        self._brought: list[Brought] = []

    def take(self, index: int, update: PreparedUpdate) -> Applied:
        """Number an update, and take away what it replaces."""
        if update.text is None:
            return self._take_graph(update)
        digest = text_digest(update.text)
        replaced: dict[int, str] = {}
        if update.id in self._known:
            t, stored = self._known[update.id]
            if stored == digest:
                return Applied(t_index=t, duplicate=True)
            if not update.replaces:
                raise ConflictError(update.id, index=index)
            replaced[t] = update.id
        self._sizes.check(update)
        replaced |= self._items.replaced_by(update, self._t + 1)
        if replaced:
            # Written first, what the batch itself brought is forgotten as it would be later.
            self.write()
            self._forget(self._ns, set(replaced))
            for t, id in replaced.items():
                if self._known.get(id, (0, ""))[0] == t:
                    del self._known[id]
        self._t += 1
        self._known[update.id] = (self._t, digest)
        self._fresh.append((self._t, update, digest))
        return self._bring(self._t, update)

    def write(self) -> None:
        """Write what was taken so far, and the counter."""
        if not (self._fresh or self._brought):
            return
        self._ns = self._ns or create_namespace(self._connection, self._namespace)
        write_updates(self._connection, self._ns, self._fresh, self._brought)
        self._sizes.write(self._ns)
        if self._fresh:
            self._connection.execute("UPDATE namespace SET t = ? WHERE id = ?", (self._t, self._ns))
        self._fresh, self._brought = [], []

    def _take_graph(self, update: PreparedUpdate) -> Applied:
        if not update.id:
            self._sizes.check(update)
            self._t += 1
            self._fresh.append((self._t, update, ""))
            return self._bring(self._t, update)
        if update.id not in self._known:
            raise UnknownPassageError(update.id)
        self._sizes.check(update)
        return self._bring(self._known[update.id][0], update)

    def _bring(self, t_index: int, update: PreparedUpdate) -> Applied:
        if update.entities or update.triplets:
            self._brought.append((t_index, update))
        return Applied(t_index=t_index)


class _Items:
    """Which updates keep an item under the keys that a batch writes to."""

    def __init__(
        self, connection: sqlite3.Connection, ns: int, updates: Sequence[PreparedUpdate]
    ) -> None:
        places = {(path_text(it.path), it.key) for it in updates if it.key is not None}
        self._kept: dict[tuple[str, str], dict[int, str]] = {}
        for path, key in places if ns else ():
            rows = connection.execute(
                "SELECT t, id FROM passage WHERE ns = ? AND path = ? AND key = ?", (ns, path, key)
            )
            self._kept[path, str(key)] = dict(rows.fetchall())

    def replaced_by(self, update: PreparedUpdate, t_index: int) -> dict[int, str]:
        """The passage ids, by their t, of what ``update`` takes the place of, once."""
        if update.key is None:
            return {}
        place = (path_text(update.path), update.key)
        replaced = self._kept.get(place, {})
        self._kept[place] = {t_index: update.id}
        return replaced
