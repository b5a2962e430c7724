"""``RecallMMiddleware``: runs that fail, stop and go on; a memory that fails."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

import pytest
from langchain.agents.middleware import (
    HumanInTheLoopMiddleware,
    ModelRetryMiddleware,
    SummarizationMiddleware,
)
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from langchain_recallm import RecallMMiddleware, RecallMStore
from langchain_recallm._turns import Turn, TurnKey, Turns
from recallm import ClosedError, InvalidInputError, RecallM, StoreFullError
from tests.langchain.agents import Talk, system, thread, weather
from tests.langchain.chat_models import ScriptedModel, call
from tests.neo4j.fixtures import RunningServer

# -- runs that stop and go on ------------------------------------------------------------------

WAYS_TO_STOP = ("before the human", "after the human", "interrupt_before")


def stopping(memory: RecallM, how: str, saver: Any, *lines: Any) -> Talk:
    """An agent that stops before its tools: by another middleware around ours, or by the graph."""
    asking = [HumanInTheLoopMiddleware(interrupt_on={"weather": True})]
    return Talk(
        memory,
        *lines,
        tools=[weather],
        checkpointer=saver,
        outer=asking if how == "after the human" else (),
        inner=asking if how == "before the human" else (),
        interrupt_before=["tools"] if how == "interrupt_before" else None,
    )


def decided(how: str, kind: str) -> Any:
    """What a person answers to the interrupt."""
    return None if how == "interrupt_before" else Command(resume={"decisions": [{"type": kind}]})


def test_a_run_resumed_after_an_interrupt(memory: RecallM, recalls: list[str]) -> None:
    """Here, or elsewhere: in another process, which knows nothing but the thread."""
    asked = "What is the weather where Ann lives?"
    lines = [
        call("weather", "1", says="Let me look.", city="Oslo"),
        call("weather", "2", city="Bergen"),
        "Sunny.",
    ]
    for how, elsewhere in zip(WAYS_TO_STOP, (False, True, True), strict=True):
        own, saver = memory.in_namespace(how), InMemorySaver()
        own.update("Ann lives in Oslo.")
        recalls.clear()
        talk = stopping(own, how, saver, *lines)
        sent = talk.model.sent
        talk.say(asked, "1")
        # Another middleware may still change the rest.
        assert talk.written[1:] == [("Human", asked)]
        own.update("Ann lives in Oslo no more, she moved.")  # the turn is told what it was
        for place in (1, 2):
            if elsewhere:
                talk = stopping(own, how, saver, *lines[place:])
            talk.agent.invoke(decided(how, "approve"), thread("1"))
            if elsewhere:
                sent = [*sent, *talk.model.sent]
        assert [system(messages) for messages in sent] == [system(sent[0])] * 3, how
        assert "Ann lives in Oslo." in system(sent[2])
        assert recalls == [asked] * (3 if elsewhere else 1)
        written = [turn for turn in talk.written if turn[0]]
        assert written == [("Human", asked), ("AI", "Let me look."), ("AI", "Sunny.")]


async def test_the_models_words_are_written_however_the_user_goes_on(memory: RecallM) -> None:
    """The interrupt is never answered, or the tool call is refused, here or elsewhere."""
    words = call("weather", says="Let me look.", city="Oslo")
    said = [("Human", "How is Oslo?"), ("AI", "Let me look.")]
    for how in WAYS_TO_STOP:
        talk = stopping(memory.in_namespace(how), how, InMemorySaver(), words, "Wet.", "Yes.")
        for text in ("How is Oslo?", "Never mind. How is Bergen?", "Wet?"):
            await talk.asay(text, "1")
        answers = [("Human", "Never mind. How is Bergen?"), ("AI", "Wet."), ("Human", "Wet?")]
        assert talk.written == [*said, *answers, ("AI", "Yes.")]
        for elsewhere in (False, True) if how != "interrupt_before" else ():
            own, saver = memory.in_namespace(f"{how} {elsewhere}"), InMemorySaver()
            talk = stopping(own, how, saver, words, "As you like.")
            talk.say("How is Oslo?", "1")
            talk = stopping(own, how, saver, "As you like.") if elsewhere else talk
            talk.agent.invoke(decided(how, "reject"), thread("1"))
            assert talk.written == [*said, ("AI", "As you like.")]


def test_the_models_words_are_there_where_a_tool_fails(memory: RecallM) -> None:
    """And what was forgotten of them does not come back, whoever goes on."""

    @tool
    def broken(city: str) -> str:
        """A tool that fails."""
        raise RuntimeError("broken")

    saver = InMemorySaver()
    lines = [call("broken", says="Let me look.", city="Oslo"), call("broken", city="Oslo"), "Ok."]
    talk = Talk(memory, *lines, tools=[broken], checkpointer=saver)
    with pytest.raises(RuntimeError, match="broken"):
        talk.say("How is Oslo?", "1")
    assert talk.written == [("Human", "How is Oslo?"), ("AI", "Let me look.")]
    memory.forget(everything=True)
    for going_on in (talk, Talk(memory, *lines[1:], tools=[broken], checkpointer=saver)):
        with pytest.raises(RuntimeError, match="broken"):
            going_on.agent.invoke(None, thread("1"))
        assert talk.written == []


def test_a_run_that_stopped_is_forgotten_at_last(memory: RecallM) -> None:
    """Runs that never end leave no more than a bounded table behind, and it holds what is new."""
    turns = Turns()
    for number in range(3000):
        key = TurnKey.of("ann", str(number), [HumanMessage("Hi", id="1")])
        turns.put(key, Turn(recalled_text=str(number), asking=frozenset("1")))
    assert len(turns._turns) == 1024
    assert turns.get(TurnKey.of("ann", "0", [HumanMessage("Hi", id="1")])) is None
    for namespace, asked, recalled_text in (
        ("ann", HumanMessage("Hi", id="1"), "2999"),
        ("bob", HumanMessage("Hi", id="1"), None),
        ("ann", HumanMessage("Ha", id="1"), "2999"),  # another middleware changed its text
        ("ann", HumanMessage("Hi", id="2"), None),
    ):
        found = turns.get(TurnKey.of(namespace, "2999", [asked]))
        assert (found and found.recalled_text) == recalled_text
    talk = Talk(memory, "Hi!")
    talk.say("Hello!", "1")
    assert not talk.ours._agent_memory.turns._turns


def test_a_message_that_is_edited_is_new(memory: RecallM) -> None:
    """It takes the old one's place in the thread, which ends with the old answer then."""
    talk = Talk(memory, "Noted.", "Bergen, then.", "Hm.", "So?", checkpointer=InMemorySaver())
    talk.say("Ann lives in Oslo. She likes tea.", "1", id="a")
    (tea,) = [
        statement
        for statement in memory.recall("What does Ann like?").statements
        if "tea" in statement.text
    ]
    memory.forget(statement=tea.id)
    for text in ("Ann lives in Bergen.",) * 2 + ("Ann lives in Oslo. She likes tea.",):
        talk.say(text, "1", id="a")
    assert talk.written == [
        ("Human", "Ann lives in Oslo."),
        ("AI", "Noted."),
        ("Human", "Ann lives in Bergen."),
        ("AI", "Bergen, then."),
        ("AI", "Hm."),
        ("AI", "So?"),
    ]


def test_summaries(memory: RecallM, recalls: list[str]) -> None:
    """A turn whose question is summarised away keeps its recalled text. A summary, which stands in
    the thread in the user's name, is nobody's words."""

    def summing(keep: int) -> Any:
        model = ScriptedModel(reply=lambda messages: "They spoke of birds.")
        return SummarizationMiddleware(model, trigger=("messages", 4), keep=("messages", keep))

    memory.update("Ann lives in Oslo.")
    calls = [call("weather", f"{n}", city="Oslo") for n in range(4)]
    saver = InMemorySaver()
    talk = Talk(memory, *calls, "Sunny.", tools=[weather], outer=[summing(2)], checkpointer=saver)
    talk.say("How is it where Ann lives?", "1")
    assert any("They spoke of birds." in str(messages) for messages in talk.model.sent)
    assert len({system(messages) for messages in talk.model.sent}) == 1
    assert "Ann lives in Oslo." in talk.told()
    assert len(recalls) == 1
    assert talk.written[1:] == [("Human", "How is it where Ann lives?"), ("AI", "Sunny.")]

    own = memory.in_namespace("birds")
    lines = ["One.", "Two.", RuntimeError("The model is down."), "Three.", "Four."]
    talk = Talk(own, *lines, inner=[summing(1)], checkpointer=InMemorySaver())
    talk.say("Birds 1.", "1")
    talk.say("Birds 2.", "1")
    with pytest.raises(RuntimeError, match="down"):
        talk.say("Birds 3.", "1")
    talk.say("Birds 4.", "1")
    talk.say("Birds 5.", "1")
    assert any("They spoke of birds." in str(messages) for messages in talk.model.sent)
    assert [text for _, text in talk.written] == [
        "Birds 1.", "One.", "Birds 2.", "Two.", "Birds 3.",
        "Birds 4.", "Three.", "Birds 5.", "Four.",
    ]  # fmt: skip


async def test_a_failing_model(memory: RecallM, recalls: list[str]) -> None:
    """The user's message is there; the run is resumed, or the user asks again; what was said
    elsewhere meanwhile is recalled."""
    asked = "How is it where Ann lives?"
    down = RuntimeError("The model is down.")
    memory.update("Ann lives in Oslo.")
    calls = [call("weather", f"{n}", city="Oslo") for n in range(3)]
    talk = Talk(memory, down, *calls, "!", tools=[weather], checkpointer=InMemorySaver())
    with pytest.raises(RuntimeError, match="down"):
        await talk.asay(asked, "1")
    assert talk.written[1:] == [("Human", asked)]
    await talk.agent.ainvoke(None, thread("1"))
    assert recalls == [asked]
    assert [system(messages) for messages in talk.model.sent] == [talk.told(0)] * 5
    assert set(talk.agent.get_state(thread("1")).values) == {"messages"}
    assert talk.written[1:] == [("Human", asked), ("AI", "!")]

    talk = Talk(memory.in_namespace("again"), down, "Noted.", "Oslo.", checkpointer=InMemorySaver())
    with pytest.raises(RuntimeError, match="down"):
        talk.say("Where does Ann live?", "1")
    talk.say("Ann lives in Oslo.", "2")
    talk.say("Where does Ann live, please?", "1")
    assert "Human: Ann lives in Oslo." in talk.told()
    assert "please" not in talk.told()
    assert [text for _, text in talk.written] == [
        "Where does Ann live?", "Ann lives in Oslo.", "Noted.",
        "Where does Ann live, please?", "Oslo.",
    ]  # fmt: skip

    retries = [ModelRetryMiddleware(max_retries=2, initial_delay=0.0, jitter=False)]
    for place in ("outer", "inner"):  # retries are one turn
        talk = Talk(memory, down, down, "Oslo.", **{place: retries})
        recalls.clear()
        talk.say("Where does Ann live?")
        assert len(recalls) == 1
        assert [system(message).count("lives in Oslo") for message in talk.model.sent] == [1, 1, 1]


# -- a memory that fails -----------------------------------------------------------------------


async def test_a_closed_memory_does_not_cost_the_answer(caplog: pytest.LogCaptureFixture) -> None:
    memory = RecallM()
    memory.close()
    talk = Talk(memory, "Hi!", raise_errors=False)
    assert talk.say("Hello!")["messages"][-1].text == "Hi!"
    assert [(record.levelname, record.name) for record in caplog.records] == [
        ("WARNING", "langchain_recallm")
    ] * 4
    assert ["recalled" in record.message for record in caplog.records] == [
        True,
        False,
        False,
        False,
    ]
    assert all(record.exc_info and record.exc_info[0] is ClosedError for record in caplog.records)
    with pytest.raises(ClosedError):
        Talk(memory, "Hi!").say("Hello!")
    with pytest.raises(ClosedError):
        await Talk(memory, "Hi!").asay("Hello!")


def test_a_store_that_fails_loses_neither_the_answer_nor_what_can_be_written(
    memory: RecallM, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise StoreFullError("no space is left")

    for raise_errors in (True, False):
        own = memory.in_namespace(f"{raise_errors}")
        talk = Talk(own, "Hi!", raise_errors=raise_errors)
        with monkeypatch.context() as patch:
            patch.setattr(RecallM, "recall", full)
            if raise_errors:
                with pytest.raises(StoreFullError):
                    talk.say("Hello!")
            else:
                talk.say("Hello!")
        assert talk.written[0] == ("Human", "Hello!")
    caplog.clear()
    memory.update("Ann lives in Oslo.")
    monkeypatch.setattr(RecallM, "update_many", full)
    talk = Talk(memory, "Oslo.", raise_errors=False)
    assert talk.say("Where does Ann live?")["messages"][-1].text == "Oslo."
    assert "Ann lives in Oslo." in talk.told()
    assert [record.message.rpartition(": ")[2] for record in caplog.records] == [
        "1 message(s) were not remembered"
    ] * 3  # what was asked, and the answer, which is tried again at the end


def test_what_cannot_be_used_is_refused_at_once(memory: RecallM) -> None:
    value: Any
    for argument, value in [
        ("memory", "memory.db"), ("namespace", 42), ("namespace", ""),
        ("namespace", "user-{user.id}"), ("namespace", asyncio.sleep), ("scope", "thread"),
        ("on_missing", "ignore"), ("remember_interrupts", 1), ("position", "top"),
        ("roles", ("human", "robot")), ("roles", ()), ("limit", 0), ("limit", True),
        ("max_tokens", -1), ("max_tokens", 1.5), ("min_score", 2), ("human_prefix", ""),
        ("ai_prefix", None), ("name", ""), ("name", 42), ("max_tokens", 20), ("write", "later"),
        ("write", None),
    ]:  # fmt: skip
        with pytest.raises(InvalidInputError) as refused:
            RecallMMiddleware(**{"memory": memory, argument: value})
        assert refused.value.argument == argument, (argument, value)


def test_on_neo4j(neo4j_server: RunningServer) -> None:
    """The middleware and the store."""
    namespace = f"test-{uuid.uuid4()}"
    with RecallM(neo4j_server.uri, auth=neo4j_server.auth, namespace=namespace) as memory:
        talk = Talk(memory, "Oslo.")
        memory.update("Ann lives in Oslo.")
        talk.say("Where does Ann live?", "1")
        assert "Ann lives in Oslo." in talk.told()
        assert talk.written[1:] == [("Human", "Where does Ann live?"), ("AI", "Oslo.")]
        store = RecallMStore(memory=memory)
        store.put(("users", "ann"), "job", {"memory": "Ann works as a baker.", "n": 1})
        store.put(("users", "ann"), "pet", {"memory": "Ann has a cat.", "n": 2})
        assert [item.key for item in store.search(("users",), filter={"n": {"$gt": 1}})] == ["pet"]
        store.delete(("users", "ann"), "pet")
        assert store.list_namespaces(prefix=("users",)) == [("users", "ann")]
