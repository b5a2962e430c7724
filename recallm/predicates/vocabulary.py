"""The predicates of a namespace, by the relation that they phrase, remembered while their set stays
the same."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

from recallm.forking import new_lock
from recallm.predicates.relations import Relations
from recallm.predicates.similarity import RelationVectors, SimilarRelations
from recallm.stores.base import GraphReader

__all__ = ["PerVocabulary", "Vocabulary"]

_NAMESPACES = 64
"""Namespaces of which something is remembered."""

_TESTED_STATES = 16
"""States of a namespace whose tested relations are remembered."""

_T = TypeVar("_T")


class Vocabulary:
    """The predicates of a namespace, each with the number of its triplets, by the relation that
    they phrase."""

    def __init__(self, predicates: Mapping[str, int], relations: Relations) -> None:
        self._positive: dict[str, list[str]] = {}
        self._negative: dict[str, list[str]] = {}
        self._triplets: Counter[str] = Counter()
        self._compared: dict[int, SimilarRelations] = {}
        self._tests: dict[object, dict[tuple[str, int], bool]] = {}
        for predicate, triplets in predicates.items():
            key, negative = relations.of(predicate)
            (self._negative if negative else self._positive).setdefault(key, []).append(predicate)
            self._triplets[key] += triplets

    def predicates(self, key: str) -> list[str]:
        """Every predicate that phrases the relation, those that deny it too."""
        return self._positive.get(key, []) + self._negative.get(key, [])

    def has_denials(self, key: str) -> bool:
        """Whether a predicate denies the relation."""
        return key in self._negative

    def tests(self, state: object) -> dict[tuple[str, int], bool]:
        """Results of tests of relations in one state of the namespace, by the relation's key and
        the number of its triplets; a test adds its result."""
        if state not in self._tests and len(self._tests) >= _TESTED_STATES:
            self._tests.clear()
        return self._tests.setdefault(state, {})

    @property
    def asserted(self) -> Mapping[str, list[str]]:
        """The predicates that assert a relation, by its key."""
        return self._positive

    def compared(self, vectors: RelationVectors, most: int) -> SimilarRelations:
        """The ``most`` relations that have the most triplets, ready to be compared."""
        if most not in self._compared:
            ranked = sorted(self._positive, key=lambda key: (-self._triplets[key], key))
            chosen = {key: self._positive[key] for key in ranked[:most]}
            self._compared[most] = SimilarRelations(vectors, chosen)
        return self._compared[most]


class PerVocabulary(Generic[_T]):
    """What ``make`` makes of the predicates of a namespace (with the numbers of their triplets),
    remembered until their set changes. Safe to use from several threads at once."""

    def __init__(self, make: Callable[[Mapping[str, int]], _T]) -> None:
        self._make = make
        self._made: OrderedDict[str, tuple[int, _T]] = OrderedDict()
        self._lock = new_lock()

    def of(self, namespace: str, reader: GraphReader) -> _T:
        """That of the namespace of ``reader``."""
        vocabulary = reader.state.vocabulary
        with self._lock:
            known = self._made.get(namespace)
            if known is None or known[0] != vocabulary:
                known = vocabulary, self._make(reader.predicates())
                self._made[namespace] = known
                if len(self._made) > _NAMESPACES:
                    self._made.popitem(last=False)
            self._made.move_to_end(namespace)
        return known[1]
