"""``RecallMMiddleware`` beside middleware that ends a run before the model is reached, or fails."""

from __future__ import annotations

import logging
from itertools import product
from typing import Any

import pytest
from langchain.agents.middleware import AgentMiddleware, PIIMiddleware, hook_config
from langchain.agents.middleware.pii import PIIDetectionError
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from recallm import RecallM
from tests.langchain.agents import Talk

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


class BeforeModel(BeforeAgent):
    before_agent = AgentMiddleware.before_agent

    @hook_config(can_jump_to=["end"])
    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        return ended(state, self.answers)


class FailingOnce(AgentMiddleware):
    tries = 0

    def before_model(self, state: Any, runtime: Any) -> None:
        self.tries += 1
        if self.tries == 1:
            raise ConnectionError("down")


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]


async def test_a_message_with_which_a_guard_ends_the_run_is_not_written(
    memory: RecallM, caplog: pytest.LogCaptureFixture
) -> None:
    """Nor the reply, nor either of them in the thread's next turn."""
    guards: tuple[Any, ...] = (BeforeAgent, BeforeModel)
    for case in product(guards, (False, True), ("outer", "inner")):
        guard, answers, place = case
        own = memory.in_namespace(f"{guard.__name__} {answers} {place}")
        caplog.clear()
        around: Any = {place: [guard(answers)]}
        talk = Talk(own, "Hello.", checkpointer=InMemorySaver(), **around)
        await talk.asay(SECRET, "1")
        assert talk.written == [], case
        talk.say("Hi!", "1")
        assert talk.written == [("Human", "Hi!"), ("AI", "Hello.")], case
        if case != (BeforeAgent, True, "outer"):  # this one saw nothing
            assert warnings(caplog), case
            assert all("not remembered" in warning for warning in warnings(caplog))
        assert SECRET not in caplog.text


def test_a_failure_before_the_model_says_what_was_not_remembered(
    memory: RecallM, caplog: pytest.LogCaptureFixture
) -> None:
    """Tried again, the message is written: what stopped the first run was no judgement of it."""
    talk = Talk(memory, "Yes.", inner=[FailingOnce()], checkpointer=InMemorySaver())
    with pytest.raises(ConnectionError):
        talk.say("I am allergic to peanuts.", "1")
    talk.say("Are you there?", "1")
    assert talk.written == [("Human", "Are you there?"), ("AI", "Yes.")]
    [warning] = warnings(caplog)
    assert warning.startswith("1 message(s) of the user were not remembered")
    own = memory.in_namespace("again")
    talk = Talk(own, "Noted.", inner=[FailingOnce()], checkpointer=InMemorySaver())
    with pytest.raises(ConnectionError):
        talk.say("I moved to Oslo.", "1", id="1")
    assert talk.written == []
    talk.say("I moved to Oslo.", "1", id="1")
    assert talk.written == [("Human", "I moved to Oslo."), ("AI", "Noted.")]


def test_a_message_that_was_refused_without_a_thread_is_not_written(memory: RecallM) -> None:
    """It comes again with its id, in the history that the application hands in."""
    talk = Talk(memory, "Hello.", "Noted.", inner=[PIIMiddleware("email", strategy="block")])
    history = [HumanMessage("Mail me at ann@example.com", id="1")]
    with pytest.raises(PIIDetectionError):
        talk.agent.invoke({"messages": history})
    talk.say("I am Bo.", id="2")  # somebody else's run
    talk.agent.invoke({"messages": [*history, HumanMessage("I like tea.", id="3")]})
    assert [text for _, text in talk.written] == ["I am Bo.", "Hello.", "I like tea.", "Noted."]
