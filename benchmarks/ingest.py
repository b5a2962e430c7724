"""Bulk ingest of short statements: recallm on an SQLite file, and vectors in Chroma.

    python -m benchmarks.ingest [--statements 20000] [--embedded 10000] [--chroma 1000]
        [--unpadded 10000] [--json OUT]

All write durable files, in one process, one after the other, with the threads that they take by
themselves. With the default embedding recallm writes statements with their vectors, in one call of
``update_many``. Chroma is measured with its default settings (its embedding pads every text to 256
tokens), with the same model padded to the longest text of a batch alone (texts sorted by length),
and that model once more without storing anything. Chroma fetches its model the
first time (80 MB).
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Self

import chromadb
import numpy as np
from chromadb.config import Settings
from chromadb.utils.embedding_functions import ONNXMiniLM_L6_V2

from benchmarks.minilm import chroma_mini_lm
from benchmarks.report import report
from benchmarks.statements import Talk
from recallm import RecallM
from recallm.vectors.minilm import mini_lm

_BATCH = 1000


class Unpadded(ONNXMiniLM_L6_V2):
    """Chroma's model on batches of texts of like length, padded to the longest of each."""

    def __call__(self, input: list[str]) -> Any:
        """A vector of 384 numbers for each text, in their order."""
        self._download_model_if_not_exists()
        return [*chroma_mini_lm(input)]

    @staticmethod
    def name() -> str:
        """How Chroma writes it down."""
        return "unpadded_mini_lm_l6_v2"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """``count`` statements took ``seconds`` by the clock and ``cpu`` seconds of all cores."""

    count: int
    seconds: float
    cpu: float


class Timer:
    """A context in which a number of statements is written; ``rate`` is known at its end."""

    rate: Rate

    def __init__(self, count: int) -> None:
        self._count = count

    def __enter__(self) -> Self:
        self._seconds, self._cpu = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.rate = Rate(
            count=self._count,
            seconds=time.perf_counter() - self._seconds,
            cpu=time.process_time() - self._cpu,
        )


def recallm_rate(texts: list[str], file: Path, embeddings: str | None = None) -> Rate:
    """Into an SQLite file, extraction included."""
    with RecallM(file, embeddings=embeddings) as memory:
        memory.update_many(texts[:200])
        with Timer(len(texts) - 200) as timer:
            memory.update_many(texts[200:], batch_size=_BATCH)
    return timer.rate


def chroma_rate(texts: list[str], folder: Path, embedding: Any) -> Rate:
    """Into a persistent Chroma collection."""
    client = chromadb.PersistentClient(str(folder), settings=Settings(anonymized_telemetry=False))
    collection = client.create_collection("statements", embedding_function=embedding)
    collection.add(ids=["warm-up"], documents=["A statement that loads the model."])
    with Timer(len(texts)) as timer:
        for start in range(0, len(texts), _BATCH):
            batch = texts[start : start + _BATCH]
            collection.add(ids=[str(start + place) for place in range(len(batch))], documents=batch)
    return timer.rate


def embedding_rate(texts: list[str]) -> Rate:
    """Through the model alone, without padding."""
    embedding = Unpadded()
    embedding(texts[:10])
    with Timer(len(texts)) as timer:
        for start in range(0, len(texts), _BATCH):
            embedding(texts[start : start + _BATCH])
    return timer.rate


def faster(rate: Rate, than: Rate) -> float:
    """How many times as many statements in a second."""
    return (rate.count / rate.seconds) / (than.count / than.seconds)


def check_vectors(texts: list[str]) -> None:
    """Stop unless ``Unpadded`` gives what Chroma gives, and recallm, which computes in integers,
    nearly that."""
    theirs = np.array(ONNXMiniLM_L6_V2()(texts))
    difference = np.abs(theirs - np.array(Unpadded()(texts))).max()
    cosine = (theirs * mini_lm().texts(texts)).sum(axis=1).min()
    if difference > 1e-5 or cosine < 0.99:
        raise SystemExit(f"the ways to run the model differ: by {difference:g}, cosine {cosine:g}")


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--statements", type=int, default=20_000, help="for recallm")
    parser.add_argument("--embedded", type=int, default=10_000, help="for recallm with vectors")
    parser.add_argument("--chroma", type=int, default=1_000, help="for Chroma by default")
    parser.add_argument(
        "--unpadded", type=int, default=10_000, help="for the model without padding"
    )
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    texts = list(islice(Talk().statements(), options.statements))
    with tempfile.TemporaryDirectory(prefix="recallm-bench-") as name:
        folder = Path(name)
        rates = {
            "recallm, SQLite": recallm_rate(texts, folder / "recallm.db"),
            "recallm with the default embedding": recallm_rate(
                texts[: options.embedded], folder / "vectors.db", "default"
            ),
            "Chroma with its default settings": chroma_rate(
                texts[: options.chroma], folder / "padded", ONNXMiniLM_L6_V2()
            ),
            "Chroma, same model without padding": chroma_rate(
                texts[: options.unpadded], folder / "unpadded", Unpadded()
            ),
            "that model alone, nothing stored": embedding_rate(texts[: options.unpadded]),
        }
    check_vectors(texts[:32])
    ours, embedded = rates["recallm, SQLite"], rates["recallm with the default embedding"]
    rows = [
        {
            "what": what,
            "statements": rate.count,
            "statements/s": rate.count / rate.seconds,
            "a CPU second": rate.count / rate.cpu,
            "recallm is faster by": faster(ours, rate),
            "with vectors by": faster(embedded, rate),
        }
        for what, rate in rates.items()
    ]
    report("Bulk ingest of short statements into a file", rows, options.json)


if __name__ == "__main__":
    main()
