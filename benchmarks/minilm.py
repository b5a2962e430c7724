"""Chroma's default embedding, all-MiniLM-L6-v2 in floating point, and vectors that stay in a file.

For peers, in environments of their own too: this module needs numpy, onnxruntime, tokenizers and
nothing of recallm. The model's files lie where Chroma keeps them. The vectors are Chroma's own (a
text is cut off after 256 tokens), without its padding of every text to 256 tokens.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.float32]

_FOLDER = Path.home() / ".cache" / "chroma" / "onnx_models" / "all-MiniLM-L6-v2" / "onnx"
_MAX_TOKENS = 256
_BATCH = 64


class KeptVectors:
    """The vectors that ``embed`` gives to texts, each computed once and kept in the SQLite file
    ``path``, or in the memory of this process (":memory:")."""

    def __init__(self, embed: Callable[[list[str]], Rows], path: Path | str = ":memory:") -> None:
        self._embed = embed
        self._lock = threading.Lock()
        self._file = sqlite3.connect(path, timeout=600, check_same_thread=False)
        self._file.execute("PRAGMA journal_mode = WAL")
        self._file.execute(
            "CREATE TABLE IF NOT EXISTS vectors (text BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID"
        )

    def __call__(self, texts: list[str]) -> Rows:
        """A row for each text. Safe for threads."""
        with self._lock:
            return self._rows(texts)

    def _rows(self, texts: list[str]) -> Rows:
        keys = [hashlib.sha256(text.encode()).digest() for text in texts]
        found = {key: vector for key in set(keys) if (vector := self._kept(key)) is not None}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        if missing:
            new = np.asarray(self._embed(list(missing.values())), np.float32)
            found.update(zip(missing, new, strict=True))
            with self._file:
                self._file.executemany(
                    "INSERT OR IGNORE INTO vectors VALUES (?, ?)",
                    [(key, found[key].tobytes()) for key in missing],
                )
        return np.stack([found[key] for key in keys])

    def _kept(self, key: bytes) -> Rows | None:
        row = self._file.execute("SELECT vector FROM vectors WHERE text = ?", (key,)).fetchone()
        return None if row is None else np.frombuffer(row[0], np.float32)


def chroma_mini_lm(texts: list[str]) -> Rows:
    """Unit vectors, of shape (number of texts, 384)."""
    tokenizer, session = _model()
    tokens = [encoded.ids for encoded in tokenizer.encode_batch(texts)]
    by_length = sorted(range(len(tokens)), key=lambda place: len(tokens[place]))
    vectors = np.empty((len(texts), 384), np.float32)
    for start in range(0, len(by_length), _BATCH):
        places = by_length[start : start + _BATCH]
        lengths = np.array([len(tokens[place]) for place in places])
        mask = np.arange(lengths.max())[None, :] < lengths[:, None]
        ids = np.zeros(mask.shape, np.int64)
        ids[mask] = np.concatenate([tokens[place] for place in places])
        feed = {
            "input_ids": ids,
            "attention_mask": mask.astype(np.int64),
            "token_type_ids": np.zeros_like(ids),
        }
        [hidden] = session.run(None, feed)
        means = np.einsum("ntd,nt->nd", hidden, mask.astype(np.float32)) / lengths[:, None]
        vectors[places] = means / np.linalg.norm(means, axis=1, keepdims=True)
    return vectors


@cache
def _model() -> tuple[Any, Any]:
    """The tokenizer and the session, loaded once.

    Raises:
        FileNotFoundError: the model is not here.

    """
    if not (_FOLDER / "model.onnx").exists():
        raise FileNotFoundError(f"{_FOLDER} has no model: Chroma fetches it when it first embeds")
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # read at the import
    import onnxruntime
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(_FOLDER / "tokenizer.json"))
    tokenizer.enable_truncation(max_length=_MAX_TOKENS)
    tokenizer.no_padding()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # errors only
    session = onnxruntime.InferenceSession(
        str(_FOLDER / "model.onnx"), options, providers=["CPUExecutionProvider"]
    )
    return tokenizer, session
