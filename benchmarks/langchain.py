"""What a memory costs a LangChain agent's turn, and RecallMStore beside LangGraph's own stores.

    python -m benchmarks.langchain [--known 10000] [--turns 100] [--json OUT]

A turn is ``agent.invoke`` with a model that answers at once, so that all of it is overhead: without
a memory, with ``RecallMMiddleware`` over an SQLite file (one recall, two durable writes), and with
that of ``--known`` statements remembered. The stores hold ``--known`` items of a short text each;
LangGraph's SQLite store has no query without an embedding model, and keeps no index of words.
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

from benchmarks.latency import milliseconds
from benchmarks.report import percentile, report
from benchmarks.statements import Talk
from langchain_recallm import RecallMMiddleware, RecallMStore
from recallm import RecallM


def turns(memory: RecallM | None, questions: list[str]) -> dict[str, Any]:
    """Milliseconds of a turn for each question."""
    agent: Any = create_agent(
        FakeListChatModel(responses=["Noted."]),
        middleware=[] if memory is None else [RecallMMiddleware(memory=memory)],
    )
    taken = milliseconds(
        [lambda text=text: agent.invoke({"messages": [("human", text)]}) for text in questions]  # type: ignore[misc]
    )
    return {"turn p50 ms": statistics.median(taken), "turn p95": percentile(taken, 0.95)}


def calls(store: BaseStore, known: int, count: int, *, query: bool) -> dict[str, Any]:
    """Milliseconds of a put, a get and a search in a store of ``known`` items."""
    talk = Talk(seed=2)
    texts = list(islice(talk.statements(), known))
    for first in range(0, known, 500):
        store.batch(
            [
                PutOp(("users", f"{n % 100}"), f"{n}", {"text": texts[n], "n": n % 10})
                for n in range(first, min(first + 500, known))
            ]
        )
    asked = talk.questions(count)
    works: dict[str, list[Callable[[], object]]] = {
        "put": [
            lambda n=n: store.put(("users", f"{n % 100}"), f"{n}", {"text": f"{texts[n]} Again."})  # type: ignore[misc]
            for n in range(count)
        ],
        "get": [lambda n=n: store.get(("users", f"{n % 100}"), f"{n}") for n in range(count)],  # type: ignore[misc]
        "search by filter": [
            lambda n=n: store.search(("users", f"{n % 100}"), filter={"n": n % 10})  # type: ignore[misc]
            for n in range(count)
        ],
    }
    works["filter over all"] = [
        lambda n=n: store.search((), filter={"text": texts[n]})  # type: ignore[misc]
        for n in range(known - count, known)
    ]
    if query:
        works["search by query"] = [
            lambda text=text: store.search(("users",), query=text)  # type: ignore[misc]
            for text in asked
        ]
    return {f"{name} p50 ms": statistics.median(milliseconds(work)) for name, work in works.items()}


def main() -> None:
    """Measure both, report both."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--known", type=int, default=10_000)
    parser.add_argument("--turns", type=int, default=100)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    questions = Talk(seed=1).questions(options.turns)
    with tempfile.TemporaryDirectory(prefix="recallm-bench-") as folder:
        rows = [{"agent": "no memory", **turns(None, questions)}]
        with RecallM(Path(folder) / "turns.db") as memory:
            rows.append({"agent": "RecallMMiddleware, empty file", **turns(memory, questions)})
            memory.update_many(islice(Talk().statements(), options.known))
            rows.append(
                {"agent": f"RecallMMiddleware, {options.known:,} known", **turns(memory, questions)}
            )
        report("One turn of an agent whose model answers at once", rows, None)
        with RecallM(Path(folder) / "store.db") as memory:
            store = RecallMStore(memory=memory)
            ours = calls(store, options.known, options.turns, query=True)
        connection = sqlite3.connect(
            Path(folder) / "peer.db", check_same_thread=False, isolation_level=None
        )
        peer = SqliteStore(connection)
        peer.setup()
        theirs = calls(peer, options.known, options.turns, query=False)
        connection.close()
    stores = [{"store": "RecallMStore", **ours}, {"store": "LangGraph's SqliteStore", **theirs}]
    report(f"A LangGraph store of {options.known:,} items on SQLite", stores, options.json)


if __name__ == "__main__":
    main()
