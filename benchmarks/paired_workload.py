"""The work of ``benchmarks.paired`` in one tree: read from standard input, the figures printed.

The tree may be older than this file: so of the project nothing but recallm is imported.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import recallm
from recallm import RecallM

_WARM_UP = 10
"""Questions that are asked before the clock runs."""


def seconds(call: Callable[[], object]) -> float:
    """The processor time of a call, of all threads."""
    began = time.process_time()
    call()
    return time.process_time() - began


def recalls(memory: RecallM, questions: Sequence[str]) -> tuple[float, float]:
    """The median and the 95th percentile of a recall, in milliseconds."""
    for question in questions[:_WARM_UP]:
        memory.recall(question)
    spent = sorted(1000 * seconds(lambda: memory.recall(each)) for each in questions)  # noqa: B023
    return statistics.median(spent), spent[int(0.95 * (len(spent) - 1))]


def measured(work: dict[str, Any], folder: Path) -> dict[str, float]:
    """The figures of the work (see ``benchmarks.paired.work_of``), by their names."""
    found: dict[str, float] = {}
    with RecallM(folder / "tool.db", embeddings=work["embeddings"]) as memory:
        memory.update("Ann warms up the pipeline.")
        spent = seconds(lambda: memory.update(work["tool output"]))
        found["tool output as one update, ms"] = 1000 * spent
    for kind in ("chat", "short statements"):
        part = work[kind]
        with RecallM(folder / f"{kind}.db", embeddings=work["embeddings"]) as memory:
            bulk = seconds(lambda: memory.update_many(part["items"]))  # noqa: B023
            characters = sum(len(item["text"]) for item in part["items"])
            p50, p95 = recalls(memory, part["questions"])
            updates = [seconds(lambda: memory.update(text)) for text in part["updates"]]  # noqa: B023
            found |= {
                f"{kind}: bulk, characters/s": characters / bulk,
                f"{kind}: recall p50, ms": p50,
                f"{kind}: recall p95, ms": p95,
                f"{kind}: one update, ms": 1000 * statistics.median(updates),
            }
    return found


if __name__ == "__main__":
    if not Path(recallm.__file__).is_relative_to(Path(sys.argv[1]).resolve()):
        sys.exit(f"{recallm.__file__} would be measured in place of {sys.argv[1]}")
    with tempfile.TemporaryDirectory(prefix="recallm-bench-") as name:
        figures = measured(json.load(sys.stdin), Path(name))
    print(json.dumps(figures))
