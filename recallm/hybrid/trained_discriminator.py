"""``TrainedDiscriminator``: a linear model over features of the answers; no LLM.

The log-odds that one answer is better than another are the differences of their features times the
weights. There is no intercept, and exchanging the two answers changes the sign, so that their order
does not matter. Of more than two answers, the means of each one's log-odds against the others go
into a softmax.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from recallm.hybrid.discriminator import Choice, checked_answers, obvious_choice

if TYPE_CHECKING:
    from recallm.hybrid.features import AnswerFeatures

_MAX_REASONS = 3
"""Features that a reason names."""

_MIN_LOG_ODDS = 0.01
"""A feature that adds less is no reason."""

_WEIGHTS = files("recallm.hybrid").joinpath("data", "discriminator.json")


class TrainedDiscriminator:
    """Chooses between answers without a language model, in less than a millisecond.

    Trained on graded answers of the RecallM authors' evaluation (``training/README.md``), on
    features that carry over to other answerers: whether an answer refuses, speaks in general or
    echoes the question, whether it says something of the kind that is asked for, and how much. It
    reads English.

    Deterministic, and safe to use from several threads.

    >>> TrainedDiscriminator().choose(
    ...     "Who portrays Max Parry?",
    ...     {"recallm": "Kevin Howarth portrays Max Parry.", "vectors": "I don't know."},
    ... ).name
    'recallm'

    """

    def __init__(self) -> None:
        # The features need recallm.english, which imports spaCy: half a second.
        from recallm.hybrid import features

        self._features = features
        weights = json.loads(_WEIGHTS.read_text(encoding="utf-8"))
        self._weights = np.array([weights[name] for name in features.FEATURES])

    def choose(self, question: str, answers: Mapping[str, str | None]) -> Choice:
        """The best of ``answers``, with the probability that it is (see ``Choice``).

        Raises:
            InvalidInputError: the arguments cannot be used.

        """
        asked, checked = checked_answers(question, answers)
        choice = obvious_choice(checked)
        if choice is not None:
            return choice
        # The answers are sorted by name: no sum depends on the order in which they were given.
        names = [name for name, answer in checked.items() if answer]
        analysed = self._features.Question(asked)
        features = [self._features.AnswerFeatures(checked[name], analysed) for name in names]
        log_odds = np.array(
            [
                [
                    float(self._features.difference(answer, other) @ self._weights)
                    for other in features
                ]
                for answer in features
            ]
        )
        scores = log_odds.mean(axis=1)
        shares = np.exp(scores - scores.max())
        best = int(np.argmax(scores))
        others = features[:best] + features[best + 1 :]
        return Choice(
            names[best], float(shares[best] / shares.sum()), self._reason(features[best], others)
        )

    def _reason(self, chosen: AnswerFeatures, others: Sequence[AnswerFeatures]) -> str:
        """Who refuses, if that differs, else the features that speak most for the chosen answer."""
        if all(other.refuses for other in others) and not chosen.refuses:
            if len(others) == 1:
                return "the other answer says that it does not know"
            return "the other answers say that they do not know"
        means = np.mean([self._features.difference(chosen, other) for other in others], axis=0)
        log_odds = means * self._weights
        strongest = [
            place
            for place in np.argsort(-log_odds)[:_MAX_REASONS]
            if log_odds[place] > _MIN_LOG_ODDS
        ]
        if not strongest:
            return "nothing tells the answers apart"
        names = ", ".join(f'"{self._features.FEATURES[place]}"' for place in strongest)
        return f"features that speak for it most: {names}"
