"""What a user may give as ``embeddings``, checked.

No library of embedding models is imported: a model is recognised by its methods.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from recallm.errors import InvalidInputError
from recallm.ground import checks
from recallm.vectors import minilm
from recallm.vectors.embedding import Embedding, model_name

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
