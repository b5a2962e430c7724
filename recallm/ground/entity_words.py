"""The words by which an entity is found: its concept's name, the words of that, and codes of its
vectors.

**Codes** are locality-sensitive hashing, as in RET-LLM (section 3.2): the nearer two vectors, the
more codes they share. A vector has `BANDS` codes. A code holds `BITS` bits, each the side of a
random plane on which the vector lies. Of two vectors at the angle a, a bit is equal with the
probability 1 - a/π.

Codes are stored, so that they must be the same in every process and on every machine. The planes
come from a hash of their own, and all sums of products are exact: coordinates in half precision and
whole numbers have sums that double precision holds without rounding.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping
from functools import lru_cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from recallm.ground.untrusted_text import folded

Heights: TypeAlias = npt.NDArray[np.float64]
"""How high a vector lies above each plane, of shape (BANDS, BITS)."""

Codes: TypeAlias = npt.NDArray[np.int64]

BANDS = 16
"""Codes of a vector."""

BITS = 20
"""Bits of a code. With 16 codes of 20 bits a search finds 98 % of the vectors at a cosine between
.8 and .9 (names under all-MiniLM-L6-v2), and 0.3 to 0.6 % of all others."""

_UNCERTAIN = 5
"""Bits of a code that a search tries both ways: those whose planes are nearest to the vector."""


def entity_words(concept: str, vectors: Mapping[str, bytes]) -> frozenset[str]:
    """The words that an entity bears: those of its concept's name, and the codes of its
    ``vectors`` (model → half-precision vector). No word of a name is a code: codes have spaces, and
    do not begin with the mark of a whole name."""
    codes = {code for model, blob in vectors.items() for code in codes_of(model, blob)}
    return name_words(concept) | codes


def name_words(concept: str) -> frozenset[str]:
    """The words of a concept's name, also without accents, and the name as a whole."""
    if not concept:
        return frozenset()
    words = concept.split()
    return frozenset((*words, *map(folded, words), whole_name(concept)))


def whole_name(concept: str) -> str:
    """The word that the entities on one concept bear, and no others."""
    return f"= {concept}"


def codes_of(model: str, blob: bytes) -> tuple[str, ...]:
    """The codes of a half-precision vector under an embedding model."""
    return _as_words(model, _codes(_heights(blob)))


def probes(model: str, blob: bytes) -> tuple[str, ...]:
    """The codes under which vectors near to this one are looked for: its own codes, and those with
    the least certain bits changed."""
    heights = _heights(blob)
    uncertain = _PLACES[np.argsort(np.abs(heights), axis=1)[:, :_UNCERTAIN]]
    return _as_words(model, _codes(heights)[:, None] ^ uncertain @ _SUBSETS)


_PLACES = 1 << np.arange(BITS, dtype=np.int64)

_SUBSETS = (np.arange(1 << _UNCERTAIN) >> np.arange(_UNCERTAIN)[:, None]) & 1
"""Each subset of the uncertain bits as a column."""


def _as_words(model: str, codes: Codes) -> tuple[str, ...]:
    prefix = f"{zlib.crc32(model.encode()):x}"
    rows = codes.reshape(BANDS, -1).tolist()
    return tuple(f"{prefix} {band} {code:x}" for band, row in enumerate(rows) for code in row)


def _codes(heights: Heights) -> Codes:
    """The code of each band."""
    codes: Codes = np.where(heights > 0, _PLACES, 0).sum(axis=1)
    return codes


def _heights(blob: bytes) -> Heights:
    vector = np.nan_to_num(np.frombuffer(blob, "<f2").astype(np.float64), posinf=0, neginf=0)
    heights: Heights = (vector @ _planes(len(vector))).reshape(BANDS, BITS)
    return heights


@lru_cache(maxsize=8)
def _planes(dimension: int) -> npt.NDArray[np.float64]:
    """The normals of all planes, of shape (dimension, BANDS · BITS): whole numbers, nearly normally
    distributed (sums of four random bytes)."""
    size = dimension * BANDS * BITS
    digest = hashlib.shake_256(b"recallm planes").digest(4 * size)
    summed = np.frombuffer(digest, np.uint8).reshape(4, size).sum(axis=0, dtype=np.float64)
    normals: npt.NDArray[np.float64] = summed.reshape(dimension, BANDS * BITS) - 4 * 127.5
    return normals
