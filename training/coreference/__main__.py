"""``python -m training.coreference GAP_DIR GUM_DIR``: fit the ranker, write it and its card."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from zlib import crc32

import numpy as np

from recallm.english.coreference.resolving import WEIGHTS, Decision, Ranker
from training.cards import table, write_card
from training.coreference.examples import (
    Example,
    cut_gap_examples,
    gap_example,
    gum_examples,
    session_examples,
    undecided,
)
from training.coreference.fitting import fit, save
from training.coreference.gap import GapText, decide, predict, read_gap, table_of_scores
from training.coreference.gum import read_documents
from training.coreference.name_genders import female_shares, gender_table
from training.coreference.sessions import filled_templates, read_sessions

_OUTPUT = Path(__file__).parents[2] / "recallm" / "english" / "data" / "coreference"
_TRAINING_FILE = "gap-development.tsv"
_CHOICE_FILE = "gap-validation.tsv"
_FOLDS = 5
_COPIES = 6
"""How often each template of a session is filled."""
_NETWORKS_OF_FOLD = 2
_PRECISION = 0.88
"""The precision on held-out documents of GUM and held-out templates from which the threshold
follows. It lies above what users need (0.85), since other conversations are further away."""
_LEAST_THRESHOLD = 0.5
_HIGHEST_THRESHOLD = 0.9
_FEWEST = 10

Decided = list[tuple[GapText, Decision | None]]
Outcome = tuple[str, float, bool]
"""A kind of anaphor, the probability of its best candidate, and whether that is right."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit on GAP's development texts and GUM; measure on folds and on GAP's validation texts."""
    parser = argparse.ArgumentParser(description="Train the ranker of coreference")
    parser.add_argument(
        "gap", type=Path, help=f"the folder with {_TRAINING_FILE} and {_CHOICE_FILE}"
    )
    parser.add_argument("gum", type=Path, help="the folder with GUM's CoNLL-U files")
    parser.add_argument("--output", type=Path, default=_OUTPUT, help="a folder (%(default)s)")
    parser.add_argument("--networks", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    try:
        texts = read_gap(options.gap / _TRAINING_FILE)
        validation = read_gap(options.gap / _CHOICE_FILE)
        gum = gum_examples(read_documents(options.gum), seed=options.seed)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    sessions = session_examples(
        read_sessions(filled_templates(_COPIES, seed=options.seed)), copies=_COPIES
    )
    decided = _decided(texts)
    examples = [
        *gum,
        *sessions,
        *(example for example in cut_gap_examples(texts, seed=options.seed) if example is not None),
        *(
            example
            for text, decision in decided
            if decision is not None and (example := gap_example(text, decision)) is not None
        ),
    ]
    held_out, outcomes = _cross_validated(decided, examples, [*gum, *sessions], options.seed)
    ranker = fit(
        examples,
        networks=options.networks,
        seed=options.seed,
        threshold=_threshold(outcomes),
    )
    answers = [predict(*known, ranker) for known in _decided(validation)]
    scores = {
        "development, other pages": (texts, held_out),
        "validation": (validation, answers),
    }
    figures = (
        f"Examples: {len(texts):,} of GAP, {len(gum):,} of GUM, {len(sessions):,} of filled "
        f"templates; seed {options.seed}.\n\n{table_of_scores('GAP, two names given', scores)}\n\n"
        f"{_table_of_threshold(ranker, outcomes)}"
    )
    print(figures)
    options.output.mkdir(parents=True, exist_ok=True)
    save(ranker, options.output / WEIGHTS)
    write_card(options.output, figures, shipped=_OUTPUT)
    genders = options.output / "name_genders.toml"
    genders.write_text(gender_table(female_shares()), encoding="utf-8")
    print(f"written: {options.output}")


def _decided(texts: Sequence[GapText]) -> Decided:
    return [(text, decide(text, undecided)) for text in texts]


def _cross_validated(
    decided: Decided, examples: Sequence[Example], others: Sequence[Example], seed: int
) -> tuple[list[tuple[bool, bool]], list[Outcome]]:
    """Predictions on GAP and outcomes of ``others`` by rankers that were fitted on other pages,
    documents and templates."""
    predictions = [(False, False)] * len(decided)
    outcomes: list[Outcome] = []
    for fold in range(_FOLDS):
        fitted = [example for example in examples if _fold(example.group) != fold]
        ranker = fit(fitted, networks=_NETWORKS_OF_FOLD, seed=seed)
        for i, (text, decision) in enumerate(decided):
            if _fold(text.page) == fold:
                predictions[i] = predict(text, decision, ranker)
        outcomes.extend(
            _outcome(example, ranker) for example in others if _fold(example.group) == fold
        )
    return predictions, outcomes


def _fold(group: str) -> int:
    return crc32(group.encode()) % _FOLDS


def _outcome(example: Example, ranker: Ranker) -> Outcome:
    probabilities = ranker.probabilities(example.rows)
    best = int(np.argmax(probabilities[1:])) + 1
    return example.kind, float(probabilities[best]), bool(example.right[best])


def _threshold(outcomes: Sequence[Outcome]) -> float:
    """The least probability from which on the best candidates are right as often as asked for, in
    steps of a twentieth; the same for both genders."""
    for step in range(round(_LEAST_THRESHOLD * 20), round(_HIGHEST_THRESHOLD * 20) + 1):
        right = [is_right for _, probability, is_right in outcomes if probability >= step / 20]
        if len(right) >= _FEWEST and np.mean(right) >= _PRECISION:
            return step / 20
    return _HIGHEST_THRESHOLD


def _table_of_threshold(ranker: Ranker, outcomes: Sequence[Outcome]) -> str:
    """What the threshold gives on documents of GUM and templates that were left out."""
    rows = []
    least = float(ranker.threshold)
    for kind in ("he", "she"):
        of_kind = [(probability, right) for other, probability, right in outcomes if other == kind]
        right = [is_right for probability, is_right in of_kind if probability >= least]
        share = f"{100 * sum(right) / len(right):.0f}" if right else "-"
        rows.append((kind, f"{least:.2f}", str(len(of_kind)), str(len(right)), share))
    head = ("GUM and templates, others", "threshold", "anaphors", "resolved", "precision")
    return table(head, rows)


if __name__ == "__main__":
    main()
