"""Embeddings as the stores keep them, and which of them are nearest to one.

An embedding is a sequence of finite numbers; it is kept as a unit vector in half precision,
little-endian (two bytes a dimension), so that a dot product is a cosine. One of zeros only stays
as it is: its cosine with anything is 0. Half precision moves a cosine by less than 0.001.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from recallm import checks
from recallm.errors import InvalidInputError

__all__ = ["decode", "encode", "nearest", "unit_rows"]

Key = TypeVar("Key", bound=Hashable)

_HALF = np.dtype("<f2")
_AT_ONCE = 4096


def encode(embedding: Sequence[float] | npt.NDArray[Any]) -> bytes:
    """``embedding`` as it is kept: two bytes a dimension.

    Raises:
        InvalidInputError: it is not a row of at least one finite number.

    """
    return _unit(embedding).astype(_HALF).tobytes()


def decode(blob: bytes) -> npt.NDArray[np.float32]:
    """The unit vector that was kept, of shape (dimension,).

    Raises:
        InvalidInputError: it is not what ``encode`` gives.

    """
    given: object = blob
    if not isinstance(given, bytes) or len(given) % _HALF.itemsize:
        raise InvalidInputError(
            "a vector that is kept must be bytes, two for each dimension", argument="blob"
        )
    return np.frombuffer(given, _HALF).astype(np.float32)


def nearest(
    embedding: Sequence[float] | npt.NDArray[Any], vectors: Mapping[Key, bytes], limit: int
) -> list[tuple[Key, float]]:
    """The ``limit`` keys whose vectors have the greatest cosine with ``embedding``, with it,
    greatest first; of equal ones those that stand first in ``vectors``. Every vector is looked at.

    Raises:
        InvalidInputError: an argument cannot be used, or a vector has another dimension.

    """
    wanted = _unit(embedding)
    at_most = checks.whole(limit, "limit", least=0)
    given: object = vectors
    if not isinstance(given, Mapping) or not all(
        isinstance(blob, bytes) for blob in given.values()
    ):
        raise InvalidInputError(
            "vectors must be a mapping of keys to vectors as encode gives them, in bytes",
            argument="vectors",
        )
    size = wanted.size * _HALF.itemsize
    cosines = np.empty(len(vectors), np.float32)
    done = 0
    for blobs in _chunks(vectors):
        if any(len(blob) != size for blob in blobs):
            raise InvalidInputError(
                f"the embedding has {wanted.size} dimensions, the vectors have another number; "
                "use the embedding model that they were made with",
                argument="embedding",
            )
        rows = np.frombuffer(b"".join(blobs), _HALF).reshape(len(blobs), wanted.size)
        cosines[done : done + len(blobs)] = rows.astype(np.float32) @ wanted
        done += len(blobs)
    keys = list(vectors)
    best = np.argsort(-cosines, kind="stable")[:at_most]
    return [(keys[place], float(np.clip(cosines[place], -1, 1))) for place in best]


def unit_rows(embeddings: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Rows of finite numbers as unit vectors, of the same shape (n, dimension); rows of zeros stay
    as they are."""
    rows = np.asarray(embeddings, dtype=np.float64)
    # First by their greatest part, so that no square overflows or vanishes.
    greatest = np.abs(rows).max(axis=1, keepdims=True)
    scaled = rows / np.where(greatest == 0, 1, greatest)
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    return np.asarray(scaled / np.where(lengths == 0, 1, lengths), dtype=np.float32)


def _chunks(vectors: Mapping[Any, bytes]) -> Iterator[list[bytes]]:
    blobs = iter(vectors.values())
    while chunk := list(islice(blobs, _AT_ONCE)):
        yield chunk


def _unit(embedding: Sequence[float] | npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    try:
        vector = np.asarray(embedding, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInputError(
            f"an embedding must be a list of numbers: {error}", argument="embedding"
        ) from None
    if vector.ndim != 1 or vector.size == 0:
        raise InvalidInputError(
            f"an embedding must be one row of numbers, not of shape {vector.shape}",
            argument="embedding",
        )
    if not np.isfinite(vector).all():
        raise InvalidInputError("an embedding must hold finite numbers only", argument="embedding")
    return np.asarray(unit_rows(vector[None, :])[0])
