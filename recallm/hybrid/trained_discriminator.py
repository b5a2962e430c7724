"""``TrainedDiscriminator``: a linear model over features of the answers; no LLM.

The log-odds that one answer is better than another are the differences of their features times the
weights. There is no intercept, and exchanging the two answers changes the sign, so that their order
does not matter. Of more than two answers, the means of each one's log-odds against the others go
into a softmax.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from recallm.ground import checks
from recallm.hybrid.discriminator import Choice, WeightsError, checked_answers, obvious_choice

if TYPE_CHECKING:
    from recallm.hybrid.features import AnswerFeatures, Floats

_MAX_REASONS = 3
"""Features that a reason names."""

_MIN_LOG_ODDS = 0.01
"""A feature that adds less is no reason."""

_SHIPPED_WEIGHTS = files("recallm.hybrid").joinpath("data", "discriminator.json")


class TrainedDiscriminator:
    """Chooses between answers without a language model, in less than a millisecond.

    Trained on graded answers of the RecallM authors' evaluation (``training/README.md``), on
    features that carry over to other answerers: whether an answer refuses, speaks in general or
    echoes the question, whether it says something of the kind that is asked for, and how much. It
    reads English. ``weights`` is the path of a file that ``python -m training.discriminator``
    wrote; None: the shipped weights.

    Deterministic, and safe to use from several threads.

    >>> TrainedDiscriminator().choose(
    ...     "Who portrays Max Parry?",
    ...     {"recallm": "Kevin Howarth portrays Max Parry.", "vectors": "I don't know."},
    ... ).name
    'recallm'

    Raises:
        InvalidInputError: ``weights`` is not a path.
        WeightsError: the weights cannot be read, or are damaged.

    """

    def __init__(self, weights: str | os.PathLike[str] | None = None) -> None:
        # The features need recallm.english, which imports spaCy: half a second.
        from recallm.hybrid import features

        self._features = features
        source = _SHIPPED_WEIGHTS if weights is None else checks.file_path(weights, "weights")
        try:
            content = source.read_bytes()
        except OSError as error:
            raise WeightsError(
                f"the weights of the discriminator cannot be read: {error}", path=str(source)
            ) from error
        self._weights = load_weights(content, features.FEATURES, path=str(source))

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


def load_weights(content: bytes, names: Sequence[str], *, path: str) -> Floats:
    """The weights of ``names``, shape (len(names),).

    Raises:
        WeightsError: the file is damaged, or of another version.

    """
    try:
        table: Any = json.loads(content)
        weights = np.array([float(table[name]) for name in names], dtype=np.float64)
        is_sound = list(table) == list(names) and bool(np.isfinite(weights).all())
    except (ValueError, TypeError, LookupError, OverflowError, RecursionError):
        is_sound = False
    if not is_sound:
        raise WeightsError(
            "the weights of the discriminator are damaged or of another version: reinstall "
            "recallm, or train them again with this version",
            path=path,
        )
    return weights
