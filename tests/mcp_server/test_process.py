"""The command ``recallm mcp`` as a process: its tools, its log, how it ends."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession
from typer.testing import CliRunner

from recallm import RecallM
from recallm.adapting import FactTools
from recallm.cli import app
from tests.command_line import enter
from tests.mcp_server.servers import process, stdio_session, text_of

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}

INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}

MALFORMED: list[Any] = [
    "no request of MCP, but PIN 4711",
    {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"arguments": "PIN 4711"}},
    {"jsonrpc": "2.0", "id": 7, "method": "PIN 4711"},
    {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"PIN 4711": 1}},
    {"jsonrpc": "2.0", "id": "PIN 4711", "result": {}},
]
"""Messages that hold what stands in no log."""

pytestmark = pytest.mark.slow  # processes
posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals and pipes")


async def test_everything_works_in_one_namespace(tmp_path: Path) -> None:
    """Another namespace of the file has a secret."""
    with RecallM(tmp_path / "new.db", namespace="bob") as memory:
        memory.update("The safe's code is 4711.", id="secret")
    served = ("--db", "new.db", "--namespace", "ann", "--allow-forget")
    async with stdio_session(tmp_path, *served) as session:
        await _everything_works(session)
    with RecallM(tmp_path / "new.db", namespace="ann") as memory:
        assert memory.passages()[0].text == "Ann lives in Zürich. 🙂"
        assert memory.stats().triplets == 0


async def _everything_works(session: ClientSession) -> None:
    tools = {tool.name for tool in (await session.list_tools()).tools}
    assert tools == {
        "remember", "recall", "forget", *FactTools.NAMES,
    }  # fmt: skip
    await session.call_tool("remember", {"text": "Ann lives in Zürich. 🙂", "speaker": "user"})
    found = await session.call_tool("recall", {"query": "Where does Ann live?"})
    assert "Ann lives in Zürich." in text_of(found)
    fact = {"subject": "Ann", "relation": "works for", "object": "BMW"}
    assert text_of(await session.call_tool("write_fact", fact)) == "Written."
    read = await session.call_tool("read_facts", {"subject": "Ann"})
    assert "Ann — works for → BMW" in text_of(read)
    refused = await session.call_tool("recall", {"query": ""})
    assert refused.isError
    forgotten = await session.call_tool("forget", {"about": "BMW"})
    assert text_of(forgotten) == "Forgot 1 fact that mentions 'BMW'."
    asked = {"query": "What is the code of the safe?"}
    assert "4711" not in text_of(await session.call_tool("recall", asked))
    assert (await session.call_tool("recall", {**asked, "namespace": "bob"})).isError
    assert (await session.call_tool("forget", {"id": "secret#0"})).isError


def send(server: subprocess.Popen[str], *messages: Any) -> None:
    assert server.stdin
    server.stdin.writelines(f"{json.dumps(message)}\n" for message in messages)
    server.stdin.flush()


def remember(text: str) -> dict[str, Any]:
    """A call of the tool, as a message."""
    call = {"name": "remember", "arguments": {"text": text}}
    return {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}


def exchange(server: subprocess.Popen[str], request: dict[str, Any]) -> dict[str, Any]:
    send(server, request)
    assert server.stdout
    answer: dict[str, Any] = json.loads(server.stdout.readline())
    return answer


def test_standard_output_is_the_protocol_alone(tmp_path: Path) -> None:
    """Also if a library prints, in Python or below it."""
    script = (
        "import os\n"
        "from recallm import RecallM\n"
        "update = RecallM.update\n"
        "def noisy(*arguments, **more):\n"
        "    print('from Python', flush=True)\n"
        "    os.write(1, b'from below')\n"
        "    return update(*arguments, **more)\n"
        "RecallM.update = noisy\n"
        "from recallm.cli import main\n"
        "main()\n"
    )
    with process(tmp_path, "--db", "a.db", script=script) as server:
        assert server.stdin
        assert server.stdout
        assert server.stderr
        send(server, INITIALIZE, INITIALIZED, *MALFORMED, remember("Ann sings."))
        messages: list[dict[str, Any]] = []
        while not any(message.get("id") == 2 for message in messages):
            messages.append(json.loads(server.stdout.readline()))
        server.stdin.close()
        rest, log = server.stdout.read(), server.stderr.read()
        assert server.wait(60) == 0
    assert all(message["jsonrpc"] == "2.0" for message in messages)
    assert messages[-1]["result"]["isError"] is False
    assert rest == ""
    assert "from Python" in log
    assert "from below" in log
    assert log.count("a client's message failed in the MCP SDK") >= len(MALFORMED)
    assert "PIN" not in log


@posix
def test_a_signal_ends_the_server_though_standard_input_is_open(tmp_path: Path) -> None:
    """A background job too: a shell starts it with interrupts ignored; so does ``nohup … &``."""
    with process(tmp_path, "--db", "a.db") as server:
        handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            job = process(tmp_path, "--db", "b.db")
        finally:
            signal.signal(signal.SIGINT, handler)
        with job:
            for each, number in ((server, signal.SIGINT), (job, signal.SIGTERM)):
                assert exchange(each, INITIALIZE)["result"]["serverInfo"]["name"] == "recallm"
                each.send_signal(number)
                assert each.wait(60) == -number
                assert each.stderr
                assert each.stderr.read() == ""
    with RecallM(tmp_path / "a.db") as memory:
        assert memory.stats().t_index == 0


def test_a_write_is_whole_though_the_client_leaves(tmp_path: Path) -> None:
    text = " ".join(f"Ann saw the film {count}." for count in range(1000))
    with process(tmp_path, "--db", "a.db") as server:
        exchange(server, INITIALIZE)
        send(server, INITIALIZED, remember(text))
        server.communicate(timeout=120)
        assert server.returncode == 0
    with RecallM(tmp_path / "a.db") as memory:
        assert memory.stats().statements in (0, 1000)


@posix
def test_a_signal_ends_the_server_though_a_tool_is_at_work(tmp_path: Path) -> None:
    script = (
        "import sys, time\n"
        "from recallm import RecallM\n"
        "def endless(*arguments, **more):\n"
        "    print('at work', file=sys.stderr, flush=True)\n"
        "    time.sleep(3600)\n"
        "RecallM.update = endless\n"
        "from recallm.cli import main\n"
        "main()\n"
    )
    with process(tmp_path, "--db", "a.db", script=script) as server:
        assert server.stderr
        exchange(server, INITIALIZE)
        send(server, INITIALIZED, remember("Ann sings."))
        assert server.stderr.readline() == "at work\n"
        server.send_signal(signal.SIGTERM)
        try:
            assert server.wait(60) == -signal.SIGTERM
        finally:
            server.kill()


@posix
def test_a_write_that_an_interruption_meets_is_whole(tmp_path: Path) -> None:
    text = " ".join(f"Ann saw the film {count}." for count in range(3000))
    with process(tmp_path, "--db", "a.db") as server:
        exchange(server, INITIALIZE)
        send(server, INITIALIZED, remember(text))
        time.sleep(0.5)
        server.send_signal(signal.SIGINT)
        assert server.wait(120) == -signal.SIGINT
    with RecallM(tmp_path / "a.db") as memory:
        assert memory.stats().statements in (0, 3000)


def test_no_password_is_read_from_the_clients_messages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter(tmp_path, monkeypatch)
    initialize = '{"jsonrpc": "2.0", "id": 1, "method": "initialize"}\n'
    done = CliRunner().invoke(app, ["mcp", "--db", "neo4j://localhost:1"], input=initialize)
    assert (done.exit_code, done.stdout) == (1, "")
    assert "--password-file" in done.stderr
    assert len(done.stderr.splitlines()) == 1
