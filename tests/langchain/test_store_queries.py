"""LangGraph's contract of queries and of expiry, held without embeddings."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from langgraph.store.base import PutOp, SearchOp

from tests.langchain.conftest import Clock


def keys(items: list[Any]) -> list[str]:
    return [item.key for item in items]


class TestQueries:
    def test_the_item_that_is_the_query_comes_first(
        self, opening: Any, subtests: pytest.Subtests
    ) -> None:
        texts = (
            "mmm IT WHO 🍕 👍🏽 a the ... C++ of I x Yes Will why_not to_be_or_not_to_be 7 aaa "
            "poisson Where_is_it? 这是中文 これは日本語です 이건_한국어야 Это_русский "
            "यह_रूसी_है هذا_عربي"
        )
        store = opening(fields=["key1"])
        others = [(label, n) for label in "AZ" for n in range(12)]
        store.batch([PutOp(("test", label), f"{label}{n}", {"key1": "no"}) for label, n in others])
        for text in [each.replace("_", " ") for each in texts.split()]:
            with subtests.test(text=text):
                store.put(("test", "M"), "M", {"key1": text})
                found = store.search(("test",), query=text, limit=10)
                assert len(set(keys(found))) == len(found) == 10
                assert found[0].key == "M"
                assert found[0].score == pytest.approx(1)
                assert found[0].score > found[1].score
                scores = [item.score for item in found]
                assert scores == sorted(scores, reverse=True)

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

    def test_fields_inside_of_lists(self, opening: Any) -> None:
        store = opening(fields=["notes[*].text", "title", "deep.text"])
        notes = [{"text": "tea"}, {"text": "milk", "by": "Bo"}]
        store.put(("a",), "listed", {"notes": notes, "other": "coffee"})
        store.put(("a",), "titled", {"title": "coffee"})
        store.put(("a",), "deep", {"deep": {"text": "water"}})
        for query, expected in [("milk", "listed"), ("coffee", "titled"), ("water", "deep")]:
            assert store.search(("a",), query=query)[0].key == expected

    def test_a_new_value_is_found_by_its_own_text(self, opening: Any) -> None:
        store = opening(fields=["text"])
        for key, text in [("1", "zany zebra Xerxes"), ("2", "about dogs"), ("3", "of birds")]:
            store.put(("test",), key, {"text": text})
        [before, *_] = store.search(("test",), query="Zany Xerxes")
        assert before.key == "1"
        store.put(("test",), "1", {"text": "new text about dogs"})
        found = {item.key: item.score for item in store.search(("test",), query="Zany Xerxes")}
        assert found["1"] < before.score
        assert store.search(("test",), query="new text about dogs")[0].key == "1"
        store.put(("test",), "4", {"text": "new text about dogs"}, index=False)
        assert "4" not in keys(store.search(("test",), query="about new dogs", limit=3))
        store.delete(("test",), "1")
        assert "1" not in keys(store.search(("test",), query="new text about dogs"))

    def test_queries_with_filters(self, opening: Any) -> None:
        values = {
            "1": {"text": "red apple", "color": "red", "score": 4.5},
            "2": {"text": "red car", "color": "red", "score": 3.0},
            "3": {"text": "green apple", "color": "green", "score": 4.0},
            "4": {"text": "blue car", "color": "blue", "score": 3.5},
        }
        store = opening(fields=["text"])
        for key, value in values.items():
            store.put(("test",), key, value)
        for query, condition, expected in [
            ("apple", {"color": "red"}, "12"),
            ("car", {"color": "red"}, "21"),
            ("apple", {"score": {"$gte": 4.0}, "color": "green"}, "3"),
        ]:
            found = store.search(("test",), query=query, filter=condition)
            assert keys(found) == list(expected)
        assert len(store.search(("test",), query="plane", filter={"score": {"$gt": 3.2}})) == 3

    def test_pages_of_a_query_add_up(self, opening: Any) -> None:
        store = opening(fields=["text"])
        for n in range(5):
            store.put(("test",), f"{n}", {"text": f"test document number {n}"})
        everything = store.search(("test",), query="test", limit=10)
        pages = [store.search(("test",), query="test", limit=2, offset=o) for o in (0, 2, 4)]
        together = [item for page in pages for item in page]
        assert sorted(keys(together)) == list("01234")
        assert [item.score for item in together] == [item.score for item in everything]

    def test_several_queries_in_a_batch(self, opening: Any) -> None:
        store = opening(fields=["text"])
        for text in ("apple", "car", "house"):
            store.put(("test",), text, {"text": text})
        ops = [SearchOp(("test",), query=text, limit=1) for text in ("car", "house", "car")]
        found = store.batch(ops)
        assert [keys(one) for one in found] == [["car"], ["house"], ["car"]]


class TestExpiry:
    def test_minutes_after_the_last_access(self, opening: Any, clock: Clock) -> None:
        store = opening()
        store.put(("a",), "k", {"text": "Ann loves tea."}, ttl=10)
        store.put(("a",), "stays", {"text": "Bo loves milk."})
        clock.now += timedelta(minutes=9)
        assert store.get(("a",), "k", refresh_ttl=False) is not None
        assert store.get(("a",), "k") is not None  # lives for another ten minutes
        clock.now += timedelta(minutes=9)
        assert len(store.search(("a",), query="tea")) == 2
        clock.now += timedelta(minutes=9)
        assert len(store.search(("a",), refresh_ttl=False)) == 2
        clock.now += timedelta(minutes=2)
        assert store.get(("a",), "k") is None
        assert keys(store.search(("a",))) == ["stays"]
        assert keys(store.search(("a",), query="tea")) == ["stays"]
        assert "tea" not in store.memory.recall("Who loves tea?").text

    def test_only_what_is_found_lives_on(self, opening: Any, clock: Clock) -> None:
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
        assert store.sweep_ttl() == 1
        assert store.get(("a",), "1") is None

    def test_what_expired_is_swept(self, opening: Any, clock: Clock) -> None:
        store = opening()
        store.put(("a",), "k", {"n": 1}, ttl=1)
        store.put(("b",), "k", {"n": 1}, ttl=5)
        clock.now += timedelta(minutes=2)
        assert store.list_namespaces() == [("b",)]
        assert store.sweep_ttl() == 1
        assert store.sweep_ttl() == 0
        assert store.memory.stats().passages == 1

    def test_a_write_sweeps(self, opening: Any, clock: Clock) -> None:
        store = opening(ttl={"default_ttl": 1, "sweep_interval_minutes": 1e-9})
        store.put(("a",), "k", {"n": 1})
        clock.now += timedelta(minutes=2)
        store.put(("b",), "k", {"n": 1})
        assert store.memory.stats().passages == 1

    def test_the_default_and_what_a_put_says(self, opening: Any, clock: Clock) -> None:
        store = opening(ttl={"default_ttl": 5, "refresh_on_read": False})
        store.put(("a",), "default", {"n": 1})
        store.put(("a",), "shorter", {"n": 1}, ttl=1)
        store.put(("a",), "forever", {"n": 1}, ttl=None)
        clock.now += timedelta(minutes=2)
        assert sorted(keys(store.search(("a",)))) == ["default", "forever"]
        clock.now += timedelta(minutes=2)
        assert store.get(("a",), "default") is not None
        clock.now += timedelta(minutes=2)
        assert keys(store.search(("a",))) == ["forever"]

    def test_writing_gives_it_a_new_life(self, opening: Any, clock: Clock) -> None:
        store = opening()
        store.put(("a",), "k", {"n": 1}, ttl=10)
        clock.now += timedelta(minutes=8)
        store.put(("a",), "k", {"n": 2}, ttl=10)
        clock.now += timedelta(minutes=8)
        assert store.get(("a",), "k") is not None

    def test_pages_pass_over_what_expired(self, opening: Any, clock: Clock) -> None:
        store = opening()
        for key in ("c", "b", "expired", "a"):
            store.put(("a",), key, {"k": key}, ttl=1 if key == "expired" else None)
        clock.now += timedelta(minutes=2)
        pages = [keys(store.search(("a",), limit=2, offset=o)) for o in (0, 2)]
        assert pages == [["a", "b"], ["c"]]
