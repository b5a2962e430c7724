"""Items by what they say, and by a condition."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from recallm import InvalidInputError, RecallM
from recallm.vectors import Embedding
from tests.test_items import item


@pytest.fixture
def memory() -> Iterator[RecallM]:
    with RecallM() as memory:
        yield memory


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


class TestExactTokens:
    """What extraction drops is found where nothing else is asked for."""

    def test_an_item_that_is_the_question_comes_first(self, memory: RecallM) -> None:
        asked = ["mmm", "IT", "🍕", "a", "...", "C++", "?", "Who?", "to be or not to be"]
        cases = [
            (text, form.format(text)) for text in asked for form in ("{}", "key: {}", "Tea.\n{}")
        ]
        for text in ("Tea is hot. It is.", "Tea is <3 hot"):
            cases += [(text, text), (text, f"key: {text}"), (f"* {text}", f"* {text}")]
        wrong: list[str] = []
        for place, (question, text) in enumerate(cases):
            own = memory.in_namespace(str(place)).items
            others = [f"Tea number {n} is hot, I think." for n in range(4)]
            others += [f"Tea is hot. It is number {n}." for n in range(4)]
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
        same = Embedding(name="same", embed=lambda texts: [[1.0, 0.5] for _ in texts])
        with RecallM(embeddings=same) as memory:
            memory.items.put([item("it", "Tea is hot.")])
            [(_, score)] = memory.items.search("tea is hot.")
            assert score == 1
            assert all(score < 1 for _, score in memory.items.search(" \n"))

    def test_search_finds_no_forgotten_item(self, memory: RecallM) -> None:
        memory.items.put([item("it", "mmm"), item("on", "of")])
        assert memory.items.delete(("users", "ann"), "it")
        assert memory.items.search("mmm") == ()
        assert memory.stats().statements == 1


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
