"""``RecallMMiddleware``: after a fork, an edit or another answer, what the thread does not hold any
more is recalled only from the past."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.messages import BaseMessage, HumanMessage, RemoveMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from langchain_recallm import RecallMMiddleware
from recallm import RecallM
from tests.langchain.agents import human, memory, system, thread
from tests.langchain.chat_models import ScriptedModel

__all__ = ["memory"]  # a fixture


class Talk:
    """An agent whose model answers the n-th time with "Answer n.", in the thread "1"."""

    def __init__(self, memory: RecallM, *more: Any, checkpoints: bool = True) -> None:
        self.model = ScriptedModel(reply=lambda _: f"Answer {len(self.model.sent)}.")
        self.agent: Any = create_agent(
            self.model,
            checkpointer=InMemorySaver() if checkpoints else None,
            middleware=[*more, RecallMMiddleware(memory=memory, raise_errors=True)],
        )

    async def say(self, *texts: str, config: Any = None) -> None:
        """Say one text after the other; ``config`` is where the first one goes on from."""
        for text in texts:
            await self.agent.ainvoke(human(text, id=f"id of {text}"), config or thread("1"))
            config = None

    def before(self, node: str, *texts: str) -> Any:
        """The config of the latest checkpoint that holds just these messages, before a node ("":
        at the end of a run)."""
        return next(
            state.config
            for state in self.agent.get_state_history(thread("1"))
            if said(state.values.get("messages", ())) == [*texts]
            and ".".join(state.next).endswith(node)
            and bool(state.next) is bool(node)
        )


def said(messages: Sequence[BaseMessage]) -> list[str]:
    return [message.text for message in messages]


def texts(memory: RecallM, **how: Any) -> list[str]:
    return [passage.text for passage in memory.passages(**how)]


HELLO = ("Hello.", "Answer 1.")
RED = ("My bike is red.", "Answer 2.")


@pytest.mark.parametrize("earlier", [(), HELLO])
@pytest.mark.parametrize("how", ["fork", "update", "same id"])
async def test_an_edited_message(memory: RecallM, earlier: tuple[str, ...], how: str) -> None:
    """The old text and all that followed it are of the past, also when the model is asked."""
    memory.update("My bike is old.", session="1")  # written by other means
    talk = Talk(memory)
    await talk.say("Hello.", "My bike is red.", "Really red.")
    if not earlier:  # the thread's first message is edited
        memory.forget(id="id of Hello.")
    old = ["My bike is old.", *earlier]
    t_index = memory.stats().t_index
    text, config = "My bike is green.", thread("1")
    before = talk.before("", *earlier) if earlier else talk.before("__start__")
    if how == "fork":
        await talk.say(text, config=before)
    else:
        id = "new" if how == "update" else f"id of {'My bike is red.' if earlier else 'Hello.'}"
        values = {"messages": [HumanMessage(text, id=id)]}
        if how == "same id":
            before = talk.before("model", *earlier, *RED[:1]) if earlier else None
        talk.agent.update_state(before, values, as_node="__start__")
        await talk.agent.ainvoke(None, config)
    assert texts(memory) == [*old, text, "Answer 4."]
    assert "red" not in system(talk.model.sent[-1]) + memory.recall("What is my bike?").text
    assert "red" in memory.recall("What is my bike?", as_of=t_index).text
