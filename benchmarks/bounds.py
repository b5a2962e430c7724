"""What one expired passage, and filters that match nothing, cost a memory of many statements.

    python -m benchmarks.bounds [--statements 100000] [--archive FILE] [--json OUT]

Medians, in milliseconds of processor time, of recalls about hubs (who is named most), of recalls
about anybody, and of ``stats()``: before anything expired, and when one passage has. Then recalls
about hubs with filters that nothing, or one old passage, meets. ``--archive`` keeps the statements
as an archive, or reads those of an earlier run, so that two versions answer from the same memory.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.report import report
from benchmarks.statements import Talk
from recallm import RecallM

_START = datetime(2026, 1, 1, tzinfo=UTC)
_FILTERS: dict[str, dict[str, Any]] = {
    "no filter": {},
    "speaker, none": {"speaker": "Nobody"},
    "session, none": {"session": "nowhere"},
    "metadata, none": {"metadata": {"page": -1}},
    "since, none": {"since": _START + timedelta(days=9999)},
    "until, none": {"until": _START - timedelta(days=1)},
    "path, none": {"path": ("nowhere",)},
    "speaker, one": {"speaker": "Only"},
    "session, one": {"session": "only"},
    "metadata, one": {"metadata": {"page": 1}},
    "until, one": {"until": _START},
}


def median(calls: list[Callable[[], object]]) -> float:
    """Milliseconds of the middle one; the first two warm up."""
    taken = []
    for call in calls:
        began = time.process_time()
        call()
        taken.append((time.process_time() - began) * 1000)
    return statistics.median(taken[2:])


def fill(memory: RecallM, statements: int) -> None:
    """The first statement is said by another speaker, in a session and with metadata of its own."""
    texts = Talk().statements()
    memory.update(
        next(texts), speaker="Only", session="only", metadata={"page": 1}, timestamp=_START
    )
    memory.update_many(
        {
            "text": text,
            "speaker": "Ann" if number % 2 else "Bo",
            "session": f"s{number // 200}",
            "metadata": {"page": number + 2},
            "timestamp": _START + timedelta(minutes=number + 1),
        }
        for number, text in enumerate(islice(texts, statements))
    )


def timings(memory: RecallM, questions: int) -> dict[str, float]:
    """Medians of what is asked at this moment."""
    talk = Talk(seed=1)
    hubs, rare = talk.hub_questions(questions), talk.questions(questions)
    return {
        "hub recall": median([lambda text=text: memory.recall(text) for text in hubs]),  # type: ignore[misc]
        "recall": median([lambda text=text: memory.recall(text) for text in rare]),  # type: ignore[misc]
        "stats": median([memory.stats for _ in range(questions)]),
    }


def filtered_recall(memory: RecallM, questions: list[str], where: dict[str, Any]) -> float:
    """The median of recalls with a filter."""
    return median([lambda text=text: memory.recall(text, **where) for text in questions])  # type: ignore[misc]


def main() -> None:
    """Fill a memory, measure, report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--statements", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--archive", type=Path, help="statements of an earlier run, or for one")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    now = _START
    with (
        tempfile.TemporaryDirectory(prefix="recallm-bench-") as folder,
        RecallM(Path(folder) / "recallm.db", clock=lambda: now) as memory,
    ):
        if options.archive is not None and options.archive.exists():
            memory.load(options.archive)
        else:
            fill(memory, options.statements)
            memory.update("It rains.", id="brief", expires_at=_START + timedelta(days=1))
            if options.archive is not None:
                memory.export(options.archive)
        rows: list[dict[str, Any]] = [
            {"what": "nothing expired"} | timings(memory, options.questions)
        ]
        hubs = Talk(seed=1).hub_questions(options.questions)
        filtered = [
            {"filter": name, "hub recall": filtered_recall(memory, hubs, where)}
            for name, where in _FILTERS.items()
        ]
        now += timedelta(days=2)
        rows.append({"what": "one passage expired"} | timings(memory, options.questions))
    report("What an expired passage costs (SQLite)", rows, options.json)
    report("What filters cost (SQLite)", filtered, None)


if __name__ == "__main__":
    main()
