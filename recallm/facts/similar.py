"""Terms that nothing stored bears exactly, and the stored ones that they may mean (RET-LLM, section
3.1: an alternative term)."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from recallm.ground.entity_words import probes
from recallm.ground.untrusted_text import folded
from recallm.recall.predicates.held_facts import FactReading
from recallm.recall.predicates.similarity import RelationVectors, SimilarRelations, name_similarity
from recallm.vectors import encode, nearest

# Chosen on tests/facts/similar.toml.
_LEAST_OF_ENTITY = 0.45
"""Cosine from which on a relation of a given entity is the one that is asked for."""
_LEAST_OF_ALL = 0.6
"""Cosine from which on a relation is, where no entity is given."""
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


def similar_entities(
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


def similar_relations(
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
