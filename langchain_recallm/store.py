"""``RecallMStore``: a LangGraph store inside one namespace of a memory."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

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

from langchain_recallm._values import meets, text_of
from recallm import InvalidInputError, NewItem, Passage, RecallM

__all__ = ["RecallMStore"]

_SWEEP_MINUTES = 60.0
_NOTHING = "(nothing to recall)"
_LONGEST_SOURCE = 1024
_AT_FIRST = 20
"""Statements recalled for a search beside those it surely needs: an item may have several."""


class RecallMStore(BaseStore):
    """A LangGraph store whose items are remembered: its namespaces are paths inside the one
    namespace of ``memory``, and what its values say is recalled like any statement.

    ``search(…, query=…)`` ranks by recall: first the items that have to do with the query, by the
    probability (``score``) of their best statement, then, as far as ``limit`` reaches, the others,
    the latest first, without a score. Without a query: the latest first.

    A value is kept verbatim (JSON values); ``fields`` says what of it recall reads where ``put``
    does not (``index=[…]``; ``index=False``: nothing): all of it, or the texts at these paths.

    Items expire ``ttl`` minutes after they were last written, or read (``refresh_ttl``): from then
    on they are neither found nor recalled. Their room is freed by ``sweep_ttl()``, which a write
    calls every ``sweep_interval_minutes`` (60). ``ttl`` is LangGraph's configuration of this.

    In one ``batch`` what is read is as it was before its writes; of several writes to one key the
    last counts; all values are written in one transaction.

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
        if isinstance(fields, str):
            raise InvalidInputError("fields must be a list of paths", argument="fields")
        self.memory = memory
        self.ttl_config = ttl
        self._fields = fields
        self._sweep_every = ((ttl or {}).get("sweep_interval_minutes") or _SWEEP_MINUTES) * 60
        self._swept = time.monotonic()

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """See ``BaseStore.batch``."""
        listed = list(ops)
        for op in listed:
            validate_op_namespace(op)
        results: list[Result] = [self._read(op) for op in listed]
        puts = {(op.namespace, op.key): op for op in listed if isinstance(op, PutOp)}
        if puts:
            self._write(list(puts.values()))
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """See ``BaseStore.abatch``."""
        return await asyncio.to_thread(self.batch, list(ops))

    def sweep_ttl(self) -> int:
        """Free the room of what has expired in the memory's namespace; how many passages."""
        self._swept = time.monotonic()
        return self.memory.forget(expired=True).passages

    def _read(self, op: Op) -> Result:
        if isinstance(op, PutOp):
            return None
        if isinstance(op, GetOp):
            return self._get(op)
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, ListNamespacesOp):
            return self._list_namespaces(op)
        raise InvalidInputError(
            f"an operation must be a GetOp, PutOp, SearchOp or ListNamespacesOp, not "
            f"{type(op).__name__}",
            argument="ops",
        )

    def _get(self, op: GetOp) -> Item | None:
        kept = self.memory.items.get(op.namespace, op.key)
        if kept is None:
            return None
        if op.refresh_ttl:
            self._refresh([kept])
        return Item(**_fields_of(kept))

    def _search(self, op: SearchOp) -> list[SearchItem]:
        if op.limit < 0 or op.offset < 0:
            raise InvalidInputError(
                "limit and offset must be 0 or more", argument="limit" if op.limit < 0 else "offset"
            )
        wanted = op.offset + op.limit
        found: dict[str, tuple[Passage, float | None]] = {}
        if op.query and op.limit:
            found.update(self._recalled(op, wanted))
        if len(found) < wanted and op.limit:
            # With a filter any number may have to be looked at.
            most = None if op.filter else wanted + len(found)
            for kept in self.memory.items.below(op.namespace_prefix, limit=most):
                if kept.id not in found and meets(_value_of(kept), op.filter):
                    found[kept.id] = (kept, None)
        page = list(found.values())[op.offset : wanted]
        if op.refresh_ttl:
            self._refresh([kept for kept, _ in page])
        return [SearchItem(**_fields_of(kept), score=score) for kept, score in page]

    def _recalled(self, op: SearchOp, wanted: int) -> dict[str, tuple[Passage, float | None]]:
        """The items that recall finds for the query and that meet the filter, best first."""
        limit = 2 * wanted + _AT_FIRST
        while True:
            context = self.memory.recall(op.query or "", path=op.namespace_prefix, limit=limit)
            scores: dict[str, float | None] = {}
            for statement in sorted(context.statements, key=lambda it: -(it.score or 0.0)):
                if statement.passage is not None:
                    scores.setdefault(statement.passage, statement.score)
            found: dict[str, tuple[Passage, float | None]] = {}
            for id, score in scores.items():
                kept = self.memory.get(id)
                if kept is not None and meets(_value_of(kept), op.filter):
                    found[id] = (kept, score)
            if len(found) >= wanted or len(context.statements) < limit:
                return found
            limit *= 4

    def _list_namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        conditions = op.match_conditions or ()
        matching = (
            path[: op.max_depth]
            for path in self.memory.items.paths()
            if all(_fits(path, condition) for condition in conditions)
        )
        return sorted(set(matching))[op.offset : op.offset + op.limit]

    def _write(self, ops: list[PutOp]) -> None:
        now = self.memory.now()
        self._put([self._new_item(op, now) for op in ops if op.value is not None])
        for op in ops:
            if op.value is None:
                self.memory.items.delete(op.namespace, op.key)
        if time.monotonic() - self._swept >= self._sweep_every:
            self.sweep_ttl()

    def _put(self, items: list[NewItem]) -> None:
        try:
            self.memory.items.put(items)
        except InvalidInputError as error:
            if error.argument != "metadata":
                raise
            raise InvalidInputError(
                error.message.replace("metadata", "a value", 1), argument="value"
            ) from None

    def _new_item(self, op: PutOp, now: datetime) -> NewItem:
        if not isinstance(op.value, Mapping):
            raise InvalidInputError(
                f"a value must be a mapping, not {type(op.value).__name__}", argument="value"
            )
        value = dict(op.value)
        fields = self._fields if op.index is None else op.index
        text = "" if fields is False else text_of(value, fields or None)
        before = self.memory.items.get(op.namespace, op.key)
        created = now if before is None else _fields_of(before)["created_at"]
        return NewItem(
            path=op.namespace,
            key=op.key,
            text=text if text.strip() else _NOTHING,
            recalled=bool(text.strip()),
            timestamp=now,
            # Each item is a document of its own: what stands beside it says nothing about it.
            source="/".join((*op.namespace, op.key))[:_LONGEST_SOURCE],
            metadata={"value": value, "created_at": created.isoformat(), "ttl": op.ttl},
            expires_at=_after(now, op.ttl),
        )

    def _refresh(self, kept: Iterable[Passage]) -> None:
        now = self.memory.now()
        moments = {
            it.id: _after(now, it.metadata.get("ttl")) for it in kept if it.expires_at is not None
        }
        if moments:
            self.memory.expire(moments)


def _after(now: datetime, minutes: float | None) -> datetime | None:
    if minutes is None:
        return None
    try:
        return now + timedelta(minutes=minutes)
    except (OverflowError, TypeError, ValueError):
        raise InvalidInputError(
            f"ttl must be a number of minutes, not {minutes!r}", argument="ttl"
        ) from None


def _value_of(kept: Passage) -> dict[str, Any]:
    """The value of an item; of one that no store wrote, its text and metadata."""
    value = kept.metadata.get("value")
    return dict(value) if isinstance(value, dict) else {"text": kept.text, **kept.metadata}


def _fields_of(kept: Passage) -> dict[str, Any]:
    """The arguments of an ``Item``."""
    updated = kept.timestamp or datetime.fromtimestamp(0, UTC)
    created = kept.metadata.get("created_at")
    return {
        "value": _value_of(kept),
        "key": kept.key,
        "namespace": kept.path,
        "created_at": datetime.fromisoformat(created) if isinstance(created, str) else updated,
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
    part: Iterator[str] = iter(
        path[: len(wanted)] if condition.match_type == "prefix" else path[len(path) - len(wanted) :]
    )
    return all(label in ("*", one) for label, one in zip(wanted, part, strict=True))
