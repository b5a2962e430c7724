"""Statements that hold none of the question's words, but words that mean alike.

"I reside in Porto" answers where somebody lives, and shares no stem with that question.
"""

from __future__ import annotations

from collections import defaultdict

from recallm.model import CorpusSize, Filter, Question
from recallm.retrieval.frequencies import rarity_of
from recallm.retrieval.relatedness import nearest_stems
from recallm.stores.base import GraphReader

__all__ = ["kindred"]

_STEMS = 6
"""Related stems looked up for each of the question's."""

_NEWEST = 32
"""Newest statements looked at for one of them."""

_BROUGHT = 24
"""Statements that are brought."""

_NAMES = ("name", "entity")


def kindred(
    reader: GraphReader, question: Question, corpus: CorpusSize, *, where: Filter
) -> list[int]:
    """The keys of the statements whose words come nearest in meaning to the question's, names
    apart: rare ones first, the newest of equals."""
    names = {
        word
        for concept in question.concepts
        if concept.kind in _NAMES
        for word in concept.name.split(" ")
    }
    wanted = [stem for stem in question.terms if stem not in names]
    related: dict[str, tuple[str, float]] = {}
    for stem in wanted:
        for other, share in nearest_stems(stem, _STEMS):
            if other not in question.terms and share > related.get(other, ("", 0.0))[1]:
                related[other] = (stem, share)
    if not related:
        return []
    postings = reader.postings(related.keys(), limit=_NEWEST, where=where)
    worth: dict[int, dict[str, float]] = defaultdict(dict)
    for other, found in postings.items():
        stem, share = related[other]
        value = share * rarity_of(found.documents, corpus.statements)
        for key in found.keys:
            worth[key][stem] = max(value, worth[key].get(stem, 0.0))
    ordered = sorted(worth, key=lambda key: (-sum(worth[key].values()), -key))
    return ordered[:_BROUGHT]
