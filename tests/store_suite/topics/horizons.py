"""What a reader with a horizon sees: nothing that is hidden, and totals of all up to its t."""

from __future__ import annotations

from dataclasses import replace

import pytest

from recallm.errors import ConflictError
from recallm.model import (
    ConceptRow,
    Filter,
    Horizon,
    PreparedUpdate,
    Relation,
    Stats,
    Withdraw,
    statement_key,
)
from recallm.stores.base import SWEPT_PASSAGES, Applied
from tests.store_suite.dict_store import DictStore
from tests.store_suite.marked_text import entity, prepared, triplet, vector
from tests.store_suite.snapshots import UNHIDDEN, Vocabulary
from tests.store_suite.topics.base import (
    Space,
    StoreTests,
    at,
    find_passage,
    oracle_snapshot,
    summaries,
)


def _story() -> list[PreparedUpdate]:
    """Updates whose timestamps come late, early, or not at all."""
    return [
        prepared("1", "[Ann] met [Bo]", "[Bo] ran", session="s", timestamp=at(50)),
        prepared("2", "[Bo] met [Ann=ann]", session="s", vectors=(vector(0, b"2"),)),
        prepared(
            "3", "[ANN=ann] met [Cy]", session="s", timestamp=at(10), entities=(entity("e", "Ann"),)
        ),
        PreparedUpdate(id="", text=None, entities=(entity("e", "Ann"), entity("f", "Fay"))),
        prepared("5", "[Cy] met [Bo]", timestamp=at(30), triplets=(triplet("e", "met", "f"),)),
        prepared("6", "[Ann] met [Bo]", timestamp=at(70), expires_at=at(100)),
        prepared("7", "[Dee] ran", timestamp=at(30)),
    ]


class HorizonTests(StoreTests):
    """``Horizon``."""

    @pytest.fixture
    def told(self, space: Space) -> Space:
        """The store with the story in it."""
        space.write(*_story())
        return space

    def test_as_of_a_t(self, told: Space) -> None:
        """The view equals a store that never got the later updates."""
        also = Vocabulary().add(_story())
        young = Space(DictStore(), "young")
        for as_of, update in enumerate([*_story(), None]):
            then = told.snapshot(Horizon(as_of=as_of), also)
            alone = young.snapshot(also=also)
            for kind in then.keys() - UNHIDDEN:
                assert then[kind] == alone[kind], (as_of, kind)
            if update is not None:
                young.write(update)

    def test_as_of_a_later_t(self, told: Space) -> None:
        """An ``as_of`` above the counter shows everything."""
        assert told.snapshot(Horizon(as_of=99)) == told.snapshot()

    def test_as_of_a_moment(self, told: Space) -> None:
        """A datetime shows what was said up to it, whenever it arrived; passages without a
        timestamp are hidden."""
        for minutes, visible in (
            (9, []),
            (10, [3]),
            (30, [3, 5, 7]),
            (50, [1, 3, 5, 7]),
            (99, [1, 3, 5, 6, 7]),
        ):
            horizon = Horizon(as_of=at(minutes))
            self._shows(told, horizon, visible, max(visible, default=0))

    def test_expiry(self, told: Space) -> None:
        """A passage is hidden from the moment of its expiry on; totals still count it."""
        just_before = Horizon(now=at(99.999))
        assert told.snapshot(just_before) == told.snapshot()
        for minutes in (100, 101):
            horizon = Horizon(now=at(minutes))
            self._shows(told, horizon, [1, 2, 3, 4, 5, 7], 7)

    def test_expiry_and_as_of_together(self, told: Space) -> None:
        """Both conditions hold; expired passages count in the view's t."""
        self._shows(told, Horizon(now=at(100), as_of=6), [1, 2, 3, 4, 5], 6)
        self._shows(told, Horizon(now=at(100), as_of=at(80)), [1, 3, 5, 7], 7)
        self._shows(told, Horizon(now=at(100), as_of=5), [1, 2, 3, 4, 5], 5)

    def test_withdrawn(self, told: Space) -> None:
        """A passage is hidden from the t on at which it is withdrawn, and counts; what is withdrawn
        keeps its t; undone, or said again, it is there as if it had never been withdrawn."""
        before = told.snapshot()
        assert told.amend(Withdraw(ids=["2", "6", "none"])) == 2
        self._shows(told, Horizon(), [1, 3, 4, 5, 7], 8)
        self._shows(told, Horizon(as_of=at(80)), [1, 3, 5, 6, 7], 7)
        with told.reader(Horizon(withdrawn=True)) as reader:
            assert reader.t_indexes(Filter()) == [1, 2, 3, 5, 6, 7]
            assert [p.withdrawn_t for p in reader.passages(ids=["2", "7"])] == [None, 8]
        then = told.snapshot(Horizon(as_of=7))
        for kind in then.keys() - UNHIDDEN - {"passages", "all passages"}:
            assert then[kind] == before[kind], kind
        assert told.amend(Withdraw(ids={"6", "1"})) == 1
        self._shows(told, Horizon(as_of=8), [1, 3, 4, 5, 7], 8)
        self._shows(told, Horizon(), [3, 4, 5, 7], 9)
        for nothing in (Withdraw(ids=["1"]), Withdraw(ids=["7"], undo=True), Withdraw(ids=[])):
            assert told.amend(nothing) == 0
        assert told.beside("-other").amend(Withdraw(ids=["1"])) == 0
        assert told.copied().snapshot() == told.snapshot()
        assert told.apply(_story()[:1]) == [Applied(t_index=1, duplicate=True)]
        assert told.amend(Withdraw(ids=["2"], undo=True)) == 1
        self._shows(told, Horizon(), [1, 2, 3, 4, 5, 7], 9)
        self._shows(told, Horizon(as_of=8), [1, 2, 3, 4, 5, 7], 8)
        assert told.forget("expired", at(99)).passages == 0
        assert told.forget("id", "6").passages == 1
        self._shows(told, Horizon(), [1, 2, 3, 4, 5, 7], 9)

    def test_what_a_moment_shows(self, told: Space) -> None:
        """One datetime view, written out: what was said by then, with the totals of its t."""
        with told.reader(Horizon(as_of=at(30))) as reader:
            assert reader.state.t_index == 7
            assert [(c.name, c.label, c.t_index, c.statements) for c in reader.concepts()] == [
                ("dee", "Dee", 7, 1),
                ("ann", "Ann", 6, 4),
                ("bo", "Bo", 6, 5),
                ("cy", "Cy", 5, 2),
            ]
            assert [(r.a, r.b, r.strength) for r in reader.relations(["cy"], limit=9)] == [
                ("ann", "cy", 1),
                ("bo", "cy", 1),
            ]
            assert reader.relations(["ann", "bo"], among=True) == []
            assert [(e.id, e.updates) for e in reader.entities()] == [("e", 1)]
            assert reader.triplets() == []
            assert find_passage(reader, "1") is None
            met = reader.postings(["met"], limit=9, where=Filter())["met"]
            assert (met.statements, len(met.keys)) == (5, 2)
            assert reader.stats() == Stats(
                t_index=7,
                passages=6,
                statements=7,
                concepts=5,
                relations=3,
                entities=2,
                triplets=1,
                summaries=0,
                vectors=1,
                sessions=2,
            )

    def test_what_expired_is_not_shown(self, space: Space) -> None:
        """Neither a name nor a relation, entity, triplet or vector that only it brought; what it
        shares with others counts it until it is forgotten."""
        space.write(
            prepared("1", "[Ann] met [Bo]"),
            prepared(
                "2",
                "[Ann] met [Bo] and [Cy]",
                expires_at=at(5),
                entities=(entity("f", "Fay"), entity("g", "Gus")),
                triplets=(triplet("f", "met", "g"),),
                vectors=(vector(0, b"2"),),
            ),
        )
        with space.reader(Horizon(now=at(5))) as reader:
            assert [(c.name, c.updates) for c in reader.concepts()] == [("ann", 2), ("bo", 2)]
            assert reader.concepts(["cy", "fay"]) == []
            shown = [(r.a, r.b, r.strength) for r in reader.relations(["ann", "bo"], limit=9)]
            assert shown == [("ann", "bo", 2)]
            assert reader.relations(["bo", "cy"], among=True) == []
            assert [r.a for r in reader.relations(["bo"])] == ["ann"]
            assert (reader.entities(), reader.triplets()) == ([], [])
            assert reader.vectors([statement_key(2, 0)], model="m") == {}
            mentions = reader.mentions(["ann", "cy"], limit=9, where=Filter())
            assert mentions["ann"].keys.tolist() == [statement_key(1, 0)]
            assert [found.statements for found in mentions.values()] == [2, 1]
            assert not len(mentions["cy"].keys)
            assert (reader.stats().passages, reader.sizes().corpus.statements) == (2, 2)
        assert space.forget("expired", at(5)).passages == 1
        with space.reader(Horizon(now=at(5))) as reader:
            assert [(c.name, c.updates) for c in reader.concepts()] == [("ann", 1), ("bo", 1)]
            assert reader.stats().passages == 1

    def test_a_write_sweeps_what_has_expired(self, space: Space) -> None:
        """With ``now``; the id of such a passage is free then."""
        expiring = prepared("1", "[Ann]", expires_at=at(5))
        assert space.apply([expiring], now=at(9)) == [Applied(t_index=1)]
        assert space.apply([prepared("2", "[Bo]")], now=at(4)) == [Applied(t_index=2)]
        assert space.apply([prepared("3", "[Cy]")]) == [Applied(t_index=3)]
        with pytest.raises(ConflictError):
            space.apply([prepared("1", "[Di]"), prepared("2", "[Di]")], now=at(5))
        with space.reader() as reader:
            assert reader.stats().passages == 3
        assert space.apply([prepared("1", "[Di]")], now=at(5)) == [Applied(t_index=4)]
        with space.reader() as reader:
            assert [passage.id for passage in reader.passages(Filter())] == ["1", "3", "2"]
            assert reader.concepts(["ann"]) == []

    def test_a_write_sweeps_a_bounded_number(self, space: Space) -> None:
        """Those that expired first, then by t, and those with an id of the write."""
        first = [prepared(str(n), "[Ann]", expires_at=at(9)) for n in range(SWEPT_PASSAGES + 3)]
        space.apply([*first, prepared("soon", "[Ann]", expires_at=at(8))])
        last, before = str(SWEPT_PASSAGES + 2), str(SWEPT_PASSAGES + 1)
        assert not space.apply([prepared(last, "[Ann]")], now=at(9))[0].duplicate
        with space.reader() as reader:
            left = [passage.id for passage in reader.passages(Filter())]
        assert left == [last, before, str(SWEPT_PASSAGES), str(SWEPT_PASSAGES - 1)]

    def test_a_session_goes_on_from_what_has_expired(self, space: Space) -> None:
        """Where more has expired than a write sweeps."""
        space.apply(
            [
                prepared(str(n), "[Ann]", timestamp=at(0), expires_at=at(1))
                for n in range(SWEPT_PASSAGES + 9)
            ]
        )
        space.apply([prepared("late", "[Bo]", timestamp=at(10))], now=at(10))
        with space.reader() as reader:
            session = reader.open_session()
        assert session is not None
        assert session.key == "@1"

    def test_statements_skip_the_hidden(self, space: Space) -> None:
        """``previous`` and ``next`` skip hidden statements; session keys stay as written."""
        space.write(
            prepared("1", "[Ann]", timestamp=at(0), expires_at=at(5)),
            prepared("2", "[Ann]", timestamp=at(30), expires_at=at(500)),
            prepared("3", "[Ann]", timestamp=at(60), expires_at=at(5)),
            prepared("4", "[Ann]", timestamp=at(90)),
        )
        with space.reader(Horizon(now=at(10))) as reader:
            keys = [statement_key(t, 0) for t in (1, 2, 3, 4)]
            two, four = reader.statements(keys)
            assert (two.previous, two.next) == (None, keys[3])
            assert (four.previous, four.next) == (keys[1], None)
            assert (two.session_key, four.session_key) == ("@1", "@1")
            assert reader.sizes(["@1"]).sessions["@1"].statements == 4

    def test_graph_only_updates_do_not_expire(self, space: Space) -> None:
        """A graph-only update never expires, and every datetime ``as_of`` hides it."""
        space.write(
            PreparedUpdate(
                id="", text=None, timestamp=at(0), expires_at=at(0), entities=(entity("e", "Eve"),)
            )
        )
        with space.reader(Horizon(now=at(10))) as reader:
            assert len(reader.entities()) == 1
            assert [c.name for c in reader.concepts()] == ["eve"]
        with space.reader(Horizon(as_of=at(10))) as reader:
            assert reader.entities() == []
            assert reader.concepts() == []
            assert reader.state.t_index == 0

    def test_summaries_in_a_view(self, space: Space) -> None:
        """A summary is in force where it is not later than the view and covers no hidden update."""
        space.write(prepared("1", "[Ann] ran", timestamp=at(10), expires_at=at(90)))
        space.revise("ann", 1)
        space.write(prepared("2", "[Ann] sat", timestamp=at(20)))
        space.revise("ann", 2)
        space.write(prepared("3", "[Bo] sat", timestamp=at(5)))

        def in_force(horizon: Horizon) -> int | None:
            with space.reader(horizon) as reader:
                found = summaries(reader, ["ann", "bo"]).get("ann")
                return None if found is None else found.t_index

        assert in_force(Horizon()) == 2
        assert in_force(Horizon(as_of=2)) == 2
        assert in_force(Horizon(as_of=1)) is None
        assert in_force(Horizon(as_of=at(20))) == 2
        assert in_force(Horizon(as_of=at(10))) is None
        assert in_force(Horizon(as_of=at(9))) is None
        assert in_force(Horizon(now=at(89))) == 2
        assert in_force(Horizon(now=at(90))) is None
        for undo in (False, True):  # it says what is withdrawn, or lacks what is there again
            assert space.amend(Withdraw(ids=["1"], undo=undo)) == 1
            assert in_force(Horizon(withdrawn=True)) is None
            space.revise("ann", 2)
            assert in_force(Horizon()) == in_force(Horizon(as_of=3)) == 2

    def test_a_dump_heeds_no_horizon(self, space: Space) -> None:
        space.write(prepared("1", "[Ann]", "[Ann]"), prepared("2", "[Ann]", expires_at=at(0)))
        dump = space.dump()
        for horizon in (Horizon(as_of=0), Horizon(as_of=at(9)), Horizon(now=at(9))):
            with space.reader(horizon) as reader:
                assert list(reader.dump()) == dump

    @staticmethod
    def _shows(space: Space, horizon: Horizon, visible: list[int], t_index: int) -> None:
        """The view shows what a store does that heard only ``visible`` (but for sessions as
        written), and its totals are those of its t."""
        dump = [u for u in space.dump() if isinstance(u, PreparedUpdate)]
        also = Vocabulary().add(dump)
        kept = [u for u in dump if u.t_index in visible]
        known = {e.id for u in kept for e in u.entities}
        kept = [
            replace(u, triplets=tuple(t for t in u.triplets if {t.subject, t.object} <= known))
            for u in kept
        ]
        view, alone = (space.snapshot(horizon, also), oracle_snapshot(t_index, kept, also))
        whole = space.snapshot(Horizon(as_of=t_index, withdrawn=True), also)
        for kind in ("t_index", "sizes", "stats"):
            assert view.pop(kind) == whole[kind], kind
        for kind in ("concepts", "named concepts", "relations", "relations among"):
            shown = [_named(row) for row in alone[kind]]
            found = view.pop(kind)
            assert sorted(map(_named, found)) == sorted(shown), kind
            assert found == [row for row in whole[kind] if _named(row) in shown], kind
        for kind in ("postings", "mentions"):
            for name, found in view.pop(kind).items():
                assert found.statements == whole[kind][name].statements, name
                keys = alone[kind][name].keys.tolist() if name in alone[kind] else []
                assert found.keys.tolist() == keys, name
        for kind in view.keys() - UNHIDDEN:
            assert view[kind] == alone[kind], kind


def _named(row: ConceptRow | Relation) -> str:
    return row.name if isinstance(row, ConceptRow) else f"{row.a} {row.b}"
