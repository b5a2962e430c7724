"""``python -m training.triplets.facts [--output FILE]``: fit how far a fact of the speaker is
trusted, on the marked messages of ``benchmarks/user_messages.toml``; measure it on messages left
out; write the weights."""

from __future__ import annotations

import argparse
import json
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from benchmarks.chat_facts import MESSAGES, marks_of
from recallm import RecallConfig
from recallm.english import statements
from recallm.english.extractor import Extractor
from recallm.english.stated_facts import stated_elements
from recallm.english.syntax import triplets, trust
from recallm.english.syntax.drafts import Draft
from recallm.english.syntax.tree import SentenceTree
from recallm.model import OpenTriplet
from training.cards import table

_SPEAKER = "user"
_PARTS = ("develop", "kept", "fit", "last", "fresh", "more", "unseen")
_STRICT = ("last", "fresh", "more", "unseen")
"""Parts in which what is vague or cut is marked as wrong; the others were marked more kindly."""

_PART_WEIGHT = 2.0
"""How much an example of the strict parts counts more than another."""

_RARE = 5
"""A feature that fewer examples have is left out."""

_PENALTY = 0.3
_SHOWN = (0.5, 0.7, 0.8, 0.85, 0.88, 0.9, 0.95)

Vector = NDArray[np.float64]
Flags = NDArray[np.bool_]


class Example(NamedTuple):
    """A fact that the speaker of a message says of himself: what the features are, and whether the
    fact is right."""

    message: str
    is_strict: bool
    features: Mapping[str, float]
    is_right: bool


def read_examples(parts: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[Example]:
    """The marked facts of messages, of any confidence."""
    extractor = Extractor(RecallConfig())
    for part in _PARTS:
        for message in parts.get(part, ()):
            if marks := marks_of(message):
                for terms, found in _facts_of(extractor, message["said"]).items():
                    if terms in marks:
                        yield Example(message["said"], part in _STRICT, found, marks[terms])


def _facts_of(extractor: Extractor, text: str) -> dict[str, Mapping[str, float]]:
    """The features of the facts that a text's speaker says of himself, by subject | relation |
    object."""
    found: list[Mapping[str, float] | None] = []
    read: dict[str, Mapping[str, float]] = {}

    def trusted(tree: SentenceTree, draft: Draft, sure: float, **_: bool) -> float:
        is_own = trust.is_of_speaker(tree, draft)
        found.append(trust.features(tree, draft, sure) if is_own else None)
        return sure

    def facts_in(*arguments: Any, **options: Any) -> list[OpenTriplet]:
        found.clear()
        facts = triplets.facts_in(*arguments, **options)
        for fact, values in zip(facts, found, strict=True):
            fact = replace(fact, position=0)
            _, stated_facts = stated_elements([fact])
            for stated in stated_facts:
                if values is not None:
                    read[f"{stated.subject} | {stated.predicate} | {stated.object}"] = values
        return facts

    with patch.object(triplets, "trusted", trusted), patch.object(statements, "facts_in", facts_in):
        extractor.extract(text, speaker=_SPEAKER, triplets=True)
    return read


def fit(examples: Sequence[Example]) -> dict[str, Any]:
    """The weights of features and their base, by a logistic regression."""
    counts = Counter(name for each in examples for name, value in each.features.items() if value)
    names = sorted(name for name, count in counts.items() if count >= _RARE)
    # The last column tells the parts that were marked less strictly; its weight is left out.
    rows = np.array(
        [
            [*(float(each.features.get(name, 0)) for name in names), not each.is_strict]
            for each in examples
        ]
    )
    weights = [_PART_WEIGHT if each.is_strict else 1.0 for each in examples]
    model = LogisticRegression(C=_PENALTY, max_iter=300, solver="newton-cholesky")
    model.fit(rows, [each.is_right for each in examples], sample_weight=weights)
    values = zip(names, model.coef_[0].round(3).tolist(), strict=False)
    return {
        "base": round(float(model.intercept_[0]), 3),
        "weights": {name: value for name, value in values if value},
    }


def measured(examples: Sequence[Example], folds: int) -> Vector:
    """The confidence of each example by weights that its message had no part in."""
    of = np.array(
        [int.from_bytes(sha256(each.message.encode()).digest()[:4]) % folds for each in examples]
    )
    found = np.zeros(len(examples))
    for fold in range(folds):
        model = fit([each for each, own in zip(examples, of, strict=True) if own != fold])
        for place in np.flatnonzero(of == fold).tolist():
            found[place] = trust.probability(model, examples[place].features)
    return found


def _shares(right: Flags, shown: Flags) -> tuple[str, str]:
    """The share of what is shown that is right, and of what is right that is shown."""
    both = (right & shown).sum()
    return f"{both / max(1, shown.sum()):.3f}", f"{both / max(1, right.sum()):.3f}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit on all marked messages, print the measure by folds, write the weights."""
    parser = argparse.ArgumentParser(description="Fit how far facts of the speaker are trusted")
    parser.add_argument("--output", type=Path, default=trust.DATA, help="the weights (%(default)s)")
    parser.add_argument("--folds", type=int, default=10)
    options = parser.parse_args(arguments)
    if options.folds < 2:
        parser.error("--folds must be at least 2")
    examples = [*read_examples(tomllib.loads(MESSAGES.read_text(encoding="utf-8")))]
    confidences = measured(examples, options.folds)
    right = np.array([each.is_right for each in examples])
    strict = np.array([each.is_strict for each in examples])
    rows = []
    for least in _SHOWN:
        shown = confidences >= least
        rows.append(
            (
                f"{least:.2f}",
                *_shares(right, shown),
                *_shares(right[strict], shown[strict]),
            )
        )
    head = ("confidence", "right", "of the right", "right, strictly", "of the right, strictly")
    print(table(head, rows))
    model = {"fitted_on": f"{MESSAGES.name}, {len(examples)} facts", **fit(examples)}
    options.output.write_text(f"{json.dumps(model, indent=0)}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
