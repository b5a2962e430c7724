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
    taken = milliseconds(lambda text: agent.invoke({"messages": [("human", text)]}), questions)
    return {"turn p50 ms": statistics.median(taken), "turn p95": percentile(taken, 0.95)}


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
    asked = talk.questions(count)
    first, last = range(count), range(known - count, known)

    def user(n: int) -> tuple[str, str]:
        return "users", f"{n % 100}"

    times = {
        "put": milliseconds(
            lambda n: store.put(user(n), f"{n}", {"text": f"{texts[n]} Again."}), first
        ),
        "get": milliseconds(lambda n: store.get(user(n), f"{n}"), first),
        "search by filter": milliseconds(
            lambda n: store.search(user(n), filter={"n": n % 10}), first
        ),
        "filter over all": milliseconds(
            lambda n: store.search((), filter={"text": texts[n]}), last
        ),
    }
    if query:
        times["search by query"] = milliseconds(
            lambda text: store.search(("users",), query=text), asked
        )
    return {f"{name} p50 ms": statistics.median(spent) for name, spent in times.items()}


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
