"""The contract of LangGraph's stores, held by ``RecallMStore`` without embeddings: items, batches,
filters, namespaces, queries, expiry."""

from __future__ import annotations

from datetime import timedelta
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

from tests.langchain.conftest import Clock

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
        for item in (store.get(("a", "b"), "k"), *store.search(("a",))):
            assert (item.value, item.namespace, item.key) == (value, ("a", "b"), "k")
            assert list(item.value) == list(value)
        value["n"].append(3)
        store.get(("a", "b"), "k").value["n"].append(3)
        assert len(store.get(("a", "b"), "k").value["n"]) == 8

    def test_a_put_replaces_the_whole_value_and_a_delete_takes_it(self, store: Any) -> None:
        store.delete(("a",), "k")
        assert (store.get(("a",), "k"), store.search(("a",))) == (None, [])
        store.put(("a",), "k", {"old": 1, "both": 1})
        first = store.get(("a",), "k")
        store.put(("a",), "k", {"both": 2})
        second = store.get(("a",), "k")
        assert second.value == {"both": 2}
        assert second.created_at == first.created_at == first.updated_at
        assert second.updated_at > first.updated_at
        assert first.created_at.tzinfo is not None
        assert len(store.search(("a",))) == 1
        store.delete(("a",), "k")
        assert (store.get(("a",), "k"), store.search(("a",))) == (None, [])
        assert store.list_namespaces() == []
        store.put(("a",), "k", {"again": 1})
        assert store.get(("a",), "k").value == {"again": 1}

    def test_keys_belong_to_their_namespace(self, store: Any) -> None:
        filled(store, ("a",), ("a", "b"), ("ab",))
        store.put(("a",), "k1", {"n": "other"})
        store.delete(("a", "b"), "k1")
        assert store.get(("a", "b"), "k1") is None
        assert store.get(("a",), "k1").value == {"n": "other"}
        assert store.get(("b",), "k1") is None
        store.put(("a", "langgraph"), "k", {"n": 1})  # LangGraph's own label below the root
        assert keys(store.search(("a", "langgraph"))) == ["k"]

    def test_labels_and_keys_are_any_text_and_no_patterns(self, store: Any) -> None:
        for label in [*ODD, "*"]:
            store.put((label, "x"), label, {label: label})
            assert store.get((label, "x"), label).value == {label: label}
            assert keys(store.search((label,))) == [label]
            assert keys(store.search((), filter={label: label})) == [label]
        filled(store, ("axb",), ("ab",), ("x",))
        for label in ODD:
            assert store.list_namespaces(prefix=(label,)) == [(label, "x")]
            assert store.list_namespaces(suffix=(label, "x")) == [(label, "x")]

    def test_what_cannot_be_a_namespace_or_a_value(self, store: Any) -> None:
        for namespace in (
            (), ("a.b",), ("a", ""), ("", "a"), ("langgraph", "a"), ("a", 1), ("a\x00",),
        ):  # fmt: skip
            with pytest.raises(InvalidNamespaceError):
                store.put(namespace, "k", {"n": 1})
            assert store.list_namespaces() == [], namespace
        for op in [
            GetOp(("a.b",), "k"),
            PutOp(("a.b",), "k", {"n": 1}),
            SearchOp(("a.b",)),
            ListNamespacesOp((MatchCondition("prefix", ("a.b",)),)),
        ]:
            with pytest.raises(InvalidNamespaceError):
                store.batch([op])
        store.put(("a",), "k", {"n": 1})
        for value in ["text", 5, ["n"]]:
            with pytest.raises((TypeError, ValueError)):
                store.put(("a",), "k", value)
            assert store.get(("a",), "k").value == {"n": 1}


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
        assert (first.value, still.value) == ({"n": 1}, {"n": 0})
        assert (put, deleted) == (None, None)
        assert keys(found) == ["k0"]
        assert set(namespaces) == {("a",), ("b",)}
        assert unborn is None  # what a batch reads is as it was before its writes
        assert again == first
        assert keys(ones) == ["k1"]
        assert keys(store.search(("a",))) == ["new"]

    def test_of_several_writes_to_a_key_the_last_counts(self, store: Any) -> None:
        put: list[Op] = [PutOp(("a",), "k", {"n": n}) for n in range(3)]
        gone: list[Op] = [PutOp(("a",), "l", {"n": 1}), PutOp(("a",), "l", None)]
        born: list[Op] = [PutOp(("a",), "m", None), PutOp(("a",), "m", {"n": 5})]
        assert store.batch([*put, *gone, *born]) == [None] * 7
        assert {item.key: item.value["n"] for item in store.search(("a",))} == {"k": 2, "m": 5}
        store.batch([PutOp((f"{n % 7}", "x"), f"{n}", {"n": n}) for n in range(250)])
        found = store.batch([GetOp((f"{n % 7}", "x"), f"{n}") for n in range(251)])
        assert [item and item.value["n"] for item in found] == [*range(250), None]
        assert len(store.search((), limit=1000)) == 252
        assert len(store.list_namespaces()) == 8


class TestSearching:
    def test_pages_add_up_the_latest_first(self, store: Any) -> None:
        filled(store, *[("a", f"{n % 3}") for n in range(10)], ("ab",))
        store.put(("a", "0"), "k0", {"n": 9})
        everything = keys(store.search(("a",), limit=100))
        assert everything == ["k0", *(f"k{n}" for n in range(9, 0, -1))]
        pages = [keys(store.search(("a",), limit=3, offset=o)) for o in (0, 3, 6, 9, 12)]
        assert [len(page) for page in pages] == [3, 3, 3, 1, 0]
        assert [key for page in pages for key in page] == everything
        assert store.search(("a",), limit=0) == []
        assert len(store.search(())) == 10
        assert len(store.search((), limit=100)) == 11
        for query in ("", None):
            assert {item.score for item in store.search((), query=query)} == {None}

    def test_a_prefix_ends_where_a_label_ends(self, store: Any) -> None:
        filled(store, ("foo",), ("foo", "child", "deep"), ("foobar",), ("Foo",), ("foo2", "foo"))
        found = {item.namespace for item in store.search(("foo",))}
        assert found == {("foo",), ("foo", "child", "deep")}
        assert store.search(("fo",)) == []
        assert store.search(("foo", "child", "deep", "x")) == []

    def test_filters(self, store: Any) -> None:
        values: dict[str, dict[str, Any]] = {
            "a": {"color": "red", "n": 1},
            "b": {"color": "blue", "n": 2},
            "c": {"color": "red", "n": 3},
            "d": {"flag": True, "access-level": "public", "123abc": "ok", "quote": "O'Brien"},
            "e": {"deep": {"a": 1, "b": {"c": "x"}}, "list": [1, {"k": "v", "l": 2}]},
        }
        store.batch([PutOp(("x",), key, value) for key, value in values.items()])
        for condition, expected in [
            ({"color": "red"}, "ac"), ({"color": "red", "n": 1}, "a"),
            ({"color": "red", "n": 2}, ""), ({"n": {"$eq": 2}}, "b"),
            ({"color": {"$ne": "red"}}, "bde"), ({"n": {"$gt": 1}, "color": {"$ne": None}}, "bc"),
            ({"color": {"$gt": "blue"}}, "ac"), ({"color": {"$gt": 0}}, ""), ({"flag": 1}, ""),
            ({"missing": None}, "abcde"), ({"missing": {"$ne": 1}}, "abcde"),
            ({"deep": {"a": 1}}, "e"), ({"deep": {"a": 1, "b": {"c": "x"}}}, "e"),
            ({"deep": {"a": 2}}, ""), ({"deep": {"b": {"c": {"$ne": "y"}}}}, "e"),
            ({"list": [1, {"k": "v"}]}, "e"), ({"list": [1]}, ""), ({"flag": True}, "d"),
            ({"access-level": "public"}, "d"), ({"123abc": "ok"}, "d"),
            ({"color' OR 1=1 --": "red"}, ""), ({"color": "red' OR '1'='1"}, ""),
            ({"color": "red\x00"}, ""), ({"quote": "O'Brien"}, "d"), ({}, "abcde"),
            (None, "abcde"),
        ]:  # fmt: skip
            found = keys(store.search(("x",), filter=condition))
            assert "".join(sorted(found)) == expected, condition
            page = store.search(("x",), filter=condition, limit=1, offset=1)
            assert keys(page) == found[1:2], condition

    def test_numbers_are_compared_as_numbers(self, store: Any) -> None:
        store.batch([PutOp(("x",), f"{n}", {"n": n}) for n in (2, 9, 10, 11, 9.5, -1)])
        for condition, expected in [
            ({"$gte": 10}, [10, 11]), ({"$gt": 9}, [9.5, 10, 11]), ({"$lt": 10}, [-1, 2, 9, 9.5]),
            ({"$lte": 9, "$gt": 2}, [9]), ({"$lt": float("inf")}, [-1, 2, 9, 9.5, 10, 11]),
            ({"$gt": 10**100}, []), ({"$lt": 0}, [-1]), ({"$eq": float("nan")}, []),
        ]:  # fmt: skip
            found = store.search(("x",), filter={"n": condition})
            assert sorted(item.value["n"] for item in found) == expected, condition

    def test_namespaces(self, store: Any) -> None:
        filled(store, *NAMESPACES, ("a", "b", "c"))
        expected: Any
        arguments: Any
        for arguments, expected in [
            ({}, range(9)), ({"prefix": ("a", "b")}, [0, 1, 2, 3]), ({"suffix": ("f",)}, [3, 4, 6]),
            ({"prefix": ("a",), "suffix": ("f",)}, [3, 4]), ({"prefix": ("a", "*", "f")}, [3, 4]),
            ({"suffix": ("*", "f")}, [3, 4, 6]), ({"prefix": ("*", "b")}, [0, 1, 2, 3]),
            ({"prefix": ("*", "users"), "suffix": ("*", "settings")}, []),
            ({"prefix": ("*",)}, range(9)), ({"prefix": ("users", "*", "settings")}, [8]),
            ({"prefix": ("users", "123")}, [7]), ({"prefix": ("users", "123", "x")}, []),
            ({"prefix": ("user",)}, []), ({"suffix": ("ettings",)}, []), ({"limit": 2}, [0, 1]),
            ({"limit": 2, "offset": 5}, [5, 6]), ({"prefix": ("a", "b"), "offset": 2}, [2, 3]),
            ({"offset": 9}, []), ({"limit": 0}, []),
        ]:  # fmt: skip
            found = store.list_namespaces(**arguments)
            assert found == [NAMESPACES[n] for n in expected], arguments
        shortened = [("a", "b", "c"), ("a", "b", "d"), ("a", "b", "f")]
        for arguments, expected in [
            ({"max_depth": 1}, [("a",), ("admin",), ("b",), ("users",)]),
            ({"max_depth": 3, "prefix": ("a", "b")}, shortened),
            ({"max_depth": 2, "suffix": ("f",), "limit": 2}, [("a", "b"), ("a", "c")]),
            ({"max_depth": 1, "limit": 2, "offset": 1}, [("admin",), ("b",)]),
        ]:
            assert store.list_namespaces(**arguments) == expected, arguments


class TestQueries:
    def test_the_item_that_is_the_query_comes_first(self, opening: Any) -> None:
        texts = "mmm IT 🍕 a ... C++ I Will to_be_or_not_to_be 7 Where_is_it? 这是中文 Это_русский"
        store = opening(fields=["key1"])
        others = [(label, n) for label in "AZ" for n in range(12)]
        store.batch([PutOp(("test", label), f"{label}{n}", {"key1": "no"}) for label, n in others])
        for text in [each.replace("_", " ") for each in texts.split()]:
            store.put(("test", "M"), "M", {"key1": text})
            found = store.search(("test",), query=text, limit=10)
            assert len(set(keys(found))) == len(found) == 10, text
            assert found[0].key == "M", text
            assert found[0].score == pytest.approx(1), text
            assert found[0].score > found[1].score
            scores = [item.score for item in found]
            assert scores == sorted(scores, reverse=True)
        for query in ("test " * 100, "test!@#$%^&*()", "?", "\x00", "猫" * 9):
            assert len(store.search(("test",), query=query, limit=30)) == 25

    def test_each_field_is_looked_at_by_itself(self, opening: Any) -> None:
        store = opening(fields=["key0", "key1", "key3"])
        store.put(("test",), "doc1", {"key1": "xxx", "key2": "yyy", "key3": "zzz"})
        store.put(("test",), "doc2", {"key0": "uuu", "key1": "vvv", "key2": "www", "key3": "xxx"})
        both = store.search(("test",), query="xxx")
        assert sorted(keys(both)) == ["doc1", "doc2"]
        assert all(item.score > 0.9 for item in both)
        for query, expected in [("uuu", "doc2"), ("zzz", "doc1")]:
            first, second = store.search(("test",), query=query)
            assert first.key == expected
            assert first.score > second.score
        assert all(item.score < 0.9 for item in store.search(("test",), query="www"))
        store = opening(fields=["notes[*].text", "title", "deep.text"])
        notes = [{"text": "tea"}, {"text": "milk", "by": "Bo"}]
        store.put(("a",), "listed", {"notes": notes, "other": "coffee"})
        store.put(("a",), "titled", {"title": "coffee"})
        store.put(("a",), "deep", {"deep": {"text": "water"}})
        for query, expected in [("milk", "listed"), ("coffee", "titled"), ("water", "deep")]:
            assert store.search(("a",), query=query)[0].key == expected

    def test_each_put_says_what_is_looked_at(self, opening: Any) -> None:
        store = opening(fields=["key17"])
        one = {"key0": "aaa", "key1": "bbb", "key2": "ccc", "key3": "ddd"}
        other = {"key0": "eee", "key1": "bbb", "key2": "fff", "key3": "ggg"}
        store.put(("test",), "one", one, index=["key0", "key1"])
        store.put(("test",), "other", other, index=["key1", "key3"])
        store.put(("test",), "none", {"key0": "hhh"}, index=False)
        for query, expected in [("aaa", "one"), ("ggg", "other")]:
            first, second, last = store.search(("test",), query=query)
            assert first.key == expected
            assert first.score > second.score
            assert (last.key, last.score) == ("none", None)
        first, second, _ = store.search(("test",), query="bbb")
        assert first.score == pytest.approx(second.score)
        assert store.search(("test",), query="ccc")[0].score < 0.9
        assert store.search(("test",), query="hhh")[0].key != "none"
        assert [item.score for item in store.search(("test",))] == [None] * 3
        assert store.get(("test",), "one").value == one


class TestExpiry:
    def test_minutes_after_the_last_access(self, store: Any, clock: Clock) -> None:
        store.put(("a",), "k", {"text": "Ann loves tea."}, ttl=10)
        store.put(("a",), "stays", {"text": "Bo loves milk."})
        clock.now += timedelta(minutes=9)
        assert store.get(("a",), "k", refresh_ttl=False) is not None
        assert store.get(("a",), "k") is not None  # lives for another ten minutes
        clock.now += timedelta(minutes=9)
        assert len(store.search(("a",), query="tea")) == 2
        clock.now += timedelta(minutes=9)
        assert len(store.search(("a",), refresh_ttl=False)) == 2
        store.put(("a",), "k", {"text": "Ann loves tea."}, ttl=10)  # a new life
        clock.now += timedelta(minutes=9)
        assert len(store.search(("a",), refresh_ttl=False)) == 2
        clock.now += timedelta(minutes=2)
        assert store.get(("a",), "k") is None
        assert keys(store.search(("a",), limit=1)) == ["stays"]
        assert keys(store.search(("a",), query="tea")) == ["stays"]
        assert "tea" not in store.memory.recall("Who loves tea?").text

    def test_only_what_is_found_lives_on_and_the_rest_is_swept(
        self, opening: Any, clock: Clock
    ) -> None:
        store = opening(ttl={"default_ttl": 4})
        store.put(("a",), "1", {"text": "one", "id": 1})
        store.put(("a",), "2", {"text": "two", "id": 2})
        clock.now += timedelta(minutes=3)
        assert keys(store.search(("a",), filter={"id": 1})) == ["1"]
        clock.now += timedelta(minutes=2)
        assert store.sweep_ttl() == 1
        assert store.get(("a",), "2") is None
        assert store.get(("a",), "1", refresh_ttl=False) is not None
        clock.now += timedelta(minutes=3)
        assert store.list_namespaces() == []
        assert store.memory.stats().passages == 1
        assert [store.sweep_ttl(), store.sweep_ttl()] == [1, 0]
        store = opening(ttl={"default_ttl": 1, "sweep_interval_minutes": 1e-9})
        store.put(("a",), "k", {"n": 1})
        clock.now += timedelta(minutes=2)
        store.put(("b",), "k", {"n": 1})  # a write sweeps
        assert store.memory.stats().passages == 1

    def test_the_default_and_what_a_put_says(self, opening: Any, clock: Clock) -> None:
        store = opening(ttl={"default_ttl": 5, "refresh_on_read": False})
        store.put(("a",), "default", {"n": 1})
        store.put(("a",), "shorter", {"n": 1}, ttl=1)
        store.put(("a",), "forever", {"n": 1}, ttl=None)
        clock.now += timedelta(minutes=2)
        assert sorted(keys(store.search(("a",)))) == ["default", "forever"]
        pages = [keys(store.search(("a",), limit=1, offset=o)) for o in range(3)]
        assert pages == [["forever"], ["default"], []]
        clock.now += timedelta(minutes=2)
        assert store.get(("a",), "default") is not None
        clock.now += timedelta(minutes=2)
        assert keys(store.search(("a",))) == ["forever"]


async def test_all_of_it_on_an_event_loop(opening: Any, clock: Clock) -> None:
    store = opening(fields=["text"], ttl={"default_ttl": 4})
    await store.aput(("a", "b"), "k", {"text": "Ann sings.", "n": 1})
    await store.aput(("a",), "l", {"text": "Bo paints.", "n": 2}, ttl=None, index=False)
    item = await store.aget(("a", "b"), "k")
    assert item.value == {"text": "Ann sings.", "n": 1}
    assert keys(await store.asearch(("a",), query="Who sings?")) == ["k", "l"]
    assert keys(await store.asearch(("a",), filter={"n": {"$gt": 1}})) == ["l"]
    assert await store.alist_namespaces(prefix=("a",)) == [("a",), ("a", "b")]
    assert (await store.abatch([GetOp(("a",), "l")]))[0].key == "l"
    clock.now += timedelta(minutes=5)
    assert await store.aget(("a", "b"), "k") is None
    await store.adelete(("a",), "l")
    assert await store.asearch(()) == []
