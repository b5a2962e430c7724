"""Servers for tests: in the test's own process, and as processes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.memory import create_connected_server_and_client_session
from mcp.types import CallToolResult, TextContent

from recallm import RecallM
from recallm.mcp_server import create_server

COMMAND = [sys.executable, "-c", "from recallm.cli import main; main()", "mcp"]


def environment() -> dict[str, str]:
    """The environment of the tests without settings of recallm."""
    return {name: value for name, value in os.environ.items() if not name.startswith("RECALLM_")}


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


def process(folder: Path, *arguments: str, script: str = COMMAND[2]) -> subprocess.Popen[str]:
    """``recallm mcp`` with pipes; ``script`` is what the process runs."""
    return subprocess.Popen(
        [COMMAND[0], "-c", script, "mcp", *arguments],
        cwd=folder,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
