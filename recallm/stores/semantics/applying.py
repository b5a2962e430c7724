"""`GraphStore.apply`, `amend` and `restore`: which updates are written, joined or refused."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from recallm.errors import (
    ConflictError,
    DimensionError,
    EmbeddingModelError,
    InvalidInputError,
    RecallMError,
    UnknownEntityError,
    UnknownPassageError,
)
from recallm.model import (
    NO_SESSION,
    AddVectors,
    Amendment,
    OpenSession,
    PreparedUpdate,
    Selection,
    SetExpiry,
    StatementVector,
    Summary,
    Withdraw,
    WriteSummary,
    decide_session,
    is_message,
    session_key_of,
    statement_key,
    t_index_of,
)
from recallm.stores.base import SWEPT_PASSAGES, Applied
from recallm.stores.semantics.cutting import without_unknown
from recallm.stores.semantics.forgetting import close_session, forget_updates
from recallm.stores.semantics.rows import (
    Changes,
    Keys,
    NamespaceTotals,
    Rows,
    stored_session_key,
    t_of,
)
from recallm.stores.semantics.writing import UpdateWriter, antecedents, keys_of

_PORTION = 4000
"""Updates and their statements that a restore writes at a time, about."""


def apply_updates(
    rows: Rows, updates: Sequence[PreparedUpdate], *, now: datetime | None = None
) -> list[Applied]:
    """See `GraphStore.apply`."""
    batch = _Batch(rows, updates, now)
    applied: list[Applied] = []
    for index, update in enumerate(updates):
        try:
            applied.append(batch.take(index, update))
        except RecallMError:
            # The error of an earlier update comes first: a triplet may name no entity.
            batch.write()
            raise
    batch.write()
    return applied


def amend(rows: Rows, amendment: Amendment) -> int:
    """See `GraphStore.amend`."""
    match amendment:
        case AddVectors():
            return _add_vectors(rows, amendment)
        case SetExpiry(expires_at=expires_at):
            opened = rows.open(ids=expires_at.keys())
            updates = rows.updates([t for t, _ in opened.passages.values()])
            passages = [(u, replace(u, expires_at=expires_at[u.id])) for u in updates]
            _change_passages(rows, opened.totals, passages)
            return len(passages)
        case Withdraw(ids=ids, undo=undo):
            opened = rows.open(ids=set(ids))
            ts = [t for id, (t, _) in opened.passages.items() if (id in opened.withdrawn) is undo]
            opened.totals.t += bool(ts) and not undo
            _withdraw(rows, opened.totals, ts, None if undo else opened.totals.t)
            return len(ts)
        case WriteSummary(summary=summary, statements=statements):
            namespace = rows.open().totals
            row = rows.look_up(Keys(concepts={summary.concept})).concepts.get(summary.concept)
            if row is None or (row.t_index, row.statements) != (summary.t_index, statements):
                return 0
            rows.write(Changes(namespace=namespace, summaries=[summary]))
            return 1


def _withdraw(
    rows: Rows, namespace: NamespaceTotals, ts: Collection[int], withdrawn_t: int | None
) -> None:
    """Withdraw the passages at these t, or undo it (None). Summaries that cover them say too much,
    or too little."""
    updates = rows.updates(ts)
    passages = [(update, replace(update, withdrawn_t=withdrawn_t)) for update in updates]
    _change_passages(rows, namespace, passages)
    first: dict[str, int] = {}
    for update in updates:
        for mention in (said for statement in update.statements for said in statement.concepts):
            first.setdefault(mention.name, t_of(update))
    if first:
        rows.drop_summaries(first)


def _change_passages(
    rows: Rows, namespace: NamespaceTotals, passages: list[tuple[PreparedUpdate, PreparedUpdate]]
) -> None:
    """Write passages (before, after) whose statements stay as they are."""
    if passages:
        rows.look_up(keys_of(before for before, _ in passages))
        rows.write(Changes(namespace=namespace, passages=[*passages]))


def _add_vectors(rows: Rows, amendment: AddVectors) -> int:
    namespace = rows.open().totals
    passages: list[tuple[PreparedUpdate, PreparedUpdate]] = []
    added = 0
    for update in rows.updates({t_index_of(key) for key in amendment.vectors}):
        bare = {s.position for s in update.statements} - {v.position for v in update.vectors}
        given = [
            StatementVector(position=position, model=amendment.model, blob=blob)
            for position in sorted(bare)
            if (blob := amendment.vectors.get(statement_key(t_of(update), position)))
        ]
        if given:
            passages.append((update, replace(update, vectors=(*update.vectors, *given))))
            added += len(given)
    for _, after in passages:
        _pin_vectors_of(namespace, after)
    namespace.revision += bool(passages)
    _change_passages(rows, namespace, passages)
    return added


def _pin_vectors_of(namespace: NamespaceTotals, update: PreparedUpdate) -> None:
    """Compare the vectors of an update with those before it; note what is new.

    All statement vectors of a namespace are of one model, and all vectors under a model have one
    size: those of the first that was written, also where that one was forgotten.

    Raises:
        EmbeddingModelError: a statement's vector is of another model than those before it.
        DimensionError: a vector has another size than those under its model.
    """
    for vector in update.vectors:
        if namespace.model is None:
            namespace.model = vector.model
            namespace.origin = namespace.origin or uuid.uuid4().hex
        if vector.model != namespace.model:
            raise EmbeddingModelError(stored=namespace.model, given=vector.model)
    for vector in update.vectors:
        _pin_size(namespace, vector.model, vector.blob)
    for entity in update.entities:
        for model, blob in entity.vectors.items():
            _pin_size(namespace, model, blob)


def _pin_size(namespace: NamespaceTotals, model: str, blob: bytes) -> None:
    size = namespace.vector_sizes.setdefault(model, len(blob))
    if len(blob) != size:
        raise DimensionError(model, expected=size // 2, found=len(blob) // 2)


def _with_session(
    namespace: NamespaceTotals, update: PreparedUpdate, has_statements: Callable[[str], bool]
) -> PreparedUpdate:
    """The numbered ``update`` with its session key (``recallm.model.keys``). ``namespace`` notes
    which session is open; ``has_statements`` says whether a session key has statements."""
    decided = decide_session(update, t_of(update), namespace.open_session, has_statements)
    namespace.open_session = decided.open_session
    return replace(update, session_key=decided.key or NO_SESSION)


class _Batch:
    """The updates that are taken and not yet written, and the passages that they replace.

    Replaced passages are forgotten before the pending updates are written. For passages the order
    makes no difference; for entities it does (a triplet goes with its entity): pending entities and
    triplets are written before more is forgotten.
    """

    def __init__(self, rows: Rows, updates: Sequence[PreparedUpdate], now: datetime | None) -> None:
        opened = rows.open(
            ids=antecedents(updates).union(
                update.id for update in updates if update.text is not None or update.id
            ),
            items={
                (update.path, update.key)
                for update in updates
                if update.text is not None and update.key is not None
            },
            now=now,
        )
        self._rows = rows
        self._namespace = opened.totals
        self._passages = opened.passages
        self._withdrawn = opened.withdrawn
        self._items = opened.items
        self._item_of = {t: item for item, kept in opened.items.items() for t in kept}
        self._writer = UpdateWriter(rows, opened.totals)
        self._pending: list[PreparedUpdate] = []
        self._doomed: set[int] = set()
        self._updates = updates
        self._begun: set[str] | None = None
        if opened.has_expired and updates and now is not None:
            self._sweep(now)

    def _sweep(self, now: datetime) -> None:
        """Doom passages that have expired."""
        expired = self._rows.select(Selection(kind="expired", value=now))
        ids = {update.id for update in self._updates} & self._passages.keys()
        named = {self._passages[id][0] for id in ids}
        self._doomed = {*expired[:SWEPT_PASSAGES], *named.intersection(expired)}
        for t_index in self._doomed:
            close_session(self._namespace, t_index)
            if item := self._item_of.pop(t_index, None):
                del self._items[item][t_index]
        self._passages = {
            id: stored for id, stored in self._passages.items() if stored[0] not in self._doomed
        }

    def take(self, index: int, update: PreparedUpdate) -> Applied:
        """Number an update, and mark what it replaces to be forgotten.

        Raises:
            ConflictError, UnknownPassageError, EmbeddingModelError, DimensionError: see `apply`.
        """
        stored = self._passages.get(update.id) if update.text is not None or update.id else None
        if update.text is None:
            if update.id and stored is None:
                raise UnknownPassageError(update.id)
            _pin_vectors_of(self._namespace, update)
            return self._add(update, joins=None if stored is None else stored[0])
        if stored is not None and stored[1] == update.text:
            if update.id in self._withdrawn:
                _withdraw(self._rows, self._namespace, [stored[0]], None)
                self._withdrawn.remove(update.id)
            return Applied(t_index=stored[0], duplicate=True)
        if stored is not None and not update.replaces:
            raise ConflictError(update.id, index=index)
        _pin_vectors_of(self._namespace, update)
        replaced = {} if stored is None else {stored[0]: update.id}
        item = None if update.key is None else (update.path, update.key)
        if item is not None:
            replaced |= self._items.get(item, {})
        if replaced:
            self._replace(replaced)
        are_known = antecedents([update]) <= self._passages.keys()
        known = update if are_known else without_unknown(update, self._passages)
        applied = self._add(known, joins=None)
        self._passages[update.id] = applied.t_index, update.text
        if item is not None:
            self._items.setdefault(item, {})[applied.t_index] = update.id
            self._item_of[applied.t_index] = item
        return applied

    def write(self) -> None:
        """Forget what is replaced, and write all pending updates.

        Raises:
            UnknownEntityError: a triplet names an entity that does not exist.
        """
        if self._doomed:
            forget_updates(self._rows, self._namespace, self._doomed)
            self._doomed = set()
        if self._pending:
            self._writer.write(self._pending)
            self._pending = []
        self._begun = None

    def _add(self, update: PreparedUpdate, *, joins: int | None) -> Applied:
        if joins is not None:
            if update.elements:
                self._pending.append(replace(update, t_index=joins))
            return Applied(t_index=joins)
        self._namespace.t += 1
        numbered = replace(update, t_index=self._namespace.t)
        numbered = _with_session(self._namespace, numbered, self._has_statements)
        self._pending.append(numbered)
        if self._begun is not None and numbered.statements:
            self._begun.add(stored_session_key(numbered) or "")
        return Applied(t_index=self._namespace.t)

    def _replace(self, replaced: Mapping[int, str]) -> None:
        """Doom the passages at some t (→ id); those that are pending are never written."""
        if any(update.elements for update in self._pending):
            self.write()
        self._begun = None
        pending = {update.t_index for update in self._pending}
        self._pending = [update for update in self._pending if update.t_index not in replaced]
        for t_index, id in replaced.items():
            close_session(self._namespace, t_index)
            if t_index not in pending:
                self._doomed.add(t_index)
            self._passages.pop(id, None)
            if item := self._item_of.pop(t_index, None):
                del self._items[item][t_index]
        self._pending = [without_unknown(update, self._passages) for update in self._pending]

    def _has_statements(self, session_key: str) -> bool:
        """Whether the session of a message's source has statements, stored or pending."""
        if self._doomed:
            self.write()
        if self._begun is None:
            sources = {update.source for update in self._updates if is_message(update)}
            keys = {session_key_of(None, source) or "" for source in sources}
            stored = self._rows.look_up(Keys(sessions=keys)).sessions
            self._begun = {key for key, totals in stored.items() if totals.statements}
            self._begun |= {
                stored_session_key(update) or "" for update in self._pending if update.statements
            }
        return session_key in self._begun


def restore_records(
    rows: Rows, namespace: str, t_index: int, records: Iterable[PreparedUpdate | Summary]
) -> int:
    """See `GraphStore.restore`."""
    totals = rows.open().totals
    if totals.t > 0:
        raise InvalidInputError(
            f"namespace {namespace!r} was written before; restore into a new one",
            argument="namespace",
        )
    writer = UpdateWriter(rows, totals, late_entities=True)
    pending: list[PreparedUpdate] = []
    size = 0
    summaries: list[Summary] = []
    written = 0
    passages: set[str] = set()
    for record in records:
        if isinstance(record, Summary):
            summaries.append(record)
        elif record.text is not None or record.elements:
            record = without_unknown(record, passages)
            pending.append(_numbered(totals, record))
            size += 1 + len(record.statements)
            passages.add(record.id)
            written += 1
        if size >= _PORTION:
            writer.write(pending)
            pending, size = [], 0
    totals.t = max(t_index, totals.t)
    if pending:
        writer.write(pending)
    if writer.missing:
        raise UnknownEntityError(min(writer.missing))
    known = rows.look_up(Keys(concepts={s.concept for s in summaries})).concepts
    for summary in summaries:
        if summary.concept not in known:
            raise InvalidInputError(
                f"a summary is of {summary.concept!r}, which no update mentions",
                argument="records",
            )
    rows.write(Changes(namespace=totals, summaries=summaries))
    return written


def _numbered(namespace: NamespaceTotals, update: PreparedUpdate) -> PreparedUpdate:
    """An update of an archive, checked, with its session key; it moves the counter on.

    Raises:
        InvalidInputError: the updates do not ascend by t.
        EmbeddingModelError, DimensionError: see `_pin_vectors_of`.
    """
    if update.t_index is None or update.t_index <= namespace.t:
        raise InvalidInputError(
            f"update {update.id!r} has t_index {update.t_index!r} after {namespace.t}; an "
            "archive's updates ascend by it",
            argument="records",
        )
    _pin_vectors_of(namespace, update)
    namespace.t = update.t_index
    if update.text is None:
        update = replace(update, id="")
    said, key = update.timestamp, update.session_key
    if key is not None and said is not None:  # the archive says the session of a message
        namespace.open_session = OpenSession(t_of(update), key, said, update.source)
    elif is_message(update):
        namespace.open_session = None
    else:
        return _with_session(namespace, update, lambda _: False)
    return update
