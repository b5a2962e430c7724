"""How a language model, a function from a prompt to a text, is asked."""

from __future__ import annotations

from collections.abc import Callable

from recallm.errors import LLMError


def answer_of(llm: Callable[[str], str], prompt: str) -> str:
    """The answer of ``llm`` to ``prompt``, without surrounding white space.

    Raises:
        LLMError: it failed, or gave something other than a str.

    """
    try:
        answer: object = llm(prompt)
    except LLMError:
        raise
    except Exception as error:
        raise LLMError(f"the language model failed: {type(error).__name__}: {error}") from error
    if not isinstance(answer, str):
        raise LLMError(
            f"the language model answered with {type(answer).__name__}, not with a str; wrap "
            "it in a function that returns the text"
        )
    return answer.strip()
