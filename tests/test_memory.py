"""What a memory writes, holds, forgets and hands on, on the embedded store."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest

from recallm import (
    ClosedError,
    ConflictError,
    InvalidInputError,
    NewEntity,
    NewTriplet,
    PipelineError,
    RecallConfig,
    RecallM,
)
from recallm.ground.config import RankingName
from tests.store_suite import DictStore

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

    def test_an_id_belongs_to_one_text(self, memory: RecallM) -> None:
        first = memory.update("Brandon loves coffee", id="one")
        before = memory.stats()
        again = memory.update("Brandon loves coffee", id="one")
        assert (again.duplicate, again.t_index) == (True, first.t_index)
        with pytest.raises(ConflictError, match="'one'") as caught:
            memory.update("Brandon loves tea", id="one")
        assert caught.value.index is None
        assert memory.stats() == before


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

    def test_the_progress_bar_goes_to_standard_error(
        self, memory: RecallM, capsys: pytest.CaptureFixture[str]
    ) -> None:
        memory.update_many(["Ana sings."] * 3, progress=True)
        captured = capsys.readouterr()
        assert captured.out == ""
        assert "3/3" in captured.err


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
