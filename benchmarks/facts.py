"""A memory of facts: is the right object the first, and how long does a read take?

    python -m benchmarks.facts [--triplets 100000] [--chroma] [--json OUT]
    python -m benchmarks.facts --triplets 1000000 --questions 2000 --words-only

Triplets of ``benchmarks.fact_world`` are written to ``FactMemory`` on an SQLite file, each as a
knowledge update. A question gives a subject and a relation:

* *Stored words*: the relation as it is stored.
* *Other words*: another phrasing of the relation.
* *Current*: the value that holds now, of a fact that changed.
* *Former*: the value that held before the change, by ``as_of``.
* *In other words too*: the change is stored in another phrasing than the fact. This has a world of
  its own.

An answer is right if its first object holds. No relation is declared to have a single value.

With ``--chroma`` the same triplets are sentences in Chroma, under the same embedding model, and the
questions have the same words. Three answers are counted: the nearest sentence, the newest of the
five nearest, and, for former values, the nearest of the sentences before the change.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import chromadb
import psutil

from benchmarks.fact_world import FactWorld, Question
from benchmarks.latency import milliseconds
from benchmarks.report import percentile, report, show
from recallm import RecallM
from recallm.facts import FactMemory
from recallm.vectors import Embedding
from recallm.vectors.statements import checked_embedding

_BATCH = 5_000
_NEAREST = 5

First = Callable[[str, str, "int | None"], "str | None"]
"""The first object for a subject and a relation, as of a number of triplets."""


def quality(first: First, questions: Sequence[Question], seed: int = 1) -> dict[str, float]:
    """The share of questions with a right first object, by kind of question."""
    chance = random.Random(seed)
    changed = [question for question in questions if question.changed is not None]

    def in_other_words(asked: Question) -> str:
        return chance.choice([other for other in asked.others if other != asked.restated])

    def is_right(asked: Question, relation: str) -> bool:
        return first(asked.subject, relation, None) in asked.now

    right = {
        "stored words": [is_right(asked, asked.phrasing) for asked in questions],
        "other words": [is_right(asked, in_other_words(asked)) for asked in questions],
        "current": [is_right(asked, asked.phrasing) for asked in changed],
        "former": [
            first(asked.subject, asked.stored, asked.changed) in asked.before for asked in changed
        ],
    }
    return {kind: sum(answers) / len(answers) for kind, answers in right.items()}


def by_facts(facts: FactMemory) -> First:
    """The first fact that ``FactMemory.read`` gives."""

    def first(subject: str, relation: str, as_of: int | None) -> str | None:
        found = facts.read(subject, relation, as_of=as_of, limit=1)
        return found[0].object if found else None

    return first


def by_chroma(world: FactWorld, embedding: Embedding, *, newest: bool) -> First:
    """The object of the nearest sentence in Chroma, or of the newest of the five nearest."""
    collection = chromadb.EphemeralClient().get_or_create_collection(
        "facts", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
    )
    for start in range(collection.count(), len(world.triplets), _BATCH):
        batch = world.triplets[start : start + _BATCH]
        collection.add(
            ids=[str(start + place) for place in range(len(batch))],
            embeddings=embedding.texts([triplet.sentence for triplet in batch]),
            metadatas=[{"t": start + place} for place in range(len(batch))],
        )

    def first(subject: str, relation: str, as_of: int | None) -> str | None:
        before: Any = None if as_of is None else {"t": {"$lt": as_of}}
        found = collection.query(
            query_embeddings=[embedding.question(f"{subject} {relation}").tolist()],
            n_results=_NEAREST if newest else 1,
            where=before,
        )
        places = [int(id) for id in found["ids"][0]]
        return world.triplets[max(places) if newest else places[0]].object if places else None

    return first


def written(facts: FactMemory, world: FactWorld) -> float:
    """Triplets written in a second."""
    began = time.perf_counter()
    facts.write_many(world.triplets)
    return len(world.triplets) / (time.perf_counter() - began)


def latency(facts: FactMemory, world: FactWorld, number: int) -> dict[str, float]:
    """Milliseconds of reads: exact, and similar (in other words; names in lower case)."""
    questions = world.questions[-2 * number :]
    companies = [
        triplet.object for triplet in world.triplets[:: max(1, len(world.triplets) // number)]
    ]
    kinds: dict[str, list[tuple[str | None, str | None, str | None]]] = {
        "exact": [(asked.subject, asked.phrasing, None) for asked in questions[:number]],
        "similar": [(asked.subject, asked.others[0], None) for asked in questions[number:]],
        "subject": [(asked.subject, None, None) for asked in questions[:number]],
        "object": [(None, None, company) for company in companies],
        "nothing": [
            (f"{asked.subject} III", "is not known to", None) for asked in questions[:number]
        ],
    }
    row: dict[str, float] = {}
    for kind, reads in kinds.items():
        taken = milliseconds(lambda terms: facts.read(*terms, limit=10), reads)
        row[f"{kind} p50"] = percentile(taken, 0.5)
        row[f"{kind} p95"] = percentile(taken, 0.95)
    return row


def main() -> None:
    """Write, ask, measure, report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--triplets", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=2_000, help="asked of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--words-only", action="store_true", help="without the default embedding")
    parser.add_argument("--chroma", action="store_true", help="the same triplets in Chroma")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    world = FactWorld(options.triplets, options.seed)
    restating = FactWorld(options.triplets, options.seed, change_words=True)
    asked, again = world.questions[: options.questions], restating.questions[: options.questions]
    embedding = checked_embedding("default")
    qualities: list[dict[str, Any]] = []
    latencies: list[dict[str, Any]] = []
    for name, model in {"words": None, "default embedding": embedding}.items():
        if options.words_only and model is not None:
            continue
        with tempfile.TemporaryDirectory(prefix="recallm-bench-") as folder:
            with RecallM(Path(folder) / "facts.db", embeddings=model) as memory:
                facts = FactMemory(memory)
                rate = written(facts, world)
                latencies.append(
                    {
                        "": f"{options.triplets:,}, {name}",
                        **latency(facts, world, options.questions),
                        "writes/s": rate,
                        "file MB": sum(path.stat().st_size for path in Path(folder).iterdir())
                        / 1e6,
                        "RSS MB": psutil.Process().memory_info().rss / 1e6,
                    }
                )
                row: dict[str, Any] = {"": f"FactMemory, {name}", **quality(by_facts(facts), asked)}
            with RecallM(Path(folder) / "restated.db", embeddings=model) as memory:
                facts = FactMemory(memory)
                written(facts, restating)
                changed = quality(by_facts(facts), again)
                row["current, change in other words"] = changed["current"]
                qualities.append(row)
    if options.chroma and embedding is not None:
        for newest in (False, True):
            kind = "newest of five nearest" if newest else "nearest"
            found = quality(by_chroma(world, embedding, newest=newest), asked)
            qualities.append({"": f"Chroma, {kind}", **found})
    show("Reads of FactMemory on SQLite, milliseconds", latencies)
    title = f"Right object first, {options.triplets:,} triplets, {len(asked):,} questions"
    report(title, qualities, options.json)


if __name__ == "__main__":
    main()
