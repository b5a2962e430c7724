"""How alike two relations, or two names, are.

**Relations** are compared by vectors of their phrasings: the mean of the words' vectors in the
table that the package ships (``recall.ranking.meaning``), and embeddings where there is a model.
With both, the mean of the two cosines counts: each alone takes other short phrases for alike. Two
relations that the table of phrasings tells apart are never alike.

**Names** are compared word by word. Company forms and titles do not count, words may stand in
another order, an initial stands for a word, and a middle name may be missing. Numbers must agree,
and a word that only one of the names has makes them two names: "Pfizer Inc." is "Pfizer", "Pfizer
Hospital" is not.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain

import numpy as np
import numpy.typing as npt

from recallm.ground.untrusted_text import folded
from recallm.recall.predicates.relations import Relations, relation_words, shipped_words
from recallm.recall.ranking.meaning import word_vectors

Rows = npt.NDArray[np.float32]

_WORDS = shipped_words()

_WRITTEN = 4
"""Predicates of one relation as written, beside its phrasings in the table, that are compared."""


class RelationVectors:
    """Unit vectors of predicates: by their words, and by ``embed``, a model's texts → unit
    vectors; None: by words alone."""

    def __init__(
        self, relations: Relations, embed: Callable[[Sequence[str]], Rows] | None = None
    ) -> None:
        self.relations = relations
        self._embed = embed

    def of(self, predicates: Sequence[str]) -> list[Rows]:
        """The vectors of the predicates, a row each: by their words, and by the model if there is
        one."""
        rows = [np.stack([self._word_vector(predicate) for predicate in predicates])]
        if self._embed is not None:
            texts = [" ".join(relation_words(each)[0]) or each for each in predicates]
            rows.append(self._embed(texts))
        return rows

    def _word_vector(self, predicate: str) -> npt.NDArray[np.float32]:
        stems = self.relations.name(predicate).name.split()
        content = [stem for stem in stems if stem not in _WORDS["function"]]
        summed = word_vectors(content or stems).sum(axis=0)
        unit: npt.NDArray[np.float32] = summed / max(float(np.linalg.norm(summed)), 1e-9)
        return unit


class SimilarRelations:
    """The relations of a namespace or of an entity, to be compared with one that is asked for.

    ``predicates``: the key of each relation → the predicates that assert it. A relation is as alike
    as the most alike of its phrasings.
    """

    def __init__(self, vectors: RelationVectors, predicates: Mapping[str, Sequence[str]]) -> None:
        self._vectors = vectors
        self._relations = vectors.relations
        self._keys = list(predicates)
        phrasings = [
            tuple(dict.fromkeys((*predicates[key][:_WRITTEN], *self._relations.phrasings(key))))
            for key in self._keys
        ]
        self._starts = np.cumsum([0, *map(len, phrasings)])[:-1]
        self._rows = vectors.of(list(chain(*phrasings))) if phrasings else None
        self.best = lru_cache(maxsize=256)(self._best)
        """``(asked, least)`` → the relations that are at least so much like the predicate
        ``asked``, each as (key, cosine), most alike first."""

    def _best(self, asked: str, least: float) -> list[tuple[str, float]]:
        if self._rows is None:
            return []
        key = self._relations.of(asked).name
        phrasings = self._relations.phrasings(key)
        cosines = [
            (stored @ given.T).max(axis=1)
            for stored, given in zip(self._rows, self._vectors.of((asked, *phrasings)), strict=True)
        ]
        scores = np.maximum.reduceat(np.mean(cosines, axis=0), self._starts)
        found = [
            (other, min(float(score), 1.0))
            for other, score in zip(self._keys, scores, strict=True)
            if score >= least and other != key
            and not (phrasings and self._relations.phrasings(other))
        ]  # fmt: skip
        return sorted(found, key=lambda each: (-each[1], each[0]))


# Names.

_REORDERED = 0.95
_ABBREVIATED = 0.85
"""Scores of names that differ in the order of their words, and in initials or middle names."""


def name_similarity(asked: str, stored: str) -> float:
    """How sure it is, from 0 to 1, that two concepts' names name the same.

    >>> name_similarity("pfizer inc", "pfizer"), name_similarity("lovelac ada", "ada lovelac")
    (1.0, 0.95)
    >>> name_similarity("j smith", "john smith"), name_similarity("boe 747", "boe 737")
    (0.85, 0.0)
    """
    a, b = _core(asked), _core(stored)
    if _numbers(a) != _numbers(b):
        return 0.0
    if a == b:
        return 1.0
    if sorted(a) == sorted(b) or "".join(a) == "".join(b):
        return _REORDERED
    short, long = sorted((a, b), key=len)
    if len(short) < 2 or not (_same(short[0], long[0]) and short[-1] == long[-1]):
        return 0.0
    rest = iter(long[1:-1])
    are_middle_names = all(any(_same(word, other) for other in rest) for word in short[1:-1])
    return _ABBREVIATED if are_middle_names else 0.0


def _core(name: str) -> list[str]:
    """The words that tell a name from others, without accents."""
    words = [part for word in name.split() for part in folded(word).strip(".,").split("-") if part]
    kept = [word for word in words if word not in _WORDS["glue"]]
    while len(kept) > 1 and kept[-1].replace(".", "") in _WORDS["company_forms"]:
        kept.pop()
    while len(kept) > 1 and kept[0].rstrip(".") in _WORDS["titles"]:
        kept.pop(0)
    return kept or words


def _numbers(words: Iterable[str]) -> Collection[str]:
    return sorted(word for word in words if any(map(str.isdigit, word)))


def _same(a: str, b: str) -> bool:
    """Whether two words are equal, or one is the initial of the other."""
    return a == b or (min(len(a), len(b)) == 1 and a[0] == b[0])
