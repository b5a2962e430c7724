"""The command ``recallm mcp`` as a process: both transports, who may connect, how it ends."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import ClientSession

from recallm import RecallM
from recallm.adapting import FactTools
from tests.mcp_server.servers import (
    Transport,
    http_server,
    http_session,
    process,
    stdio_session,
    text_of,
)

TOKEN = "0123456789abcdef0123456789abcdef"

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

ACCEPTED = {"Accept": "application/json, text/event-stream"}

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


SERVED = ("--db", "new.db", "--namespace", "ann", "--allow-forget")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the file lies that the open server serves; another namespace there has a secret."""
    folder = tmp_path_factory.mktemp("open")
    with RecallM(folder / "new.db", namespace="bob") as memory:
        memory.update("The safe's code is 4711.", id="secret")
    return folder


@pytest.fixture(scope="module")
def open_server(folder: Path) -> Iterator[str]:
    """A server without a token."""
    with http_server(folder, *SERVED) as url:
        yield url


async def test_everything_works_in_one_namespace(folder: Path, open_server: str) -> None:
    """Over both transports; each server starts in an empty namespace."""
    for session_of in (stdio_session(folder, *SERVED), http_session(open_server)):
        async with session_of as session:
            await _everything_works(session)
        with RecallM(folder / "new.db", namespace="ann") as memory:
            assert memory.passages()[0].text == "Ann lives in Zürich. 🙂"
            assert memory.stats().triplets == 0
            memory.forget(everything=True)


async def _everything_works(session: ClientSession) -> None:
    tools = {tool.name for tool in (await session.list_tools()).tools}
    assert tools == {
        "remember", "recall", "history", "forget", *FactTools.NAMES,
    }  # fmt: skip
    await session.call_tool("remember", {"text": "Ann lives in Zürich. 🙂", "speaker": "user"})
    found = await session.call_tool("recall", {"query": "Where does Ann live?"})
    assert "Ann lives in Zürich." in text_of(found)
    history = await session.call_tool("history", {"concept": "Ann"})
    assert "Zürich" in text_of(history)
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


# -- standard input and output -----------------------------------------------------------------


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


# -- HTTP --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with a token. Its log holds neither the token nor what clients sent."""
    folder = tmp_path_factory.mktemp("guarded")
    (folder / "token").touch(mode=0o600)
    (folder / "token").write_text(f"{TOKEN}\n")
    options = ["--http", "--port", "0", "--token-file", "token"]
    with process(folder, "--db", "a.db", *options) as server:
        assert server.stderr
        url = server.stderr.readline().split()[-1]
        yield url
        headers = {**ACCEPTED, "Authorization": f"Bearer {TOKEN}"}
        for malformed in MALFORMED:
            httpx.post(url, json=malformed, headers=headers, timeout=60)
        server.terminate()
        _, log = server.communicate(timeout=60)
    assert log.count("a client's message failed") >= 2  # the last two are logged
    assert TOKEN not in log
    assert "PIN" not in log
    assert "evil" not in log


def posted(url: str, **headers: str) -> httpx.Response:
    return httpx.post(url, json=INITIALIZE, headers={**ACCEPTED, **headers}, timeout=60)


async def test_the_token_opens_the_server_though_hosts_are_checked(guarded: str) -> None:
    async with http_session(guarded, TOKEN) as session:
        assert not (await session.call_tool("remember", {"text": "Ann sings."})).isError
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    assert posted(guarded, **bearer).status_code == 200
    assert posted(guarded, Authorization=f"bearer {TOKEN}").status_code == 200
    assert posted(guarded, **bearer, Host="evil.example").status_code == 421
    assert posted(guarded, **bearer, **{"Content-Type": "text/plain"}).status_code == 400


def test_nothing_else_opens_it(guarded: str, subtests: pytest.Subtests) -> None:
    for given in (
        None, "", TOKEN, f"Basic {TOKEN}", f"bearer{TOKEN}", f"Bearer {TOKEN[:-1]}",
        f"Bearer {TOKEN}x", "Bearer", "Bearer \u00e9",
    ):  # fmt: skip
        with subtests.test(given=given):
            headers: dict[str, Any] = {} if given is None else {"Authorization": given.encode()}
            refused = posted(guarded, **headers)
            assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
            assert TOKEN not in refused.text
            for method in ("GET", "DELETE"):
                other = httpx.request(method, guarded.replace("/mcp", "/other"), headers=headers)
                assert other.status_code == 401


def test_a_web_page_of_another_host_reaches_no_server(
    open_server: str, subtests: pytest.Subtests
) -> None:
    for headers, status in (
        ({}, 200),
        ({"Origin": "http://localhost:3000"}, 200),
        ({"Host": "localhost"}, 200),
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example:80"}, 421),
        ({"Host": "localhost.evil.example"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "http://localhost.evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Content-Type": "text/plain"}, 400),
    ):
        with subtests.test(headers=headers):
            assert posted(open_server, **headers).status_code == status
    assert httpx.get(open_server).status_code == 405
    assert httpx.get(open_server.replace("/mcp", "/")).status_code == 404
    large = httpx.post(open_server, content=b"x" * (5 << 20), timeout=60)
    assert large.status_code == 413


@posix
@pytest.mark.parametrize("transport", ["stdio", pytest.param("http", marks=pytest.mark.nightly)])
def test_a_signal_ends_the_server_though_a_tool_is_at_work(
    transport: Transport, tmp_path: Path
) -> None:
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
    options = ["--http", "--port", "0"] if transport == "http" else []
    with process(tmp_path, "--db", "a.db", *options, script=script) as server:
        assert server.stdin
        assert server.stderr
        if transport == "http":
            url = server.stderr.readline().split()[-1]
            threading.Thread(
                target=post_though_the_server_may_end, args=(url, remember("Ann sings."))
            ).start()
        else:
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
    with process(tmp_path, "--db", "a.db", "--http", "--port", "0") as server:
        assert server.stderr
        url = server.stderr.readline().split()[-1]
        writing = threading.Thread(
            target=post_though_the_server_may_end, args=(url, remember(text))
        )
        writing.start()
        writing.join(0.5)
        server.send_signal(signal.SIGINT)
        assert server.wait(120) == -signal.SIGINT
        writing.join(60)
    with RecallM(tmp_path / "a.db") as memory:
        assert memory.stats().statements in (0, 3000)


def post_though_the_server_may_end(url: str, request: dict[str, Any]) -> None:
    try:
        httpx.post(url, json=request, headers=ACCEPTED, timeout=120)
    except httpx.HTTPError:
        return  # the server ended first
