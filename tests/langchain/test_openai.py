"""``ChatOpenAI`` for real, over HTTP, against a server on this machine: answers, streams, tools, a
429, a stream that breaks off."""

from __future__ import annotations

import json
import socket
from typing import Any

import pytest
from langchain_core.messages import AIMessageChunk
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver

from langchain_recallm import create_recallm_tools
from recallm import RecallM
from recallm.adapting import CLOSING, OPENING
from tests.langchain.agents import human, remembering, thread
from tests.openai_server import MODEL, OpenAIServer, Reply
from tests.written_messages import speakers_and_texts


@pytest.fixture(autouse=True)
def nothing_leaves_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy, no tracing, no other key; and a connection elsewhere is an error."""
    for name in ("LANGSMITH_TRACING", "LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2"):
        monkeypatch.delenv(name, raising=False)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "OPENAI_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    connect = socket.socket.connect

    def near(self: socket.socket, address: Any) -> None:
        assert self.family == socket.AF_UNIX or address[0] == "127.0.0.1", address
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", near)


def model_of(server: OpenAIServer, **how: Any) -> ChatOpenAI:
    how = {"max_retries": 0, "timeout": 5.0, **how}
    return ChatOpenAI(model=MODEL, base_url=server.base_url, api_key="unused", **how)  # type: ignore[arg-type]


def agent_of(server: OpenAIServer, memory: RecallM, tools: Any = (), **how: Any) -> Any:
    return remembering(
        memory,
        model_of(server, **how),
        list(tools),
        system_prompt="You are kind.",
        checkpointer=InMemorySaver(),
        raise_errors=True,
    )


# -- the agent ---------------------------------------------------------------------------------


async def test_an_answer_whole_and_streamed(memory: RecallM) -> None:
    memory.update("Ann lives in Oslo.")
    asked = human("Where does Ann live?")
    said = [("Human", "Where does Ann live?"), ("AI", "She lives in Oslo.")]
    with OpenAIServer(*["She lives in Oslo."] * 3) as server:
        output = await agent_of(server, memory).ainvoke(asked, thread("1"))
        agent = agent_of(server, memory, stream_usage=True)
        how: dict[str, Any] = {"stream_mode": "messages"}
        streams = [
            [it async for it, _ in agent.astream(asked, thread("2"), **how)],
            [it for it, _ in agent.stream(asked, thread("3"), **how)],
        ]
    answer = output["messages"][-1]
    assert answer.text == "She lives in Oslo."
    assert answer.usage_metadata["output_tokens"] == 4
    request = server.requests[0]
    assert request.body["model"] == MODEL
    system, question = request.messages
    assert system["role"] == "system"
    assert system["content"].startswith(f"You are kind.\n\n{OPENING}")
    assert system["content"].endswith(f"Ann lives in Oslo.\n{CLOSING}")
    assert question == {"role": "user", "content": "Where does Ann live?"}
    for pieces in streams:
        chunks = [piece for piece in pieces if isinstance(piece, AIMessageChunk)]
        assert [chunk.text for chunk in chunks if chunk.text] == ["She", " lives", " in", " Oslo."]
        assert [
            chunk.usage_metadata["output_tokens"] for chunk in chunks if chunk.usage_metadata
        ] == [4]
    assert [request.body.get("stream") for request in server.requests] == [False, True, True]
    for session in "123":
        assert speakers_and_texts(memory, session) == said


def test_the_models_own_tools(memory: RecallM) -> None:
    memory.update("Ann lives in Oslo.", id="a")
    calls = Reply(
        text="One moment.",
        tool_calls=[
            ("call_1", "save_memory", {"text": "Ann speaks “norsk”."}),
            ("call_2", "recall_memory", {"query": "Where does Ann live?"}),
        ],
    )
    forget = Reply(tool_calls=[("call_3", "forget_memory", {"id": "a#0"})])
    with OpenAIServer(calls, forget, "Done.") as server:
        agent = agent_of(server, memory, create_recallm_tools(memory), streaming=True)
        agent.invoke(human("Tidy up."), thread("1"))
    first, second, third = server.requests
    assert [tool["function"]["name"] for tool in first.body["tools"]] == [
        "recall_memory",
        "save_memory",
        "forget_memory",
    ]
    assert "runtime" not in json.dumps(first.body["tools"])
    results = {
        message["tool_call_id"]: message["content"]
        for message in second.messages
        if message["role"] == "tool"
    }
    assert results["call_1"].startswith("Saved as ")
    assert "[a#0] Ann lives in Oslo." in results["call_2"]
    assert third.messages[-1]["content"] == "Forgot the statement a#0."
    assert speakers_and_texts(memory) == [
        ("Human", "Tidy up."),
        ("AI", "One moment."),
        ("AI", "Ann speaks “norsk”."),
        ("AI", "Done."),
    ]
    assert len({request.messages[0]["content"] for request in server.requests}) == 1


def test_the_clients_own_retries(memory: RecallM) -> None:
    """They are one turn: recalled once, written once."""
    memory.update("Ann lives in Oslo.")
    with OpenAIServer(Reply(status=429, retry_after=0.05), "In Oslo.") as server:
        agent = agent_of(server, memory, max_retries=1)
        output = agent.invoke(human("Where does Ann live?"), thread("1"))
    assert output["messages"][-1].text == "In Oslo."
    counts = [request.headers["x-stainless-retry-count"] for request in server.requests]
    assert counts == ["0", "1"]
    assert len({request.messages[0]["content"] for request in server.requests}) == 1
    assert speakers_and_texts(memory, "1") == [
        ("Human", "Where does Ann live?"),
        ("AI", "In Oslo."),
    ]


def test_a_stream_that_breaks_off(memory: RecallM) -> None:
    """Half an answer is none."""
    with OpenAIServer(Reply(text="She lives in Oslo.", after=3), "In Oslo.") as server:
        agent = agent_of(server, memory, streaming=True)
        with pytest.raises(Exception, match=r"(?i)incomplete|peer closed|connection"):
            agent.invoke(human("Where does Ann live?"), thread("1"))
        assert speakers_and_texts(memory) == [("Human", "Where does Ann live?")]
        agent.invoke(None, thread("1"))
    assert speakers_and_texts(memory) == [("Human", "Where does Ann live?"), ("AI", "In Oslo.")]
