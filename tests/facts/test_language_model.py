"""Callables from a prompt to a text, or to its pieces, as the language model of a chat."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel

from recallm import InvalidInputError, LLMError
from recallm.facts import FactChat, FactMemory
from recallm.facts.chat import _pieces
from tests.facts.scripted import ScriptedModel


def two_pieces(prompt: str) -> Iterator[str]:
    yield from (prompt, " too")


MODELS: list[tuple[Any, list[str]]] = [
    (lambda prompt: f"{prompt} too", ["Hello too"]),
    (two_pieces, ["Hello", " too"]),
    (lambda prompt: [prompt, "", " too"], ["Hello", "", " too"]),
    (lambda _: "a\ud83d", ["a?"]),
]


def test_pieces_of_models() -> None:
    found = [(list(_pieces(model, "Hello")), pieces) for model, pieces in MODELS]
    assert [row for row in found if row[0] != row[1]] == []


def test_a_model_is_closed_where_nobody_reads_on() -> None:
    model = ScriptedModel("abcdef", by=1)
    pieces = _pieces(model, "Hello")
    assert next(pieces) == "a"
    pieces.close()
    assert (model.given, model.closed) == ("a", 1)


def fails(prompt: str) -> str:
    raise ValueError("no")


def test_models_that_fail(facts: FactMemory) -> None:
    with pytest.raises(LLMError, match="the language model failed: ValueError: no"):
        list(_pieces(fails, "Hello"))
    for answer in (None, ["a", 7], b"a", {"text": "a"}):
        answers: dict[str, object] = {"Hello": answer}
        with pytest.raises(LLMError, match="not with text"):
            list(_pieces(answers.__getitem__, "Hello"))
    for no_model in (None, "gpt", ScriptedModel, FakeListChatModel(responses=[])):
        with pytest.raises(InvalidInputError, match=r"llm must be.*give as_llm\(model\)"):
            FactChat(facts, no_model)  # type: ignore[arg-type]
