"""What one namespace of ``DictStore`` holds, and what its updates say one by one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from recallm.model import (
    NO_SESSION,
    ConceptMention,
    EntityUpsert,
    ExtractedStatement,
    Filter,
    Horizon,
    Passage,
    PreparedUpdate,
    Summary,
    TripletUpsert,
    empty_mapping,
    session_key_of,
    statement_key,
)

TripletKey = tuple[str, str, str]


@dataclass(slots=True, kw_only=True)
class EntityState:
    """An entity as its evidence tells, place by place."""

    type: str
    concept: ConceptMention
    properties: dict[str, Any]
    vectors: Mapping[str, bytes]


@dataclass(slots=True, kw_only=True)
class Namespace:
    """All that one namespace holds; ``updates`` ascend by their t_index. ``entity_vectors`` are the
    vectors of each entity by their models, as last told. ``open_session`` is the
    latest update that began or continued a session by time: its t, session key, timestamp and
    source; None where that update was forgotten."""

    counter: int = 0
    updates: list[PreparedUpdate] = field(default_factory=list)
    entity_vectors: dict[str, Mapping[str, bytes]] = field(default_factory=dict)
    triplets: set[TripletKey] = field(default_factory=set)
    summaries: dict[str, Summary] = field(default_factory=dict)
    vector_sizes: dict[str, int] = field(default_factory=dict)
    vector_model: str | None = None
    vector_origin: str = ""
    vector_revision: int = 0
    vocabulary: int = 0
    open_session: tuple[int, str, datetime, str | None] | None = None

    def copy(self) -> Namespace:
        """A copy to write to; the values inside never change, so they are shared."""
        return Namespace(
            counter=self.counter,
            updates=list(self.updates),
            entity_vectors=dict(self.entity_vectors),
            triplets=set(self.triplets),
            summaries=dict(self.summaries),
            vector_sizes=dict(self.vector_sizes),
            vector_model=self.vector_model,
            vector_origin=self.vector_origin,
            vector_revision=self.vector_revision,
            vocabulary=self.vocabulary,
            open_session=self.open_session,
        )

    def holds_nothing(self) -> bool:
        """Whether the counter is all there is."""
        return not (self.updates or self.triplets or self.summaries)

    def predicates(self) -> Counter[str]:
        """How many triplets have each predicate."""
        return Counter(predicate for _, predicate, _ in self.triplets)

    def entities(self) -> dict[str, EntityState]:
        """What the evidence of each entity makes of it, in its order; a mention counts as the
        first alone."""
        made: dict[str, EntityState] = {}
        for update in self.updates:
            for told in evidence_in(update):
                known = made.get(told.id)
                if known is None:
                    made[told.id] = EntityState(
                        type=told.type,
                        concept=told.concept,
                        properties=dict(told.properties),
                        vectors=self.entity_vectors[told.id],
                    )
                elif not told.mentioned:
                    known.type, known.concept = told.type, told.concept
                    known.properties.update(told.properties)
        return made

    def triplet_properties(self) -> dict[TripletKey, dict[str, Any]]:
        """The properties of each triplet, likewise."""
        merged: dict[TripletKey, dict[str, Any]] = {}
        for update in self.updates:
            for told in sorted(update.triplets, key=lambda t: t.position):
                merged.setdefault(ends_of(told), {}).update(told.properties)
        return merged

    def records(self) -> Iterator[PreparedUpdate | Summary]:
        """What ``GraphReader.dump`` gives."""
        embedded: set[str] = set()
        for update in self.updates:
            entities: list[EntityUpsert] = []
            for e in evidence_in(update):
                vectors = {} if e.id in embedded else self.entity_vectors[e.id]
                embedded.add(e.id)
                entities.append(replace(e, vectors=vectors or empty_mapping()))
            entities.sort(key=lambda e: (e.id, e.position))
            triplets: dict[tuple[TripletKey, int], TripletUpsert] = {}
            for t in update.triplets:
                told = triplets.get((ends_of(t), t.position), t).properties
                triplets[ends_of(t), t.position] = replace(t, properties={**told, **t.properties})
            yield replace(
                update,
                statements=tuple(sorted(update.statements, key=lambda s: s.position)),
                neighbours=tuple(
                    sorted(update.neighbours, key=lambda n: (n.a, n.b, n.earlier, n.later))
                ),
                entities=tuple(entities),
                triplets=tuple(triplet for _, triplet in sorted(triplets.items(), key=first_of)),
                vectors=tuple(sorted(update.vectors, key=lambda v: (v.position, v.model))),
            )
        yield from sorted(self.summaries.values(), key=lambda s: (s.t_index, s.concept))


def evidence_in(update: PreparedUpdate) -> list[EntityUpsert]:
    """The evidence of entities in an update by its places; what is told at one place is one. A
    mention tells nothing where the entity stands already."""
    places: dict[tuple[int, str], EntityUpsert] = {}
    for told in update.entities:
        place = told.position, told.id
        known = places.get(place)
        if known is None:
            places[place] = told
        elif not told.mentioned:
            places[place] = replace(told, properties={**known.properties, **told.properties})
    return [told for _, told in sorted(places.items(), key=first_of)]


def latest_t(namespace: Namespace, horizon: Horizon) -> int:
    """The t of a view."""
    as_of = horizon.as_of
    if isinstance(as_of, datetime):
        return max((t_of(u) for u in namespace.updates if _said_by(u, as_of)), default=0)
    return namespace.counter if as_of is None else min(as_of, namespace.counter)


def is_visible(update: PreparedUpdate, horizon: Horizon, t_index: int) -> bool:
    """Whether a horizon, whose view ends at a t, lets an update that counts be seen."""
    withdrawn_t = update.withdrawn_t
    if not horizon.withdrawn and withdrawn_t is not None and withdrawn_t <= t_index:
        return False
    if isinstance(horizon.as_of, datetime) and not _said_by(update, horizon.as_of):
        return False
    if update.text is None or update.expires_at is None or horizon.now is None:
        return True
    return update.expires_at > horizon.now


def _said_by(update: PreparedUpdate, moment: datetime) -> bool:
    said = update.timestamp
    return update.text is not None and said is not None and said <= moment


def t_of(update: PreparedUpdate) -> int:
    """The t of a stored update, which always has one."""
    assert update.t_index is not None
    return update.t_index


def json_text(value: Any) -> str:
    """The JSON text with sorted keys, by which JSON values are equal or not."""
    return json.dumps(value, sort_keys=True)


def first_of(item: tuple[Any, object]) -> Any:
    """The first of a pair, to sort items by their key alone."""
    return item[0]


def key_of(update: PreparedUpdate, statement: ExtractedStatement) -> int:
    """The key of a statement of an update."""
    return statement_key(t_of(update), statement.position)


def text_of(update: PreparedUpdate, statement: ExtractedStatement) -> str:
    """The text of a statement: its own, or that of its span."""
    assert update.text is not None
    return statement.text_in(update.text)


def names_concept(statement: ExtractedStatement, name: str) -> bool:
    """Whether a statement mentions a concept."""
    return any(concept.name == name for concept in statement.concepts)


def ends_of(triplet: TripletUpsert) -> TripletKey:
    """By what a triplet is known."""
    return (triplet.subject, triplet.predicate, triplet.object)


def passage_of(update: PreparedUpdate, text: str) -> Passage:
    """The passage of an update that has one."""
    return Passage(
        id=update.id,
        t_index=t_of(update),
        text=text,
        source=update.source,
        session=update.session,
        speaker=update.speaker,
        timestamp=update.timestamp,
        metadata=update.metadata,
        path=update.path,
        key=update.key,
        expires_at=update.expires_at,
        withdrawn_t=update.withdrawn_t,
    )


def session_keys_of(updates: Iterable[PreparedUpdate]) -> dict[int, str | None]:
    """The session key of each passage by its t, whatever is hidden."""
    return {
        t_of(u): u.session_key or session_key_of(u.session, u.source)
        for u in updates
        if u.text is not None
    }


def meets(update: PreparedUpdate, where: Filter) -> bool:
    """Whether an update's statements meet a filter."""
    key = update.session_key or session_key_of(update.session, update.source)
    return (
        _not_before(update, where.since)
        and _not_after(update, where.until)
        and (where.speaker is None or update.speaker == where.speaker)
        and (where.session_key is None or (key or NO_SESSION) == where.session_key)
        and (where.path is None or is_item(update, where.path, where.key))
        and all(
            key in update.metadata and json_text(update.metadata[key]) == json_text(value)
            for key, value in where.metadata.items()
        )
    )


def is_item(update: PreparedUpdate, path: tuple[str, ...], key: str | None = None) -> bool:
    """Whether an update is an item at or below ``path``, or the one under ``key`` just there."""
    if update.text is None or update.key is None:
        return False
    if key is not None:
        return (update.path, update.key) == (path, key)
    return update.path[: len(path)] == path


def _not_before(update: PreparedUpdate, since: int | datetime | None) -> bool:
    if isinstance(since, datetime):
        return update.timestamp is not None and update.timestamp >= since
    return since is None or t_of(update) >= since


def _not_after(update: PreparedUpdate, until: int | datetime | None) -> bool:
    if isinstance(until, datetime):
        return update.timestamp is not None and update.timestamp <= until
    return until is None or t_of(update) <= until


def is_empty(update: PreparedUpdate) -> bool:
    """Whether nothing is left of an update."""
    return update.text is None and not update.entities and not update.triplets
