"""What Hybrid-RecallM gives back: the chosen answer with both branches', or both contexts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from recallm.errors import RecallMError
from recallm.hybrid.discriminator import Choice
from recallm.model import empty_mapping
from recallm.results import Answer, RecalledContext

__all__ = ["HybridAnswer", "HybridContexts", "HybridError"]


class HybridError(RecallMError):
    """Every branch failed; ``errors`` holds each one's error, by its name."""

    def __init__(self, errors: Mapping[str, Exception]) -> None:
        told = "; ".join(f"{name}: {type(it).__name__}: {it}" for name, it in errors.items())
        super().__init__(f"no branch of the hybrid could answer ({told})")
        self.errors = errors


class HybridAnswer(Answer):
    """The chosen answer, a ``str``, with the ``context`` that it was given.

    ``choice`` says which branch it is of, and why; ``answers`` holds each branch's answer (with its
    own context), ``errors`` the error of a branch that failed, by name: "recallm", "vectors".
    """

    __slots__ = ("answers", "choice", "errors")

    choice: Choice
    answers: Mapping[str, Answer]
    errors: Mapping[str, Exception]

    @classmethod
    def of(
        cls, choice: Choice, answers: Mapping[str, Answer], errors: Mapping[str, Exception]
    ) -> HybridAnswer:
        """The answer that ``choice`` names."""
        chosen = answers[choice.name]
        answer = cls(chosen, chosen.context)
        answer.choice = choice
        answer.answers = answers
        answer.errors = errors
        return answer

    @property
    def contexts(self) -> Mapping[str, RecalledContext]:
        """What each branch's model was given, by the branch's name."""
        return {name: answer.context for name, answer in self.answers.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class HybridContexts:
    """What both branches recall: ``contexts`` by the branch's name ("recallm", "vectors"), and the
    ``errors`` of a branch that failed. A context of a user's own retriever holds text alone."""

    contexts: Mapping[str, RecalledContext]
    errors: Mapping[str, Exception] = field(default_factory=empty_mapping)
