"""``python -m training.discriminator DATA``: fit, measure over films apart, write the weights."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from recallm.hybrid.features import FEATURES
from recallm.hybrid.trained_discriminator import dump_weights
from training.discriminator.card import Measured, model_card
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
_CARD = "MODEL_CARD.md"


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
    measured = Measured(
        films=int(examples.films.max()) + 1,
        questions=len(pairs),
        folds=min(options.folds, int(examples.films.max()) + 1),
        seed=options.seed,
        recallm=accuracy(graded[:, 0]),
        vectors=accuracy(graded[:, 1]),
        hybrid=accuracy(graded[:, 2]),
        perfect=accuracy(graded[:, :2].max(axis=1)),
        trained=accuracy(choose(odds, graded)),
        mixed=accuracy(choose(others[0], graded)),
        manners=tuple(accuracy(choose(it, graded)) for it in others[1:-1]),
        figures=accuracy(choose(others[-1], graded)),
        calibration=calibration(scale * odds, examples.lead),
        weights=dict(zip(FEATURES, weights.tolist(), strict=True)),
    )
    print(measured.table())
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_bytes(dump_weights(FEATURES, weights.tolist()))
    print(f"written: {options.output}")
    if options.output == _OUTPUT:
        card = _OUTPUT.with_name(_CARD)
        card.write_text(model_card(measured), encoding="utf-8")
        print(f"written: {card}")


if __name__ == "__main__":
    main()
