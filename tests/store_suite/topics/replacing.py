"""Updates that replace the passage with their id."""

from __future__ import annotations

import pytest

from recallm.errors import ConflictError, UnknownEntityError
from recallm.model import Filter, PreparedUpdate
from recallm.stores.base import Applied
from tests.store_suite.marked_text import entity, prepared, triplet
from tests.store_suite.topics.base import Space, StoreTests, find_item, summaries


class ReplacingTests(StoreTests):
    """A passage whose text has changed."""

    def test_replacing_forgets_and_writes(self, space: Space) -> None:
        """The old passage is forgotten exactly, and the new one takes the next t."""
        space.write(prepared("a", "[Ann] met [Bo]"), prepared("b", "[Ann] ran"))
        space.revise("ann", 2)
        new = prepared("a", "[Ann] met [Cy]", replaces=True)
        assert space.apply([new]) == [Applied(t_index=3)]
        passage = space.passage("a")
        assert (passage.text, passage.t_index) == ("Ann met Cy", 3)
        with space.reader() as reader:
            assert {c.name: c.updates for c in reader.concepts()} == {"ann": 2, "cy": 1}
            assert [(r.a, r.b) for r in reader.relations(["ann"], limit=9)] == [("ann", "cy")]
            assert summaries(reader, ["ann"]) == {}
            assert reader.stats().passages == 2

    def test_replacing_takes_what_joined(self, space: Space) -> None:
        """Evidence of the old passage goes; evidence of other updates stays."""
        space.write(
            prepared("a", "[Ann] met [Bo]"),
            PreparedUpdate(
                id="a",
                text=None,
                entities=(entity("ann", "Ann"), entity("bo", "Bo")),
                triplets=(triplet("ann", "met", "bo"),),
            ),
            PreparedUpdate(id="", text=None, entities=(entity("bo", "Bo"),)),
            prepared("a", "[Bo] ran", entities=(entity("cy", "Cy"),), replaces=True),
        )
        with space.reader() as reader:
            assert [(e.id, e.t_index, e.source) for e in reader.entities()] == [
                ("bo", 2, None),
                ("cy", 3, "a"),
            ]
            assert reader.triplets() == []

    def test_replacing_within_a_batch(self, space: Space) -> None:
        """A replacement may replace a passage of its own batch."""
        ann = entity("ann", "Ann", properties={"k": 1})
        applied = space.apply(
            [
                prepared("a", "[Ann] one", entities=(ann,)),
                prepared("b", "[Bo] two"),
                prepared("a", "[Cy] three", replaces=True),
                PreparedUpdate(id="a", text=None, entities=(entity("cy", "Cy"),)),
                prepared("a", "[Cy] three", replaces=True),
                prepared("a", "[Dan] four", replaces=True, entities=(entity("dan", "Dan"),)),
            ]
        )
        assert [update.t_index for update in applied] == [1, 2, 3, 3, 3, 4]
        assert [update.duplicate for update in applied] == [False, False, False, False, True, False]
        with space.reader() as reader:
            assert [passage.text for passage in reversed(reader.passages(Filter()))] == [
                "Bo two",
                "Dan four",
            ]
            assert [e.id for e in reader.entities()] == ["dan"]
            assert {c.name for c in reader.concepts()} == {"bo", "dan"}

    def test_replacing_an_item_by_its_id_and_its_key(self, space: Space) -> None:
        """An item replaces the passage with its id and the one under its key."""
        space.write(
            prepared("a", "[Ann] one"),
            prepared("i", "[Bo] two", path=("p",), key="k"),
            prepared("a", "[Cy] three", path=("p",), key="k", replaces=True),
        )
        with space.reader() as reader:
            assert [c.name for c in reader.concepts()] == ["cy"]
            item = find_item(reader, ("p",), "k")
            assert item is not None
            assert item.id == "a"

    def test_only_where_it_is_asked_for(self, space: Space) -> None:
        """Without ``replaces`` another text is a conflict; a failed batch leaves the old
        passage."""
        space.write(prepared("a", "[Ann] ran"))
        with pytest.raises(ConflictError):
            space.write(prepared("a", "[Bo] ran"))
        broken = prepared("a", "[Bo] ran", triplets=(triplet("x", "is", "y"),), replaces=True)
        with pytest.raises(UnknownEntityError):
            space.write(broken)
        assert space.passage("a").text == "Ann ran"
        with space.reader() as reader:
            assert reader.state.t_index == 1
