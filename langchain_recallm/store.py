"""``RecallMStore``: a LangGraph store inside one namespace of a memory."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    validate_op_namespace,
)

from langchain_recallm._item_values import meets, text_of
from recallm import InvalidInputError, NewItem, Passage, RecallM, StoreError
from recallm.adapting import POSTPONED_PATH, checked_memory, digest

__all__ = ["RecallMStore"]

_SWEEP_MINUTES = 60.0
_NOTHING = "(nothing to recall)"
_LONGEST_SOURCE = 1024
_BLOCK = 500
"""Items among which those that recall does not read come last: so many are looked at for a page."""
_log = logging.getLogger("langchain_recallm")


class RecallMStore(BaseStore):
    """A LangGraph store whose items are remembered: its namespaces are paths inside the one
    namespace of ``memory``, and what its values say is recalled like any statement.

    ``search(…, query=…)`` ranks by recall: first the items that have to do with the query, by the
    probability (``score``) of their best statement, 1 where the item says the query itself; then,
    as far as ``limit`` reaches, the others, the latest first, with 0; last those that recall does
    not read, without a score. Without a query: the latest first, without scores.

    A value is kept verbatim (JSON values); ``fields`` says what of it recall reads where ``put``
    does not (``index=[…]``; ``index=False``: nothing): the texts at these paths (``"$"``: all of
    it). Without ``fields`` recall reads all of it but metadata: ids, encodings, hashes and the
    times of writing ("created_at"), whatever is encoded, and what describes a text beside it
    ("kind", "type", "role", "source", "format", "metadata"), in all these fields only what looks
    like it: "role: user", but not "role: nurse". Where nothing else is there, metadata is read.

    Items expire ``ttl`` minutes after they were last written, or read (``refresh_ttl``): from then
    on they are neither found nor recalled. Their room is freed by ``sweep_ttl()``, which a write
    calls every ``sweep_interval_minutes`` (60). ``ttl`` is LangGraph's configuration of this.

    In one ``batch`` what is read is as it was before its writes; of several writes to one key the
    last counts. All is checked before anything is written; the values are written in one
    transaction, and what is deleted is forgotten after it. What recall does not read of a value
    (``index``) is still kept with it, and handed out with the statements of the item.

    Safe to use from several threads; the async methods do not block the event loop.

    >>> from recallm import RecallM
    >>> store = RecallMStore(memory=RecallM())
    >>> store.put(("users", "ann"), "food", {"memory": "Ann loves pizza", "stars": 5})
    >>> store.get(("users", "ann"), "food").value
    {'memory': 'Ann loves pizza', 'stars': 5}
    >>> [item.key for item in store.search(("users",), query="What does Ann love to eat?")]
    ['food']

    Raises (its methods):
        InvalidInputError: a value, key or filter cannot be used; nothing was written.
        InvalidNamespaceError: a namespace's label cannot be used.
        ClosedError: the memory is closed.
        StoreError: the memory's store failed; nothing was written.

    """

    supports_ttl = True

    def __init__(
        self,
        *,
        memory: RecallM,
        fields: Sequence[str] | None = None,
        ttl: TTLConfig | None = None,
    ) -> None:
        self.memory = checked_memory(memory)
        self._fields = _checked_fields(fields, "fields") if fields is not None else None
        self.ttl_config = _checked_ttl(ttl)
        self._sweep_every = ((ttl or {}).get("sweep_interval_minutes") or _SWEEP_MINUTES) * 60
        self._swept = time.monotonic()

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """See ``BaseStore.batch``."""
        listed = list(ops)
        for op in listed:
            validate_op_namespace(op)
        puts = {(tuple(op.namespace), op.key): op for op in listed if isinstance(op, PutOp)}
        now = self.memory.now()
        items = [self._new_item(op, now) for op in puts.values() if op.value is not None]
        gone = [place for place, op in puts.items() if op.value is None]
        for place in gone:
            self.memory.items.get(*place)  # refuses what can be no key, before all else
        seen: list[Passage] = []
        results: list[Result] = [self._read(op, seen) for op in listed]
        if puts:
            self._write(items, gone)
        self._refresh(seen)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """See ``BaseStore.abatch``."""
        return await asyncio.to_thread(self.batch, list(ops))

    def sweep_ttl(self) -> int:
        """Free the room of what has expired in the memory's namespace; how many passages."""
        self._swept = time.monotonic()
        return self.memory.forget(expired=True).passages

    def _read(self, op: Op, seen: list[Passage]) -> Result:
        """The result of an operation; what it gives a new lease of life goes into ``seen``."""
        if isinstance(op, PutOp):
            return None
        if isinstance(op, GetOp):
            return self._get(op, seen)
        if isinstance(op, SearchOp):
            return self._search(op, seen)
        if isinstance(op, ListNamespacesOp):
            return self._list_namespaces(op)
        raise InvalidInputError(
            f"an operation must be a GetOp, PutOp, SearchOp or ListNamespacesOp, not "
            f"{type(op).__name__}",
            argument="ops",
        )

    def _get(self, op: GetOp, seen: list[Passage]) -> Item | None:
        kept = self.memory.items.get(op.namespace, op.key)
        if kept is None:
            return None
        if op.refresh_ttl:
            seen.append(kept)
        return Item(**_fields_of(kept))

    def _search(self, op: SearchOp, seen: list[Passage]) -> list[SearchItem]:
        _check_search(op)
        wanted = op.offset + op.limit
        found: dict[str, tuple[Passage, float | None]] = {}
        hidden = _hidden(self.memory, op.namespace_prefix)
        if op.query and op.limit:
            ranked = self.memory.items.search(
                op.query,
                op.namespace_prefix,
                limit=wanted,
                accept=lambda kept: meets(_value_of(kept), op.filter),
            )
            found = {kept.id: (kept, score) for kept, score in ranked}
        if len(found) < wanted and op.limit:
            # With a filter any number may have to be looked at.
            most = None if op.filter else wanted + len(found) + len(hidden)
            rest = self.memory.items.below(op.namespace_prefix, limit=most)
            if op.query and any(map(_is_unread, rest)):
                if most is not None:
                    blocks = -(-most // _BLOCK)
                    rest = self.memory.items.below(op.namespace_prefix, limit=blocks * _BLOCK)
                rest = _unread_last(rest)
            for kept in rest:
                if (
                    kept.id not in found
                    and kept.id not in hidden
                    and meets(_value_of(kept), op.filter)
                ):
                    found[kept.id] = (kept, 0.0 if op.query and not _is_unread(kept) else None)
        page = list(found.values())[op.offset : wanted]
        if op.refresh_ttl:
            seen += [kept for kept, _ in page]
        return [SearchItem(**_fields_of(kept), score=score) for kept, score in page]

    def _list_namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        conditions = op.match_conditions or ()
        matching = (
            path[: op.max_depth]
            for path in self.memory.items.paths()
            if path != POSTPONED_PATH and all(_fits(path, condition) for condition in conditions)
        )
        return sorted(set(matching))[op.offset : op.offset + op.limit]

    def _write(self, items: list[NewItem], gone: list[tuple[tuple[str, ...], str]]) -> None:
        self.memory.items.put(items)
        for place in gone:
            self.memory.items.delete(*place)
        if time.monotonic() - self._swept >= self._sweep_every:
            try:
                self.sweep_ttl()
            except StoreError:  # what was put is there: the sweep is tried again later
                _log.warning("what has expired was not swept", exc_info=True)

    def _new_item(self, op: PutOp, now: datetime) -> NewItem:
        if not isinstance(op.value, Mapping):
            raise InvalidInputError(
                f"a value must be a mapping, not {type(op.value).__name__}", argument="value"
            )
        value = _checked_value(op.value)
        if op.index is None:
            fields = self._fields
        else:
            fields = () if op.index is False else _checked_fields(op.index, "index")
        text = text_of(value, fields)
        before = self.memory.items.get(op.namespace, op.key)
        created = now if before is None else _fields_of(before)["created_at"]
        return NewItem(
            path=tuple(op.namespace),
            key=op.key,
            text=text if text.strip() else _NOTHING,
            recalled=bool(text.strip()),
            timestamp=now,
            # Each item is a document of its own: what stands beside it says nothing about it.
            source=_source(op.namespace, op.key),
            metadata={"value": value, "created_at": created.isoformat(), "ttl": op.ttl},
            expires_at=_after(now, op.ttl),
        )

    def _refresh(self, kept: Iterable[Passage]) -> None:
        now = self.memory.now()
        moments = {
            it.id: _after(now, it.metadata["ttl"])
            for it in kept
            if it.expires_at is not None and _is_minutes(it.metadata.get("ttl"))
        }
        if moments:
            self.memory.expire(moments)


def _hidden(memory: RecallM, prefix: Sequence[str]) -> set[str]:
    """The ids of items below this path that are no values of a store: texts of the middleware that
    wait for extraction."""
    if POSTPONED_PATH[: len(prefix)] != tuple(prefix):
        return set()
    return {kept.id for kept in memory.items.below(POSTPONED_PATH) if kept.path == POSTPONED_PATH}


def _after(now: datetime, minutes: float | None) -> datetime | None:
    if minutes is None:
        return None
    if _is_minutes(minutes):
        with suppress(OverflowError, ValueError):
            return now + timedelta(minutes=minutes)
    raise InvalidInputError(f"ttl must be a number of minutes, not {minutes!r}", argument="ttl")


def _is_minutes(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _source(path: Sequence[str], key: str) -> str:
    """Where an item is kept, as a source that no other item has."""
    parts = (part.replace("%", "%25").replace("/", "%2F") for part in (*path, key))
    source = "store/" + "/".join(parts)
    if len(source) <= _LONGEST_SOURCE:
        return source
    return "store/" + digest(source)


def _checked_value(given: Mapping[str, Any]) -> dict[str, Any]:
    value = dict(given)
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False)
        text.encode()
        if json.loads(text) != value:
            raise ValueError("it would come back otherwise")
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInputError(
            f"a value must hold JSON values only (str, int, finite float, bool, None, lists, dicts "
            f"with str keys; no tuples): {error}",
            argument="value",
        ) from None
    return value


def _checked_fields(fields: object, argument: str) -> tuple[str, ...]:
    if isinstance(fields, list | tuple) and all(isinstance(field, str) for field in fields):
        return tuple(fields)
    raise InvalidInputError(
        f"{argument} must be a list of paths such as ['text', 'notes[*].title'], not {fields!r}",
        argument=argument,
    )


def _checked_ttl(ttl: object) -> TTLConfig | None:
    if ttl is None:
        return None
    if not isinstance(ttl, dict) or not all(
        ttl.get(name) is None or _is_minutes(ttl[name])
        for name in ("default_ttl", "sweep_interval_minutes")
    ):
        raise InvalidInputError(
            f"ttl must be LangGraph's TTLConfig, such as {{'default_ttl': 60}}, not {ttl!r}",
            argument="ttl",
        )
    return cast(TTLConfig, ttl)


def _check_search(op: SearchOp) -> None:
    for argument, number in (("limit", op.limit), ("offset", op.offset)):
        given: object = number
        if isinstance(given, bool) or not isinstance(given, int) or given < 0:
            raise InvalidInputError(
                f"{argument} must be a whole number from 0 on, not {given!r}", argument=argument
            )
    condition: object = op.filter
    if condition is not None and not isinstance(condition, Mapping):
        raise InvalidInputError(
            f"filter must be a mapping of fields, not {type(condition).__name__}",
            argument="filter",
        )


def _unread_last(kept: Sequence[Passage]) -> tuple[Passage, ...]:
    """Items, the latest first, but in each block of them the unread ones last."""
    places = sorted(range(len(kept)), key=lambda it: (it // _BLOCK, _is_unread(kept[it])))
    return tuple(kept[place] for place in places)


def _is_unread(kept: Passage) -> bool:
    """Whether an item holds nothing for recall to read."""
    return kept.text == _NOTHING


def _value_of(kept: Passage) -> dict[str, Any]:
    """The value of an item; of one that no store wrote, its text and metadata."""
    value = kept.metadata.get("value")
    return dict(value) if isinstance(value, dict) else {"text": kept.text, **kept.metadata}


def _fields_of(kept: Passage) -> dict[str, Any]:
    """The arguments of an ``Item``."""
    updated = kept.timestamp or datetime.fromtimestamp(0, UTC)
    created = updated
    with suppress(TypeError, ValueError):
        created = datetime.fromisoformat(kept.metadata.get("created_at", ""))
    return {
        "value": _value_of(kept),
        "key": kept.key,
        "namespace": kept.path,
        "created_at": created,
        "updated_at": updated,
    }


def _fits(path: Sequence[str], condition: MatchCondition) -> bool:
    """Whether a path begins (or ends) with the condition's, ``*`` standing for any one part."""
    wanted = condition.path
    if len(path) < len(wanted):
        return False
    if condition.match_type not in ("prefix", "suffix"):
        raise InvalidInputError(
            f"a match condition is of type 'prefix' or 'suffix', not {condition.match_type!r}",
            argument="match_conditions",
        )
    compared = (
        path[: len(wanted)] if condition.match_type == "prefix" else path[len(path) - len(wanted) :]
    )
    return all(label in ("*", one) for label, one in zip(wanted, compared, strict=True))
