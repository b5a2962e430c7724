"""``python -m training.triplets CARB_DIR``: fit the confidence of open triplets, measure it on
sentences left out, write the trees and their card."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from benchmarks.carb import read_gold
from recallm.english.shipped import NAME
from training.cards import write_card
from training.triplets.examples import read_examples
from training.triplets.fitting import fit, measured

_OUTPUT = Path(__file__).parents[2] / "recallm" / "english" / "syntax" / "data" / "confidence.json"


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit on all sentences; measure each on trees that it had no part in."""
    parser = argparse.ArgumentParser(description="Fit the confidence of open triplets")
    parser.add_argument("data", type=Path, metavar="CARB_DIR", help="dev.txt and gold/dev.tsv")
    parser.add_argument("--output", type=Path, default=_OUTPUT, help="the trees (%(default)s)")
    parser.add_argument("--folds", type=int, default=10)
    options = parser.parse_args(arguments)
    if options.folds < 2:
        parser.error("--folds must be at least 2")
    try:
        sentences = (options.data / "dev.txt").read_text(encoding="utf-8").splitlines()
        gold = read_gold(options.data / "gold" / "dev.tsv")
    except OSError as error:
        parser.error(str(error))
    examples = read_examples(sentences, gold)
    found = measured(examples, gold, folds=options.folds)
    model = fit(examples)
    content = {
        "fitted_on": f"CaRB dev, triplets by {NAME}",
        "base": model.base,
        "features": model.names,
        "trees": model.trees,
    }
    options.output.write_text(f"{json.dumps(content)}\n", encoding="utf-8")
    figures = (
        f"{len(model.trees)} trees, {len(model.names)} features; {len(gold)} sentences with gold "
        f"extractions, {len(examples):,} triplets, {options.folds} folds.\n\n{found.tables()}"
    )
    write_card(options.output.parent, figures, shipped=_OUTPUT.parent)
    print(figures)


if __name__ == "__main__":
    main()
