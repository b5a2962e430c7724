"""``TrainedDiscriminator``: a linear model over what can be seen of the answers; no LLM.

What one answer has over another, feature by feature, times the weights is the log-odds that it is
the better one. There is no intercept, and the other over the one has the opposite sign: it does
not matter which stands first. Of more than two, each answer's mean over all of its log-odds
against the others goes into a softmax.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from recallm import checks
from recallm.hybrid.discriminator import Choice, WeightsError, checked_answers, one_of

if TYPE_CHECKING:
    from recallm.hybrid.features import Floats, ReadAnswer

__all__ = ["TrainedDiscriminator", "dump_weights", "load_weights"]

_FORMAT = 1
_TOLD = 3
"""Features that a reason names at most."""
_LEAST = 0.01
"""Log-odds: a feature that adds less is no reason."""
_SHIPPED = files("recallm.hybrid").joinpath("data", "discriminator.json")


class TrainedDiscriminator:
    """Chooses between answers without a language model, in less than a millisecond.

    Trained on graded answers of the RecallM authors' evaluation (``training/README.md``), by what
    carries over to other answerers: whether an answer refuses, asks back or talks in general,
    echoes the question, tells something of the kind that is asked for, and how much. It reads
    English. ``weights``: the path of a file that ``python -m training.discriminator`` wrote; None:
    the shipped ones.

    Deterministic, and safe to use from several threads.

    >>> TrainedDiscriminator().choose(
    ...     "Who portrays Max Parry?",
    ...     {"recallm": "Kevin Howarth portrays Max Parry.", "vectors": "I don't know."},
    ... ).name
    'recallm'

    Raises:
        InvalidInputError: ``weights`` is no path.
        WeightsError: the weights cannot be read, or are damaged.

    """

    def __init__(self, weights: str | os.PathLike[str] | None = None) -> None:
        # With extraction comes spaCy, which takes half a second to import.
        from recallm.hybrid import features

        self._features = features
        source = _SHIPPED if weights is None else checks.file_path(weights, "weights")
        try:
            content = source.read_bytes()
        except OSError as error:
            raise WeightsError(
                f"the weights of the discriminator cannot be read: {error}", path=str(source)
            ) from error
        self._weights = load_weights(content, features.FEATURES, path=str(source))

    def choose(self, question: str, answers: Mapping[str, str | None]) -> Choice:
        """The better of ``answers``, with the probability that it is (see ``Choice``).

        Raises:
            InvalidInputError: the arguments cannot be used.

        """
        asked, checked = checked_answers(question, answers)
        choice = one_of(checked)
        if choice is not None:
            return choice
        said = {name: answer for name, answer in checked.items() if answer}
        read = self._features.ReadQuestion.of(asked)
        texts = [self._features.ReadAnswer.of(answer, read) for answer in said.values()]
        odds = np.array(
            [
                [float(self._features.difference(one, other) @ self._weights) for other in texts]
                for one in texts
            ]
        )
        # By name, so that no sum depends on the order in which the answers were given.
        scores = odds.mean(axis=1)
        shares = np.exp(scores - scores.max())
        best = int(np.argmax(scores))
        others = [texts[place] for place in range(len(texts)) if place != best]
        return Choice(
            list(said)[best],
            float(shares[best] / shares.sum()),
            self._reason(texts[best], others),
        )

    def log_odds(self, question: str, answer: str, other: str) -> Mapping[str, float]:
        """What each feature (``recallm.hybrid.features.FEATURES``) adds to the log-odds that
        ``answer`` is better than ``other``: their sum is the log-odds of the probability with which
        ``choose`` chooses between the two.

        Raises:
            InvalidInputError: the arguments cannot be used.

        """
        question, said = checked_answers(question, {"answer": answer, "other": other})
        answer, other = said["answer"], said["other"]
        read = self._features.ReadQuestion.of(question)
        one, two = (self._features.ReadAnswer.of(text, read) for text in (answer, other))
        added = self._features.difference(one, two) * self._weights
        return dict(zip(self._features.FEATURES, added.tolist(), strict=True))

    def _reason(self, chosen: ReadAnswer, others: Sequence[ReadAnswer]) -> str:
        """Who refuses, where that differs, else what speaks most for the chosen one."""
        refusing = [other.refuses for other in others]
        if all(refusing) and not chosen.refuses:
            who = "the other answer says" if len(others) == 1 else "the other answers say"
            whom = "it does" if len(others) == 1 else "they do"
            return f"{who} that {whom} not know"
        added = np.mean([self._features.difference(chosen, other) for other in others], axis=0)
        added = added * self._weights
        strongest = [place for place in np.argsort(-added)[:_TOLD] if added[place] > _LEAST]
        if not strongest:
            return "nothing tells the answers apart"
        told = ", ".join(f'"{self._features.FEATURES[place]}"' for place in strongest)
        return f"features that speak for it most: {told}"


def dump_weights(names: Sequence[str], weights: Sequence[float]) -> bytes:
    """A weights file: JSON, with a digest of what it holds."""
    table = dict(zip(names, (round(float(weight), 6) for weight in weights), strict=True))
    held = {"format": _FORMAT, "weights": table, "sha256": _digest(table)}
    return (json.dumps(held, indent=1) + "\n").encode()


def load_weights(content: bytes, names: Sequence[str], *, path: str) -> Floats:
    """The weights of ``names``, shape (len(names),).

    Raises:
        WeightsError: the file is damaged, or of another version.

    """
    try:
        held: Any = json.loads(content)
        version, table, digest = held["format"], held["weights"], held["sha256"]
        weights = np.array([float(table[name]) for name in table], dtype=np.float64)
    except (ValueError, TypeError, LookupError, OverflowError, RecursionError) as error:
        raise WeightsError(
            f"the weights of the discriminator are damaged ({type(error).__name__}: {error}): "
            "reinstall recallm, or train them again",
            path=path,
        ) from error
    if version != _FORMAT or list(table) != list(names):
        raise WeightsError(
            f"the weights of the discriminator are of another version (format {version!r}): "
            "reinstall recallm, or train them again with this version",
            path=path,
        )
    if digest != _digest(table) or not np.isfinite(weights).all():
        raise WeightsError(
            "the weights of the discriminator are damaged (they do not have the digest that was "
            "written with them): reinstall recallm, or train them again",
            path=path,
        )
    return weights


def _digest(table: Mapping[str, float]) -> str:
    return hashlib.sha256(json.dumps(table).encode()).hexdigest()
