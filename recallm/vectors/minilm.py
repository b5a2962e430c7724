"""The default embedding: Chroma's own, all-MiniLM-L6-v2 on ONNX, without its padding.

Chroma pads every text to 256 tokens. Here texts of like length are run together and padded to the
longest of them alone: the same vectors, many times faster. Cut off at 256 tokens, as there.

ONNX Runtime reports to Microsoft from its import on: it writes a device id and a database into the
user's cache folder, and connects some seconds later. Only the environment variable, set before the
import, prevents both; ``disable_telemetry_events`` is called after it, and comes too late.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from recallm.errors import EmbeddingError, MissingDependencyError
from recallm.forking import keep_for_good, new_loading_lock
from recallm.vectors.embedding import Embedding

__all__ = ["NAME", "mini_lm"]

NAME = "all-MiniLM-L6-v2"

_TOGETHER = 64
"""Texts that are run at once."""

_SHA256 = {
    "model.onnx": "4735daca5ef8871b8ab40e0367556cfe417a3936dbc9cdb629232d3f86eeb706",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
"""The digests of the files that are read. Chroma checks its archive alone, not what it unpacked."""

Rows = npt.NDArray[np.float32]


def mini_lm() -> Embedding:
    """The model; it is loaded, and fetched the first time (80 MB), when it is first used. A file
    of it that is damaged or was replaced is an ``EmbeddingError`` then.

    Raises:
        MissingDependencyError: chromadb is not installed.

    """
    if importlib.util.find_spec("chromadb") is None:
        raise MissingDependencyError("chromadb", extra="vectors")
    return Embedding(name=NAME, embed=_embedded)


def _embedded(texts: list[str]) -> Rows:
    return _loaded()(texts)


_loading = new_loading_lock()


def _loaded() -> _MiniLM:
    with _loading:
        return _the_model(os.getpid())


@cache
def _the_model(process: int) -> _MiniLM:
    """The model of one process: ONNX Runtime's threads are not in a forked one, which would wait
    for them for ever, in the model's destructor too."""
    del process
    model = _MiniLM()
    keep_for_good(model)
    return model


class _MiniLM:
    """The model, loaded. Safe for threads."""

    def __init__(self) -> None:
        from chromadb.utils.embedding_functions import ONNXMiniLM_L6_V2

        os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # read when Chroma's class imports onnxruntime
        chroma = ONNXMiniLM_L6_V2()
        chroma.ort.disable_telemetry_events()  # the application may have imported it earlier
        chroma._download_model_if_not_exists()
        for name, expected in _SHA256.items():
            _verify(chroma.DOWNLOAD_PATH / chroma.EXTRACTED_FOLDER_NAME / name, expected)
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


def _verify(path: Path, expected: str) -> None:
    """Refuse a file of the model that does not have the SHA-256 ``expected``."""
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
            size = file.tell()
    except OSError as error:
        raise EmbeddingError(f"a file of the model {NAME} cannot be read: {error}") from error
    if found != expected:
        raise EmbeddingError(
            f"{path} ({size:,} bytes) is damaged or was replaced: its SHA-256 is {found}, that of "
            f"the model {NAME} is {expected}; delete the file, and the model is fetched anew when "
            "it is next used"
        )
