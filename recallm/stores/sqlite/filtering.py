"""Filters in SQL: the newest visible rows whose passages meet a ``Filter``.

Where an index says that few passages meet the filter, a query reads only their rows. Otherwise it
tests rows from the newest on: many meet the filter, so that it ends soon.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, LiteralString

from recallm.ground.forking import cached_property
from recallm.model import NO_SESSION, Filter, canonical_json, statement_key
from recallm.stores.semantics.rows import microseconds
from recallm.stores.sqlite.codec import below, hash_of, pack
from recallm.stores.sqlite.schema import MAX_T, passage_row
from recallm.stores.sqlite.view import View

FEW = 1_000
"""The most passages that are found by an index first."""

_METADATA: LiteralString = (
    " AND (SELECT count(*) FROM metadata_entry m WHERE m.ns = :ns AND m.t = passage.t"
    " AND m.entry IN (SELECT value FROM json_each(:entries))) = json_array_length(:entries)"
)

_BY_T: LiteralString = "passage INDEXED BY passage_t WHERE ns = :ns"

Values = Mapping[str, Any]


class FilterSql:
    """A ``Filter`` as conditions that continue a WHERE, with the parameters ``values``.

    ``passages`` is for ``passage``, ``statements`` for a table with a column ``at``.
    """

    def __init__(self, view: View, where: Filter) -> None:
        self.passages: LiteralString = ""
        self.statements: LiteralString = ""
        self.values: dict[str, Any] = {}
        self._view = view
        self.is_empty = not where
        self._metadata = where.metadata
        self._indexes: list[tuple[LiteralString, Values]] = []
        for index, condition, values in _indexed(where):
            self.passages += " AND " + condition
            self.values |= values
            source: LiteralString = "passage INDEXED BY " + index + " WHERE ns = :ns AND "
            self._indexes.append((source + condition, values))
        self._by_index: LiteralString = self._indexes[0][0] if self._indexes else _BY_T
        if where.metadata:
            entries = [hash_of(*entry) for entry in where.metadata.items()]
            self.passages += _METADATA
            self.values["entries"] = json.dumps(entries)
            source = "metadata_entry WHERE ns = :ns AND entry = :entry"
            for entry in entries:
                self._indexes.append((source, {"entry": entry}))
        if self.passages:
            self.statements = (
                " AND EXISTS (SELECT 1 FROM passage NOT INDEXED"
                " WHERE passage.row = (:ns << 32) + (at >> 20)" + self.passages + ")"
            )
        if isinstance(where.since, int):
            self.passages += " AND passage.t >= :first_t"
            self.statements += " AND at >= :first_key"
            first = max(-1, min(where.since, MAX_T))
            self.values |= {"first_t": first, "first_key": statement_key(first, 0)}
        if isinstance(where.until, int):
            self.passages += " AND passage.t <= :last_t"
            self.statements += " AND at < :stop_key"
            last = max(-1, min(where.until, MAX_T))
            self.values |= {"last_t": last, "stop_key": statement_key(last + 1, 0)}

    @cached_property
    def is_met_by_few(self) -> bool:
        """Whether a condition is met by at most ``FEW`` passages; then the parameter ``:few`` holds
        the t of all passages that meet the filter, hidden ones too, as JSON.

        Raises:
            ValueError: an index is damaged.
        """
        found: list[int] | None = None
        for source, values in self._indexes:
            rows = self._view.rows("SELECT t FROM " + source + " LIMIT :few", few=FEW + 1, **values)
            if len(rows) <= FEW and (found is None or len(rows) < len(found)):
                found = [passage_row(self._view.ns, t) for (t,) in rows]
        if found is None:
            return False
        sql: LiteralString = "SELECT t FROM passage NOT INDEXED WHERE row IN {list}"
        met = self._view.rows(sql + self.passages, found, **self.values)
        self.values["few"] = json.dumps([t for (t,) in met])
        return True

    def passage_source(self, *, every: bool) -> LiteralString:
        """A table of passages with its WHERE, for the newest passages that meet the filter, or for
        every one; its parameters are ``values``."""
        has_one_index = len(self._indexes) == 1 and not self._metadata
        if not (every and has_one_index) and self.is_met_by_few:
            return (
                "passage NOT INDEXED WHERE row IN (SELECT (:ns << 32) + value FROM json_each(:few))"
            )
        return self._by_index if every else _BY_T

    def check_metadata(self, ts: Iterable[int]) -> None:
        """Compare the metadata of the passages at these t, which an index found, with the filter:
        the index has no checksums, and metadata may say whose a passage is.

        Raises:
            ValueError: a passage does not meet the filter.
        """
        if not self._metadata:
            return
        sql: LiteralString = "SELECT DISTINCT metadata FROM passage NOT INDEXED WHERE row IN {list}"
        for (text,) in self._view.rows(sql, {passage_row(self._view.ns, t) for t in ts}):
            metadata = json.loads(text)
            for key, value in self._metadata.items():
                if key not in metadata or canonical_json(metadata[key]) != canonical_json(value):
                    raise ValueError("an index of metadata leads to another passage")


def _indexed(where: Filter) -> Iterator[tuple[LiteralString, LiteralString, Values]]:
    """(index, condition, values) of each part of a filter that an index of passages answers."""
    if where.key is not None:
        item = {"path": pack(where.path or ()), "key": where.key}
        yield "passage_item", "path = :path AND key = :key", item
    elif where.path:
        first, stop = below(where.path)
        condition: LiteralString = "key IS NOT NULL AND path >= :path AND path < :path_stop"
        yield "passage_item", condition, {"path": first, "path_stop": stop}
    elif where.path is not None:
        yield "passage_item", "key IS NOT NULL", {}
    if where.session_key == NO_SESSION:
        yield "passage_t", "session_id IS NULL", {}
    elif where.session_key is not None:
        condition = "session_id = (SELECT id FROM session WHERE ns = :ns AND key = :session)"
        yield "passage_in_session", condition, {"session": where.session_key}
    if where.speaker is not None:
        yield "passage_speaker", "speaker = :speaker", {"speaker": where.speaker}
    since, until = where.since, where.until
    if isinstance(since, datetime) or isinstance(until, datetime):
        said = {
            "since": microseconds(since) if isinstance(since, datetime) else -(1 << 62),
            "until": microseconds(until) if isinstance(until, datetime) else 1 << 62,
        }
        yield "passage_said", "said >= :since AND said <= :until", said
