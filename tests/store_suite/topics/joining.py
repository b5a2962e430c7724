"""Entities and triplets that join the update of a passage, and where they come from."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from recallm.errors import UnknownEntityError, UnknownPassageError
from recallm.model import (
    ConceptMention,
    EntityUpsert,
    Forgotten,
    Horizon,
    PreparedUpdate,
    Triplet,
    statement_key,
)
from recallm.stores.base import Applied, GraphStore
from tests.store_suite.marked_text import entity, prepared, triplet
from tests.store_suite.topics.base import (
    NOON,
    StoreTests,
    apply_each,
    at,
    delete_graph,
    find_passage,
    forget,
    revise,
    snapshot_of,
    summaries,
)

_ANN, _BO, _CY = entity("ann", "Ann"), entity("bo", "Bo"), entity("cy", "Cy")


def _joining(
    id: str, *entities: EntityUpsert, triplets: tuple[Any, ...] = (), **fields: Any
) -> PreparedUpdate:
    return PreparedUpdate(id=id, text=None, entities=entities, triplets=triplets, **fields)


def _unnamed(id: str, label: str = "text_chunk", **fields: Any) -> EntityUpsert:
    """An entity that stands on no concept."""
    concept = ConceptMention(name="", label=label, kind="entity")
    return EntityUpsert(id=id, type="chunk", concept=concept, **fields)


class JoiningTests(StoreTests):
    """What is told of a passage after it was written."""

    def test_joining_is_as_if_it_had_come_with_the_passage(
        self, store: GraphStore, namespace: str
    ) -> None:
        """No t is taken; evidence, totals and archive are those of one update."""
        triplets = (triplet("ann", "knows", "bo", properties={"k": 1}),)
        a = prepared("a", "[Ann] met [Bo]", "[Cy] slept", timestamp=NOON)
        b = prepared("b", "[Bo] ran")
        apply_each(store, namespace, a, b)
        joined = _joining("a", _ANN, _BO, triplets=triplets)
        assert store.apply(namespace, [joined]) == [Applied(t_index=1)]
        whole = f"{namespace}-whole"
        apply_each(store, whole, replace(a, entities=(_ANN, _BO), triplets=triplets), b)
        assert snapshot_of(store, namespace) == snapshot_of(store, whole)
        assert snapshot_of(store, namespace, Horizon(as_of=NOON)) == snapshot_of(
            store, whole, Horizon(as_of=NOON)
        )
        assert apply_each(store, namespace, prepared("c", "[Ann] left")) == [3]

    def test_joining_in_one_batch(self, store: GraphStore, namespace: str) -> None:
        """An update may join a passage from earlier in its batch, and several different ones."""
        applied = store.apply(
            namespace,
            [
                prepared("a", "[Ann] met [Bo]"),
                prepared("b", "[Bo] met [Cy]"),
                _joining("b", _BO, _CY, triplets=(triplet("bo", "knows", "cy"),)),
                _joining("a", _ANN, _BO, triplets=(triplet("ann", "knows", "bo"),)),
                _joining("", _CY),
                prepared("c", "[Cy] ran"),
            ],
        )
        assert [it.t_index for it in applied] == [1, 2, 2, 1, 3, 4]
        with store.reader(namespace, Horizon()) as reader:
            found = {e.id: (e.t_index, e.updates, e.source) for e in reader.entities()}
            assert found == {"ann": (1, 1, "a"), "bo": (2, 2, "b"), "cy": (3, 2, "b")}
            assert [(t.subject, t.t_index, t.source) for t in reader.triplets()] == [
                ("ann", 1, "a"),
                ("bo", 2, "b"),
            ]
            assert [c.name for c in reader.concepts()] == ["cy", "bo", "ann"]

    def test_joining_again_shows_nothing_more(self, store: GraphStore, namespace: str) -> None:
        """One passage shows an entity and a triplet once; their properties are merged."""
        apply_each(store, namespace, prepared("a", "[Ann] met [Bo]"))
        for properties in ({"k": 1}, {"l": 2}):
            knows = triplet("ann", "knows", "bo", properties=properties)
            apply_each(store, namespace, _joining("a", _ANN, _BO, triplets=(knows,)))
        with store.reader(namespace, Horizon()) as reader:
            assert reader.triplets() == [
                Triplet(
                    subject="ann",
                    predicate="knows",
                    object="bo",
                    properties={"k": 1, "l": 2},
                    strength=1,
                    t_index=1,
                    source="a",
                )
            ]
            assert [e.updates for e in reader.entities()] == [1, 1]
            assert reader.state.t_index == 1

    def test_joining_an_earlier_update_keeps_what_is_latest(
        self, store: GraphStore, namespace: str
    ) -> None:
        """Late evidence counts at its own t: no t_index goes back, strengths grow."""
        apply_each(store, namespace, prepared("a", "[Ann] met [Bo]"), prepared("b", "[Cy] ran"))
        knows = triplet("ann", "knows", "bo")
        apply_each(store, namespace, _joining("b", _ANN, _BO, triplets=(knows,)))
        apply_each(store, namespace, _joining("a", _ANN, _BO, triplets=(knows,)))
        with store.reader(namespace, Horizon()) as reader:
            [found] = reader.triplets()
            assert (found.strength, found.t_index, found.source) == (2, 2, "b")
            assert [(e.t_index, e.updates) for e in reader.entities()] == [(2, 2), (2, 2)]
            assert {c.name: (c.t_index, c.updates) for c in reader.concepts()} == {
                "ann": (2, 2),
                "bo": (2, 2),
                "cy": (2, 1),
            }
        with store.reader(namespace, Horizon(as_of=1)) as reader:
            [found] = reader.triplets()
            assert (found.strength, found.t_index, found.source) == (1, 1, "a")

    def test_a_concept_that_only_late_evidence_touches(
        self, store: GraphStore, namespace: str
    ) -> None:
        """Its label is that of the earliest evidence, whatever was written first."""
        apply_each(store, namespace, prepared("a", "[Ann] ran"), prepared("b", "[Ann] ran"))
        apply_each(store, namespace, _joining("b", entity("x", "Late", "x")))
        apply_each(store, namespace, _joining("a", entity("y", "early", "x")))
        with store.reader(namespace, Horizon()) as reader:
            [row] = reader.concepts(["x"])
            assert (row.label, row.t_index, row.updates, row.merges) == ("early", 2, 2, 1)

    def test_joining_after_a_summary(self, store: GraphStore, namespace: str) -> None:
        """A summary covers what joins its updates later."""
        apply_each(store, namespace, prepared("a", "[Ann] ran"), prepared("b", "[Ann] sat"))
        revise(store, namespace, "ann", 2)
        apply_each(store, namespace, _joining("a", _ANN))
        with store.reader(namespace, Horizon()) as reader:
            [row] = reader.concepts(["ann"])
            assert (row.updates, row.merges) == (2, 0)
            assert set(summaries(reader, ["ann"])) == {"ann"}

    def test_what_joined_goes_with_its_passage(self, store: GraphStore, namespace: str) -> None:
        """An entity that another passage showed too stays, with that passage as its source."""
        apply_each(
            store, namespace, prepared("a", "[Ann] met [Bo]"), prepared("b", "[Bo] met [Cy]")
        )
        likes = (triplet("ann", "likes", "bo"),)
        apply_each(store, namespace, _joining("a", _ANN, _BO, triplets=likes))
        apply_each(
            store, namespace, _joining("b", _BO, _CY, triplets=(triplet("bo", "likes", "cy"),))
        )
        gone = forget(store, namespace, "id", "b")
        assert (gone.entities, gone.triplets) == (1, 1)
        with store.reader(namespace, Horizon()) as reader:
            assert [(e.id, e.source) for e in reader.entities()] == [("ann", "a"), ("bo", "a")]
            assert [t.object for t in reader.triplets()] == ["bo"]
        assert forget(store, namespace, "id", "a").entities == 2
        with store.reader(namespace, Horizon()) as reader:
            assert reader.stats().concepts == 0

    def test_unknown_passages(self, store: GraphStore, namespace: str) -> None:
        """An update that joins an unknown passage is refused with its batch."""
        apply_each(store, namespace, prepared("a", "[Ann] ran"))
        for missing in ("b", "A", "a "):
            with pytest.raises(UnknownPassageError, match="update first") as failure:
                store.apply(namespace, [prepared("c", "[Cy]"), _joining(missing, _ANN)])
            assert failure.value.id == missing
        with pytest.raises(UnknownPassageError):
            store.apply(f"{namespace}-other", [_joining("a", _ANN)])
        with pytest.raises(UnknownEntityError):
            store.apply(namespace, [_joining("a", _ANN, triplets=(triplet("ann", "is", "x"),))])
        forget(store, namespace, "id", "a")
        with pytest.raises(UnknownPassageError):
            store.apply(namespace, [_joining("a", _ANN)])
        with store.reader(namespace, Horizon()) as reader:
            assert (reader.state.t_index, reader.stats().entities, find_passage(reader, "c")) == (
                1,
                0,
                None,
            )

    def test_an_expired_passage_is_joined_and_hides_what_joined(
        self, store: GraphStore, namespace: str
    ) -> None:
        """Joined entities and triplets are hidden and forgotten with their passage."""
        apply_each(store, namespace, prepared("a", "[Ann] ran", expires_at=at(5)))
        apply_each(store, namespace, _joining("a", _ANN))
        for now, ids in ((at(4), ["ann"]), (at(6), [])):
            with store.reader(namespace, Horizon(now=now)) as reader:
                assert [e.id for e in reader.entities()] == ids
                assert [e.id for e in reader.entities(passages=["a"])] == ids
        assert forget(store, namespace, "expired", at(6)).entities == 1

    def test_sources_at_a_horizon(self, store: GraphStore, namespace: str) -> None:
        """The source is the latest visible passage; graph-only updates are no source."""
        apply_each(
            store,
            namespace,
            prepared("a", "[Ann] ran", timestamp=at(1)),
            prepared("b", "[Ann] sat", timestamp=at(3), expires_at=at(9)),
        )
        likes = (triplet("ann", "likes", "ann"),)
        for id in ("a", "b", ""):
            apply_each(store, namespace, _joining(id, _ANN, triplets=likes))
        sources: list[tuple[int | datetime | None, datetime | None, str | None]] = [
            (None, None, "b"),
            (1, None, "a"),
            (at(2), None, "a"),
            (None, at(10), "a"),
        ]
        for as_of, now, source in sources:
            with store.reader(namespace, Horizon(as_of=as_of, now=now)) as reader:
                assert [e.source for e in reader.entities()] == [source]
                assert [t.source for t in reader.triplets()] == [source]
        apply_each(store, namespace, _joining("", _BO))
        with store.reader(namespace, Horizon()) as reader:
            assert [e.source for e in reader.entities(["bo"])] == [None]

    def test_what_passages_brought(self, store: GraphStore, namespace: str) -> None:
        """Entities are added to those asked for by id; triplets must meet all conditions."""
        apply_each(store, namespace, prepared("a", "[Ann] met [Bo]"), prepared("b", "[Cy]"))
        likes = triplet("ann", "likes", "bo")
        apply_each(store, namespace, _joining("a", _ANN, _BO, triplets=(likes,)))
        apply_each(store, namespace, _joining("b", _CY, triplets=(triplet("cy", "likes", "ann"),)))
        with store.reader(namespace, Horizon()) as reader:
            assert [e.id for e in reader.entities(passages=["a"])] == ["ann", "bo"]
            assert [e.id for e in reader.entities(["cy"], passages=["a"])] == ["ann", "bo", "cy"]
            assert reader.entities(passages=[]) == []
            assert reader.entities(passages=["A"]) == []
            assert [t.subject for t in reader.triplets(passages=["a", "b"])] == ["ann", "cy"]
            assert reader.triplets(passages=["a"], subjects=["cy"]) == []
            assert reader.triplets(passages=[]) == []

    def test_entities_on_no_concept(self, store: GraphStore, namespace: str) -> None:
        """An entity may stand on no concept."""
        apply_each(store, namespace, prepared("a", "[Ann] ran"))
        apply_each(store, namespace, _joining("a", _unnamed("a", properties={"k": 1}), _ANN))
        apply_each(store, namespace, _joining("a", triplets=(triplet("a", "mentions", "ann"),)))
        with store.reader(namespace, Horizon()) as reader:
            chunk, _ = reader.entities()
            assert (chunk.id, chunk.type, chunk.label, chunk.concept) == (
                "a",
                "chunk",
                "text_chunk",
                "",
            )
            assert (chunk.properties, chunk.updates, chunk.source) == ({"k": 1}, 1, "a")
            assert reader.entities(concepts=[""]) == []
            assert [c.name for c in reader.concepts()] == ["ann"]
            assert reader.concepts([""]) == []
            assert reader.stats().concepts == 1
            assert [(t.subject, t.object) for t in reader.triplets()] == [("a", "ann")]
            records = list(reader.dump())
        assert forget(store, namespace, "concept", "") == Forgotten()
        copied = f"{namespace}-copy"
        store.restore(copied, 3, records)
        with store.reader(copied, Horizon()) as reader:
            assert list(reader.dump()) == records
        gone = delete_graph(store, namespace, entities=["a"])
        assert (gone.entities, gone.triplets, gone.concepts) == (1, 1, 0)

    def test_an_entity_may_gain_and_lose_its_concept(
        self, store: GraphStore, namespace: str
    ) -> None:
        """The latest upsert says whether an entity stands on a concept; totals follow."""
        apply_each(store, namespace, _joining("", entity("x", "X"), _unnamed("y")))
        apply_each(store, namespace, _joining("", _unnamed("x"), entity("y", "Y")))
        with store.reader(namespace, Horizon()) as reader:
            assert [(e.id, e.concept) for e in reader.entities()] == [("x", ""), ("y", "y")]
            assert [(c.name, c.updates, c.t_index) for c in reader.concepts()] == [("y", 2, 2)]
        forget(store, namespace, "before", 2)
        with store.reader(namespace, Horizon()) as reader:
            assert [(c.name, c.updates, c.t_index) for c in reader.concepts()] == [("y", 1, 2)]

    def test_an_entity_that_is_only_mentioned(self, store: GraphStore, namespace: str) -> None:
        """It is evidence, and of an entity that is there it changes nothing else; of one that is
        not, it is an upsert like any other."""
        ann = entity("ann", "Ann", type="Person", properties={"k": 1}, vectors={"m": b"aa"})
        other = entity("ann", "Other", type="Else", properties={"k": 2}, vectors={"m": b"bb"})
        new = entity("bo", "Bo", properties={"l": 1}, mentioned=True)
        apply_each(store, namespace, _joining("", ann), prepared("a", "[Ann] met [Bo]"))
        apply_each(store, namespace, _joining("a", replace(other, mentioned=True), new))
        with store.reader(namespace, Horizon()) as reader:
            found, bo = reader.entities()
            assert (found.type, found.label, found.concept) == ("Person", "Ann", "ann")
            assert (found.properties, found.t_index, found.updates) == ({"k": 1}, 2, 2)
            assert dict(reader.entity_vectors(model="m")) == {"ann": b"aa"}
            assert (bo.type, bo.properties, bo.updates) == ("Thing", {"l": 1}, 1)
            assert {c.name: (c.t_index, c.updates) for c in reader.concepts()} == {
                "ann": (2, 2),
                "bo": (2, 1),
            }
        store.apply(
            namespace,
            [
                _joining("", entity("cy", "Cy")),
                _joining("", replace(_unnamed("cy"), mentioned=True)),
                _joining("", replace(entity("dan", "Dan"), mentioned=True), entity("dan", "D")),
            ],
        )
        with store.reader(namespace, Horizon()) as reader:
            cy, dan = reader.entities(["cy", "dan"])
            assert (cy.concept, cy.updates) == ("cy", 2)
            assert (dan.concept, dan.updates) == ("d", 1)
            assert {"cy", "d"} <= {c.name for c in reader.concepts()}
            assert reader.concepts(["dan"]) == []

    def test_evidence_of_a_statement_joins_too(self, store: GraphStore, namespace: str) -> None:
        """Evidence that joins at a statement's position goes with that statement."""
        apply_each(store, namespace, prepared("a", "[Ann] ran", "[Bo] sat"))
        first, second = replace(_ANN, position=0), replace(_BO, position=1)
        apply_each(store, namespace, _joining("a", first, second))
        assert forget(store, namespace, "statement", "a#0").entities == 1
        with store.reader(namespace, Horizon()) as reader:
            assert [e.id for e in reader.entities()] == ["bo"]
            assert [s.key for s in reader.statements([statement_key(1, 1)])] == [(1 << 20) + 1]
