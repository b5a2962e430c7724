"""Queries with lists and checksums; what a reader may see, and filters, as SQL conditions on rows.

A row *counts* where its update is not later than the view's t. Totals of the present stand in the
rows; totals of an earlier t are counted from the rows that count. A row is *visible* where it
counts and its passage is not hidden. Expired and withdrawn passages are hidden, and, for a datetime
``as_of``, passages that were said later or have no timestamp.

Where an index says that few passages meet a filter, a query reads only their rows. Otherwise it
tests rows from the newest on: many meet the filter, so that it ends soon.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, LiteralString

import numpy as np
from numpy.typing import NDArray

from recallm.ground.forking import cached_property
from recallm.model import (
    NO_SESSION,
    POSITION_BITS,
    Filter,
    Horizon,
    NamespaceState,
    Scalar,
    canonical_json,
    statement_key,
)
from recallm.stores.semantics.reading import literal, state_of, with_parts
from recallm.stores.semantics.rows import microseconds
from recallm.stores.sqlite.connections import Snapshot
from recallm.stores.sqlite.failures import damage
from recallm.stores.sqlite.queries import VISIBLE_PASSAGE, spelled
from recallm.stores.sqlite.schema import (
    FIND_WITHOUT_INDEX,
    MAX_T,
    below,
    columns_of,
    hash_of,
    pack,
    passage_row,
    verified,
)

Fetch = Callable[[LiteralString, Any], list[tuple[Any, ...]]]
"""Runs a query with its parameters and returns all its rows."""

_VALUES: LiteralString = "(SELECT value FROM json_each("
_VALUES_WITH_NUL: LiteralString = (
    "(SELECT replace(replace(value, char(30) || '0', char(0)), char(30) || '1', char(30)) AS value"
    " FROM json_each("
)
"""``json_each`` ends a string at a NUL, so that a list with one is escaped."""


def columns(table: LiteralString) -> LiteralString:
    """The columns of a table that its checksum covers, and the checksum."""
    return ", ".join((*columns_of(table), "crc"))


_NAMESPACE: LiteralString = (
    "SELECT " + ", ".join(["n." + name for name in (*columns_of("namespace"), "crc")])
    + ", n.model, n.origin, n.revision, n.vocabulary, n.vector_sizes, n.open_t, s.key, p.said,"
    " p.source, EXISTS (SELECT 1 FROM passage INDEXED BY passage_expires"
    "  WHERE ns = n.id AND expires <= :now),"
    " (SELECT min(withdrawn) FROM passage INDEXED BY passage_withdrawn"
    "  WHERE ns = n.id AND withdrawn IS NOT NULL),"
    " CASE WHEN :said IS NOT NULL THEN coalesce((SELECT p.t FROM passage p INDEXED BY passage_t"
    "  WHERE p.ns = n.id AND p.said <= :said ORDER BY p.t DESC LIMIT 1), 0) END"
    " FROM namespace n LEFT JOIN passage p ON p.row = (n.id << 32) + n.open_t"
    "  AND (p.expires IS NULL OR :shown_at IS NULL OR p.expires > :shown_at)"
    " LEFT JOIN session s ON s.id = p.session_id WHERE n.name = :name"
)  # fmt: skip
"""The row of a namespace, with the session that the next update may continue (none where its
passage has expired by ``shown_at``), whether a passage has expired, the first t from which on one
is withdrawn, and the latest t by the datetime ``said``."""

_NO_NAMESPACE = (0, "", 0, 0, 0, 0, None, "", 0, 0, "{}", 0, None, None, None, False, None, 0)
"""Such a row, of a namespace that there is not."""


class Queries:
    """Queries with the parameters ``bound``, and those that a call adds.

    A parameter may be a list: a query names its values as ``{name}``, a table with the column
    ``value``, and ``json_each(:name)`` makes a table of them too. ``listed`` is the list ``list``.
    """

    def __init__(self, fetch: Fetch, **bound: Any) -> None:
        self.fetch = fetch
        self.bound = bound
        self.given: frozenset[str] = frozenset()
        """The parts of queries that hold, beside those of what a call gives."""

    def rows(
        self, sql: LiteralString, listed: Collection[object] | None = None, **values: Any
    ) -> list[tuple[Any, ...]]:
        """All rows of a query; none where ``listed`` is empty."""
        if listed is not None:
            values["list"] = listed
            if not listed:
                return []
        lists = {
            name: list(value)
            for name, value in values.items()
            if isinstance(value, Collection) and not isinstance(value, str)
        }
        for name in lists:
            sql = sql.replace(literal("{" + name + "}"), _VALUES + ":" + literal(name) + "))")
        texts = {name: json.dumps(items) for name, items in lists.items()}
        if any("\\u0000" in text for text in texts.values()):
            sql = sql.replace(_VALUES, _VALUES_WITH_NUL)
            texts = {name: json.dumps(list(map(_escaped, items))) for name, items in lists.items()}
        return self.fetch(sql, {**self.bound, **values, **texts})

    def read(
        self,
        table: LiteralString,
        sql: LiteralString,
        listed: Collection[object] | None = None,
        **values: Any,
    ) -> list[tuple[Any, ...]]:
        """All rows of a query, each compared with its checksum: ``{}`` stands for the columns of
        ``table`` that it covers.

        Raises:
            ValueError: a row is damaged.
        """
        return verified(self.rows(sql.replace("{}", columns(table)), listed, **values), table)

    def sound(self, sql: LiteralString, **given: Any) -> list[tuple[Any, ...]]:
        """All rows of a query whose first column says whether a row is sound, without that column,
        with the parts of what is given (not None).

        Raises:
            ValueError: a row is damaged.
        """
        known = {name: value for name, value in given.items() if value is not None}
        rows = self.rows(spelled(sql, self.given.union(known)), **known)
        if not all(is_sound for is_sound, *_ in rows):
            raise ValueError("a row does not have its checksum")
        return [row[1:] for row in rows]

    def namespace(self, name: str, **values: Any) -> tuple[Any, ...]:
        """The row of a namespace (``_NAMESPACE``), without its checksum.

        Raises:
            ValueError: the row is damaged, or an index does not lead to it.
        """
        rows = self.rows(_NAMESPACE, name=name, **values)
        if not rows and self.rows(FIND_WITHOUT_INDEX, name=name):
            raise ValueError("an index of the table namespace has lost a row")
        width = len(columns_of("namespace"))
        for row in verified((row[: width + 1] for row in rows), "namespace"):
            if row[1] != name:
                raise ValueError("an index of the table namespace leads to another row")
            return (*row, *rows[0][width + 1 :])
        return _NO_NAMESPACE


def _escaped(value: object) -> str:
    return str(value).replace("\x1e", "\x1e1").replace("\0", "\x1e0")


class View(Queries):
    """A namespace within a horizon.

    In every query of the view, the parameters ``:ns``, ``:last`` (the view's t), ``:end`` (the
    first key after it), ``:said`` (the datetime ``as_of``) and ``:now`` are bound. ``given`` says
    whether the view ends before the latest update (``past``), whether it hides passages that were
    said later (``dated``), have ``expired`` or are ``withdrawn``, whether it hides any (``hides``),
    and whether any row may not be visible (``bounded``). ``visible_passage`` is a condition
    of ``queries``.
    """

    def __init__(self, snapshot: Snapshot, namespace: str, horizon: Horizon) -> None:
        as_of = horizon.as_of
        said = microseconds(as_of) if isinstance(as_of, datetime) else None
        super().__init__(snapshot.rows, said=said, now=microseconds(horizon.now))
        with damage(snapshot.name):
            found = self.namespace(namespace, shown_at=self.bound["now"])
            self.ns: int = found[0]
            self.totals: tuple[int, ...] = found[3:6]
            counter, (model, origin, revision, vocabulary, sizes) = found[2], found[6:11]
            *opened, has_expired, withdrawn, by_said = found[11:]
            self.opened: Sequence[Any] = opened
            vector_bytes: dict[str, int] = json.loads(sizes)
            if isinstance(as_of, datetime):
                t_index = by_said
            else:
                t_index = counter if as_of is None else min(as_of, counter)
            self.state: NamespaceState = state_of(
                t_index, vector_bytes, vocabulary, model, origin, revision
            )
        self.is_present = t_index >= counter
        has_withdrawn = not horizon.withdrawn and withdrawn is not None and withdrawn <= t_index
        self.last = max(-1, min(t_index, MAX_T))
        self.end = statement_key(self.last + 1, 0)
        self.bound.update(ns=self.ns, last=self.last, end=self.end)
        parts = {
            "past": not self.is_present,
            "dated": said is not None,
            "expired": bool(has_expired),
            "withdrawn": has_withdrawn,
        }
        given = {name for name, holds in parts.items() if holds}
        given |= {"hides"} if given - {"past"} else set()
        self.given = frozenset(given | {"bounded"} if given else given)
        self.visible_passage: LiteralString = with_parts(VISIBLE_PASSAGE, self.given)


FEW = 1_000
"""The most passages that are found by an index first."""

_METADATA: LiteralString = (
    " AND (SELECT count(*) FROM metadata_entry m WHERE m.ns = :ns AND m.t = passage.t"
    " AND m.entry IN (SELECT value FROM json_each(:entries))) = json_array_length(:entries)"
)

_LIKELY: LiteralString = (
    " AND CASE WHEN json_valid(passage.metadata)"
    " THEN json_extract(passage.metadata, :path_0) IS :value_0"
    "  OR json_type(passage.metadata, :around_0) IS NOT 'object' ELSE 1 END"
)
_LIKELY_NUMBERS: tuple[LiteralString, ...] = ("0", "1", "2")
_PLAIN_KEY = re.compile(r"[ !#-\[\]-~]+")
"""A key that JSON texts hold as it is."""
_EXACT = 1 << 53
"""SQLite reads whole numbers below it as they are, also where they have a fraction of 0."""

_BY_T: LiteralString = "passage INDEXED BY passage_t WHERE ns = :ns"

Values = Mapping[str, Any]


class FilterSql:
    """A ``Filter`` as conditions that continue a WHERE, with the parameters ``values``.

    ``passages`` is for ``passage``.
    """

    def __init__(self, view: View, where: Filter) -> None:
        self.passages: LiteralString = ""
        self.values: dict[str, Any] = {}
        self._view = view
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
        self._tests_rows = bool(self.passages)
        self._first, self._last = 0, view.last
        if isinstance(where.since, int):
            self.passages += " AND passage.t >= :first_t"
            self._first = self.values["first_t"] = max(-1, min(where.since, MAX_T))
        if isinstance(where.until, int):
            self.passages += " AND passage.t <= :last_t"
            last = self.values["last_t"] = max(-1, min(where.until, MAX_T))
            self._last = min(self._last, last)
        self.is_plain = not self.passages and not view.given
        """Whether every statement is visible and meets the filter."""

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
        self.few = [t for (t,) in met]
        self.values["few"] = json.dumps(self.few)
        return True

    def met(self, keys: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of ``keys`` are of visible statements that meet the filter."""
        ts = keys >> POSITION_BITS
        met: NDArray[np.bool_] = (ts >= self._first) & (ts <= self._last)
        tests_rows = self._tests_rows and not self.is_met_by_few
        if self._tests_rows and not tests_rows:
            met &= np.isin(ts, self.few)
        if tests_rows or "hides" in self._view.given:
            source: LiteralString = _BY_T + " AND t IN {list}"
            conditions = self._view.visible_passage
            if tests_rows:
                source = "passage NOT INDEXED WHERE row IN {list}"
                conditions += self.passages
            asked = np.unique(ts[met]) + (self._view.ns << 32 if tests_rows else 0)
            rows = self._view.rows(
                "SELECT t FROM " + source + conditions, asked.tolist(), **self.values
            )
            met &= np.isin(ts, [t for (t,) in rows])
        return met

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


def likely_condition(likely: Mapping[tuple[str, ...], Scalar]) -> tuple[LiteralString, Values]:
    """``likely`` of ``GraphReader.passages`` as a condition that continues a WHERE, with its
    parameters. A few passages with another value meet it too: SQLite's JSON takes true for 1."""
    condition: LiteralString = ""
    values: dict[str, Any] = {}
    usable = (entry for entry in likely.items() if _can_be_looked_up(*entry))
    for (path, value), number in zip(usable, _LIKELY_NUMBERS, strict=False):
        condition += _LIKELY.replace("_0", "_" + number)
        keys = [f'."{key}"' for key in path]
        values["path_" + number] = "".join(["$", *keys])
        values["around_" + number] = "".join(["$", *keys[:-1]])
        values["value_" + number] = value
    return condition, values


def _can_be_looked_up(path: Iterable[str], value: Scalar) -> bool:
    if isinstance(value, int) and not -_EXACT < value < _EXACT:
        return False
    if isinstance(value, str) and "\0" in value:  # SQLite ends a text there
        return False
    return all(map(_PLAIN_KEY.fullmatch, path))


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
