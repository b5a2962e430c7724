"""From the terms of a question to the facts that answer it: exact terms first, then similar ones.

1. Entities that bear a term's name, or have it as their id; every phrasing of the relation.
2. If no evidence at all meets these, the most similar names for the terms that nothing bears.
3. If there is still none, the most similar relation: of the entities that are given, else of all.

A term that nothing is like has an empty answer.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import get_args

from recallm.facts.fact import PARTS, Fact, Match, Part, Terms, checked_term
from recallm.facts.similar import similar_entities, similar_relations
from recallm.facts.values import text_key, value_of
from recallm.ground import checks
from recallm.recall.predicates.held_facts import Conditions, FactReading, Found
from recallm.recall.predicates.holding import Side
from recallm.recall.predicates.relations import (
    PredicateName,
    PredicateNames,
    Relations,
    relation_words,
)
from recallm.recall.predicates.similarity import RelationVectors
from recallm.vectors import Embedding
from recallm.vectors.embedding import RememberedVectors

_NAMING = ("called", "name")
"""Predicates between a relative and the name."""


def declared_relations(
    concept_name: Callable[[str], str],
    single_valued: Iterable[str] | Mapping[str, Side],
    multi_valued: Iterable[str],
) -> Relations:
    """The relations of a ``FactMemory``, with those that its user declares."""
    declared = single_valued
    if not isinstance(declared, Mapping):
        declared = dict.fromkeys(checks.listed(declared, "single_valued"))
    sides = get_args(Side)
    return Relations(
        PredicateNames(concept_name),
        single_valued={
            checked_term(each, "single_valued"): side
            and checks.choice(side, sides, "single_valued")
            for each, side in declared.items()
        },
        multi_valued=[
            checked_term(each, "multi_valued")
            for each in checks.listed(multi_valued, "multi_valued")
        ],
    )


class Search:
    """Finds facts by their terms. ``concept_name``: the name of the concept that a label spells;
    ``embedding``: None where the memory has none."""

    def __init__(
        self,
        concept_name: Callable[[str], str],
        relations: Relations,
        embedding: Embedding | None,
    ) -> None:
        self._concept_name = concept_name
        self._relations = relations
        self._embedding = embedding
        self._vectors = None if embedding is None else RememberedVectors(embedding.texts)
        self._relation_vectors = RelationVectors(
            relations, None if self._vectors is None else self._vectors.of
        )

    def conditions(self, reading: FactReading, terms: Terms) -> Conditions:
        """What the terms mean exactly."""
        subject, relation, object = terms
        subjects = self._named(reading, subject)
        return Conditions(
            subjects=None if subjects is None else subjects | self._relatives(reading, subjects),
            relation=None if relation is None else self._relations.of(relation),
            objects=self._named(reading, object),
        )

    def facts(
        self, reading: FactReading, terms: Terms, match: Match, limit: int | None = None
    ) -> list[Fact]:
        """The facts that hold and answer the terms, newest first."""
        exact = self.conditions(reading, terms)
        found = reading.find(exact, limit)
        if found.is_known or match == "exact":
            return _facts(found, {}, terms)
        if terms[1] is not None:  # "dentist" of Ada: ⟨Lee, dentist of, Ada⟩
            role = " ".join(relation_words(terms[1])[0])
            turned = role.removesuffix(" of") if role.endswith(" of") else f"{role} of"
            inverse = self._relations.of(turned.removeprefix("has "))
            other = reading.find(Conditions(exact.objects, inverse, exact.subjects), limit)
            if other.is_known:
                return _facts(other, {"relation": 1.0}, terms)
        scores: dict[Part, float] = {}
        subjects = self._similar(reading, terms[0], exact.subjects, "subject", scores)
        objects = self._similar(reading, terms[2], exact.objects, "object", scores)
        if scores:
            found = reading.find(Conditions(subjects, exact.relation, objects), limit)
        nameless = (subjects is not None and not subjects) or (objects is not None and not objects)
        if found.is_known or nameless or exact.relation is None or terms[1] is None:
            return _facts(found, scores, terms)
        for key, score in similar_relations(
            reading, self._relation_vectors, terms[1], subjects, objects
        ):
            relation = PredicateName(key, exact.relation.negative)
            found = reading.find(Conditions(subjects, relation, objects), limit)
            if found.is_known:
                return _facts(found, {**scores, "relation": score}, terms)
        return []

    def key(self, part: Part, text: str) -> str:
        """What texts of a part share that mean the same."""
        if part == "relation":
            return self._relations.of(text).name
        return text_key(text, self._concept_name)

    def embed(self, labels: Sequence[str]) -> None:
        """Embed the labels of entities, all at once, before ``embeddings`` asks for each."""
        names = [label for label in labels if value_of(label) is None]
        if self._vectors is not None and names:
            self._vectors.of(names)

    def embeddings(self, label: str) -> Mapping[str, list[float]]:
        """The vector of a label under its model's name; none for a value, or without a model."""
        if self._vectors is None or self._embedding is None or value_of(label) is not None:
            return {}
        return {self._embedding.name: self._vectors.of([label])[0].tolist()}

    def _named(self, reading: FactReading, term: str | None) -> set[str] | None:
        """The ids that a term names exactly: its own, whether there is such an entity or not, and
        those of the entities that stand on its concept."""
        return None if term is None else {term} | reading.on_concepts([self._concept_name(term)])

    def _relatives(self, reading: FactReading, ids: set[str]) -> set[str]:
        """The relatives with these names, and the names of these relatives: "Marta" is the "sister
        of Ann" whose name was said later."""
        found: set[str] = set()
        for naming in map(self._relations.of, _NAMING):
            for where in (Conditions(ids, naming), Conditions(None, naming, ids)):
                for claim in reading.find(where).facts:
                    subject, predicate = claim.evidence.subject, claim.evidence.predicate
                    if predicate in _NAMING and " of " in subject and subject[0].islower():
                        found |= {subject, claim.evidence.object}
        return found

    def _similar(
        self,
        reading: FactReading,
        term: str | None,
        ids: Collection[str] | None,
        part: Part,
        scores: dict[Part, float],
    ) -> Collection[str] | None:
        """The entities that a term means: those of ``ids`` that exist, else those of the most
        similar name, whose score is added to ``scores``."""
        if term is None or ids is None:
            return None
        known = [entity.id for entity in reading.reader.entities(ids)]
        if known or value_of(term) is not None:
            return known
        vector = next(iter(self.embeddings(term).items()), None)
        ids, score = similar_entities(reading, self._concept_name(term), term, vector)
        if ids:
            scores[part] = score
        return ids


def _facts(found: Found, scores: Mapping[Part, float], terms: Terms) -> list[Fact]:
    """The facts that were found; ``scores``: those of the terms that others stand for."""
    facts: list[Fact] = []
    for claim in found.facts:
        evidence = claim.evidence
        written = evidence.subject_label, evidence.predicate, evidence.object_label
        matched: dict[str, tuple[str, str, float]] = {
            part: (asked or "", label, scores[part])
            for part, asked, label in zip(PARTS, terms, written, strict=True)
            if part in scores
        }
        facts.append(Fact.of(evidence, matched))
    return facts
