"""The temporal graph around one concept: never all of it, a bounded number of neighbours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from recallm.model import ConceptRow, Relation
from recallm.stores.base import GraphReader


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbourhood:
    """A concept, its latest neighbours, and the relations among all of these.

    ``concepts`` begin with the concept asked for; its neighbours follow, those of the latest
    relation first. There are none where the concept is unknown. ``relations`` are ordered by
    (a, b). ``t_index`` is that of the view. ``more``: the concept has further neighbours.
    """

    concepts: tuple[ConceptRow, ...] = ()
    relations: tuple[Relation, ...] = ()
    t_index: int = 0
    more: bool = False

    def __bool__(self) -> bool:
        return bool(self.concepts)


def read_neighbourhood(reader: GraphReader, name: str, limit: int) -> Neighbourhood:
    """The concept ``name`` with at most ``limit`` neighbours."""
    t_index = reader.state.t_index
    latest = reader.relations([name], limit=limit + 1)
    latest.sort(key=lambda each: (-each.t_index, -each.strength, each.a, each.b))
    neighbours = [each.b if each.a == name else each.a for each in latest[:limit]]
    rows = {row.name: row for row in reader.concepts([name, *neighbours])}
    if name not in rows:
        return Neighbourhood(t_index=t_index)
    shown = [each for each in (name, *neighbours) if each in rows]
    return Neighbourhood(
        concepts=tuple(rows[each] for each in shown),
        relations=tuple(reader.relations(shown, among=True)),
        t_index=t_index,
        more=len(latest) > limit,
    )


def known_name(reader: GraphReader, label: str, concept_name: Callable[[str], str]) -> str:
    """The name of the concept that a user means by ``label``: the first known one among the
    concept that the label spells, the concept with this name, and the concept that the label spells
    in lower case. ``concept_name`` gives the name that a label spells."""
    spelled = concept_name(label)
    names = (spelled, label, concept_name(label.lower()))
    known = {concept.name for concept in reader.concepts(names)}
    return next((name for name in names if name in known), spelled)
