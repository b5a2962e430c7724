"""``fact_chat``: replies that read and write facts, in batches, by user."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig, RunnableLambda

from langchain_recallm import fact_chat
from recallm import InvalidInputError, LLMError, RecallM
from recallm.facts import FactMemory
from tests.langchain.agents import thread
from tests.langchain.chat_models import RecordingModel, ScriptedModel

QUESTION = "Who works for BMW?"
ASKS = "[MEM_READ{>>works for>>BMW}:"
ANSWERS = "Ada works for BMW."


@pytest.fixture
def memory() -> Iterator[RecallM]:
    with RecallM() as memory:
        FactMemory(memory).write("Ada", "works for", "BMW")
        yield memory


def asking(**how: Any) -> RecordingModel:
    return RecordingModel(**{"responses": [ASKS, ANSWERS], **how})


def reply_to(messages: list[BaseMessage]) -> str:
    """A model that asks for facts, and answers with the subject of the latest result."""
    prompt = str(messages[-1].content)
    _, asked, results = prompt.rpartition(ASKS)
    return f"{results[1:].partition('>>')[0]} does." if asked else ASKS


# -- what goes in and comes out ----------------------------------------------------------------


def test_an_answer_with_the_facts_that_it_rests_on(memory: RecallM) -> None:
    model = asking()
    result = fact_chat(memory, model).invoke(QUESTION)
    assert result["question"] == QUESTION
    assert result["answer"] == ANSWERS
    assert [fact.subject for fact in result["facts"]] == ["Ada"]
    assert [str(call) for call in result["calls"]] == [
        "[MEM_READ{>>works for>>BMW}:{Ada>>works for>>BMW}]"
    ]
    assert result["written"] == ()
    assert result["complete"] is True
    assert len(model.given) == 2
    assert "{Ada>>works for>>BMW}" in model.prompt()


def test_what_the_model_writes_is_stored_with_its_thread(memory: RecallM) -> None:
    model = asking(responses=["[MEM_WRITE{Bo>>works for>>Opera}] Noted."])
    chat = fact_chat(memory, model)
    result = chat.invoke("Bo works for Opera.", thread("monday"))
    assert result["answer"] == "Noted."
    assert [(fact.subject, fact.object) for fact in result["written"]] == [("Bo", "Opera")]
    [fact] = FactMemory(memory).read("Bo")
    assert (fact.object, fact.source) == ("Opera", "monday")
    assert fact.said is not None


def test_earlier_messages(memory: RecallM) -> None:
    model = asking(responses=["As I said."])
    history: list[Any] = [
        SystemMessage("Be kind."),
        HumanMessage("My sister is Ada."),
        AIMessage("Good to know."),
        ("human", "And she is"),
        ("human", "a baker."),
    ]
    result = fact_chat(memory, model).invoke({"question": QUESTION, "history": history})
    assert result["answer"] == "As I said."
    assert "My sister is Ada." in model.prompt()
    assert "Good to know." in model.prompt()
    assert "a baker." in model.prompt()
    assert "Be kind." not in model.prompt()
    assert model.prompt().index("a baker.") < model.prompt().index(QUESTION)


def test_settings_and_wrong_arguments(memory: RecallM) -> None:
    result = fact_chat(memory, asking(), rounds=1, limit=1).invoke(QUESTION)
    assert result["complete"] is True
    for wrong in ({"rounds": 0}, {"namespace": ""}):
        with pytest.raises(InvalidInputError) as refused:
            fact_chat(memory, asking(), **wrong)
        assert refused.value.argument == next(iter(wrong))
    with pytest.raises(InvalidInputError, match="chat_model must be"):
        fact_chat(memory, str)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="under 'question'"):
        fact_chat(memory, asking()).invoke({"message": QUESTION})


# -- runs --------------------------------------------------------------------------------------


async def test_the_model_is_stopped_where_it_asks(memory: RecallM) -> None:
    script = [f"{ASKS}" + "{Nobody>>works for>>BMW}] Nobody does.", ANSWERS]
    result = await fact_chat(memory, asking(responses=script)).ainvoke(QUESTION)
    assert result["answer"] == ANSWERS


def user_of(config: RunnableConfig) -> str:
    return str(config["configurable"]["user"])


async def test_many_users(memory: RecallM) -> None:
    for user in ("ann", "bob"):
        FactMemory(memory.in_namespace(user)).write(user.title(), "works for", "BMW")
    model = ScriptedModel(reply=reply_to)
    alone: Any = RunnableLambda(lambda text: text) | fact_chat(memory, model)
    assert alone.invoke(QUESTION)["answer"] == "Ada does."
    chat = fact_chat(memory, model, namespace=user_of)
    configs: list[RunnableConfig] = [
        {"configurable": {"user": user}} for _ in range(2) for user in ("ann", "bob")
    ]
    expected = ["Ann does.", "Bob does."] * 2
    assert [result["answer"] for result in chat.batch([QUESTION] * 4, configs)] == expected
    assert [result["answer"] for result in await chat.abatch([QUESTION] * 4, configs)] == expected
    with pytest.raises(KeyError, match="user"):
        chat.invoke(QUESTION)


async def test_a_model_that_fails(memory: RecallM) -> None:
    failing = ScriptedModel(reply=lambda messages: ValueError("no model"))
    chat = fact_chat(memory, failing)
    with pytest.raises(LLMError, match="no model"):
        chat.invoke(QUESTION)
    with pytest.raises(LLMError, match="no model"):
        await chat.ainvoke(QUESTION)
