"""What the protocol adds to a recall: the same questions in process and through ``recallm mcp``.

    python -m benchmarks.mcp_server [--known 10000] [--questions 200] [--json OUT]

Two servers, over standard input and output and over HTTP, have the file open that this process
reads. Each question goes to all three in turn. The client is that of the official SDK; a round trip
includes the client's own work.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from itertools import islice
from pathlib import Path
from typing import Any

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from benchmarks.report import percentile, report
from benchmarks.statements import Talk
from recallm import RecallM

SERVER = ["-c", "from recallm.cli import main; main()", "mcp", "--db"]


async def measure(db: Path, memory: RecallM, questions: list[str]) -> list[dict[str, Any]]:
    """A row for each way to ask."""
    http = subprocess.Popen(
        [sys.executable, *SERVER, str(db), "--http", "--port", "0"],
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    assert http.stderr is not None
    url = http.stderr.readline().split()[-1]
    stdio = StdioServerParameters(
        command=sys.executable, args=[*SERVER, str(db)], env=dict(os.environ)
    )
    try:
        async with (
            stdio_client(stdio) as streams,
            ClientSession(*streams) as over_stdio,
            streamable_http_client(url) as (received, sent, _),
            ClientSession(received, sent) as over_http,
        ):
            await over_stdio.initialize()
            await over_http.initialize()

            async def in_process(question: str) -> None:
                memory.recall(question, limit=10, asker="Human")

            async def through_stdio(question: str) -> None:
                await over_stdio.call_tool("recall", {"query": question})

            async def through_http(question: str) -> None:
                await over_http.call_tool("recall", {"query": question})

            return await compare(
                {
                    "in process": in_process,
                    "MCP, standard input and output": through_stdio,
                    "MCP, HTTP": through_http,
                },
                questions,
            )
    finally:
        http.terminate()
        http.communicate()


async def compare(
    ways: dict[str, Callable[[str], Awaitable[None]]], questions: list[str]
) -> list[dict[str, Any]]:
    """The times of each way; the first twentieth of the questions warms up."""
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for question in questions:
        for name, ask in ways.items():
            began = time.perf_counter()
            await ask(question)
            taken[name].append((time.perf_counter() - began) * 1000)
    kept = {name: times[len(times) // 20 :] for name, times in taken.items()}
    direct = statistics.median(kept["in process"])
    return [
        {
            "recall": name,
            "p50 ms": statistics.median(times),
            "p95": percentile(times, 0.95),
            "added p50": statistics.median(times) - direct,
        }
        for name, times in kept.items()
    ]


def main() -> None:
    """Read the arguments, measure, report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--known", type=int, default=10_000)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--json", type=Path, metavar="OUT")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        db = Path(folder) / "memory.db"
        with RecallM(db) as memory:
            memory.update_many(islice(Talk().statements(), given.known))
            rows = asyncio.run(measure(db, memory, Talk(seed=1).questions(given.questions)))
    report(f"recall of {given.known:,} statements", rows, given.json)


if __name__ == "__main__":
    main()
