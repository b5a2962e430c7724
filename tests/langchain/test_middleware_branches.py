"""``RecallMMiddleware``: after a fork, an edit or another answer, what the thread does not hold any
more is recalled only from the past."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.messages import BaseMessage, HumanMessage, RemoveMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from langchain_recallm import RecallMMiddleware
from recallm import RecallM
from tests.langchain.agents import human, system, thread
from tests.langchain.chat_models import ScriptedModel


class Talk:
    """An agent whose model answers the n-th time with "Answer n.", in the thread "1"."""

    def __init__(self, memory: RecallM, *more: Any, checkpoints: Any = True) -> None:
        self.model = ScriptedModel(reply=lambda _: f"Answer {len(self.model.sent)}.")
        self.agent: Any = create_agent(
            self.model,
            checkpointer=InMemorySaver() if checkpoints is True else checkpoints or None,
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


@pytest.mark.parametrize("earlier", [(), HELLO])
@pytest.mark.parametrize("how", ["fork", "update", "same id"])
async def test_an_edited_message(memory: RecallM, earlier: tuple[str, ...], how: str) -> None:
    """The old text and all that followed it are of the past, also when the model is asked."""
    memory.update("My bike is old.", session="1")  # written by other means
    talk = Talk(memory)
    await talk.say(*earlier[:1], "My bike is red.", "Really red.")
    t_index = memory.stats().t_index
    text, config = "My bike is green.", thread("1")
    start = talk.before("", *earlier) if earlier else talk.before("__start__")
    if how == "fork":
        await talk.say(text, config=start)
    else:
        id = "new" if how == "update" else "id of My bike is red."
        if how == "same id":
            start = talk.before("model", *earlier, "My bike is red.")
        values = {"messages": [HumanMessage(text, id=id)]}
        await talk.agent.aupdate_state(start, values, as_node="__start__")
        await talk.agent.ainvoke(None, config)
    answer = f"Answer {len(talk.model.sent)}."
    assert texts(memory) == ["My bike is old.", *earlier, text, answer]
    assert "red" not in system(talk.model.sent[-1]) + memory.recall("What is my bike?").text
    assert "red" in memory.recall("What is my bike?", as_of=t_index).text


async def test_another_answer_and_back_to_the_first(memory: RecallM) -> None:
    """What the thread holds again is there again, and what followed on the other branch is not."""
    talk = Talk(memory)
    await talk.say("Hello.", "What colour is my bike?")
    first = talk.before("", *HELLO, "What colour is my bike?", "Answer 2.")
    again = talk.before("model", *HELLO, "What colour is my bike?")
    asked = [*HELLO, "What colour is my bike?"]
    await talk.agent.ainvoke(None, again)
    assert texts(memory) == [*asked, "Answer 3."]
    await talk.say("Thanks.")
    second = talk.before("", *asked, "Answer 3.", "Thanks.", "Answer 4.")
    await talk.say("Sure?", config=first)
    assert texts(memory) == [*asked, "Answer 2.", "Sure?", "Answer 5."]
    await talk.say("Bye.", config=second)
    await talk.say("Really.")
    then = ["Answer 3.", "Thanks.", "Answer 4.", "Bye.", "Answer 6.", "Really.", "Answer 7."]
    assert texts(memory) == [*asked, *then]
    await talk.say("Hi.", config=talk.before("__start__"))
    assert texts(memory) == ["Hi.", "Answer 8."]


async def test_what_was_forgotten_stays_forgotten(memory: RecallM, tmp_path: Path) -> None:
    """Also of a message that is said again on a branch to which the thread goes back."""
    async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "threads.db")) as saver:
        talk = Talk(memory, checkpoints=saver)
        await talk.say("My PIN is 4711. My bike is red.")
        secret = next(passage for passage in memory.history("PIN") if "4711" in passage.text)
        memory.forget(statement=secret.id)
        states = [state async for state in talk.agent.aget_state_history(thread("1"))]
        await talk.say("My bike is green.", config=states[-1].config)
        assert texts(memory) == ["My bike is green.", "Answer 2."]
        await talk.say("My PIN is 4711. My bike is red.", config=states[-1].config)
    assert texts(memory) == ["My bike is red.", "Answer 3."]


async def test_messages_that_are_removed(memory: RecallM) -> None:
    """The last ones are taken back; earlier ones, and a thread that is emptied, are remembered."""
    talk = Talk(memory)
    await talk.say("Hello.", "My bike is red.", "Nice.")

    async def remove(*ids: str | None) -> None:
        values = {"messages": [RemoveMessage(id=id or "") for id in ids]}
        await talk.agent.aupdate_state(thread("1"), values)

    ids = [message.id for message in (await talk.agent.aget_state(thread("1"))).values["messages"]]
    await remove(*ids[:2], *ids[4:])
    await talk.say("Bye.")
    kept = [*HELLO, "My bike is red.", "Answer 2.", "Bye.", "Answer 4."]
    assert texts(memory) == kept
    await remove(REMOVE_ALL_MESSAGES)
    await talk.say("Again.")
    assert texts(memory) == [*kept, "Again.", "Answer 5."]


async def test_a_summarised_thread_keeps_all(memory: RecallM) -> None:
    """However little of it the state still holds."""
    for kept in (1, 2, 3):
        owner = memory.in_namespace(f"kept {kept}")
        model = ScriptedModel(reply=lambda _: "In short.")
        summing = SummarizationMiddleware(model, trigger=("messages", 4), keep=("messages", kept))
        talk = Talk(owner, summing)
        await talk.say(*(f"Fact {n}." for n in range(6)))
        assert len((await talk.agent.aget_state(thread("1"))).values["messages"]) < 8
        assert len(texts(owner)) == 12, kept


async def test_what_is_no_whole_thread_abandons_nothing(memory: RecallM) -> None:
    """New messages alone without a checkpointer; a checkpointer that lost the thread; another
    agent's thread of the same name."""
    first, second = Talk(memory), Talk(memory)
    await Talk(memory, checkpoints=False).say("One.", "Two.")
    await first.say("Three.", "Four.")
    await second.say("Five.")
    await first.say("Six.")
    await second.say("Seven.")
    said_by_users = [passage.text for passage in memory.passages(speaker="Human")]
    assert said_by_users == ["One.", "Two.", "Three.", "Four.", "Five.", "Six.", "Seven."]
    assert len(texts(memory)) == 14
