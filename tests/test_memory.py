"""RecallM as its users see it, on the embedded store and with the shipped pipeline."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from recallm import (
    ClosedError,
    ConflictError,
    InvalidInputError,
    LLMError,
    LLMRequiredError,
    NewEntity,
    NewTriplet,
    PipelineError,
    RecallConfig,
    RecallM,
    UnknownEntityError,
)
from recallm.config import RankingName
from recallm.facts import FactMemory
from recallm.recall.prompts import CHRONOLOGICAL_PREFIX, ement_prompt
from tests.store_suite import DictStore
from tests.vectors.fakes import words

MAY = datetime(2024, 5, 1, 12, tzinfo=UTC)
RANKINGS: tuple[RankingName, ...] = ("statements", "paper")


IMAGE = {"type": "image_url", "image_url": {"url": "data:"}}


@pytest.fixture
def memory() -> Iterator[RecallM]:
    with RecallM() as memory:
        yield memory


def texts(memory: RecallM, question: str, **arguments: Any) -> list[str]:
    return [statement.text for statement in memory.recall(question, **arguments).statements]


@pytest.mark.slow
def test_an_import_loads_no_pipeline() -> None:
    """spaCy takes longer to import than all of recallm: it waits until a memory is opened."""
    loaded = "import sys, recallm; print(sorted({'spacy', 'thinc', 'chromadb'} & set(sys.modules)))"
    shown = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True)
    assert (shown.stdout, shown.stderr) == ("[]\n", "")


class TestUpdate:
    def test_the_result_lists_what_was_written(self, memory: RecallM) -> None:
        update = memory.update("Brandon loves coffee", id="one")
        assert update.t_index == 1
        assert update.statements == ("one#0",)
        assert update.concepts == ("brandon", "coffe")
        assert update.relations == (("brandon", "coffe"),)
        assert not update.duplicate

    def test_the_passage_comes_back_verbatim(self, memory: RecallM) -> None:
        text = "  \u201cHi!\u201d she said.\r\n\n* one\x00\n* two \U0001f600 <b>&amp;</b>\n"
        memory.update(
            text,
            id="p",
            speaker="Ana",
            timestamp=MAY,
            source="book",
            session="s",
            metadata={"page": 3, "tags": ["a", None, {"deep": 1.5}]},
        )
        passage = memory.get("p")
        assert passage is not None
        assert passage.text == text
        assert passage.metadata == {"page": 3, "tags": ["a", None, {"deep": 1.5}]}
        assert (passage.speaker, passage.timestamp, passage.source, passage.session) == (
            "Ana",
            MAY,
            "book",
            "s",
        )

    def test_the_same_id_with_the_same_text_changes_nothing(self, memory: RecallM) -> None:
        first = memory.update("Brandon loves coffee", id="one")
        before = memory.stats()
        again = memory.update("Brandon loves coffee", id="one")
        assert again.duplicate
        assert again.t_index == first.t_index
        assert memory.stats() == before

    def test_the_same_id_with_another_text_is_a_conflict(self, memory: RecallM) -> None:
        memory.update("Brandon loves coffee", id="one")
        before = memory.stats()
        with pytest.raises(ConflictError, match="'one'") as caught:
            memory.update("Brandon loves tea", id="one")
        assert caught.value.index is None
        assert memory.stats() == before

    def test_the_walk_throughs_graph(self, memory: RecallM) -> None:
        memory.update("Brandon loves coffee")
        memory.update("Brandon wants to travel to Paris")
        rows = {
            concept.name: (concept.t_index, concept.updates, concept.merges)
            for concept in memory.concepts()
        }
        assert rows == {"brandon": (2, 2, 1), "coffe": (1, 1, 0), "pari": (2, 1, 0)}


class TestUpdateMany:
    def test_each_item_is_a_knowledge_update(self, memory: RecallM) -> None:
        done = memory.update_many(
            ["Ana sings.", {"text": "Bo dances.", "id": "b", "speaker": "Cy"}], batch_size=1
        )
        assert [update.t_index for update in done] == [1, 2]
        assert done[1].id == "b"
        assert memory.get("b").speaker == "Cy"  # type: ignore[union-attr]

    def test_a_bad_item_names_its_index_and_its_batch_is_rolled_back(self, memory: RecallM) -> None:
        table: list[tuple[Any, type[InvalidInputError | ConflictError]]] = [
            ("", InvalidInputError),
            (3, InvalidInputError),
            ({"txt": "Ana"}, InvalidInputError),
            ({"text": "Ana", "colour": 1}, InvalidInputError),
            ({"text": "Ana", "timestamp": MAY.replace(tzinfo=None)}, InvalidInputError),
            ({"text": "Something else", "id": "taken"}, ConflictError),
        ]
        for place, (bad, error) in enumerate(table):
            one = memory.in_namespace(str(place))
            one.update("Ana sings.", id="taken")
            items = ["Bo dances.", "Cy reads.", "Di swims.", bad, "Ed runs."]
            with pytest.raises(error, match="item 3") as caught:
                one.update_many(items, batch_size=2)
            assert isinstance(caught.value, InvalidInputError | ConflictError)
            assert caught.value.index == 3
            assert one.stats().passages == 3
            assert one.get("taken") is not None

    def test_messages_of_a_chat_api(self, memory: RecallM) -> None:
        """Whose words they are, their text and their moment; what is nobody's writes nothing."""
        noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
        table: list[tuple[dict[str, Any], tuple[str, str, datetime | None] | None]] = [
            ({"role": "user", "content": "Hi."}, ("Hi.", "Human", None)),
            ({"role": "assistant", "content": "Hello.", "refusal": None}, ("Hello.", "AI", None)),
            ({"role": "user", "content": "Yo.", "name": "Ann"}, ("Yo.", "Ann", None)),
            ({"role": "user", "content": "Ha.", "name": "assistant"}, ("Ha.", "Human", None)),
            ({"role": "user", "content": "a", "created_at": 1767268800}, ("a", "Human", noon)),
            ({"role": "user", "content": "b", "created_at": str(noon)}, ("b", "Human", noon)),
            ({"role": "user", "content": "c", "timestamp": noon}, ("c", "Human", noon)),
            ({"role": "user", "content": ["One.", {"type": "text", "text": "Two."}, IMAGE]},
             ("One.\nTwo.", "Human", None)),
            ({"role": "user", "content": [{"type": "input_text", "text": {"value": "d"}}]},
             ("d", "Human", None)),
            ({"role": "user", "content": [IMAGE]}, None),
            ({"role": "user", "content": [{"type": "tool_result", "text": "Sun."}]}, None),
            ({"role": "assistant", "content": None, "tool_calls": [{}]}, None),
            ({"role": "assistant", "tool_calls": [{}]}, None),
            ({"role": "system", "content": "Be brief."}, None),
            ({"role": "developer", "content": "Be brief."}, None),
            ({"role": "tool", "content": "Rain.", "tool_call_id": "1"}, None),
        ]  # fmt: skip
        wrong: list[str] = []
        for place, (message, expected) in enumerate(table):
            one = memory.in_namespace(str(place))
            done = one.update_many([{**message, "session": "chat"}])
            found = [
                (passage.text, passage.speaker, passage.timestamp)
                for passage in one.passages(session="chat")
            ]
            if found != ([expected] if expected else []) or len(done) != len(found):
                wrong.append(f"{message}: {found}")
        assert not wrong
        for bad in (
            {"role": "bot", "content": "Hi."},
            {"role": "user", "content": 3},
            {"role": "user", "content": [3]},
            {"role": "user", "content": "Hi.", "created_at": "noon"},
            {"role": "user", "content": "Hi.", "created_at": 1e20},
        ):
            with pytest.raises(InvalidInputError, match="item 1: "):
                memory.update_many(["Ann sings.", bad])
        memory.update("Bo hums.", id="1")
        system, other = {"role": "system", "content": "x"}, {"text": "Other.", "id": "1"}
        with pytest.raises(ConflictError, match="item 2"):
            memory.update_many([system, "Cy reads.", other])

    def test_a_text_in_place_of_a_list_is_refused(self, memory: RecallM) -> None:
        with pytest.raises(InvalidInputError, match="into a list"):
            memory.update_many("Ana sings.")

    def test_the_progress_bar_goes_to_standard_error(
        self, memory: RecallM, capsys: pytest.CaptureFixture[str]
    ) -> None:
        memory.update_many(["Ana sings."] * 3, progress=True)
        captured = capsys.readouterr()
        assert captured.out == ""
        assert "3/3" in captured.err


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
        memory.update_many(f"Ana bought apple number {n} in Oslo." for n in range(200))
        assert len(texts(memory, "Which apple did Ana buy?", limit=200)) == 200
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

    def test_bad_arguments_are_named(self, memory: RecallM) -> None:
        bad: dict[str, Any] = {
            "limit": 0, "max_tokens": 0, "as_of": -1, "since": "May", "speaker": 3, "session": "",
            "until": MAY.replace(tzinfo=None), "metadata": {1: 2}, "min_score": 2,
        }  # fmt: skip
        for argument, value in bad.items():
            with pytest.raises(InvalidInputError) as caught:
                memory.recall("Who?", **{argument: value})
            assert caught.value.argument == argument

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
            assert "Oldest first" not in prompts[-1]

    @pytest.mark.parametrize("ranking", ["statements", "paper", "ement", "vectors"])
    def test_fetch_thoughts_gives_the_prompt_that_ask_gives_to_its_model(
        self, ranking: RankingName
    ) -> None:
        prompts: list[str] = []

        def llm(prompt: str) -> str:
            prompts.append(prompt)
            return "Brandon"

        with RecallM(embeddings=words, config=RecallConfig(ranking=ranking)) as memory:
            memory.update("Brandon wants to travel to Paris")
            memory.update("Carter wants to travel to Paris")
            memory.ask("Who wants to travel to Paris?", llm=llm, as_of=1)
            fetched = memory.fetch_thoughts("Who wants to travel to Paris?", as_of=1)
        assert prompts == [fetched]
        assert "Brandon" in fetched
        assert "Carter" not in fetched

    def test_fetch_thoughts_says_where_nothing_is_known(self, memory: RecallM) -> None:
        assert "nothing about this is remembered" in memory.fetch_thoughts("Who saw a whale?")

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


class TestGetMany:
    def test_get_many_returns_the_existing_passages(self, memory: RecallM) -> None:
        memory.update("Ann ran.", id="a")
        memory.update("Bo sat.", id="b")
        found = memory.get_many(["b", "nothing", "a", "b"])
        assert {id: passage.text for id, passage in found.items()} == {
            "b": "Bo sat.",
            "a": "Ann ran.",
        }
        assert memory.get_many([]) == {}
        for wrong in ("a", [1]):
            with pytest.raises(InvalidInputError):
                memory.get_many(wrong)  # type: ignore[arg-type]


class TestForget:
    def test_exactly_one_selection(self, memory: RecallM) -> None:
        for arguments in ({}, {"id": "a", "source": "b"}, {"everything": False}):
            with pytest.raises(InvalidInputError, match="exactly one"):
                memory.forget(**arguments)

    def test_a_concept_by_any_spelling(self, memory: RecallM) -> None:
        memory.update("Brandon loves coffee")
        memory.update("Carter loves tea")
        memory.update("The COFFEES were cold")
        assert memory.forget(concept="Coffee").statements == 2
        assert [statement.text for statement in memory.history("Carter")] == ["Carter loves tea"]
        assert memory.concepts(["coffee", "Brandon"]) == ()
        assert not memory.recall("Who loves coffee?").text.count("coffee")


class TestLabels:
    def test_a_concept_is_found_by_its_label_and_by_its_name(self, memory: RecallM) -> None:
        """Results give names: they can be handed back."""
        for label in ("coffee", "Coffees", "COFFEE", "coffe"):
            memory.update("Brandon loves coffee. The organisation is old.")
            assert len(memory.history(label)) == 1
            assert [concept.name for concept in memory.concepts([label])] == ["coffe"]
            assert memory.forget(concept=label).statements == 1

    def test_every_name_that_is_returned_can_be_handed_back(self, memory: RecallM) -> None:
        update = memory.update("Organisations at universities do analyses in the US.")
        assert [len(memory.history(name)) for name in update.concepts] == [1] * len(update.concepts)

    def test_a_text_in_place_of_a_list_of_labels_is_refused(self, memory: RecallM) -> None:
        with pytest.raises(InvalidInputError, match="list"):
            memory.concepts("Brandon")

    def test_invisible_characters_hide_no_name(self, memory: RecallM) -> None:
        memory.update("\u202eNorbert ran to \u200bZagreb. So\u00adfia slept.\x07")
        memory.update("\ufeffOlga sings.")
        memory.update("\x1b[31mred Brandon\x07 and Carter\x00")
        for name in ("Norbert", "Zagreb", "Sofia", "Olga", "Brandon", "Carter"):
            assert len(memory.history(name)) == 1
            assert memory.recall(f"What about {name}?")


class TestNamespaces:
    def test_namespaces_are_separate(self, memory: RecallM) -> None:
        names = ["a", "A", "a/b", "a' OR 1=1 --", "x\x00", "\u202e", "n" * 1024]
        for name in names:
            memory.in_namespace(name).update(f"The secret of number {len(name)} is {name!r}.")
        for name in names:
            other = memory.in_namespace(name)
            assert other.stats().passages == 1
            assert texts(other, "What is the secret?") == [
                f"The secret of number {len(name)} is {name!r}."
            ]
        assert memory.stats().passages == 0


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


class TestArchive:
    def test_a_round_trip_is_lossless(self, memory: RecallM) -> None:
        memory.update("Ana met Bo in Oslo. They ate.", id="a", timestamp=MAY, speaker="Cy")
        memory.update("Bo lives in Rome.", source="s", metadata={"é": [None]})
        memory.graph.upsert([NewEntity(id="Ana"), NewEntity(id="Bo", properties={"age": 3})])
        memory.graph.upsert(triplets=[NewTriplet(subject="Ana", predicate="knows", object="Bo")])
        memory.forget(statement="a#1")
        first = io.StringIO()
        assert memory.export(first) == 4
        for store in (None, DictStore()):
            other = RecallM(store, namespace="default")
            first.seek(0)
            assert other.load(first) == 4
            second = io.StringIO()
            other.export(second)
            assert second.getvalue() == first.getvalue()
            assert other.stats() == memory.stats()
            assert other.recall("Where is Bo?") == memory.recall("Where is Bo?")


class TestGraph:
    def test_entities_keep_their_exact_ids_where_stems_collide(self, memory: RecallM) -> None:
        graph = memory.graph
        graph.upsert([NewEntity(id="university", type="place"), NewEntity(id="universe")])
        assert graph.entity("university").type == "place"  # type: ignore[union-attr]
        assert {entity.concept for entity in graph.entities()} == {"univers"}
        assert [entity.id for entity in graph.entities(labels=["Universal"])] == [
            "universe",
            "university",
        ]
        assert graph.entity("University") is None
        with pytest.raises(UnknownEntityError, match="'b'"):
            graph.upsert(triplets=[NewTriplet(subject="universe", predicate="p", object="b")])
        assert not graph.delete(["b"], [("a", "p", "b")])


class TestLife:
    def test_a_closed_memory_raises_an_error(self) -> None:
        memory = RecallM()
        other = memory.in_namespace("other")
        memory.close()
        memory.close()
        for closed in (memory, other):
            calls: list[Callable[[], object]] = [
                partial(closed.update, "Ana"),
                partial(closed.update_many, ["Ana"]),
                partial(closed.recall, "Who?"),
                partial(closed.get, "id"),
                partial(closed.history, "Ana"),
                closed.stats,
                partial(closed.forget, everything=True),
                partial(closed.export, io.StringIO()),
                partial(getattr, closed, "graph"),
                closed.__enter__,
            ]
            for call in calls:
                with pytest.raises(ClosedError):
                    call()

    def test_a_store_that_was_handed_in_stays_open(self) -> None:
        store = DictStore()
        with RecallM(store) as memory:
            memory.update("Ana sings.")
        assert RecallM(store).stats().passages == 1

    def test_what_no_memory_can_be_opened_with_is_named(self) -> None:
        stores: list[Any] = ["http://x", 3, b"path", "", "file:m.db?mode=memory"]
        timeouts: list[Any] = [-1, "3", True, float("nan"), float("inf")]
        given = [{"store": store} for store in stores] + [
            {"timeout": timeout} for timeout in timeouts
        ]
        for arguments in [*given, {"auth": ("neo4j", "x")}]:
            with pytest.raises(InvalidInputError) as caught:
                RecallM(**arguments)
            assert caught.value.argument in arguments

    def test_a_missing_pipeline_fails_at_once_with_the_command_that_installs_it(self) -> None:
        with pytest.raises(PipelineError, match="spacy download en_core_web_sm"):
            RecallM(config=RecallConfig(spacy_model="en_core_web_sm"))


class TestRevision:
    def test_with_a_model_contexts_are_revised_and_reported(self) -> None:
        prompts: list[str] = []

        def llm(prompt: str) -> str:
            prompts.append(prompt)
            return "Brandon flies to Brazil."

        memory = RecallM(llm=llm, config=RecallConfig(ranking="paper"))
        done = [
            memory.update(text)
            for text in (
                "Brandon wants to go to Paris",
                "Brandon looks forward to Paris",
                "Brandon cancelled Paris",
                "Brandon goes to Brazil",
            )
        ]
        assert [len(update.revisions) for update in done] == [0, 0, 0, 1]
        assert done[3].revisions[0].concept == "brandon"
        assert len(prompts) == 1
        assert memory.recall("Brandon?").text.endswith("Brandon flies to Brazil.")
        assert len(memory.history("Brandon")) == 4

    def test_without_a_model_nothing_is_revised(self, memory: RecallM) -> None:
        for number in range(9):
            assert memory.update(f"Brandon saw {number} birds").revisions == ()


def test_what_is_to_be_done_before_closing_is_done_while_the_memory_can_be_written() -> None:
    memory = RecallM()
    other = memory.in_namespace("other")
    assert other.with_ranking("paper").root is memory.root is memory
    found: list[int] = []
    other.before_closing(lambda: memory.update("Ann has a cat."))
    other.before_closing(lambda: found.append(memory.stats().passages))
    other.close()
    assert found == [1]
    memory.close()
    memory.close()
    assert found == [1, 2]
    for closed in (memory, other):
        with pytest.raises(ClosedError):
            closed.before_closing(int)
    with RecallM() as memory, pytest.raises(InvalidInputError, match="finish must be callable"):
        memory.before_closing(3)  # type: ignore[arg-type]


def test_a_memory_is_closed_where_what_comes_before_fails() -> None:
    memory = RecallM()
    memory.before_closing(lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        memory.close()
    with pytest.raises(ClosedError):
        memory.stats()
