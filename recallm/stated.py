"""Triplets that texts state, as evidence in the graph.

⟨Ingrid, live in, Malaga⟩ out of "Ingrid lives in Malaga." joins the update of its passage: the two
ends are entities on their concepts, the triplet has the statement's place, so that forgetting the
statement takes both away, and views of the past, strengths and histories are those of any triplet.

Both ends stand on concepts, whose labels are their ids; after "be" the object may be any phrase
("happy"). A pronoun that stands for nobody is no end. The predicate of a triplet that the text
denies, or does not assert, says so ("not live in", "may move to", "plan to buy"): such a triplet is
never the same as the fact. Properties hold what the text says beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from recallm.model import (
    ConceptMention,
    EntityUpsert,
    OpenTriplet,
    TripletUpsert,
)

__all__ = ["is_fact", "predicate_of", "properties_of", "stated_elements"]

_LONGEST_PHRASE = 80
"""Characters; a longer phrase is a clause, not a quality."""

_PHRASE = "phrase"
"""The type of an entity that stands on no concept."""

_COPULA = "be"


def is_fact(triplet: OpenTriplet) -> bool:
    """Whether the text asserts the triplet: neither denied nor merely possible."""
    return not triplet.negated and not triplet.modality


def predicate_of(triplet: OpenTriplet) -> str:
    """The predicate that a triplet is stored under: its relation, behind what makes it less than a
    fact."""
    parts = (triplet.modality, "not" if triplet.negated else "", triplet.relation)
    return " ".join(part for part in parts if part)


def properties_of(triplet: OpenTriplet) -> dict[str, Any]:
    """What the text says beside a triplet, in JSON values."""
    properties: dict[str, Any] = {
        "said": " ".join(
            part for part in (triplet.subject, triplet.predicate, triplet.object) if part
        ),
        "confidence": round(triplet.confidence, 3),
    }
    if triplet.negated:
        properties["negated"] = True
    if triplet.modality:
        properties["modality"] = triplet.modality
    if triplet.adjuncts:
        properties["adjuncts"] = [list(adjunct) for adjunct in triplet.adjuncts]
    return properties


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
                predicate=predicate_of(triplet),
                object=object_.id,
                properties=properties_of(triplet),
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
