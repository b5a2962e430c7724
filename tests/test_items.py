"""Items, passages and expiry, as a user of ``RecallM`` meets them."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from recallm import Forgotten, InvalidInputError, NewItem, RecallConfig, RecallM
from recallm.errors import StoreBusyError, StoreError

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
        assert (caught.value.argument, caught.value.index) == (argument, 1)
    assert memory.stats().passages == 0


def test_a_value_that_is_no_item_is_refused(memory: RecallM) -> None:
    with pytest.raises(InvalidInputError, match="must be a NewItem"):
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


class TestTheQuestionJustAsked:
    """It says nothing that whoever asks does not know."""

    def test_is_not_given_back(self, memory: RecallM) -> None:
        memory.update("Where does Ann live?", speaker="Bo")
        memory.update("I do not know.", speaker="Cy")
        memory.update("Ann lives in Oslo.", speaker="Dee")
        found = memory.recall("  where does Ann\nlive? ").statements
        assert "Ann lives in Oslo." in [statement.text for statement in found]
        assert "Where does Ann live?" not in [statement.text for statement in found]

    def test_other_questions_are(self, memory: RecallM) -> None:
        memory.update("Does Ann live in Oslo?", speaker="Bo")
        memory.update("Yes.", speaker="Cy")
        found = memory.recall("Where does Ann live?").statements
        assert "Does Ann live in Oslo?" in [statement.text for statement in found]


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


class TestSearch:
    """Items by what they say."""

    def test_search_finds_all_equal_items(self, memory: RecallM) -> None:
        memory.items.put([item(f"{n}", "Ann loves jazz.", "a", f"{n}") for n in range(5)])
        memory.items.put([item(f"{n}", f"Bo has dog {n}.", "b") for n in range(20)])
        found = memory.items.search("Who loves jazz?")
        assert {kept.text for kept, _ in found[:5]} == {"Ann loves jazz."}
        assert {kept.path for kept, _ in found[:5]} == {("a", f"{n}") for n in range(5)}

    def test_best_first_below_a_path(self, memory: RecallM) -> None:
        memory.update("Ann loves jazz.")
        memory.items.put(
            [
                item("1", "Ann loves jazz and tea.", "a"),
                item("2", "Ann is here.", "a", "b"),
                item("3", "Ann loves jazz.", "c"),
                item("4", "Ann loves jazz.", "a", recalled=False),
            ]
        )
        found = memory.items.search("Does Ann love jazz?", ("a",))
        assert [kept.key for kept, _ in found] == ["1", "2"]
        assert found[0][1] > found[1][1]
        assert memory.items.search("Does Ann love jazz?", ("a",), limit=1) == found[:1]
        assert [
            kept.key
            for kept, _ in memory.items.search(
                "Does Ann love jazz?", limit=1, accept=lambda kept: kept.path == ("c",)
            )
        ] == ["3"]
        assert memory.items.search("Who sells violins?") == ()

    def test_bad_arguments(self, memory: RecallM) -> None:
        for bad in ({"question": 1}, {"question": "a", "path": "a"}, {"question": "a", "limit": 0}):
            with pytest.raises(InvalidInputError):
                memory.items.search(**bad)


def test_counts_without_end(memory: RecallM) -> None:
    memory.items.put([item("1", "Ann loves jazz.")])
    assert len(memory.items.below(limit=10**30)) == 1
    assert len(memory.passages(limit=10**30)) == 1
    assert len(memory.concepts(limit=10**30)) == 2


class TestExactTokens:
    """What extraction drops is found where nothing else is asked for."""

    def test_an_item_that_is_the_question_comes_first(self, memory: RecallM) -> None:
        words = ("mmm", "IT", "WHO", "🍕", "a", "the", "...", "C++", "of", "I", "?", "Who?", "No")
        asked = [*words, "x", "to be or not to be", "Where do I live?"]
        cases = [
            (text, form.format(text)) for text in asked for form in ("{}", "key: {}", "Tea.\n{}")
        ]
        for text in ("Tea is hot. It is.", "Tea is <3 hot"):
            cases += [(text, text), (text, f"key: {text}"), (f"* {text}", f"* {text}")]
        wrong: list[str] = []
        for place, (question, text) in enumerate(cases):
            own = memory.in_namespace(str(place)).items
            others = [f"Tea number {n} is hot, I think." for n in range(8)]
            others += [f"Tea is hot. It is number {n}." for n in range(8)]
            own.put([item("it", text), *(item(f"{n}", text) for n, text in enumerate(others))])
            (found, score), *rest = own.search(question.swapcase())
            if (found.key, score) != ("it", 1.0) or any(score >= 1 for _, score in rest):
                wrong.append(f"{question} of {text!r}: {found.text!r} {score}")
        assert not wrong

    def test_of_items_that_hold_it_and_of_those_that_do_not(self, memory: RecallM) -> None:
        memory.items.put([item("work", "She works in IT."), item("says", "It is what it is.")])
        assert [passage.key for passage, _ in memory.items.search("IT")] == ["work"]
        assert memory.items.search("WHO") == ()

    def test_recall_finds_them(self, memory: RecallM) -> None:
        memory.update("She works in IT.", source="a")
        memory.update("I ate 🍕 with Bo.", source="b")
        memory.update("mmm", source="c")
        for question, text in [("IT", "She works in IT."), ("🍕?", "I ate 🍕 with Bo."),
                               ("mmm", "mmm")]:  # fmt: skip
            context = memory.recall(question)
            assert [one.text for one in context.statements] == [text]
            assert '"' not in context.explain().replace(f'"{text}"', "")
        assert memory.recall("of").statements == ()

    def test_they_change_nothing_for_other_questions(self, memory: RecallM) -> None:
        memory.update("Anna lives in Oslo.", session="s")
        before = memory.recall("Where does Anna live?").statements
        memory.update("It is.", session="t")
        memory.update("Yes, so it is 🍕", session="t")
        context = memory.recall("Where is it that Anna lives?").statements
        assert [one.text for one in context] == [one.text for one in before]

    def test_beside_other_words_what_answers_comes_first(self, memory: RecallM) -> None:
        memory.update("Anna lives in Oslo.", session="s")
        memory.update("Yes, so it is 🍕", session="t")
        found = memory.recall("Where does Anna live 🍕?", limit=1).statements
        assert [one.text for one in found] == ["Anna lives in Oslo."]

    def test_a_question_of_nothing_is_no_items_text(self) -> None:
        with RecallM(embeddings=lambda texts: [[1.0, 0.5] for _ in texts]) as memory:
            memory.items.put([item("it", "Tea is hot.")])
            [(_, score)] = memory.items.search("tea is hot.")
            assert score == 1
            assert all(score < 1 for _, score in memory.items.search(" \n"))

    def test_search_finds_no_forgotten_item(self, memory: RecallM) -> None:
        memory.items.put([item("it", "mmm"), item("on", "of")])
        assert memory.items.delete(("users", "ann"), "it")
        assert memory.items.search("mmm") == ()
        assert memory.stats().statements == 1


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
        monkeypatch.setattr("recallm.memory.updating._SWEPT_PASSAGES", 3)
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
        monkeypatch.setattr("recallm.memory.updating._SWEPT_PASSAGES", 3)
        soon = NOON + timedelta(minutes=5)
        notes = [{"text": f"Ann is {n}.", "id": str(n), "expires_at": soon} for n in range(9)]
        memory.update_many(notes)
        clock.now = soon
        assert not memory.update("Ann is 8.", id="8").duplicate
        assert not memory.update("Ann is seven.", id="7").duplicate
        found = memory.get_many(["8", "7"])
        assert [found[id].text for id in ("8", "7")] == ["Ann is 8.", "Ann is seven."]

    def test_a_sweep_waits_for_no_other_writer(self, tmp_path: Path, clock: Clock) -> None:
        """The write itself does, for as long as it may."""
        path = tmp_path / "memory.db"
        with RecallM(path, clock=clock, timeout=0.3) as memory:
            memory.update("Ann loves rain.", expires_at=NOON + timedelta(minutes=5))
            clock.now = NOON + timedelta(hours=1)
            with closing(sqlite3.connect(path, isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")
                with pytest.raises(StoreBusyError, match=r"for 0\.[3-5]"):
                    memory.update("Bo loves snow.")
                other.rollback()
            memory.update("Bo loves snow.")
            assert memory.stats().passages == 1

    def test_a_sweep_that_fails_loses_no_write(
        self, memory: RecallM, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        memory.update("Ann loves rain.", expires_at=NOON + timedelta(minutes=5))
        clock.now = NOON + timedelta(hours=1)

        def fails(*_: object) -> None:
            raise StoreError("no")

        with monkeypatch.context() as patched:
            patched.setattr(memory._opened.store, "forget", fails)
            memory.update("Bo loves snow.")
        assert memory.stats().passages == 2
        assert memory.recall("What does Bo love?").statements
        assert "rain" not in memory.recall("What does Ann love?").text
        memory.update("Cy loves fog.")
        assert memory.stats().passages == 2


# -- listing by a condition ------------------------------------------------------------------------


def test_below_lists_what_is_accepted_the_latest_first(memory: RecallM) -> None:
    memory.items.put(
        item(f"{n}", f"Box {n}.", metadata={"n": n, "kind": "even" if n % 2 == 0 else "odd"})
        for n in range(300)
    )

    def keys(**arguments: Any) -> list[str | None]:
        return [passage.key for passage in memory.items.below(("users",), **arguments)]

    assert keys(limit=2, accept=lambda passage: passage.metadata["n"] < 150) == ["149", "148"]
    assert keys(limit=9, accept=lambda passage: passage.metadata["n"] < 2) == ["1", "0"]
    assert keys(accept=lambda passage: passage.metadata["n"] % 100 == 0) == ["200", "100", "0"]
    assert keys(limit=2, accept=lambda _: False) == []
    even = {("kind",): "even"}
    assert keys(limit=2, accept=lambda passage: passage.metadata["n"] < 9, likely=even)[0] == "8"
    assert (
        len(keys(limit=200, accept=lambda passage: passage.metadata["kind"] == "even", likely=even))
        == 150
    )
    found = memory.items.search(
        "Which box?", accept=lambda passage: passage.metadata["n"] < 4, likely={("n",): 3}
    )
    assert "3" in {passage.key for passage, _ in found}


def test_conditions_that_cannot_be_used(memory: RecallM) -> None:
    memory.items.put([item("food", "Ann loves pizza.")])
    likely: list[Any] = [
        {"kind": "even"}, {(): 1}, {("a", 1): 1}, {("a",): 1.5}, {("a",): ["x"]}, [("a", 1)],
    ]  # fmt: skip
    accept: list[Any] = [3, lambda _: 1 / 0]
    for name, values in (("likely", likely), ("accept", accept)):
        for value in values:
            for find in (memory.items.below, partial(memory.items.search, "What does Ann love?")):
                with pytest.raises(InvalidInputError, match=name):
                    find(**{name: value})


def test_sqlite_reads_the_items_with_a_likely_value_alone(tmp_path: Path) -> None:
    read: list[str | None] = []

    def accept(passage: Any) -> bool:
        read.append(passage.key)
        return True

    with RecallM(tmp_path / "memory.db") as memory:
        memory.items.put(item(f"{n}", f"Box {n}.", metadata={"in": {"n": n}}) for n in range(200))
        memory.items.below(accept=accept, likely={("in", "n"): 7})
    assert read == ["7"]
