"""From the terms of a question to the facts that answer it: exact terms first, then similar ones.

1. Entities that bear a term's name, or have it as their id; every phrasing of the relation.
2. If no evidence at all meets these, the most similar names for the terms that nothing bears.
3. If there is still none, the most similar relation: of the entities that are given, else of all.

A term that nothing is like has an empty answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import get_args

from recallm.facts.fact import PARTS, Fact, Match, Part, Terms, checked_term
from recallm.facts.values import text_key, value_of
from recallm.ground import checks
from recallm.ground.entity_words import probes
from recallm.ground.untrusted_text import folded
from recallm.recall.predicates.held_facts import Conditions, FactReading, Found
from recallm.recall.predicates.holding import Side
from recallm.recall.predicates.relations import (
    PredicateName,
    PredicateNames,
    Relations,
    relation_words,
)
from recallm.recall.predicates.similarity import (
    RelationVectors,
    SimilarRelations,
    name_similarity,
)
from recallm.vectors import Embedding, encode, nearest
from recallm.vectors.embedding import RememberedVectors

# Chosen on tests/facts/similar.toml.
_LEAST_OF_ENTITY = 0.45
"""Cosine from which on a relation of a given entity is the one that is asked for."""
_LEAST_OF_ALL = 0.6
"""The least cosine of a relation that is taken for the asked one, where no entity is given."""
_LEAST_OF_NAMES = 0.8
"""Cosine from which on two names without a common word name the same."""
_LEAST_UNIQUE = 0.9
"""Names less alike than this are not taken where several are equally alike."""

_MOST_RELATIONS = 256
"""Predicates of a namespace, those of the most triplets, that every question is compared with."""
_ROWS_OF_ENTITY = 256
"""Latest pieces of evidence of an entity whose predicates are compared beside them."""
_BEARERS = 256
"""Entities that are read for each word of a name."""
_COMPARED = 48
"""Entities whose names are compared."""
_TRIED = 8
"""Relations that are looked up at most, the most alike first."""

_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")

_NAMING = ("called", "name")
"""Predicates between a relative and the name."""


def declared_relations(
    concept_name: Callable[[str], str],
    single_valued: Iterable[str] | Mapping[str, Side],
    multi_valued: Iterable[str],
) -> Relations:
    """The relations of a ``FactMemory``, with those that its user declares."""
    sides: Mapping[str, Side | None] = (
        single_valued
        if isinstance(single_valued, Mapping)
        else dict.fromkeys(checks.listed(single_valued, "single_valued"))
    )
    return Relations(
        PredicateNames(concept_name),
        single_valued={
            checked_term(each, "single_valued"): None
            if side is None
            else checks.choice(get_args(Side), side, "single_valued")
            for each, side in sides.items()
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
        for key, score in _similar_relations(
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
            if naming.name not in reading.vocabulary.asserted:
                continue
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
        ids, score = _similar_entities(reading, self._concept_name(term), term, vector)
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


# Terms that no stored entity or relation has, and the stored terms that they may mean (RET-LLM,
# section 3.1).


def _similar_entities(
    reading: FactReading, concept: str, label: str, vector: tuple[str, Sequence[float]] | None
) -> tuple[list[str], float]:
    """The ids of the entities whose names are most like that of ``concept``, and how sure it is
    that they are meant; none and 0 where none is like it.

    ``label`` is the term; ``vector``: the embedding model's name, and the term's vector. Names with
    a common word are compared word by word, others by their vectors.
    """
    words = _searched(concept, label)
    bearers = reading.reader.entities_by_words(words, limit=_BEARERS)
    weights: dict[str, float] = {}
    for ids in bearers.values():
        for id in ids:
            weights[id] = weights.get(id, 0.0) + 1 / len(ids)
    chosen = sorted(weights, key=lambda id: (-weights[id], id))[:_COMPARED]
    scores: dict[str, float] = {}
    for entity in reading.reader.entities(chosen):
        scores[entity.id] = name_similarity(concept, entity.concept)
    if not any(scores.values()) and vector is not None:
        scores = _by_vector(reading, vector, label, weights.keys())
    return _best(reading, scores)


def _searched(concept: str, label: str) -> list[str]:
    """The words of a name that are looked up: also without accents, parted at humps and hyphens,
    and joined."""
    parted = _HUMP.sub(" ", label).replace("-", " ").casefold().split()
    words = [*concept.split(), *parted, *map(folded, concept.split())]
    words.append("".join(folded(concept).split()))
    return list(dict.fromkeys(words))


def _by_vector(
    reading: FactReading, vector: tuple[str, Sequence[float]], label: str, others: Collection[str]
) -> dict[str, float]:
    """Cosines of the names near the term, save those that share a word with it or differ in a
    number."""
    model, values = vector
    if _has_digit(label) or model not in reading.reader.state.vector_bytes:
        return {}
    blob = encode(values)
    if reading.reader.state.vector_bytes[model] != len(blob):
        return {}
    found = reading.reader.entities_by_words(probes(model, blob), limit=_BEARERS)
    ids = {id for bearers in found.values() for id in bearers}.difference(others)
    if not ids:
        return {}
    near = nearest(values, reading.reader.entity_vectors(ids, model=model), _COMPARED)
    return {id: cosine for id, cosine in near if cosine >= _LEAST_OF_NAMES and not _has_digit(id)}


def _best(reading: FactReading, scores: Mapping[str, float]) -> tuple[list[str], float]:
    score = max(scores.values(), default=0.0)
    ids = [id for id in scores if score and scores[id] == score]
    if 0 < score < _LEAST_UNIQUE:
        concepts = {entity.concept for entity in reading.reader.entities(ids)}
        if len(concepts) > 1:
            return [], 0.0
    return ids, min(score, 1.0)


def _similar_relations(
    reading: FactReading,
    vectors: RelationVectors,
    asked: str,
    subjects: Collection[str] | None,
    objects: Collection[str] | None,
) -> list[tuple[str, float]]:
    """The relations that ``asked`` may mean, each with its score, best first; those of the given
    entities where some are given."""
    vocabulary = reading.vocabulary
    if subjects is None and objects is None:
        return vocabulary.compared(vectors, _MOST_RELATIONS).best(asked, _LEAST_OF_ALL)[:_TRIED]
    evidence = reading.reader.triplet_evidence(
        subjects=subjects, objects=objects, limit=_ROWS_OF_ENTITY
    )
    own = {reading.relations.of(row.predicate).name for row in evidence}
    found = vocabulary.compared(vectors, _MOST_RELATIONS).best(asked, _LEAST_OF_ENTITY)
    if len(evidence) < _ROWS_OF_ENTITY:  # these are all relations of the entity
        found = [pair for pair in found if pair[0] in own]
    if len(vocabulary.asserted) > _MOST_RELATIONS:
        of_entity = {key: vocabulary.asserted[key] for key in own & vocabulary.asserted.keys()}
        compared = SimilarRelations(vectors, of_entity).best(asked, _LEAST_OF_ENTITY)
        found = sorted(
            {**dict(found), **dict(compared)}.items(), key=lambda pair: (-pair[1], pair[0])
        )
    return found[:_TRIED]


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))
