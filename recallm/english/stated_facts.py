"""Facts that texts state, as evidence in the graph.

⟨Ingrid, live in, Malaga⟩ out of "Ingrid lives in Malaga." joins the update of its passage: the two
ends are entities on their concepts, the triplet has the statement's place, so that forgetting the
statement takes both away, and views of the past, strengths and histories are those of any triplet.

Both ends stand on concepts, whose labels are their ids. An object may also be a number ("34"), a
date or a quality ("happy"): an entity on no concept. A pronoun that stands for nobody is no end.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from recallm.model import (
    ConceptMention,
    EntityUpsert,
    OpenTriplet,
    TripletUpsert,
)

_LONGEST_PHRASE = 80
"""Characters; a longer phrase is a clause, not a quality."""

_PHRASE = "phrase"
"""The type of an entity that is a quality."""

_COPULA = "be"

_VALUES = ("number", "date")
"""The types of entities that are values."""


def stated_elements(
    facts: Iterable[OpenTriplet],
) -> tuple[tuple[EntityUpsert, ...], tuple[TripletUpsert, ...]]:
    """What a store writes for the facts of a text: the entities at their ends, each once a
    statement, and the triplets that have both ends."""
    entities: dict[tuple[str, int], EntityUpsert] = {}
    stated: list[TripletUpsert] = []
    for triplet in facts:
        subject, object_ = _entity(triplet.subject_concept, triplet.position), _object(triplet)
        if subject is None or object_ is None or subject.id == object_.id:
            continue
        for end in (subject, object_):
            entities.setdefault((end.id, end.position), end)
        stated.append(
            TripletUpsert(
                subject=subject.id,
                predicate=triplet.stated_relation,
                object=object_.id,
                properties=triplet.properties,
                position=triplet.position,
            )
        )
    return tuple(entities.values()), tuple(stated)


def _entity(concept: ConceptMention | None, position: int) -> EntityUpsert | None:
    if concept is None:
        return None
    return EntityUpsert(
        id=concept.label,
        type=concept.kind,
        concept=replace(concept, reference=None),
        position=position,
        mentioned=True,
    )


def _object(triplet: OpenTriplet) -> EntityUpsert | None:
    concept, value = triplet.object_concept, triplet.object_value
    if concept is not None and value not in _VALUES:
        return _entity(concept, triplet.position)
    id = " ".join(triplet.object.split())
    is_quality = bool(value) or triplet.relation == _COPULA
    if not is_quality or not id or len(id) > _LONGEST_PHRASE:
        return None
    return EntityUpsert(
        id=id,
        type=value if value in _VALUES else _PHRASE,
        concept=ConceptMention(name="", label=id, kind="entity"),
        position=triplet.position,
        mentioned=True,
    )
