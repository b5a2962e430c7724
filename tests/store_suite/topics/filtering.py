"""Which statements a filter lets through."""

from __future__ import annotations

from typing import Any

from recallm.model import Filter
from tests.store_suite.marked_text import prepared
from tests.store_suite.topics.base import Space, StoreTests, at

_VALUES: list[Any] = [
    1,
    1.0,
    True,
    "1",
    0,
    False,
    None,
    "",
    "None",
    "é",
    "e\u0301",
    "a'b\"c\\",
    [],
    [1],
    [True],
    [[1]],
    {},
    {"a": 1, "b": [None]},
    {"a": True, "b": [None]},
    {"b": [None]},
    2**60,
    -0.5,
    "\x00",
    "😀",
]


class FilteringTests(StoreTests):
    """``Filter`` in ``postings`` and ``mentions``."""

    @staticmethod
    def met(space: Space, where: Filter) -> list[int]:
        """The t of the updates that meet ``where``, asked in both ways."""
        with space.reader() as reader:
            mentions = reader.mentions(["ann"], limit=None, where=where)["ann"].keys.tolist()
            postings = reader.postings(["ann"], limit=99, where=where)["ann"].keys.tolist()
        assert mentions == postings
        assert list(mentions) == sorted(mentions, reverse=True)
        return sorted(key >> 20 for key in mentions)

    def test_since_and_until(self, space: Space) -> None:
        """Bounds are inclusive; passages without a timestamp never meet a datetime."""
        moments = [at(0), None, at(20), at(10), at(20.0001)]
        space.write(*(prepared(f"{n}", f"[Ann] {n}", timestamp=m) for n, m in enumerate(moments)))
        cases: list[tuple[Filter, list[int]]] = [
            (Filter(), [1, 2, 3, 4, 5]),
            (Filter(since=2), [2, 3, 4, 5]),
            (Filter(until=2), [1, 2]),
            (Filter(since=2, until=4), [2, 3, 4]),
            (Filter(since=4, until=2), []),
            (Filter(since=at(10)), [3, 4, 5]),
            (Filter(until=at(10)), [1, 4]),
            (Filter(until=at(20)), [1, 3, 4]),
            (Filter(since=at(0), until=at(99)), [1, 3, 4, 5]),
            (Filter(since=2, until=at(20)), [3, 4]),
            (Filter(since=at(10), until=3), [3]),
            (Filter(since=0, until=99), [1, 2, 3, 4, 5]),
        ]
        for where, expected in cases:
            assert self.met(space, where) == expected, where

    def test_speaker_and_session(self, space: Space) -> None:
        """A session's name is the one given, or the source."""
        space.write(
            prepared("1", "[Ann]", speaker="Bo", session="s", source="t"),
            prepared("2", "[Ann]", speaker="bo", source="s"),
            prepared("3", "[Ann]", timestamp=at(0)),
            prepared("4", "[Ann]", speaker="Bö", session=""),
            prepared("5", "[Ann]", speaker="", session="@3"),
        )
        cases: list[tuple[Filter, list[int]]] = [
            (Filter(speaker="Bo"), [1]),
            (Filter(speaker="Bö"), [4]),
            (Filter(speaker=""), [5]),
            (Filter(session="s"), [1, 2]),
            (Filter(session="t"), []),
            (Filter(session=""), [4]),
            (Filter(session="@3"), [5]),
            (Filter(session="=s"), []),
            (Filter(session="s", speaker="bo"), [2]),
        ]
        for where, expected in cases:
            assert self.met(space, where) == expected, where

    def test_metadata_values(self, space: Space) -> None:
        """Metadata values are compared as JSON: 1, 1.0, true and "1" are four values."""
        updates = [
            prepared(f"{n}", "[Ann]", metadata={"k": value, "x": n})
            for n, value in enumerate(_VALUES)
        ]
        updates += [
            prepared(f"other {n}", "[Ann]", metadata={"other": value})
            for n, value in enumerate(_VALUES)
        ]
        space.apply([*updates, prepared("bare", "[Ann]")])
        for place, value in enumerate(_VALUES):
            alone, both, wrong = (
                self.met(space, Filter(metadata={"k": value, **more}))
                for more in ({}, {"x": place}, {"x": -1})
            )
            assert (alone, both, wrong) == ([place + 1], [place + 1], []), value

    def test_metadata_keys(self, space: Space) -> None:
        """Keys are any strings, and never a path into the values."""
        keys = ("", "a.b", "$", "a'b", 'a"b', "[0]", "é", "k\x00", "😀", "a]`}", "n.id")
        updates = [
            prepared(f"{value} {key}", "[Ann]", metadata={key: value})
            for value in "vw"
            for key in keys
        ]
        nested = {"a": {"b": "v"}, "k": "v", "n": {"id": "v"}}
        space.apply([*updates, prepared("nested", "[Ann]", metadata=nested)])
        for t_index, key in enumerate(keys, 1):
            assert self.met(space, Filter(metadata={key: "v"})) == [t_index], key

    def test_object_keys_have_no_order(self, space: Space) -> None:
        """Objects are equal whatever the order of their keys; lists are not."""
        one = {"k": {"a": 1, "b": {"c": 2, "d": 3}}}
        space.write(prepared("1", "[Ann]", metadata=one))
        turned = {"k": {"b": {"d": 3, "c": 2}, "a": 1}}
        assert self.met(space, Filter(metadata=turned)) == [1]
        part = {"k": {"a": 1}}
        assert self.met(space, Filter(metadata=part)) == []
