"""Which adjuncts tell a time, and which a place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from recallm.syntax.tree import WORDS, SentenceTree

__all__ = ["adjunct_kind"]

_TIME_PREPOSITIONS: Final = WORDS["time_prepositions"]
_TIME_OR_ORDER: Final = frozenset(("before", "after", "as"))
_PLACE_PREPOSITIONS: Final = WORDS["place_prepositions"]
_PLACE_BESIDE_NAMES: Final = WORDS["place_prepositions_of_names"]
_TIME_ADVERBS: Final = WORDS["time_adverbs"]
_PLACE_ADVERBS: Final = WORDS["place_adverbs"]


def adjunct_kind(
    tree: SentenceTree, head: int, case: Sequence[int]
) -> Literal["time", "place", "other"]:
    """The kind of an adjunct by its head, its preposition or subordinating word, and the entities
    of the text."""
    word = tree.lowered[head]
    preposition = tree.lowered[case[0]] if case else ""
    if tree.is_time(head) or preposition in _TIME_PREPOSITIONS or word in _TIME_ADVERBS:
        return "time"
    if preposition in _TIME_OR_ORDER and tree.relations[head] == "advcl":
        return "time"
    label = tree.entity_labels.get(head)
    if preposition in _PLACE_PREPOSITIONS or word in _PLACE_ADVERBS:
        return "place"
    if label in ("LOC", "GPE", "FAC") and (not case or preposition in _PLACE_BESIDE_NAMES):
        return "place"
    return "other"
