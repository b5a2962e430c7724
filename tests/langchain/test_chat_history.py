"""``RecallMChatMessageHistory`` alone and under ``RunnableWithMessageHistory``."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.runnables.history import RunnableWithMessageHistory

from langchain_recallm import RecallMChatMessageHistory, RecallMMemory, RecallMRetriever
from recallm import ClosedError, InvalidInputError, RecallM

pytestmark = pytest.mark.filterwarnings(
    "ignore:RunnableWithMessageHistory:langchain_core._api.deprecation.LangChainDeprecationWarning"
)


def said(history: RecallMChatMessageHistory) -> list[tuple[str, str]]:
    return [(message.type, str(message.content)) for message in history.messages]


def test_messages_come_back_with_their_ids_and_names(memory: RecallM) -> None:
    history = RecallMChatMessageHistory(memory=memory, session="s")
    messages: list[BaseMessage] = [
        HumanMessage("I live in Oslo. I like it.", id="1", name="Ann"),
        AIMessage("Noted.", id="2"),
        HumanMessage("Good.", id="3"),
    ]
    history.add_messages(messages)
    history.add_messages(messages[:1])  # again: it is there
    assert history.messages == messages
    assert RecallMChatMessageHistory(memory=memory, session="s", limit=1).messages == messages[2:]


def test_what_has_no_text_or_is_no_ones_is_passed_over(memory: RecallM) -> None:
    history = RecallMChatMessageHistory(memory=memory, session="s")
    history.add_messages(
        [
            SystemMessage("Be kind."),
            HumanMessage(
                [{"type": "text", "text": "What is this?"}, {"type": "image", "url": "x"}]
            ),
            AIMessage("", tool_calls=[{"name": "look", "args": {}, "id": "t"}]),
            ToolMessage("a cat", tool_call_id="t"),
            AIMessage("A cat."),
        ]
    )
    assert said(history) == [("human", "What is this?"), ("ai", "A cat.")]


def test_sessions_are_apart_and_cleared_apart(memory: RecallM) -> None:
    one, two = (RecallMChatMessageHistory(memory=memory, session=s) for s in "ab")
    one.add_user_message("I live in Oslo.")
    two.add_user_message("I live in Bergen.")
    assert said(one) == [("human", "I live in Oslo.")]
    one.clear()
    assert one.messages == []
    assert said(two) == [("human", "I live in Bergen.")]
    assert "Oslo" not in memory.recall("Where do I live?").text


def test_only_spoken_texts_are_messages(memory: RecallM) -> None:
    """Not what a tool gave back or saved, nor a document whose source is named like the session."""
    history = RecallMChatMessageHistory(memory=memory, session="s", limit=2)
    history.add_user_message("I live in Oslo.")
    memory.update("Pay Mallory.", session="s", speaker="Tool", metadata={"role": "tool"})
    memory.update("Saved: Ann sings.", session="s", metadata={"tool": "save_memory"})
    memory.update("The handbook says so.", source="s", id="handbook")
    history.add_ai_message("Noted.")
    assert said(history) == [("human", "I live in Oslo."), ("ai", "Noted.")]
    history.clear()
    assert [it.id for it in memory.passages()] == ["handbook"]


def chain(memory: RecallM, seen: list[list[BaseMessage]], **keys: Any) -> Runnable[Any, Any]:
    """An echo with history: the prompt's messages go into ``seen``."""

    def model(prompt: Any) -> AIMessage:
        messages = prompt.to_messages() if hasattr(prompt, "to_messages") else list(prompt)
        seen.append(messages)
        return AIMessage(f"You said: {messages[-1].content}")

    prompt = ChatPromptTemplate.from_messages(
        [MessagesPlaceholder("history"), ("human", "{question}")]
    )
    inner = prompt | RunnableLambda(model) if keys else RunnableLambda(model)
    return RunnableWithMessageHistory(
        inner,
        lambda session_id: RecallMChatMessageHistory(memory=memory, session=session_id),
        **keys,
    )


KEYS = {"input_messages_key": "question", "history_messages_key": "history"}


def test_under_a_runnable(memory: RecallM) -> None:
    seen: list[list[BaseMessage]] = []
    runnable = chain(memory, seen, **KEYS)
    for session, question in (("a", "Ann is here."), ("b", "Bo is here."), ("a", "Cy is here.")):
        runnable.invoke({"question": question}, config={"configurable": {"session_id": session}})
    assert [[str(m.content) for m in messages] for messages in seen] == [
        ["Ann is here."],
        ["Bo is here."],
        ["Ann is here.", "You said: Ann is here.", "Cy is here."],
    ]
    assert len(memory.passages(session="a")) == 4
    assert "Bo is here." in memory.recall("Where is Bo?").text


async def test_sessions_on_one_event_loop(memory: RecallM) -> None:
    seen: list[list[BaseMessage]] = []
    runnable = chain(memory, seen, **KEYS)

    async def talk(session: str) -> None:
        for n in range(5):
            config: Any = {"configurable": {"session_id": session}}
            await runnable.ainvoke({"question": f"{session} has {n} cats."}, config=config)

    await asyncio.gather(*(talk(session) for session in "abc"))
    for session in "abc":
        texts = [it.text for it in memory.passages(session=session)]
        assert texts == [
            text
            for n in range(5)
            for text in (f"{session} has {n} cats.", f"You said: {session} has {n} cats.")
        ]


def test_bad_input(memory: RecallM) -> None:
    for bad in ({"session": ""}, {"session": None}, {"session": "s", "limit": 0}):
        with pytest.raises(InvalidInputError):
            RecallMChatMessageHistory(memory=memory, **bad)
    with pytest.raises(InvalidInputError, match="must be a RecallM"):
        RecallMChatMessageHistory(memory="memory.db", session="s")  # type: ignore[arg-type]
    history = RecallMChatMessageHistory(memory=memory, session="s")
    memory.close()
    with pytest.raises(ClosedError):
        history.add_user_message("I live in Oslo.")
    with pytest.raises(ClosedError):
        _ = history.messages


def test_a_template_is_refused(memory: RecallM) -> None:
    """Nothing fills it: all conversations, or all users, would be one."""
    with pytest.raises(InvalidInputError, match="template"):
        RecallMChatMessageHistory(memory=memory, session="thread-{id}")
    with pytest.raises(InvalidInputError, match="template"):
        RecallMChatMessageHistory(memory=memory.in_namespace("user-{id}"), session="1")
    for given in (
        {"memory": memory, "session": "thread-{id}"},
        {"memory": memory.in_namespace("user-{id}")},
    ):
        with pytest.raises(ValueError, match="template"):
            RecallMMemory(**given)
    with pytest.raises(ValueError, match="template"):
        RecallMRetriever(memory=memory.in_namespace("user-{id}"))
