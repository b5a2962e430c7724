"""Similar reading: relations asked for in other words than the stored ones.

    python -m benchmarks.fact_words [--embeddings default] [--half development|report]

Every subject has 4 to 12 relations of its kind, each in one random phrasing of
``fact_words.toml``. A question asks for one of them in another phrasing, or for a relation that the
subject does not have: there an empty answer is right.
"""

from __future__ import annotations

import argparse
import random
import time
import tomllib
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np

from recallm import RecallM
from recallm.facts import FactMemory

WORLD: dict[str, list[list[str]]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
HALVES = ("development", "report")


class Question(NamedTuple):
    """A relation that is asked of a subject. ``object`` is "" where the subject has none."""

    subject: str
    relation: str
    object: str


def world(half: str, seed: int, subjects: int) -> tuple[list[tuple[str, str, str]], list[Question]]:
    """The triplets of the subjects, and a question for every relation of a subject's kind in this
    half of the relations. The subject's other relations are drawn from both halves."""
    draw = random.Random(seed)
    triplets: list[tuple[str, str, str]] = []
    questions: list[Question] = []
    for number in range(subjects):
        kind = list(WORLD)[number % len(WORLD)]
        relations = WORLD[kind]
        subject = f"{kind} {number}"
        most = min(12, len(relations) - 1)
        owned = draw.sample(range(len(relations)), draw.randint(min(4, most), most))
        for place, phrasings in enumerate(relations):
            stored, asked = draw.sample(phrasings, 2)
            object = f"object {place} of {number}" if place in owned else ""
            if object:
                triplets.append((subject, stored, object))
            if place % 2 == HALVES.index(half):
                questions.append(Question(subject, asked, object))
    return triplets, questions


def main() -> None:
    """Print the shares of right, wrong and empty answers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--embeddings", choices=["default"])
    parser.add_argument("--half", choices=HALVES, default="development")
    parser.add_argument("--subjects", type=int, default=250)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--errors", type=int, default=0, help="errors that are printed")
    options = parser.parse_args()
    facts = FactMemory(RecallM(embeddings=options.embeddings))
    triplets, questions = world(options.half, options.seed, options.subjects)
    facts.write_many(triplets)
    stored = {(subject, object): relation for subject, relation, object in triplets}
    outcomes: dict[str, Counter[str]] = {"has it": Counter(), "does not have it": Counter()}
    errors: Counter[tuple[str, ...]] = Counter()
    milliseconds = []
    for subject, relation, object in questions:
        facts.read(subject, relation, limit=1)  # The model embeds a new term once.
        started = time.perf_counter()
        found = facts.read(subject, relation, limit=1)
        milliseconds.append((time.perf_counter() - started) * 1e3)
        answer = found[0].object if found else ""
        outcome = "right" if answer == object else "wrong" if answer else "empty"
        outcomes["has it" if object else "does not have it"][outcome] += 1
        if outcome != "right":
            meant = stored.get((subject, object), "")
            errors[outcome, relation, meant, found[0].relation if found else ""] += 1
    for asked, counts in outcomes.items():
        total = counts.total()
        shares = ", ".join(f"{it} {counts[it] / total:.3f}" for it in ("right", "wrong", "empty"))
        print(f"The subject {asked} ({total} questions): {shares}")
    print(f"read p95: {np.percentile(milliseconds, 95):.1f} ms")
    for (outcome, relation, meant, other), count in errors.most_common(options.errors):
        print(f"{count:3} {outcome}: {relation!r} for {meant!r}, found {other!r}")


if __name__ == "__main__":
    main()
