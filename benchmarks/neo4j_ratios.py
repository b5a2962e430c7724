"""Neo4j beside SQLite: the same memory in both, the same calls in turns, the ratio of their times.

    python -m benchmarks.neo4j_ratios --statements 60000

The server is started for this, on this machine, with 2 GB of heap and 1 GB of page cache; nothing
delays its replies, but in the row of 10 ms, which has a slow network between. What warms up does
not count, for a Java server compiles what it runs often: the first half of the calls, as many
recalls and 3,000 updates before them, and a bulk and a load of 12,000 statements of another
namespace. The ratio of that first bulk is printed too. Bytes are those of the files without the
logs of transactions, after the bulk. The embedding sums a random vector for each word: the search
of vectors is measured, not a model.
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.latency import embedding
from benchmarks.report import report
from benchmarks.statements import Talk
from recallm import RecallM
from tests.neo4j.proxy import Proxy
from tests.neo4j.server import Neo4jServer

Input = TypeVar("Input")

_BATCH = 1_000
_WARM_UP = 12_000
"""Statements of a namespace that warms up."""
_WARM_UP_UPDATES = 3_000


def seconds(call: Callable[[], object]) -> float:
    """How long the call takes."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def row(name: str, base: float, other: float) -> dict[str, Any]:
    """A row of the table, of seconds."""
    return {
        "what": name,
        "base ms": round(1000 * base, 1),
        "ms": round(1000 * other, 1),
        "ratio": round(other / base, 2),
    }


def in_turns(
    name: str,
    base: Callable[[Input], object],
    other: Callable[[Input], object],
    inputs: Iterable[Input],
) -> dict[str, Any]:
    """The row of the medians of two functions that get the same inputs in turns; the first half
    warms up."""
    pairs = [(seconds(lambda: base(given)), seconds(lambda: other(given))) for given in inputs]  # noqa: B023
    counted = pairs[len(pairs) // 2 :]
    return row(name, *(statistics.median(column) for column in zip(*counted, strict=True)))


def filled(memory: RecallM, statements: int, *, seed: int = 0) -> float:
    """Write so many statements in bulk; the seconds."""
    texts = list(islice(Talk(seed=seed).statements(), statements))
    return seconds(lambda: memory.update_many(texts, batch_size=_BATCH))


def bytes_of(neo4j: Neo4jServer) -> int:
    """What the database takes on disk; the server is stopped for this, and started again."""
    neo4j.stop()
    files = (neo4j.home / "data" / "databases" / "neo4j").rglob("*")
    size = sum(each.stat().st_size for each in files if each.is_file())
    neo4j.start()
    return size


def of_bulk(file: str, server: dict[str, Any], neo4j: Neo4jServer, options: Any) -> list[Any]:
    """The rows of writing the statements."""
    with RecallM(**server):  # creates indexes
        pass
    empty = bytes_of(neo4j)
    with RecallM(file) as near, RecallM(**server) as far:
        first = [filled(memory.in_namespace("warm-up"), _WARM_UP, seed=5) for memory in (near, far)]
        print(f"the first bulk of a server: {first[1] / first[0]:.2f} times")
        rows = [row("bulk", *(filled(memory, options.statements) for memory in (near, far)))]
    written = options.statements + _WARM_UP
    local_bytes, remote_bytes = Path(file).stat().st_size, bytes_of(neo4j) - empty
    print(
        f"bytes a statement: {local_bytes / written:.0f} and {remote_bytes / written:.0f}, "
        f"{remote_bytes / local_bytes:.2f} times"
    )
    return rows


def of_opening(server: dict[str, Any], neo4j: Neo4jServer, questions: list[str]) -> None:
    """Print what a new memory on a warm server waits for, and recalls over a slow network."""
    opened, first = [], []
    for question in questions[:21]:
        began = time.perf_counter()
        with RecallM(**server) as memory:
            opened.append(time.perf_counter() - began)
            first.append(seconds(lambda: memory.recall(question)))  # noqa: B023
    print(
        f"opened in {1000 * statistics.median(opened):.0f} ms, "
        f"first recall {1000 * statistics.median(first):.0f} ms"
    )
    with Proxy(("127.0.0.1", neo4j.port)) as proxy:
        with RecallM(proxy.uri, auth=neo4j.auth) as memory:
            memory.recall(questions[0])
            proxy.delay = 0.01
            slow = [seconds(lambda: memory.recall(each)) for each in questions]  # noqa: B023
    print(f"recall at 10 ms a round trip: {1000 * statistics.median(slow):.0f} ms")


def of_words(file: str, server: dict[str, Any], folder: Path, options: Any) -> list[Any]:
    """The rows of memories without embeddings, which hold the statements."""
    questions, rows = Talk(seed=1).questions(options.questions), []
    with RecallM(file) as near, RecallM(**server) as far:
        texts = islice(Talk(seed=2).statements(), options.questions)
        for question in Talk(seed=7).questions(options.questions):
            far.recall(question)
        rows.append(in_turns("recall", near.recall, far.recall, questions))
        began = time.process_time()
        for question in questions:
            far.recall(question)
        spent = 1000 * (time.process_time() - began) / len(questions)
        is_fast = importlib.util.find_spec("neo4j._rust") is not None
        print(f"the client's CPU a recall: {spent:.1f} ms (neo4j-rust-ext: {is_fast})")
        for text in islice(Talk(seed=6).statements(), _WARM_UP_UPDATES):
            far.in_namespace("warm-up").update(text)
        rows.append(in_turns("update", near.update, far.update, texts))
        near.in_namespace("warm-up").export(folder / "warm-up.jsonl")
        near.export(folder / "archive.jsonl")
        for archive in (folder / "warm-up.jsonl", folder / "archive.jsonl"):
            loads = []
            for memory in (near, far):
                loaded = memory.in_namespace(f"loaded {archive.stem}")
                loads.append(seconds(lambda: loaded.load(archive)))  # noqa: B023
                loaded.forget(everything=True)
        rows.append(row("load", *loads))
        t_index = far.stats().t_index
        rows += [
            in_turns(
                f"as_of {share:.0%} of all t, beside a recall of Neo4j",
                far.recall,
                partial(far.recall, as_of=int(share * t_index)),
                questions,
            )
            for share in (0.1, 0.5, 0.9)
        ]
        plain = statistics.median(seconds(lambda: far.recall(question)) for question in questions)  # noqa: B023
        far.update("Zoe left.", expires_at=datetime.now(UTC) + timedelta(seconds=1))
        time.sleep(1)
        hidden = statistics.median(seconds(lambda: far.recall(question)) for question in questions)  # noqa: B023
        rows.append(row("one expired passage, beside a recall of Neo4j", plain, hidden))
        far.forget(expired=True)
    return rows


def of_vectors(file: str, server: dict[str, Any], options: Any) -> list[Any]:
    """The rows of memories with embeddings."""
    model, rows = embedding(), []
    questions = Talk(seed=1).questions(options.questions)
    first = questions[0]
    with RecallM(file, embeddings=model) as near, RecallM(**server, embeddings=model) as far:
        rows.append(row("embed", seconds(near.embed), seconds(far.embed)))
        times = [seconds(lambda: memory.recall(first)) for memory in (near, far)]  # noqa: B023
        rows.append(row("first recall with vectors", *times))
        rows.append(in_turns("recall with vectors", near.recall, far.recall, questions))
    return rows


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--statements", type=int, default=60_000)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="recallm-bench-") as name,
        Neo4jServer(for_benchmarks=True) as neo4j,
    ):
        folder = Path(name)
        file = str(folder / "recallm.db")
        server = {"store": neo4j.bolt_uri, "auth": neo4j.auth}
        rows = of_bulk(file, server, neo4j, options)
        rows += of_words(file, server, folder, options)
        of_opening(server, neo4j, Talk(seed=3).questions(options.questions))
        rows += of_vectors(file, server, options)
    title = f"Neo4j beside SQLite among {options.statements:,} statements (medians)"
    report(title, rows, options.json)


if __name__ == "__main__":
    main()
