"""Items: passages kept under a key at a path, replaced as a whole, and expiring."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from recallm.errors import ConflictError
from recallm.model import Filter, Forgotten, Horizon, Passage, PreparedUpdate, Scalar, SetExpiry
from recallm.stores.base import Applied
from tests.store_suite.marked_text import entity, prepared, triplet, vector
from tests.store_suite.snapshots import Vocabulary
from tests.store_suite.topics.base import (
    Space,
    StoreTests,
    at,
    find_item,
    find_passage,
    oracle_snapshot,
)

_STRANGE = ["", "b.c", "'\"\\", "e\u0301", *"a*%_\x1f\x1e\x00é😀\uffff"]


class ItemTests(StoreTests):
    """``apply`` with keys, ``item``, ``passages``, ``paths``, ``expire``, ``Filter.path``."""

    @staticmethod
    def item(space: Space, path: tuple[str, ...], key: str) -> Passage | None:
        """The item that a reader of all sees."""
        with space.reader() as reader:
            return find_item(reader, path, key)

    @staticmethod
    def ids(space: Space, where: Filter, horizon: Horizon | None = None) -> str:
        """The ids of the passages that meet ``where``, in one string."""
        with space.reader(horizon) as reader:
            found = reader.passages(where)
            assert reader.t_indexes(where) == sorted(passage.t_index for passage in found)
        return "".join(passage.id for passage in found)

    def test_an_item_is_found_by_path_and_key(self, space: Space) -> None:
        """By both of them exactly; a passage without a key is none, whatever its path."""
        space.write(
            prepared("1", "[Ann]", path=("a", "b"), key="k"),
            prepared("2", "[Bo]", path=("a",), key="b"),
            prepared("3", "[Cy]", path=("a", "b")),
            prepared("4", "[Dee]", key="k"),
        )
        found = {
            (path, key): self.item(space, path, key)
            for path in [(), ("a",), ("a", "b"), ("a", "b", "k")]
            for key in ["k", "b", ""]
        }
        assert {place: passage.id for place, passage in found.items() if passage} == {
            (("a", "b"), "k"): "1",
            (("a",), "b"): "2",
            ((), "k"): "4",
        }
        assert self.item(space.beside("-other"), ("a",), "b") is None
        with space.reader() as reader:
            assert reader.paths() == [(), ("a",), ("a", "b")]
            assert find_item(reader, ["a"], "b") == find_passage(reader, "2")

    def test_an_item_takes_the_place_of_the_one_before(self, space: Space) -> None:
        """The replaced item is forgotten exactly, and the new one takes the next t."""
        old = prepared(
            "1",
            "[Ann] met [Bo]",
            "[Bo] ran",
            path=("p",),
            key="k",
            entities=(entity("e", "Eve"), entity("f", "Fay")),
            triplets=(triplet("e", "met", "f"),),
            vectors=(vector(0, b"1"),),
        )
        kept = [prepared("2", "[Ann] met [Cy]", source="s"), prepared("3", "[Ann]", key="k")]
        new = prepared("4", "[Ann] met [Dee]", path=("p",), key="k", timestamp=at(0))
        space.write(old, *kept)
        space.revise("bo", 1)
        assert space.write(new) == [4]
        also = Vocabulary().add([replace(old, t_index=1)])
        records = [replace(update, t_index=t) for t, update in enumerate([*kept, new], 2)]
        now, control = space.snapshot(also=also), oracle_snapshot(4, records, also)
        for kind in control:
            assert now[kind] == control[kind], kind

    def test_within_one_batch_the_later_stays(self, space: Space) -> None:
        """Each item of a batch takes its t; the later one stays."""
        updates = [
            prepared("1", "[Ann]", key="k"),
            prepared("2", "[Bo]", key="l"),
            prepared("3", "[Cy]", key="k"),
            prepared("1", "[Dee]", key="m"),  # its id is free again
            prepared("5", "[Eve]", key="k"),
        ]
        applied = space.apply(updates)
        assert [update.t_index for update in applied] == [1, 2, 3, 4, 5]
        assert self.ids(space, Filter(path=())) == "512"
        found = space.snapshot()
        assert found["stats"].statements == 3
        assert {row.name for row in found["concepts"]} == {"bo", "dee", "eve"}

    def test_a_duplicate_replaces_nothing(self, space: Space) -> None:
        """A conflict rolls back the batch, and the replaced item stays."""
        space.write(prepared("1", "[Ann]", key="k"), prepared("2", "[Bo]", key="l"))
        before = space.snapshot()
        again = prepared("1", "[Ann]", key="l")
        assert space.apply([again]) == [Applied(t_index=1, duplicate=True)]
        assert space.snapshot() == before
        with pytest.raises(ConflictError):
            space.apply([prepared("3", "[Cy]", key="k"), prepared("2", "[Dee]", key="l")])
        assert space.snapshot() == before

    def test_an_item_without_statements(self, space: Space) -> None:
        """An item without statements is stored, found, replaced and forgotten like any other."""
        silent = [PreparedUpdate(id=id, text="{}", path=("p",), key="k") for id in "12"]
        space.write(silent[0])
        assert self.ids(space, Filter(path=("p",))) == "1"
        space.write(silent[1])
        assert self.ids(space, Filter(path=("p",))) == "2"
        assert space.forget("id", "2") == Forgotten(passages=1)
        assert self.item(space, ("p",), "k") is None

    def test_an_item_is_forgotten_as_a_whole(self, space: Space) -> None:
        """An item goes as a whole, with the first of its statements."""
        fields: dict[str, Any] = {"path": ("p",), "metadata": {"value": "Ann met Bo. Bo ran."}}
        space.write(
            prepared("1", "[Ann] met [Bo]", "[Bo] ran", key="k", **fields),
            prepared("2", "[Ann] met [Cy]", "[Cy] ran", key="l", **fields),
            prepared("3", "[Ann] met [Bo]", "[Bo] ran", **fields),
        )
        gone = Forgotten(passages=1, statements=2)
        assert space.forget("statement", "1#1") == gone
        assert self.ids(space, Filter()) == "32"
        gone = Forgotten(passages=1, statements=3, concepts=2, relations=2)
        assert space.forget("concept", "ann") == gone
        assert self.ids(space, Filter()) == "3"
        assert space.snapshot()["stats"].statements == 1

    def test_passages_are_listed_latest_first(self, space: Space) -> None:
        """Those that meet the filter and that the horizon shows; the limit counts them."""
        space.write(
            prepared("1", "[Ann]", session="s", speaker="Bo", metadata={"k": 1}),
            prepared("2", "[Ann]", source="s", timestamp=at(10)),
            PreparedUpdate(id="", text=None, entities=(entity("e", "Eve"),)),
            PreparedUpdate(id="4", text="…", session="s", metadata={"k": 1}),
            prepared("5", "[Ann]", key="k", path=("p", "q"), timestamp=at(20)),
            prepared("6", "[Ann]", key="k", path=("p",), expires_at=at(5)),
        )
        cases: list[tuple[Filter, str]] = [
            (Filter(), "65421"),
            (Filter(session="s"), "421"),
            (Filter(speaker="Bo"), "1"),
            (Filter(metadata={"k": 1}), "41"),
            (Filter(metadata={"k": True}), ""),
            (Filter(since=2, until=5), "542"),
            (Filter(since=at(11)), "5"),
            (Filter(until=at(11)), "2"),
            (Filter(path=()), "65"),
            (Filter(path=("p",)), "65"),
            (Filter(path=("p", "q")), "5"),
            (Filter(path=("p", "q", "r")), ""),
            (Filter(path=("q",)), ""),
            (Filter(path=("p",), since=at(0)), "5"),
        ]
        for where, expected in cases:
            assert self.ids(space, where) == expected, where
        with space.reader() as reader:
            assert [passage.id for passage in reader.passages(Filter(session="s"), limit=2)] == [
                "4",
                "2",
            ]
            assert reader.passages(Filter(metadata={"k": 1}), limit=1)[0] == find_passage(
                reader, "4"
            )
            assert reader.passages(Filter(), limit=0) == []
        assert self.ids(space, Filter(), Horizon(now=at(5))) == "5421"
        assert self.ids(space, Filter(), Horizon(as_of=2)) == "21"
        assert self.ids(space, Filter(), Horizon(as_of=at(15))) == "2"

    def test_passages_with_likely_values_are_all_found(self, space: Space) -> None:
        """Where another value stands in the mapping around the path, a passage may be left out."""
        values: list[Any] = [
            *("x", "X", "", "null", '["x"]', "é😀", "a'b\"c\\", "0\x00", "1"),
            *(0, 1, -1, 1.0, 2**60, 2**60 + 1, True, False, None, [], ["x"], {"a": "x"}),
        ]
        keys = ["k", "a b", "é", 'q"', "s\\", "a.b", "$", "[0]", ""]
        updates = [
            prepared(f"{n}", "[Ann]", path=("p",), key=f"{n}", metadata={"in": {key: value}})
            for n, (key, value) in enumerate((key, value) for key in keys for value in values)
        ]
        updates.append(prepared("no mapping", "[Ann]", path=("p",), key="n", metadata={"in": "x"}))
        updates.append(prepared("nothing", "[Ann]", path=("p",), key="z"))
        space.write(*updates)
        with space.reader() as reader:
            every = reader.passages()
            for key in keys:
                for wanted in values:
                    if not isinstance(wanted, Scalar):
                        continue
                    found = reader.passages(Filter(path=("p",)), likely={("in", key): wanted})
                    held = {
                        passage.id
                        for passage in every
                        if not isinstance(passage.metadata.get("in"), dict)
                        or passage.metadata["in"].get(key) == wanted
                    }
                    assert held <= {passage.id for passage in found}, (key, wanted)
            by_id = reader.passages(ids=["0", "1"], likely={("in", "k"): "x"})
            assert "0" in {passage.id for passage in by_id}
            both = reader.passages(likely={("in", "k"): "x", ("in", "other"): None})
            assert "0" in {passage.id for passage in both}
            many: dict[tuple[str, ...], Scalar] = {("in", f"missing {n}"): None for n in range(9)}
            assert len(reader.passages(likely=many, limit=3)) == 3

    def test_statements_are_filtered_by_path(self, space: Space) -> None:
        """A path means the items at it and below it, part by part."""
        space.write(
            prepared("1", "[Ann]", path=("p",), key="k"),
            prepared("2", "[Ann]", path=("p", "q"), key="k"),
            prepared("3", "[Ann]", path=("pq",), key="k"),
            prepared("4", "[Ann]", path=("p",)),
            prepared("5", "[Ann]", key="k"),
        )
        cases: list[tuple[tuple[str, ...] | None, list[int]]] = [
            (None, [5, 4, 3, 2, 1]),
            ((), [5, 3, 2, 1]),
            (("p",), [2, 1]),
            (("p", "q"), [2]),
            (("pq",), [3]),
            (("",), []),
        ]
        with space.reader() as reader:
            for path, expected in cases:
                where = Filter(path=path)
                keys = reader.mentions(["ann"], limit=None, where=where)["ann"].keys.tolist()
                assert [key >> 20 for key in keys] == expected, path
                assert reader.postings(["ann"], limit=99, where=where)["ann"].keys.tolist() == keys
            paths = [
                statement.item_path
                for statement in reader.statements([t << 20 for t in range(1, 6)])
            ]
        assert paths == [("p",), ("p", "q"), ("pq",), None, ()]

    def test_parts_and_keys_are_any_strings(self, space: Space) -> None:
        """No character of a path is a separator or a wildcard; paths are sorted by code point."""
        places = [((a, b), key) for a in _STRANGE for b in ("", "x") for key in ("", a)]
        places = list(dict.fromkeys(places))
        space.apply(
            [prepared(f"{n}", "[Ann]", path=path, key=key) for n, (path, key) in enumerate(places)]
        )
        with space.reader() as reader:
            found = [find_item(reader, path, key) for path, key in places]
            assert [passage.id for passage in found if passage] == [
                f"{n}" for n in range(len(places))
            ]
            assert reader.paths() == sorted({path for path, _ in places})
            for part in _STRANGE:
                below = [f"{n}" for n, (path, _) in enumerate(places) if path[0] == part]
                met = [passage.id for passage in reader.passages(Filter(path=(part,)))]
                assert met == below[::-1], part

    def test_long_paths(self, space: Space) -> None:
        """An item is found by paths and keys of any length and script."""
        paths = [("p" * 1024,) * 5, ("😀" * 1024, *("x",) * 300), ("p" * 1024,) * 4 + ("q" * 1024,)]
        for n, path in enumerate(paths):
            space.write(prepared(f"{n}", "[Ann]", path=path, key="k" * 1024))
        for n, path in enumerate(paths):
            found = self.item(space, path, "k" * 1024)
            assert found is not None
            assert found.id == f"{n}"
            assert self.ids(space, Filter(path=path)) == f"{n}"
        assert self.ids(space, Filter(path=("p" * 1024,) * 4)) == "20"

    def test_expiry_is_moved(self, space: Space) -> None:
        """Expiry is set by id; unknown ids are skipped and no t is taken."""
        space.write(
            prepared(
                "1", "[Ann] met [Bo]", expires_at=at(10), entities=(entity("e", "Eve", position=0),)
            ),
            prepared("2", "[Ann] met [Cy]"),
        )
        assert space.amend(SetExpiry(expires_at={"1": at(90), "2": at(50), "3": None})) == 2
        for minutes, expected in [(0, "21"), (49, "21"), (50, "1"), (89, "1"), (90, "")]:
            horizon = Horizon(now=at(minutes))
            assert self.ids(space, Filter(), horizon) == expected
            found = space.snapshot(horizon)
            assert len(found["statements"]) == len(found["relations"]) == len(expected)
            assert len(found["entities"]) == ("1" in expected)
        assert space.snapshot()["t_index"] == 2
        assert (
            space.amend(SetExpiry(expires_at={"1": None})) == 1
        )  # it had expired, and is there again
        assert self.ids(space, Filter(), Horizon(now=at(90))) == "1"
        assert (
            space.amend(SetExpiry(expires_at={}))
            == space.beside("-other").amend(SetExpiry(expires_at={"1": None}))
            == 0
        )

    def test_an_archive_with_two_items_under_one_key(self, space: Space) -> None:
        """An archive may hold two items under one key: the latest is the item, and the next
        one replaces both."""
        records = [
            prepared(id, f"[Ann] {id}", key="k", t_index=t) for t, id in ((1, "1"), (3, "3"))
        ]
        space.restore(4, records)
        found = self.item(space, (), "k")
        assert found is not None
        assert found.id == "3"
        assert self.ids(space, Filter(path=())) == "31"
        space.write(prepared("5", "[Ann]", key="k"))
        assert self.ids(space, Filter()) == "5"
