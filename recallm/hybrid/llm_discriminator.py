"""``LLMDiscriminator``: a language model chooses between answers, by a 6-shot prompt."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence

from recallm.errors import InvalidInputError, LLMError
from recallm.hybrid.discriminator import Choice, checked_answers, obvious_choice
from recallm.prompts import answer_of, discriminator_prompt

__all__ = ["LLMDiscriminator"]

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
        texts = sorted(names, key=lambda answer: _digest(asked, answer))
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


def _digest(question: str, answer: str) -> str:
    return hashlib.sha256(f"{question}\0{answer}".encode()).hexdigest()
