"""Activation of the concepts next to a question's essential concepts, over the relations.

The strength of a relation alone favours hubs: what is related to everything is related to the
question too. Against the updates that touch each of the two concepts (cosine) it says how much of
what is told of the one is told of the other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from recallm.model import ConceptRow, Relation

__all__ = ["Activation", "activate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Activation:
    """A concept that lies next to an essential one: how strongly (0 to 1), and through which."""

    concept: ConceptRow
    through: str
    value: float


def activate(
    essential: Mapping[str, ConceptRow],
    relations: Iterable[Relation],
    neighbours: Iterable[ConceptRow],
) -> dict[str, Activation]:
    """The activation of each neighbour, through the essential concept that gives it most."""
    rows = {row.name: row for row in neighbours}
    found: dict[str, Activation] = {}
    for relation in relations:
        for source, target in ((relation.a, relation.b), (relation.b, relation.a)):
            if source not in essential or target in essential or target not in rows:
                continue
            value = _association(relation.strength, essential[source].updates, rows[target].updates)
            known = found.get(target)
            if known is None or value > known.value:
                found[target] = Activation(concept=rows[target], through=source, value=value)
    return found


def _association(together: int, first: int, second: int) -> float:
    return together / math.sqrt(max(first, together) * max(second, together))
