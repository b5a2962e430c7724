"""``dump`` and ``restore``: a namespace goes from any store to any other and stays equal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from recallm.errors import InvalidInputError, UnknownEntityError
from recallm.model import NO_POSITION, Horizon, PreparedUpdate, Summary
from tests.store_suite.dict_store import DictStore
from tests.store_suite.marked_text import entity, prepared, triplet, vector
from tests.store_suite.topics.base import Space, StoreTests, at, summary


def _filled(space: Space) -> None:
    """Something of everything, with gaps, cuts, and evidence that outlived other evidence."""
    space.write(
        prepared("first", "[Ann] met [Bo]", entities=(entity("e", "Eve", properties={"a": 1}),)),
        prepared("2", "[Ann] ran", "[Bo] ran", "[Cy] ran", timestamp=at(0.123456)),
        PreparedUpdate(
            id="",
            text=None,
            entities=(entity("f", "Fay", properties={"n": None}),),
            triplets=(triplet("e", "met", "f", properties={"b": [1]}),),
        ),
        prepared("gone", "[Di]", timestamp=at(50), metadata={"x": [True, None, {"é": 1.0}]}),
        prepared(
            "5",
            "[Ann] sat, [Ann=ann] stood",
            timestamp=at(100),
            path=("a", "b"),
            key="k",
            expires_at=at(999),
            metadata={"k": {"n": [1, 2.5, "x", None, False]}},
            speaker="Ann",
            speaker_concept="ann",
            entities=(entity("e", "Eve", position=0, properties={"c": {}}),),
            triplets=(triplet("e", "met", "f", position=0),),
            vectors=(vector(0, b"v\x00"),),
        ),
    )
    space.revise("ann", 5)
    space.forget("statement", "2#1")
    space.forget("id", "gone")
    space.forget("id", "first")
    space.write(prepared("6", "[Bo] sat", "[Cy] sat", session="s", source="t"))
    space.revise("bo", 6)


class ArchivingTests(StoreTests):
    """``GraphReader.dump`` and ``GraphStore.restore``."""

    def test_a_dump(self, space: Space) -> None:
        """The records of a dump, written out."""
        _filled(space)
        two, three, five, six, only = space.dump()
        assert [u.t_index for u in (two, three, five, six)] == [2, 3, 5, 6]
        assert (two.id, two.text, two.key) == ("2", "Ann ran Cy ran", None)
        assert two.timestamp == at(0.123456)
        assert [(s.position, s.start, s.end) for s in two.statements] == [(0, 0, 7), (2, 8, 14)]
        assert two.neighbours == ()
        assert three == PreparedUpdate(
            id="",
            text=None,
            t_index=3,
            entities=(entity("f", "Fay", properties={"n": None}, position=NO_POSITION),),
            triplets=(triplet("e", "met", "f", properties={"b": [1]}),),
        )
        assert five.entities == (entity("e", "Eve", position=0, properties={"c": {}}),)
        assert five.triplets == (triplet("e", "met", "f", position=0),)
        assert five.vectors == (vector(0, b"v\x00"),)
        assert (five.speaker_concept, five.path, five.key) == ("ann", ("a", "b"), "k")
        assert (five.expires_at, five.metadata) == (
            at(999),
            {"k": {"n": [1, 2.5, "x", None, False]}},
        )
        assert (six.session, six.source, len(six.neighbours)) == ("s", "t", 1)
        assert only == summary("bo", 6)

    def test_the_order_within_an_update(self, space: Space) -> None:
        """A dump orders neighbours, entities, triplets and vectors, in whatever order they
        were written."""
        update = prepared(
            "1",
            "[Cy] [Ann] [Bo]",
            "[Ann] [Cy]",
            entities=(entity("f", "F"), entity("e", "E", position=1), entity("e", "E", position=0)),
            triplets=(
                triplet("f", "p", "e"),
                triplet("e", "q", "e"),
                triplet("e", "p", "f", position=1),
                triplet("e", "p", "f", position=0),
            ),
            vectors=(vector(1, b"a"), vector(0, b"b")),
        )
        space.write(update)
        [dumped] = space.dump()
        assert dumped.neighbours == tuple(
            sorted(update.neighbours, key=lambda n: (n.a, n.b, n.earlier, n.later))
        )
        assert [(e.id, e.position) for e in dumped.entities] == [
            ("e", 0),
            ("e", 1),
            ("f", NO_POSITION),
        ]
        assert [(t.subject, t.predicate, t.position) for t in dumped.triplets] == [
            ("e", "p", 0),
            ("e", "p", 1),
            ("e", "q", NO_POSITION),
            ("f", "p", NO_POSITION),
        ]
        assert [(v.position, v.model) for v in dumped.vectors] == [(0, "m"), (1, "m")]

    def test_there_and_back(self, space: Space) -> None:
        """A dump restored into the oracle and back gives an equal namespace."""
        _filled(space)
        before = space.snapshot()
        oracle, copy = Space(DictStore(), "there"), space.beside("-copy")
        assert oracle.restore(6, space.dump()) == 4
        assert oracle.snapshot() == before
        assert copy.restore(6, oracle.dump()) == 4
        assert copy.snapshot() == before
        assert copy.write(prepared("7", "[Ann]", timestamp=at(130))) == [7]
        with copy.reader() as reader:
            assert reader.sizes(["@2"]).sessions["@2"].statements == 4

    def test_from_the_oracle(self, space: Space) -> None:
        """A dump of the oracle, some of it forgotten, gives an equal namespace."""
        oracle = Space(DictStore(), "oracle")
        _filled(oracle)
        _filled(space)
        for horizon in (Horizon(), Horizon(as_of=3), Horizon(as_of=at(60)), Horizon(now=at(999))):
            assert space.snapshot(horizon) == oracle.snapshot(horizon)

    def test_a_counter_above_its_updates(self, space: Space) -> None:
        """The counter is the archive's, even if the latest updates were forgotten."""
        one = replace(prepared("1", "[Ann]"), t_index=3)
        assert space.restore(9, [one]) == 1
        with space.reader() as reader:
            assert reader.state.t_index == 9
            assert [s.key >> 20 for s in reader.statements([3 << 20])] == [3]
        assert space.write(prepared("2", "[Ann]")) == [10]

    def test_an_empty_archive(self, space: Space) -> None:
        """An empty archive restores the counter alone."""
        assert space.restore(0, []) == 0
        assert not space.is_listed()
        assert space.restore(4, []) == 0
        assert space.is_listed()
        assert space.write(prepared("1", "[Ann]")) == [5]

    def test_only_into_an_empty_namespace(self, space: Space) -> None:
        """A namespace that holds something, or whose counter is above 0, is refused and
        unchanged."""
        space.write(prepared("1", "[Ann]"))
        before = space.snapshot()
        one = replace(prepared("2", "[Bo]"), t_index=1)
        with pytest.raises(InvalidInputError) as caught:
            space.restore(1, [one])
        assert caught.value.argument == "namespace"
        assert space.snapshot() == before
        space.forget("everything", True)
        with pytest.raises(InvalidInputError):
            space.restore(1, [one])
        with space.reader() as reader:
            assert list(reader.dump()) == []
            assert reader.state.t_index == 1

    def test_records_that_fail(self, space: Space) -> None:
        """An error while the records are read rolls back."""

        class BrokenArchiveError(Exception):
            pass

        def records() -> Iterator[PreparedUpdate | Summary]:
            for t in range(1, 30):
                yield replace(prepared(f"{t}", "[Ann] met [Bo]"), t_index=t)
            raise BrokenArchiveError

        with pytest.raises(BrokenArchiveError):
            space.restore(40, records())
        assert not space.is_listed()
        assert space.write(prepared("1", "[Ann]")) == [1]

    def test_a_triplet_before_its_entities(self, space: Space) -> None:
        """The first evidence of an entity may be forgotten while its triplets stay."""
        records = [
            PreparedUpdate(id="", text=None, t_index=2, triplets=(triplet("e", "p", "f"),)),
            PreparedUpdate(
                id="", text=None, t_index=3, entities=(entity("e", "E"), entity("f", "F"))
            ),
        ]
        assert space.restore(3, records) == 2
        with space.reader() as reader:
            assert [t.t_index for t in reader.triplets()] == [2]
            assert list(reader.dump()) == records
        other = space.beside("-other")
        with pytest.raises(UnknownEntityError) as caught:
            other.restore(3, [records[0], replace(records[1], entities=(entity("e", "E"),))])
        assert caught.value.id == "f"
        assert not other.is_listed()

    def test_many_updates(self, space: Space) -> None:
        """An archive of many updates is restored."""
        records = [
            replace(
                prepared(f"{t}", f"[Ann] met [N{t % 7}]", timestamp=at(t)),
                t_index=t,
                session_key="@1",
            )
            for t in range(1, 1501)
        ]
        assert space.restore(1500, iter(records)) == 1500
        with space.reader() as reader:
            assert list(reader.dump()) == records
            assert reader.concepts(["ann"])[0].updates == 1500
            assert reader.sizes(["@1"]).sessions["@1"].statements == 1500
            assert len(reader.relations(["ann"], limit=99)) == 7
