"""docs/mcp.md tells of the tools and the options that there are."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import typer

from recallm import RecallM
from recallm.cli import app
from tests.mcp_server.servers import connected

PAGE = (Path(__file__).parents[2] / "docs" / "mcp.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^ *```{language}\n(.*?)^ *```$", PAGE, re.MULTILINE | re.DOTALL)


def configurations() -> list[dict[str, Any]]:
    """The servers of all clients."""
    files = [json.loads(block) for block in blocks("json")]
    return [
        server for file in files for server in file.get("mcpServers", file.get("servers")).values()
    ]


def test_all_commands_and_configurations_are_understood() -> None:
    lines = [
        shlex.split(line)[1:]
        for block in blocks("sh")
        for line in block.splitlines()
        if line.strip().startswith("recallm ")
    ]
    lines += [server["args"] for server in configurations() if "command" in server]
    assert len(lines) == 5
    command: Any = typer.main.get_command(app)
    mcp = command.commands["mcp"]
    files_that_exist = {"--token-file": __file__}
    for name, *arguments in lines:
        assert name == "mcp"
        for option, path in files_that_exist.items():
            if option in arguments:
                arguments[arguments.index(option) + 1] = path
        mcp.make_context("mcp", arguments)


def test_servers_over_http_are_where_the_command_serves() -> None:
    over_http = [server for server in configurations() if "url" in server]
    assert len(over_http) == 2
    for server in over_http:
        assert server["url"] == "http://127.0.0.1:8765/mcp"
        assert server["headers"]["Authorization"].startswith("Bearer ${")


async def test_the_table_has_every_tool_its_arguments_and_says_what_writes() -> None:
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \| (yes)? ?\|$", PAGE, re.MULTILINE)
    with RecallM() as memory:
        async with connected(memory, allow_forget=True) as session:
            tools = (await session.list_tools()).tools
    writers = {
        tool.name: not (tool.annotations and tool.annotations.readOnlyHint) for tool in tools
    }
    assert {name: bool(writes) for name, _, writes in rows} == writers

    for tool, (name, arguments, _) in zip(tools, rows, strict=True):
        listed = [
            (bool(bold), argument, json.loads(default or "null"))
            for bold, argument, default in re.findall(
                r'(\*\*)?`(\w+)`(?:\*\*)?(?: = ("?\w+"?))?', arguments
            )
        ]
        schema = tool.inputSchema
        assert (name, listed) == (
            tool.name,
            [
                (argument in schema.get("required", ()), argument, it.get("default"))
                for argument, it in schema["properties"].items()
            ],
        )
