"""What recall is measured beside: BM25 on content-word stems, the nearest vectors, the newest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import numpy as np

from recallm.model import Extraction, Question, Turn
from recallm.vectors import Embedding

_SATURATION = 1.2
_LENGTH_NORMALISATION = 0.75


class Index(Protocol):
    """An order of texts for a question."""

    def add(self, texts: Sequence[str]) -> None:
        """Add to what is indexed; the place of a text is how many were added before it."""
        ...

    def order(self, question: str) -> list[int]:
        """The places of the texts, best first."""
        ...


class BM25:
    """Okapi BM25 over the stems that recallm's extraction finds."""

    def __init__(
        self,
        extract: Callable[[Iterable[Turn]], Iterable[Extraction]],
        question: Callable[[str], Question],
    ) -> None:
        self._extract = extract
        self._question = question
        self._postings: dict[str, dict[int, int]] = {}
        self._lengths: list[int] = []

    def add(self, texts: Sequence[str]) -> None:
        """Add to what is indexed."""
        for one in self._extract(map(Turn, texts)):
            counts = Counter(term for statement in one.statements for term in statement.terms)
            for term, count in counts.items():
                self._postings.setdefault(term, {})[len(self._lengths)] = count
            self._lengths.append(counts.total())

    def order(self, question: str) -> list[int]:
        """The places of the texts, best first; of equals the first first."""
        lengths = np.array(self._lengths, dtype=float)
        norm = (
            1 - _LENGTH_NORMALISATION + _LENGTH_NORMALISATION * lengths / max(lengths.mean(), 1e-9)
        )
        scores = np.zeros(len(lengths))
        for term in self._question(question).terms:
            if held := self._postings.get(term):
                rarity = np.log1p((len(lengths) - len(held) + 0.5) / (len(held) + 0.5))
                places = np.fromiter(held, dtype=np.int64)
                counts = np.fromiter(held.values(), dtype=float)
                scores[places] += rarity * counts / (counts + _SATURATION * norm[places])
        return [int(place) for place in np.argsort(-scores, kind="stable")]


class Vectors:
    """The nearest by cosine, all of them looked at."""

    def __init__(self, embedding: Embedding) -> None:
        self._embedding = embedding
        self._vectors: list[np.ndarray] = []

    def add(self, texts: Sequence[str]) -> None:
        """Add to what is indexed."""
        self._vectors.append(self._embedding.texts(list(texts)))

    def order(self, question: str) -> list[int]:
        """The places of the texts, nearest first."""
        vectors = np.vstack(self._vectors)
        if len(self._vectors) > 1:
            self._vectors = [vectors]
        nearness = vectors @ self._embedding.question(question)
        return [int(place) for place in np.argsort(-nearness, kind="stable")]


class Newest:
    """The newest texts that hold the names of a question; those that hold more of them first."""

    def __init__(self, question: Callable[[str], Question]) -> None:
        self._question = question
        self._texts: list[str] = []

    def add(self, texts: Sequence[str]) -> None:
        """Add to what is indexed."""
        self._texts += [text.casefold() for text in texts]

    def order(self, question: str) -> list[int]:
        """The places of the texts that hold a name, newest first, and of no others."""
        names = [
            concept.label.casefold()
            for concept in self._question(question).concepts
            if concept.label[:1].isupper()
        ]
        held = [sum(name in text for name in names) for text in self._texts]
        places = [place for place, count in enumerate(held) if count]
        return sorted(places, key=lambda place: (-held[place], -place))
