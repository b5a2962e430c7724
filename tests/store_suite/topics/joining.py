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
    statement_key,
)
from recallm.stores.base import Applied
from tests.store_suite.marked_text import entity, prepared, triplet
from tests.store_suite.topics.base import NOON, Space, StoreTests, at, find_passage, summaries

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

    def test_joining_is_as_if_it_had_come_with_the_passage(self, space: Space) -> None:
        """No t is taken; evidence, totals and archive are those of one update."""
        triplets = (triplet("ann", "knows", "bo", properties={"k": 1}),)
        a = prepared("a", "[Ann] met [Bo]", "[Cy] slept", timestamp=NOON)
        b = prepared("b", "[Bo] ran")
        space.write(a, b)
        joined = _joining("a", _ANN, _BO, triplets=triplets)
        assert space.apply([joined]) == [Applied(t_index=1)]
        whole = space.beside("-whole")
        whole.write(replace(a, entities=(_ANN, _BO), triplets=triplets), b)
        assert space.snapshot() == whole.snapshot()
        assert space.snapshot(Horizon(as_of=NOON)) == whole.snapshot(Horizon(as_of=NOON))
        assert space.write(prepared("c", "[Ann] left")) == [3]

    def test_joining_in_one_batch(self, space: Space) -> None:
        """An update may join a passage from earlier in its batch, and several different ones."""
        applied = space.apply(
            [
                prepared("a", "[Ann] met [Bo]"),
                prepared("b", "[Bo] met [Cy]"),
                _joining("b", _BO, _CY, triplets=(triplet("bo", "knows", "cy"),)),
                _joining("a", _ANN, _BO, triplets=(triplet("ann", "knows", "bo"),)),
                _joining("", _CY),
                prepared("c", "[Cy] ran"),
            ]
        )
        assert [update.t_index for update in applied] == [1, 2, 2, 1, 3, 4]
        with space.reader() as reader:
            found = {e.id: (e.t_index, e.updates, e.source) for e in reader.entities()}
            assert found == {"ann": (1, 1, "a"), "bo": (2, 2, "b"), "cy": (3, 2, "b")}
            assert [(t.subject, t.t_index, t.source) for t in reader.triplets()] == [
                ("ann", 1, "a"),
                ("bo", 2, "b"),
            ]
            assert [c.name for c in reader.concepts()] == ["cy", "bo", "ann"]

    def test_joining_an_earlier_update_keeps_what_is_latest(self, space: Space) -> None:
        """Late evidence counts at its own t: no t_index goes back, strengths grow."""
        space.write(prepared("a", "[Ann] met [Bo]"), prepared("b", "[Cy] ran"))
        knows = triplet("ann", "knows", "bo")
        space.write(_joining("b", _ANN, _BO, triplets=(knows,)))
        space.write(_joining("a", _ANN, _BO, triplets=(knows,)))
        with space.reader() as reader:
            [found] = reader.triplets()
            assert (found.strength, found.t_index, found.source) == (2, 2, "b")
            assert [(e.t_index, e.updates) for e in reader.entities()] == [(2, 2), (2, 2)]
            assert {c.name: (c.t_index, c.updates) for c in reader.concepts()} == {
                "ann": (2, 2),
                "bo": (2, 2),
                "cy": (2, 1),
            }
        with space.reader(Horizon(as_of=1)) as reader:
            [found] = reader.triplets()
            assert (found.strength, found.t_index, found.source) == (1, 1, "a")

    def test_a_concept_that_only_late_evidence_touches(self, space: Space) -> None:
        """Its label is that of the earliest evidence, whatever was written first."""
        space.write(prepared("a", "[Ann] ran"), prepared("b", "[Ann] ran"))
        space.write(_joining("b", entity("x", "Late", "x")))
        space.write(_joining("a", entity("y", "early", "x")))
        with space.reader() as reader:
            [row] = reader.concepts(["x"])
            assert (row.label, row.t_index, row.updates, row.merges) == ("early", 2, 2, 1)

    def test_joining_after_a_summary(self, space: Space) -> None:
        """A summary covers what joins its updates later."""
        space.write(prepared("a", "[Ann] ran"), prepared("b", "[Ann] sat"))
        space.revise("ann", 2)
        space.write(_joining("a", _ANN))
        with space.reader() as reader:
            [row] = reader.concepts(["ann"])
            assert (row.updates, row.merges) == (2, 0)
            assert set(summaries(reader, ["ann"])) == {"ann"}

    def test_what_joined_goes_with_its_passage(self, space: Space) -> None:
        """An entity that another passage showed too stays, with that passage as its source."""
        space.write(prepared("a", "[Ann] met [Bo]"), prepared("b", "[Bo] met [Cy]"))
        likes = (triplet("ann", "likes", "bo"),)
        space.write(_joining("a", _ANN, _BO, triplets=likes))
        space.write(_joining("b", _BO, _CY, triplets=(triplet("bo", "likes", "cy"),)))
        gone = space.forget("id", "b")
        assert (gone.entities, gone.triplets) == (1, 1)
        with space.reader() as reader:
            assert [(e.id, e.source) for e in reader.entities()] == [("ann", "a"), ("bo", "a")]
            assert [t.object for t in reader.triplets()] == ["bo"]
        assert space.forget("id", "a").entities == 2
        with space.reader() as reader:
            assert reader.stats().concepts == 0

    def test_unknown_passages(self, space: Space) -> None:
        """An update that joins an unknown passage is refused with its batch."""
        space.write(prepared("a", "[Ann] ran"))
        for missing in ("b", "A", "a "):
            with pytest.raises(UnknownPassageError, match="update first") as failure:
                space.apply([prepared("c", "[Cy]"), _joining(missing, _ANN)])
            assert failure.value.id == missing
        with pytest.raises(UnknownPassageError):
            space.beside("-other").apply([_joining("a", _ANN)])
        with pytest.raises(UnknownEntityError):
            space.apply([_joining("a", _ANN, triplets=(triplet("ann", "is", "x"),))])
        space.forget("id", "a")
        with pytest.raises(UnknownPassageError):
            space.apply([_joining("a", _ANN)])
        with space.reader() as reader:
            assert (reader.state.t_index, reader.stats().entities, find_passage(reader, "c")) == (
                1,
                0,
                None,
            )

    def test_an_expired_passage_is_joined_and_hides_what_joined(self, space: Space) -> None:
        """Joined entities and triplets are hidden and forgotten with their passage."""
        space.write(prepared("a", "[Ann] ran", expires_at=at(5)))
        space.write(_joining("a", _ANN))
        for now, ids in ((at(4), ["ann"]), (at(6), [])):
            with space.reader(Horizon(now=now)) as reader:
                assert [e.id for e in reader.entities()] == ids
                assert [e.id for e in reader.entities(passages=["a"])] == ids
        assert space.forget("expired", at(6)).entities == 1

    def test_sources_at_a_horizon(self, space: Space) -> None:
        """The source is the latest visible passage; graph-only updates are no source."""
        space.write(
            prepared("a", "[Ann] ran", timestamp=at(1)),
            prepared("b", "[Ann] sat", timestamp=at(3), expires_at=at(9)),
        )
        likes = (triplet("ann", "likes", "ann"),)
        for id in ("a", "b", ""):
            space.write(_joining(id, _ANN, triplets=likes))
        sources: list[tuple[int | datetime | None, datetime | None, str | None]] = [
            (None, None, "b"),
            (1, None, "a"),
            (at(2), None, "a"),
            (None, at(10), "a"),
        ]
        for as_of, now, source in sources:
            with space.reader(Horizon(as_of=as_of, now=now)) as reader:
                assert [e.source for e in reader.entities()] == [source]
                assert [t.source for t in reader.triplets()] == [source]
        space.write(_joining("", _BO))
        with space.reader() as reader:
            assert [e.source for e in reader.entities(["bo"])] == [None]

    def test_what_passages_brought(self, space: Space) -> None:
        """Entities are added to those asked for by id; triplets must meet all conditions."""
        space.write(prepared("a", "[Ann] met [Bo]"), prepared("b", "[Cy]"))
        likes = triplet("ann", "likes", "bo")
        space.write(_joining("a", _ANN, _BO, triplets=(likes,)))
        space.write(_joining("b", _CY, triplets=(triplet("cy", "likes", "ann"),)))
        with space.reader() as reader:
            assert [e.id for e in reader.entities(passages=["a"])] == ["ann", "bo"]
            assert [e.id for e in reader.entities(["cy"], passages=["a"])] == ["ann", "bo", "cy"]
            assert reader.entities(passages=[]) == []
            assert reader.entities(passages=["A"]) == []
            assert [t.subject for t in reader.triplets(passages=["a", "b"])] == ["ann", "cy"]
            assert reader.triplets(passages=["a"], subjects=["cy"]) == []
            assert reader.triplets(passages=[]) == []

    def test_entities_on_no_concept(self, space: Space) -> None:
        """An entity may stand on no concept."""
        space.write(prepared("a", "[Ann] ran"))
        space.write(_joining("a", _unnamed("a", properties={"k": 1}), _ANN))
        space.write(_joining("a", triplets=(triplet("a", "mentions", "ann"),)))
        with space.reader() as reader:
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
        assert space.forget("concept", "") == Forgotten()
        assert space.copied().dump() == space.dump()
        gone = space.delete_graph(entities=["a"])
        assert (gone.entities, gone.triplets, gone.concepts) == (1, 1, 0)

    def test_an_entity_may_gain_and_lose_its_concept(self, space: Space) -> None:
        """The latest upsert says whether an entity stands on a concept; totals follow."""
        space.write(_joining("", entity("x", "X"), _unnamed("y")))
        space.write(_joining("", _unnamed("x"), entity("y", "Y")))
        with space.reader() as reader:
            assert [(e.id, e.concept) for e in reader.entities()] == [("x", ""), ("y", "y")]
            assert [(c.name, c.updates, c.t_index) for c in reader.concepts()] == [("y", 2, 2)]
        space.forget("before", 2)
        with space.reader() as reader:
            assert [(c.name, c.updates, c.t_index) for c in reader.concepts()] == [("y", 1, 2)]

    def test_an_entity_that_is_only_mentioned(self, space: Space) -> None:
        """It is evidence, and of an entity that is there it changes nothing else; of one that is
        not, it is an upsert like any other."""
        ann = entity("ann", "Ann", type="Person", properties={"k": 1}, vectors={"m": b"aa"})
        other = entity("ann", "Other", type="Else", properties={"k": 2}, vectors={"m": b"bb"})
        new = entity("bo", "Bo", properties={"l": 1}, mentioned=True)
        space.write(_joining("", ann), prepared("a", "[Ann] met [Bo]"))
        space.write(_joining("a", replace(other, mentioned=True), new))
        with space.reader() as reader:
            found, bo = reader.entities()
            assert (found.type, found.label, found.concept) == ("Person", "Ann", "ann")
            assert (found.properties, found.t_index, found.updates) == ({"k": 1}, 2, 2)
            assert dict(reader.entity_vectors(model="m")) == {"ann": b"aa"}
            assert (bo.type, bo.properties, bo.updates) == ("Thing", {"l": 1}, 1)
            assert {c.name: (c.t_index, c.updates) for c in reader.concepts()} == {
                "ann": (2, 2),
                "bo": (2, 1),
            }
        space.apply(
            [
                _joining("", entity("cy", "Cy")),
                _joining("", replace(_unnamed("cy"), mentioned=True)),
                _joining("", replace(entity("dan", "Dan"), mentioned=True), entity("dan", "D")),
            ]
        )
        with space.reader() as reader:
            cy, dan = reader.entities(["cy", "dan"])
            assert (cy.concept, cy.updates) == ("cy", 2)
            assert (dan.concept, dan.updates) == ("d", 1)
            assert {"cy", "d"} <= {c.name for c in reader.concepts()}
            assert reader.concepts(["dan"]) == []

    def test_evidence_of_a_statement_joins_too(self, space: Space) -> None:
        """Evidence that joins at a statement's position goes with that statement."""
        space.write(prepared("a", "[Ann] ran", "[Bo] sat"))
        first, second = replace(_ANN, position=0), replace(_BO, position=1)
        space.write(_joining("a", first, second))
        assert space.forget("statement", "a#0").entities == 1
        with space.reader() as reader:
            assert [e.id for e in reader.entities()] == ["bo"]
            assert [s.key for s in reader.statements([statement_key(1, 1)])] == [(1 << 20) + 1]
