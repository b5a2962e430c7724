"""Which words mean alike: a small table of word vectors, so that "live" meets "home".

``training/words`` distilled it from all-MiniLM-L6-v2; it ships with the package and costs neither
a model nor a download at run time.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache
from itertools import repeat
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recallm.retrieval.frequencies import Floats, Keys
from recallm.retrieval.products import products
from recallm.retrieval.texts import Texts

__all__ = ["DATA", "gist", "gists", "related", "write_table"]

DATA = Path(__file__).parent / "data" / "words.npz"

_LEAST = 0.4
"""Cosines up to this one say nothing."""
_MOST = 0.9
"""A related word never counts as much as the word itself."""
_SCALE = 127


class _Table(NamedTuple):
    places: dict[str, int]
    vectors: NDArray[np.float32]


def related(stems: Sequence[str], asked: Collection[str]) -> Floats:
    """How much each of ``stems`` means the same as each of ``asked``: 1 for the stem itself, 0 for
    what is unrelated or not in the table. Shape (stems, asked)."""
    found = np.zeros((len(stems), len(asked)))
    if not found.size:
        return found
    rows, of_rows = _vectors(stems)
    columns, of_columns = _vectors(asked)
    cosines = products(of_rows, of_columns)
    found += _MOST * np.clip((cosines - _LEAST) / (1 - _LEAST), 0.0, 1.0)
    found[rows < 0] = 0.0
    found[:, columns < 0] = 0.0
    places = {one: place for place, one in enumerate(stems)}
    for column, one in enumerate(asked):
        if one in places:
            found[places[one], column] = 1.0
    return found


def gist(texts: Sequence[Sequence[str]], weights: Floats | None = None) -> Floats:
    """The mean vector of the stems of each text, of length 1, or of zeros where none is known.
    ``weights``: one for each stem, the same in each text."""
    read = Texts.of(texts)
    if weights is None:
        return gists(read)
    of_each = [weights[:length] for length in read.lengths.tolist()]
    return gists(read, np.concatenate([weights[:0], *of_each]))


def gists(texts: Texts, weights: Floats | None = None) -> Floats:
    """The same of texts that are read; ``weights``: one for each stem that is held."""
    _, vectors = _vectors(texts.stems)
    found = texts.summed(vectors, weights)
    found /= np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)
    return found


def _vectors(stems: Collection[str]) -> tuple[Keys, NDArray[np.float32]]:
    """Where each stem stands in the table, -1 for one that does not, and its vector or zeros."""
    table = _table()
    places = np.fromiter(map(table.places.get, stems, repeat(-1)), np.int64, len(stems))
    vectors = table.vectors[places]
    vectors[places < 0] = 0.0
    return places, vectors


def write_table(path: Path, stems: Sequence[str], vectors: NDArray[np.float32]) -> None:
    """Write the table: ``vectors`` are unit vectors, a row for each of ``stems``."""
    np.savez_compressed(
        path,
        stems=np.frombuffer("\n".join(stems).encode(), np.uint8),
        vectors=np.round(vectors * _SCALE).astype(np.int8),
    )


@cache
def _table() -> _Table:
    with np.load(DATA, allow_pickle=False) as read:
        stems = read["stems"].tobytes().decode().split("\n")
        vectors = read["vectors"].astype(np.float32)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return _Table({one: place for place, one in enumerate(stems)}, vectors)
