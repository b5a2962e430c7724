"""``python -m training.discriminator DATA``: fit, measure over films apart, write the weights."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from recallm.hybrid.features import FEATURES
from training.cards import table, write_card
from training.discriminator.fitting import (
    Examples,
    accuracy,
    calibration,
    choose,
    fit,
    out_of_fold,
)
from training.discriminator.pairs import differences, grades, read_pairs, retold
from training.discriminator.styles import FIGURES, HELD_OUT

_OUTPUT = Path(__file__).parents[2] / "recallm" / "hybrid" / "data" / "discriminator.json"


def main(arguments: Sequence[str] | None = None) -> None:
    """Train on all pairs; measure each on weights that no pair of its film had a part in."""
    parser = argparse.ArgumentParser(description="Train the discriminator between two answers")
    parser.add_argument(
        "data", type=Path, metavar="DATA", help="a file of graded answers, or its folder"
    )
    parser.add_argument("--output", type=Path, default=_OUTPUT, help="the weights (%(default)s)")
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    if options.folds < 2:
        parser.error("--folds must be at least 2")
    try:
        pairs = read_pairs(options.data)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    examples = Examples.of(pairs, seed=options.seed)
    if examples.films.max() == 0 or not (examples.lead > 0).any() or not (examples.lead < 0).any():
        parser.error(
            "the answers must be about two films or more, and each branch must be better "
            "in some of them"
        )
    graded = grades(pairs)
    held_out = [
        differences(retold(pairs, (*HELD_OUT, None), alike=False, seed=options.seed)),
        *(
            differences(retold(pairs, (manner,), seed=options.seed))
            for manner in (*HELD_OUT, FIGURES)
        ),
    ]
    odds, *others = out_of_fold(examples, held_out, folds=options.folds, seed=options.seed)
    scale = calibration(odds, examples.lead).scale
    weights = scale * fit(examples, np.ones(len(pairs), dtype=bool))
    agreement = calibration(scale * odds, examples.lead)
    films = int(examples.films.max()) + 1
    chosen = {
        "RecallM branch": graded[:, 0],
        "vector branch": graded[:, 1],
        "the authors' hybrid": graded[:, 2],
        "trained, other films": choose(odds, graded),
        "trained, mixed manners": choose(others[0], graded),
        **{f"trained, manner {n}": choose(x, graded) for n, x in enumerate(others[1:-1], start=1)},
        "trained, refusals that no rule catches": choose(others[-1], graded),
        "perfect choice": graded[:, :2].max(axis=1),
    }
    accuracies = [(name, f"{accuracy(grade):.1f}") for name, grade in chosen.items()]
    by_feature = [(name, f"{x:+.2f}") for name, x in zip(FEATURES, weights.tolist(), strict=True)]
    figures = (
        f"{len(pairs):,} questions on {films} films, {min(options.folds, films)} folds of films, "
        f"seed {options.seed}\n\n{table(('chosen by', 'accuracy, %'), accuracies)}\n\n"
        f"Brier score {agreement.brier:.3f}, calibration error {agreement.error:.3f} (pairs whose "
        f"grades differ)\n\n{table(('feature', 'weight'), by_feature)}"
    )
    print(figures)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    rounded = {name: round(x, 6) for name, x in zip(FEATURES, weights.tolist(), strict=True)}
    options.output.write_text(json.dumps(rounded, indent=1) + "\n", encoding="utf-8")
    if options.output == _OUTPUT:
        write_card(_OUTPUT.parent, figures, shipped=_OUTPUT.parent)
    print(f"written: {options.output}")


if __name__ == "__main__":
    main()
