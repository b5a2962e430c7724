"""What a discriminator is: it is given a question and named answers, and chooses one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from recallm import checks
from recallm.errors import InvalidInputError, RecallMError

__all__ = ["Choice", "Discriminator", "WeightsError", "checked_answers", "one_of"]


class WeightsError(RecallMError):
    """The weights of a discriminator cannot be read, are damaged, or are of another version."""

    def __init__(self, message: str, *, path: str) -> None:
        super().__init__(f"{message} ({path})")
        self.path = path


@dataclass(frozen=True, slots=True)
class Choice:
    """The answer that was chosen, by its name.

    ``probability`` (0 to 1): that it is the better one, where one is better; 1 over their number
    says that nothing tells them apart. None where the discriminator gives none. ``reason`` says
    why, in a few words: what speaks for it, why nothing was asked, or what a model replied.
    """

    name: str
    probability: float | None = None
    reason: str = ""


@runtime_checkable
class Discriminator(Protocol):
    """Chooses between answers to one question (paper, Hybrid-RecallM Architecture)."""

    def choose(self, question: str, answers: Mapping[str, str | None]) -> Choice:
        """The better of ``answers`` (by name; at least one), whatever order they stand in. None,
        or nothing but white space, is no answer: one is chosen only where there is no other."""
        ...


def checked_answers(question: object, answers: object) -> tuple[str, dict[str, str]]:
    """The arguments of ``choose``, checked: answers in the order of their names, '' where there is
    none. Lone surrogates, which models may send, become question marks.

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
    checked: dict[str, str] = {}
    for name in answers:
        checks.string(name, "answers")
    for name in sorted(answers):
        answer = answers[name]
        if answer is not None and not isinstance(answer, str):
            raise InvalidInputError(
                f"the answer {name!r} must be a str or None, not {type(answer).__name__}",
                argument="answers",
            )
        text = _encodable(answer or "")
        checked[name] = text if text.strip() else ""
    return _encodable(question), checked


def one_of(answers: Mapping[str, str]) -> Choice | None:
    """The choice where none is to be made, else None: all answers are empty or equal, or one alone
    is not empty. Of equals the first by name."""
    said = {name: " ".join(answer.split()) for name, answer in answers.items() if answer}
    if not said:
        return Choice(min(answers), 1 / len(answers), "no answer holds any text")
    if len(said) == 1:
        only = next(iter(said))
        return Choice(only, 1.0, "" if len(answers) == 1 else "the others hold no text")
    if len(set(said.values())) == 1:
        return Choice(min(said), 1 / len(said), "the answers are equal")
    return None


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
