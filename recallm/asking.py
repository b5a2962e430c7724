"""From a prompt to the answer of a language model."""

from __future__ import annotations

from collections.abc import Callable

from recallm.errors import LLMError

__all__ = ["answered"]


def answered(llm: Callable[[str], str], prompt: str) -> str:
    """What ``llm`` says to ``prompt``, without the white space around it.

    Raises:
        LLMError: it failed, or gave something other than a str.

    """
    try:
        answer: object = llm(prompt)
    except Exception as error:
        raise LLMError(f"the language model failed: {type(error).__name__}: {error}") from error
    if not isinstance(answer, str):
        raise LLMError(
            f"the language model answered with {type(answer).__name__}, not with a str; wrap "
            "it in a function that returns the text"
        )
    return answer.strip()
