"""The default embedding: Chroma's own, all-MiniLM-L6-v2 on ONNX, without its padding.

Chroma pads every text to 256 tokens. Here texts of like length are run together and padded to the
longest of them alone: the same vectors, many times faster. Cut off at 256 tokens, as there.
"""

from __future__ import annotations

import importlib.util
import threading
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from recallm.errors import MissingDependencyError
from recallm.vectors.embedding import Embedding

__all__ = ["NAME", "mini_lm"]

NAME = "all-MiniLM-L6-v2"

_TOGETHER = 64
"""Texts that are run at once."""

Rows = npt.NDArray[np.float32]


def mini_lm() -> Embedding:
    """The model; it is loaded, and fetched the first time (80 MB), when it is first used.

    Raises:
        MissingDependencyError: chromadb is not installed.

    """
    if importlib.util.find_spec("chromadb") is None:
        raise MissingDependencyError("chromadb", extra="vectors")
    return Embedding(name=NAME, embed=_embedded)


def _embedded(texts: list[str]) -> Rows:
    return _loaded()(texts)


_loading = threading.Lock()


def _loaded() -> _MiniLM:
    with _loading:
        return _the_model()


@cache
def _the_model() -> _MiniLM:
    return _MiniLM()


class _MiniLM:
    """The model, loaded. Safe for threads."""

    def __init__(self) -> None:
        from chromadb.utils.embedding_functions import ONNXMiniLM_L6_V2

        chroma = ONNXMiniLM_L6_V2()
        chroma._download_model_if_not_exists()
        self._tokenizer: Any = chroma.tokenizer
        self._tokenizer.no_padding()
        self._session: Any = chroma.model

    def __call__(self, texts: list[str]) -> Rows:
        """Unit vectors, of shape (number of texts, 384)."""
        tokens = [encoded.ids for encoded in self._tokenizer.encode_batch(texts)]
        order = sorted(range(len(tokens)), key=lambda place: len(tokens[place]))
        vectors = np.empty((len(texts), 384), np.float32)
        for start in range(0, len(order), _TOGETHER):
            places = order[start : start + _TOGETHER]
            vectors[places] = self._run([tokens[place] for place in places])
        return vectors

    def _run(self, tokens: list[list[int]]) -> Rows:
        lengths = np.array([len(each) for each in tokens])
        mask = np.arange(lengths.max())[None, :] < lengths[:, None]
        ids = np.zeros(mask.shape, np.int64)
        ids[mask] = np.concatenate(tokens)
        hidden: Rows = self._session.run(
            None,
            {
                "input_ids": ids,
                "attention_mask": mask.astype(np.int64),
                "token_type_ids": np.zeros_like(ids),
            },
        )[0]
        means = np.einsum("ntd,nt->nd", hidden, mask.astype(np.float32)) / lengths[:, None]
        return np.asarray(means / np.linalg.norm(means, axis=1, keepdims=True))
