"""Servers for tests: in the test's own process, and as processes over both transports."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Literal

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.memory import create_connected_server_and_client_session
from mcp.types import CallToolResult, TextContent

from recallm import RecallM
from recallm.mcp_server import create_server

Transport = Literal["stdio", "http"]

COMMAND = [sys.executable, "-c", "from recallm.cli import main; main()", "mcp"]


def environment(**added: str) -> dict[str, str]:
    """The environment of the tests without settings of recallm, and with ``added``."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("RECALLM_")}
    return {**own, **added}


def text_of(result: CallToolResult) -> str:
    """The one text of a tool's result."""
    [content] = result.content
    assert isinstance(content, TextContent)
    return content.text


@asynccontextmanager
async def connected(memory: RecallM, **options: Any) -> AsyncIterator[ClientSession]:
    """A client of a server over ``memory``, both in this process."""
    async with create_connected_server_and_client_session(
        create_server(memory, **options)
    ) as session:
        yield session


@asynccontextmanager
async def stdio_session(
    folder: Path, *arguments: str, log: Any = None
) -> AsyncIterator[ClientSession]:
    """A client of a process that it starts, over standard input and output."""
    server = StdioServerParameters(
        command=COMMAND[0], args=[*COMMAND[1:], *arguments], env=environment(), cwd=folder
    )
    with (folder / "stderr.txt").open("w") as own_log:
        async with (
            stdio_client(server, log or own_log) as streams,
            ClientSession(*streams) as session,
        ):
            await session.initialize()
            yield session


def process(
    folder: Path, *arguments: str, script: str = COMMAND[2], **variables: str
) -> subprocess.Popen[str]:
    """``recallm mcp`` with pipes; ``script`` is what the process runs."""
    return subprocess.Popen(
        [COMMAND[0], "-c", script, "mcp", *arguments],
        cwd=folder,
        env=environment(**variables),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


@contextmanager
def http_server(folder: Path, *arguments: str, **variables: str) -> Iterator[str]:
    """A server on a free port; its address."""
    with process(folder, "--http", "--port", "0", *arguments, **variables) as server:
        assert server.stderr
        try:
            line = server.stderr.readline()
            assert line.startswith("recallm: serving http://"), line + server.stderr.read()
            yield line.split()[-1]
        finally:
            server.terminate()
            server.communicate(timeout=60)


@asynccontextmanager
async def http_session(url: str, token: str | None = None) -> AsyncIterator[ClientSession]:
    """A client of the server at an address."""
    headers = None if token is None else {"Authorization": f"Bearer {token}"}
    async with (
        create_mcp_http_client(headers) as client,
        streamable_http_client(url, http_client=client) as (received, sent, _),
        ClientSession(received, sent) as session,
    ):
        await session.initialize()
        yield session
