"""What recall is measured beside: BM25 on content-word stems, and vectors of MiniLM."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from recallm import RecallConfig
from recallm.extraction import Extractor

__all__ = ["BM25", "MiniLM"]

_SATURATION = 1.2
_LENGTH_NORMALISATION = 0.75


class BM25:
    """Okapi BM25 over the stems that recallm's extraction finds: one index for a set of texts."""

    name = "BM25, content-word stems"

    def __init__(self) -> None:
        self._extractor = Extractor(RecallConfig())
        self._documents: list[Counter[str]] = []
        self._lengths = np.zeros(0)
        self._rarity: dict[str, float] = {}

    def index(self, texts: Sequence[str]) -> None:
        """Replace what is indexed."""
        read = self._extractor.extract_many((text, None) for text in texts)
        self._documents = [
            Counter(term for statement in one.statements for term in statement.terms)
            for one in read
        ]
        self._lengths = np.array([sum(one.values()) for one in self._documents], dtype=float)
        held = Counter(term for one in self._documents for term in one)
        total = len(texts)
        self._rarity = {
            term: float(np.log1p((total - count + 0.5) / (count + 0.5)))
            for term, count in held.items()
        }

    def order(self, question: str) -> list[int]:
        """The places of the texts, best first."""
        norm = (
            1
            - _LENGTH_NORMALISATION
            + _LENGTH_NORMALISATION * self._lengths / max(self._lengths.mean(), 1e-9)
        )
        scores = np.zeros(len(self._documents))
        for term in self._extractor.question(question).terms:
            if term in self._rarity:
                counts = np.array([one[term] for one in self._documents], dtype=float)
                scores += self._rarity[term] * counts / (counts + _SATURATION * norm)
        return [int(place) for place in np.argsort(-scores, kind="stable")]


class MiniLM:
    """Nearest neighbours by cosine of Chroma's default embedding, texts unpadded for speed."""

    name = "MiniLM vectors"

    def __init__(self) -> None:
        from benchmarks.ingest import Unpadded

        self._embed: Any = Unpadded()
        self._vectors = np.zeros((0, 0))

    def index(self, texts: Sequence[str]) -> None:
        """Replace what is indexed."""
        self._vectors = np.array(self._embed(list(texts)))

    def order(self, question: str) -> list[int]:
        """The places of the texts, best first."""
        asked = np.array(self._embed([question]))[0]
        return [int(place) for place in np.argsort(-(self._vectors @ asked), kind="stable")]
