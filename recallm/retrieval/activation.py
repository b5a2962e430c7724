"""Activation of the concepts next to a question's essential concepts, over the relations.

The strength of a relation alone favours hubs: what is related to everything is related to the
question too. Pointwise mutual information, normalised to at most 1, asks instead how much more
often two concepts were shown together than their own frequencies would have them.
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
    *,
    updates: int,
) -> dict[str, Activation]:
    """The activation of each neighbour, through the essential concept that gives it most.

    ``updates`` is the number of knowledge updates that the relations were drawn from.
    """
    rows = {row.name: row for row in neighbours}
    found: dict[str, Activation] = {}
    for relation in relations:
        for source, target in ((relation.a, relation.b), (relation.b, relation.a)):
            if source not in essential or target in essential or target not in rows:
                continue
            value = _mutual_information(
                relation.strength, essential[source].updates, rows[target].updates, updates
            )
            known = found.get(target)
            if value > 0 and (known is None or value > known.value):
                found[target] = Activation(concept=rows[target], through=source, value=value)
    return found


def _mutual_information(together: int, first: int, second: int, total: int) -> float:
    """Normalised pointwise mutual information, discounted where few updates show it."""
    total = max(total, first, second, together + 1)
    information = math.log(together * total / (max(first, 1) * max(second, 1)))
    normal = information / -math.log(together / total)
    return max(0.0, min(1.0, normal)) * together / (together + 1)
