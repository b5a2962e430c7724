"""``DictReader``: a reader of ``DictStore`` that derives every answer from the updates.

No total is kept anywhere: each answer is worked out when it is asked for, what is shown from the
visible updates, what counts from all updates up to the view's t.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC
from typing import Any

import numpy as np

from recallm.model import (
    ConceptKind,
    ConceptRow,
    CorpusSize,
    ExtractedStatement,
    Filter,
    Horizon,
    NamespaceState,
    OpenSession,
    Passage,
    Postings,
    PreparedUpdate,
    Relation,
    Scalar,
    Session,
    SessionSize,
    Sizes,
    Stats,
    StoredStatement,
    Summary,
    VectorState,
    content_terms,
    statement_key,
)
from recallm.stores.base import GraphReader
from tests.store_suite.dict_facts import DictFacts
from tests.store_suite.dict_namespace import (
    Namespace,
    ends_of,
    first_of,
    is_item,
    is_visible,
    key_of,
    latest_t,
    meets,
    names_concept,
    passage_of,
    session_keys_of,
    t_of,
    text_of,
)

_EVERY = Filter()


class DictReader(DictFacts):
    """A ``GraphReader`` over a ``Namespace`` that nobody writes to any more."""

    def __init__(self, namespace: Namespace, horizon: Horizon) -> None:
        self._horizon = horizon
        self._t_index = latest_t(namespace, horizon)
        self._counting = [u for u in namespace.updates if t_of(u) <= self._t_index]
        super().__init__(
            namespace, [u for u in self._counting if is_visible(u, horizon, self._t_index)]
        )
        self._session_keys = session_keys_of(namespace.updates)
        named = dict.fromkeys(filter(None, self._session_keys.values()))
        self._sessions: dict[int, str] = dict(enumerate(named, 1))

    @property
    def state(self) -> NamespaceState:
        everything = self._all
        vectors = None
        if everything.vector_model is not None:
            vectors = VectorState(
                model=everything.vector_model,
                size=everything.vector_sizes[everything.vector_model],
                origin=everything.vector_origin,
                revision=everything.vector_revision,
            )
        return NamespaceState(
            t_index=self._t_index,
            vectors=vectors,
            vector_bytes=dict(everything.vector_sizes),
            vocabulary=everything.vocabulary,
        )

    def together(self, *reads: Callable[[GraphReader], Any]) -> list[Any]:
        return [read(self) for read in reads]

    def passages(
        self,
        where: Filter = _EVERY,
        *,
        ids: Collection[str] | None = None,
        limit: int | None = None,
        likely: Mapping[tuple[str, ...], Scalar] | None = None,
    ) -> list[Passage]:
        found = [
            passage_of(update, update.text)
            for update in reversed(self._updates)
            if update.text is not None
            and meets(update, where)
            and (ids is None or update.id in ids)
        ]
        return found[:limit]

    def paths(self) -> list[tuple[str, ...]]:
        return sorted({update.path for update in self._updates if is_item(update, ())})

    def t_indexes(self, where: Filter) -> list[int]:
        return [
            t_of(update)
            for update in self._updates
            if update.text is not None and meets(update, where)
        ]

    def sessions(self) -> list[Session]:
        belonging: dict[str, list[PreparedUpdate]] = {}
        for update in self._updates:
            key = self._session_keys.get(t_of(update))
            if key is not None:
                belonging.setdefault(key, []).append(update)
        found = [_session(key, updates) for key, updates in belonging.items()]
        return sorted(found, key=lambda session: -session.t_index)

    def open_session(self) -> OpenSession | None:
        latest = self._all.open_session
        expiry = {t_of(update): update.expires_at for update in self._all.updates}
        now = self._horizon.now
        if latest is None or (now and (at := expiry[latest[0]]) is not None and at <= now):
            return None
        return OpenSession(*latest)

    def statement_keys(
        self, *, embedded: bool, after: int = -1, limit: int | None = None
    ) -> list[int]:
        have = self._vectors()
        keys = [key_of(update, statement) for update, statement in self._said()]
        return [key for key in keys if key > after and (key in have) is embedded][:limit]

    def statements(self, keys: Collection[int], *, ahead: int = 0) -> list[StoredStatement]:
        del ahead
        order: dict[tuple[str, str | int], list[int]] = {}
        for update, statement in self._said():
            order.setdefault(self._sequence(update), []).append(key_of(update, statement))
        found: list[StoredStatement] = []
        for update, statement in self._said():
            key = key_of(update, statement)
            if key in keys:
                sequence = order[self._sequence(update)]
                place = sequence.index(key)
                found.append(
                    StoredStatement(
                        key=key,
                        passage_id=update.id,
                        text=text_of(update, statement),
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
                        item_path=update.path if is_item(update, ()) else None,
                        start=statement.start,
                        end=statement.end,
                    )
                )
        return found

    def postings(
        self, stems: Collection[str], *, limit: int, where: Filter
    ) -> Mapping[str, Postings]:
        found: dict[str, Postings] = {}
        for stem in sorted(set(stems)):
            documents = sum(stem in s.terms for _, s in self._said(self._counting))
            if documents:
                holders = [(u, s) for u, s in self._said() if stem in s.terms]
                met = [(u, s) for u, s in reversed(holders) if meets(u, where)][:limit]
                found[stem] = self._postings(documents, met, [s.terms.count(stem) for _, s in met])
        return found

    def mentions(
        self, names: Collection[str], *, limit: int | None, where: Filter
    ) -> Mapping[str, Postings]:
        found: dict[str, Postings] = {}
        for name in sorted(set(names)):
            total = sum(names_concept(s, name) for _, s in self._said(self._counting))
            if total:
                holders = [(u, s) for u, s in self._said() if names_concept(s, name)]
                met = [(u, s) for u, s in reversed(holders) if meets(u, where)][:limit]
                found[name] = self._postings(total, met, [1] * len(met))
        return found

    def _postings(
        self,
        total: int,
        met: Sequence[tuple[PreparedUpdate, ExtractedStatement]],
        counts: Sequence[int],
    ) -> Postings:
        numbers: dict[str | None, int] = {key: n for n, key in self._sessions.items()}
        sessions = [numbers.get(self._session_keys[t_of(u)], 0) for u, _ in met]
        return Postings(
            statements=total,
            keys=np.array([key_of(u, s) for u, s in met], dtype=np.int64),
            counts=np.array(counts, dtype=np.int64),
            sessions=np.array(sessions, dtype=np.int64),
            session_keys=self._sessions,
        )

    def concepts(
        self, names: Collection[str] | None = None, *, limit: int | None = None
    ) -> list[ConceptRow]:
        shown = self._touched(self._updates)
        rows = [self._concept(name) for name in shown if names is None or name in names]
        rows.sort(key=lambda row: (-row.t_index, row.name))
        return rows[:limit]

    def relations(
        self, names: Collection[str], *, limit: int | None = None, among: bool = False
    ) -> list[Relation]:
        if among:
            return [r for r in self._relations() if r.a in names and r.b in names]
        chosen: set[tuple[str, str]] = set()
        for name in names:
            of_name = [r for r in self._relations() if name in (r.a, r.b)]
            of_name.sort(key=lambda r: (-r.t_index, -r.strength, r.b if r.a == name else r.a))
            chosen |= {(r.a, r.b) for r in of_name[:limit]}
        return [r for r in self._relations() if (r.a, r.b) in chosen]

    def sizes(self, session_keys: Collection[str] = ()) -> Sizes:
        said = list(self._said(self._counting))
        by_session: dict[str | None, list[ExtractedStatement]] = {}
        for update, statement in said:
            by_session.setdefault(self._session_keys[t_of(update)], []).append(statement)
        return Sizes(
            corpus=CorpusSize(
                statements=len(said),
                terms=sum(len(content_terms(s.terms)) for _, s in said),
                sessions=len(by_session.keys() - {None}),
            ),
            sessions={
                key: SessionSize(
                    statements=len(by_session[key]),
                    terms=sum(len(content_terms(s.terms)) for s in by_session[key]),
                )
                for key in sorted(set(session_keys))
                if key in by_session
            },
        )

    def vectors(
        self,
        keys: Collection[int] | None = None,
        *,
        model: str,
        after: int = -1,
        limit: int | None = None,
    ) -> Mapping[int, bytes]:
        found = [
            (statement_key(t_of(update), vector.position), vector.blob)
            for update in self._updates
            for vector in update.vectors
            if vector.model == model
        ]
        if keys is None:
            return dict(sorted(row for row in found if row[0] > after)[:limit])
        return {key: blob for key, blob in sorted(found) if key in keys}

    def stats(self) -> Stats:
        counting = self._all.updates
        entities = {entity.id for update in counting for entity in update.entities}
        triplets = {ends_of(triplet) for update in counting for triplet in update.triplets}
        return Stats(
            t_index=self._t_index,
            passages=sum(update.text is not None for update in counting),
            statements=sum(len(update.statements) for update in counting),
            concepts=len(self._touched(counting)),
            relations=len(_shown(counting)),
            entities=len(entities),
            triplets=sum({subject, object} <= entities for subject, _, object in triplets),
            summaries=len(self._all.summaries),
            vectors=sum(len(update.vectors) for update in counting),
            sessions=len({self._session_keys[t_of(u)] for u in counting if u.statements} - {None}),
        )

    def dump(self) -> Iterator[PreparedUpdate | Summary]:
        yield from self._all.records()

    def _vectors(self) -> dict[int, bytes]:
        """Every visible statement's vector by its key."""
        return {
            statement_key(t_of(update), vector.position): vector.blob
            for update in self._updates
            for vector in update.vectors
        }

    def _said(
        self, updates: Collection[PreparedUpdate] | None = None
    ) -> Iterator[tuple[PreparedUpdate, ExtractedStatement]]:
        """The statements of some updates (of the visible ones), with these, ascending by key."""
        for update in self._updates if updates is None else updates:
            for statement in sorted(update.statements, key=lambda s: s.position):
                yield update, statement

    def _sequence(self, update: PreparedUpdate) -> tuple[str, str | int]:
        """What the statements before and after are looked for in: the session or the passage."""
        session_key = self._session_keys[t_of(update)]
        return ("passage", t_of(update)) if session_key is None else ("session", session_key)

    def _touched(self, updates: Collection[PreparedUpdate]) -> dict[str, set[int]]:
        """The t of each of the updates that touched a concept, by name."""
        touched: dict[str, set[int]] = {}
        for update in updates:
            for statement in update.statements:
                for concept in statement.concepts:
                    touched.setdefault(concept.name, set()).add(t_of(update))
            for upsert in update.entities:
                name = self._entities[upsert.id].concept.name
                if name:
                    touched.setdefault(name, set()).add(t_of(update))
        return touched

    def _concept(self, name: str) -> ConceptRow:
        touched = self._touched(self._counting)[name]
        said = self._said(self._counting)
        mentions = [c for _, s in said for c in s.concepts if c.name == name]
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
            summary=summary,
        )

    def _entity_label(self, name: str) -> tuple[str, ConceptKind]:
        """Label and kind of a concept that only entities touch."""
        on_it = [
            (t_of(update), id)
            for id, state in self._entities.items()
            if state.concept.name == name
            for update in self._counting
            if any(entity.id == id for entity in update.entities)
        ]
        concept = self._entities[min(on_it)[1]].concept
        return concept.label, concept.kind

    def _relations(self) -> list[Relation]:
        shown = _shown(self._updates)
        return [
            Relation(a=a, b=b, strength=len(ts), t_index=max(ts))
            for (a, b), ts in sorted(_shown(self._counting).items(), key=first_of)
            if (a, b) in shown
        ]

    def _summary(self, name: str) -> Summary | None:
        summary = self._all.summaries.get(name)
        if summary is None or summary.t_index > self._t_index:
            return None
        covers_hidden = any(
            not is_visible(u, replace(self._horizon, withdrawn=True), self._t_index)
            for u in self._counting
            if t_of(u) <= summary.t_index and any(names_concept(s, name) for s in u.statements)
        )
        return None if covers_hidden else summary


def _shown(updates: Collection[PreparedUpdate]) -> dict[tuple[str, str], set[int]]:
    """The t of each of the updates that show a relation, by its ends."""
    shown: dict[tuple[str, str], set[int]] = {}
    for update in updates:
        for pair in update.neighbours:
            shown.setdefault((pair.a, pair.b), set()).add(t_of(update))
    return shown


def _session(key: str, updates: Sequence[PreparedUpdate]) -> Session:
    said = sorted(
        update.timestamp.astimezone(UTC) for update in updates if update.timestamp is not None
    )
    return Session(
        name=key[1:] if key[0] == "=" else None,
        passages=len(updates),
        first_t=t_of(updates[0]),
        t_index=t_of(updates[-1]),
        began=said[0] if said else None,
        ended=said[-1] if said else None,
    )
