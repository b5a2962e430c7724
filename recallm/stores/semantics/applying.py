"""`GraphStore.apply`, `amend`, `forget` and `restore`: what is written, and what changes."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

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
    ElementKey,
    Forgotten,
    GraphNames,
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
    parse_statement_id,
    session_key_of,
    statement_key,
    t_index_of,
)
from recallm.stores.base import SWEPT_PASSAGES, Applied
from recallm.stores.semantics.cutting import cut, without_concept, without_unknown
from recallm.stores.semantics.rows import (
    Changes,
    Keys,
    NamespaceTotals,
    Rows,
    stored_session_key,
    t_of,
)
from recallm.stores.semantics.writing import Ledger, antecedents, close_session

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
            ts = {t for t, *_ in opened.passages.values()}
            ledger = Ledger(rows, opened.totals)
            ledger.change(ts, lambda update: replace(update, expires_at=expires_at[update.id]))
            return len(ts)
        case Withdraw(ids=ids, undo=undo):
            opened = rows.open(ids=set(ids))
            found = opened.passages.values()
            ts = {t for t, _, since in found if (since is not None) is undo}
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
    rows: Rows, namespace: NamespaceTotals, ts: Iterable[int], withdrawn_t: int | None
) -> None:
    """Withdraw the passages at these t, or undo it (None)."""
    ledger = Ledger(rows, namespace)
    ledger.change(ts, lambda update: replace(update, withdrawn_t=withdrawn_t))
    ledger.settle()


def _add_vectors(rows: Rows, amendment: AddVectors) -> int:
    namespace = rows.open().totals
    added = 0

    def with_vectors(update: PreparedUpdate) -> PreparedUpdate:
        nonlocal added
        bare = {s.position for s in update.statements} - {v.position for v in update.vectors}
        given = [
            StatementVector(position=position, model=amendment.model, blob=blob)
            for position in sorted(bare)
            if (blob := amendment.vectors.get(statement_key(t_of(update), position)))
        ]
        if not given:
            return update
        added += len(given)
        update = replace(update, vectors=(*update.vectors, *given))
        _pin_vectors_of(namespace, update)
        return update

    Ledger(rows, namespace).change({t_index_of(key) for key in amendment.vectors}, with_vectors)
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
    blobs = [(vector.model, vector.blob) for vector in update.vectors]
    for entity in update.entities:
        blobs += entity.vectors.items()
    for model, blob in blobs:
        size = namespace.vector_sizes.setdefault(model, len(blob))
        if len(blob) != size:
            raise DimensionError(model, expected=size // 2, found=len(blob) // 2)


def _write_new(
    rows: Rows,
    namespace: NamespaceTotals,
    updates: Iterable[PreparedUpdate],
    missing: set[str] | None = None,
) -> None:
    ledger = Ledger(rows, namespace, missing=missing)
    ledger.write((None, update) for update in updates)
    ledger.settle()


class _Batch:
    """The updates that are taken and not yet written, and the passages that they replace.

    Replaced passages are forgotten before the pending updates are written. Where that would change
    what is written (a triplet goes with its entity, a mention with the passage that it refers to),
    the pending updates are written first.
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
        self._opened = opened
        self._namespace = opened.totals
        self._passages = opened.passages
        self._pending: list[PreparedUpdate] = []
        self._referred: set[str] = set()
        """The ids of the passages that pending updates refer to."""
        self._doomed: set[int] = set()
        self._updates = updates
        self._begun: set[str] | None = None
        if opened.has_expired and updates and now is not None:
            self._sweep(now)

    def _sweep(self, now: datetime) -> None:
        """Doom passages that have expired."""
        expired = self._rows.select(Selection(kind="expired", value=now))
        ids = {update.id for update in self._updates} & self._passages.keys()
        named = {self._passages[id][0] for id in ids}.intersection(expired)
        known = {t: id for id, (t, *_) in self._passages.items()}
        doomed = (*expired[:SWEPT_PASSAGES], *named)
        self._replace({t: known.get(t, "") for t in doomed})

    def take(self, index: int, update: PreparedUpdate) -> Applied:
        """Number an update, and mark what it replaces to be forgotten.

        Raises:
            ConflictError, UnknownPassageError, EmbeddingModelError, DimensionError: see `apply`.
        """
        stored_t, stored_text, withdrawn_t = self._passages.get(update.id, (0, None, None))
        if update.text is None:
            if update.id and not stored_t:
                raise UnknownPassageError(update.id)
            _pin_vectors_of(self._namespace, update)
            if not update.id:
                return self._add(update)
            if update.elements:
                self._pending.append(replace(update, t_index=stored_t))
            return Applied(t_index=stored_t)
        if stored_text == update.text:
            if withdrawn_t is not None:
                _withdraw(self._rows, self._namespace, [stored_t], None)
                self._passages[update.id] = stored_t, update.text, None
            return Applied(t_index=stored_t, duplicate=True)
        if stored_t and not update.replaces:
            raise ConflictError(update.id, index=index)
        _pin_vectors_of(self._namespace, update)
        replaced = {stored_t: update.id} if stored_t else {}
        item = None if update.key is None else (update.path, update.key)
        if item is not None:
            replaced |= self._opened.items.pop(item, {})
        if replaced:
            self._replace(replaced)
        applied = self._add(without_unknown(update, self._passages))
        self._passages[update.id] = applied.t_index, update.text, None
        if item is not None:
            self._opened.items[item] = {applied.t_index: update.id}
        return applied

    def write(self) -> None:
        """Forget what is replaced, and write all pending updates.

        Raises:
            UnknownEntityError: a triplet names an entity that does not exist.
        """
        if self._doomed:
            ledger = Ledger(self._rows, self._namespace)
            ledger.change(self._doomed, lambda _: None)
            ledger.settle()
        if self._pending:
            _write_new(self._rows, self._namespace, self._pending)
        self._doomed, self._pending, self._begun = set(), [], None
        self._referred.clear()

    def _add(self, update: PreparedUpdate) -> Applied:
        namespace = self._namespace
        namespace.t += 1
        key, namespace.open_session = decide_session(
            update, namespace.t, namespace.open_session, self._has_statements
        )
        self._pending.append(replace(update, t_index=namespace.t, session_key=key or NO_SESSION))
        self._referred |= antecedents([update])
        if self._begun is not None and update.statements:
            self._begun.add(key or "")
        return Applied(t_index=namespace.t)

    def _replace(self, replaced: Mapping[int, str]) -> None:
        """Doom the passages at some t (→ id); those that are pending are never written."""
        ids = set(replaced.values())
        if ids & self._referred or any(update.elements for update in self._pending):
            self.write()
        self._begun = None
        self._doomed.update(replaced.keys() - {update.t_index for update in self._pending})
        self._pending = [update for update in self._pending if update.t_index not in replaced]
        for t_index, id in replaced.items():
            close_session(self._namespace, t_index)
            if self._passages.get(id, (0,))[0] == t_index:
                del self._passages[id]

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


class DryRun(Exception):
    """Ends the transaction of a dry run; ``forgotten`` is what the selection would have taken."""

    def __init__(self, forgotten: Forgotten) -> None:
        super().__init__()
        self.forgotten = forgotten


def forget(rows: Rows, selection: Selection) -> Forgotten:
    """See `GraphStore.forget`.

    Raises:
        DryRun: ``selection`` is a dry run; the store rolls back.
    """
    kind, value = selection.kind, selection.value
    id, position = parse_statement_id(str(value)) or ("", 0)
    opened = rows.open(ids=[id] if kind == "statement" else ())
    ledger = Ledger(rows, opened.totals)
    if isinstance(value, GraphNames):
        ledger.drop({*value.entities, *value.triplets})
    elif kind == "concept":
        name = str(value)
        # An entity on no concept has one without a name.
        keys, ids = rows.touching(name) if name else ([], [])
        elements: set[ElementKey] = {*ids, *rows.triplets_of(ids)}
        ts = {t_index_of(key) for key in keys} | ledger.showing(elements)
        ledger.change(ts, partial(without_concept, name=name, elements=elements))
    elif kind == "statement":
        ts = {t for t, *_ in opened.passages.values()}
        ledger.change(ts, lambda update: cut(update, {position}))
    elif kind != "everything":
        ledger.change(rows.select(selection), lambda _: None)
    if kind == "everything" and opened.totals.t:
        forgotten = _forget_everything(rows, opened.totals)
    else:
        forgotten = ledger.settle()
    if selection.dry_run:
        raise DryRun(forgotten)
    return forgotten


def _forget_everything(rows: Rows, namespace: NamespaceTotals) -> Forgotten:
    forgotten = rows.delete_everything()
    rows.write(
        Changes(
            namespace=NamespaceTotals(
                t=namespace.t,
                origin=namespace.origin,
                revision=namespace.revision + 1,
                vocabulary=namespace.vocabulary + 1,
            )
        )
    )
    return forgotten


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
    summaries: list[Summary] = []
    pending: list[PreparedUpdate] = []
    size = written = 0
    passages: set[str] = set()
    missing: set[str] = set()
    for record in records:
        if isinstance(record, Summary):
            summaries.append(record)
        elif record.text is not None or record.elements:
            pending.append(_numbered(totals, without_unknown(record, passages)))
            passages.add(record.id)
            size += 1 + len(record.statements)
            written += 1
        if size >= _PORTION:
            _write_new(rows, totals, pending, missing)
            pending, size = [], 0
    totals.t = max(t_index, totals.t)
    _write_new(rows, totals, pending, missing)
    if missing:
        raise UnknownEntityError(min(missing))
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
    """An update of an archive, checked; the counter moves on. The archive has the session keys that
    follow from time.

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
    said, key = update.timestamp, update.session_key
    if key is not None and said is not None:
        namespace.open_session = OpenSession(update.t_index, key, said, update.source)
    elif is_message(update):
        namespace.open_session = None
    return update if update.text is not None else replace(update, id="")
