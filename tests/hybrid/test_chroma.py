"""A collection of chromadb as the vector branch: it follows the memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

import chromadb
import pytest
from chromadb import EmbeddingFunction

from recallm import HybridRecallM, RecallM
from tests.hybrid.test_hybrid import QUESTION, by_letters, model


class Letters(EmbeddingFunction[Any]):
    """Embeds without a model."""

    def __init__(self) -> None:
        pass

    def __call__(self, input: Sequence[str]) -> Any:
        return by_letters(input)

    @staticmethod
    def name() -> str:
        return "letters"

    def get_config(self) -> dict[str, Any]:
        return {}

    @staticmethod
    def build_from_config(config: dict[str, Any]) -> Letters:
        del config
        return Letters()


@pytest.fixture
def collection() -> Any:
    return chromadb.EphemeralClient().create_collection(
        f"c{uuid4().hex}", embedding_function=Letters()
    )


def texts_in(collection: Any) -> set[str]:
    return set(collection.get()["documents"])


def test_the_collection_follows_the_memory(collection: Any) -> None:
    with RecallM() as memory:
        hybrid = HybridRecallM(memory, llm=model, vectors=collection)
        answer = hybrid.ask(QUESTION)
        assert not answer.answers["vectors"].context.text
        memory.update_many(["Bo moved to York. Bo likes tea.", "Ann moved to Hull."])
        answer = hybrid.ask(QUESTION)
        assert answer == answer.answers["vectors"] == "Bo lives in York."
        first, _ = answer.answers["vectors"].context.text.splitlines()
        assert first == "Bo moved to York. Bo likes tea."
        memory.forget(statement=memory.history("tea")[0].id)
        memory.forget(concept="Hull")
        assert "Hull" not in hybrid.ask(QUESTION).answers["vectors"].context.text
        assert texts_in(collection) == {passage.text for passage in memory.passages()}
        assert not any("tea" in text for text in texts_in(collection))
        memory.withdraw([memory.passages()[0].id])
        hybrid.ask(QUESTION)
        assert texts_in(collection) == set()


def test_memories_in_one_collection_are_apart(collection: Any) -> None:
    with RecallM() as memory:
        other = memory.in_namespace("other")
        memory.update("Bo moved to York.")
        other.update("Bo moved to Hull.")
        for own, text in ((memory, "Bo moved to York."), (other, "Bo moved to Hull.")) * 2:
            answer = HybridRecallM(own, llm=model, vectors=collection).ask(QUESTION)
            assert answer.answers["vectors"].context.text == text
        assert texts_in(collection) == {"Bo moved to York.", "Bo moved to Hull."}


def test_the_collection_is_asked_within_the_bounds_of_a_recall(collection: Any) -> None:
    with RecallM() as memory:
        memory.update("My code is 4711.", speaker="Ann", session="a", id="1")
        memory.update("My code is 1234.", speaker="Bob", session="b", id="2")
        ask = HybridRecallM(memory, llm=model, vectors=collection).ask

        def found(**bounds: Any) -> list[str]:
            text = ask("What is my code?", **bounds).answers["vectors"].context.text
            return sorted(text.splitlines())

        ann, bob = "Ann: My code is 4711.", "Bob: My code is 1234."
        assert found() == [ann, bob]
        for bounds, lines in (
            ({"session": "b"}, [bob]),
            ({"speaker": "Ann"}, [ann]),
            ({"as_of": 1}, [ann]),
            ({"known": ["1"]}, [bob]),
            ({"session": "c"}, []),
            ({"max_tokens": 2}, []),
        ):
            assert found(**bounds) == lines, bounds
        assert len(found(limit=1)) == 1


def test_a_collection_that_fails_leaves_the_other_branch(collection: Any) -> None:
    with RecallM() as memory:
        memory.update("Bo moved to York.")
        hybrid = HybridRecallM(memory, llm=model, vectors=collection)
        collection.delete = lambda **_: None
        collection.query = lambda **_: 1 / 0
        answer = hybrid.ask(QUESTION)
        assert (answer, list(answer.errors)) == ("Bo lives in York.", ["vectors"])
