"""What a user may give as ``embeddings`` and as ``vector_index``, checked and opened.

No library of embedding models is imported: a model is recognised by its methods.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from recallm.errors import InvalidInputError, MissingDependencyError
from recallm.ground import checks
from recallm.stores.base import GraphStore
from recallm.vectors import minilm
from recallm.vectors.chroma import ChromaIndex
from recallm.vectors.embedding import Embedding, model_name
from recallm.vectors.index import ExactIndex

_FRAMEWORK_METHODS = (
    ("embed_documents", "embed_query"),  # LangChain
    ("get_text_embedding_batch", "get_query_embedding"),  # LlamaIndex
)
"""The methods that embed texts, and one question."""


def checked_embedding(given: object) -> Embedding | None:
    """The argument ``embeddings`` as an ``Embedding``: None, "default", the folder of a model (see
    ``minilm.model_in``; as a Path, or a str with a separator), an ``Embedding``, an embedding model
    of LangChain or LlamaIndex, an ``EmbeddingFunction`` of Chroma, or a callable list of texts →
    vectors.

    Raises:
        InvalidInputError: it is none of these.
        MissingDependencyError: "default" or a folder needs a package that is not installed.

    """
    if given is None or isinstance(given, Embedding):
        return given
    if isinstance(given, str) and given == "default":
        return minilm.mini_lm()
    if _is_path(given):
        return minilm.model_in(checks.file_path(given, "embeddings"))
    model: Any = given
    if not isinstance(model, type):
        for methods in _FRAMEWORK_METHODS:
            embed, embed_question = (getattr(model, method, None) for method in methods)
            if callable(embed) and callable(embed_question):
                return Embedding(name=model_name(model), embed=embed, embed_question=embed_question)
        if callable(model):
            is_chroma = callable(getattr(model, "default_space", None))
            embed_question = _chroma_question(model) if is_chroma else None
            return Embedding(name=model_name(model), embed=model, embed_question=embed_question)
    raise InvalidInputError(
        "embeddings must be 'default', the folder of a model (as a Path, or a str with a "
        "separator), an embedding model of LangChain, LlamaIndex or Chroma, a callable list of "
        f"texts → vectors, or an Embedding, not {checks.shown(given)}",
        argument="embeddings",
    )


def _is_path(given: object) -> bool:
    """Whether it is a Path, or a str with a separator."""
    return isinstance(given, os.PathLike) or (
        isinstance(given, str) and (os.sep in given or "/" in given)
    )


def _chroma_question(model: Any) -> Callable[[str], Any]:
    """Embeds one question: Chroma's models take only lists."""
    embed = getattr(model, "embed_query", model)
    return lambda question: embed([question])[0]


def checked_index(given: object, store: object) -> Path | Any | None:
    """The argument ``vector_index`` as the place of a Chroma index: a folder, or a client of
    chromadb; None for the exact search. ``store`` is the argument of that name: "chroma" beside an
    SQLite file means the folder ``FILE.chroma``.

    Raises:
        InvalidInputError: it is none of these.
        MissingDependencyError: chromadb is needed and not installed.

    """
    if given is None or (isinstance(given, str) and given == "exact"):
        return None
    place = _chroma_place(given, store)
    if importlib.util.find_spec("chromadb") is None:
        raise MissingDependencyError("chromadb", extra="chroma")
    return place


def _chroma_place(given: object, store: object) -> Path | Any:
    if isinstance(given, str) and given == "chroma":
        is_file = isinstance(store, os.PathLike) or (
            isinstance(store, str) and store != ":memory:" and "://" not in store
        )
        if not is_file:
            raise InvalidInputError(
                "vector_index='chroma' makes a folder beside an SQLite file; for another store "
                "give a folder or a chromadb client",
                argument="vector_index",
            )
        return Path(f"{os.fspath(store)}.chroma")  # type: ignore[call-overload]
    if _is_path(given):
        return checks.file_path(given, "vector_index")
    if callable(getattr(given, "get_or_create_collection", None)):
        return given
    raise InvalidInputError(
        "vector_index must be 'exact', 'chroma', a folder (as a Path, or a str with a "
        f"separator) or a chromadb client, not {checks.shown(given)}",
        argument="vector_index",
    )


def open_index(place: Path | Any | None, store: GraphStore) -> ExactIndex:
    """The index at the place that ``checked_index`` gave."""
    return ExactIndex() if place is None else ChromaIndex(store, place)
