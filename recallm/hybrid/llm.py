"""``LLMDiscriminator``: a language model chooses between answers, by a 6-shot prompt."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence

from recallm import checks
from recallm.errors import InvalidInputError, LLMError
from recallm.hybrid.discriminator import Choice, checked_answers, one_of
from recallm.prompts import discriminator_prompt

__all__ = ["LLMDiscriminator"]

_CALLED = r"(?:(?:answer|choice|option|response|number|no\.)\W*)*"
_LABEL = r"(\d+)(?!\w|[.,]\d)"
_THOUGHT = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.IGNORECASE | re.DOTALL)
_VERDICT = re.compile(
    r"\b(?:(?:best|better|final|chosen|correct)\s+(?:answer|choice|option|response|one)|"
    r"(?:answer|choice|option|response|one)\s+is|choose|chose|pick|select|prefer|go with)\W*"
    rf"(?:(?:is|would be|:|=)\W*)?{_CALLED}{_LABEL}",
    re.IGNORECASE,
)
_AT_START = re.compile(rf"\W*{_LABEL}(?!\W*(?:or|and|,|/)\W*\d)")
_CALLED_AT_START = re.compile(
    rf"\W*{_CALLED}{_LABEL}\W*"
    r"(?:$|\n|because|since|as |is (?:the |a )?(?:better|best|more|clear|right))",
    re.IGNORECASE,
)
_ANY = re.compile(rf"(?<![\w.,]){_LABEL}")
_SHOWN = 200


class LLMDiscriminator:
    """Chooses between answers as in the paper: a 6-shot prompt asks ``llm`` for the more certain
    and concise one. ``llm`` is any callable prompt → text.

    In which order the answers stand in the prompt depends on their texts alone, so that no name is
    favoured. The choice has no probability; its ``reason`` is what the model replied. Where all
    answers are equal, or one alone holds any text, the model is not asked.

    >>> discriminator = LLMDiscriminator(lambda prompt: "1")
    >>> discriminator.choose("Who is Bo?", {"recallm": "A cat.", "vectors": ""}).name
    'recallm'

    Raises:
        InvalidInputError: ``llm`` is not callable.

    """

    def __init__(self, llm: Callable[[str], str]) -> None:
        checked = checks.optional_callable(llm, "llm")
        if checked is None:
            raise InvalidInputError("llm must be a callable prompt → text", argument="llm")
        self._llm = checked

    def choose(self, question: str, answers: Mapping[str, str | None]) -> Choice:
        """The better of ``answers``, as the model sees it.

        Raises:
            InvalidInputError: the arguments cannot be used.
            LLMError: the model failed, or its reply names no answer, or several.

        """
        asked, checked = checked_answers(question, answers)
        choice = one_of(checked)
        if choice is not None:
            return choice
        # Equal answers are shown once, under the first of their names.
        said = {answer: name for name, answer in reversed(checked.items()) if answer}
        texts = sorted(said, key=lambda answer: _digest(asked, answer))
        try:
            reply: object = self._llm(discriminator_prompt(asked, texts))
        except Exception as error:
            raise LLMError(
                f"the discriminator's language model failed: {type(error).__name__}: {error}"
            ) from error
        if not isinstance(reply, str):
            raise LLMError(
                f"the discriminator's language model replied with {type(reply).__name__}, not with "
                "a str; wrap it in a function that returns the text"
            )
        place = _place(reply, texts)
        if place is None:
            raise LLMError(
                "the discriminator's language model was to reply with the number of an answer, 1 "
                f"to {len(texts)}, but replied {reply.strip()[:_SHOWN]!r}"
            )
        return Choice(said[texts[place]], None, reply.strip())


def _place(reply: str, texts: Sequence[str]) -> int | None:
    """Which text a reply names: by its verdict ("best answer: 2"), the last of several; else by
    what it begins with, else by the only number in it, else by repeating the text itself."""
    reply = _THOUGHT.sub("", reply)
    for found in (
        _VERDICT.findall(reply)[-1:],
        _AT_START.match(reply),
        _CALLED_AT_START.match(reply),
        _ANY.findall(reply),
    ):
        numbers = found if isinstance(found, list) else [found[1]] if found is not None else []
        places = {int(it) - 1 for it in numbers if len(it) < 4} & set(range(len(texts)))
        if len(places) == 1:
            return places.pop()
    said = _folded(reply)
    return next((place for place, text in enumerate(texts) if _folded(text) == said), None)


def _folded(text: str) -> str:
    return " ".join(text.split()).strip("\"'").casefold()


def _digest(question: str, answer: str) -> str:
    return hashlib.sha256(f"{question}\0{answer}".encode()).hexdigest()
