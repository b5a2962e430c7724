"""The temporal graph of a namespace as a networkx graph, for other programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recallm.errors import MissingDependencyError
from recallm.stores.base import GraphReader

if TYPE_CHECKING:
    from networkx import MultiDiGraph

_OF_CONCEPT = ("name", "label", "kind", "t_index", "updates", "statements")
_OF_ENTITY = ("label", "t_index", "updates", "source")
_OF_RELATION = ("strength", "t_index")
_OF_TRIPLET = ("strength", "t_index", "source")
"""Attributes that nodes and edges have as they are."""


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
