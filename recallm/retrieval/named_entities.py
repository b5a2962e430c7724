"""Which entities of the graph a question names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from recallm.model import Question
from recallm.ranking.concepts import NAME_KINDS
from recallm.stores.base import GraphReader

__all__ = ["essential_names", "is_part_of_any", "named_entities"]

_ENTITIES_OF_A_WORD = 64
"""Entities looked at for a word of a name that no entity has as a whole."""

_LONGEST_NAME = 4
"""Words of a question that are looked up together as the name of an entity."""


def essential_names(question: Question) -> list[str]:
    """The names in a question, without the parts of full names."""
    names = [it.name for it in question.concepts if it.kind in NAME_KINDS]
    parts = {word for name in names if " " in name for word in name.split(" ")}
    return [name for name in names if name not in parts]


def named_entities(reader: GraphReader, question: Question) -> dict[str, set[str]]:
    """The ids of the entities that the question names, by concept: those that stand on one of its
    concepts or on words that it holds side by side ("Firm 4"), the longest of these; of a name
    that no entity has, those that have all its words."""
    labels = {it.label for it in question.concepts}
    names = {it.name for it in question.concepts}.union(_side_by_side(question.words))
    found: defaultdict[str, set[str]] = defaultdict(set)
    for entity in reader.entities(labels, concepts=names) if names else ():
        found[entity.concept or entity.id].add(entity.id)
    for name in [*found]:
        if is_part_of_any(name, found.keys() - {name}):
            del found[name]
    unknown = [name for name in essential_names(question) if not is_part_of_any(name, found)]
    words = {word for name in unknown for word in name.split()}
    if words:
        bearers = reader.entities_by_words(words, limit=_ENTITIES_OF_A_WORD)
        for name in unknown:
            ids = set.intersection(*(set(bearers.get(word, ())) for word in name.split()))
            if ids:
                found[name] = ids
    return dict(found)


def _side_by_side(words: Sequence[str]) -> Iterator[str]:
    """The names that two to ``_LONGEST_NAME`` words make that stand side by side."""
    for first in range(len(words)):
        for end in range(first + 2, min(first + _LONGEST_NAME, len(words)) + 1):
            yield " ".join(words[first:end])


def is_part_of_any(name: str, names: Iterable[str]) -> bool:
    """Whether the words of a name stand side by side in one of ``names``."""
    return any(f" {name} " in f" {other} " for other in names)
