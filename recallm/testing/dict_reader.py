"""What one namespace of ``DictStore`` holds, and a reader that derives every answer from it.

No total is kept anywhere: each answer is worked out from the visible updates when it is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from recallm.model import (
    ConceptKind,
    ConceptMention,
    ConceptRow,
    ContextVersion,
    CorpusSize,
    Entity,
    EntityUpsert,
    ExtractedStatement,
    Filter,
    Horizon,
    Mentions,
    Passage,
    Postings,
    PreparedUpdate,
    Relation,
    SessionSize,
    Stats,
    StoredStatement,
    Summary,
    Triplet,
    TripletUpsert,
    empty_mapping,
    statement_key,
)
from recallm.stores.sessions import derived_sessions, session_key_of

__all__ = ["DictReader", "EntityState", "Namespace", "json_text", "t_of"]

TripletKey = tuple[str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityState:
    """An entity as last merged; its evidence stands in the updates."""

    type: str
    concept: ConceptMention
    properties: Mapping[str, Any]


@dataclass(slots=True, kw_only=True)
class Namespace:
    """All that one namespace holds; ``updates`` ascend by their t_index."""

    counter: int = 0
    updates: list[PreparedUpdate] = field(default_factory=list)
    entities: dict[str, EntityState] = field(default_factory=dict)
    triplets: dict[TripletKey, Mapping[str, Any]] = field(default_factory=dict)
    summaries: dict[tuple[str, int], Summary] = field(default_factory=dict)

    def copy(self) -> Namespace:
        """A copy to write to; the values inside never change, so they are shared."""
        return Namespace(
            counter=self.counter,
            updates=list(self.updates),
            entities=dict(self.entities),
            triplets=dict(self.triplets),
            summaries=dict(self.summaries),
        )

    def holds_nothing(self) -> bool:
        """Whether the counter is all there is."""
        return not (self.updates or self.entities or self.triplets or self.summaries)


class DictReader:
    """A ``GraphReader`` over a ``Namespace`` that nobody writes to any more."""

    def __init__(self, namespace: Namespace, horizon: Horizon) -> None:
        self._all = namespace
        self._horizon = horizon
        self._updates = [u for u in namespace.updates if self._visible(u)]
        self._session_keys = _session_keys(namespace.updates)

    @property
    def t_index(self) -> int:
        as_of = self._horizon.as_of
        if isinstance(as_of, datetime):
            return max((t_of(u) for u in self._updates), default=0)
        return self._all.counter if as_of is None else min(as_of, self._all.counter)

    def passage(self, id: str) -> Passage | None:
        for update in self._updates:
            if update.text is not None and update.id == id:
                return _passage(update, update.text)
        return None

    def statements(self, keys: Collection[int]) -> list[StoredStatement]:
        order: dict[tuple[str, str | int], list[int]] = {}
        for update, statement in self._said():
            order.setdefault(self._sequence(update), []).append(_key(update, statement))
        found: list[StoredStatement] = []
        for update, statement in self._said():
            key = _key(update, statement)
            if key in keys:
                sequence = order[self._sequence(update)]
                place = sequence.index(key)
                assert update.text is not None
                found.append(
                    StoredStatement(
                        key=key,
                        passage_id=update.id,
                        text=update.text[statement.start : statement.end],
                        timestamp=update.timestamp,
                        speaker=update.speaker,
                        speaker_concept=update.speaker_concept,
                        source=update.source,
                        session=update.session,
                        session_key=self._session_keys[t_of(update)],
                        metadata=update.metadata,
                        terms=statement.terms,
                        concepts=statement.concepts,
                        traits=statement.traits,
                        previous=sequence[place - 1] if place > 0 else None,
                        next=sequence[place + 1] if place + 1 < len(sequence) else None,
                    )
                )
        return found

    def postings(
        self, stems: Collection[str], *, limit: int, where: Filter
    ) -> Mapping[str, Postings]:
        found: dict[str, Postings] = {}
        for stem in sorted(set(stems)):
            holders = [(u, s) for u, s in self._said() if stem in s.terms]
            if holders:
                met = [(u, s) for u, s in reversed(holders) if _meets(u, where)][:limit]
                found[stem] = Postings(
                    documents=len(holders),
                    keys=tuple(_key(u, s) for u, s in met),
                    counts=tuple(s.terms.count(stem) for _, s in met),
                    sessions=tuple(self._session_keys[t_of(u)] for u, _ in met),
                )
        return found

    def mentions(
        self, names: Collection[str], *, limit: int | None, where: Filter
    ) -> Mapping[str, Mentions]:
        found: dict[str, Mentions] = {}
        for name in sorted(set(names)):
            holders = [(u, s) for u, s in self._said() if _names(s, name)]
            if holders:
                met = [_key(u, s) for u, s in reversed(holders) if _meets(u, where)]
                found[name] = Mentions(statements=len(holders), keys=tuple(met[:limit]))
        return found

    def concepts(
        self, names: Collection[str] | None = None, *, limit: int | None = None
    ) -> list[ConceptRow]:
        rows: list[ConceptRow] = []
        for name in self._touched():
            if names is None or name in names:
                rows.append(self._concept(name))
        rows.sort(key=lambda row: (-row.t_index, row.name))
        return rows[:limit]

    def relations(self, names: Collection[str], *, limit: int) -> list[Relation]:
        chosen: set[tuple[str, str]] = set()
        for name in names:
            of_name = [r for r in self._relations() if name in (r.a, r.b)]
            of_name.sort(key=lambda r: (-r.t_index, -r.strength, r.b if r.a == name else r.a))
            chosen |= {(r.a, r.b) for r in of_name[:limit]}
        return [r for r in self._relations() if (r.a, r.b) in chosen]

    def relations_among(self, names: Collection[str]) -> list[Relation]:
        return [r for r in self._relations() if r.a in names and r.b in names]

    def linked(
        self, start: str, *, hops: int, oldest: int, newest: int, limit: int
    ) -> list[ConceptRow]:
        reached = {start}
        for _ in range(hops):
            touching = [r for r in self._relations() if r.a in reached or r.b in reached]
            reached |= {end for r in touching for end in (r.a, r.b)}
        reached.discard(start)
        rows = [row for row in self.concepts(reached) if oldest <= row.t_index <= newest]
        return rows[:limit]

    def summaries(self, names: Collection[str]) -> Mapping[str, Summary]:
        found: dict[str, Summary] = {}
        for name in sorted(set(names)):
            summary = self._summary(name)
            if summary is not None:
                found[name] = summary
        return found

    def entities(
        self, ids: Collection[str] | None = None, *, concepts: Collection[str] | None = None
    ) -> list[Entity]:
        found: list[Entity] = []
        for id, state in sorted(self._all.entities.items()):
            touched = self._entity_evidence(id)
            wanted = (ids is not None and id in ids) or (
                concepts is not None and state.concept.name in concepts
            )
            if touched and (wanted or (ids is None and concepts is None)):
                found.append(
                    Entity(
                        id=id,
                        type=state.type,
                        label=state.concept.label,
                        concept=state.concept.name,
                        properties=state.properties,
                        t_index=max(touched),
                        updates=len(touched),
                    )
                )
        return found

    def triplets(
        self,
        *,
        subjects: Collection[str] | None = None,
        predicates: Collection[str] | None = None,
        objects: Collection[str] | None = None,
        ends: Collection[str] | None = None,
    ) -> list[Triplet]:
        found: list[Triplet] = []
        for key, properties in sorted(self._all.triplets.items(), key=lambda item: item[0]):
            subject, predicate, object = key
            shown = {t_of(u) for u in self._updates if any(_ends(t) == key for t in u.triplets)}
            if (
                shown
                and self._entity_evidence(subject)
                and self._entity_evidence(object)
                and (subjects is None or subject in subjects)
                and (predicates is None or predicate in predicates)
                and (objects is None or object in objects)
                and (ends is None or subject in ends or object in ends)
            ):
                found.append(
                    Triplet(
                        subject=subject,
                        predicate=predicate,
                        object=object,
                        properties=properties,
                        strength=len(shown),
                        t_index=max(shown),
                    )
                )
        return found

    def corpus(self) -> CorpusSize:
        said = list(self._said())
        return CorpusSize(
            statements=len(said),
            terms=sum(len(s.terms) for _, s in said),
            sessions=len({self._session_keys[t_of(u)] for u, _ in said} - {None}),
        )

    def sessions(self, session_keys: Collection[str]) -> Mapping[str, SessionSize]:
        found: dict[str, SessionSize] = {}
        for session_key in sorted(set(session_keys)):
            said = [s for u, s in self._said() if self._session_keys[t_of(u)] == session_key]
            if said:
                found[session_key] = SessionSize(
                    statements=len(said), terms=sum(len(s.terms) for s in said)
                )
        return found

    def vectors(self, keys: Collection[int], *, model: str) -> Mapping[int, bytes]:
        found: dict[int, bytes] = {}
        for update in self._updates:
            for vector in update.vectors:
                key = statement_key(t_of(update), vector.position)
                if key in keys and vector.model == model:
                    found[key] = vector.blob
        return found

    def context_version(self, name: str) -> ContextVersion | None:
        whole = DictReader(self._all, Horizon())
        mentions = whole.mentions([name], limit=None, where=Filter()).get(name)
        if mentions is None:
            return None
        summary = whole._summary(name)
        return ContextVersion(
            t_index=max(t_of(u) for u, s in whole._said() if _names(s, name)),
            statements=mentions.statements,
            summary_t=None if summary is None else summary.t_index,
        )

    def stats(self) -> Stats:
        concepts = [row.name for row in self.concepts()]
        return Stats(
            t_index=self.t_index,
            passages=sum(update.text is not None for update in self._updates),
            statements=sum(len(update.statements) for update in self._updates),
            concepts=len(concepts),
            relations=len(self._relations()),
            entities=len(self.entities()),
            triplets=len(self.triplets()),
            summaries=len(self.summaries(concepts)),
            vectors=sum(len(update.vectors) for update in self._updates),
            sessions=self.corpus().sessions,
        )

    def dump(self) -> Iterator[PreparedUpdate | Summary]:
        latest_entity: dict[str, tuple[int, int]] = {}
        latest_triplet: dict[TripletKey, tuple[int, int]] = {}
        for update in self._all.updates:
            for e in update.entities:
                place = (t_of(update), e.position)
                latest_entity[e.id] = max(place, latest_entity.get(e.id, place))
            for t in update.triplets:
                place = (t_of(update), t.position)
                latest_triplet[_ends(t)] = max(place, latest_triplet.get(_ends(t), place))
        for update in self._all.updates:
            t_index = t_of(update)
            entities: dict[tuple[str, int], EntityUpsert] = {}
            for e in update.entities:
                state = self._all.entities[e.id]
                at_latest = latest_entity[e.id] == (t_index, e.position)
                entities[e.id, e.position] = EntityUpsert(
                    id=e.id,
                    type=state.type,
                    concept=state.concept,
                    properties=state.properties if at_latest else empty_mapping(),
                    position=e.position,
                )
            triplets: dict[tuple[TripletKey, int], TripletUpsert] = {}
            for t in update.triplets:
                at_latest = latest_triplet[_ends(t)] == (t_index, t.position)
                properties = self._all.triplets[_ends(t)] if at_latest else empty_mapping()
                triplets[_ends(t), t.position] = replace(t, properties=properties)
            yield replace(
                update,
                statements=tuple(sorted(update.statements, key=lambda s: s.position)),
                neighbours=tuple(
                    sorted(update.neighbours, key=lambda n: (n.a, n.b, n.earlier, n.later))
                ),
                entities=tuple(entity for _, entity in sorted(entities.items(), key=_first)),
                triplets=tuple(triplet for _, triplet in sorted(triplets.items(), key=_first)),
                vectors=tuple(sorted(update.vectors, key=lambda v: (v.position, v.model))),
            )
        yield from sorted(self._all.summaries.values(), key=lambda s: (s.t_index, s.concept))

    def _visible(self, update: PreparedUpdate) -> bool:
        as_of, now = self._horizon.as_of, self._horizon.now
        if isinstance(as_of, datetime):
            if update.text is None or update.timestamp is None or update.timestamp > as_of:
                return False
        elif as_of is not None and t_of(update) > as_of:
            return False
        if update.text is None or update.expires_at is None or now is None:
            return True
        return update.expires_at > now

    def _said(self) -> Iterator[tuple[PreparedUpdate, ExtractedStatement]]:
        """The visible statements with their updates, ascending by key."""
        for update in self._updates:
            for statement in sorted(update.statements, key=lambda s: s.position):
                yield update, statement

    def _sequence(self, update: PreparedUpdate) -> tuple[str, str | int]:
        """What the statements before and after are looked for in: the session or the passage."""
        session_key = self._session_keys[t_of(update)]
        return ("passage", t_of(update)) if session_key is None else ("session", session_key)

    def _touched(self) -> dict[str, set[int]]:
        """The t of every update that touched a concept, by name."""
        touched: dict[str, set[int]] = {}
        for update in self._updates:
            for statement in update.statements:
                for concept in statement.concepts:
                    touched.setdefault(concept.name, set()).add(t_of(update))
            for upsert in update.entities:
                name = self._all.entities[upsert.id].concept.name
                touched.setdefault(name, set()).add(t_of(update))
        return touched

    def _concept(self, name: str) -> ConceptRow:
        touched = self._touched()[name]
        mentions = [c for _, s in self._said() for c in s.concepts if c.name == name]
        label, kind = (
            (mentions[0].label, mentions[0].kind) if mentions else self._entity_label(name)
        )
        summary = self._summary(name)
        merged = touched - {min(touched)}
        if summary is not None:
            merged = {t for t in touched if t > summary.t_index}
        return ConceptRow(
            name=name,
            label=label,
            kind=kind,
            t_index=max(touched),
            updates=len(touched),
            statements=len(mentions),
            merges=len(merged),
        )

    def _entity_label(self, name: str) -> tuple[str, ConceptKind]:
        """Label and kind of a concept that only entities touch."""
        on_it = [
            (min(evidence), id)
            for id, state in self._all.entities.items()
            if state.concept.name == name and (evidence := self._entity_evidence(id))
        ]
        concept = self._all.entities[min(on_it)[1]].concept
        return concept.label, concept.kind

    def _relations(self) -> list[Relation]:
        shown: dict[tuple[str, str], set[int]] = {}
        for update in self._updates:
            for pair in update.neighbours:
                shown.setdefault((pair.a, pair.b), set()).add(t_of(update))
        return [
            Relation(a=a, b=b, strength=len(ts), t_index=max(ts))
            for (a, b), ts in sorted(shown.items(), key=_first)
        ]

    def _summary(self, name: str) -> Summary | None:
        hidden = [
            t_of(u)
            for u in self._all.updates
            if not self._visible(u) and any(_names(s, name) for s in u.statements)
        ]
        visible = [
            summary
            for (concept, t_index), summary in self._all.summaries.items()
            if concept == name and t_index <= self.t_index and not any(t <= t_index for t in hidden)
        ]
        return max(visible, key=lambda summary: summary.t_index, default=None)

    def _entity_evidence(self, id: str) -> set[int]:
        return {t_of(u) for u in self._updates if any(e.id == id for e in u.entities)}


def t_of(update: PreparedUpdate) -> int:
    """The t of a stored update, which always has one."""
    assert update.t_index is not None
    return update.t_index


def json_text(value: Any) -> str:
    """The JSON text with sorted keys, by which JSON values are equal or not."""
    return json.dumps(value, sort_keys=True)


def _first(item: tuple[Any, object]) -> Any:
    return item[0]


def _key(update: PreparedUpdate, statement: ExtractedStatement) -> int:
    return statement_key(t_of(update), statement.position)


def _names(statement: ExtractedStatement, name: str) -> bool:
    return any(concept.name == name for concept in statement.concepts)


def _ends(triplet: TripletUpsert) -> TripletKey:
    return (triplet.subject, triplet.predicate, triplet.object)


def _passage(update: PreparedUpdate, text: str) -> Passage:
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
    )


def _session_keys(updates: Iterable[PreparedUpdate]) -> dict[int, str | None]:
    """The session key of each passage by its t; derived ones over all, whatever is hidden."""
    passages = [u for u in updates if u.text is not None]
    keys: dict[int, str | None] = {t_of(u): session_key_of(u.session, u.source) for u in passages}
    unnamed = [
        (t_of(u), u.timestamp)
        for u in passages
        if keys[t_of(u)] is None and u.timestamp is not None
    ]
    return keys | derived_sessions(unnamed)


def _meets(update: PreparedUpdate, where: Filter) -> bool:
    name = update.session if update.session is not None else update.source
    return (
        _not_before(update, where.since)
        and _not_after(update, where.until)
        and (where.speaker is None or update.speaker == where.speaker)
        and (where.session is None or name == where.session)
        and all(
            key in update.metadata and json_text(update.metadata[key]) == json_text(value)
            for key, value in where.metadata.items()
        )
    )


def _not_before(update: PreparedUpdate, since: int | datetime | None) -> bool:
    if isinstance(since, datetime):
        return update.timestamp is not None and update.timestamp >= since
    return since is None or t_of(update) >= since


def _not_after(update: PreparedUpdate, until: int | datetime | None) -> bool:
    if isinstance(until, datetime):
        return update.timestamp is not None and update.timestamp <= until
    return until is None or t_of(update) <= until
