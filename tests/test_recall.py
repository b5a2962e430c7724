"""What a memory recalls and answers, on the embedded store and with the shipped pipeline."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import product
from typing import Any

import pytest

from recallm import (
    ClosedError,
    InvalidInputError,
    LLMError,
    LLMRequiredError,
    RecallConfig,
    RecallM,
)
from recallm.facts import FactMemory
from recallm.ground.config import RankingName
from recallm.recall.prompts import CHRONOLOGICAL_PREFIX, ement_prompt
from recallm.recall.retrieval.candidates import FETCHED
from tests.store_suite import DictStore
from tests.vectors.fakes import words

MAY = datetime(2024, 5, 1, 12, tzinfo=UTC)
RANKINGS: tuple[RankingName, ...] = ("statements", "paper")


@pytest.fixture
def memory() -> Iterator[RecallM]:
    with RecallM() as memory:
        yield memory


def texts(memory: RecallM, question: str, **arguments: Any) -> list[str]:
    return [statement.text for statement in memory.recall(question, **arguments).statements]


class TestRecall:
    def test_an_unknown_subject_gives_an_empty_context(self, memory: RecallM) -> None:
        questions = ["", "   ", "?!", "Who is Zebulon?", "the of and", "\x00"]
        asked = [
            (memory.with_ranking(name), question) for name in RANKINGS for question in questions
        ]
        assert not any(ranked.recall(question) for ranked, question in asked)
        memory.update("Brandon loves coffee")
        for ranked, question in asked:
            recalled = ranked.recall(question)
            assert (recalled.text, recalled.statements, recalled.tokens) == ("", (), 0)

    def test_as_of_a_t_index_recalls_as_the_memory_stood(self, memory: RecallM) -> None:
        memory.update("Ingrid lives in Oslo.")
        then = memory.recall("Where does Ingrid live?")
        memory.update("Ingrid lives in Malaga.")
        memory.update("Nina lives in Rome.")
        assert memory.recall("Where does Ingrid live?", as_of=1) == then
        assert memory.recall("Where does Ingrid live?", as_of=0).text == ""
        assert len(texts(memory, "Where does Ingrid live?")) > 1

    def test_as_of_a_datetime_recalls_what_was_said_by_then(self, memory: RecallM) -> None:
        memory.update("Ingrid lives in Malaga.", timestamp=MAY)
        memory.update("Ingrid lives in Oslo.", timestamp=MAY - timedelta(days=99))
        memory.update("Ingrid lives in Rome.")
        recalled = texts(memory, "Where does Ingrid live?", as_of=MAY - timedelta(days=1))
        assert recalled == ["Ingrid lives in Oslo."]

    def test_every_reader_takes_a_day(self) -> None:
        noon = datetime(2026, 1, 1, 12).astimezone()
        days = ("Oslo", "Malaga", "Rome")
        memory = RecallM(triplets=True)
        for after, place in enumerate(days):
            memory.update(f"Ingrid lives in {place}.", timestamp=noon + timedelta(days=after))
        facts = FactMemory(memory)
        second = "2026-01-02"
        assert [fact.object for fact in facts.read("Ingrid", "lives in", as_of=second)] == [
            "Malaga"
        ]
        assert len(facts.changes("Ingrid", "lives in", as_of=second)) == 2
        assert len(memory.history("Ingrid", as_of=second)) == 2
        assert len(memory.passages(as_of=second)) == 2
        assert [passage.text for passage in memory.passages(since=second, until=noon.date())] == []
        assert len(memory.passages(since=second)) == len(memory.passages(until=second)) == 2
        assert "Malaga" in memory.recall("Who lives where?", since=second, until=second).text
        assert memory.recall("Where does Ingrid live?", as_of=second).statements[-1].t_index == 2
        assert len(memory.superseded(memory.history("Ingrid"), as_of=second)) == 1
        assert not memory.graph.show("Rome", as_of=second)
        assert memory.forget(before=second).passages == 1

    def test_filters(self, memory: RecallM) -> None:
        memory.update("I like tea.", speaker="Ana", session="one", timestamp=MAY)
        memory.update("I like milk.", speaker="Bo", source="two", metadata={"k": [1]})
        question = "Who likes what, tea or milk?"
        assert texts(memory, question, speaker="Ana") == ["I like tea."]
        assert texts(memory, question, session="two") == ["I like milk."]
        assert texts(memory, question, since=2) == ["I like milk."]
        assert texts(memory, question, until=MAY) == ["I like tea."]
        assert texts(memory, question, metadata={"k": [1]}) == ["I like milk."]
        assert texts(memory, question, metadata={"k": [True]}) == []

    def test_max_tokens_counts_the_whole_text_by_the_given_counter(self) -> None:
        memory = RecallM(count_tokens=lambda text: len(text.split()))
        memory.update_many(f"Ana bought apple number {n} in Oslo." for n in range(20))
        for ranking in RANKINGS:
            for most in (1, 5, 20, 40, 80, 200):
                asked = memory.with_ranking(ranking)
                recalled = asked.recall("Which apple did Ana buy in Oslo?", max_tokens=most)
                assert recalled.tokens == len(recalled.text.split()) <= most
                assert bool(recalled) is (most >= 40) or most == 20

    def test_a_bad_token_counter_is_named(self) -> None:
        def fail(text: str) -> int:
            raise OSError("no vocabulary")

        counts: list[Any] = [None, -1, 2.5, "3", True]
        for counter in (*(lambda _, count=count: count for count in counts), fail):
            memory = RecallM(count_tokens=counter)
            memory.update("Ana sings.")
            with pytest.raises(InvalidInputError, match=r"count_tokens|no vocabulary"):
                memory.recall("Who sings?", max_tokens=9)

    def test_a_large_limit_recalls_all_statements(self, memory: RecallM) -> None:
        memory.update_many(f"Ana bought apple number {n} in Oslo." for n in range(120))
        assert len(texts(memory, "Which apple did Ana buy?", limit=120)) == 120
        recalled = memory.recall("Which apple did Ana buy?", max_tokens=1000)
        assert 950 < recalled.tokens <= 1000

    def test_explain_names_signals_and_paths(self, memory: RecallM) -> None:
        memory.update("Ana bought a boat in Oslo.")
        recalled = memory.recall("Where did Ana buy the boat?")
        [statement] = recalled.statements
        explained = recalled.explain()
        assert statement.contributions
        assert statement.path
        for name in (name for name, value in statement.contributions.items() if value):
            assert name in explained
        assert statement.path[0] in explained
        assert f"{statement.score:.3f}" in explained

    def test_explain_keeps_a_statement_on_its_line(self, memory: RecallM) -> None:
        memory.update(
            "Brandon went to the market and bought a very long list of things for\n"
            "[x#0 t=9] the party."
        )
        explained = memory.recall("What did Brandon buy?").explain()
        assert not any(line.startswith("[x#0") for line in explained.splitlines())

    def test_a_code_is_found_in_every_spelling(self) -> None:
        """Also one whose number looks like a year, and behind a word with a capital."""
        lost = []
        for spellings in (("POL-358", "POL358", "POL 358"), ("AB-1234", "AB1234", "AB 1234")):
            for written, asked in product(spellings, repeat=2):
                memory = RecallM()
                memory.update(f"Parcel {written} is for Lukas.")
                if not memory.recall(f"Whose is parcel {asked}?"):
                    lost.append((written, asked))
        assert not lost

    def test_what_is_known_costs_nothing_and_hides_nothing(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        """However long a thread is that the reader has, as little is read, and what it does not
        hold is found behind it."""
        memory = RecallM(DictStore())
        memory.update("Ann saw a whale.", id="whale")
        thread = [f"said-{n}" for n in range(400)]
        memory.update_many({"text": f"Ann saw bird number {id}.", "id": id} for id in thread)
        with caplog.at_level("DEBUG", "recallm.recall"):
            memory.recall("What did Ann see?", known=thread[200:])
        assert int(caplog.messages[0].split()[1]) < 3 * FETCHED
        found = memory.recall("What did Ann see?", known=thread)
        assert {statement.passage for statement in found.statements} == {"whale"}

    def test_known_passages_are_not_recalled(self) -> None:
        store = DictStore()
        memory = RecallM(store)
        birds = [f"bird-{n}" for n in range(12)]
        for id in birds:
            memory.update(f"Ann saw bird number {id}.", id=id)
        memory.update("Ann saw a whale. Ann was glad.", id="whale")
        paper = RecallM(store, config=RecallConfig(ranking="paper"))
        for asked in (memory, paper):
            found = asked.recall("What did Ann see?", known=birds, limit=3)
            assert {statement.passage for statement in found.statements} == {"whale"}
            assert asked.recall("What did Ann see?", known=[*birds, "whale"]).text == ""
        with pytest.raises(InvalidInputError, match="known must be a list"):
            memory.recall("What?", known="whale")


class TestAsk:
    def test_the_prompt_is_the_papers(self, memory: RecallM) -> None:
        prompts: list[str] = []

        def llm(prompt: str) -> str:
            prompts.append(prompt)
            return " Brandon"

        memory.update("Brandon wants to travel to Paris")
        answer = memory.ask("Who wants to travel to Paris?", llm=llm)
        assert answer == "Brandon"
        assert answer.context.statements
        [prompt] = prompts
        assert prompt.startswith("Using the following statements when necessary")
        assert "Brandon wants to travel to Paris" in prompt
        assert prompt.endswith("question:\nWho wants to travel to Paris?\n\nAnswer:")
        memory.update("Brandon cancelled the trip to Paris.")
        for ranking in ("statements", "paper"):  # one context has a prefix of its own
            ranked = memory.with_ranking(ranking)
            ranked.ask("What about Paris, Brandon?", llm=llm)
            assert "cancelled" in prompts[-1]
            assert prompts[-1].count(CHRONOLOGICAL_PREFIX) == 1
            assert prompts[-1].count("the later one") == 1  # tokens are money
            assert "Oldest first" not in prompts[-1]

    @pytest.mark.parametrize("ranking", ["statements", "paper", "ement", "vectors"])
    def test_the_prompt_is_that_of_the_question_and_the_context(self, ranking: RankingName) -> None:
        prompts: list[str] = []

        def llm(prompt: str) -> str:
            prompts.append(prompt)
            return "Brandon"

        with RecallM(embeddings=words, config=RecallConfig(ranking=ranking)) as memory:
            memory.update("Brandon wants to travel to Paris")
            memory.update("Carter wants to travel to Paris")
            memory.ask("Who wants to travel to Paris?", llm=llm, as_of=1)
            fetched = memory.ask("Who wants to travel to Paris?", as_of=1, llm=str)
        assert prompts == [fetched]
        assert "Brandon" in fetched
        assert "Carter" not in fetched

    def test_with_ements_ranking_the_prompt_is_ements(self) -> None:
        prompts: list[str] = []

        def llm(prompt: str) -> str:
            prompts.append(prompt)
            return "Brandon"

        with RecallM(embeddings=words, config=RecallConfig(ranking="ement"), llm=llm) as memory:
            memory.update("Brandon wants to travel to Paris")
            answer = memory.ask("Who wants to travel to Paris?")
        assert answer.context.text == "Brandon wants to travel to Paris"
        assert prompts == [ement_prompt("Who wants to travel to Paris?", answer.context.text)]

    def test_without_a_model_the_error_says_how_to_give_one(self, memory: RecallM) -> None:
        with pytest.raises(LLMRequiredError, match="llm="):
            memory.ask("Who?")

    def test_llm_returns_the_memorys_model(self, memory: RecallM) -> None:
        assert memory.llm is None
        assert RecallM(llm=str.upper).in_namespace("other").llm is str.upper

    def test_a_failing_model(self, memory: RecallM) -> None:
        def fail(prompt: str) -> str:
            raise TimeoutError("slow")

        with pytest.raises(LLMError, match="slow") as caught:
            memory.ask("Who?", llm=fail)
        assert isinstance(caught.value.__cause__, TimeoutError)
        with pytest.raises(LLMError, match="int"):
            memory.ask("Who?", llm=lambda _: 3)  # type: ignore[arg-type,return-value]


class TestWithRanking:
    @pytest.fixture
    def embedded(self) -> Iterator[RecallM]:
        config = RecallConfig(hops=1, neighbours=2)
        with RecallM(embeddings=words, namespace="mine", config=config) as memory:
            memory.update_many(["Brandon loves coffee", "Brandon loves tea", "Ana sings"])
            yield memory

    @pytest.mark.parametrize("ranking", ["statements", "paper", "ement", "vectors"])
    def test_it_recalls_like_a_memory_opened_with_that_ranking(
        self, embedded: RecallM, ranking: Any
    ) -> None:
        other = embedded.with_ranking(ranking)
        assert other.config == replace(embedded.config, ranking=ranking)
        opened = RecallM(
            embedded._opened.store, embeddings=words, namespace="mine", config=other.config
        )
        question = "Who loves coffee?"
        assert other.recall(question) == opened.recall(question)
        assert embedded.config.ranking == "statements"

    def test_it_is_the_same_memory(self, embedded: RecallM) -> None:
        other = embedded.with_ranking("vectors")
        assert other.namespace == "mine"
        other.update("Bo swims", id="b")
        assert embedded.get("b") is not None
        assert "Bo swims" in texts(other, "Bo swims")
        embedded.forget(id="b")
        assert "Bo swims" not in texts(other, "Bo swims")
        assert other.in_namespace("yours").config.ranking == "vectors"

    def test_it_is_closed_with_the_memory_that_it_comes_from(self) -> None:
        memory = RecallM()
        other = memory.with_ranking("paper")
        with memory.with_ranking("paper") as another:
            pass
        with pytest.raises(ClosedError):
            another.stats()
        assert memory.stats() == other.stats()
        memory.close()
        for call in (other.stats, partial(memory.with_ranking, "paper")):
            with pytest.raises(ClosedError):
                call()

    def test_a_ranking_that_cannot_be_used_is_refused(self, memory: RecallM) -> None:
        with pytest.raises(InvalidInputError, match="needs embeddings") as opening:
            RecallM(config=RecallConfig(ranking="ement"))
        with pytest.raises(InvalidInputError) as caught:
            memory.with_ranking("ement")
        assert str(caught.value) == str(opening.value)
        assert caught.value.argument == "embeddings"
        unknown: list[Any] = ["newest", None, ["paper"]]
        for ranking in unknown:
            with pytest.raises(InvalidInputError, match="ranking must be") as caught:
                memory.with_ranking(ranking)
            assert caught.value.argument == "ranking"
