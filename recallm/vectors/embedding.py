"""An embedding model as recallm uses it, whatever library it comes from: what it returns, checked,
and the name that tells it apart from other models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np

from recallm.errors import EmbeddingError, InvalidInputError
from recallm.ground import checks
from recallm.vectors.arrays import Rows, unit_rows

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
"""The attributes in which the classes of LangChain, LlamaIndex, Chroma and Sentence Transformers
name their model."""

_DIMENSION_ATTRIBUTES = ("dimensions", "dimension", "output_dimensionality")
"""The attributes for the dimension that the model was asked for."""

_MAX_NAME_LENGTH = 500

_REMEMBERED = 1 << 13
"""Texts whose vectors are remembered: 12 MB at 384 dimensions."""


def statement_text(text: str, speaker: str | None) -> str:
    """The text that is embedded for a statement: its sentence, after its speaker if known."""
    return f"{speaker}: {text}" if speaker else text


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedding:
    """An embedding model under a name.

    ``name`` tells it apart from others: the vectors of two models are never compared. ``embed``
    returns one vector for each of a list of texts, ``embed_question`` the vector of one question
    (None: ``embed`` does).

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
        if not isinstance(name, str) or not 0 < len(name) <= _MAX_NAME_LENGTH:
            raise InvalidInputError(
                "the name of an embedding model must be a str of 1 to "
                f"{_MAX_NAME_LENGTH} characters",
                argument="embeddings",
            )
        for function in (self.embed, self.embed_question):
            if function is not None and not callable(function):
                raise InvalidInputError(
                    "embed and embed_question must be callables", argument="embeddings"
                )

    def texts(self, texts: list[str]) -> Rows:
        """The unit vectors of ``texts``, of shape (number of texts, dimension); vectors of zeros
        stay as they are. The model embeds equal texts once.

        Raises:
            EmbeddingError: the model failed, or returned anything but vectors of one dimension.
            InvalidInputError: ``texts`` are no list of str.

        """
        texts = checks.strings(texts, "texts")
        if not texts:
            return np.empty((0, 0), np.float32)
        places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        rows = self._unit_rows(self._call(self.embed, list(places)), len(places))
        return rows[[places[text] for text in texts]]

    def question(self, text: str) -> Rows:
        """The unit vector of a question, of shape (dimension,).

        Raises:
            EmbeddingError: the model failed, or returned anything but a vector.

        """
        if self.embed_question is None:
            return np.asarray(self.texts([text])[0])
        vector = self._call(self.embed_question, text)
        return np.asarray(self._unit_rows([vector], 1)[0])

    def _call(self, function: Callable[[Any], Any], argument: str | list[str]) -> Any:
        try:
            result = function(argument)
            is_ready = isinstance(result, np.ndarray | list | str | bytes | Mapping)
            return list(result) if isinstance(result, Iterable) and not is_ready else result
        except EmbeddingError:
            raise
        except Exception as error:
            raise EmbeddingError(
                f"the embedding model {self.name!r} failed: {type(error).__name__}: {error}"
            ) from error

    def _unit_rows(self, result: Any, count: int) -> Rows:
        """What the model returned for ``count`` texts, checked."""
        if not isinstance(result, np.ndarray | list):
            raise self._error(f"returned {type(result).__name__}, not a list of vectors")
        if len(result) != count:
            raise self._error(f"returned {len(result)} vectors for {count} texts")
        try:
            vectors = (list(row) if isinstance(row, Iterator) else row for row in result)
            rows = [np.asarray(row, dtype=np.float64) for row in vectors]
        except Exception as error:
            raise self._error(f"returned something that is no vector: {error}") from error
        shapes = sorted({row.shape for row in rows})
        if len(shapes) != 1 or len(shapes[0]) != 1 or shapes[0] == (0,):
            raise self._error(f"returned vectors of shape {', '.join(map(str, shapes))}")
        matrix = np.stack(rows)
        is_finite = np.isfinite(matrix).all(axis=1)
        if not is_finite.all():
            place = int(np.argmin(is_finite))
            raise self._error(f"returned numbers that are not finite, for text {place}")
        return unit_rows(matrix)

    def _error(self, problem: str) -> EmbeddingError:
        return EmbeddingError(
            f"the embedding model {self.name!r} {problem}; it must return one vector of finite "
            "numbers, all of one dimension, for each text"
        )


class RememberedVectors:
    """The vectors of texts by ``embed``, which is asked once for each text that it is not asked for
    again after thousands of others. Safe to use from several threads."""

    def __init__(self, embed: Callable[[list[str]], Rows]) -> None:
        self._embed = embed
        self._known: dict[str, np.ndarray[tuple[int], np.dtype[np.float32]]] = {}

    def of(self, texts: Sequence[str]) -> Rows:
        """The vector of each text, a row each.

        Raises:
            EmbeddingError: the model failed.

        """
        # The dict is never changed, so that threads need no lock.
        known = self._known
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            embedded = dict(zip(new, self._embed(new), strict=True))
            if len(known) + len(new) > _REMEMBERED:
                known = {text: known[text] for text in texts if text in known}
            known = self._known = {**known, **embedded}
        return np.stack([known[text] for text in texts])


def model_name(model: Any) -> str:
    """A name that tells ``model`` apart, as far as that can be known: its class or function, which
    model it is, and the dimension that it was asked for. A method's name is that of its object.

    Some models cannot be told apart: a function that was changed under its name, or that takes its
    model from a variable outside it, and objects of one class that do not say which model they are.
    Give those an ``Embedding`` with a name.

    Raises:
        InvalidInputError: nothing names the model: it is a lambda or a ``functools.partial``.

    """
    return _full_name(model)[:_MAX_NAME_LENGTH]


def _full_name(model: Any) -> str:
    owner = getattr(model, "__self__", None)
    if owner is not None and not isinstance(owner, type):  # a method: SentenceTransformer.encode
        return f"{_full_name(owner)}.{model.__name__}"
    name = getattr(model, "__qualname__", None)
    if isinstance(model, partial) or (name or "").endswith("<lambda>"):
        raise InvalidInputError(
            f"a {'lambda' if name else 'functools.partial'} names no model, and vectors of two "
            "models must not be compared; give embeddings=Embedding(name='…', embed=…)",
            argument="embeddings",
        )
    if name is not None:
        return f"{model.__module__}.{name}"
    parts = [type(model).__qualname__]
    for attributes in (_MODEL_ATTRIBUTES, _DIMENSION_ATTRIBUTES):
        values = (_attribute(model, path) for path in attributes)
        parts += [str(value) for value in values if value][:1]
    return ":".join(parts)


def _attribute(model: Any, path: str) -> str | int | None:
    """The attribute at a path such as "tokenizer.name_or_path", if it is a text or a number."""
    try:
        value = attrgetter(path)(model)
    except Exception:  # noqa: BLE001 - it may be missing, and a property may fail in any way
        return None
    return value if isinstance(value, str | int) and not isinstance(value, bool) else None
