"""``StoreMachine``: a store and the oracle get the same writes and must give the same answers.

A test module subclasses it, opens the store in ``open_store`` and runs its ``TestCase``::

    class MyStoreMachine(StoreMachine):
        def open_store(self) -> GraphStore:
            return MyStore()

    TestMyStore = MyStoreMachine.TestCase
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from recallm.errors import RecallMError
from recallm.ground.entity_words import name_words
from recallm.model import (
    AddVectors,
    ConceptMention,
    EntityUpsert,
    Filter,
    GraphNames,
    Horizon,
    PreparedUpdate,
    Selection,
    SetExpiry,
    Summary,
    TripletUpsert,
    Withdraw,
    WriteSummary,
    content_terms,
    statement_key,
)
from recallm.stores.base import Applied, GraphReader, GraphStore
from tests.store_suite import strategies as ours
from tests.store_suite.dict_store import DictStore
from tests.store_suite.snapshots import Vocabulary, revisable, snapshot

_limits = st.integers(min_value=0, max_value=4)
_places = st.sampled_from((0, 0, 0, 1))
_ALL = Horizon(withdrawn=True)
_horizons = st.just(Horizon()) | ours.horizons()


class StoreMachine(RuleBasedStateMachine):
    """Knowledge updates, forgetting, revisions and archives in two namespaces."""

    def open_store(self) -> GraphStore:
        """The store under test; it is closed after each example."""
        raise NotImplementedError("a subclass of StoreMachine opens the store")

    @initialize(updates=st.lists(ours.prepared_updates(), min_size=3, max_size=6))
    def begin(self, updates: list[PreparedUpdate]) -> None:
        """Open both stores; the namespaces are new ones, so the data may be shared."""
        self.oracle = DictStore()
        self.store = self.open_store()
        unique = uuid.uuid4()
        self.names = (f"machine-{unique}", f"machine-{unique}\x00'")
        self.heard = (Vocabulary(), Vocabulary())
        self.vocabularies: list[tuple[int, list[str]]] = [(0, []), (0, [])]
        self.counted = 0
        self.given: list[str] = []
        for update in updates:
            one = [self._renamed(0, update)]
            self._both(lambda store, one=one: store.apply(self.names[0], one))  # type: ignore[misc]
        self._agree(0)

    @rule(
        place=_places,
        updates=st.lists(ours.prepared_updates(), min_size=1, max_size=4),
        fresh=st.booleans() | st.just(True),
    )
    def apply(self, place: int, updates: list[PreparedUpdate], fresh: bool) -> None:
        """Knowledge updates add: nothing that they do not replace goes back or shrinks."""
        name = self.names[place]
        if fresh:
            updates = [self._renamed(place, update) for update in updates]
        before = self._seen(place)
        self._both(lambda store: store.apply(name, updates))
        after = self._agree(place)
        assert after["t_index"] >= before["t_index"]
        was, now = _by_pair(before["relations"]), _by_pair(after["relations"])
        lost = [p for p in before["passages"] if p not in after["passages"]]
        items = {(update.path, update.key) for update in updates if update.key is not None}
        replaced = {update.id for update in updates if update.replaces}
        assert all((p.path, p.key) in items or p.id in replaced for p in lost)
        if lost:
            return
        for pair, old in was.items():
            assert now[pair].strength >= old.strength
            assert now[pair].t_index >= old.t_index
        for concept, old in before["mentions"].items():
            assert set(old.keys) <= set(after["mentions"][concept].keys)

    @rule(place=_places, update=ours.prepared_updates(), now=ours.moments)
    def sweep(self, place: int, update: PreparedUpdate, now: datetime) -> None:
        """A write forgets what has expired by now, also where it has an id of the write."""
        name = self.names[place]
        self._both(lambda store: store.apply(name, [update], now=now))
        self._agree(place)

    @rule(place=_places, data=st.data())
    def apply_again(self, place: int, data: st.DataObject) -> None:
        """A passage as it is now is known again, cut or not, and changes nothing."""
        name = self.names[place]
        before = self._seen(place)
        passages = [passage for passage in before["passages"] if passage.withdrawn_t is None]
        if passages:
            passage = data.draw(st.sampled_from(passages))
            again = PreparedUpdate(id=passage.id, text=passage.text, source="another")
            [applied] = self._both(lambda store: store.apply(name, [again]))
            assert applied == Applied(t_index=passage.t_index, duplicate=True)
            assert self._agree(place) == before

    @rule(place=_places, data=st.data())
    def forget(self, place: int, data: st.DataObject) -> None:
        """Forgetting takes away what the oracle says, counted, and never turns t back."""
        name = self.names[place]
        seen = self._seen(place)
        before = seen["t_index"]
        selection = data.draw(ours.selections(seen["passages"]))
        self._both(lambda store: store.forget(name, selection))
        assert self._agree(place)["t_index"] == before

    @rule(place=_places, data=st.data(), moment=st.none() | ours.moments)
    def expire(self, place: int, data: st.DataObject, moment: datetime | None) -> None:
        """Another expiry changes what a horizon hides, and nothing else."""
        name = self.names[place]
        ids = [p.id for p in self._seen(place)["passages"]] or ["nothing"]
        moments = dict.fromkeys(data.draw(st.lists(st.sampled_from(ids), max_size=2)), moment)
        self._both(
            lambda store: store.amend(name, SetExpiry(expires_at={**moments, "unknown": moment}))
        )
        self._agree(place)
        self._agree(place, data.draw(ours.horizons()))

    @rule(place=_places, data=st.data(), undo=st.booleans())
    def withdraw(self, place: int, data: st.DataObject, undo: bool) -> None:
        """What is withdrawn is hidden from the next t on, and there again when it is undone."""
        name = self.names[place]
        known = [p.id for p in self._seen(place)["passages"]] or ["nothing"]
        ids = data.draw(st.lists(st.sampled_from(known), max_size=2))
        self._both(lambda store: store.amend(name, Withdraw(ids=ids, undo=undo)))
        self._agree(place)
        self._agree(place, Horizon())
        self._agree(place, data.draw(ours.horizons()))

    @rule(
        place=_places,
        entities=st.lists(ours.entity_ids, max_size=1),
        triplets=st.lists(st.tuples(ours.entity_ids, ours.predicates, ours.entity_ids), max_size=2),
    )
    def delete_graph(
        self, place: int, entities: list[str], triplets: list[tuple[str, str, str]]
    ) -> None:
        """Entities and triplets go by exact id; no statement does."""
        name = self.names[place]
        names = GraphNames(entities=frozenset(entities), triplets=frozenset(triplets))
        before = [each.key for each in self._seen(place)["statements"]]
        self._both(lambda store: store.forget(name, Selection(kind="graph", value=names)))
        # A mention goes where its antecedent is a passage that was nothing but its entities.
        assert [each.key for each in self._agree(place)["statements"]] == before

    @rule(place=_places, data=st.data(), model=st.sampled_from(("m", "m", "m", "n")))
    def embed(self, place: int, data: st.DataObject, model: str) -> None:
        """Vectors are given to statements that have none, and to no other."""
        name = self.names[place]
        keys = [statement.key for statement in self._seen(place)["statements"]] or [1]
        vectors = data.draw(st.dictionaries(st.sampled_from(keys), ours.blobs, max_size=3))
        self._both(lambda store: store.amend(name, AddVectors(model=model, vectors=vectors)))
        self._agree(place)

    @rule(place=_places, concept=ours.concept_names, stale=st.booleans(), data=st.data())
    def revise(self, place: int, concept: str, stale: bool, data: st.DataObject) -> None:
        """A summary is written over the context that was read, and over no other."""
        name = self.names[place]
        with self.oracle.reader(name, _ALL) as reader:
            row = revisable(reader, concept)
        if row is None:
            return
        summary = data.draw(ours.summaries(concept, row.t_index))
        amendment = WriteSummary(summary=summary, statements=row.statements + stale)
        written = self._both(lambda store: store.amend(name, amendment))
        assert bool(written) is not stale
        self._agree(place)

    @rule(place=_places)
    def copy(self, place: int) -> None:
        """An archive of the one store fills a new namespace of the other."""
        name = self.names[place]
        copied = self._unused(name)
        with self.store.reader(name, Horizon()) as reader:
            t_index, records = reader.state.t_index, list(reader.dump())
        updates = sum(isinstance(record, PreparedUpdate) for record in records)
        assert self.store.restore(copied, t_index, records) == updates
        assert self.oracle.restore(copied, t_index, records) == updates
        for store in (self.store, self.oracle):
            with store.reader(copied, _ALL) as reader:
                assert snapshot(reader, self.heard[place]) == self._seen(place)

    @rule(place=_places, horizon=_horizons, data=st.data())
    def look(self, place: int, horizon: Horizon, data: st.DataObject) -> None:
        """Everything at a horizon, then some of it by names, limits and filters."""
        self._agree(place, horizon)
        stems = data.draw(st.lists(ours.stems, min_size=1, max_size=2))
        names = data.draw(st.lists(ours.concept_names, min_size=1, max_size=4))
        limit = data.draw(_limits)
        where = data.draw(ours.filters())
        path, key = data.draw(ours.item_paths), data.draw(ours.item_keys)

        def read(store: GraphStore) -> Any:
            with store.reader(self.names[place], horizon) as reader:
                return {
                    "postings": dict(reader.postings(stems, limit=limit, where=where)),
                    "mentions": dict(reader.mentions(names, limit=limit, where=where)),
                    "all mentions": dict(reader.mentions(names, limit=None, where=where)),
                    "latest": reader.concepts(limit=limit),
                    "passages": reader.passages(where, limit=limit),
                    "t_indexes": reader.t_indexes(where),
                    "vectors": dict(
                        reader.vectors(model="m", after=(limit << 20) - 1, limit=limit + 1)
                    ),
                    "not embedded": reader.statement_keys(
                        embedded=False, after=(limit << 20) - 1, limit=limit + 1
                    ),
                    "item": reader.passages(Filter(path=path, key=key)),
                    "concepts": reader.concepts(names, limit=limit),
                    "relations": reader.relations(names, limit=limit),
                    "among": reader.relations(names, among=True),
                }

        self._both(read)

    @rule(place=_places, horizon=_horizons, data=st.data())
    def look_at_entities(self, place: int, horizon: Horizon, data: st.DataObject) -> None:
        """Entities and triplets by conditions at a horizon."""
        ids, subjects, objects, ends = (data.draw(_some(ours.entity_ids)) for _ in range(4))
        named, concepts = data.draw(_some(ours.predicates)), data.draw(_some(ours.concept_names))
        known = sorted(self.heard[place].passages) or ["nothing"]
        brought, by = (data.draw(_some(st.sampled_from(known))) for _ in range(2))

        def read(store: GraphStore) -> Any:
            with store.reader(self.names[place], horizon) as reader:
                return (
                    reader.entities(ids, concepts=concepts, passages=brought),
                    reader.triplets(
                        subjects=subjects, predicates=named, objects=objects, ends=ends, passages=by
                    ),
                    dict(reader.entity_vectors(ids, model="m")),
                )

        self._both(read)

    @rule(place=_places, horizon=_horizons, data=st.data())
    def look_at_facts(self, place: int, horizon: Horizon, data: st.DataObject) -> None:
        """Evidence by conditions at a horizon, and entities by words, with limits."""
        subjects, objects = (data.draw(_some(ours.entity_ids)) for _ in range(2))
        named, limit = data.draw(_some(ours.predicates)), data.draw(_limits)
        words = {word for name in self.heard[place].concepts for word in name_words(name)}

        def read(store: GraphStore) -> Any:
            with store.reader(self.names[place], horizon) as reader:
                bearers = reader.entities_by_words(words, limit=limit)
                every = reader.entities_by_words(words, limit=99)
                assert all(set(ids) <= set(every[word]) for word, ids in bearers.items())
                return (
                    reader.triplet_evidence(subjects=subjects, predicates=named, objects=objects),
                    reader.triplet_evidence(
                        subjects=subjects, predicates=named, objects=objects, limit=limit
                    ),
                    {word: len(ids) for word, ids in bearers.items()},
                )

        self._both(read)

    def teardown(self) -> None:
        """Both namespaces once more, then the end."""
        if not hasattr(self, "store"):
            return
        try:
            for place, name in enumerate(self.names):
                self._agree(place)
                assert (name in self.store.namespaces()) == (name in self.oracle.namespaces())
        finally:
            self.store.close()

    def _renamed(self, place: int, update: PreparedUpdate) -> PreparedUpdate:
        """The update under an id that nothing has, with references to the latest ids; an update
        that joins a passage joins one there is."""
        if update.text is not None:
            update = _referring(update, self.given[-4:])
            self.given.append(self._unused(update.id))
            return replace(update, id=self.given[-1])
        known = sorted(self.heard[place].passages - {""})
        joined = known[len(update.entities) % len(known)] if known else ""
        return replace(update, id=joined if update.id else "")

    def _unused(self, name: str) -> str:
        """A name that nothing has."""
        self.counted += 1
        return f"{name}-{self.counted}"

    def _both(self, do: Callable[[GraphStore], Any]) -> Any:
        """Do it in both stores: both give the same, or fail in the same way."""
        expected, found = _outcome(lambda: do(self.oracle)), _outcome(lambda: do(self.store))
        assert found == expected
        return found

    def _seen(self, place: int, horizon: Horizon | None = None) -> dict[str, Any]:
        """All that the store under test says."""
        with self.store.reader(self.names[place], horizon or _ALL) as reader:
            return snapshot(reader, self.heard[place])

    def _agree(self, place: int, horizon: Horizon | None = None) -> dict[str, Any]:
        """All that both say, which is the same; totals are those of their evidence."""
        with self.oracle.reader(self.names[place], horizon or _ALL) as reader:
            expected = snapshot(reader, self.heard[place])
            pinned = _model_and_sizes(reader)
        found = self._seen(place, horizon)
        with self.store.reader(self.names[place], horizon or _ALL) as reader:
            assert _model_and_sizes(reader) == pinned
            before, known = self.vocabularies[place]
            now, predicates = reader.state.vocabulary, list(reader.predicates())
        assert now > before or (now == before and predicates == known)
        self.vocabularies[place] = now, predicates
        for kind, value in expected.items():
            assert found[kind] == value, kind
        if horizon is None:
            _check_totals(found)
        return found


def _some(names: st.SearchStrategy[str]) -> st.SearchStrategy[list[str] | None]:
    return st.none() | st.lists(names, max_size=2)


def _referring(update: PreparedUpdate, ids: list[str]) -> PreparedUpdate:
    """The update with references to passages with these ids."""

    def moved(mention: ConceptMention) -> ConceptMention:
        reference = mention.reference
        if reference is None or reference.antecedent is None or not ids:
            return mention
        antecedent = ids[sum(map(ord, reference.antecedent)) % len(ids)]
        return replace(mention, reference=reference._replace(antecedent=antecedent))

    statements = tuple(
        replace(statement, concepts=tuple(map(moved, statement.concepts)))
        for statement in update.statements
    )
    return replace(update, statements=statements)


def _model_and_sizes(reader: GraphReader) -> Any:
    """The model of statement vectors and the sizes of all vectors; origin and revision are each
    store's own."""
    vectors, sizes = reader.state.vectors, dict(reader.state.vector_bytes)
    return None if vectors is None else (vectors.model, vectors.size), sizes


def _outcome(do: Callable[[], Any]) -> Any:
    try:
        return do()
    except RecallMError as error:
        return type(error), str(error)


def _by_pair(relations: list[Any]) -> dict[tuple[str, str], Any]:
    return {(relation.a, relation.b): relation for relation in relations}


def _position(upsert: EntityUpsert | TripletUpsert) -> int:
    return upsert.position


def _check_totals(found: dict[str, Any]) -> None:
    """Totals equal what the dumped rows beneath them say, without the oracle's word for it."""
    updates = [record for record in found["dump"] if not isinstance(record, Summary)]
    shown: dict[tuple[str, str], set[int]] = defaultdict(set)
    mentioned: dict[str, set[int]] = defaultdict(set)
    for update in updates:
        for pair in update.neighbours:
            shown[pair.a, pair.b].add(update.t_index)
        for statement in update.statements:
            for concept in statement.concepts:
                mentioned[concept.name].add(statement_key(update.t_index, statement.position))
    told: dict[object, dict[str, Any]] = defaultdict(dict)
    for update in updates:
        for entity in sorted(update.entities, key=_position):
            if entity.id not in told or not entity.mentioned:
                told[entity.id].update(entity.properties)
        for triplet in sorted(update.triplets, key=_position):
            told[triplet.subject, triplet.predicate, triplet.object].update(triplet.properties)
    kept = {entity.id: entity.properties for entity in found["entities"]}
    kept |= {(t.subject, t.predicate, t.object): t.properties for t in found["triplets"]}
    assert kept == told
    assert {pair: (r.strength, r.t_index) for pair, r in _by_pair(found["relations"]).items()} == {
        pair: (len(ts), max(ts)) for pair, ts in shown.items()
    }
    assert {name: set(m.keys) for name, m in found["mentions"].items()} == mentioned
    assert found["stats"].statements == sum(len(update.statements) for update in updates)
    assert found["sizes"].corpus.terms == sum(
        len(content_terms(s.terms)) for u in updates for s in u.statements
    )
