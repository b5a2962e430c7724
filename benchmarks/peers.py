"""What recall is measured beside: BM25 on content-word stems, vectors of MiniLM, the newest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any, Protocol

import numpy as np

from recallm import RecallConfig
from recallm.extraction import Extractor

__all__ = ["BM25", "Index", "MiniLM", "Newest"]

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

    name = "BM25, content-word stems"

    def __init__(self) -> None:
        self._extractor = _extractor()
        self._documents: list[Counter[str]] = []
        self._held: Counter[str] = Counter()

    def add(self, texts: Sequence[str]) -> None:
        """Add to what is indexed."""
        for one in self._extractor.extract_many((text, None) for text in texts):
            terms = Counter(term for statement in one.statements for term in statement.terms)
            self._documents.append(terms)
            self._held.update(terms.keys())

    def order(self, question: str) -> list[int]:
        """The places of the texts, best first; of equals the first first."""
        lengths = np.array([one.total() for one in self._documents], dtype=float)
        norm = (
            1 - _LENGTH_NORMALISATION + _LENGTH_NORMALISATION * lengths / max(lengths.mean(), 1e-9)
        )
        scores = np.zeros(len(self._documents))
        for term in self._extractor.question(question).terms:
            if count := self._held[term]:
                rarity = np.log1p((len(self._documents) - count + 0.5) / (count + 0.5))
                counts = np.array([one[term] for one in self._documents], dtype=float)
                scores += rarity * counts / (counts + _SATURATION * norm)
        return [int(place) for place in np.argsort(-scores, kind="stable")]


class MiniLM:
    """What Chroma finds with its default embedding: the nearest by cosine, exactly, the texts
    unpadded for speed (the vectors are the same)."""

    name = "MiniLM vectors"

    def __init__(self) -> None:
        self._embed = _embedding()
        self._vectors = np.zeros((0, 384), dtype=np.float32)

    def add(self, texts: Sequence[str]) -> None:
        """Add to what is indexed."""
        self._vectors = np.vstack([self._vectors, np.array(self._embed(list(texts)))])

    def order(self, question: str) -> list[int]:
        """The places of the texts, nearest first."""
        asked = np.array(self._embed([question]))[0]
        return [int(place) for place in np.argsort(-(self._vectors @ asked), kind="stable")]


@cache
def _embedding() -> Any:
    from benchmarks.ingest import Unpadded

    return Unpadded()


@cache
def _extractor() -> Extractor:
    return Extractor(RecallConfig())


class Newest:
    """The newest texts that hold the names of a question; those that hold more of them first."""

    def __init__(self) -> None:
        self._extractor = _extractor()
        self._texts: list[str] = []

    def add(self, texts: Sequence[str]) -> None:
        """Add to what is indexed."""
        self._texts += [text.casefold() for text in texts]

    def order(self, question: str) -> list[int]:
        """The places of the texts that hold a name, newest first, and of no others."""
        names = [
            concept.label.casefold()
            for concept in self._extractor.question(question).concepts
            if concept.label[:1].isupper()
        ]
        held = [sum(name in text for name in names) for text in self._texts]
        places = [place for place, count in enumerate(held) if count]
        return sorted(places, key=lambda place: (-held[place], -place))
