"""``RecallMMiddleware``: runs that fail, stop and go on; a memory that fails."""

from __future__ import annotations

import asyncio
import logging
import uuid
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    HumanInTheLoopMiddleware,
    ModelRetryMiddleware,
    SummarizationMiddleware,
)
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from langchain_recallm import RecallMMiddleware
from langchain_recallm._turns import Turn, TurnKey, Turns
from recallm import ClosedError, InvalidInputError, RecallM, StoreFullError
from tests.langchain.agents import human, remembering, system, thread, weather
from tests.langchain.chat_models import ScriptedModel, call
from tests.neo4j.fixtures import RunningServer
from tests.written_messages import speakers_and_texts

# -- runs that stop and go on ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "elsewhere"),
    [("before the human", False), ("after the human", True), ("interrupt_before", True)],
)
def test_a_run_resumed_after_an_interrupt(
    memory: RecallM, recalls: list[str], how: str, elsewhere: bool
) -> None:
    """Here, or elsewhere: in another process, which knows nothing but the thread."""
    memory.update("Ann lives in Oslo.")
    model = ScriptedModel(
        lines=[
            call("weather", "1", says="Let me look.", city="Oslo"),
            call("weather", "2", city="Bergen"),
            "Sunny.",
        ]
    )
    saver = InMemorySaver()
    by_human = how.endswith("human")

    def agents() -> Any:
        middleware: list[Any] = [RecallMMiddleware(memory=memory)]
        if by_human:
            asking = HumanInTheLoopMiddleware(interrupt_on={"weather": True})
            middleware.insert(how.startswith("before"), asking)
        return create_agent(
            model,
            [weather],
            checkpointer=saver,
            middleware=middleware,
            interrupt_before=None if by_human else ["tools"],
        )

    agent = agents()
    resume: Any = Command(resume={"decisions": [{"type": "approve"}]}) if by_human else None
    agent.invoke(human("What is the weather where Ann lives?"), thread("1"))
    words = [("Human", "What is the weather where Ann lives?"), ("AI", "Let me look.")]
    assert (
        speakers_and_texts(memory)[1:] == words[:1]
    )  # another middleware may change the rest still
    memory.update("Ann lives in Oslo no more, she moved.")  # the turn is told what it was
    for _ in range(2):
        agent = agents() if elsewhere else agent
        agent.invoke(resume, thread("1"))
    assert len(model.sent) == 3
    assert len({system(messages) for messages in model.sent}) == 1
    assert "Ann lives in Oslo." in system(model.sent[2])
    assert recalls == ["What is the weather where Ann lives?"] * (3 if elsewhere else 1)
    written = [it for it in speakers_and_texts(memory) if it[0]]
    assert written == [*words, ("AI", "Sunny.")]


@pytest.mark.parametrize("how", ["before the human", "after the human", "interrupt_before"])
async def test_the_models_words_are_written_when_the_user_goes_on(
    memory: RecallM, how: str
) -> None:
    """The interrupt is never answered: the user says something else instead."""
    model = ScriptedModel(
        lines=[call("weather", says="Let me look.", city="Oslo"), "Bergen is wet.", "Yes."]
    )
    middleware: list[Any] = [RecallMMiddleware(memory=memory)]
    if how != "interrupt_before":
        asking = HumanInTheLoopMiddleware(interrupt_on={"weather": True})
        middleware.insert(how.startswith("before"), asking)
    agent = create_agent(
        model,
        [weather],
        checkpointer=InMemorySaver(),
        middleware=middleware,
        interrupt_before=["tools"] if how == "interrupt_before" else None,
    )
    await agent.ainvoke(human("How is Oslo?"), thread("1"))
    await agent.ainvoke(human("Never mind. How is Bergen?"), thread("1"))
    await agent.ainvoke(human("Wet?"), thread("1"))
    assert speakers_and_texts(memory) == [
        ("Human", "How is Oslo?"),
        ("AI", "Let me look."),
        ("Human", "Never mind. How is Bergen?"),
        ("AI", "Bergen is wet."),
        ("Human", "Wet?"),
        ("AI", "Yes."),
    ]


def test_the_models_words_are_there_where_a_tool_fails(memory: RecallM) -> None:
    """And what was forgotten of them does not come back, whoever goes on."""

    @tool
    def broken(city: str) -> str:
        """A tool that fails."""
        raise RuntimeError("broken")

    saver = InMemorySaver()
    model = ScriptedModel(
        lines=[call("broken", says="Let me look.", city="Oslo"), call("broken", city="Oslo"), "Ok."]
    )

    def agents() -> Any:
        return remembering(memory, model, [broken], checkpointer=saver)

    agent = agents()
    with pytest.raises(RuntimeError, match="broken"):
        agent.invoke(human("How is Oslo?"), thread("1"))
    words = [("Human", "How is Oslo?"), ("AI", "Let me look.")]
    assert speakers_and_texts(memory) == words
    memory.forget(everything=True)
    for going_on in (agent, agents()):
        with pytest.raises(RuntimeError, match="broken"):
            going_on.invoke(None, thread("1"))
        assert speakers_and_texts(memory) == []


def test_a_run_that_stopped_is_forgotten_at_last(memory: RecallM) -> None:
    """Runs that never end leave no more than a bounded table behind, and it holds what is new."""
    turns = Turns()
    for number in range(3000):
        key = TurnKey.of("ann", str(number), [HumanMessage("Hi", id="1")])
        turns.put(key, Turn(recalled_text=str(number), asking=frozenset("1")))
    assert len(turns) == 1024
    assert turns.get(TurnKey.of("ann", "0", [HumanMessage("Hi", id="1")])) is None
    for namespace, asked, recalled_text in (
        ("ann", HumanMessage("Hi", id="1"), "2999"),
        ("bob", HumanMessage("Hi", id="1"), None),
        ("ann", HumanMessage("Ha", id="1"), "2999"),  # another middleware changed its text
        ("ann", HumanMessage("Hi", id="2"), None),
    ):
        found = turns.get(TurnKey.of(namespace, "2999", [asked]))
        assert (found and found.recalled_text) == recalled_text
    middleware = RecallMMiddleware(memory=memory)
    agent = create_agent(ScriptedModel(lines=["Hi!"]), middleware=[middleware])
    agent.invoke(human("Hello!"), thread("1"))
    assert len(middleware._agent_memory.turns) == 0


def test_a_message_that_is_edited_is_new(memory: RecallM) -> None:
    """It takes the old one's place in the thread, which ends with the old answer then."""
    model = ScriptedModel(lines=["Noted.", "Bergen, then.", "Hm.", "So?"])
    agent = remembering(memory, model, checkpointer=InMemorySaver())
    agent.invoke(human("Ann lives in Oslo. She likes tea.", id="a"), thread("1"))
    (tea,) = [it for it in memory.recall("What does Ann like?").statements if "tea" in it.text]
    memory.forget(statement=tea.id)
    for text in ("Ann lives in Bergen.", "Ann lives in Bergen."):
        agent.invoke(human(text, id="a"), thread("1"))
    agent.invoke(human("Ann lives in Oslo. She likes tea.", id="a"), thread("1"))
    assert speakers_and_texts(memory) == [
        ("Human", "Ann lives in Oslo."),
        ("AI", "Noted."),
        ("Human", "Ann lives in Bergen."),
        ("AI", "Bergen, then."),
        ("AI", "Hm."),
        ("AI", "So?"),
    ]


def test_a_summarised_turn_keeps_its_recalled_text(memory: RecallM, recalls: list[str]) -> None:
    """The question is no more among the messages of a run with many tools."""
    memory.update("Ann lives in Oslo.")
    summaries = SummarizationMiddleware(
        ScriptedModel(reply=lambda messages: "They spoke of birds."),
        trigger=("messages", 4),
        keep=("messages", 2),
    )
    lines = [call("weather", f"{n}", city="Oslo") for n in range(4)]
    model = ScriptedModel(lines=[*lines, "Sunny."])
    agent = create_agent(
        model,
        [weather],
        checkpointer=InMemorySaver(),
        middleware=[summaries, RecallMMiddleware(memory=memory)],
    )
    agent.invoke(human("How is it where Ann lives?"), thread("1"))
    assert any("They spoke of birds." in str(messages) for messages in model.sent)
    assert len({system(messages) for messages in model.sent}) == 1
    assert "Ann lives in Oslo." in system(model.sent[-1])
    assert len(recalls) == 1
    assert speakers_and_texts(memory)[1:] == [
        ("Human", "How is it where Ann lives?"),
        ("AI", "Sunny."),
    ]


def test_a_resumed_run_recalls_once(memory: RecallM, recalls: list[str]) -> None:
    memory.update("Ann lives in Oslo.")
    model = ScriptedModel(
        lines=[RuntimeError("down"), *(call("weather", f"{n}", city="Oslo") for n in range(3)), "!"]
    )
    agent = remembering(memory, model, [weather], checkpointer=InMemorySaver())
    with pytest.raises(RuntimeError):
        agent.invoke(human("How is it where Ann lives?"), thread("1"))
    agent.invoke(None, thread("1"))
    assert len(model.sent) == 5
    assert len(recalls) == 1
    assert len({system(messages) for messages in model.sent}) == 1
    assert "recalled_memory" not in agent.get_state(thread("1")).values
    assert speakers_and_texts(memory)[1:] == [("Human", "How is it where Ann lives?"), ("AI", "!")]


@pytest.mark.parametrize("retry", ["resume", "ask again"])
async def test_a_failing_model_does_not_lose_the_users_message(memory: RecallM, retry: str) -> None:
    model = ScriptedModel(lines=[RuntimeError("The model is down."), "A nice city."])
    agent = remembering(memory, model, checkpointer=InMemorySaver())
    with pytest.raises(RuntimeError, match="down"):
        await agent.ainvoke(human("I moved to Oslo."), thread("1"))
    assert speakers_and_texts(memory) == [("Human", "I moved to Oslo.")]
    again = None if retry == "resume" else human("Tell me of Oslo.")
    await agent.ainvoke(again, thread("1"))
    asked = [] if retry == "resume" else [("Human", "Tell me of Oslo.")]
    assert speakers_and_texts(memory) == [
        ("Human", "I moved to Oslo."),
        *asked,
        ("AI", "A nice city."),
    ]


def test_other_conversations_since_a_models_failure_are_recalled(memory: RecallM) -> None:
    model = ScriptedModel(lines=[RuntimeError("down"), "Noted.", "In Oslo."])
    agent = remembering(memory, model, checkpointer=InMemorySaver())
    with pytest.raises(RuntimeError):
        agent.invoke(human("Where does Ann live?"), thread("1"))
    agent.invoke(human("Ann lives in Oslo."), thread("2"))
    agent.invoke(human("Where does Ann live, please?"), thread("1"))
    assert "Human: Ann lives in Oslo." in system(model.sent[2])
    assert "please" not in system(model.sent[2])


def test_retries_of_the_model_are_one_turn(memory: RecallM, recalls: list[str]) -> None:
    memory.update("Ann lives in Oslo.")
    model = ScriptedModel(lines=[RuntimeError("down"), RuntimeError("down"), "Oslo."])
    retries = ModelRetryMiddleware(max_retries=2, initial_delay=0.0, jitter=False)
    for middleware in (
        [RecallMMiddleware(memory=memory), retries],
        [retries, RecallMMiddleware(memory=memory)],
    ):
        model = ScriptedModel(lines=[RuntimeError("down"), RuntimeError("down"), "Oslo."])
        recalls.clear()
        create_agent(model, middleware=middleware).invoke(human("Where does Ann live?"))
        assert len(recalls) == 1
        assert [system(messages).count("lives in Oslo") for messages in model.sent] == [1, 1, 1]


def test_a_summary_is_not_the_users_message(memory: RecallM) -> None:
    """LangChain's summaries stand in the thread in the user's name."""
    summaries = SummarizationMiddleware(
        ScriptedModel(reply=lambda messages: "They spoke of birds."),
        trigger=("messages", 4),
        keep=("messages", 1),
    )
    failing = ScriptedModel(
        lines=["One.", "Two.", RuntimeError("The model is down."), "Three.", "Four."]
    )
    agent = create_agent(
        failing,
        checkpointer=InMemorySaver(),
        middleware=[RecallMMiddleware(memory=memory), summaries],
    )
    agent.invoke(human("Birds 1."), thread("1"))
    agent.invoke(human("Birds 2."), thread("1"))
    with pytest.raises(RuntimeError, match="down"):
        agent.invoke(human("Birds 3."), thread("1"))
    agent.invoke(human("Birds 4."), thread("1"))
    agent.invoke(human("Birds 5."), thread("1"))
    assert any("They spoke of birds." in str(messages) for messages in failing.sent)
    assert [text for _, text in speakers_and_texts(memory)] == [
        "Birds 1.", "One.", "Birds 2.", "Two.", "Birds 3.",
        "Birds 4.", "Three.", "Birds 5.", "Four.",
    ]  # fmt: skip


# -- a memory that fails -----------------------------------------------------------------------


def test_a_closed_memory_does_not_cost_the_answer(caplog: pytest.LogCaptureFixture) -> None:
    memory = RecallM()
    memory.close()
    agent = remembering(memory, ScriptedModel(lines=["Hi!"]))
    with caplog.at_level(logging.WARNING, "langchain_recallm"):
        assert agent.invoke(human("Hello!"))["messages"][-1].text == "Hi!"
    assert [(it.levelname, it.name) for it in caplog.records] == [
        ("WARNING", "langchain_recallm")
    ] * 4
    assert ["recalled" in it.message for it in caplog.records] == [True, False, False, False]
    assert all(it.exc_info and it.exc_info[0] is ClosedError for it in caplog.records)


def test_a_run_without_the_value_of_a_template(
    memory: RecallM, caplog: pytest.LogCaptureFixture
) -> None:
    """An error; a run without memory where that is asked for, which says so in one line."""
    how: dict[str, Any] = {"memory": memory, "namespace": "user-{user_id}"}
    agent = create_agent(ScriptedModel(lines=["Hi!"]), middleware=[RecallMMiddleware(**how)])
    with pytest.raises(InvalidInputError, match="needs 'user_id'"):
        agent.invoke(human("I live in Oslo."))
    middleware = RecallMMiddleware(**how, on_missing="skip")
    agent = create_agent(ScriptedModel(lines=["Hi!"]), middleware=[middleware])
    assert agent.invoke(human("I live in Oslo."))["messages"][-1].text == "Hi!"
    assert not memory.passages()
    [record] = caplog.records
    assert record.getMessage().startswith("nothing is recalled or remembered: the template")
    assert "needs 'user_id'" in record.getMessage()
    assert record.exc_info is None


@pytest.mark.parametrize("asynchronous", [True, False])
async def test_a_failure_is_raised_where_asked_for(asynchronous: bool) -> None:
    memory = RecallM()
    memory.close()
    agent = remembering(memory, ScriptedModel(lines=["Hi!"]), raise_errors=True)
    if asynchronous:
        with pytest.raises(ClosedError):
            await agent.ainvoke(human("Hello!"))
    else:
        with pytest.raises(ClosedError):
            agent.invoke(human("Hello!"))


@pytest.mark.parametrize("raise_errors", [True, False])
def test_a_failing_recall_does_not_lose_the_users_message(
    memory: RecallM, monkeypatch: pytest.MonkeyPatch, raise_errors: bool
) -> None:
    def broken(self: RecallM, question: str, **how: Any) -> None:
        raise StoreFullError("no space is left")

    agent = remembering(memory, ScriptedModel(lines=["Hi!"]), raise_errors=raise_errors)
    with monkeypatch.context() as patch:
        patch.setattr(RecallM, "recall", broken)
        if raise_errors:
            with pytest.raises(StoreFullError):
                agent.invoke(human("Hello!"))
        else:
            agent.invoke(human("Hello!"))
    assert speakers_and_texts(memory)[0] == ("Human", "Hello!")


def test_a_full_disk_does_not_cost_the_answer(
    memory: RecallM, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(self: RecallM, items: Any, **how: Any) -> None:
        raise StoreFullError("no space is left")

    memory.update("Ann lives in Oslo.")
    monkeypatch.setattr(RecallM, "update_many", full)
    model = ScriptedModel(lines=["Oslo."])
    agent = remembering(memory, model)
    assert agent.invoke(human("Where does Ann live?"))["messages"][-1].text == "Oslo."
    assert "Ann lives in Oslo." in system(model.sent[0])
    assert [it.message.rpartition(": ")[2] for it in caplog.records] == [
        "1 message(s) were not remembered"
    ] * 3  # what was asked, and the answer, which is tried again at the end


def test_what_cannot_be_used_is_refused_at_once(memory: RecallM, subtests: pytest.Subtests) -> None:
    value: Any
    for argument, value in [
        ("memory", "memory.db"), ("namespace", 42), ("namespace", ""),
        ("namespace", "user-{user.id}"), ("namespace", asyncio.sleep), ("scope", "thread"),
        ("on_missing", "ignore"), ("remember_interrupts", 1), ("position", "top"),
        ("roles", ("human", "robot")), ("roles", ()), ("limit", 0), ("limit", True),
        ("max_tokens", -1), ("max_tokens", 1.5), ("min_score", 2), ("human_prefix", ""),
        ("ai_prefix", None), ("name", ""), ("name", 42), ("max_tokens", 20),
    ]:  # fmt: skip
        with subtests.test(case=str((argument, value))):
            with pytest.raises(InvalidInputError) as refused:
                RecallMMiddleware(**{"memory": memory, argument: value})
            assert refused.value.argument == argument


def test_on_neo4j(neo4j_server: RunningServer) -> None:
    with RecallM(
        neo4j_server.uri, auth=neo4j_server.auth, namespace=f"test-{uuid.uuid4()}"
    ) as memory:
        model = ScriptedModel(lines=["Noted.", RuntimeError("down"), "Oslo."])
        agent = remembering(memory, model, checkpointer=InMemorySaver())
        agent.invoke(human("Ann lives in Oslo."), thread("1"))
        with pytest.raises(RuntimeError):
            agent.invoke(human("Where does Ann live?"), thread("2"))
        agent.invoke(None, thread("2"))
        assert system(model.sent[1]) == system(model.sent[2])
        assert "Human: Ann lives in Oslo." in system(model.sent[2])
        assert speakers_and_texts(memory) == [
            ("Human", "Ann lives in Oslo."),
            ("AI", "Noted."),
            ("Human", "Where does Ann live?"),
            ("AI", "Oslo."),
        ]
        memory.forget(everything=True)
