"""``GraphStore.forget`` as the oracle says it: what goes, and what was counted."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import datetime

from recallm.model import (
    EntityUpsert,
    Forgotten,
    GraphNames,
    Horizon,
    PreparedUpdate,
    Selection,
    TripletUpsert,
)
from recallm.stores.semantics.cutting import redact, without_entries
from tests.store_suite.dict_namespace import Namespace, ends_of, is_empty, t_of
from tests.store_suite.dict_reader import DictReader

_ALL = Horizon(withdrawn=True)


def forget(draft: Namespace, selection: Selection, *, among: Collection[str] | None = None) -> None:
    """Take the selection out of ``draft``, with everything that stood on it alone; of the passages
    those alone whose ids are ``among`` these."""
    before = sum(len(update.vectors) for update in draft.updates)
    spelling = _spelling(draft)
    for update in list(draft.updates):
        if among is None or update.id in among:
            _forget_statements(draft, update, selection)
    spelling = _drop_references(draft, spelling)
    if selection.kind == "concept":
        name = str(selection.value)
        ids = {id for id, entity in draft.entities().items() if name == entity.concept.name != ""}
        without = [_without_entities(update, name, ids) for update in draft.updates]
        draft.updates = [update for update in without if update is not None]
    if isinstance(selection.value, GraphNames):
        draft.triplets -= selection.value.triplets
        _drop_what_nothing_shows(draft, selection.value.entities)
    else:
        _drop_what_nothing_shows(draft)
    # A passage that went with its last entity may have been what a mention refers to.
    while _spelling(draft) != spelling:
        spelling = _drop_references(draft, spelling)
        _drop_what_nothing_shows(draft)
    if selection.kind == "everything":
        draft.vector_sizes.clear()
        draft.vector_model = None
        draft.vector_revision += 1
        draft.open_session = None
    elif sum(len(update.vectors) for update in draft.updates) < before:
        draft.vector_revision += 1
    if draft.open_session and draft.open_session[0] not in map(t_of, draft.updates):
        draft.open_session = None


def _selected(update: PreparedUpdate, selection: Selection) -> bool:
    """Whether the whole update is selected."""
    value = selection.value
    match selection.kind:
        case "before" if isinstance(value, datetime):
            said = update.timestamp
            return said is not None and said < value
        case "before":
            return t_of(update) < value  # type: ignore[operator]
        case "expired":
            expires = update.expires_at
            return expires is not None and isinstance(value, datetime) and expires <= value
        case "everything":
            return True
        case "id":
            return update.text is not None and update.id == value
        case "source":
            return update.source is not None and update.source == value
        case "session":
            name = update.session if update.session is not None else update.source
            return name is not None and name == value
        case _:
            return False


def _forget_statements(draft: Namespace, update: PreparedUpdate, selection: Selection) -> None:
    """Take the selected statements out of ``update``, and the update where none is left."""
    gone = {
        statement.position
        for statement in update.statements
        if _selected(update, selection)
        or (
            selection.kind == "statement" and selection.value == f"{update.id}#{statement.position}"
        )
        or (
            selection.kind == "concept"
            and any(concept.name == selection.value for concept in statement.concepts)
        )
    }
    whole = _selected(update, selection) or bool(
        gone and (update.key is not None or len(gone) == len(update.statements))
    )
    if whole:
        gone = {statement.position for statement in update.statements}
    for statement in update.statements:
        if statement.position in gone:
            for concept in statement.concepts:
                drop_summary(draft, concept.name, update)
    place = draft.updates.index(update)
    if whole:
        del draft.updates[place]
    elif gone:
        left = _cut(update, gone)
        if selection.kind == "concept":
            mentions = [
                concept for statement in update.statements for concept in statement.concepts
            ]
            labels = {mention.label for mention in mentions if mention.name == selection.value}
            left = replace(left, metadata=without_entries(update.metadata, labels))
        draft.updates[place] = left


def _without_entities(update: PreparedUpdate, name: str, ids: set[str]) -> PreparedUpdate | None:
    """What is left of an update without entities, or what else it calls by the name of a concept,
    their triplets, and the other ends of these that no other triplet names in the same place; None
    for a passage of which nothing is left."""
    lost = [t for t in update.triplets if t.subject in ids or t.object in ids]
    said: dict[tuple[str, int], EntityUpsert] = {}  # what all upserts at one place say together
    for entity in update.entities:
        if not entity.mentioned or (entity.id, entity.position) not in said:
            said[entity.id, entity.position] = entity
    chosen = {
        place: entity.concept.label
        for place, entity in said.items()
        if entity.id in ids or name == entity.concept.name != ""
    }
    if not lost and not chosen:
        return update
    kept = [t for t in update.triplets if t not in lost]

    def is_left(entity: EntityUpsert) -> bool:
        def is_end(t: TripletUpsert) -> bool:
            return entity.position == t.position and entity.id in (t.subject, t.object)

        is_chosen = (entity.id, entity.position) in chosen
        return not is_chosen and (not any(map(is_end, lost)) or any(map(is_end, kept)))

    entities = tuple(filter(is_left, update.entities))
    if update.text is not None and not (update.statements or entities or kept):
        return None
    metadata = without_entries(update.metadata, {*chosen.values()})
    return replace(update, entities=entities, triplets=tuple(kept), metadata=metadata)


def drop_summary(draft: Namespace, concept: str, update: PreparedUpdate) -> None:
    """Drop the summary of a concept that covers an update."""
    summary = draft.summaries.get(concept)
    if summary is not None and summary.t_index >= t_of(update):
        del draft.summaries[concept]


def _spelling(draft: Namespace) -> dict[str, set[str]]:
    """The concepts that each passage spells: its statements mention them without a reference."""
    return {
        update.id: {
            concept.name
            for statement in update.statements
            for concept in statement.concepts
            if concept.reference is None
        }
        for update in draft.updates
        if update.text is not None
    }


def _drop_references(draft: Namespace, before: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Drop each mention by reference whose passage spelled its concept ``before`` and does not any
    more, or is gone; what passages spell then."""
    now = _spelling(draft)
    for update in list(draft.updates):

        def is_lost(name: str, antecedent: str | None, own: str = update.id) -> bool:
            id = own if antecedent is None else antecedent
            return id in before and (id not in now or name in before[id] - now[id])

        left = without_references(update, is_lost)
        if left is update:
            continue
        for statement, kept in zip(update.statements, left.statements, strict=True):
            for concept in statement.concepts:
                if concept not in kept.concepts:
                    drop_summary(draft, concept.name, update)
        draft.updates[draft.updates.index(update)] = left
    return now if _spelling(draft) == now else _drop_references(draft, now)


def without_references(
    update: PreparedUpdate, is_lost: Callable[[str, str | None], bool]
) -> PreparedUpdate:
    """The update without the mentions that are lost, by the concept and the id of the antecedent's
    passage."""
    for statement in update.statements:
        lost = [
            mention
            for mention in statement.concepts
            if mention.reference is not None and is_lost(mention.name, mention.reference.antecedent)
        ]
        if not lost:
            continue
        position, names_lost = statement.position, {mention.name for mention in lost}
        left = tuple(concept for concept in statement.concepts if concept not in lost)
        ends = {
            e.id for e in update.entities if e.position == position and e.concept.name in names_lost
        }
        update = replace(
            update,
            statements=tuple(
                replace(other, concepts=left) if other.position == position else other
                for other in update.statements
            ),
            entities=tuple(
                e for e in update.entities if e.position != position or e.id not in ends
            ),
            triplets=tuple(
                t
                for t in update.triplets
                if t.position != position or not ends & {t.subject, t.object}
            ),
        )
        names = {s.position: {concept.name for concept in s.concepts} for s in update.statements}
        update = replace(
            update,
            neighbours=tuple(
                pair
                for pair in update.neighbours
                if ({pair.a} <= names[pair.earlier] and {pair.b} <= names[pair.later])
                or ({pair.b} <= names[pair.earlier] and {pair.a} <= names[pair.later])
            ),
        )
    return update


def _cut(update: PreparedUpdate, gone: set[int]) -> PreparedUpdate:
    """The update without the statements at the positions ``gone``."""
    assert update.text is not None
    statements = sorted(update.statements, key=lambda statement: statement.position)
    text, spans = redact(
        update.text,
        [(statement.start, statement.end) for statement in statements],
        {index for index, statement in enumerate(statements) if statement.position in gone},
    )
    kept = [statement for statement in statements if statement.position not in gone]
    return replace(
        update,
        text=text,
        statements=tuple(
            replace(statement, start=start, end=end)
            for statement, (start, end) in zip(kept, spans, strict=True)
        ),
        neighbours=tuple(
            pair for pair in update.neighbours if not {pair.earlier, pair.later} & gone
        ),
        entities=tuple(entity for entity in update.entities if entity.position not in gone),
        triplets=tuple(triplet for triplet in update.triplets if triplet.position not in gone),
        vectors=tuple(vector for vector in update.vectors if vector.position not in gone),
    )


def _drop_what_nothing_shows(draft: Namespace, entities: Collection[str] = ()) -> None:
    """Drop ``entities``, triplets without evidence or ends, evidence without its entity or
    triplet, and vectors without their entity."""
    shown = {entity.id for update in draft.updates for entity in update.entities} - set(entities)
    draft.entity_vectors = {id: v for id, v in draft.entity_vectors.items() if id in shown}
    evident = {ends_of(triplet) for update in draft.updates for triplet in update.triplets}
    for key in list(draft.triplets):
        if not {key[0], key[2]} <= shown or key not in evident:
            draft.triplets.remove(key)
    left: list[PreparedUpdate] = []
    for before in draft.updates:
        update = replace(
            before,
            entities=tuple(entity for entity in before.entities if entity.id in shown),
            triplets=tuple(
                triplet for triplet in before.triplets if ends_of(triplet) in draft.triplets
            ),
        )
        is_blank = update.text is not None and not (update.text.strip() or update.statements)
        lost_all = bool(before.elements) and not update.elements
        if not (is_empty(update) or (is_blank and lost_all)):
            left.append(update)
    draft.updates = left


def difference(before: Namespace, after: Namespace) -> Forgotten:
    """How much ``before`` held that ``after`` does not."""
    readers = DictReader(before, _ALL), DictReader(after, _ALL)
    was, now = (reader.stats() for reader in readers)
    concepts, kept = ({concept.name for concept in reader.concepts()} for reader in readers)
    return Forgotten(
        passages=was.passages - now.passages,
        statements=was.statements - now.statements,
        concepts=len(concepts - kept),
        relations=was.relations - now.relations,
        entities=was.entities - now.entities,
        triplets=was.triplets - now.triplets,
        summaries=len(before.summaries) - len(after.summaries),
    )
