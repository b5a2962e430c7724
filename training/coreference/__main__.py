"""``python -m training.coreference GAP_DIR GUM_DIR``: fit the ranker, write it and its card."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from recallm.extraction.coreference.ranker import WEIGHTS
from training.coreference.examples import chooser, gap_example, gum_examples
from training.coreference.fitting import fit
from training.coreference.gap import decide, read_gap
from training.coreference.gum import read_documents
from training.coreference.name_genders import female_shares, table

__all__ = ["main"]

_OUTPUT = Path(__file__).parents[2] / "recallm" / "extraction" / "data" / "coreference"
_TRAINING_FILE = "gap-development.tsv"
_THRESHOLDS = {"he": 0.6, "she": 0.6, "it": 0.75, "they": 0.7, "phrase": 0.7}


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit on GAP's development texts and on GUM."""
    parser = argparse.ArgumentParser(description="Train the ranker of coreference")
    parser.add_argument("gap", type=Path, help=f"the folder with {_TRAINING_FILE}")
    parser.add_argument("gum", type=Path, help="the folder with GUM's CoNLL-U files")
    parser.add_argument("--output", type=Path, default=_OUTPUT, help="a folder (%(default)s)")
    parser.add_argument("--networks", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    options.output.mkdir(parents=True, exist_ok=True)
    genders = options.output / "name_genders.toml"
    genders.write_text(table(female_shares()), encoding="utf-8")
    try:
        texts = read_gap(options.gap / _TRAINING_FILE)
        examples = gum_examples(read_documents(options.gum), seed=options.seed)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    undecided = chooser(None)
    found = [(text, decide(text, undecided)) for text in texts]
    examples += [
        example
        for text, decision in found
        if decision is not None and (example := gap_example(text, decision)) is not None
    ]
    ranker = fit(
        examples,
        networks=options.networks,
        seed=options.seed,
        thresholds=[*_THRESHOLDS.values()],
    )
    ranker.save(options.output / WEIGHTS)
    print(f"{len(examples)} examples; written: {options.output / WEIGHTS}")


if __name__ == "__main__":
    main()
