"""Embeddings: which model makes them, how the stores keep them, which of them are nearest."""

from __future__ import annotations

from recallm.vectors.arrays import decode, encode, nearest
from recallm.vectors.embedding import Embedding

__all__ = ["Embedding", "decode", "encode", "nearest"]
