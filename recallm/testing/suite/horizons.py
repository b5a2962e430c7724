"""What a reader with a horizon sees: the namespace as if the hidden had never been said."""

from __future__ import annotations

from dataclasses import replace

import pytest

from recallm.model import Filter, Horizon, PreparedUpdate, Stats, statement_key
from recallm.stores.base import GraphStore
from recallm.testing.everything import UNHIDDEN, Vocabulary
from recallm.testing.marked_text import entity, prepared, triplet, vector
from recallm.testing.suite.base import StoreTests, at, revise, seen, seen_of, tell

__all__ = ["HorizonTests"]


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
    def told(self, store: GraphStore, namespace: str) -> GraphStore:
        """The store with the story in it."""
        tell(store, namespace, *_story())
        return store

    @pytest.mark.parametrize("as_of", range(8))
    def test_as_of_a_t(self, told: GraphStore, namespace: str, as_of: int) -> None:
        """The view is that of a store which heard nothing later."""
        young = f"{namespace}-young"
        tell(told, young, *_story()[:as_of])
        also = Vocabulary().add(_story())
        then, alone = (
            seen(told, namespace, Horizon(as_of=as_of), also),
            seen(told, young, None, also),
        )
        for kind in then.keys() - UNHIDDEN:
            assert then[kind] == alone[kind], kind

    def test_as_of_a_later_t(self, told: GraphStore, namespace: str) -> None:
        """A t that is not there yet shows all; the view's t is the counter."""
        assert seen(told, namespace, Horizon(as_of=99)) == seen(told, namespace)

    @pytest.mark.parametrize(
        ("minutes", "visible"),
        [(9, []), (10, [3]), (30, [3, 5, 7]), (50, [1, 3, 5, 7]), (99, [1, 3, 5, 6, 7])],
    )
    def test_as_of_a_moment(
        self, told: GraphStore, namespace: str, minutes: int, visible: list[int]
    ) -> None:
        """What was said up to the moment, in whatever order it arrived; nothing without a time."""
        horizon = Horizon(as_of=at(minutes))
        self._shows(told, namespace, horizon, visible, max(visible, default=0))

    def test_expiry(self, told: GraphStore, namespace: str) -> None:
        """A passage is gone from the moment of its expiry; the view's t is still the counter."""
        just_before = Horizon(now=at(99.999))
        assert seen(told, namespace, just_before) == seen(told, namespace)
        for minutes in (100, 101):
            horizon = Horizon(now=at(minutes))
            self._shows(told, namespace, horizon, [1, 2, 3, 4, 5, 7], 7)

    def test_expiry_and_as_of_together(self, told: GraphStore, namespace: str) -> None:
        """Both conditions hold; a t-horizon counts the expired in its t, a moment does not."""
        self._shows(told, namespace, Horizon(now=at(100), as_of=6), [1, 2, 3, 4, 5], 6)
        self._shows(told, namespace, Horizon(now=at(100), as_of=at(80)), [1, 3, 5, 7], 7)

    def test_what_a_moment_shows(self, told: GraphStore, namespace: str) -> None:
        """The totals of one datetime view, written out."""
        with told.reader(namespace, Horizon(as_of=at(30))) as reader:
            assert reader.t_index == 7
            assert [(c.name, c.label, c.t_index) for c in reader.concepts()] == [
                ("dee", "Dee", 7),
                ("bo", "Bo", 5),
                ("cy", "Cy", 5),
                ("ann", "ANN", 3),
            ]
            assert [(e.id, e.updates) for e in reader.entities()] == [("e", 1)]
            assert reader.triplets() == []
            assert reader.passage("1") is None
            assert reader.postings(["met"], limit=9, where=Filter())["met"].documents == 2
            assert reader.stats() == Stats(
                t_index=7,
                passages=3,
                statements=3,
                concepts=4,
                relations=2,
                entities=1,
                triplets=0,
                summaries=0,
                vectors=0,
                sessions=2,
            )

    def test_statements_skip_the_hidden(self, store: GraphStore, namespace: str) -> None:
        """What is hidden is not before or after anything; session keys stay as written."""
        tell(
            store,
            namespace,
            prepared("1", "[Ann]", timestamp=at(0), expires_at=at(5)),
            prepared("2", "[Ann]", timestamp=at(30), expires_at=at(500)),
            prepared("3", "[Ann]", timestamp=at(60), expires_at=at(5)),
            prepared("4", "[Ann]", timestamp=at(90)),
        )
        with store.reader(namespace, Horizon(now=at(10))) as reader:
            keys = [statement_key(t, 0) for t in (1, 2, 3, 4)]
            two, four = reader.statements(keys)
            assert (two.previous, two.next) == (None, keys[3])
            assert (four.previous, four.next) == (keys[1], None)
            assert (two.session_key, four.session_key) == ("@1", "@1")
            assert reader.sessions(["@1"])["@1"].statements == 2

    def test_linked_through_the_hidden(self, store: GraphStore, namespace: str) -> None:
        """A hidden relation leads nowhere, and a concept's age is that of the view."""
        tell(
            store,
            namespace,
            prepared("1", "[Ann] [Bo]"),
            prepared("2", "[Bo] [Cy]"),
            prepared("3", "[Bo]"),
        )
        with store.reader(namespace, Horizon(as_of=1)) as reader:
            [bo] = reader.linked("ann", hops=2, oldest=0, newest=9, limit=9)
            assert (bo.name, bo.t_index) == ("bo", 1)
        with store.reader(namespace, Horizon(as_of=2)) as reader:
            rows = reader.linked("ann", hops=2, oldest=2, newest=2, limit=9)
            assert [row.name for row in rows] == ["bo", "cy"]

    def test_graph_only_updates_do_not_expire(self, store: GraphStore, namespace: str) -> None:
        """Without a passage there is no moment: seen at any ``now``, hidden at any datetime."""
        tell(
            store,
            namespace,
            PreparedUpdate(
                id="",
                text=None,
                timestamp=at(0),
                expires_at=at(0),
                entities=(entity("e", "Eve"),),
            ),
        )
        with store.reader(namespace, Horizon(now=at(10))) as reader:
            assert len(reader.entities()) == 1
            assert [c.name for c in reader.concepts()] == ["eve"]
        with store.reader(namespace, Horizon(as_of=at(10))) as reader:
            assert reader.entities() == []
            assert reader.concepts() == []
            assert reader.t_index == 0

    def test_summaries_in_a_view(self, store: GraphStore, namespace: str) -> None:
        """A view shows the latest summary that covers nothing hidden."""
        tell(store, namespace, prepared("1", "[Ann] ran", timestamp=at(10), expires_at=at(90)))
        revise(store, namespace, "ann", 1)
        tell(store, namespace, prepared("2", "[Ann] sat", timestamp=at(20)))
        revise(store, namespace, "ann", 2)
        tell(store, namespace, prepared("3", "[Bo] sat", timestamp=at(5)))

        def in_force(horizon: Horizon) -> int | None:
            with store.reader(namespace, horizon) as reader:
                found = reader.summaries(["ann", "bo"]).get("ann")
                assert reader.stats().summaries == (found is not None)
                return None if found is None else found.t_index

        assert in_force(Horizon()) == 2
        assert in_force(Horizon(as_of=2)) == 2
        assert in_force(Horizon(as_of=1)) == 1
        assert in_force(Horizon(as_of=0)) is None
        assert in_force(Horizon(as_of=at(20))) == 2
        assert in_force(Horizon(as_of=at(10))) == 1
        assert in_force(Horizon(as_of=at(9))) is None
        assert in_force(Horizon(now=at(89))) == 2
        assert in_force(Horizon(now=at(90))) is None

    def test_a_version_is_of_everything(self, store: GraphStore, namespace: str) -> None:
        """``context_version`` and ``dump`` do not heed the horizon."""
        tell(
            store,
            namespace,
            prepared("1", "[Ann]", "[Ann]"),
            prepared("2", "[Ann]", expires_at=at(0)),
        )
        with store.reader(namespace, Horizon()) as reader:
            version, dump = reader.context_version("ann"), list(reader.dump())
        assert version is not None
        assert (version.t_index, version.statements, version.summary_t) == (2, 3, None)
        for horizon in (Horizon(as_of=0), Horizon(as_of=at(9)), Horizon(now=at(9))):
            with store.reader(namespace, horizon) as reader:
                assert reader.context_version("ann") == version
                assert list(reader.dump()) == dump

    @staticmethod
    def _shows(
        store: GraphStore, namespace: str, horizon: Horizon, visible: list[int], t_index: int
    ) -> None:
        """The view equals a store that heard only ``visible``, but for sessions as written."""
        with store.reader(namespace, Horizon()) as reader:
            dump = [u for u in reader.dump() if isinstance(u, PreparedUpdate)]
        also = Vocabulary().add(dump)
        kept = [u for u in dump if u.t_index in visible]
        known = {e.id for u in kept for e in u.entities}
        kept = [
            replace(u, triplets=tuple(t for t in u.triplets if {t.subject, t.object} <= known))
            for u in kept
        ]
        view, alone = seen(store, namespace, horizon, also), seen_of(t_index, kept, also)
        for kind in view.keys() - UNHIDDEN:
            assert view[kind] == alone[kind], kind
