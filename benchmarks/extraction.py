"""Extraction of one huge text: seconds a megabyte, and what twice the text takes.

    python -m benchmarks.extraction [--kilobytes 50] [--json OUT]

Each kind of text is read whole, as one passage, and once more at twice the length; nothing is
stored, but in the row "prose, in a file", an update of one passage. The time is that of the
processor, so that other work on the machine weighs less.
"""

from __future__ import annotations

import argparse
import base64
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from random import Random

from benchmarks.report import report
from benchmarks.statements import Talk
from recallm import RecallConfig, RecallM
from recallm.extraction import Extractor


def _prose(size: int) -> str:
    return _cut(Talk().statements(), " ", size)


def _cut(parts: Iterator[str], between: str, size: int) -> str:
    """As many parts as make a text of so many characters."""
    return between.join(islice(parts, size // 20 + 1))[:size]


def _log() -> Iterator[str]:
    random = Random(1)
    while True:
        moment = f"2026-05-03 10:{random.randrange(60):02}:{random.randrange(60):02}"
        yield f"{moment} INFO worker-{random.randrange(9)}: wrote {random.randrange(10**6)} rows"


def _records() -> Iterator[str]:
    random = Random(1)
    while True:
        yield json.dumps({"id": random.randrange(10**9), "name": "Ann", "price": random.random()})


KINDS: dict[str, Callable[[int], str]] = {
    "prose": _prose,
    "prose, a line a sentence": lambda size: _cut(Talk().statements(), "\n", size),
    "prose without an end": lambda size: _prose(2 * size).replace(".", "")[:size],
    "prose without white space": lambda size: _prose(2 * size).replace(" ", "")[:size],
    "names in short sentences": lambda size: ("Al Bo. " * size)[:size],
    "code": lambda size: (Path(__file__).read_text(encoding="utf-8") * (size // 1000))[:size],
    "log": lambda size: _cut(_log(), "\n", size),
    "JSON": lambda size: _cut(_records(), ",", size),
    "base64": lambda size: base64.b64encode(Random(1).randbytes(size)).decode()[:size],
    "one character": lambda size: "a" * size,
    "punctuation": lambda size: ".,;:-)(" * (size // 7),
    "one word a line": lambda size: "ok\n" * (size // 3),
}


def costs(text: Callable[[int], str], work: Callable[[str], object], size: int) -> dict[str, float]:
    """The processor's time for a megabyte of a text, and how much more twice the text takes."""
    once, twice = (seconds(work, text(many)) for many in (size, 2 * size))
    return {"s/MB": once / size * 1e6, "twice the text": twice / once}


def seconds(work: Callable[[str], object], text: str) -> float:
    """The processor's time for work on a text."""
    start = time.process_time()
    work(text)
    return time.process_time() - start


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kilobytes", type=int, default=50, help="of the shorter text")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    size = options.kilobytes * 1000
    extractor = Extractor(RecallConfig())
    extractor.extract(_prose(10_000))
    rows = []
    for kind, text in KINDS.items():
        rows.append({"text": kind, **costs(text, extractor.extract, size)})
    with tempfile.TemporaryDirectory(prefix="recallm-bench-") as folder:
        with RecallM(Path(folder) / "memory.db") as memory:
            memory.update("Hello.")
            rows.append({"text": "prose, in a file", **costs(_prose, memory.update, size)})
    report("Extraction of one huge text", rows, options.json)


if __name__ == "__main__":
    main()
