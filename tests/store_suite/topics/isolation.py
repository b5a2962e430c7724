"""Namespaces, any characters, one state for a reader, threads, closing and opening again."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from recallm.errors import ClosedError
from recallm.model import Filter, Neighbours, PreparedUpdate, WriteSummary
from recallm.stores.base import GraphStore
from tests.store_suite.marked_text import entity, mention, prepared, triplet
from tests.store_suite.snapshots import Vocabulary, snapshot
from tests.store_suite.topics.base import (
    Space,
    StoreTests,
    at,
    find_passage,
    oracle_snapshot,
    summary,
)

_STRANGE = (
    "'; DROP TABLE statement; -- \" OR 1=1 -- ') DETACH DELETE n //",
    "`n`.id = $id {a: 1} 100% _under_ *star* ?mark? back\\slash \\u0041 \\x00",
    "NUL \x00 inside, line\r\nbreak\ttab\x1b\x7f\u2028\u2029\ufeff",
    "😀 中文 עברית हिन्दी \U0010ffff \ufffe e\u0301 é \ufb00 İ ß \u017f <b>html</b> &amp;",
    " leading and trailing ",
    "\x00",
    "null",
)


class IsolationTests(StoreTests):
    """What holds for a store as a whole."""

    def test_namespaces_are_listed(self, space: Space) -> None:
        """All namespaces that hold or ever held something, sorted by code point."""
        names = sorted(f"{space.name}{end}" for end in ("", *"aBé\ufb00😀\x00"))
        for name in reversed(names):
            Space(space.store, name).write(prepared("1", "[Ann]"))
        Space(space.store, names[2]).forget("everything", True)
        listed = [name for name in space.store.namespaces() if name.startswith(space.name)]
        assert listed == names
        assert space.store.namespaces() == sorted(space.store.namespaces())

    def test_nothing_crosses_namespaces(self, space: Space) -> None:
        """Namespaces with similar names share nothing."""
        spaces = [space.beside(ending) for ending in ("", "/a", "/A", "%", " ")]
        for n, each in enumerate(spaces):
            each.write(
                prepared("1", "[Ann] met [Bo]", entities=(entity("e", "Eve"),)),
                prepared("2", f"[Ann] saw it {n}", timestamp=at(n)),
            )
        alone = spaces[-1].snapshot()
        for n, each in enumerate(spaces[:-1]):
            control = each.snapshot()
            for kind in ("concepts", "relations", "sizes", "stats", "entities"):
                assert control[kind] == alone[kind]
            with each.reader() as reader:
                found = reader.postings([f"{n}", f"{n + 1}", "ann"], limit=9, where=Filter())
            assert {stem: p.statements for stem, p in found.items()} == {"ann": 2, f"{n}": 1}
        space.forget("concept", "ann")
        space.delete_graph(entities=["e"])
        assert spaces[-1].snapshot() == alone

    @pytest.mark.parametrize("strange", _STRANGE)
    def test_any_characters_anywhere(self, space: Space, strange: str) -> None:
        """Texts, names, labels, keys and ids may hold any character."""
        base = prepared(
            strange,
            "[Ann]",
            source=strange,
            session=strange,
            speaker=strange,
            speaker_concept=strange,
            timestamp=at(0),
            metadata={strange: strange, "nested": [{strange: strange}]},
            path=(strange, strange),
            key=strange,
            entities=(
                entity(strange, strange, strange, type=strange, properties={strange: strange}),
            ),
            triplets=(triplet(strange, strange, strange, properties={strange: [strange]}),),
        )
        update = _saying(base, strange)
        strange_namespace = space.beside(strange)
        also = Vocabulary()
        strange_namespace.write(update)
        dumped = strange_namespace.snapshot()["dump"]
        written = summary(strange, 1, strange)
        assert strange_namespace.amend(WriteSummary(summary=written, statements=1))
        assert strange_namespace.snapshot(also=also) == oracle_snapshot(1, [*dumped, written], also)
        [only] = dumped
        assert only.text == update.text
        assert only.triplets == update.triplets
        where = Filter(speaker=strange, session=strange, metadata={strange: strange})
        with strange_namespace.reader() as reader:
            assert reader.mentions([strange], limit=9, where=where)[strange].keys.tolist() == [
                1 << 20
            ]
            assert reader.postings([strange], limit=9, where=where)[strange].counts.tolist() == [2]
            assert [t.predicate for t in reader.triplets(predicates=[strange])] == [strange]
            assert [{r.a, r.b} for r in reader.relations([strange])] == [{"ann", strange}]
        assert strange_namespace.is_listed()
        counted = strange_namespace.forget("statement", f"{strange}#0")
        assert (counted.passages, counted.entities, counted.summaries) == (1, 1, 1)

    def test_a_very_long_text(self, space: Space) -> None:
        """A text of a megabyte comes back unchanged and is recognised as a duplicate; long
        names and ids too."""
        text = "é😀\x00'" * 300_000
        long = "x" * 40_000
        update = PreparedUpdate(id=long, text=text, source=long)
        named = prepared("2", f"[Ann={long}] met [Bo]", entities=(entity(long, "Ann", long),))
        space.write(update, named)
        assert space.apply([update])[0].duplicate
        passage = space.passage(long)
        assert passage.text == text
        assert passage.source == long
        with space.reader() as reader:
            assert [c.name for c in reader.concepts()] == ["bo", long]
            assert [e.id for e in reader.entities([long])] == [long]
            assert reader.mentions([long], limit=1, where=Filter())[long].statements == 1
        space.write(prepared("3", f"[Bo] met [Cy=cy] {long}y"))
        with space.reader() as reader:
            assert (
                reader.postings([f"{long}y"], limit=1, where=Filter())[f"{long}y"].statements == 1
            )

    def test_a_reader_keeps_one_state(self, space: Space) -> None:
        """An open reader does not see later updates; the next reader does."""
        space.write(prepared("1", "[Ann] met [Bo]"))
        with space.reader() as reader:
            before = reader.concepts(), reader.stats()
            _elsewhere(lambda: space.write(prepared("2", "[Ann] met [Cy]")))
            assert (reader.concepts(), reader.stats()) == before
            assert reader.state.t_index == 1
            assert find_passage(reader, "2") is None
        with space.reader() as reader:
            assert reader.state.t_index == 2

    def test_a_reader_keeps_what_is_forgotten(self, space: Space) -> None:
        """An open reader keeps what is forgotten meanwhile; the next reader does not."""
        space.write(prepared("1", "[Ann] met [Bo]"))
        with space.reader() as reader:
            before = snapshot(reader)
            _elsewhere(lambda: space.forget("everything", True))
            assert snapshot(reader) == before
        with space.reader() as reader:
            assert (reader.state.t_index, reader.concepts()) == (1, [])

    def test_readers_of_two_namespaces_at_once(self, space: Space) -> None:
        """One thread may open several readers at once."""
        other = space.beside("-other")
        space.write(prepared("1", "[Ann]"))
        other.write(prepared("1", "[Bo]"))
        with space.reader() as one, other.reader() as two:
            assert [c.name for c in one.concepts()] == ["ann"]
            assert [c.name for c in two.concepts()] == ["bo"]
            assert [c.name for c in one.concepts()] == ["ann"]

    def test_an_error_inside_a_reader(self, space: Space) -> None:
        """The store goes on after an error inside of a reader."""

        class SomeError(Exception):
            pass

        def read_half() -> None:
            with space.reader() as reader:
                next(reader.dump())
                raise SomeError

        space.write(prepared("1", "[Ann]"))
        for _ in range(20):
            with pytest.raises(SomeError):
                read_half()
        assert space.write(prepared("2", "[Ann]")) == [2]

    def test_parallel_writers_and_readers(self, space: Space) -> None:
        """Writers never share or lose a t; a reader sees all of an update or nothing of it."""
        writers, each = 4, 12
        done = threading.Event()

        def write(writer: int) -> list[int]:
            taken: list[int] = []
            for n in range(each):
                batch = [
                    prepared(
                        f"{writer}-{n}-{part}",
                        f"[Ann] met [W{writer}]",
                        f"[Ann] met [N{n}]",
                        timestamp=at(n),
                        entities=(entity("e", "Eve"),),
                    )
                    for part in range(2)
                ]
                taken += [applied.t_index for applied in space.apply(batch)]
            return taken

        def read() -> int:
            views = 0
            while not done.is_set():
                with space.reader() as reader:
                    t_index, stats = reader.state.t_index, reader.stats()
                    assert stats.t_index == t_index
                    assert (stats.passages, stats.statements) == (t_index, 2 * t_index)
                    assert t_index % 2 == 0
                    assert reader.sizes().corpus.statements == 2 * t_index
                    for row in reader.concepts(["ann"]):
                        assert (row.t_index, row.updates) == (t_index, t_index)
                        assert row.statements == 2 * t_index
                    for found in reader.entities(["e"]):
                        assert (found.t_index, found.updates) == (t_index, t_index)
                    views += 1
            return views

        with ThreadPoolExecutor(max_workers=writers + 2) as pool:
            readers = [pool.submit(read) for _ in range(2)]
            try:
                taken = [f.result() for f in [pool.submit(write, w) for w in range(writers)]]
            finally:
                done.set()
            assert all(reader.result() > 0 for reader in readers)
        everyone = sorted(t for ts in taken for t in ts)
        assert everyone == list(range(1, writers * each * 2 + 1))
        assert all(ts == sorted(ts) for ts in taken)
        with space.reader() as reader:
            strengths = {r.b: r.strength for r in reader.relations(["ann"], limit=99)}
        assert strengths == {f"w{w}": 2 * each for w in range(writers)} | {
            f"n{n}": 2 * writers for n in range(each)
        }

    def test_parallel_duplicates(self, space: Space) -> None:
        """Of many writers of one id and text, one writes it; the others get a duplicate."""
        with ThreadPoolExecutor(max_workers=6) as pool:
            same = [prepared("same", "[Ann] met [Bo]")]
            applied = [f.result() for f in [pool.submit(space.apply, same) for _ in range(12)]]
        assert sorted(one.duplicate for [one] in applied) == [False] + [True] * 11
        assert {one.t_index for [one] in applied} == {1}
        with space.reader() as reader:
            assert reader.state.t_index == 1
            assert reader.relations(["ann", "bo"], among=True)[0].strength == 1

    def test_a_closed_store(self, space: Space) -> None:
        """Every operation of a closed store raises ClosedError; a second close does nothing."""
        space.write(prepared("1", "[Ann]"))
        space.store.close()
        space.store.close()
        calls: list[Callable[[], object]] = [
            lambda: space.apply([prepared("2", "[Ann]")]),
            lambda: space.apply([]),
            lambda: space.reader().__enter__(),
            lambda: space.amend(WriteSummary(summary=summary("ann", 1), statements=1)),
            lambda: space.forget("id", "1"),
            space.delete_graph,
            lambda: space.beside("-2").restore(0, []),
            space.store.namespaces,
        ]
        for call in calls:
            with pytest.raises(ClosedError):
                call()

    def test_opened_again(self, space: Space, reopened: GraphStore) -> None:
        """Two stores on the same data see each other's updates and continue the counter."""
        again = Space(reopened, space.name)
        space.write(
            prepared("1", "[Ann] met [Bo]", entities=(entity("e", "Eve"),), timestamp=at(0)),
            prepared("2", "[Ann] sat", timestamp=at(10)),
        )
        assert again.snapshot() == space.snapshot()
        assert again.write(prepared("3", "[Ann]", timestamp=at(20))) == [3]
        assert space.write(prepared("4", "[Bo]", timestamp=at(30))) == [4]
        with again.reader() as reader:
            assert reader.sizes(["@1"]).sessions["@1"].statements == 4
        before = again.snapshot()
        space.store.close()
        assert again.snapshot() == before
        assert again.write(prepared("5", "[Ann]")) == [5]


def _saying(update: PreparedUpdate, strange: str) -> PreparedUpdate:
    """The update with a statement that says nothing but ``strange``, concept and term twice."""
    [said] = update.statements
    a, b = sorted((strange, "ann"))
    statement = replace(
        said,
        end=len(strange),
        terms=(strange, "x", strange),
        concepts=(*said.concepts, mention(strange, strange)),
    )
    return replace(
        update,
        text=strange,
        statements=(statement,),
        neighbours=(Neighbours(a=a, b=b, earlier=0, later=0),),
    )


def _elsewhere(work: Callable[[], object]) -> None:
    """Run ``work`` in another thread, to its end."""
    with ThreadPoolExecutor(max_workers=1) as pool:
        pool.submit(work).result()
