"""Writing in the background: in order, read by the next recall, lost by nothing but a kill."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from langchain_recallm import (
    RecallMChatMessageHistory,
    RecallMMemory,
    RecallMRetriever,
    _background,
    create_recallm_tools,
)
from langchain_recallm._background import BackgroundWriter
from recallm import RecallM
from recallm.adapting import Message
from tests.langchain.agents import Talk

pytestmark = pytest.mark.filterwarnings(
    "ignore:The class `BaseMemory`:langchain_core._api.deprecation.LangChainDeprecationWarning"
)


class Gate:
    """``redact`` that waits, in the thread that writes, until the test opens it."""

    def __init__(self) -> None:
        self.is_open = threading.Event()
        self.entered = threading.Event()

    def __call__(self, text: str) -> str:
        if threading.current_thread().name.startswith("recallm-background-writer"):
            self.entered.set()
            assert self.is_open.wait(30)
        return text


@pytest.fixture
def gate() -> Iterator[Gate]:
    gate = Gate()
    yield gate
    gate.is_open.set()


def talk_of(memory: RecallM, *lines: str, **how: Any) -> Talk:
    """An agent that writes in the background; its model says "Noted.", or ``lines``."""
    of_talk: Any = {"reply": None if lines else lambda _: "Noted.", "write": "background"}
    return Talk(memory, *lines, **{**of_talk, "raise_errors": False, **how})


def texts(memory: RecallM) -> list[str]:
    return [passage.text for passage in memory.passages()]


async def test_an_agent_does_not_wait_and_what_was_said_is_written_in_order(
    memory: RecallM, gate: Gate
) -> None:
    talk = talk_of(memory, redact=gate)
    assert talk.say("I live in Oslo.", "monday")["messages"][-1].text == "Noted."
    assert texts(memory) == []
    assert talk.ours.flush(timeout=0.01) is False
    memory.in_namespace("bob").update("Bob lives in Lima.")  # another namespace does not wait
    found = RecallMRetriever(memory=memory, namespace="bob").invoke("Where does Bob live?")
    assert [document.page_content for document in found] == ["Bob lives in Lima."]
    gate.is_open.set()
    assert talk.ours.flush() is True
    assert [(passage.speaker, passage.text, passage.session) for passage in memory.passages()] == [
        ("Human", "I live in Oslo.", "monday"),
        ("AI", "Noted.", "monday"),
    ]
    for n in range(6):
        await talk.asay(f"I saw bird {n}.", "monday")
        talk.say(f"I saw cat {n}.", "monday")
    assert await talk.ours.aflush()
    said = [f"I saw {kind} {n}." for n in range(6) for kind in ("bird", "cat")]
    assert texts(memory)[2:] == [text for each in said for text in (each, "Noted.")]


@pytest.mark.parametrize("reader", ["retriever", "tool", "memory", "history"])
def test_every_reader_of_the_package_waits_for_what_was_said(
    memory: RecallM, gate: Gate, reader: str
) -> None:
    talk_of(memory, redact=gate).say("I live in Oslo.", "m")
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


def test_what_is_forgotten_is_not_written_afterwards(memory: RecallM) -> None:
    forget = create_recallm_tools(memory)[2]
    talk = talk_of(memory)
    for n in range(5):
        talk.say(f"I saw bird {n}.")
    forget.invoke({"about": "bird"})
    assert not any("bird" in text for text in texts(memory))


# -- closing, ends, bounds -------------------------------------------------------------------------


def test_closing_the_memory_waits_for_all(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with RecallM(path) as memory:
        talk = talk_of(memory, namespace="ann")
        for n in range(10):
            talk.say(f"I saw bird {n}.")
    with RecallM(path, namespace="ann") as memory:
        assert len(texts(memory)) == 20


@pytest.mark.slow
def test_the_end_of_the_interpreter_waits_for_all(tmp_path: Path) -> None:
    """Also for what a thread says after the main thread has ended."""
    path = tmp_path / "memory.db"
    script = f"""
import threading
import time
from langchain_core.messages import HumanMessage
from langchain_recallm import RecallMMemory
from recallm import RecallM

memory = RecallM({str(path)!r})
chain_memory = RecallMMemory(memory=memory, write="background")

def talk():
    for n in range(10):
        chain_memory.save_context({{"input": f"I saw bird {{n}}."}}, {{"output": "Noted."}})

def talk_on():
    threading.main_thread().join()
    time.sleep(0.2)
    talk()

threading.Thread(target=talk_on).start()
talk()
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], check=True)
    with RecallM(path) as memory:
        assert len(texts(memory)) == 40


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
        said = ["Said by the child.", "Said by the parent."]
        assert sorted(texts(memory)) == ["Noted.", "Noted.", *said]


def test_a_full_queue_waits_for_room(
    memory: RecallM, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_background, "MOST_WAITING", 3)
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


# -- failures --------------------------------------------------------------------------------------


def fail_on_birds(message: Message) -> bool:
    if "bird" in message.text:
        raise LookupError("no birds")
    return True


def test_a_failure_is_logged_raised_by_flush_and_stops_nothing(
    memory: RecallM, caplog: pytest.LogCaptureFixture
) -> None:
    """With ``raise_errors`` the next turn raises it, and a chain's memory always does."""
    talk = talk_of(memory, "A bird!", accept=fail_on_birds)
    assert talk.ours.flush() is True
    talk.say("I saw a cat.", "1")
    with pytest.raises(LookupError, match="no birds"):
        talk.ours.flush()
    assert "writing in the background failed: 1 message(s) were not remembered" in caplog.text
    assert talk.ours.flush() is True  # raised once
    assert texts(memory) == ["I saw a cat."]
    talk = talk_of(memory, "A bird!", "Noted.", accept=fail_on_birds, raise_errors=True)
    talk.say("I saw a cat.", "2")
    BackgroundWriter.wait_for(memory)
    with pytest.raises(LookupError, match="no birds"):
        talk.say("And a dog.", "2")
    talk.say("And a cow.", "2")
    assert talk.ours.flush()
    chain_memory = RecallMMemory(memory=memory, accept=fail_on_birds, write="background")
    chain_memory.save_context({"input": "I saw a bird."}, {"output": "Noted."})
    BackgroundWriter.wait_for(memory)
    with pytest.raises(LookupError, match="no birds"):
        chain_memory.save_context({"input": "I saw a cat."}, {"output": "Noted."})


def test_a_job_that_reads_does_not_wait_for_itself(memory: RecallM) -> None:
    seen: list[int] = []

    def accept(_: Message) -> bool:
        seen.append(len(RecallMRetriever(memory=memory).invoke("What?")))
        return True

    talk = talk_of(memory, accept=accept)
    talk.say("I saw a cat.")
    assert talk.ours.flush(timeout=30)
    assert seen
