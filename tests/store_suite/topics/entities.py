"""Entities and triplets: exact ids, merging, evidence, deleting."""

from __future__ import annotations

from typing import Any

import pytest

from recallm.errors import UnknownEntityError
from recallm.model import Entity, Forgotten, Horizon, PreparedUpdate, Triplet
from tests.store_suite.marked_text import entity, prepared, triplet
from tests.store_suite.topics.base import Space, StoreTests


def _graph_only(*entities: object, triplets: tuple[object, ...] = ()) -> PreparedUpdate:
    return PreparedUpdate(id="", text=None, entities=entities, triplets=triplets)  # type: ignore[arg-type]


class EntityTests(StoreTests):
    """What users name exactly."""

    def test_entities_that_share_a_concept(self, space: Space) -> None:
        """Two entities on one concept stay two, even if their stems are equal."""
        space.write(
            _graph_only(entity("university", "university", "univers")),
            _graph_only(entity("universe", "universe", "univers", type="Idea")),
        )
        common: dict[str, Any] = {"concept": "univers", "properties": {}, "updates": 1}
        with space.reader() as reader:
            both = reader.entities(concepts=["univers"])
            assert both == [
                Entity(id=id, label=id, type=type, t_index=t, **common)
                for id, type, t in [("universe", "Idea", 2), ("university", "Thing", 1)]
            ]
            [row] = reader.concepts(["univers"])
            assert (row.label, row.updates, row.statements, row.merges) == ("university", 2, 0, 1)

    def test_ids_are_exact(self, space: Space) -> None:
        """Every character of an id counts; the order is by code point."""
        ids = ["", "a\x00", "a\u0301", "$x", *" aAá'\"`\\😀\ufb00"]
        space.write(_graph_only(*(entity(id, f"x{n}") for n, id in enumerate(ids))))
        with space.reader() as reader:
            assert [e.id for e in reader.entities()] == sorted(ids)
            for n, id in enumerate(ids):
                assert [e.label for e in reader.entities([id])] == [f"x{n}"]

    def test_entities_by_id_and_concept(self, space: Space) -> None:
        """An entity needs to meet one condition; without conditions all are found; an empty
        one finds none."""
        space.write(_graph_only(*(entity(id, id.upper()) for id in "abc")))
        with space.reader() as reader:

            def ids(**conditions: list[str]) -> list[str]:
                return [e.id for e in reader.entities(**conditions)]

            assert ids() == ["a", "b", "c"]
            assert ids(ids=["c", "a", "nobody", "c"]) == ["a", "c"]
            assert ids(concepts=["b", "nothing"]) == ["b"]
            assert ids(ids=["a"], concepts=["b"]) == ["a", "b"]
            assert ids(ids=["a"], concepts=["a"]) == ["a"]
            assert ids(ids=[]) == []
            assert ids(concepts=[]) == []
            assert ids(ids=[], concepts=["c"]) == ["c"]

    def test_the_latest_upsert_gives_type_and_concept(self, space: Space) -> None:
        """An entity stands on its latest concept, with all its evidence."""
        space.write(
            _graph_only(entity("e", "Old", type="A")), _graph_only(entity("e", "New", type="B"))
        )
        with space.reader() as reader:
            [found] = reader.entities()
            assert (found.type, found.label, found.concept) == ("B", "New", "new")
            assert [(c.name, c.updates) for c in reader.concepts()] == [("new", 2)]
            assert reader.entities(concepts=["old"]) == []

    def test_what_is_forgotten_names_no_entity(self, space: Space) -> None:
        """Type, label and concept are those of the latest evidence that is left; a mention counts
        where none is earlier. By a concept goes what called the entity by it, at any time."""
        ann, bo, cy, dee = (
            prepared(str(n), f"[x{n}] ran", entities=(entity("e", label, type=type, mentioned=m),))
            for n, (label, type, m) in enumerate(
                [("Ann", "A", False), ("Bo", "B", True), ("Cy", "C", False), ("Dee", "D", True)]
            )
        )
        space.write(ann, bo, cy, dee)

        def named() -> list[tuple[str, str, list[str]]]:
            with space.reader() as reader:
                on = [row.name for row in reader.concepts() if not row.statements]
                return [(e.type, e.label, on) for e in reader.entities()]

        assert named() == [("C", "Cy", ["cy"])]
        copied = space.copied()
        assert space.forget("id", "2") == Forgotten(passages=1, statements=1, concepts=2)
        assert named() == [("A", "Ann", ["ann"])]
        space.forget("id", "0")
        assert named() == [("B", "Bo", ["bo"])]
        space.write(PreparedUpdate(id="3", text=None, entities=(entity("e", "Eve"),)))
        assert space.forget("concept", "bo") == Forgotten()
        assert space.forget("concept", "eve") == Forgotten(concepts=1, entities=1)
        space = copied
        space.forget("concept", "ann")
        assert named() == [("C", "Cy", ["cy"])]
        assert [len(update.entities) for update in space.dump()] == [0, 1, 1, 1]

    def test_what_called_an_entity_by_a_concept_is_forgotten(self, space: Space) -> None:
        """Also where the name has a NUL; what calls the entity by another concept stays."""
        early, late = (entity("e", "Eve", name) for name in ("a\x00b", "bo"))
        space.write(
            prepared("1", "[Cy]", entities=(early,)), prepared("2", "[Cy]", entities=(late,))
        )
        space.forget("concept", "a\x00b")
        with space.reader() as reader:
            assert [(e.updates, e.concept) for e in reader.entities(["e"])] == [(1, "bo")]

    def test_an_entity_that_came_back_is_new(self, space: Space) -> None:
        """A new entity with the id of a forgotten one inherits nothing."""
        eve = _graph_only(
            entity("e", "Eve", properties={"a": 1}),
            triplets=(triplet("e", "is", "e", properties={"a": 1}),),
        )
        bare = _graph_only(entity("e", "Eve"), triplets=(triplet("e", "is", "e"),))
        space.write(eve)
        space.delete_graph(entities=["e"])
        space.write(bare)
        with space.reader() as reader:
            assert [e.properties for e in reader.entities()] == [{}]
            assert [(t.properties, t.strength) for t in reader.triplets()] == [({}, 1)]
        space.forget("before", 99)
        with pytest.raises(UnknownEntityError):
            space.apply([_graph_only(triplets=bare.triplets)])

    def test_triplets_by_condition(self, space: Space) -> None:
        """Every condition given must be met; the order is by subject, predicate, object."""
        names = ["a", "b", "c"]
        triplets = [("b", "q", "a"), ("a", "q", "b"), ("a", "p", "c"), ("c", "p", "c")]
        space.write(
            _graph_only(
                *(entity(n, n) for n in names), triplets=tuple(triplet(*t) for t in triplets)
            )
        )
        with space.reader() as reader:

            def found(**conditions: list[str]) -> list[tuple[str, str, str]]:
                return [(t.subject, t.predicate, t.object) for t in reader.triplets(**conditions)]

            assert found() == sorted(triplets)
            assert found(subjects=["a"]) == [("a", "p", "c"), ("a", "q", "b")]
            assert found(subjects=["a", "b"], predicates=["q"]) == [
                ("a", "q", "b"),
                ("b", "q", "a"),
            ]
            assert found(objects=["c"]) == [("a", "p", "c"), ("c", "p", "c")]
            assert found(ends=["b"]) == [("a", "q", "b"), ("b", "q", "a")]
            assert found(ends=["c"], subjects=["a"]) == [("a", "p", "c")]
            assert found(ends=["b", "c"], predicates=["p", "q"]) == sorted(triplets)
            assert found(predicates=["nothing"]) == []
            assert found(subjects=[]) == []
            assert found(ends=[]) == []

    def test_a_triplet_has_a_direction(self, space: Space) -> None:
        """A triplet is directed, and makes no relation between concepts."""
        space.write(
            _graph_only(
                entity("a", "Ann"),
                entity("b", "Bo"),
                triplets=(triplet("a", "met", "b"), triplet("b", "met", "a")),
            ),
            _graph_only(triplets=(triplet("a", "met", "b"), triplet("a", "", "b"))),
        )
        with space.reader() as reader:
            assert reader.triplets() == [
                Triplet(subject=s, predicate=p, object=o, properties={}, strength=n, t_index=t)
                for s, p, o, n, t in [
                    ("a", "", "b", 1, 2),
                    ("a", "met", "b", 2, 2),
                    ("b", "met", "a", 1, 1),
                ]
            ]
            assert reader.relations(["ann", "bo"], limit=9) == []
            assert [(c.name, c.updates) for c in reader.concepts()] == [("ann", 1), ("bo", 1)]

    def test_entities_touch_their_concept(self, space: Space) -> None:
        """A mention and an entity's evidence in one update touch the concept once."""
        space.write(
            prepared("1", "[Eve] ran", entities=(entity("e", "Eva", "eve"),)),
            _graph_only(entity("e", "Evi", "eve")),
            prepared("3", "[Eve] sat"),
        )
        with space.reader() as reader:
            [row] = reader.concepts()
        assert (row.label, row.updates, row.statements, row.merges, row.t_index) == (
            "Eve",
            3,
            2,
            2,
            3,
        )

    def test_evidence_goes_with_its_statement(self, space: Space) -> None:
        """Evidence goes with the statement at its position; without a position it goes with
        the last statement."""
        space.write(
            prepared(
                "1",
                "[Ann] ran",
                "[Bo] ran",
                entities=(entity("shown", "S", position=0), entity("bare", "B")),
                triplets=(
                    triplet("bare", "p", "bare", position=0),
                    triplet("shown", "p", "bare"),
                    triplet("bare", "q", "bare"),
                ),
            )
        )
        assert space.forget("statement", "1#0") == Forgotten(
            statements=1, concepts=2, relations=1, entities=1, triplets=2
        )
        with space.reader() as reader:
            assert [e.id for e in reader.entities()] == ["bare"]
            assert [t.predicate for t in reader.triplets()] == ["q"]
        assert space.forget("statement", "1#1") == Forgotten(
            passages=1, statements=1, concepts=2, entities=1, triplets=1
        )

    def test_forgetting_a_concept_takes_its_entities(self, space: Space) -> None:
        """The entities on a forgotten concept go with their triplets; other entities stay."""
        space.write(
            prepared(
                "1",
                "[Ann] ran",
                entities=(entity("e", "Eve"), entity("a", "Ann")),
                triplets=(triplet("e", "met", "a"), triplet("a", "met", "a")),
            ),
            _graph_only(entity("e", "Eve"), entity("e2", "Eve")),
        )
        assert space.forget("concept", "eve") == Forgotten(concepts=1, entities=2, triplets=1)
        with space.reader() as reader:
            assert [e.id for e in reader.entities()] == ["a"]
            assert [t.subject for t in reader.triplets()] == ["a"]
            assert reader.state.t_index == 2
        [update] = space.dump()
        assert [e.id for e in update.entities] == ["a"]

    def test_delete_graph(self, space: Space) -> None:
        """Entities go by exact id with their triplets, triplets alone; statements stay."""
        other = space.beside("-other")
        story = [
            prepared(
                "1", "[Ann] met [Bo]", entities=tuple(entity(n, n) for n in ("ann", "b", "c"))
            ),
            _graph_only(
                triplets=(
                    triplet("ann", "p", "b"),
                    triplet("b", "p", "c"),
                    triplet("c", "p", "b"),
                    triplet("c", "q", "b"),
                )
            ),
        ]
        space.write(*story)
        other.write(*story)
        before = other.snapshot()
        unknown = space.delete_graph(
            entities=["Ann", "nobody"], triplets=[("ann", "P", "b"), ("b", "p", "ann")]
        )
        assert not unknown
        assert space.delete_graph() == Forgotten()
        counted = space.delete_graph(
            entities=["ann", "ann"], triplets=iter([("c", "p", "b"), ("c", "p", "b")])
        )
        assert counted == Forgotten(entities=1, triplets=2)
        with space.reader() as reader:
            assert [e.id for e in reader.entities()] == ["b", "c"]
            assert [(t.subject, t.predicate) for t in reader.triplets()] == [("b", "p"), ("c", "q")]
            assert [c.name for c in reader.concepts()] == ["ann", "b", "bo", "c"]
            assert [c.label for c in reader.concepts(["ann"])] == ["Ann"]
            assert reader.stats().statements == 1
        assert space.delete_graph(entities=["b", "c"]) == Forgotten(
            entities=2, triplets=2, concepts=2
        )
        assert other.snapshot() == before
        assert not space.beside("-unknown").delete_graph(entities=["ann"])

    def test_a_triplet_outlives_the_first_evidence_of_its_entity(self, space: Space) -> None:
        """A triplet is hidden while one of its entities is."""
        space.write(
            prepared("1", "[Ann]", entities=(entity("e", "Eve"),)),
            _graph_only(triplets=(triplet("e", "is", "e"),)),
            _graph_only(entity("e", "Eve")),
        )
        space.forget("id", "1")
        with space.reader(Horizon(as_of=2)) as reader:
            assert reader.entities() == []
            assert reader.triplets() == []
        with space.reader() as reader:
            assert [t.t_index for t in reader.triplets()] == [2]
