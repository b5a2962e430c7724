"""An embedding model as recallm uses it, whatever library it comes from.

Nothing of these libraries is imported: a model is known by the methods that it has. What it gives
is checked: one row of finite numbers for each text, all of one dimension.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from types import CodeType
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from recallm.errors import EmbeddingError, InvalidInputError
from recallm.vectors.blobs import unit_rows

__all__ = ["Embedding", "Rows", "model_name", "statement_text"]

Rows: TypeAlias = npt.NDArray[np.float32]

_MODEL_ATTRIBUTES = (
    "model_name",
    "model",
    "model_id",
    "repo_id",
    "deployment",
    "azure_deployment",
    "name_or_path",
    "tokenizer.name_or_path",
    "model_card_data.base_model",
)
"""What the models of LangChain, LlamaIndex, Chroma and Sentence Transformers call which model they
are."""

_DIMENSION_ATTRIBUTES = ("dimensions", "dimension", "output_dimensionality")
"""What they call the dimension that a model was asked to give."""

_LONGEST_NAME = 500

_LONGEST_WORD = 100

_SAYS_NOTHING = re.compile(
    "key$|token$|secret|password|auth|device|batch|timeout|retries|progress|verbose|workers|client",
    re.IGNORECASE,
)
"""What is given by such names says nothing of the model, or is nobody's business."""


def statement_text(text: str, speaker: str | None) -> str:
    """What is embedded of a statement: who said it, where that is known, and its sentence."""
    return f"{speaker}: {text}" if speaker else text


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedding:
    """An embedding model under a name.

    ``name`` tells it apart from others: the vectors of two models are never compared. ``embed``
    gives one vector for each of a list of texts; ``embed_question`` the vector of one question
    (by ``embed`` where it is None).

    >>> length = Embedding(name="length", embed=lambda texts: [[len(text), 1] for text in texts])
    >>> length.texts(["four", ""]).round(2).tolist()
    [[0.9700000286102295, 0.23999999463558197], [0.0, 1.0]]

    Raises:
        InvalidInputError: the name is empty or too long, or a function cannot be called.

    """

    name: str
    embed: Callable[[list[str]], Any]
    embed_question: Callable[[str], Any] | None = None

    def __post_init__(self) -> None:
        name: object = self.name
        if not isinstance(name, str) or not 0 < len(name) <= _LONGEST_NAME:
            raise InvalidInputError(
                f"the name of an embedding model must be a str of 1 to {_LONGEST_NAME} characters",
                argument="embeddings",
            )
        for function in (self.embed, self.embed_question):
            if function is not None and not callable(function):
                raise InvalidInputError(
                    "embed and embed_question must be callables", argument="embeddings"
                )

    def texts(self, texts: list[str]) -> Rows:
        """The unit vectors of ``texts``, of shape (number of texts, dimension); rows of zeros stay
        as they are.

        Raises:
            EmbeddingError: the model failed, or gave something else than vectors of one dimension.

        """
        if not texts:
            return np.empty((0, 0), np.float32)
        return self._checked(self._called(self.embed, texts), len(texts))

    def question(self, text: str) -> Rows:
        """The unit vector of a question, of shape (dimension,).

        Raises:
            EmbeddingError: the model failed, or gave something else than a vector.

        """
        if self.embed_question is None:
            return np.asarray(self.texts([text])[0])
        given = self._called(self.embed_question, text)
        return np.asarray(self._checked([given], 1)[0])

    def _called(self, function: Callable[[Any], Any], given: str | list[str]) -> Any:
        try:
            result = function(given)
            if isinstance(result, Iterable) and not isinstance(
                result, np.ndarray | list | str | bytes | Mapping
            ):
                return list(result)
        except EmbeddingError:
            raise
        except Exception as error:
            raise EmbeddingError(
                f"the embedding model {self.name!r} failed: {type(error).__name__}: {error}"
            ) from error
        return result

    def _checked(self, given: Any, count: int) -> Rows:
        if not isinstance(given, np.ndarray | list):
            raise self._refused(f"gave {type(given).__name__}, not a list of vectors")
        if len(given) != count:
            raise self._refused(f"gave {len(given)} vectors for {count} texts")
        try:
            read = (list(row) if isinstance(row, Iterator) else row for row in given)
            rows = [np.asarray(row, dtype=np.float64) for row in read]
        except Exception as error:
            raise self._refused(f"gave something that is no vector of numbers: {error}") from error
        shapes = sorted({row.shape for row in rows})
        if any(len(shape) != 1 or shape == (0,) for shape in shapes):
            raise self._refused(f"gave something of shape {shapes[0]} in place of a vector")
        if len(shapes) != 1:
            sizes = ", ".join(str(shape[0]) for shape in shapes)
            raise self._refused(f"gave vectors of several dimensions: {sizes}")
        matrix = np.stack(rows)
        finite = np.isfinite(matrix).all(axis=1)
        if not finite.all():
            place = int(np.argmin(finite))
            raise self._refused(f"gave a vector that is not of finite numbers, for text {place}")
        return unit_rows(matrix)

    def _refused(self, what: str) -> EmbeddingError:
        return EmbeddingError(
            f"the embedding model {self.name!r} {what}; it must give one vector of finite numbers, "
            "all of one dimension, for each text"
        )


def model_name(model: Any) -> str:
    """What tells the model apart, as far as can be known: its class or function, which model it is
    and the dimension that it was asked for.

    Of a method it is its object's, of a ``functools.partial`` also what was given beforehand, of a
    lambda also its code (another version of Python compiles another). What cannot be told apart: a
    function that was changed under its name, or that takes its model from a variable outside it,
    and objects of one class that say nothing of which model they are. An ``Embedding`` with a name
    of one's own tells them apart.
    """
    name = _whole_name(model)
    if len(name) <= _LONGEST_NAME:
        return name
    return f"{name[: _LONGEST_NAME - 17]}#{_digest(name)}"


def _whole_name(model: Any) -> str:
    owner = getattr(model, "__self__", None)
    if owner is not None and not isinstance(owner, type):  # a method, as SentenceTransformer.encode
        return f"{_whole_name(owner)}.{model.__name__}"
    if isinstance(model, partial):
        given = [_given(value) for value in model.args]
        given += [
            f"{key}={_given(value)}"
            for key, value in sorted(model.keywords.items())
            if not _SAYS_NOTHING.search(key)
        ]
        inner = _whole_name(model.func)
        return f"{inner}({', '.join(given)})" if given else inner
    if hasattr(model, "__qualname__"):
        name = f"{model.__module__}.{model.__qualname__}"
        code = getattr(model, "__code__", None)
        if isinstance(code, CodeType) and code.co_name == "<lambda>":
            name += f"#{_digest(_compiled(code))}"
        return name
    parts = [type(model).__qualname__]
    for attributes in (_MODEL_ATTRIBUTES, _DIMENSION_ATTRIBUTES):
        parts += [str(value) for value in (_told(model, it) for it in attributes) if value][:1]
    return ":".join(parts)


def _given(value: object) -> str:
    """A value that a partial was given; what is neither a number nor a short word by its digest,
    an object by its name."""
    if value is None or isinstance(value, bool | int | float):
        return repr(value)
    if isinstance(value, str):
        return value if len(value) <= _LONGEST_WORD else _digest(value)
    return _whole_name(value)


def _compiled(code: CodeType) -> str:
    """The same in every process of one version of Python."""
    constants = ", ".join(map(_constant, code.co_consts))
    return f"{code.co_code.hex()} ({constants}) {code.co_names} {code.co_freevars}"


def _constant(value: object) -> str:
    if isinstance(value, CodeType):
        return _compiled(value)
    if isinstance(value, tuple):
        return f"({', '.join(map(_constant, value))})"
    if isinstance(value, frozenset):
        return f"{{{', '.join(sorted(map(_constant, value)))}}}"
    return repr(value)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]


def _told(model: Any, path: str) -> str | int | None:
    value = model
    with suppress(Exception):  # a property that fails tells nothing
        for attribute in path.split("."):
            value = getattr(value, attribute, None)
        if isinstance(value, str | int) and not isinstance(value, bool):
            return value
    return None
