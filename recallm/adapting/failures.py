"""Failures that both adapters treat alike: a memory that fails beside an agent, and a model that
cannot be used as the core's language model."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from recallm.errors import InvalidInputError, LLMError

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureGuard:
    """Runs an adapter's work with its memory so that the agent goes on where that work fails."""

    log: logging.Logger
    raise_errors: bool

    def run(self, work: Callable[[], _T], loss: str) -> _T | None:
        """The result of ``work``; None where it fails: the failure is logged with the ``loss``,
        bad input in one line, anything else with its traceback."""
        try:
            return work()
        except Exception as error:
            if self.raise_errors:
                raise
            if isinstance(error, InvalidInputError):
                self.log.warning("%s: %s", loss, error)
            else:
                self.log.warning("the memory failed, the agent goes on: %s", loss, exc_info=True)
            return None


def not_a_model(given: object, argument: str, expected: str) -> InvalidInputError:
    """The error for a value that is no model of the framework; ``expected`` says what is."""
    hint = (
        "; a callable prompt → text is given to RecallM(llm=…) as it is"
        if callable(given) and not isinstance(given, type)
        else ""
    )
    kind = f"the class {given.__name__}" if isinstance(given, type) else type(given).__name__
    return InvalidInputError(f"{argument} must be {expected}, not {kind}{hint}", argument=argument)


def answer_without_text() -> LLMError:
    """The error for an answer that holds something, but no text."""
    return LLMError(
        "the model answered without text (a tool call, an image or reasoning alone); give a model "
        "without tools that answers in text"
    )
