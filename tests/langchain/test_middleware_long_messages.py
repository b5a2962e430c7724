"""``RecallMMiddleware``: long messages are on disk before the model is called, and extracted after
its answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from langchain_recallm import RecallMStore, create_recallm_tools
from recallm import RecallM
from recallm.adapting import postponing
from tests.langchain.agents import Talk, thread, weather
from tests.langchain.chat_models import call
from tests.written_messages import speakers_and_texts

LONG = "".join(f"Note {n}: bird {n} sat on the fence. " for n in range(640))
QUESTION = "Which colour has the shed of Ann?"


def test_a_long_message_is_on_disk_before_the_call_and_extracted_after_it(
    memory: RecallM, recalls: list[str]
) -> None:
    """Recall asks with both ends of it."""
    memory.update("The shed of Ann is blue.")
    before = memory.stats()

    def reply(messages: list[Any]) -> AIMessage | str:
        assert ("Human", LONG + QUESTION) in speakers_and_texts(memory)
        assert memory.stats().statements == before.statements
        calls = [it for it in messages if isinstance(it, AIMessage)]
        return "Blue." if calls else call("weather", says="Let me look.", city="Oslo")

    talk = Talk(memory, reply=reply, tools=[weather])
    output = talk.say(LONG + QUESTION, "1", id="long")
    assert "The shed of Ann is blue." in talk.told(0)
    assert [(len(it), it.endswith(QUESTION)) for it in recalls] == [(4001, True)]
    assert output["messages"][0].text == LONG + QUESTION
    said = [("Human", LONG + QUESTION), ("AI", "Let me look."), ("AI", "Blue.")]
    assert talk.written[1:] == said
    assert memory.items.paths() == ()
    kept = memory.get("long")
    assert kept is not None
    assert kept.metadata["role"] == "human"
    found = memory.recall("Where did bird 234 sit?", session="1").text
    assert "bird 234 sat on the fence" in found


@pytest.mark.parametrize("again", ["another thread", "resumed"])
def test_a_long_message_survives_the_end_of_the_process(tmp_path: Path, again: str) -> None:
    saver = InMemorySaver()
    with RecallM(tmp_path / "memory.db") as memory:
        dying = Talk(memory, RuntimeError("killed"), checkpointer=saver)
        with pytest.raises(RuntimeError, match="killed"):
            dying.say(LONG, "1", id="long", name="Ann")
        assert dying.written == [("Ann", LONG)]
        said_at = memory.passages()[0].timestamp
    with RecallM(tmp_path / "memory.db") as memory:
        talk = Talk(memory, "Hello.", checkpointer=saver)
        if again == "resumed":
            talk.agent.invoke(None, thread("1"))
        else:
            talk.say("Hi!", "2")
        kept = memory.get("long")
        assert kept is not None
        assert (kept.text, kept.session, kept.speaker) == (LONG, "1", "Ann")
        assert kept.timestamp == said_at
        assert [text for _, text in talk.written].count(LONG) == 1
        assert "bird 77 sat" in memory.recall("Where did bird 77 sit?").text


def leave_waiting(memory: RecallM, *texts: str) -> None:
    """Long messages of runs that failed, each in a thread of its own."""
    for number, text in enumerate(texts):
        talk = Talk(memory, RuntimeError("down"))
        with pytest.raises(RuntimeError, match="down"):
            talk.say(text, f"left-{number}", id=f"left-{number}")


def test_a_run_extracts_its_own_long_messages_and_a_bounded_part_of_the_others(
    memory: RecallM, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postponing, "_MAX_OF_OTHER_SESSIONS", len(LONG) + 1)
    leave_waiting(memory, LONG, LONG, LONG)
    for session, extracted in (("left-2", [2]), ("new", [0, 2]), ("new", [0, 1, 2])):
        Talk(memory, "Hello.").say("Hi!", session)
        assert [n for n in range(3) if memory.get(f"left-{n}") is not None] == extracted


def test_what_waits_is_not_shown_by_the_store_and_can_be_forgotten(memory: RecallM) -> None:
    leave_waiting(memory, f"Ann lives in Oslo. {LONG}")
    store = RecallMStore(memory=memory)
    store.put(("users", "bo"), "food", {"memory": "Bo loves pizza"})
    assert store.list_namespaces() == [("users", "bo")]
    for query in (None, "pizza", "bird"):
        assert [it.key for it in store.search((), query=query, limit=1)] == ["food"]
    assert store.search(("langchain_recallm",)) == []
    forget = create_recallm_tools(memory)[2]
    assert forget.invoke({"about": "Ann"}) == "Forgot 1 statement that mentions 'Ann'."
    talk = Talk(memory, "Hello.", "Blue.")
    talk.say("Hi!")
    assert not memory.history("Ann")
    assert not any("Ann" in text for _, text in talk.written)
    memory.forget(everything=True)

    def reply(messages: list[Any]) -> str:
        memory.forget(session="1")  # while it waits
        return "Blue."

    talk = Talk(memory, reply=reply)
    talk.say(LONG, "1")
    assert talk.written == [("AI", "Blue.")]


def test_a_long_reply_and_what_a_tool_gave_do_not_delay_the_next_call(memory: RecallM) -> None:
    @tool
    def notes() -> str:
        """All notes."""
        return LONG

    lines = [call("notes"), call("notes", "2", says="Once more."), "Many."]

    def reply(messages: list[Any]) -> Any:
        assert memory.stats().statements <= 1  # the question's
        return lines[sum(isinstance(it, AIMessage) for it in messages)]

    talk = Talk(memory, reply=reply, tools=[notes], roles={"human", "ai", "tool"})
    talk.say("Which birds sat there?", "1")
    assert [(who, len(text)) for who, text in talk.written] == [
        ("Human", 22), ("notes", len(LONG)), ("AI", 10), ("notes", len(LONG)), ("AI", 5),
    ]  # fmt: skip
