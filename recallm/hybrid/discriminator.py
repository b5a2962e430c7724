"""The protocol of discriminators: given a question and named answers, choose one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from recallm import checks
from recallm.errors import InvalidInputError, RecallMError

__all__ = ["Choice", "Discriminator", "WeightsError", "checked_answers", "obvious_choice"]


class WeightsError(RecallMError):
    """The weights of a discriminator cannot be read, are damaged, or are of another version."""

    def __init__(self, message: str, *, path: str) -> None:
        super().__init__(f"{message} ({path})")
        self.path = path


@dataclass(frozen=True, slots=True)
class Choice:
    """The answer that was chosen, by its name.

    ``probability`` (0 to 1) that it is the best, if one of them is; 1 / (number of answers) means
    that nothing tells them apart. None: the discriminator has no probabilities. ``reason`` says
    why, in a few words: the features that speak for it, why no model was asked, or what the model
    replied.
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
    surrogates, which models may send, become question marks.

    Raises:
        InvalidInputError: they cannot be used.

    """
    if not isinstance(question, str):
        raise InvalidInputError(
            f"question must be a str, not {type(question).__name__}", argument="question"
        )
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
    texts = {name: _encodable(answers[name] or "") for name in sorted(answers)}
    return _encodable(question), {
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


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
