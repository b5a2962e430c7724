"""Which words mean alike: a small table of word vectors, so that "live" meets "home".

``training/words`` distilled it from all-MiniLM-L6-v2; it ships with the package and costs neither
a model nor a download at run time.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache, lru_cache
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recallm.retrieval.frequencies import Floats
from recallm.retrieval.products import products
from recallm.retrieval.texts import Texts

__all__ = ["DATA", "gist", "gists", "look_up", "nearest_stems", "related", "write_table"]

DATA = Path(__file__).parent / "data" / "words.npz"

_LEAST = 0.4
"""Cosines up to this one say nothing."""
_MOST = 0.9
"""A related word never counts as much as the word itself."""
_KINDRED = 0.2
"""Words that mean the same by less than this are not looked up for one another."""
_SCALE = 127


class _Table(NamedTuple):
    stems: list[str]
    places: dict[str, int]
    vectors: NDArray[np.float32]


def related(
    stems: Sequence[str], asked: Collection[str], vectors: NDArray[np.float32] | None = None
) -> Floats:
    """How much each of ``stems`` means the same as each of ``asked``: 1 for the stem itself, 0 for
    what is unrelated or not in the table. Shape (stems, asked). ``vectors`` are those of ``stems``,
    where they were looked up."""
    found = np.zeros((len(stems), len(asked)))
    if not found.size:
        return found
    cosines = products(look_up(stems) if vectors is None else vectors, look_up(asked))
    found += _MOST * np.clip((cosines - _LEAST) / (1 - _LEAST), 0.0, 1.0)
    places = {one: place for place, one in enumerate(stems)}
    for column, one in enumerate(asked):
        if one in places:
            found[places[one], column] = 1.0
    return found


@lru_cache(maxsize=4096)
def nearest_stems(stem: str, count: int) -> tuple[tuple[str, float], ...]:
    """The ``count`` stems that mean most the same as ``stem``, itself left out, with how much
    (``related``); none where it is not in the table, or they mean little the same."""
    table = _table()
    place = table.places.get(stem)
    if place is None:
        return ()
    cosines = products(table.vectors, table.vectors[place : place + 1])[:, 0]
    cosines[place] = 0.0
    best = np.argpartition(-cosines, count)[:count]
    shares = _MOST * (cosines[best] - _LEAST) / (1 - _LEAST)
    found = [
        (table.stems[which], float(share))
        for which, share in zip(best.tolist(), shares.tolist(), strict=True)
        if share >= _KINDRED
    ]
    return tuple(sorted(found, key=lambda it: (-it[1], it[0])))


def gist(texts: Sequence[Sequence[str]], weights: Floats | None = None) -> Floats:
    """The mean vector of the stems of each text, of length 1, or of zeros where none is known.
    ``weights``: one for each stem, the same in each text."""
    read = Texts.of(texts)
    vectors = look_up(read.stems)
    if weights is None:
        return gists(read, vectors)
    of_each = [weights[:length] for length in read.lengths.tolist()]
    return gists(read, vectors, np.concatenate([weights[:0], *of_each]))


def gists(
    texts: Texts, vectors: NDArray[np.float32], weights: Floats | None = None
) -> NDArray[Any]:
    """The same of texts that are read, of whose stems the ``vectors`` were looked up; ``weights``:
    one for each stem that is held."""
    found = texts.summed(vectors, weights)
    found /= np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)
    return found


def look_up(stems: Collection[str]) -> NDArray[np.float32]:
    """The vector of each stem, a row each; zeros for one that is not in the table."""
    table = _table()
    places = np.fromiter(map(table.places.get, stems, repeat(-1)), np.int64, len(stems))
    vectors = table.vectors[places]
    vectors[places < 0] = 0.0
    return vectors


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
    return _Table(stems, {one: place for place, one in enumerate(stems)}, vectors)
