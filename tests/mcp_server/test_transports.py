"""The command ``recallm mcp`` as a process: both transports, who may connect, how it ends."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import McpError
from mcp.types import TextContent, TextResourceContents
from pydantic import AnyUrl
from typer.testing import CliRunner

from recallm import InvalidInputError, RecallM
from recallm.adapting import FactTools
from recallm.cli import app
from recallm.mcp_server import check_exposure
from tests.mcp_server.servers import (
    COMMAND,
    Transport,
    environment,
    http_server,
    http_session,
    process,
    session_over,
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

ACCEPTED = {"Accept": "application/json, text/event-stream"}

MALFORMED: list[Any] = [
    "no request of MCP, but PIN 4711",
    {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"arguments": "PIN 4711"}},
    {"jsonrpc": "2.0", "id": 7, "method": "PIN 4711"},
    {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"PIN 4711": 1}},
    {"jsonrpc": "2.0", "id": "PIN 4711", "result": {}},
]
"""Messages that hold what stands in no log."""

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals and pipes")


@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_everything_works_over(transport: Transport, tmp_path: Path) -> None:
    async with session_over(
        transport, tmp_path, "--db", "new.db", "--namespace", "ann", "--allow-forget"
    ) as session:
        tools = {tool.name for tool in (await session.list_tools()).tools}
        assert tools == {
            "remember", "recall", "fetch_thoughts", "history", "forget", *FactTools.NAMES,
        }  # fmt: skip
        await session.call_tool("remember", {"text": "Ann lives in Zürich. 🙂", "speaker": "user"})
        found = await session.call_tool("recall", {"query": "Where does Ann live?"})
        assert "Ann lives in Zürich." in text_of(found)
        assert found.structuredContent is not None
        history = await session.call_tool("history", {"concept": "Ann"})
        assert "Zürich" in text_of(history)
        fact = {"subject": "Ann", "relation": "works for", "object": "BMW"}
        assert text_of(await session.call_tool("write_fact", fact)) == "Written."
        read = await session.call_tool("read_facts", {"subject": "Ann"})
        assert "Ann — works for → BMW" in text_of(read)
        refused = await session.call_tool("recall", {"query": ""})
        assert refused.isError
        [stats] = (await session.read_resource(AnyUrl("recallm://stats"))).contents
        assert isinstance(stats, TextResourceContents)
        assert json.loads(stats.text)["t_index"] == 2
        [concept] = (await session.read_resource(AnyUrl("recallm://concept/Ann"))).contents
        assert isinstance(concept, TextResourceContents)
        assert "Zürich" in concept.text
        thoughts = await session.call_tool("fetch_thoughts", {"question": "Where is Ann?"})
        assert "Zürich" in text_of(thoughts)
        prompt = await session.get_prompt("answer_from_memory", {"question": "Where is Ann?"})
        assert isinstance(prompt.messages[0].content, TextContent)
        assert prompt.messages[0].content.text == text_of(thoughts)
        forgotten = await session.call_tool("forget", {"about": "BMW"})
        assert text_of(forgotten) == "Forgot 1 fact that mentions 'BMW'."
    with RecallM(tmp_path / "new.db", namespace="ann") as memory:
        assert memory.passages()[0].text == "Ann lives in Zürich. 🙂"
        assert memory.stats().triplets == 0


@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_a_server_keeps_to_its_namespace_over(transport: Transport, tmp_path: Path) -> None:
    with RecallM(tmp_path / "shared.db", namespace="bob") as memory:
        memory.update("The safe's code is 4711.", id="secret")
    async with session_over(
        transport, tmp_path, "--db", "shared.db", "--namespace", "ann"
    ) as session:
        asked: dict[str, Any] = {"query": "What is the code of the safe?"}
        assert "4711" not in text_of(await session.call_tool("recall", asked))
        refused = await session.call_tool("recall", {**asked, "namespace": "bob"})
        assert refused.isError
        with pytest.raises(McpError, match="there is no tool 'forget'"):
            await session.call_tool("forget", {"id": "secret#0"})


# -- standard input and output -----------------------------------------------------------------


def exchange(server: subprocess.Popen[str], request: dict[str, Any]) -> dict[str, Any]:
    assert server.stdin
    assert server.stdout
    server.stdin.write(json.dumps(request) + "\n")
    server.stdin.flush()
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
    call = {"name": "remember", "arguments": {"text": "Ann sings."}}
    requests: list[Any] = [
        INITIALIZE,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        *MALFORMED,
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
    ]
    with subprocess.Popen(
        [sys.executable, "-c", script, "mcp", "--db", "a.db"],
        cwd=tmp_path,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as server:
        assert server.stdin
        assert server.stdout
        assert server.stderr
        for request in requests:
            server.stdin.write(json.dumps(request) + "\n")
        server.stdin.flush()
        messages: list[dict[str, Any]] = []
        while not any(message.get("id") == 2 for message in messages):
            messages.append(json.loads(server.stdout.readline()))
        server.stdin.close()
        rest, log = server.stdout.read(), server.stderr.read()
    assert all(message["jsonrpc"] == "2.0" for message in messages)
    assert messages[-1]["result"]["isError"] is False
    assert rest == ""
    assert "from Python" in log
    assert "from below" in log
    assert log.count("a client's message failed in the MCP SDK") >= len(MALFORMED)
    assert "PIN" not in log


def test_the_server_ends_when_standard_input_closes(tmp_path: Path) -> None:
    with process(tmp_path, "--db", "a.db") as server:
        assert exchange(server, INITIALIZE)["result"]["serverInfo"]["name"] == "recallm"
        output, log = server.communicate(timeout=60)
        assert (server.returncode, output, log) == (0, "", "")


def test_a_server_without_a_client_ends_at_once(tmp_path: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "--db", "a.db"],
        cwd=tmp_path,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@posix
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_server_though_standard_input_is_open(
    number: int, tmp_path: Path
) -> None:
    with process(tmp_path, "--db", "a.db") as server:
        exchange(server, INITIALIZE)
        server.send_signal(number)
        assert server.wait(60) == 130
        assert server.stdin
        assert server.stderr
        assert server.stderr.read() == ""
    with RecallM(tmp_path / "a.db") as memory:
        assert memory.stats().t_index == 0


@posix
def test_a_signal_ends_a_background_job(tmp_path: Path) -> None:
    """A shell starts background jobs with interrupts ignored; so does ``nohup … &``."""
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        server = process(tmp_path, "--db", "a.db")
    finally:
        signal.signal(signal.SIGINT, handler)
    with server:
        exchange(server, INITIALIZE)
        server.send_signal(signal.SIGTERM)
        assert server.wait(60) == 130


@posix
def test_the_server_ends_when_its_client_reads_no_more(tmp_path: Path) -> None:
    with process(tmp_path, "--db", "a.db") as server:
        exchange(server, INITIALIZE)
        assert server.stdin
        assert server.stdout
        assert server.stderr
        server.stdout.close()
        server.stdin.write('{"jsonrpc": "2.0", "id": 2, "method": "ping"}\n')
        server.stdin.flush()
        assert server.wait(60) == 0
        assert server.stderr.read() == ""


def test_a_write_is_whole_though_the_client_leaves(tmp_path: Path) -> None:
    text = " ".join(f"Ann saw the film {count}." for count in range(1000))
    call = {"name": "remember", "arguments": {"text": text}}
    requests: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
    ]
    with process(tmp_path, "--db", "a.db") as server:
        exchange(server, INITIALIZE)
        server.communicate("".join(f"{json.dumps(it)}\n" for it in requests), timeout=120)
        assert server.returncode == 0
    with RecallM(tmp_path / "a.db") as memory:
        assert memory.stats().statements in (0, 1000)


def test_no_password_is_read_from_the_clients_messages(tmp_path: Path) -> None:
    with process(tmp_path, "--db", "neo4j://localhost:1") as server:
        output, log = server.communicate(json.dumps(INITIALIZE), timeout=60)
    assert (server.returncode, output) == (1, "")
    assert "--password-file" in log
    assert len(log.splitlines()) == 1


# -- HTTP --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with a token."""
    folder = tmp_path_factory.mktemp("guarded")
    (folder / "token").touch(mode=0o600)
    (folder / "token").write_text(f"{TOKEN}\n")
    with http_server(folder, "--db", "a.db", "--token-file", "token") as url:
        yield url


@pytest.fixture(scope="module")
def open_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server without a token."""
    with http_server(tmp_path_factory.mktemp("open"), "--db", "a.db") as url:
        yield url


def posted(url: str, **headers: str) -> httpx.Response:
    return httpx.post(url, json=INITIALIZE, headers={**ACCEPTED, **headers}, timeout=60)


async def test_the_token_opens_the_server(guarded: str) -> None:
    async with http_session(guarded, TOKEN) as session:
        assert not (await session.call_tool("remember", {"text": "Ann sings."})).isError


@pytest.mark.parametrize(
    "given",
    [
        None,
        "",
        TOKEN,
        f"Basic {TOKEN}",
        f"bearer{TOKEN}",
        f"Bearer {TOKEN[:-1]}",
        f"Bearer {TOKEN}x",
        "Bearer",
        "Bearer \u00e9",
    ],
)
def test_nothing_else_opens_it(guarded: str, given: str | None) -> None:
    headers: dict[str, Any] = {} if given is None else {"Authorization": given.encode("utf-8")}
    refused = posted(guarded, **headers)
    assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
    assert TOKEN not in refused.text
    for method in ("GET", "DELETE"):
        other = httpx.request(method, guarded.replace("/mcp", "/other"), headers=headers)
        assert other.status_code == 401


@pytest.mark.parametrize(
    ("headers", "status"),
    [
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
    ],
)
def test_a_web_page_of_another_host_reaches_no_server(
    open_server: str, headers: dict[str, str], status: int
) -> None:
    assert posted(open_server, **headers).status_code == status


def test_a_token_is_asked_for_on_this_machine_too_and_hosts_are_checked(guarded: str) -> None:
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    assert posted(guarded, **bearer).status_code == 200
    assert posted(guarded, Authorization=f"bearer {TOKEN}").status_code == 200
    assert posted(guarded, **bearer, Host="evil.example").status_code == 421


def test_the_token_stands_in_no_log(tmp_path: Path) -> None:
    with process(
        tmp_path, "--db", "a.db", "--http", "--port", "0", RECALLM_MCP_TOKEN=TOKEN
    ) as server:
        assert server.stderr
        url = server.stderr.readline().split()[-1]
        bearer = f"Bearer {TOKEN}"
        statuses = [
            posted(url, **headers).status_code
            for headers in (
                {"Authorization": bearer},
                {"Authorization": f"{bearer}x"},
                {"Authorization": bearer, "Host": "evil.example"},
                {"Authorization": bearer, "Content-Type": "text/plain"},
            )
        ]
        for malformed in MALFORMED:
            httpx.post(
                url, json=malformed, headers={**ACCEPTED, "Authorization": bearer}, timeout=60
            )
        server.terminate()
        _, log = server.communicate(timeout=60)
    assert statuses == [200, 401, 421, 400]
    assert log.count("a client's message failed") >= 2  # the last two are logged
    assert TOKEN not in log
    assert "PIN" not in log
    assert "evil" not in log


def test_requests_that_this_server_does_not_take(open_server: str) -> None:
    assert httpx.get(open_server).status_code == 405
    assert httpx.get(open_server.replace("/mcp", "/")).status_code == 404
    large = httpx.post(open_server, content=b"x" * (5 << 20), timeout=60)
    assert large.status_code == 413


@posix
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_server_over_http(number: int, tmp_path: Path) -> None:
    with process(tmp_path, "--db", "a.db", "--http", "--port", "0") as server:
        assert server.stderr
        url = server.stderr.readline().split()[-1]
        with httpx.Client() as client:  # keeps its connection
            client.post(url, json=INITIALIZE)
            server.send_signal(number)
            assert server.wait(60) == 130
        assert server.stderr.read() == ""


@posix
@pytest.mark.parametrize("transport", ["stdio", "http"])
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
    call = {"name": "remember", "arguments": {"text": "Ann sings."}}
    request = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}
    options = ["--http", "--port", "0"] if transport == "http" else []
    with subprocess.Popen(
        [sys.executable, "-c", script, "mcp", "--db", "a.db", *options],
        cwd=tmp_path,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as server:
        assert server.stdin
        assert server.stderr
        if transport == "http":
            url = server.stderr.readline().split()[-1]
            threading.Thread(target=post_though_the_server_may_end, args=(url, request)).start()
        else:
            exchange(server, INITIALIZE)
            for message in ({"jsonrpc": "2.0", "method": "notifications/initialized"}, request):
                server.stdin.write(json.dumps(message) + "\n")
            server.stdin.flush()
        assert server.stderr.readline() == "at work\n"
        server.send_signal(signal.SIGTERM)
        try:
            assert server.wait(60) == 130
        finally:
            server.kill()
        assert "a tool was still at work" in server.stderr.read()


@posix
def test_a_write_that_an_interruption_meets_is_whole(tmp_path: Path) -> None:
    text = " ".join(f"Ann saw the film {count}." for count in range(3000))
    with process(tmp_path, "--db", "a.db", "--http", "--port", "0") as server:
        assert server.stderr
        url = server.stderr.readline().split()[-1]
        call = {"name": "remember", "arguments": {"text": text}}
        request = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}
        writing = threading.Thread(target=post_though_the_server_may_end, args=(url, request))
        writing.start()
        writing.join(0.5)
        server.send_signal(signal.SIGINT)
        assert server.wait(120) == 130
        writing.join(60)
    with RecallM(tmp_path / "a.db") as memory:
        assert memory.stats().statements in (0, 3000)


def post_though_the_server_may_end(url: str, request: dict[str, Any]) -> None:
    try:
        httpx.post(
            url,
            json=request,
            headers=ACCEPTED,
            timeout=120,
        )
    except httpx.HTTPError:
        return  # the server ended first


# -- refusals ----------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("RECALLM_")]:
        monkeypatch.delenv(name)
    return tmp_path


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "192.0.2.1", "example.org", "localhost.evil", ""]
)
def test_a_server_open_to_other_machines_needs_a_token(folder: Path, host: str) -> None:
    done = CliRunner().invoke(app, ["mcp", "--http", "--host", host, "--db", "a.db"])
    assert done.exit_code == 1
    assert "open to other machines: give a token" in done.stderr
    assert not list(folder.iterdir())
    with pytest.raises(InvalidInputError, match="give a token") as refused:
        check_exposure(host, None)
    assert refused.value.argument == "host"


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
def test_a_server_on_this_machine_needs_none(host: str) -> None:
    check_exposure(host, None)


@pytest.mark.parametrize("token", ["", "short", "with space " * 3, "ü" * 32, "line\nbreak" * 4])
def test_a_token_that_is_guessed_or_cannot_be_sent_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, token: str
) -> None:
    (folder / "token").write_text(token, encoding="utf-8")
    in_file = CliRunner().invoke(app, ["mcp", "--http", "--token-file", "token"])
    monkeypatch.setenv("RECALLM_MCP_TOKEN", token)
    in_variable = CliRunner().invoke(app, ["mcp", "--http"])
    for done in (in_file, in_variable):
        assert done.exit_code == 1
        assert "the token must be at least 16" in done.stderr
        assert not token.strip() or token not in done.output


def test_token_files_that_cannot_be_used(folder: Path) -> None:
    (folder / "token").write_bytes(b"\xff" * 32)
    assert (
        "not text in UTF-8"
        in CliRunner().invoke(app, ["mcp", "--http", "--token-file", "token"]).stderr
    )
    assert CliRunner().invoke(app, ["mcp", "--http", "--token-file", "none"]).exit_code == 2


@pytest.mark.parametrize("option", ["--host=127.0.0.1", "--port=0", "--token-file=token"])
def test_options_of_http_go_with_it(folder: Path, option: str) -> None:
    (folder / "token").write_text(TOKEN)
    done = CliRunner().invoke(app, ["mcp", option])
    assert done.exit_code == 2
    assert "--http" in done.stderr
    assert [path.name for path in folder.iterdir()] == ["token"]


async def test_a_server_open_to_other_machines_starts_with_a_token(tmp_path: Path) -> None:
    with http_server(tmp_path, "--db", "a.db", "--host", "0.0.0.0", RECALLM_MCP_TOKEN=TOKEN) as url:
        local = url.replace("0.0.0.0", "127.0.0.1")
        assert posted(local).status_code == 401
        async with http_session(local, TOKEN) as session:
            await session.send_ping()


def test_a_port_that_is_taken(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = CliRunner().invoke(app, ["mcp", "--http", "--port", port, "--db", "a.db"])
    assert done.exit_code == 1
    assert "Address already in use" in done.stderr
    assert "choose another --port" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_the_extra_is_named_where_the_sdk_is_missing(tmp_path: Path) -> None:
    script = (
        "import sys\nsys.modules['mcp'] = None\nimport recallm, recallm.cli\nrecallm.cli.main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "mcp", "--db", "a.db"],
        cwd=tmp_path,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 1
    assert done.stderr == (
        "recallm: mcp is not installed; install it with: pip install 'recallm[mcp]'\n"
    )
    assert not list(tmp_path.iterdir())


def test_recallm_imports_no_server() -> None:
    script = (
        "import sys, recallm, recallm.cli\n"
        "sys.exit(bool({'mcp', 'starlette', 'uvicorn'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", script], env=environment()).returncode == 0
