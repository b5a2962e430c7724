"""``RecallMStore``: a LangGraph store inside one namespace of a memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
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

from langchain_recallm._item_text import is_number, recalled_text
from langchain_recallm._store_items import (
    BLOCK,
    NO_TEXT,
    accepted_items,
    check_filter,
    expiry,
    is_unread,
    item_arguments,
    likely_values,
    passes_filter,
    redacted_names,
    redacted_value,
    source_of,
    unread_last,
    value_of,
)
from recallm import InvalidInputError, NewItem, Passage, RecallM
from recallm.adapting import (
    Accept,
    MessageFilter,
    Redact,
    checked_memory,
    checks,
    in_thread,
    sync_in_thread,
)


class RecallMStore(BaseStore):
    """A LangGraph store whose items are remembered: its namespaces are paths inside the one
    namespace of ``memory``, and the texts in its values are recalled like any statement.

    ``search(…, query=…)`` ranks by recall: first the items that are relevant to the query, by the
    probability (``score``) of their best statement, 1 where the item is the query itself; then, as
    far as ``limit`` reaches, the others, the latest first, with 0; last those that recall does not
    read, without a score. Without a query: the latest first, without scores.

    A value is kept verbatim (JSON values). Recall reads the texts at the paths in ``index=`` of
    ``put`` (False: nothing), else at those in ``fields`` (``"$"``: the whole value), else all but
    bookkeeping: ids, encodings, hashes, times of writing, and fields that describe a text beside
    them ("role: user", but not "role: nurse").

    Items expire ``ttl`` minutes after they were last written, or read (``refresh_ttl``).
    Each put frees the room of up to 256 of them, ``sweep_ttl()`` of all. ``ttl`` is LangGraph's
    configuration of this; other than there, ``omit_expired`` is true where it is not given.

    ``redact`` and ``accept`` are those of ``RecallMMiddleware``. An item is found under the key
    that it was given, and shown under the redacted one. ``accept`` gets a message with the redacted
    text, the role "item", the key as its ``id``, and the ``path``; what stood under the key of a
    refused item stays. Where one of them fails, nothing of the batch is written.

    The reads of one ``batch`` see the state before its writes; the values are written in one
    transaction. Safe to use from several threads. ``from_conn_string`` opens a memory of its own.

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

    @classmethod
    def from_conn_string(
        cls,
        conn_string: str | os.PathLike[str],
        *,
        fields: Sequence[str] | None = None,
        ttl: TTLConfig | None = None,
        redact: Redact | None = None,
        accept: Accept | None = None,
        **memory: Any,
    ) -> _Opening:
        """A store over a memory of its own, in a ``with`` or ``async with`` statement (where it is
        opened and closed off the event loop).

        ``conn_string``: the path of an SQLite file, ":memory:", or a ``neo4j://`` or ``bolt://``
        URI. ``memory`` are further arguments of ``RecallM``: ``namespace``, ``auth``,
        ``embeddings`` and others.

        >>> with RecallMStore.from_conn_string(":memory:", ttl={"default_ttl": 60}) as store:
        ...     store.put(("users", "ann"), "food", {"memory": "Ann loves pizza"})
        ...     [item.key for item in store.search(("users",))]
        ['food']

        Raises (when it is entered):
            InvalidInputError: an argument cannot be used.
            StoreError: the store cannot be opened.

        """
        if "index" in memory:
            raise InvalidInputError(
                "from_conn_string takes no index: recall needs none. Give embeddings=…, and the "
                "paths that recall reads as fields=…",
                argument="index",
            )

        def opened() -> RecallMStore:
            owned = RecallM(conn_string, **memory)
            try:
                return cls(memory=owned, fields=fields, ttl=ttl, redact=redact, accept=accept)
            except BaseException:
                owned.close()
                raise

        return _Opening(opened)

    def __init__(
        self,
        *,
        memory: RecallM,
        fields: Sequence[str] | None = None,
        ttl: TTLConfig | None = None,
        redact: Redact | None = None,
        accept: Accept | None = None,
    ) -> None:
        self.memory = checked_memory(memory)
        self._filter = MessageFilter(redact=redact, accept=accept)
        self._fields = checks.optional(checks.strings, fields, "fields")
        self.ttl_config = _checked_ttl(ttl)
        keeps_expired = (self.ttl_config or {}).get("omit_expired") is False
        self._items = memory.items.with_expired() if keeps_expired else memory.items

    def setup(self) -> None:
        """Do nothing: the memory is ready. LangGraph's other stores create their tables here."""

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do operations; their results, in order."""
        listed = list(ops)
        for op in listed:
            validate_op_namespace(op)
        listed = [redacted_names(op, self._filter) for op in listed]
        puts = {(tuple(op.namespace), op.key): op for op in listed if isinstance(op, PutOp)}
        now = self.memory.now()
        items = accepted_items(
            [self._new_item(op, now) for op in puts.values() if op.value is not None], self._filter
        )
        deleted = [place for place, op in puts.items() if op.value is None]
        for place in deleted:
            self._items.get(*place)  # refuses an impossible key before anything is written
        refreshed: list[Passage] = []
        results: list[Result] = [self._read(op, refreshed) for op in listed]
        self._items.put(items)
        for place in deleted:
            self._items.delete(*place)
        self._refresh(refreshed)
        return results

    abatch = sync_in_thread(BaseStore.abatch)

    def sweep_ttl(self) -> int:
        """Free the room of expired passages in the memory's namespace; returns how many."""
        return self.memory.forget(expired=True).passages

    def _read(self, op: Op, refreshed: list[Passage]) -> Result:
        """The result of an operation; items whose expiry starts anew are added to ``refreshed``."""
        if isinstance(op, PutOp):
            return None
        if isinstance(op, GetOp):
            item = self._items.get(op.namespace, op.key)
            if item is None:
                return None
            if op.refresh_ttl:
                refreshed.append(item)
            return Item(**item_arguments(item))
        if isinstance(op, SearchOp):
            return self._search(op, refreshed)
        if isinstance(op, ListNamespacesOp):
            return self._list_namespaces(op)
        raise InvalidInputError(
            f"an operation must be a GetOp, PutOp, SearchOp or ListNamespacesOp, not "
            f"{type(op).__name__}",
            argument="ops",
        )

    def _search(self, op: SearchOp, refreshed: list[Passage]) -> list[SearchItem]:
        checks.whole(op.limit, "limit", least=0)
        checks.whole(op.offset, "offset", least=0)
        check_filter(op.filter)

        def is_found(item: Passage) -> bool:
            return passes_filter(value_of(item), op.filter)

        path, end = op.namespace_prefix, op.offset + op.limit
        likely = likely_values(op.filter, "value")
        found: dict[str, tuple[Passage, float | None]] = {}
        if op.query and op.limit:
            asked = self._filter.redacted(op.query)
            ranked = self._items.search(asked, path, limit=end, accept=is_found, likely=likely)
            found = {item.id: (item, score) for item, score in ranked}
        if len(found) < end and op.limit:
            accept = is_found if op.filter else None
            limit = end + len(found)  # the latest may be those that are found already
            if op.query:
                limit = -(-limit // BLOCK) * BLOCK
            latest = self._items.below(path, limit=limit, accept=accept, likely=likely)
            for item in unread_last(latest) if op.query else latest:
                score = 0.0 if op.query and not is_unread(item) else None
                found.setdefault(item.id, (item, score))
        page = list(found.values())[op.offset : end]
        if op.refresh_ttl:
            refreshed += [item for item, _ in page]
        return [SearchItem(**item_arguments(item), score=score) for item, score in page]

    def _list_namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        conditions = op.match_conditions or ()
        matching = (
            path[: op.max_depth]
            for path in self._items.paths()
            if all(_matches(path, condition) for condition in conditions)
        )
        return sorted(set(matching))[op.offset : op.offset + op.limit]

    def _new_item(self, op: PutOp, now: datetime) -> NewItem:
        value = checks.properties(op.value, "value")
        value = redacted_value(value, self._filter)
        if op.index is None:
            fields = self._fields
        else:
            fields = [] if op.index is False else checks.strings(op.index, "index")
        text = recalled_text(value, fields)
        before = self._items.get(op.namespace, op.key)
        created = now if before is None else item_arguments(before)["created_at"]
        return NewItem(
            path=tuple(op.namespace),
            key=op.key,
            text=text if text.strip() else NO_TEXT,
            recalled=bool(text.strip()),
            timestamp=now,
            # Each item is a document of its own: other items are no context for it.
            source=source_of(op.namespace, op.key),
            metadata={"value": value, "created_at": created.isoformat(), "ttl": op.ttl},
            expires_at=expiry(now, op.ttl),
        )

    def _refresh(self, items: Iterable[Passage]) -> None:
        now = self.memory.now()
        expiries = {
            item.id: expiry(now, item.metadata["ttl"])
            for item in items
            if item.expires_at is not None and is_number(item.metadata.get("ttl"))
        }
        if expiries:
            self.memory.expire(expiries)


class _Opening:
    """A store whose memory is opened when the block begins, and closed when the block ends: in an
    ``async with`` off the event loop."""

    def __init__(self, open: Callable[[], RecallMStore]) -> None:
        self._open = open

    def __enter__(self) -> RecallMStore:
        self._store = self._open()
        return self._store

    def __exit__(self, *_: object) -> None:
        self._store.memory.close()

    __aenter__ = in_thread(__enter__)
    __aexit__ = in_thread(__exit__)


def _checked_ttl(ttl: object) -> TTLConfig | None:
    if ttl is None:
        return None
    if not isinstance(ttl, dict) or not (
        ttl.get("default_ttl") is None or is_number(ttl["default_ttl"])
    ):
        raise InvalidInputError(
            f"ttl must be LangGraph's TTLConfig, such as {{'default_ttl': 60}}, not {ttl!r}",
            argument="ttl",
        )
    return cast(TTLConfig, ttl)


def _matches(path: Sequence[str], condition: MatchCondition) -> bool:
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
