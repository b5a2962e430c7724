"""``dump`` and ``restore``: a namespace goes from any store to any other and stays equal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from recallm.errors import InvalidInputError, UnknownEntityError
from recallm.model import NO_POSITION, Horizon, PreparedUpdate, Summary
from recallm.stores.base import GraphStore
from tests.store_suite.dict_store import DictStore
from tests.store_suite.marked_text import entity, prepared, triplet, vector
from tests.store_suite.topics.base import (
    StoreTests,
    apply_each,
    at,
    forget,
    revise,
    snapshot_of,
    summary,
)


def _filled(store: GraphStore, namespace: str) -> None:
    """Something of everything, with gaps, cuts, and evidence that outlived other evidence."""
    apply_each(
        store,
        namespace,
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
    revise(store, namespace, "ann", 5)
    forget(store, namespace, "statement", "2#1")
    forget(store, namespace, "id", "gone")
    forget(store, namespace, "id", "first")
    apply_each(store, namespace, prepared("6", "[Bo] sat", "[Cy] sat", session="s", source="t"))
    revise(store, namespace, "bo", 6)


class ArchivingTests(StoreTests):
    """``GraphReader.dump`` and ``GraphStore.restore``."""

    def test_a_dump(self, store: GraphStore, namespace: str) -> None:
        """The records of a dump, written out."""
        _filled(store, namespace)
        with store.reader(namespace, Horizon()) as reader:
            two, three, five, six, only = reader.dump()
        assert isinstance(two, PreparedUpdate)
        assert isinstance(three, PreparedUpdate)
        assert isinstance(five, PreparedUpdate)
        assert isinstance(six, PreparedUpdate)
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

    def test_the_order_within_an_update(self, store: GraphStore, namespace: str) -> None:
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
        apply_each(store, namespace, update)
        with store.reader(namespace, Horizon()) as reader:
            [dumped] = reader.dump()
        assert isinstance(dumped, PreparedUpdate)
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

    def test_there_and_back(self, store: GraphStore, namespace: str) -> None:
        """A dump restored into the oracle and back gives an equal namespace."""
        _filled(store, namespace)
        before = snapshot_of(store, namespace)
        oracle, copy = DictStore(), f"{namespace}-copy"
        with store.reader(namespace, Horizon()) as reader:
            assert oracle.restore("there", reader.state.t_index, reader.dump()) == 4
        assert snapshot_of(oracle, "there") == before
        with oracle.reader("there", Horizon()) as reader:
            assert store.restore(copy, reader.state.t_index, reader.dump()) == 4
        assert snapshot_of(store, copy) == before
        assert apply_each(store, copy, prepared("7", "[Ann]", timestamp=at(130))) == [7]
        with store.reader(copy, Horizon()) as reader:
            assert reader.sizes(["@2"]).sessions["@2"].statements == 4

    def test_from_the_oracle(self, store: GraphStore, namespace: str) -> None:
        """A dump of the oracle, some of it forgotten, gives an equal namespace."""
        oracle = DictStore()
        _filled(oracle, namespace)
        _filled(store, namespace)
        for horizon in (Horizon(), Horizon(as_of=3), Horizon(as_of=at(60)), Horizon(now=at(999))):
            assert snapshot_of(store, namespace, horizon) == snapshot_of(oracle, namespace, horizon)

    def test_a_counter_above_its_updates(self, store: GraphStore, namespace: str) -> None:
        """The counter is the archive's, even if the latest updates were forgotten."""
        one = replace(prepared("1", "[Ann]"), t_index=3)
        assert store.restore(namespace, 9, [one]) == 1
        with store.reader(namespace, Horizon()) as reader:
            assert reader.state.t_index == 9
            assert [s.key >> 20 for s in reader.statements([3 << 20])] == [3]
        assert apply_each(store, namespace, prepared("2", "[Ann]")) == [10]

    def test_an_empty_archive(self, store: GraphStore, namespace: str) -> None:
        """An empty archive restores the counter alone."""
        assert store.restore(namespace, 0, []) == 0
        assert namespace not in store.namespaces()
        assert store.restore(namespace, 4, []) == 0
        assert namespace in store.namespaces()
        assert apply_each(store, namespace, prepared("1", "[Ann]")) == [5]

    def test_only_into_an_empty_namespace(self, store: GraphStore, namespace: str) -> None:
        """A namespace that holds something, or whose counter is above 0, is refused and
        unchanged."""
        apply_each(store, namespace, prepared("1", "[Ann]"))
        before = snapshot_of(store, namespace)
        one = replace(prepared("2", "[Bo]"), t_index=1)
        with pytest.raises(InvalidInputError) as caught:
            store.restore(namespace, 1, [one])
        assert caught.value.argument == "namespace"
        assert snapshot_of(store, namespace) == before
        forget(store, namespace, "everything", True)
        with pytest.raises(InvalidInputError):
            store.restore(namespace, 1, [one])
        with store.reader(namespace, Horizon()) as reader:
            assert list(reader.dump()) == []
            assert reader.state.t_index == 1

    def test_records_that_fail(self, store: GraphStore, namespace: str) -> None:
        """An error while the records are read rolls back."""

        class BrokenArchiveError(Exception):
            pass

        def records() -> Iterator[PreparedUpdate | Summary]:
            for t in range(1, 30):
                yield replace(prepared(f"{t}", "[Ann] met [Bo]"), t_index=t)
            raise BrokenArchiveError

        with pytest.raises(BrokenArchiveError):
            store.restore(namespace, 40, records())
        assert namespace not in store.namespaces()
        assert apply_each(store, namespace, prepared("1", "[Ann]")) == [1]

    def test_a_triplet_before_its_entities(self, store: GraphStore, namespace: str) -> None:
        """The first evidence of an entity may be forgotten while its triplets stay."""
        records = [
            PreparedUpdate(id="", text=None, t_index=2, triplets=(triplet("e", "p", "f"),)),
            PreparedUpdate(
                id="", text=None, t_index=3, entities=(entity("e", "E"), entity("f", "F"))
            ),
        ]
        assert store.restore(namespace, 3, records) == 2
        with store.reader(namespace, Horizon()) as reader:
            assert [t.t_index for t in reader.triplets()] == [2]
            assert list(reader.dump()) == records
        other = f"{namespace}-other"
        with pytest.raises(UnknownEntityError) as caught:
            store.restore(other, 3, [records[0], replace(records[1], entities=(entity("e", "E"),))])
        assert caught.value.id == "f"
        assert other not in store.namespaces()

    def test_many_updates(self, store: GraphStore, namespace: str) -> None:
        """An archive of many updates is restored."""
        records = [
            replace(
                prepared(f"{t}", f"[Ann] met [N{t % 7}]", timestamp=at(t)),
                t_index=t,
                session_key="@1",
            )
            for t in range(1, 1501)
        ]
        assert store.restore(namespace, 1500, iter(records)) == 1500
        with store.reader(namespace, Horizon()) as reader:
            assert list(reader.dump()) == records
            assert reader.concepts(["ann"])[0].updates == 1500
            assert reader.sizes(["@1"]).sessions["@1"].statements == 1500
            assert len(reader.relations(["ann"], limit=99)) == 7
