"""``RecallMMiddleware`` beside middleware that ends a run before the model is reached, or fails."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    HumanInTheLoopMiddleware,
    PIIMiddleware,
    hook_config,
)
from langchain.agents.middleware.pii import PIIDetectionError
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pydantic import BaseModel

from langchain_recallm import RecallMMiddleware
from recallm import RecallM
from tests.langchain.agents import human, thread, weather
from tests.langchain.chat_models import ScriptedModel, call
from tests.written_messages import speakers_and_texts

SECRET = "The bomb code is 4711."


def ended(state: Any, answers: bool) -> dict[str, Any] | None:
    """What a hook gives to end the run for a message about bombs; None for any other."""
    if "bomb" not in state["messages"][-1].text:
        return None
    messages = [AIMessage("I cannot process that.")] if answers else []
    return {"messages": messages, "jump_to": "end"}


class BeforeAgent(AgentMiddleware):
    def __init__(self, answers: bool) -> None:
        self.answers = answers

    @hook_config(can_jump_to=["end"])
    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        return ended(state, self.answers)


class BeforeModel(AgentMiddleware):
    def __init__(self, answers: bool) -> None:
        self.answers = answers

    @hook_config(can_jump_to=["end"])
    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        return ended(state, self.answers)


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [it.getMessage() for it in caplog.records if it.levelno == logging.WARNING]


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("answers", [False, True])
@pytest.mark.parametrize("guard", [BeforeAgent, BeforeModel])
@pytest.mark.parametrize("order", ["before", "after"])
async def test_a_message_with_which_a_guard_ends_the_run_is_not_written(
    memory: RecallM,
    order: str,
    guard: Any,
    answers: bool,
    asynchronous: bool,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Nor the reply, nor either of them in the thread's next turn."""
    middleware: list[Any] = [RecallMMiddleware(memory=memory, raise_errors=True), guard(answers)]
    agent: Any = create_agent(
        ScriptedModel(lines=["Hello."]),
        middleware=middleware if order == "before" else middleware[::-1],
        checkpointer=InMemorySaver(),
    )
    for text in (SECRET, "Hi!"):
        given = human(text)
        if asynchronous:
            await agent.ainvoke(given, thread("1"))
        else:
            agent.invoke(given, thread("1"))
        assert speakers_and_texts(memory) == (
            [] if text == SECRET else [("Human", "Hi!"), ("AI", "Hello.")]
        )
    if not (answers and order == "after" and guard is BeforeAgent):  # this middleware saw nothing
        assert warnings(caplog)
        assert all("not remembered" in it for it in warnings(caplog))
    assert SECRET not in caplog.text


def test_a_failure_before_the_model_says_what_was_not_remembered(
    memory: RecallM, caplog: pytest.LogCaptureFixture
) -> None:
    class Failing(AgentMiddleware):
        tries = 0

        def before_model(self, state: Any, runtime: Any) -> None:
            self.tries += 1
            if self.tries == 1:
                raise ConnectionError("down")

    agent = create_agent(
        ScriptedModel(lines=["Yes."]),
        middleware=[RecallMMiddleware(memory=memory), Failing()],
        checkpointer=InMemorySaver(),
    )
    with pytest.raises(ConnectionError):
        agent.invoke(human("I am allergic to peanuts."), thread("1"))
    agent.invoke(human("Are you there?"), thread("1"))
    assert speakers_and_texts(memory) == [("Human", "Are you there?"), ("AI", "Yes.")]
    [warning] = warnings(caplog)
    assert warning.startswith("1 message(s) of the user were not remembered")


def test_a_message_that_was_refused_without_a_thread_is_not_written(memory: RecallM) -> None:
    """It comes again with its id, in the history that the application hands in."""
    agent: Any = create_agent(
        ScriptedModel(lines=["Hello.", "Noted."]),
        middleware=[
            RecallMMiddleware(memory=memory, raise_errors=True),
            PIIMiddleware("email", strategy="block"),
        ],
    )
    history = [HumanMessage("Mail me at ann@example.com", id="1")]
    with pytest.raises(PIIDetectionError):
        agent.invoke({"messages": history})
    agent.invoke(human("I am Bo.", id="2"))  # somebody else's run
    agent.invoke({"messages": [*history, HumanMessage("I like tea.", id="3")]})
    assert [text for _, text in speakers_and_texts(memory)] == [
        "I am Bo.",
        "Hello.",
        "I like tea.",
        "Noted.",
    ]


@pytest.mark.parametrize("elsewhere", [False, True])
@pytest.mark.parametrize("order", ["before", "after"])
def test_words_beside_a_tool_call_that_a_person_refuses_are_written(
    memory: RecallM, order: str, elsewhere: bool
) -> None:
    """No tool runs; elsewhere is another process, which knows nothing but the thread."""
    saver = InMemorySaver()
    model = ScriptedModel(lines=[call("weather", says="Let me look.", city="Oslo"), "As you like."])

    def agent_of() -> Any:
        middleware: list[Any] = [
            RecallMMiddleware(memory=memory, raise_errors=True),
            HumanInTheLoopMiddleware(interrupt_on={"weather": True}),
        ]
        return create_agent(
            model,
            [weather],
            checkpointer=saver,
            middleware=middleware if order == "before" else middleware[::-1],
        )

    agent = agent_of()
    agent.invoke(human("How is Oslo?"), thread("1"))
    refused: Any = Command(resume={"decisions": [{"type": "reject", "message": "No."}]})
    (agent_of() if elsewhere else agent).invoke(refused, thread("1"))
    assert speakers_and_texts(memory) == [
        ("Human", "How is Oslo?"),
        ("AI", "Let me look."),
        ("AI", "As you like."),
    ]


class Answer(BaseModel):
    city: str


def test_an_agent_without_tools_gives_a_structured_reply(memory: RecallM) -> None:
    agent = create_agent(
        ScriptedModel(lines=[call("Answer", says="Here.", city="Oslo")]),
        middleware=[RecallMMiddleware(memory=memory, raise_errors=True)],
        response_format=ToolStrategy(Answer),
    )
    output = agent.invoke(human("Where is it?"))
    assert output["structured_response"] == Answer(city="Oslo")
    assert speakers_and_texts(memory) == [
        ("Human", "Where is it?"),
        ("AI", 'Here.\n{"city":"Oslo"}'),
    ]
