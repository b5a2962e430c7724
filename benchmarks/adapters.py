"""What a memory costs a turn in LangChain and in LlamaIndex, and a LangGraph store on SQLite.

    python -m benchmarks.adapters [--known 10000] [--turns 100] [--json OUT]

A turn is one of an agent, or of a LlamaIndex ``Memory``, whose model answers at once, so that all
of it is overhead: one recall and two durable writes, with ``--known`` statements remembered in an
SQLite file, and without a memory. The LangGraph stores hold ``--known`` items of a short text each;
LangGraph's own SQLite store has no query without an embedding model, and keeps no index of words.
Needs ``langgraph-checkpoint-sqlite``.
"""

from __future__ import annotations

import argparse
import sqlite3
import statistics
import tempfile
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import FakeListChatModel
from langgraph.store.base import BaseStore, PutOp
from langgraph.store.sqlite import SqliteStore
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import Memory

from benchmarks.latency import milliseconds
from benchmarks.report import percentile, report
from benchmarks.statements import Talk
from langchain_recallm import RecallMMiddleware, RecallMStore
from llama_index_recallm import RecallMMemoryBlock
from recallm import RecallM


def agent_turn(memory: RecallM | None) -> Callable[[str], object]:
    """A turn of a LangChain agent."""
    agent: Any = create_agent(
        FakeListChatModel(responses=["Noted."]),
        middleware=[] if memory is None else [RecallMMiddleware(memory=memory)],
    )
    return lambda text: agent.invoke({"messages": [("human", text)]})


def memory_turn(memory: RecallM | None) -> Callable[[str], object]:
    """A turn of a LlamaIndex ``Memory``."""
    blocks = [] if memory is None else [RecallMMemoryBlock(memory=memory)]
    talk = Memory.from_defaults(memory_blocks=[*blocks])

    def turn(text: str) -> None:
        talk.put(ChatMessage(role="user", content=text))
        talk.get(input=text)
        talk.put(ChatMessage(role="assistant", content="Noted."))

    return turn


def turns(folder: Path, known: int, questions: list[str]) -> list[dict[str, Any]]:
    """The rows of turns."""
    rows = []
    for number, (kind, turn) in enumerate(
        (("LangChain agent", agent_turn), ("LlamaIndex Memory", memory_turn))
    ):
        with RecallM(folder / f"turns{number}.db") as memory:
            memory.update_many(islice(Talk().statements(), known))
            for what, given in (("no memory", None), (f"{known:,} known", memory)):
                taken = milliseconds(turn(given), questions)
                p50, p95 = statistics.median(taken), percentile(taken, 0.95)
                rows.append({"turn": f"{kind}, {what}", "p50 ms": p50, "p95": p95})
    return rows


def calls(store: BaseStore, known: int, count: int, *, query: bool) -> dict[str, Any]:
    """Milliseconds of a put, a get and a search in a store of ``known`` items."""
    talk = Talk(seed=2)
    texts = list(islice(talk.statements(), known))
    for begin in range(0, known, 500):
        store.batch(
            [
                PutOp(("users", f"{n % 100}"), f"{n}", {"text": texts[n], "n": n % 10})
                for n in range(begin, min(begin + 500, known))
            ]
        )

    def user(n: int) -> tuple[str, str]:
        return "users", f"{n % 100}"

    def put(n: int) -> None:
        store.put(user(n), f"{n}", {"text": f"{texts[n]} Again."})

    first, last = range(count), range(known - count, known)
    times = {
        "put": milliseconds(put, first),
        "get": milliseconds(lambda n: store.get(user(n), f"{n}"), first),
        "filter": milliseconds(lambda n: store.search((), filter={"text": texts[n]}), last),
    }
    if query:
        asked = talk.questions(count)
        times["query"] = milliseconds(lambda text: store.search(("users",), query=text), asked)
    return {f"{name} p50 ms": statistics.median(spent) for name, spent in times.items()}


def main() -> None:
    """Measure both, report both."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--known", type=int, default=10_000)
    parser.add_argument("--turns", type=int, default=100)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="recallm-bench-") as name:
        folder = Path(name)
        rows = turns(folder, options.known, Talk(seed=1).questions(options.turns))
        report("A turn whose model answers at once", rows, None)
        with RecallM(folder / "store.db") as memory:
            store = RecallMStore(memory=memory)
            ours = calls(store, options.known, options.turns, query=True)
        connection = sqlite3.connect(
            folder / "peer.db", check_same_thread=False, isolation_level=None
        )
        peer = SqliteStore(connection)
        peer.setup()
        theirs = calls(peer, options.known, options.turns, query=False)
        connection.close()
    stores = [{"store": "RecallMStore", **ours}, {"store": "LangGraph's SqliteStore", **theirs}]
    report(f"A LangGraph store of {options.known:,} items on SQLite", stores, options.json)


if __name__ == "__main__":
    main()
