"""Writing in the background: in order, read by the next recall, lost by nothing but a kill."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import FakeListChatModel

from langchain_recallm import (
    RecallMChatMessageHistory,
    RecallMMemory,
    RecallMMiddleware,
    RecallMRetriever,
    create_recallm_tools,
)
from recallm import InvalidInputError, RecallM
from recallm.adapting import BackgroundWriter, Message, background
from tests.langchain.agents import human, thread

pytestmark = pytest.mark.filterwarnings(
    "ignore:The class `BaseMemory`:langchain_core._api.deprecation.LangChainDeprecationWarning"
)


class Gate:
    """``redact`` that waits, in the thread that writes, until the test opens it."""

    def __init__(self) -> None:
        self.is_open = threading.Event()
        self.entered = threading.Event()

    def __call__(self, text: str) -> str:
        if threading.current_thread().name == "recallm-background-writer":
            self.entered.set()
            assert self.is_open.wait(30)
        return text


@pytest.fixture
def gate() -> Iterator[Gate]:
    gate = Gate()
    yield gate
    gate.is_open.set()


def middleware_of(memory: RecallM, **arguments: Any) -> RecallMMiddleware:
    return RecallMMiddleware(memory=memory, write="background", **arguments)


def agent_of(middleware: RecallMMiddleware) -> Any:
    return create_agent(FakeListChatModel(responses=["Noted."]), middleware=[middleware])


def texts(memory: RecallM) -> list[str]:
    return [passage.text for passage in memory.passages()]


def test_an_agent_does_not_wait_and_what_was_said_is_written_in_order(
    memory: RecallM, gate: Gate
) -> None:
    middleware = middleware_of(memory, redact=gate)
    state = agent_of(middleware).invoke(human("I live in Oslo."), thread("monday"))
    assert state["messages"][-1].text == "Noted."
    assert texts(memory) == []
    assert middleware.flush(timeout=0.01) is False
    gate.is_open.set()
    assert middleware.flush() is True
    assert [(it.speaker, it.text, it.session) for it in memory.passages()] == [
        ("Human", "I live in Oslo.", "monday"),
        ("AI", "Noted.", "monday"),
    ]


async def test_an_agent_reads_its_own_writes(memory: RecallM) -> None:
    middleware = middleware_of(memory)
    agent = agent_of(middleware)
    for n in range(6):
        await agent.ainvoke(human(f"I saw bird {n}."), thread("monday"))
        agent.invoke(human(f"I saw cat {n}."), thread("monday"))
    assert await middleware.aflush()
    said = [f"I saw {kind} {n}." for n in range(6) for kind in ("bird", "cat")]
    assert texts(memory) == [text for each in said for text in (each, "Noted.")]


@pytest.mark.parametrize("reader", ["retriever", "tool", "memory", "history"])
def test_every_reader_of_the_package_waits_for_what_was_said(
    memory: RecallM, gate: Gate, reader: str
) -> None:
    agent_of(middleware_of(memory, redact=gate)).invoke(human("I live in Oslo."), thread("m"))
    assert gate.entered.wait(30)
    opener = threading.Timer(0.05, gate.is_open.set)
    opener.start()
    question = "Where do I live?"
    if reader == "retriever":
        found = str(RecallMRetriever(memory=memory).invoke(question))
    elif reader == "tool":
        found = str(create_recallm_tools(memory)[0].invoke({"query": question}))
    elif reader == "memory":
        found = str(RecallMMemory(memory=memory).load_memory_variables({"input": question}))
    else:
        found = str(RecallMChatMessageHistory(memory=memory, session="m").messages)
    assert "I live in Oslo." in found
    opener.join()


def test_another_namespace_does_not_wait(memory: RecallM, gate: Gate) -> None:
    memory.in_namespace("bob").update("Bob lives in Lima.")
    agent_of(middleware_of(memory, namespace="ann", redact=gate)).invoke(human("Hello."))
    found = RecallMRetriever(memory=memory, namespace="bob").invoke("Where does Bob live?")
    assert [it.page_content for it in found] == ["Bob lives in Lima."]
    assert not gate.is_open.is_set()


def test_what_is_forgotten_is_not_written_afterwards(memory: RecallM) -> None:
    [forget] = create_recallm_tools(memory, tools=["forget_me"])
    agent = agent_of(middleware_of(memory))
    for n in range(5):
        agent.invoke(human(f"I saw bird {n}."))
    forget.invoke({"confirm": True})
    assert texts(memory) == []


# -- closing, ends, bounds -------------------------------------------------------------------------


def test_closing_the_memory_waits_for_all(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with RecallM(path) as memory:
        agent = agent_of(middleware_of(memory, namespace="ann"))
        for n in range(10):
            agent.invoke(human(f"I saw bird {n}."))
    with RecallM(path, namespace="ann") as memory:
        assert len(texts(memory)) == 20


@pytest.mark.slow
def test_the_end_of_the_interpreter_waits_for_all(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    script = f"""
from langchain_core.messages import HumanMessage
from langchain_recallm import RecallMMemory
from recallm import RecallM

memory = RecallM({str(path)!r})
chain_memory = RecallMMemory(memory=memory, write="background")
for n in range(10):
    chain_memory.save_context({{"input": f"I saw bird {{n}}."}}, {{"output": "Noted."}})
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], check=True)
    with RecallM(path) as memory:
        assert len(texts(memory)) == 20


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_leaves_the_parents_jobs_to_the_parent(tmp_path: Path, gate: Gate) -> None:
    path = tmp_path / "memory.db"
    with RecallM(path) as memory:
        chain_memory = RecallMMemory(memory=memory, redact=gate, write="background")
        chain_memory.save_context({"input": "Said by the parent."}, {"output": "Noted."})
        assert gate.entered.wait(30)
        child = os.fork()
        if child == 0:
            status = 1
            try:
                gate.is_open.set()
                chain_memory.save_context({"input": "Said by the child."}, {"output": "Noted."})
                status = 0 if chain_memory.flush(timeout=30) else 2
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        gate.is_open.set()
        assert chain_memory.flush()
        assert sorted(texts(memory)) == [
            "Noted.",
            "Noted.",
            "Said by the child.",
            "Said by the parent.",
        ]


def test_a_full_queue_waits_for_room(
    memory: RecallM, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "MOST_WAITING", 3)
    chain_memory = RecallMMemory(memory=memory, redact=gate, write="background")
    done = threading.Event()

    def talk() -> None:
        for n in range(5):
            chain_memory.save_context({"input": f"I saw bird {n}."}, {"output": "Noted."})
        done.set()

    talking = threading.Thread(target=talk)
    talking.start()
    assert gate.entered.wait(30)
    assert not done.wait(0.1)
    gate.is_open.set()
    talking.join(30)
    assert chain_memory.flush()
    assert texts(memory)[::2] == [f"I saw bird {n}." for n in range(5)]


def test_an_idle_thread_ends_and_the_next_job_starts_another(
    memory: RecallM, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "_IDLE", 0.01)
    agent = agent_of(middleware_of(memory))
    for n in range(3):
        agent.invoke(human(f"I saw bird {n}."))
        for it in threading.enumerate():
            if it.name == "recallm-background-writer":
                it.join(30)
    assert len(texts(memory)) == 6


# -- failures --------------------------------------------------------------------------------------


def fail_on_birds(message: Message) -> bool:
    if "bird" in message.text:
        raise LookupError("no birds")
    return True


def test_a_failure_is_logged_raised_by_flush_and_stops_nothing(
    memory: RecallM, caplog: pytest.LogCaptureFixture
) -> None:
    middleware = middleware_of(memory, accept=fail_on_birds, roles=["ai"])
    assert middleware.flush() is True
    middleware = middleware_of(memory, accept=fail_on_birds)
    agent = create_agent(
        FakeListChatModel(responses=["A bird!", "Noted."]), middleware=[middleware]
    )
    with caplog.at_level(logging.WARNING, "langchain_recallm"):
        agent.invoke(human("I saw a cat."), thread("1"))
        with pytest.raises(LookupError, match="no birds"):
            middleware.flush()
    assert "writing in the background failed: 1 message(s) were not remembered" in caplog.text
    assert middleware.flush() is True  # raised once
    assert texts(memory) == ["I saw a cat."]


def test_with_raise_errors_the_next_turn_raises_it(memory: RecallM) -> None:
    middleware = middleware_of(memory, accept=fail_on_birds, raise_errors=True)
    agent = create_agent(
        FakeListChatModel(responses=["A bird!", "Noted.", "Noted."]), middleware=[middleware]
    )
    agent.invoke(human("I saw a cat."), thread("1"))
    BackgroundWriter.wait_for(memory)
    with pytest.raises(LookupError, match="no birds"):
        agent.invoke(human("And a dog."), thread("1"))
    agent.invoke(human("And a cow."), thread("1"))
    assert middleware.flush()


def test_a_job_that_reads_does_not_wait_for_itself(memory: RecallM) -> None:
    seen: list[int] = []

    def accept(_: Message) -> bool:
        seen.append(len(RecallMRetriever(memory=memory).invoke("What?")))
        return True

    middleware = middleware_of(memory, accept=accept)
    agent_of(middleware).invoke(human("I saw a cat."))
    assert middleware.flush(timeout=30)
    assert seen


def test_another_way_of_writing_is_refused(memory: RecallM, subtests: pytest.Subtests) -> None:
    wrong: Any
    for wrong in ["later", None, True]:
        with subtests.test(case=str(wrong)):
            with pytest.raises(InvalidInputError, match="write"):
                RecallMMiddleware(memory=memory, write=wrong)
            with pytest.raises(ValueError, match="write"):
                RecallMMemory(memory=memory, write=wrong)


def test_the_next_call_of_a_chains_memory_raises_it(memory: RecallM) -> None:
    chain_memory = RecallMMemory(memory=memory, accept=fail_on_birds, write="background")
    chain_memory.save_context({"input": "I saw a bird."}, {"output": "Noted."})
    BackgroundWriter.wait_for(memory)
    with pytest.raises(LookupError, match="no birds"):
        chain_memory.save_context({"input": "I saw a cat."}, {"output": "Noted."})
