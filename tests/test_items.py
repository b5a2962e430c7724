"""Items, passages and expiry, as a user of ``RecallM`` meets them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from recallm import Forgotten, InvalidInputError, NewItem, RecallConfig, RecallM
from recallm.stores.semantics import applying

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


class Clock:
    """The present, as a test sets it."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory(clock: Clock) -> Iterator[RecallM]:
    with RecallM(clock=clock) as memory:
        yield memory


def item(key: str, text: str, *path: str, **fields: Any) -> NewItem:
    return NewItem(path=path or ("users", "ann"), key=key, text=text, **fields)


def test_get_returns_the_item_that_was_put(memory: RecallM) -> None:
    [update] = memory.items.put(
        [
            item(
                "food",
                " Ann loves pizza.\n",
                speaker="Ann",
                timestamp=NOON,
                source="app",
                metadata={"n": [1, {"é": None}]},
                expires_at=NOON + timedelta(hours=1),
            )
        ]
    )
    found = memory.items.get(["users", "ann"], "food")
    assert found == memory.get(update.id)
    assert found is not None
    assert (found.text, found.path, found.key) == (" Ann loves pizza.\n", ("users", "ann"), "food")
    assert (found.metadata, found.speaker, found.timestamp) == (
        {"n": [1, {"é": None}]},
        "Ann",
        NOON,
    )
    assert found.expires_at == NOON + timedelta(hours=1)
    assert memory.items.get(("users",), "food") is None
    assert memory.in_namespace("other").items.get(("users", "ann"), "food") is None


def test_changed_copies_of_an_item_are_items_of_their_own(memory: RecallM) -> None:
    tea = item("drink", "Ann loves tea.")
    assert tea == item("drink", "Ann loves tea.")
    memory.items.put([tea])
    memory.items.put([replace(tea, text="Ann loves milk."), replace(tea, key="copy")])
    memory.items.put([item("food", "Ann loves pizza.")])
    memory.items.put([tea])  # written again: the newest
    assert [
        (found.t_index, found.key, found.text) for found in memory.items.below(("users", "ann"))
    ] == [
        (5, "drink", "Ann loves tea."),
        (4, "food", "Ann loves pizza."),
        (3, "copy", "Ann loves tea."),
    ]


def test_a_new_item_takes_the_place_of_the_old_one(memory: RecallM) -> None:
    memory.items.put([item("food", "Ann loves pizza."), item("drink", "Ann loves tea.")])
    memory.items.put([item("food", "Ann loves sushi.")])
    texts = {statement.text for statement in memory.recall("What does Ann love?").statements}
    assert texts == {"Ann loves sushi.", "Ann loves tea."}
    assert memory.history("pizza") == ()
    assert memory.stats().passages == 2
    assert memory.stats().t_index == 3


def test_an_item_with_recalled_false_is_stored(memory: RecallM) -> None:
    memory.items.put(
        [item("secret", "Ann loves chess.", recalled=False), item("n", "Ann is here.")]
    )
    assert "chess" not in memory.recall("What does Ann love?").text
    assert [passage.key for passage in memory.items.below(("users",))] == ["n", "secret"]
    assert memory.items.delete(("users", "ann"), "secret")
    assert memory.stats().passages == 1


def test_items_are_listed_and_recalled_below_a_path(memory: RecallM) -> None:
    memory.update("Ann loves rain.")
    memory.items.put(
        [
            item("1", "Ann loves pizza.", "users", "ann"),
            item("1", "Ann loves tea.", "users", "ann", "drinks"),
            item("1", "Ann loves snow.", "users2"),
        ]
    )
    assert memory.items.paths() == (("users", "ann"), ("users", "ann", "drinks"), ("users2",))
    assert [passage.text for passage in memory.items.below(("users",))] == [
        "Ann loves tea.",
        "Ann loves pizza.",
    ]
    assert [passage.text for passage in memory.items.below(limit=1)] == ["Ann loves snow."]

    def recalled(path: Any) -> set[str]:
        found = memory.recall("What does Ann love?", path=path).statements
        return {statement.text.split()[-1] for statement in found}

    assert recalled(("users",)) == {"pizza.", "tea."}
    assert recalled(["users", "ann", "drinks"]) == {"tea."}
    assert recalled(()) == {"pizza.", "tea.", "snow."}
    assert recalled(None) == {"rain.", "pizza.", "tea.", "snow."}
    assert recalled(("us",)) == set()


def test_an_expired_item_is_gone_and_can_be_forgotten(memory: RecallM, clock: Clock) -> None:
    soon = NOON + timedelta(minutes=5)
    memory.items.put([item("a", "Ann loves pizza.", expires_at=soon), item("b", "Ann loves tea.")])
    memory.update("Ann loves rain.", expires_at=soon, id="rain")
    clock.now = soon
    assert memory.items.get(("users", "ann"), "a") is None
    assert memory.get("rain") is None
    assert memory.recall("What does Ann love?").text.endswith("Ann loves tea.")
    assert memory.expire({"rain": None, "unknown": None}) == 1
    assert memory.get("rain") is not None
    assert memory.forget(expired=True).passages == 1
    assert memory.forget(expired=True) == Forgotten()
    assert memory.stats().passages == 2


def test_deleting_says_whether_there_was_one(memory: RecallM, clock: Clock) -> None:
    memory.items.put([item("a", "Ann loves pizza.", expires_at=NOON + timedelta(minutes=5))])
    clock.now = NOON + timedelta(minutes=6)
    assert memory.items.delete(("users", "ann"), "a")
    assert not memory.items.delete(("users", "ann"), "a")
    assert memory.stats().passages == 0


def test_passages_are_listed_in_order(memory: RecallM) -> None:
    memory.update("One.", session="s", speaker="Ann")
    memory.update("Two.", session="t", metadata={"k": 1})
    memory.update("Three.", source="s", timestamp=NOON)

    def listed(**where: Any) -> list[str]:
        return [passage.text for passage in memory.passages(**where)]

    assert listed() == ["One.", "Two.", "Three."]
    assert listed(limit=2) == ["Two.", "Three."]
    assert listed(session="s") == ["One.", "Three."]
    assert listed(speaker="Ann") == ["One."]
    assert listed(metadata={"k": 1}) == ["Two."]
    assert listed(as_of=1) == ["One."]
    assert listed(since=2) == ["Two.", "Three."]
    assert listed(until=NOON) == ["Three."]
    assert listed(path=()) == []
    memory.items.put([item("k", "Four.", "p")])
    assert listed(path=("p",)) == listed(path=[]) == ["Four."]


def test_a_bad_item_is_named_and_nothing_is_written(memory: RecallM) -> None:
    table: list[tuple[dict[str, Any], str]] = [
        ({"text": " "}, "text"),
        ({"key": ""}, "key"),
        ({"path": "users"}, "path"),
        ({"path": ("users", 1)}, "path"),
        ({"path": ("\ud800",)}, "path"),
        ({"expires_at": datetime(2026, 5, 1)}, "expires_at"),  # noqa: DTZ001
        ({"metadata": {"k": object}}, "metadata"),
        ({"recalled": 1}, "recalled"),
    ]
    for bad, argument in table:
        fields: dict[str, Any] = {"path": ("p",), "key": "k", "text": "Ann loves pizza.", **bad}
        with pytest.raises(InvalidInputError) as caught:
            memory.items.put([item("a", "Ann loves tea."), NewItem(**fields)])
        assert caught.value.argument == argument
    assert memory.stats().passages == 0


def test_a_value_that_is_no_item_is_refused(memory: RecallM) -> None:
    with pytest.raises(InvalidInputError, match="must hold NewItem values"):
        memory.items.put(["text"])  # type: ignore[list-item]
    with pytest.raises(InvalidInputError, match="moments has no time zone"):
        memory.expire({"a": datetime(2026, 5, 1)})  # noqa: DTZ001
    assert memory.items.put([]) == []


def test_writers_of_one_key_leave_one_item(memory: RecallM) -> None:
    def write(writer: int) -> None:
        for n in range(10):
            memory.items.put([item("k", f"Ann has {writer * 10 + n} cats.")])

    threads = [threading.Thread(target=write, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert memory.stats().passages == 1
    assert memory.stats().statements == 1
    assert memory.stats().t_index == 40


def test_tokens_and_the_present_are_those_of_the_memory(clock: Clock) -> None:
    with RecallM(clock=clock, count_tokens=lambda text: len(text.split())) as memory:
        assert memory.now() == NOON
        assert memory.count_tokens("a b c") == 3
        assert memory.in_namespace("other").count_tokens("a b") == 2


def test_a_statement_knows_its_passage() -> None:
    with RecallM(config=RecallConfig(limit=1)) as memory:
        memory.update("Ann lives in Oslo.", id="a#1")
        [statement] = memory.recall("Where does Ann live?").statements
        assert statement.passage == "a#1"


def test_counts_without_end(memory: RecallM) -> None:
    memory.items.put([item("1", "Ann loves jazz.")])
    assert len(memory.items.below(limit=10**30)) == 1
    assert len(memory.passages(limit=10**30)) == 1
    assert len(memory.concepts(limit=10**30)) == 2


class TestSweeping:
    """What has expired counts until a write sweeps it."""

    def test_a_write_forgets_what_has_expired(self, memory: RecallM, clock: Clock) -> None:
        soon = NOON + timedelta(minutes=5)
        memory.update("Ann loves rain.", id="rain", expires_at=soon)
        memory.update("Ann loves snow.")
        clock.now = soon
        assert memory.stats().passages == 2
        assert [concept.name for concept in memory.concepts()] == ["ann", "snow"]
        again = memory.update("Ann loves rain again.", id="rain")
        assert not again.duplicate
        assert memory.stats().passages == 2
        assert memory.forget(expired=True) == Forgotten()

    def test_a_bounded_number_at_a_time(
        self, memory: RecallM, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(applying, "SWEPT_PASSAGES", 3)
        soon = NOON + timedelta(minutes=5)
        memory.update_many([{"text": f"Ann is {n}.", "expires_at": soon} for n in range(8)])
        clock.now = soon
        for left in (6, 4, 3, 4):  # three are swept, one is written
            memory.update(f"Bo sings {left} songs.")
            assert memory.stats().passages == left
        assert memory.recall("Who is Ann?").text == ""

    def test_the_id_of_an_expired_passage_that_is_not_swept_yet(
        self, memory: RecallM, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It is free: the write is no duplicate of what nobody sees."""
        monkeypatch.setattr(applying, "SWEPT_PASSAGES", 3)
        soon = NOON + timedelta(minutes=5)
        notes = [{"text": f"Ann is {n}.", "id": str(n), "expires_at": soon} for n in range(9)]
        memory.update_many(notes)
        clock.now = soon
        assert not memory.update("Ann is 8.", id="8").duplicate
        assert not memory.update("Ann is seven.", id="7").duplicate
        found = memory.get_many(["8", "7"])
        assert [found[id].text for id in ("8", "7")] == ["Ann is 8.", "Ann is seven."]
