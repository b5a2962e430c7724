"""The contract of LangGraph's stores, held by ``RecallMStore`` and by its async methods."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    SearchOp,
)

NAMESPACES = (
    ("a", "b", "c"),
    ("a", "b", "d", "e"),
    ("a", "b", "d", "i"),
    ("a", "b", "f"),
    ("a", "c", "f"),
    ("admin", "users", "789"),
    ("b", "a", "f"),
    ("users", "123"),
    ("users", "456", "settings"),
)
ODD = ("a'b", 'a"b', "a`b", "a]b", "a}b", "{}", "{user}", "%", "_", "a?", "[ab]", "+", "\\", "ä",
       "猫", "😀", "/", "--", " ", "a\n", "A")  # fmt: skip


def filled(store: Any, *namespaces: tuple[str, ...]) -> None:
    store.batch([PutOp(path, f"k{n}", {"n": n}) for n, path in enumerate(namespaces)])


def keys(items: list[Any]) -> list[str]:
    return [item.key for item in items]


class TestItems:
    def test_a_value_comes_back_verbatim(self, store: Any) -> None:
        value: dict[str, Any] = {
            "text": " Zoë’s Katze heißt «Käthe» 猫 😀\n",
            "n": [1, 2.5, True, None, {"a": {"b": []}}, 2**60, -0.5, ""],
            "": {"$gt": 1, "a.b": "x", "'": '"\\'},
            "nul": "\x00",
            "long": "many words " * 2_000,
        }
        store.put(("a", "b"), "k", value)
        item = store.get(("a", "b"), "k")
        assert item.value == value
        assert list(item.value) == list(value)
        assert (item.namespace, item.key) == (("a", "b"), "k")
        [found] = store.search(("a",))
        assert (found.value, found.namespace, found.key) == (value, ("a", "b"), "k")

    def test_what_is_not_there(self, store: Any) -> None:
        store.delete(("a",), "k")
        assert store.get(("a",), "k") is None
        assert store.search(("a",)) == []

    def test_a_put_replaces_the_whole_value(self, store: Any) -> None:
        store.put(("a",), "k", {"old": 1, "both": 1})
        first = store.get(("a",), "k")
        store.put(("a",), "k", {"both": 2})
        second = store.get(("a",), "k")
        assert second.value == {"both": 2}
        assert second.updated_at >= first.updated_at
        assert first.created_at.tzinfo is not None
        assert len(store.search(("a",))) == 1

    def test_a_deleted_item_is_not_found(self, store: Any) -> None:
        filled(store, ("a",), ("a",))
        store.delete(("a",), "k0")
        store.batch([PutOp(("a",), "k1", None)])
        assert store.get(("a",), "k0") is None
        assert store.search(("a",)) == []
        store.put(("a",), "k0", {"again": 1})
        assert store.get(("a",), "k0").value == {"again": 1}

    def test_keys_belong_to_their_namespace(self, store: Any) -> None:
        filled(store, ("a",), ("a", "b"), ("ab",))
        store.put(("a",), "k1", {"n": "other"})
        store.delete(("a", "b"), "k1")
        assert store.get(("a", "b"), "k1") is None
        assert store.get(("a",), "k1").value == {"n": "other"}
        assert store.get(("b",), "k1") is None

    def test_labels_and_keys_are_any_text(self, store: Any, subtests: pytest.Subtests) -> None:
        for label in [*ODD, "*"]:
            with subtests.test(case=str(label)):
                store.put((label, "x"), label, {label: label})
                store.put(("a", "x"), "k", {"n": 1})
                assert store.get((label, "x"), label).value == {label: label}
                assert keys(store.search((label,))) == [label]
                assert keys(store.search((), filter={label: label})) == [label]

    def test_namespaces_that_cannot_be_put_into(
        self, store: Any, subtests: pytest.Subtests
    ) -> None:
        for namespace in (
            (), ("a.b",), ("a", ""), ("", "a"), ("langgraph", "a"), ("a", 1), ("a\x00",),
        ):  # fmt: skip
            with subtests.test(case=str(namespace)):
                with pytest.raises(InvalidNamespaceError):
                    store.put(namespace, "k", {"n": 1})
                assert store.list_namespaces() == []

    def test_langgraphs_own_label_below_the_root(self, store: Any) -> None:
        store.put(("a", "langgraph"), "k", {"n": 1})
        assert keys(store.search(("a", "langgraph"))) == ["k"]

    def test_a_value_that_is_no_mapping(self, store: Any, subtests: pytest.Subtests) -> None:
        for value in ["text", 5, ["n"]]:
            with subtests.test(case=str(value)):
                store.put(("a",), "k", {"n": 1})
                with pytest.raises((TypeError, ValueError)):
                    store.put(("a",), "k", value)
                assert store.get(("a",), "k").value == {"n": 1}


class TestWhatOthersKeepOtherwise:
    """LangGraph's ``InMemoryStore`` does not."""

    def test_when_an_item_was_created(self, store: Any) -> None:
        store.put(("a",), "k", {"n": 1})
        first = store.get(("a",), "k")
        store.put(("a",), "k", {"n": 2})
        second = store.get(("a",), "k")
        assert second.created_at == first.created_at == first.updated_at
        assert second.updated_at > first.updated_at

    def test_a_value_stays_in_its_namespace(self, store: Any) -> None:
        value = {"n": [1]}
        store.put(("a",), "k", value)
        value["n"].append(2)
        store.get(("a",), "k").value["n"].append(3)
        assert store.get(("a",), "k").value == {"n": [1]}

    def test_an_emptied_namespace_is_not_listed(self, store: Any) -> None:
        filled(store, ("a",))
        store.delete(("a",), "k0")
        assert store.list_namespaces() == []

    def test_the_latest_come_first(self, store: Any) -> None:
        for n in range(5):
            store.put(("a", f"{n % 2}"), f"{n}", {"n": n})
        store.put(("a", "0"), "0", {"n": 9})
        assert keys(store.search(("a",))) == ["0", "4", "3", "2", "1"]
        assert keys(store.search(("a",), limit=2, offset=1)) == ["4", "3"]

    def test_labels_of_a_batch(self, store: Any, subtests: pytest.Subtests) -> None:
        for op in [
            GetOp(("a.b",), "k"),
            PutOp(("a.b",), "k", {"n": 1}),
            SearchOp(("a.b",)),
            ListNamespacesOp((MatchCondition("prefix", ("a.b",)),)),
        ]:
            with subtests.test(case=str(op)):
                with pytest.raises(InvalidNamespaceError):
                    store.batch([op])

    def test_strings_are_compared_by_letters(self, store: Any) -> None:
        store.put(("x",), "a", {"name": "apple"})
        store.put(("x",), "b", {"name": "banana"})
        store.put(("x",), "n", {"n": 1})
        assert keys(store.search(("x",), filter={"name": {"$gt": "apple"}})) == ["b"]
        assert keys(store.search(("x",), filter={"name": {"$gt": 0}})) == []

    def test_true_is_no_number(self, store: Any) -> None:
        store.put(("x",), "a", {"flag": True})
        assert store.search(("x",), filter={"flag": 1}) == []


class TestBatches:
    def test_results_stand_in_the_order_of_the_operations(self, store: Any) -> None:
        filled(store, ("a",), ("b",))
        ops: list[Op] = [
            GetOp(("b",), "k1"),
            PutOp(("a",), "new", {"n": 9}),
            SearchOp(("a",)),
            ListNamespacesOp(),
            GetOp(("a",), "new"),
            PutOp(("a",), "k0", None),
            GetOp(("a",), "k0"),
            GetOp(("b",), "k1"),
            SearchOp((), filter={"n": 1}, limit=5),
        ]
        first, put, found, namespaces, unborn, deleted, still, again, ones = store.batch(ops)
        assert first.value == {"n": 1}
        assert put is None
        assert deleted is None
        assert keys(found) == ["k0"]
        assert set(namespaces) == {("a",), ("b",)}
        assert unborn is None  # what a batch reads is as it was before its writes
        assert still.value == {"n": 0}
        assert again == first
        assert keys(ones) == ["k1"]
        assert keys(store.search(("a",))) == ["new"]

    def test_of_several_writes_to_a_key_the_last_counts(self, store: Any) -> None:
        put: list[Op] = [PutOp(("a",), "k", {"n": n}) for n in range(3)]
        gone: list[Op] = [PutOp(("a",), "l", {"n": 1}), PutOp(("a",), "l", None)]
        born: list[Op] = [PutOp(("a",), "m", None), PutOp(("a",), "m", {"n": 5})]
        assert store.batch([*put, *gone, *born]) == [None] * 7
        assert {item.key: item.value["n"] for item in store.search(("a",))} == {"k": 2, "m": 5}

    def test_a_large_batch(self, store: Any) -> None:
        store.batch([PutOp((f"{n % 7}", "x"), f"{n}", {"n": n}) for n in range(250)])
        found = store.batch([GetOp((f"{n % 7}", "x"), f"{n}") for n in range(251)])
        assert [item and item.value["n"] for item in found] == [*range(250), None]
        assert len(store.search((), limit=1000)) == 250
        assert len(store.list_namespaces()) == 7


class TestSearching:
    def test_pages_add_up(self, store: Any) -> None:
        filled(store, *[("a", f"{n % 3}") for n in range(10)], ("ab",))
        everything = keys(store.search(("a",), limit=100))
        assert sorted(everything) == sorted(f"k{n}" for n in range(10))
        pages = [keys(store.search(("a",), limit=3, offset=o)) for o in (0, 3, 6, 9, 12)]
        assert [len(page) for page in pages] == [3, 3, 3, 1, 0]
        assert [key for page in pages for key in page] == everything
        assert store.search(("a",), limit=0) == []
        assert len(store.search(())) == 10
        assert len(store.search((), limit=100)) == 11

    def test_a_prefix_ends_where_a_label_ends(self, store: Any) -> None:
        filled(store, ("foo",), ("foo", "child", "deep"), ("foobar",), ("Foo",), ("foo2", "foo"))
        found = {item.namespace for item in store.search(("foo",))}
        assert found == {("foo",), ("foo", "child", "deep")}
        assert store.search(("fo",)) == []
        assert store.search(("foo", "child", "deep", "x")) == []

    def test_filters(self, store: Any, subtests: pytest.Subtests) -> None:
        values: dict[str, dict[str, Any]] = {
            "a": {"color": "red", "n": 1},
            "b": {"color": "blue", "n": 2},
            "c": {"color": "red", "n": 3},
            "d": {"flag": True, "access-level": "public", "123abc": "ok", "quote": "O'Brien"},
            "e": {"deep": {"a": 1, "b": {"c": "x"}}, "list": [1, {"k": "v", "l": 2}]},
        }
        store.batch([PutOp(("x",), key, value) for key, value in values.items()])
        for condition, expected in [
            ({"color": "red"}, "ac"),
            ({"color": "red", "n": 1}, "a"),
            ({"color": "red", "n": 2}, ""),
            ({"n": {"$eq": 2}}, "b"),
            ({"color": {"$ne": "red"}}, "bde"),
            ({"n": {"$gt": 1}, "color": {"$ne": None}}, "bc"),
            ({"missing": None}, "abcde"),
            ({"missing": {"$ne": 1}}, "abcde"),
            ({"deep": {"a": 1}}, "e"),
            ({"deep": {"a": 1, "b": {"c": "x"}}}, "e"),
            ({"deep": {"a": 2}}, ""),
            ({"deep": {"b": {"c": {"$ne": "y"}}}}, "e"),
            ({"list": [1, {"k": "v"}]}, "e"),
            ({"list": [1]}, ""),
            ({"flag": True}, "d"),
            ({"access-level": "public"}, "d"),
            ({"123abc": "ok"}, "d"),
            ({"color' OR 1=1 --": "red"}, ""),
            ({"color": "red' OR '1'='1"}, ""),
            ({"color": "red\x00"}, ""),
            ({"quote": "O'Brien"}, "d"),
            ({}, "abcde"),
            (None, "abcde"),
        ]:
            with subtests.test(case=str((condition, expected))):
                found = keys(store.search(("x",), filter=condition))
                assert "".join(sorted(found)) == expected
                page = store.search(("x",), filter=condition, limit=1, offset=1)
                assert keys(page) == found[1:2]

    def test_numbers_are_compared_as_numbers(self, store: Any, subtests: pytest.Subtests) -> None:
        store.batch([PutOp(("x",), f"{n}", {"n": n}) for n in (2, 9, 10, 11, 9.5, -1)])
        for condition, expected in [
            ({"$gte": 10}, [10, 11]),
            ({"$gt": 9}, [9.5, 10, 11]),
            ({"$lt": 10}, [-1, 2, 9, 9.5]),
            ({"$lte": 9, "$gt": 2}, [9]),
            ({"$lt": float("inf")}, [-1, 2, 9, 9.5, 10, 11]),
            ({"$gt": 10**100}, []),
            ({"$lt": 0}, [-1]),
            ({"$eq": float("nan")}, []),
        ]:
            with subtests.test(case=str((condition, expected))):
                found = store.search(("x",), filter={"n": condition})
                assert sorted(item.value["n"] for item in found) == expected

    def test_an_unknown_operator(self, store: Any) -> None:
        filled(store, ("a",))
        with pytest.raises(ValueError, match=r"\$near"):
            store.search(("a",), filter={"n": {"$near": 1}})

    def test_no_query_gives_no_scores(self, store: Any) -> None:
        filled(store, ("a",), ("b",))
        for query in ("", None):
            assert [item.score for item in store.search((), query=query)] == [None, None]

    def test_any_query_is_answered(self, store: Any) -> None:
        store.put(("a",), "k", {"text": "test document"})
        for query in ("test " * 100, "test!@#$%^&*()", "?", "\x00", "猫" * 9):
            assert keys(store.search(("a",), query=query)) == ["k"]


class TestNamespaces:
    def test_conditions(self, store: Any, subtests: pytest.Subtests) -> None:
        filled(store, *NAMESPACES, ("a", "b", "c"))
        expected: Any
        arguments: Any
        for arguments, expected in [
            ({}, range(9)),
            ({"prefix": ("a", "b")}, [0, 1, 2, 3]),
            ({"suffix": ("f",)}, [3, 4, 6]),
            ({"prefix": ("a",), "suffix": ("f",)}, [3, 4]),
            ({"prefix": ("a", "*", "f")}, [3, 4]),
            ({"suffix": ("*", "f")}, [3, 4, 6]),
            ({"prefix": ("*", "b")}, [0, 1, 2, 3]),
            ({"prefix": ("*", "users"), "suffix": ("*", "settings")}, []),
            ({"prefix": ("*",)}, range(9)),
            ({"prefix": ("users", "*", "settings")}, [8]),
            ({"prefix": ("users", "123")}, [7]),
            ({"prefix": ("users", "123", "x")}, []),
            ({"prefix": ("user",)}, []),
            ({"suffix": ("ettings",)}, []),
            ({"limit": 2}, [0, 1]),
            ({"limit": 2, "offset": 5}, [5, 6]),
            ({"prefix": ("a", "b"), "offset": 2}, [2, 3]),
            ({"offset": 9}, []),
            ({"limit": 0}, []),
        ]:
            with subtests.test(case=str((arguments, expected))):
                assert store.list_namespaces(**arguments) == [NAMESPACES[n] for n in expected]

    def test_depth(self, store: Any, subtests: pytest.Subtests) -> None:
        filled(store, *NAMESPACES)
        expected: Any
        arguments: Any
        for arguments, expected in [
            ({"max_depth": 1}, [("a",), ("admin",), ("b",), ("users",)]),
            (
                {"max_depth": 3, "prefix": ("a", "b")},
                [("a", "b", "c"), ("a", "b", "d"), ("a", "b", "f")],
            ),
            ({"max_depth": 2, "suffix": ("f",), "limit": 2}, [("a", "b"), ("a", "c")]),
            ({"max_depth": 1, "limit": 2, "offset": 1}, [("admin",), ("b",)]),
        ]:
            with subtests.test(case=str((arguments, expected))):
                assert store.list_namespaces(**arguments) == expected

    def test_labels_are_no_patterns(self, store: Any) -> None:
        filled(store, *((label, "child") for label in ODD), ("axb",), ("ab",), ("x",))
        for label in ODD:
            assert store.list_namespaces(prefix=(label,)) == [(label, "child")]
            assert store.list_namespaces(suffix=(label, "child")) == [(label, "child")]
