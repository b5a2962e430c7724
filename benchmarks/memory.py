"""Resident memory of a process with the language pipeline loaded and a large file open.

    python -m benchmarks.memory [--statements 100000] [--json OUT]

One process fills an SQLite file; a fresh one opens it, writes and recalls, and is measured.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from itertools import islice
from pathlib import Path

import psutil

from benchmarks.report import report


def fill(db: Path, statements: int) -> None:
    """Write so many statements to a new file."""
    from benchmarks.statements import Talk
    from recallm import RecallM

    with RecallM(db) as memory:
        memory.update_many(islice(Talk().statements(), statements), progress=True)


def use(db: Path, questions: list[str]) -> None:
    """Open the file, recall and update; print the megabytes resident after each step."""
    sizes: dict[str, float] = {"Python": _resident()}
    from recallm import RecallM

    sizes["recallm imported"] = _resident()
    with RecallM(db) as memory:
        memory.recall("Who?")
        sizes["pipeline loaded, file open"] = _resident()
        for question in questions:
            memory.recall(question)
        sizes[f"after {len(questions)} recalls"] = _resident()
        for text in questions:
            memory.update(text)
        sizes[f"after {len(questions)} updates"] = _resident()
        statements = memory.stats().statements
    print(json.dumps({"statements": statements, "sizes": sizes}))


def _resident() -> float:
    return float(psutil.Process().memory_info().rss) / 1e6


def _run(*arguments: str) -> str:
    command = [sys.executable, "-m", "benchmarks.memory", *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def main() -> None:
    """Fill in one process, measure in another, report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--statements", type=int, default=100_000)
    parser.add_argument("--db", type=Path, help="a file that is filled already")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--step", choices=["fill", "use"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step == "fill":
        fill(options.db, options.statements)
        return
    if options.step == "use":
        use(options.db, json.loads(sys.stdin.read()))
        return
    from benchmarks.statements import Talk

    with tempfile.TemporaryDirectory(prefix="recallm-bench-") as folder:
        db = options.db or Path(folder) / "recallm.db"
        if not db.exists():
            _run("--step", "fill", "--db", str(db), "--statements", str(options.statements))
        command = [sys.executable, "-m", "benchmarks.memory", "--step", "use", "--db", str(db)]
        asked = json.dumps(Talk().questions(200) + Talk().hub_questions(100))
        measured = subprocess.run(
            command, check=True, input=asked, stdout=subprocess.PIPE, text=True
        ).stdout
    found = json.loads(measured)
    rows = [{"when": when, "resident MB": size} for when, size in found["sizes"].items()]
    title = f"Resident memory, {found['statements']:,} statements in the file"
    report(title, rows, options.json)


if __name__ == "__main__":
    main()
