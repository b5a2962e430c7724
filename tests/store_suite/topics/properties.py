"""Properties of entities and triplets: of each evidence its own, merged in its order."""

from __future__ import annotations

from typing import Any

from recallm.model import Horizon, PreparedUpdate, SelectionKind
from tests.store_suite.marked_text import entity, prepared, triplet
from tests.store_suite.topics.base import Space, StoreTests, at


def _told(properties: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """The entity e and a triplet of it, both with these properties."""
    return {
        "entities": (entity("e", "Eve", properties=properties, **fields),),
        "triplets": (triplet("e", "is", "e", properties=properties, **fields),),
    }


def _joining(id: str, properties: dict[str, Any], **fields: Any) -> PreparedUpdate:
    return PreparedUpdate(id=id, text=None, **_told(properties, **fields))


def _graph_only(properties: dict[str, Any]) -> PreparedUpdate:
    return _joining("", properties)


def _kept(space: Space, horizon: Horizon | None = None) -> dict[str, Any]:
    """The properties of e, which are those of its triplet."""
    with space.reader(horizon or Horizon()) as reader:
        [found], [relation] = reader.entities(["e"]), reader.triplets()
    assert relation.properties == found.properties
    return dict(found.properties)


class PropertyTests(StoreTests):
    """What is told of an entity or a triplet stands while it is said."""

    def test_properties_merge_key_by_key(self, space: Space) -> None:
        """A later value replaces an earlier one as a whole; None is a value like any other."""
        first = {"a": 1, "b": {"x": 1, "y": [1]}, "c": "c", "d": None}
        second = {"a": None, "b": {"x": 2}, "e": [None, True, 1.5, "é\x00"]}
        merged = {"a": None, "b": {"x": 2}, "c": "c", "d": None, "e": [None, True, 1.5, "é\x00"]}
        space.write(_graph_only(first), _graph_only(second))
        with space.reader() as reader:
            [found], [relation] = reader.entities(), reader.triplets()
        assert (found.properties, found.updates, found.t_index) == (merged, 2, 2)
        assert (relation.properties, relation.strength, relation.t_index) == (merged, 2, 2)
        assert found.properties["e"][1] is True

    def test_the_order_within_one_update(self, space: Space) -> None:
        """A later position stands above an earlier one; at one position the order is that in which
        it was told. The update counts once."""
        space.write(
            prepared(
                "1",
                "[Eve]",
                "[Eve]",
                entities=(
                    entity("e", "Eve", properties={"a": 1, "b": 1}, position=1),
                    entity("e", "Eve", properties={"a": 2, "c": 2}, position=0),
                    entity("e", "Eve", properties={"c": 3}, position=0),
                ),
                triplets=(
                    triplet("e", "is", "e", properties={"a": 1}),
                    triplet("e", "is", "e", properties={"a": 2, "b": 2}, position=0),
                    triplet("e", "is", "e", properties={"b": 3}, position=0),
                ),
            )
        )
        with space.reader() as reader:
            [found], [relation] = reader.entities(), reader.triplets()
        assert (found.properties, found.updates) == ({"a": 1, "b": 1, "c": 3}, 1)
        assert (relation.properties, relation.strength) == ({"a": 1, "b": 3}, 1)
        space.forget("statement", "1#1")
        with space.reader() as reader:
            [found], [relation] = reader.entities(), reader.triplets()
        assert found.properties == {"a": 2, "c": 3}
        assert relation.properties == {"a": 1, "b": 3}

    def test_a_horizon_does_not_take_them_apart(self, space: Space) -> None:
        """Properties are merged from all evidence, hidden or not."""
        space.write(
            _graph_only({"a": 1}),
            prepared("2", "[Eve]", timestamp=at(1), expires_at=at(5), **_told({"b": 2})),
        )
        for horizon in (Horizon(), Horizon(as_of=1), Horizon(as_of=at(2)), Horizon(now=at(9))):
            assert _kept(space, horizon) == {"a": 1, "b": 2}

    def test_what_is_forgotten_takes_its_own_along(self, space: Space) -> None:
        """Whichever of several passages go, what the others said is there, with the values that it
        had before it was said anew."""
        cases: dict[str, dict[str, Any]] = {
            "abc": {},
            "ab": {"x": 3, "z": None},
            "bc": {"x": 1, "y": 1},
            "ca": {"x": 2, "y": [2]},
            "a": {"x": 3, "y": [2], "z": None},
            "b": {"x": 3, "y": 1, "z": None},
            "c": {"x": 2, "y": [2]},
            "": {"x": 3, "y": [2], "z": None},
        }
        for gone, left in cases.items():
            case = space.beside(f" {gone}")
            updates = [
                _graph_only({}),
                prepared("a", "[Eve] ran", **_told({"x": 1, "y": 1})),
                prepared("b", "[Eve] sat", **_told({"x": 2, "y": [2]})),
                prepared("c", "[Eve] slept", **_told({"x": 3, "z": None})),
            ]
            case.apply(updates)
            for id in gone:
                assert case.forget("id", id).passages == 1
            assert _kept(case) == left
            case.write(_graph_only({"x": 9}))
            assert _kept(case) == {**left, "x": 9}

    def test_however_it_is_forgotten(self, space: Space) -> None:
        """Every selection takes exactly the properties of the evidence that it forgets."""
        a = prepared("a", "[Ann] ran", source="s", timestamp=at(3), **_told({"k": 1}))
        b = prepared(
            "b",
            "[Bo] ran",
            "[Cy] ran",
            session="t",
            timestamp=at(5),
            expires_at=at(8),
            **_told({"k": 2}, position=0),
        )
        cases: list[tuple[SelectionKind, Any, dict[str, int]]] = [
            ("source", "s", {"k": 2, "l": 2}),
            ("session", "t", {"k": 1}),
            ("statement", "b#0", {"k": 1, "l": 2}),
            ("before", 2, {"k": 2, "l": 2}),
            ("before", at(4), {"k": 2, "l": 2}),
            ("concept", "bo", {"k": 1, "l": 2}),
            ("expired", at(9), {"k": 1}),
            ("expired", at(7), {"k": 2, "l": 2}),
        ]
        for kind, value, left in cases:
            case = space.beside(f" {kind} {value}")
            case.apply([a, b, _joining("b", {"l": 2}, position=1)])
            case.forget(kind, value)
            assert _kept(case) == left, case

    def test_what_is_replaced_is_said_no_longer(self, space: Space) -> None:
        """A passage with another text, and an item under the same key; within one batch too."""
        space.write(
            _graph_only({"k": 0, "g": 0}),
            prepared("a", "[Ann]", **_told({"k": 1, "a": 1})),
            prepared("i", "[Bo]", path=("p",), key="i", **_told({"k": 2, "i": 1})),
        )
        assert _kept(space) == {"k": 2, "g": 0, "a": 1, "i": 1}
        space.write(prepared("a", "[Ann] ran", replaces=True))
        assert _kept(space) == {"k": 2, "g": 0, "i": 1}
        space.write(prepared("j", "[Bo]", path=("p",), key="i", **_told({"j": 1})))
        assert _kept(space) == {"k": 0, "g": 0, "j": 1}
        space.apply(
            [
                prepared("b", "[Bo]", **_told({"k": 3, "b": 1})),
                _joining("b", {"k": 4}, position=0),
                prepared("b", "[Bo] ran", replaces=True, **_told({"b": 2})),
                _joining("j", {"j": 2}),
            ]
        )
        assert _kept(space) == {"k": 0, "g": 0, "j": 2, "b": 2}

    def test_the_order_is_that_of_the_evidence(self, space: Space) -> None:
        """Properties are merged by t, in whatever order they were written."""
        space.write(prepared("a", "[Ann]", "[Ann]"), prepared("b", "[Bo]"))
        space.write(_joining("b", {"k": "b"}))
        space.write(_joining("a", {"k": "a", "l": "a"}, position=1))
        assert _kept(space) == {"k": "b", "l": "a"}
        space.write(_joining("a", {"l": "0", "m": "0"}, position=0))
        assert _kept(space) == {"k": "b", "l": "a", "m": "0"}
        space.write(_joining("a", {"l": "last"}))
        assert _kept(space) == {"k": "b", "l": "last", "m": "0"}
        space.forget("id", "b")
        assert _kept(space) == {"k": "a", "l": "last", "m": "0"}
        space.forget("statement", "a#0")
        assert _kept(space) == {"k": "a", "l": "last"}

    def test_told_again_at_the_same_place(self, space: Space) -> None:
        """A second upsert at one place is merged into the evidence there, and goes with it."""
        space.write(prepared("a", "[Ann]"), prepared("b", "[Bo]"))
        for properties in ({"k": 1, "l": 1}, {}, {"k": 2, "m": None}):
            space.write(_joining("a", properties))
        space.write(_joining("b", {"l": 3}))
        space.write(_joining("a", {"l": 4}))
        assert _kept(space) == {"k": 2, "l": 3, "m": None}
        first, second = space.dump()
        for record, own in ((first, {"k": 2, "l": 4, "m": None}), (second, {"l": 3})):
            assert [e.properties for e in record.entities] == [own]
            assert [t.properties for t in record.triplets] == [own]
        space.forget("id", "b")
        assert _kept(space) == {"k": 2, "l": 4, "m": None}

    def test_a_mention_brings_none(self, space: Space) -> None:
        """Where evidence is earlier; one of an entity that is not there, or not any more, is an
        upsert, and what it said goes with it."""
        space.write(
            prepared("a", "[Ann]", entities=(entity("e", "Eve", properties={"k": 1}),)),
            prepared(
                "b",
                "[Bo]",
                entities=(
                    entity("e", "Eve", properties={"k": 2, "l": 2}, mentioned=True),
                    entity("f", "Fay", properties={"m": 1}, mentioned=True),
                    entity("f", "Fay", properties={"m": 2}, mentioned=True),
                ),
            ),
            PreparedUpdate(id="", text=None, entities=(entity("f", "Fay"),)),
        )

        def kept() -> list[Any]:
            with space.reader() as reader:
                return [dict(found.properties) for found in reader.entities()]

        assert kept() == [{"k": 1}, {"m": 1}]
        space.forget("id", "a")
        assert kept() == [{"k": 2, "l": 2}, {"m": 1}]
        space.forget("id", "b")
        assert kept() == [{}]

    def test_restored_they_are_told_as_before(self, space: Space) -> None:
        """Each evidence of a restored namespace keeps its own, and takes it along."""
        space.write(
            prepared("a", "[Ann]", "[Ann] ran", **_told({"k": 1, "l": 1}, position=1)),
            prepared("b", "[Bo]", **_told({"k": 2})),
        )
        space.write(_joining("a", {"l": 2}))
        copied = space.copied()
        assert copied.snapshot() == space.snapshot()
        copied.forget("id", "b")
        assert _kept(copied) == {"k": 1, "l": 2}
        copied.forget("statement", "a#1")
        assert _kept(copied) == {"l": 2}
