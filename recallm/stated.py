"""Triplets that texts state, as evidence in the graph.

⟨Ingrid, live in, Malaga⟩ out of "Ingrid lives in Malaga." joins the update of its passage: the two
ends are entities on their concepts, the triplet has the statement's place, so that forgetting the
statement takes both away, and views of the past, strengths and histories are those of any triplet.

Both ends stand on concepts, whose labels are their ids; after "be" the object may be any phrase
("happy"). A pronoun that stands for nobody is no end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from recallm.model import (
    ConceptMention,
    EntityUpsert,
    OpenTriplet,
    TripletUpsert,
)

__all__ = ["stated_elements"]

_LONGEST_PHRASE = 80
"""Characters; a longer phrase is a clause, not a quality."""

_PHRASE = "phrase"
"""The type of an entity that stands on no concept."""

_COPULA = "be"


def stated_elements(
    triplets: Iterable[OpenTriplet],
) -> tuple[tuple[EntityUpsert, ...], tuple[TripletUpsert, ...]]:
    """What a store writes for the triplets of a text: the entities at their ends, each once a
    statement, and the triplets that have both ends."""
    entities: dict[tuple[str, int], EntityUpsert] = {}
    stated: list[TripletUpsert] = []
    for triplet, subject, object_ in _with_ends(triplets):
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


def _with_ends(
    triplets: Iterable[OpenTriplet],
) -> Iterator[tuple[OpenTriplet, EntityUpsert, EntityUpsert]]:
    for triplet in triplets:
        subject = _entity(triplet.subject_concept, triplet.position)
        object_ = _entity(triplet.object_concept, triplet.position)
        if object_ is None and triplet.relation == _COPULA:
            object_ = _phrase(triplet.object, triplet.position)
        if subject is not None and object_ is not None and subject.id != object_.id:
            yield triplet, subject, object_


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


def _phrase(text: str, position: int) -> EntityUpsert | None:
    id = " ".join(text.split())
    if not id or len(id) > _LONGEST_PHRASE:
        return None
    concept = ConceptMention(name="", label=id, kind="entity")
    return EntityUpsert(id=id, type=_PHRASE, concept=concept, position=position, mentioned=True)
