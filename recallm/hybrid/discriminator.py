"""Discriminators: given a question and named answers, one chooses.

``LLMDiscriminator`` asks a language model by a 6-shot prompt. ``TrainedDiscriminator`` is a linear
model over features of the answers: a softmax turns the scores into probabilities, so that the
log-odds that one of two answers is the better one are the difference of their scores. There is no
intercept, so that the order of the answers does not matter.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Protocol, runtime_checkable

import numpy as np

from recallm.errors import InvalidInputError, LLMError
from recallm.ground import checks
from recallm.ground.untrusted_text import storable
from recallm.recall.prompts import answer_of, discriminator_prompt


@dataclass(frozen=True, slots=True)
class Choice:
    """The answer that was chosen, by its name.

    ``probability`` (0 to 1) that it is the best, if one of them is; 1 / (number of answers) means
    that nothing tells them apart. None: the discriminator has no probabilities. ``reason`` says
    why, in a few words, where more than the features speak for it: the others say that they do not
    know, why no model was asked, or what the model replied.
    """

    name: str
    probability: float | None = None
    reason: str = ""


@runtime_checkable
class Discriminator(Protocol):
    """Chooses between answers to one question (paper, Hybrid-RecallM Architecture)."""

    def choose(self, question: str, answers: Mapping[str, str | None]) -> Choice:
        """The best of ``answers`` (by name; at least one). Their order does not matter. None or
        white space is no answer: it is chosen only if there is no other."""
        ...


def checked_answers(question: object, answers: object) -> tuple[str, dict[str, str]]:
    """The arguments of ``choose``, checked: the answers by name, sorted, '' for no answer. Lone
    surrogates in answers, which models may send, become question marks.

    Raises:
        InvalidInputError: they cannot be used.

    """
    if not isinstance(answers, Mapping) or not answers:
        raise InvalidInputError(
            "answers must be a mapping of at least one name to its answer, such as "
            '{"recallm": "…", "vectors": "…"}',
            argument="answers",
        )
    for name, answer in answers.items():
        checks.string(name, "answers")
        if answer is not None and not isinstance(answer, str):
            raise InvalidInputError(
                f"the answer {name!r} must be a str or None, not {type(answer).__name__}",
                argument="answers",
            )
    texts = {name: storable(answers[name] or "") for name in sorted(answers)}
    return checks.string(question, "question"), {
        name: text if text.strip() else "" for name, text in texts.items()
    }


def obvious_choice(answers: Mapping[str, str]) -> Choice | None:
    """The choice that needs no discriminator: all answers are empty, all are equal, or only one has
    text. Of equal answers the first by name; None if there is a choice to make."""
    texts = {name: " ".join(answer.split()) for name, answer in answers.items() if answer}
    if not texts:
        return Choice(min(answers), 1 / len(answers), "no answer holds any text")
    if len(texts) == 1:
        only = next(iter(texts))
        return Choice(only, 1.0, "" if len(answers) == 1 else "the others hold no text")
    if len(set(texts.values())) == 1:
        return Choice(min(texts), 1 / len(texts), "the answers are equal")
    return None


# A language model as the discriminator.


_THOUGHT_END = "</think>"
_NUMBER = re.compile(
    r"\W*(?:(?:the )?(?:best |final )?(?:answer|choice|option|number)(?: is)?\b\W*)?(\d+)\b\W*",
    re.IGNORECASE,
)
"""The number of an answer as models write it: "2", "**2.**", "Best answer: 2"."""

_MAX_DIGITS = 4
"""Digits of a number that are read: no prompt shows so many answers."""

_MAX_SHOWN = 200
"""Characters of a reply in an error."""


class LLMDiscriminator:
    """Chooses between answers as in the paper: a 6-shot prompt asks ``llm`` for the more certain
    and concise one. ``llm`` is any callable prompt → text.

    The order of the answers in the prompt depends on their texts only, so that no name is favoured.
    The choice has no probability; its ``reason`` is the model's reply. The model is not asked if
    all answers are equal, or only one has text.

    >>> discriminator = LLMDiscriminator(lambda prompt: "1")
    >>> discriminator.choose("Who is Bo?", {"recallm": "A cat.", "vectors": ""}).name
    'recallm'

    Raises:
        InvalidInputError: ``llm`` is not callable.

    """

    def __init__(self, llm: Callable[[str], str]) -> None:
        if not callable(llm):
            raise InvalidInputError("llm must be a callable prompt → text", argument="llm")
        self._llm = llm

    def choose(self, question: str, answers: Mapping[str, str | None]) -> Choice:
        """The best of ``answers`` in the model's opinion.

        Raises:
            InvalidInputError: the arguments cannot be used.
            LLMError: the model failed, or its reply is not the number of an answer.

        """
        asked, checked = checked_answers(question, answers)
        choice = obvious_choice(checked)
        if choice is not None:
            return choice
        # Equal answers are shown once, under the first of their names.
        names = {answer: name for name, answer in reversed(checked.items()) if answer}
        texts = sorted(names, key=lambda each: hashlib.sha256(f"{asked}\0{each}".encode()).digest())
        reply = answer_of(self._llm, discriminator_prompt(asked, texts))
        place = _chosen_place(reply, texts)
        if place is None:
            raise LLMError(
                "the discriminator's language model was to reply with the number of an answer, 1 "
                f"to {len(texts)}, but replied {reply[:_MAX_SHOWN]!r}"
            )
        return Choice(names[texts[place]], None, reply)


def _chosen_place(reply: str, texts: Sequence[str]) -> int | None:
    """The place of the text that a reply chooses, behind its thoughts: by its number alone, or with
    the text repeated behind it ("2. Brandon lives in Paris."). None for any other reply."""
    said = reply.rpartition(_THOUGHT_END)[2].strip()
    found = _NUMBER.match(said)
    if found is None:
        return None
    place = int(found[1][:_MAX_DIGITS]) - 1
    if not 0 <= place < len(texts):
        return None
    repeated = said[found.end() :]
    return place if repeated in ("", texts[place].strip()) else None


# A trained model.


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
        stems = self._features.question_stems(asked)
        answered = [self._features.AnswerFeatures(checked[name], stems) for name in names]
        scores = np.stack([each.values for each in answered]) @ self._weights
        shares = np.exp(scores - scores.max())
        best = int(np.argmax(scores))
        others = answered[:best] + answered[best + 1 :]
        is_told = not answered[best].refuses and all(each.refuses for each in others)
        reason = "the others say that they do not know" if is_told else ""
        return Choice(names[best], float(shares[best] / shares.sum()), reason)
