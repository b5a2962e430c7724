"""all-MiniLM-L6-v2 as published, with the hidden states of its tokens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recallm.vectors.minilm import load_session, load_tokenizer

Span = tuple[int | None, tuple[int, int]]
"""The number of a token's word (None for special tokens), and the token's span in the text."""


class MiniLM:
    """The published model in ``folder``. Texts of one call are padded to the longest of them."""

    def __init__(self, folder: Path) -> None:
        self._tokenizer = load_tokenizer(folder)
        self._tokenizer.enable_padding(pad_id=0, pad_token="[PAD]")
        self._session = load_session(folder / "model.onnx")

    def vocabulary(self) -> list[str]:
        """Its word pieces, sorted."""
        return sorted(self._tokenizer.get_vocab())

    def hidden(self, texts: list[str]) -> list[tuple[NDArray[np.float32], list[Span]]]:
        """For each text the last hidden states of its tokens, of shape (tokens, 384), padding
        included, and their spans."""
        encoded = self._tokenizer.encode_batch(texts)
        states = self._run(encoded)
        return [
            (states[i], list(zip(encoding.word_ids, encoding.offsets, strict=True)))
            for i, encoding in enumerate(encoded)
        ]

    def embed(self, texts: list[str]) -> NDArray[np.float32]:
        """A unit vector for each text, of shape (texts, 384)."""
        encoded = self._tokenizer.encode_batch(texts)
        mask = np.array([encoding.attention_mask for encoding in encoded], dtype=np.float32)
        means = np.einsum("ntd,nt->nd", self._run(encoded), mask) / mask.sum(axis=1)[:, None]
        unit: NDArray[np.float32] = means / np.linalg.norm(means, axis=1, keepdims=True)
        return unit

    def _run(self, encoded: list[Any]) -> NDArray[np.float32]:
        ids = np.array([encoding.ids for encoding in encoded], dtype=np.int64)
        states: NDArray[np.float32] = self._session.run(
            None,
            {
                "input_ids": ids,
                "attention_mask": np.array(
                    [encoding.attention_mask for encoding in encoded], np.int64
                ),
                "token_type_ids": np.zeros_like(ids),
            },
        )[0]
        return states
