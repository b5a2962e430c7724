"""What ``RecallM.update`` is given for facts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from typing import Any

from recallm.facts.fact import NewFact
from recallm.facts.values import Value, value_of
from recallm.graph import NewEntity, NewTriplet

__all__ = ["denied", "update_arguments"]

_TYPES: Mapping[type[Value], str] = {
    bool: "boolean",
    int: "number",
    float: "number",
    date: "date",
    datetime: "date",
}


def denied(predicate: str) -> str:
    """The predicate that denies ``predicate``, as ``recallm.stated`` writes it."""
    return f"not {predicate}"


def update_arguments(
    new: NewFact,
    *triplets: tuple[str, str, str],
    embeddings: Callable[[str], Mapping[str, Sequence[float]]] | None = None,
) -> dict[str, Any]:
    """The arguments of ``RecallM.update`` that write ``triplets`` with what ``new`` says beside its
    terms. ``embeddings`` gives the vectors of a new entity by its label."""
    ends = dict.fromkeys(end for subject, _, object_ in triplets for end in (subject, object_))
    return {
        "text": "",
        "timestamp": new.said,
        "source": new.source,
        "entities": [_entity(end, {} if embeddings is None else embeddings(end)) for end in ends],
        "triplets": [
            NewTriplet(
                subject=subject,
                predicate=predicate,
                object=object_,
                properties=new.properties or {},
            )
            for subject, predicate, object_ in triplets
        ],
    }


def _entity(text: str, embeddings: Mapping[str, Sequence[float]]) -> NewEntity:
    """The end of a triplet that a term names: a value stands on no concept."""
    value = value_of(text)
    if value is None:
        return NewEntity(id=text, embeddings=embeddings, mentioned=True)
    return NewEntity(id=text, type=_TYPES[type(value)], concept=False, mentioned=True)
