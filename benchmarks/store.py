"""The SQLite store alone: writing and reading at sizes up to a million relations.

    python -m benchmarks.store --relations 100000 1000000

The updates are made up: a vocabulary drawn by Zipf's law, so that a few concepts are hubs; one
statement an update, about five concepts, six terms and four neighbour pairs. ``cpu`` is the
processor's time for the median call; the other columns are the clock's.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.report import percentile, report
from recallm.model import (
    ConceptMention,
    ExtractedStatement,
    Filter,
    Horizon,
    Neighbours,
    PreparedUpdate,
    Trait,
)
from recallm.stores.base import GraphReader
from recallm.stores.sqlite import SQLiteStore

_BATCH = 1_000
_NAMESPACE = "n"
_CHANCE = np.random.default_rng(7)
_BEGAN = datetime(2024, 1, 1, tzinfo=UTC)


class Stream:
    """Seeded updates without end."""

    def __init__(self, seed: int, concepts: int = 40_000, stems: int = 30_000) -> None:
        self._random = np.random.default_rng(seed)
        self._concepts = _zipf(concepts)
        self._stems = _zipf(stems)
        self._made = 0

    def batch(self, size: int) -> list[PreparedUpdate]:
        """The next ``size`` updates."""
        concepts = self._draw(self._concepts, size, 6)
        stems = self._draw(self._stems, size, 8)
        return [self._update(c, s) for c, s in zip(concepts.tolist(), stems.tolist(), strict=True)]

    def _draw(self, cumulative: NDArray[Any], size: int, most: int) -> NDArray[Any]:
        return np.searchsorted(cumulative, self._random.random((size, most)))

    def _update(self, concepts: list[int], stems: list[int]) -> PreparedUpdate:
        self._made += 1
        number = self._made
        concepts = list(dict.fromkeys(concepts[: 4 + number % 3]))
        names = [f"concept{c}" for c in concepts]
        terms = tuple(f"stem{s}" for s in stems[: 5 + number % 4])
        text = f"Update {number} says " + " ".join([*names, *terms]) + "."
        return PreparedUpdate(
            id=f"update-{number}",
            text=text,
            statements=(
                ExtractedStatement(
                    position=0,
                    start=0,
                    end=len(text),
                    terms=terms,
                    concepts=tuple(
                        ConceptMention(name=n, label=n.title(), kind="noun") for n in names
                    ),
                    traits=Trait.NAME | Trait.PAST,
                ),
            ),
            neighbours=tuple(
                Neighbours(a=min(a, b), b=max(a, b), earlier=0, later=0) for a, b in pairwise(names)
            ),
            session=f"session{number // 20}",
            speaker=f"speaker{number % 2}",
            timestamp=_BEGAN + timedelta(minutes=number),
        )


def _zipf(size: int) -> NDArray[Any]:
    weights = 1 / np.arange(2, size + 2) ** 0.9
    cumulative: NDArray[Any] = np.cumsum(weights) / weights.sum()
    return cumulative


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--relations", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--folder", type=Path, help="where the file lies (a temporary folder)")
    parser.add_argument("--repeat", type=int, default=60, help="how often each call is timed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, help="write the figures here too")
    chosen = parser.parse_args()
    stream = Stream(chosen.seed)
    sizes: list[dict[str, Any]] = []
    calls: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        with closing(SQLiteStore(Path(folder) / "store.db")) as store:
            for wanted in [0, *sorted(chosen.relations)]:
                size = _grow(store, stream, wanted, Path(folder))
                sizes.append(size)
                name = f"{size['relations']:,} relations"
                calls += _updates(store, stream, name, chosen.repeat)
                if wanted:
                    calls += _reads(store, name, chosen.repeat)
    report("The store: size and bulk writing", sizes, chosen.json)
    report("The store: one call", calls, chosen.json and chosen.json.with_suffix(".calls.json"))


def _grow(store: SQLiteStore, stream: Stream, relations: int, folder: Path) -> dict[str, Any]:
    """Write batches until there are so many relations (one, if none are asked for)."""
    rates: list[float] = []
    while True:
        for _ in range(10 if relations else 1):
            updates = stream.batch(_BATCH)
            started = time.perf_counter()
            store.apply(_NAMESPACE, updates)
            rates.append(_BATCH / (time.perf_counter() - started))
        with store.reader(_NAMESPACE, Horizon()) as reader:
            stats = reader.stats()
        if stats.relations >= relations:
            break
    return {
        "statements": stats.statements,
        "relations": stats.relations,
        "bulk statements/s": statistics.median(rates[-10:]),
        "file MB": sum(file.stat().st_size for file in folder.iterdir()) / 1e6,
        "peak resident MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def _updates(
    store: SQLiteStore, stream: Stream, size: str, repeat: int
) -> Iterator[dict[str, Any]]:
    updates = iter(stream.batch(repeat + 5))
    yield _timed(
        size, "apply, one durable update", repeat, lambda: store.apply(_NAMESPACE, [next(updates)])
    )


def _reads(store: SQLiteStore, size: str, repeat: int) -> Iterator[dict[str, Any]]:
    with store.reader(_NAMESPACE, Horizon()) as reader:
        counter = reader.state.t_index
    for title, as_of in (("", None), ("as of half, ", counter // 2)):
        horizon = Horizon(as_of=as_of)
        with store.reader(_NAMESPACE, horizon) as reader:
            for name, read in _cases(reader).items():
                yield _timed(size, title + name, repeat, lambda read=read: read(reader))  # type: ignore[misc]

        def whole(horizon: Horizon = horizon) -> None:
            with store.reader(_NAMESPACE, horizon) as reader:
                for read in _cases(reader).values():
                    read(reader)

        yield _timed(size, title + "all of it, in one new reader", repeat, whole)


def _cases(view: GraphReader) -> dict[str, Callable[[GraphReader], object]]:
    """What a recall asks: a third of the names and stems are hubs."""
    newest = view.state.t_index
    nothing = Filter()
    return {
        "postings, 6 stems, 1,000 newest each": lambda r: r.postings(
            _some("stem", 6), limit=1000, where=nothing
        ),
        "mentions, 3 names, 1,000 newest each": lambda r: r.mentions(
            _some("concept", 3), limit=1000, where=nothing
        ),
        "relations, 3 names, 50 each": lambda r: r.relations(_some("concept", 3), limit=50),
        "concepts, 100 names": lambda r: r.concepts(_some("concept", 100)),
        "relations_among, 100 names": lambda r: r.relations(_some("concept", 100), among=True),
        "statements, 400 keys": lambda r: r.statements(
            [int(t) << 20 for t in _CHANCE.integers(1, newest, 400)]
        ),
        "sessions, 50 keys": lambda r: (
            r.sizes([f"=session{i}" for i in _CHANCE.integers(0, newest // 20, 50)]).sessions
        ),
    }


def _some(kind: str, count: int) -> list[str]:
    hubs = _CHANCE.integers(0, 3, -(-count // 3)).tolist()
    rest = _CHANCE.integers(0, 5_000, count).tolist()
    return [f"{kind}{number}" for number in dict.fromkeys(hubs + rest)][:count]


def _timed(size: str, name: str, repeat: int, call: Callable[[], object]) -> dict[str, Any]:
    clock: list[float] = []
    processor: list[float] = []
    for number in range(repeat + 3):
        began, busy = time.perf_counter(), time.thread_time()
        call()
        if number >= 3:
            clock.append(1000 * (time.perf_counter() - began))
            processor.append(1000 * (time.thread_time() - busy))
    return {
        "at": size,
        "call": name,
        "p50 ms": statistics.median(clock),
        "p95 ms": percentile(clock, 0.95),
        "cpu ms": statistics.median(processor),
    }


if __name__ == "__main__":
    main()
