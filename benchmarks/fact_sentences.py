"""Facts out of short sentences: precision and recall against a hand-written list.

    python -m benchmarks.fact_sentences [--half develop|unseen] [--wrong] [--json OUT]

Each sentence of ``fact_sentences.toml`` is written with ``RecallM(triplets=True)``; what the graph
then asserts or denies is compared with the list. Terms are equal where their concepts' names are.
``--wrong`` shows the sentences with a fact missing or too many.
"""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.report import report
from recallm import RecallM

_SENTENCES = Path(__file__).with_suffix(".toml")
_HALVES = ("develop", "unseen")

Fact = tuple[str, str, str]


def read_sentences() -> Mapping[str, Mapping[str, list[str]]]:
    """The sentences of each half with the facts that they state, as written in the file."""
    found: Mapping[str, Mapping[str, list[str]]] = tomllib.loads(
        _SENTENCES.read_text(encoding="utf-8")
    )
    return found


def stated_facts(memory: RecallM, sentence: str) -> list[Fact]:
    """What a sentence asserts or denies, as the graph has it; ``memory`` forgets it again."""
    update = memory.update(sentence)
    found = [
        (triplet.subject, triplet.predicate, triplet.object)
        for triplet in memory.graph.triplets()
        if "modality" not in triplet.properties
    ]
    memory.forget(id=update.id)
    return found


def _is_stated(found: Fact, expected: str, name: Callable[[str], str]) -> bool:
    """Whether a fact is the expected one, in one of its forms."""
    forms = ([*map(str.strip, part.split(" / "))] for part in expected.split("|"))
    return all(
        any(name(part) == name(form) for form in each)
        for part, each in zip(found, forms, strict=True)
    )


def _score(
    memory: RecallM, sentences: Mapping[str, list[str]], *, wrong: bool
) -> tuple[int, int, int, int]:
    """Facts that were found, found rightly, and expected; and sentences that are right."""
    name = memory._opened.concept_name
    found_number = right_number = expected_number = right_sentences = 0
    for sentence, expected in sentences.items():
        found = stated_facts(memory, sentence)
        right = [
            fact for fact in found if any(_is_stated(fact, wanted, name) for wanted in expected)
        ]
        met = [
            wanted for wanted in expected if any(_is_stated(fact, wanted, name) for fact in found)
        ]
        is_right = len(right) == len(found) and len(met) == len(expected)
        found_number += len(found)
        right_number += len(right)
        expected_number += len(expected)
        right_sentences += is_right
        if wrong and not is_right:
            print(sentence)
            for fact in found:
                print("   ", "  " if fact in right else "- ", " | ".join(fact))
            for wanted in expected:
                if wanted not in met:
                    print("    + ", wanted)
    return found_number, right_number, expected_number, right_sentences


def main(options: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Facts out of short sentences")
    parser.add_argument("--half", choices=_HALVES, help="one half alone")
    parser.add_argument("--wrong", action="store_true", help="show the sentences read wrongly")
    parser.add_argument("--json", type=Path, metavar="OUT", help="the table")
    chosen = parser.parse_args(options)
    rows: list[dict[str, Any]] = []
    with RecallM(triplets=True) as memory:
        for half, sentences in read_sentences().items():
            if chosen.half in (None, half):
                found, right, expected, whole = _score(memory, sentences, wrong=chosen.wrong)
                rows.append(
                    {
                        "half": half,
                        "sentences": len(sentences),
                        "read rightly": whole,
                        "facts": expected,
                        "found": found,
                        "precision": round(right / max(1, found), 3),
                        "recall": round(min(right, expected) / max(1, expected), 3),
                    }
                )
    report("facts of short sentences", rows, chosen.json)


if __name__ == "__main__":
    main()
