"""The temporal graph as it is shown: a concept with a bounded number of neighbours, and for other
programs all of it as a networkx graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recallm.errors import MissingDependencyError
from recallm.model import ConceptRow, Relation
from recallm.stores.base import GraphReader

if TYPE_CHECKING:
    from networkx import MultiDiGraph

_OF_CONCEPT = ("name", "label", "kind", "t_index", "updates", "statements")
_OF_ENTITY = ("label", "t_index", "updates", "source")
_OF_RELATION = ("strength", "t_index")
_OF_TRIPLET = ("strength", "t_index", "source")
"""Attributes that nodes and edges have as they are."""


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


def networkx_graph(reader: GraphReader) -> MultiDiGraph:
    """See ``MemoryGraph.to_networkx``.

    Raises:
        MissingDependencyError: networkx is not installed.

    """
    try:
        from networkx import MultiDiGraph
    except ImportError:
        raise MissingDependencyError("networkx", extra="networkx") from None
    graph = MultiDiGraph()
    concepts = reader.concepts()
    for concept in concepts:
        node = f"concept:{concept.name}"
        graph.add_node(node, element="concept", **_attributes(concept, _OF_CONCEPT))
    for relation in reader.relations([concept.name for concept in concepts], among=True):
        ends = f"concept:{relation.a}", f"concept:{relation.b}"
        own = _attributes(relation, _OF_RELATION)
        graph.add_edge(*ends, "relation", element="relation", label="relation", **own)
    for entity in reader.entities():
        node = f"entity:{entity.id}"
        own = _attributes(entity, _OF_ENTITY)
        own |= {"name": entity.id, "kind": entity.type, "properties": dict(entity.properties)}
        graph.add_node(node, element="entity", **own)
        if entity.concept:
            kind = "stands on"
            graph.add_edge(node, f"concept:{entity.concept}", kind, element=kind, label=kind)
    for triplet in reader.triplets():
        ends = f"entity:{triplet.subject}", f"entity:{triplet.object}"
        own = _attributes(triplet, _OF_TRIPLET)
        own |= {"label": triplet.predicate, "properties": dict(triplet.properties)}
        graph.add_edge(*ends, triplet.predicate, element="triplet", **own)
    return graph


def _attributes(row: object, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(row, name) for name in names}
