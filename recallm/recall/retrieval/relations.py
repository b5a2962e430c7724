"""What a question asks of the graph of facts: which stored relations, which entities.

"Who are employed by Pfizer?" asks for ``works for``. A question asks for a relation if it holds the
content words of one of its phrasings, or words that are related to them. The phrasings are the
predicates as written and those of the table of relations (``recallm.recall.predicates``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from recallm.ground.forking import cached_property
from recallm.model import Question
from recallm.recall.predicates.held_facts import PerVocabulary, Vocabulary
from recallm.recall.predicates.relations import PredicateNames, Relations, shipped_words
from recallm.recall.ranking.concepts import NAME_KINDS
from recallm.recall.ranking.meaning import related_stems
from recallm.stores.base import GraphReader

RELATED_STEMS = 6
"""Related stems that count as each of the question's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedRelation:
    """A relation that a question asks for. ``key`` is that of ``Relations``. ``is_literal``: the
    question holds one of its phrasings word for word. ``stems`` are the question's stems that ask
    for it."""

    key: str
    is_literal: bool
    stems: frozenset[str]


class RelationIndex:
    """The relations of one set of predicates, by the words of their phrasings. Function words
    ("for") need not stand in a question."""

    def __init__(self, predicates: Mapping[str, int], relations: Relations) -> None:
        self.relations = relations
        self.vocabulary = Vocabulary(predicates, relations)
        names: defaultdict[str, set[str]] = defaultdict(set)
        for predicate in predicates:
            names[relations.of(predicate).name].add(relations.name(predicate).name)
        function_words = shipped_words()["function"]
        self._phrasings: defaultdict[str, set[tuple[str, str, frozenset[str]]]] = defaultdict(set)
        for key, own in names.items():
            for name in own | {relations.name(each).name for each in relations.phrasings(key)}:
                content = frozenset(name.split()) - function_words
                for word in content:
                    self._phrasings[word].add((key, name, content))

    def predicates(self, keys: Iterable[str]) -> list[str]:
        """The stored predicates of these relations, denials among them."""
        return [predicate for key in keys for predicate in self.vocabulary.predicates(key)]

    def asked(self, question: Question) -> dict[str, AskedRelation]:
        """The relations that a question asks for, by key."""
        asking = {word: word for word in question.words}
        for term in question.search_terms:
            asking.setdefault(term, term)
            for other, _ in related_stems(term, RELATED_STEMS):
                asking.setdefault(other, term)
        text = f" {' '.join(question.words)} "
        found: dict[str, AskedRelation] = {}
        for word in asking:
            for key, name, content in self._phrasings.get(word, ()):
                if not content <= asking.keys():
                    continue
                known = found.get(key)
                found[key] = AskedRelation(
                    key=key,
                    is_literal=f" {name} " in text or (known is not None and known.is_literal),
                    stems=frozenset(asking[each] for each in content).union(
                        known.stems if known is not None else ()
                    ),
                )
        return found


class RelationIndexes:
    """The indexes of the namespaces of a store, made when they are needed. Safe to use from several
    threads at once. ``concept_name`` stems words."""

    def __init__(self, concept_name: Callable[[str], str]) -> None:
        self._concept_name = concept_name
        self._indexes = PerVocabulary(lambda predicates: RelationIndex(predicates, self._relations))

    def of(self, namespace: str, reader: GraphReader) -> RelationIndex | None:
        """The index of the predicates that ``reader`` sees; None where the namespace never had
        one."""
        return self._indexes.of(namespace, reader) if reader.state.vocabulary else None

    @cached_property
    def _relations(self) -> Relations:
        return Relations(PredicateNames(self._concept_name))


# Entities.


_ENTITIES_OF_A_WORD = 64
"""Entities looked at for a word of a name that no entity has as a whole."""

_LONGEST_NAME = 4
"""Words of a question that are looked up together as the name of an entity."""


def essential_names(question: Question) -> list[str]:
    """The names in a question, without the parts of full names."""
    names = [each.name for each in question.concepts if each.kind in NAME_KINDS]
    parts = {word for name in names if " " in name for word in name.split(" ")}
    return [name for name in names if name not in parts]


def named_entities(reader: GraphReader, question: Question) -> dict[str, set[str]]:
    """The ids of the entities that the question names, by concept: those that stand on one of its
    concepts or on words that it holds side by side ("Firm 4"), the longest of these; of a name
    that no entity has, those that have all its words."""
    labels = {each.label for each in question.concepts}
    names = {each.name for each in question.concepts}.union(_side_by_side(question.words))
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
