"""``TrainedDiscriminator``: a linear model over features of the answers; no LLM.

The score of an answer is its features times the weights, and a softmax turns the scores into
probabilities: the log-odds that one of two answers is the better one are the difference of their
scores. There is no intercept, so that the order of the answers does not matter.
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
    echoes the question, and how much it says. It reads English.

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
        answered = [self._features.AnswerFeatures(checked[name], analysed) for name in names]
        scores = np.stack([each.values for each in answered]) @ self._weights
        shares = np.exp(scores - scores.max())
        best = int(np.argmax(scores))
        others = answered[:best] + answered[best + 1 :]
        return Choice(
            names[best], float(shares[best] / shares.sum()), self._reason(answered[best], others)
        )

    def _reason(self, chosen: AnswerFeatures, others: Sequence[AnswerFeatures]) -> str:
        """Who refuses, if that differs, else the features that speak most for the chosen answer."""
        if all(other.refuses for other in others) and not chosen.refuses:
            if len(others) == 1:
                return "the other answer says that it does not know"
            return "the other answers say that they do not know"
        log_odds = (
            chosen.values - np.mean([each.values for each in others], axis=0)
        ) * self._weights
        strongest = [
            place
            for place in np.argsort(-log_odds)[:_MAX_REASONS]
            if log_odds[place] > _MIN_LOG_ODDS
        ]
        if not strongest:
            return "nothing tells the answers apart"
        names = ", ".join(f'"{self._features.FEATURES[place]}"' for place in strongest)
        return f"features that speak for it most: {names}"
