"""``python -m benchmarks.discriminator FILE``: which of two answers is the better one.

FILE (or a folder with such files) holds questions about film plots with the answers of the RecallM
authors' two branches and of their own hybrid, and the grade of each (``training/README.md`` says
how). Accuracy is the sum of grades over twice the questions. The trained discriminator has learnt
from the other films alone (cross-validated), with answers as they are, and with the same ones in
the manner of other answerers, in words that it has not learnt from.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.intervals import Scores
from benchmarks.report import report
from recallm.hybrid.features import Floats
from training.discriminator.fitting import Examples, choose, out_of_fold
from training.discriminator.pairs import GradedPair, differences, grades, read_pairs, retold
from training.discriminator.styles import HELD_OUT

_RECALLM = "RecallM branch"
_VECTORS = "vector branch"
_COLUMN = "accuracy"

# Phrases of the answerers of this very file.
_PHRASES = (
    "not mentioned",
    "not specified",
    "not provided",
    "not stated",
    "not provide",
    "not mention",
    "no information",
    "no mention",
    "not clear",
    "not enough information",
    "i don't know",
    "i'm sorry",
    "as an ai language model",
    "cannot be determined",
)


def discriminator_rows(path: Path, *, folds: int = 10, seed: int = 0) -> list[dict[str, Any]]:
    """A row for each way to choose: its accuracy, and by how much it is better than each branch
    (paired, films resampled).

    Raises:
        ValueError: the file does not hold graded answers.

    """
    pairs = read_pairs(path)
    others = retold(pairs, (*HELD_OUT, None), alike=False, seed=seed)
    graded = grades(pairs)
    odds, odds_of_others = out_of_fold(
        Examples.of(pairs, seed=seed), [differences(others)], folds=folds, seed=seed
    )
    chosen = {
        _RECALLM: graded[:, 0],
        _VECTORS: graded[:, 1],
        "the authors' hybrid (GPT-3.5, 6-shot)": graded[:, 2],
        "refusal phrases alone": _by_phrases(pairs, graded),
        "TrainedDiscriminator": choose(odds, graded),
        "other manners: refusal phrases alone": _by_phrases(others, graded),
        "other manners: TrainedDiscriminator": choose(odds_of_others, graded),
        "a perfect choice": graded[:, :2].max(axis=1),
    }
    scores = Scores()
    for place, pair in enumerate(pairs):
        question = scores.question(pair.film)
        for name, values in chosen.items():
            scores.add(name, _COLUMN, question, float(values[place]) / 2)
    return [
        {
            "answer": name,
            _COLUMN: scores.mean(name, _COLUMN),
            **{
                f"over the {branch}": None
                if name == branch
                else scores.difference(name, branch, _COLUMN, seed=seed)
                for branch in (_VECTORS, _RECALLM)
            },
        }
        for name in chosen
    ]


def _by_phrases(pairs: Sequence[GradedPair], graded: Floats) -> Floats:
    """The grades where RecallM's answer is taken if it alone holds no refusal phrase."""
    refused = [_refuses(pair.vectors) and not _refuses(pair.recallm) for pair in pairs]
    return np.where(refused, graded[:, 0], graded[:, 1])


def _refuses(answer: str) -> bool:
    lowered = answer.lower().replace("’", "'")
    return any(phrase in lowered for phrase in _PHRASES)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and report."""
    parser = argparse.ArgumentParser(description="Which of two answers is the better one")
    parser.add_argument("path", type=Path, metavar="FILE")
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    if not options.path.exists():
        parser.error(f"{options.path} does not exist: it must be a JSON Lines file, a film a line")
    rows = discriminator_rows(options.path, folds=options.folds, seed=options.seed)
    report("DuoRC: accuracy of the answer that is chosen", rows, options.json)


if __name__ == "__main__":
    main()
