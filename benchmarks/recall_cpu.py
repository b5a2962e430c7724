"""The CPU time that the client spends on one recall from a Neo4j server.

    python -m benchmarks.recall_cpu [STATEMENTS]

starts a server of its own, writes that many statements (5,000) of one session, and recalls 100
times, in three rounds. Run it with and without ``neo4j-rust-ext``.
"""

from __future__ import annotations

import importlib.util
import statistics
import sys
import time

from recallm import RecallM
from tests.neo4j.server import Neo4jServer

NAMES = ("Ann", "Bob", "Carl", "Dora", "Emil", "Fay", "Gus", "Hana")
THINGS = ("tea", "chess", "Lisbon", "Porto", "violins", "bicycles", "maps")


def main() -> None:
    """Print the median of the rounds, in milliseconds of CPU a recall."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    with (
        Neo4jServer() as server,
        RecallM(server.uri, auth=server.auth, namespace="cpu") as memory,
    ):
        memory.update_many(
            {
                "text": f"{NAMES[n % 8]} talked about {THINGS[n % 7]} number {n}.",
                "session": "one",
            }
            for n in range(count)
        )
        rounds = []
        for each in range(4):
            began = time.process_time()
            for n in range(100):
                memory.recall(f"What did {NAMES[n % 8]} say about {THINGS[n % 7]}?")
            if each:  # the first one plans the queries
                rounds.append((time.process_time() - began) * 10)
    with_rust = importlib.util.find_spec("neo4j._rust") is not None
    shown = ", ".join(f"{spent:.1f}" for spent in rounds)
    middle = statistics.median(rounds)
    print(f"neo4j-rust-ext: {with_rust}; CPU a recall: {middle:.1f} ms ({shown})")


if __name__ == "__main__":
    main()
