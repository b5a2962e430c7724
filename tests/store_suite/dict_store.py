"""``DictStore``: the graph store in plain dicts that the other stores are tested against.

It is the shortest way to say what the contract says, not a fast one: a namespace is the list of
its updates and what was merged into entities, triplets and summaries. ``forget`` edits that list;
everything else is derived afresh at each read (``tests.store_suite.dict_reader``).
"""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from recallm.errors import (
    ClosedError,
    ConflictError,
    DimensionError,
    EmbeddingModelError,
    InvalidInputError,
    UnknownEntityError,
    UnknownPassageError,
)
from recallm.model import (
    AddVectors,
    Amendment,
    Forgotten,
    Horizon,
    PreparedUpdate,
    Selection,
    SetExpiry,
    StatementVector,
    Summary,
    Withdraw,
    WriteSummary,
    statement_key,
)
from recallm.stores.base import SWEPT_PASSAGES, Applied
from tests.store_suite.dict_forgetting import difference, drop_summary, forget, without_references
from tests.store_suite.dict_namespace import (
    Namespace,
    ends_of,
    is_empty,
    is_item,
    session_keys_of,
    t_of,
)
from tests.store_suite.dict_reader import DictReader

_ALL = Horizon()


class DictStore:
    """A ``GraphStore`` in memory. A write works on a copy that takes the place of the old
    namespace at its end: readers keep what they opened, and a failure leaves nothing behind."""

    def __init__(self) -> None:
        self._namespaces: dict[str, Namespace] = {}
        self._lock = threading.RLock()
        self._closed = False

    def apply(
        self, namespace: str, updates: Sequence[PreparedUpdate], *, now: datetime | None = None
    ) -> list[Applied]:
        with self._write(namespace) as draft:
            if updates and now is not None:
                _sweep(draft, {update.id for update in updates}, now)
            return [_apply(draft, update, index) for index, update in enumerate(updates)]

    @contextmanager
    def reader(self, namespace: str, horizon: Horizon = _ALL) -> Generator[DictReader, None, None]:
        self._check_open()
        yield DictReader(self._namespaces.get(namespace, Namespace()), horizon)

    def amend(self, namespace: str, amendment: Amendment) -> int:
        with self._write(namespace) as draft:
            match amendment:
                case AddVectors():
                    return _add_vectors(draft, amendment)
                case SetExpiry():
                    return _set_expiry(draft, amendment)
                case Withdraw():
                    return _withdraw(draft, amendment)
                case WriteSummary():
                    return _write_summary(draft, amendment)

    def forget(self, namespace: str, selection: Selection) -> Forgotten:
        with self._write(namespace) as draft:
            before = draft.copy()
            after = draft.copy() if selection.dry_run else draft
            forget(after, selection)
            return difference(before, after)

    def restore(
        self, namespace: str, t_index: int, records: Iterable[PreparedUpdate | Summary]
    ) -> int:
        with self._write(namespace) as draft:
            if draft.counter > 0 or not draft.holds_nothing():
                raise InvalidInputError(
                    f"namespace {namespace!r} was written before; restore into a new one",
                    argument="namespace",
                )
            for record in records:
                if isinstance(record, Summary):
                    draft.summaries[record.concept] = record
                else:
                    _check_vectors(draft, record)
                    record = without_references(record, lambda _, id: not _has_passage(draft, id))
                    _write_update(draft, record, restored=True)
            for subject, _, object in draft.triplets:
                _check_known(draft, subject, object)
            draft.counter = t_index
            return len(draft.updates)

    def namespaces(self) -> list[str]:
        self._check_open()
        return sorted(
            name
            for name, held in self._namespaces.items()
            if held.counter > 0 or not held.holds_nothing()
        )

    def close(self) -> None:
        self._closed = True

    def _check_open(self) -> None:
        if self._closed:
            raise ClosedError

    @contextmanager
    def _write(self, namespace: str) -> Generator[Namespace, None, None]:
        self._check_open()
        with self._lock:
            before = self._namespaces.get(namespace, Namespace())
            draft = before.copy()
            yield draft
            draft.vocabulary += draft.predicates().keys() != before.predicates().keys()
            self._namespaces[namespace] = draft


def _sweep(draft: Namespace, ids: Collection[str], now: datetime) -> None:
    """Forget passages that have expired: the first of them, and those with these ids."""
    expired = sorted(
        (update.expires_at, t_of(update), update.id)
        for update in draft.updates
        if update.text is not None and update.expires_at is not None and update.expires_at <= now
    )
    swept = {id for _, _, id in expired[:SWEPT_PASSAGES]}
    forget(draft, Selection(kind="expired", value=now), among=swept.union(ids))


def _apply(draft: Namespace, update: PreparedUpdate, index: int) -> Applied:
    stored = next((u for u in draft.updates if u.text is not None and u.id == update.id), None)
    if update.text is not None and stored is not None:
        if stored.text == update.text:
            _withdraw(draft, Withdraw(ids=[update.id], undo=True))
            return Applied(t_index=t_of(stored), duplicate=True)
        if not update.replaces:
            raise ConflictError(update.id, index=index)
    joins = update.text is None and update.id != ""
    if joins and stored is None:
        raise UnknownPassageError(update.id)
    _check_vectors(draft, update)
    if joins and stored is not None:
        return _join(draft, update, stored)
    if update.text is not None and stored is not None:
        forget(draft, Selection(kind="id", value=update.id))
    if update.text is not None and update.key is not None:
        for stored in list(draft.updates):
            if is_item(stored, update.path, update.key):
                forget(draft, Selection(kind="id", value=stored.id))
    draft.counter += 1
    update = without_references(update, lambda _, id: not _has_passage(draft, id))
    _write_update(draft, replace(update, t_index=draft.counter, session_key=None))
    for triplet in update.triplets:
        _check_known(draft, triplet.subject, triplet.object)
    return Applied(t_index=draft.counter)


def _join(draft: Namespace, update: PreparedUpdate, stored: PreparedUpdate) -> Applied:
    """Write entities and triplets as if they had come with ``stored``."""
    update = _merge(draft, update)
    draft.updates[draft.updates.index(stored)] = replace(
        stored,
        entities=(*stored.entities, *update.entities),
        triplets=(*stored.triplets, *update.triplets),
    )
    for triplet in update.triplets:
        _check_known(draft, triplet.subject, triplet.object)
    return Applied(t_index=t_of(stored))


def _check_vectors(draft: Namespace, update: PreparedUpdate) -> None:
    """Hold the vectors of an update to the model and the sizes of those before them."""
    for vector in update.vectors:
        if draft.vector_model is None:
            draft.vector_model = vector.model
            draft.vector_origin = draft.vector_origin or uuid.uuid4().hex
        if vector.model != draft.vector_model:
            raise EmbeddingModelError(stored=draft.vector_model, given=vector.model)
    told = [(vector.model, vector.blob) for vector in update.vectors]
    told += [vector for entity in update.entities for vector in entity.vectors.items()]
    for model, blob in told:
        size = draft.vector_sizes.setdefault(model, len(blob))
        if len(blob) != size:
            raise DimensionError(model, expected=size // 2, found=len(blob) // 2)


def _write_update(draft: Namespace, update: PreparedUpdate, *, restored: bool = False) -> None:
    update = _merge(draft, update)
    update = replace(update, metadata=_own(update.metadata), replaces=False)
    if update.text is None:
        update = PreparedUpdate(
            id="",
            text=None,
            entities=update.entities,
            triplets=update.triplets,
            t_index=update.t_index,
        )
    if update.text is not None and update.timestamp is not None and update.session is None:
        key = _derived_session(draft, update, update.timestamp, restored=restored)
        update = replace(update, session_key=key)
    if not is_empty(update):
        draft.updates.append(update)


def _derived_session(
    draft: Namespace, update: PreparedUpdate, said: datetime, *, restored: bool
) -> str | None:
    """The session key that follows from time, or that an archive says; None where the source of
    the update names its session."""
    is_document = update.speaker is None or update.key is not None
    if update.source is not None and is_document:
        return None
    key, own = update.session_key, f"={update.source}"
    never = datetime.min.replace(tzinfo=UTC)
    _, continued, last, source = draft.open_session or (0, "", never, None)
    if update.source is not None and key is None:
        keys = session_keys_of(update for update in draft.updates if update.statements)
        if restored or source == update.source or own in keys.values():
            draft.open_session = None
            return None
    if key is None:
        key = own if update.source is not None else f"@{t_of(update)}"
        if continued and abs(said - last) < timedelta(hours=1):
            key = continued
    draft.open_session = t_of(update), key, said, update.source
    return None if key == own and update.source is not None else key


def _merge(draft: Namespace, update: PreparedUpdate) -> PreparedUpdate:
    """Note the vectors and the triplets of an update; the update with copies of its properties."""
    known = {entity.id for stored in draft.updates for entity in stored.entities}
    for told in sorted(update.entities, key=lambda told: told.position):
        if told.id not in known or not told.mentioned:
            vectors = {**draft.entity_vectors.get(told.id, {}), **told.vectors}
            draft.entity_vectors[told.id] = vectors
        known.add(told.id)
    draft.triplets |= set(map(ends_of, update.triplets))
    return replace(
        update,
        entities=tuple(replace(e, properties=_own(e.properties)) for e in update.entities),
        triplets=tuple(replace(t, properties=_own(t.properties)) for t in update.triplets),
    )


def _has_passage(draft: Namespace, id: str | None) -> bool:
    """Whether there is a passage with this id; None, its own passage, is always there."""
    return id is None or any(u.text is not None and u.id == id for u in draft.updates)


def _check_known(draft: Namespace, *ids: str) -> None:
    for id in ids:
        if not any(entity.id == id for u in draft.updates for entity in u.entities):
            raise UnknownEntityError(id)


def _add_vectors(draft: Namespace, amendment: AddVectors) -> int:
    given = 0
    for place, update in enumerate(draft.updates):
        have = {vector.position for vector in update.vectors}
        new = tuple(
            StatementVector(
                position=statement.position, model=amendment.model, blob=amendment.vectors[key]
            )
            for statement in update.statements
            if (key := statement_key(t_of(update), statement.position)) in amendment.vectors
            and statement.position not in have
        )
        if new:
            _check_vectors(draft, replace(update, vectors=new, entities=()))
            draft.updates[place] = replace(update, vectors=(*update.vectors, *new))
        given += len(new)
    draft.vector_revision += given > 0
    return given


def _set_expiry(draft: Namespace, amendment: SetExpiry) -> int:
    found = 0
    for place, update in enumerate(draft.updates):
        if update.text is not None and update.id in amendment.expires_at:
            draft.updates[place] = replace(update, expires_at=amendment.expires_at[update.id])
            found += 1
    return found


def _withdraw(draft: Namespace, amendment: Withdraw) -> int:
    t_index = draft.counter + 1
    found = 0
    for place, update in enumerate(draft.updates):
        chosen = update.text is not None and update.id in amendment.ids
        if chosen and (update.withdrawn_t is not None) is amendment.undo:
            withdrawn_t = None if amendment.undo else t_index
            draft.updates[place] = replace(update, withdrawn_t=withdrawn_t)
            for concept in (
                concept for statement in update.statements for concept in statement.concepts
            ):
                drop_summary(draft, concept.name, update)
            found += 1
    if found and not amendment.undo:
        draft.counter = t_index
    return found


def _write_summary(draft: Namespace, amendment: WriteSummary) -> int:
    summary = amendment.summary
    rows = DictReader(draft, Horizon(withdrawn=True)).concepts([summary.concept])
    if [(row.t_index, row.statements) for row in rows] != [(summary.t_index, amendment.statements)]:
        return 0
    draft.summaries[summary.concept] = summary
    return 1


def _own(value: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of JSON values that the caller cannot change any more."""
    copied: dict[str, Any] = json.loads(json.dumps(dict(value)))
    return copied
