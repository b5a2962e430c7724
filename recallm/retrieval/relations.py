"""Which stored relations a question asks for: "Who are employed by Pfizer?" asks for ``works for``.

A question asks for a relation if it holds the content words of one of its phrasings, or words that
are related to them. The phrasings are the predicates as written and those of the table of relations
(``recallm.predicates``).
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from threading import Lock

from recallm.model import Question
from recallm.predicates import PredicateName, PredicateNames, Relations, Side
from recallm.ranking.meaning import related_stems
from recallm.stores.base import GraphReader

__all__ = ["AskedRelation", "RelationIndex", "RelationIndexes"]

_FUNCTION_WORDS = """
a an the of for by in at to with from on as and or be am is are was were been being has have had do
does did into about than that who whom which what his her its their my your our"""
"""Words of predicates that a question need not hold."""

_RELATED_STEMS = 6
"""Related stems that are looked up for each of the question's."""

_NAMESPACES = 64
"""Namespaces whose indexes are remembered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedRelation:
    """A relation that a question asks for. ``key`` is that of ``Relations``. ``is_literal``: the
    question holds one of its phrasings word for word. ``stems`` are the question's stems that ask
    for it."""

    key: str
    is_literal: bool
    stems: frozenset[str]


class RelationIndex:
    """The relations of one set of predicates, by the words of their phrasings."""

    def __init__(
        self, predicates: Iterable[str], relations: Relations, function_words: frozenset[str]
    ) -> None:
        self._relations = relations
        self._predicates: defaultdict[str, list[str]] = defaultdict(list)
        names: defaultdict[str, set[str]] = defaultdict(set)
        for predicate in predicates:
            key = relations.of(predicate).name
            self._predicates[key].append(predicate)
            names[key].add(relations.name(predicate).name)
        self._phrasings: defaultdict[str, set[tuple[str, str, frozenset[str]]]] = defaultdict(set)
        for key, own in names.items():
            for name in own | {relations.name(it).name for it in relations.phrasings(key)}:
                content = frozenset(name.split()) - function_words
                for word in content:
                    self._phrasings[word].add((key, name, content))

    def relation(self, predicate: str) -> PredicateName:
        """The key of the relation that a predicate phrases, and whether it denies it."""
        return self._relations.of(predicate)

    def name(self, predicate: str) -> str:
        """The name of a predicate: its normal form."""
        return self._relations.name(predicate).name

    def single_valued_end(self, key: str) -> Side | None:
        """The end of which a relation has one value; None where it has many."""
        return self._relations.side(key)

    def predicates(self, keys: Iterable[str]) -> list[str]:
        """The stored predicates of these relations, denials among them."""
        return [predicate for key in keys for predicate in self._predicates.get(key, ())]

    def asked(self, question: Question) -> dict[str, AskedRelation]:
        """The relations that a question asks for, by key."""
        asking = {word: word for word in question.words}
        for term in question.search_terms:
            asking.setdefault(term, term)
            for other, _ in related_stems(term, _RELATED_STEMS):
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
                    stems=frozenset(asking[it] for it in content).union(
                        known.stems if known is not None else ()
                    ),
                )
        return found


class RelationIndexes:
    """The indexes of the namespaces of a store, made when they are needed. Safe to use from several
    threads at once. ``concept_name`` stems words."""

    def __init__(self, concept_name: Callable[[str], str]) -> None:
        self._concept_name = concept_name
        self._relations: Relations | None = None
        self._function_words: frozenset[str] = frozenset()
        self._indexes: OrderedDict[str, tuple[int, RelationIndex]] = OrderedDict()
        self._lock = Lock()

    def of(self, namespace: str, reader: GraphReader) -> RelationIndex | None:
        """The index of the predicates that ``reader`` sees; None where the namespace never had
        one."""
        vocabulary = reader.state.vocabulary
        if not vocabulary:
            return None
        with self._lock:
            known = self._indexes.get(namespace)
            if known is None or known[0] != vocabulary:
                known = vocabulary, self._index(reader.predicates())
                self._indexes[namespace] = known
                if len(self._indexes) > _NAMESPACES:
                    self._indexes.popitem(last=False)
            self._indexes.move_to_end(namespace)
        return known[1]

    def _index(self, predicates: Mapping[str, int]) -> RelationIndex:
        if self._relations is None:
            self._relations = Relations(PredicateNames(self._concept_name))
            self._function_words = frozenset(map(self._concept_name, _FUNCTION_WORDS.split()))
        return RelationIndex(predicates, self._relations, self._function_words)
