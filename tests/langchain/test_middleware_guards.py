"""``RecallMMiddleware`` beside middleware that ends a run before the model is reached, or fails."""

from __future__ import annotations

import logging
from itertools import product
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
from tests.langchain.agents import human, remembering, thread, weather
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


async def test_a_message_with_which_a_guard_ends_the_run_is_not_written(
    memory: RecallM, subtests: pytest.Subtests, caplog: pytest.LogCaptureFixture
) -> None:
    """Nor the reply, nor either of them in the thread's next turn."""
    guards: tuple[Any, ...] = (BeforeAgent, BeforeModel)
    for n, (guard, answers, stands_first) in enumerate(product(guards, (0, 1), (0, 1))):
        with subtests.test(guard=guard.__name__, answers=answers, stands_first=stands_first):
            own = memory.in_namespace(f"{n}")
            caplog.clear()
            both: list[Any] = [RecallMMiddleware(memory=own, raise_errors=True), guard(answers)]
            agent: Any = create_agent(
                ScriptedModel(lines=["Hello."]),
                middleware=both[::-1] if stands_first else both,
                checkpointer=InMemorySaver(),
            )
            await agent.ainvoke(human(SECRET), thread("1"))
            assert speakers_and_texts(own) == []
            agent.invoke(human("Hi!"), thread("1"))
            assert speakers_and_texts(own) == [("Human", "Hi!"), ("AI", "Hello.")]
            if not (answers and stands_first and guard is BeforeAgent):  # this one saw nothing
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


def test_words_beside_a_tool_call_that_a_person_refuses_are_written(memory: RecallM) -> None:
    """No tool runs; elsewhere is another process, which knows nothing but the thread."""
    for elsewhere, order in product((False, True), (1, -1)):
        own = memory.in_namespace(f"{elsewhere} {order}")
        saver = InMemorySaver()
        lines = [call("weather", says="Let me look.", city="Oslo"), "As you like."]
        model = ScriptedModel(lines=lines)

        def agent_of(own: RecallM, order: int, saver: Any, model: Any) -> Any:
            both: list[Any] = [
                RecallMMiddleware(memory=own, raise_errors=True),
                HumanInTheLoopMiddleware(interrupt_on={"weather": True}),
            ]
            return create_agent(model, [weather], checkpointer=saver, middleware=both[::order])

        agent = agent_of(own, order, saver, model)
        agent.invoke(human("How is Oslo?"), thread("1"))
        agent = agent_of(own, order, saver, model) if elsewhere else agent
        refused: Any = Command(resume={"decisions": [{"type": "reject", "message": "No."}]})
        agent.invoke(refused, thread("1"))
        assert speakers_and_texts(own) == [
            ("Human", "How is Oslo?"),
            ("AI", "Let me look."),
            ("AI", "As you like."),
        ], own.namespace


class Answer(BaseModel):
    city: str


def test_an_agent_without_tools_gives_a_structured_reply(memory: RecallM) -> None:
    agent = remembering(
        memory,
        ScriptedModel(lines=[call("Answer", says="Here.", city="Oslo")]),
        response_format=ToolStrategy(Answer),
        raise_errors=True,
    )
    output = agent.invoke(human("Where is it?"))
    assert output["structured_response"] == Answer(city="Oslo")
    assert speakers_and_texts(memory) == [
        ("Human", "Where is it?"),
        ("AI", 'Here.\n{"city":"Oslo"}'),
    ]
