"""Language models as functions from a prompt to pieces of text: callables, and the models of
LangChain and LlamaIndex by the methods that they have."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import Any, TypeAlias, cast

from recallm.errors import InvalidInputError, LLMError
from recallm.ground import checks
from recallm.ground.untrusted_text import storable

TextPieces: TypeAlias = Callable[[str], "Generator[str, None, None]"]
"""From a prompt to the pieces of the text that a model writes behind it."""


def text_pieces(model: object) -> TextPieces:
    """``model`` as a function from a prompt to the pieces of its text.

    ``model`` is a callable from a prompt to a text or to an iterator of pieces; or it has
    LangChain's ``stream``, or LlamaIndex's ``stream_complete``. The model is closed where no more
    pieces are asked for. Characters that no store can hold become question marks.

    Raises:
        InvalidInputError: ``model`` is none of these.
        LLMError: while the pieces are read: the model failed, or gave something that is no text.

    """
    source = _source(model)

    def pieces(prompt: str) -> Generator[str, None, None]:
        answer: Any = None
        try:
            answer = source(prompt)
            for piece in answer if isinstance(answer, Iterator | list | tuple) else (answer,):
                if text := _text_of(piece):
                    yield storable(text)
        except LLMError:
            raise
        except Exception as error:
            raise LLMError(f"the language model failed: {type(error).__name__}: {error}") from error
        finally:
            close = getattr(answer, "close", None)
            if callable(close):
                close()

    return pieces


def _source(model: Any) -> Callable[[str], object]:
    if not isinstance(model, type):
        if callable(getattr(model, "invoke", None)) and callable(getattr(model, "stream", None)):
            return cast(Callable[[str], object], model.stream)
        if callable(getattr(model, "stream_complete", None)):
            return lambda prompt: _completed(model, prompt)
        if callable(model):
            return cast(Callable[[str], object], model)
    raise InvalidInputError(
        "llm must be a callable prompt → text or prompt → pieces of text, or a model of LangChain "
        f"or LlamaIndex, not {checks.shown(model)}",
        argument="llm",
    )


def _completed(model: Any, prompt: str) -> Iterator[object]:
    """The pieces of a LlamaIndex model, whole where it cannot stream."""
    try:
        for response in model.stream_complete(prompt):
            yield response.delta or ""
    except NotImplementedError:
        yield model.complete(prompt).text


def _text_of(piece: object) -> str:
    """The text of a piece: a str, or a message of LangChain, of which only the text counts."""
    text = piece if isinstance(piece, str) else getattr(piece, "text", None)
    if isinstance(text, str):
        return str(text)
    raise LLMError(
        f"the language model answered with {type(piece).__name__}, not with text; wrap it in a "
        "function that returns the text"
    )
