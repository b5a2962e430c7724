"""How long one durable update and one recall take while a memory on SQLite grows.

    python -m benchmarks.latency [--relations 1000000] [--questions 400] [--json OUT]
    python -m benchmarks.latency --relations 100000 --vectors

Measured at 1,000 and 100,000 statements, and at 100,000 and 1,000,000 relations; every update is
one transaction on disk. Questions name people and places as often as the statements do; those
about hubs name the ones that are named most. Growing to 1,000,000 relations takes minutes:
``--relations 100000`` stops before. With ``--vectors`` each statement has a vector of 384 numbers,
made up of its words in no time: what a recall takes besides the question's own embedding. "first
recall" is what it takes to open them.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import psutil
from tqdm import tqdm

from benchmarks.report import percentile, report
from benchmarks.statements import Talk
from recallm import RecallM
from recallm.model import Stats
from recallm.vectors import Embedding

Input = TypeVar("Input")

_STEP = 5_000
_UPDATES = 200


def embedding() -> Embedding:
    """Each word has a vector of its own, a text their sum."""
    random = np.random.default_rng(1)
    words: defaultdict[str, Any] = defaultdict(lambda: random.normal(size=384))

    def embed(texts: list[str]) -> Any:
        return np.stack([sum(words[word] for word in text.split()) for text in texts])

    return Embedding(name="sum of words", embed=embed)


def milliseconds(call: Callable[[Input], object], inputs: Iterable[Input]) -> list[float]:
    """How long a call takes with each input; the first twentieth warms up and does not count."""
    taken = []
    for given in inputs:
        began = time.perf_counter()
        call(given)
        taken.append((time.perf_counter() - began) * 1000)
    return taken[len(taken) // 20 :]


def measure(memory: RecallM, questions: int) -> dict[str, Any]:
    """One row: the memory's size, updates and recalls."""
    talk = Talk(seed=1)
    first = milliseconds(memory.recall, ["Who is it?"])[0]
    size = memory.stats()
    of_all = milliseconds(memory.recall, talk.questions(questions))
    of_hubs = milliseconds(memory.recall, talk.hub_questions(questions // 2))
    updates = milliseconds(memory.update, islice(talk.statements(), _UPDATES))
    return {
        "statements": size.statements,
        "relations": size.relations,
        "update median ms": statistics.median(updates),
        "update p95": percentile(updates, 0.95),
        "recall p50": percentile(of_all, 0.5),
        "recall p95": percentile(of_all, 0.95),
        "hubs p50": percentile(of_hubs, 0.5),
        "hubs p95": percentile(of_hubs, 0.95),
        "first recall": first,
        "RSS MB": psutil.Process().memory_info().rss / 1e6,
    }


def main() -> None:
    """Grow a memory, measure on the way, report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--relations", type=int, default=1_000_000, help="where to stop")
    parser.add_argument("--questions", type=int, default=400)
    parser.add_argument("--db", type=Path, help="keep the file here, and go on with one that is")
    parser.add_argument("--vectors", action="store_true", help="each statement has one")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    marks: list[Callable[[Stats], bool]] = [
        lambda size: size.statements >= 1_000,
        lambda size: size.statements >= 100_000,
        lambda size: size.relations >= 100_000,
        lambda size: size.relations >= options.relations,
    ]
    rows = []
    with (
        tempfile.TemporaryDirectory(prefix="recallm-bench-") as folder,
        RecallM(
            options.db or Path(folder) / "recallm.db",
            embeddings=embedding() if options.vectors else None,
        ) as memory,
        tqdm(total=options.relations, unit=" relations") as bar,
    ):
        source = islice(Talk().statements(), memory.stats().statements, None)
        while marks:
            size = memory.stats()
            bar.update(size.relations - bar.n)
            if any(reached(size) for reached in marks):
                marks = [reached for reached in marks if not reached(size)]
                rows.append(measure(memory, options.questions))
            elif size.statements < 1_000:
                memory.update_many(islice(source, 1_000))
            else:
                memory.update_many(islice(source, _STEP))
    for row in rows:
        row["recall p95 to 100k"] = row["recall p95"] / next(
            each["recall p95"] for each in rows if each["relations"] >= 100_000
        )
    report("One update and one recall on a growing memory (SQLite)", rows, options.json)


if __name__ == "__main__":
    main()
