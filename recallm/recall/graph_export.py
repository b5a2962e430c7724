"""The temporal graph of a namespace as a networkx graph, for other programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recallm.errors import MissingDependencyError
from recallm.stores.base import GraphReader

if TYPE_CHECKING:
    from networkx import MultiDiGraph


def networkx_graph(reader: GraphReader) -> MultiDiGraph:
    """See ``MemoryGraph.to_networkx``."""
    try:
        from networkx import MultiDiGraph
    except ImportError:
        raise MissingDependencyError("networkx", extra="networkx") from None
    graph = MultiDiGraph()
    concepts = reader.concepts()
    for concept in concepts:
        graph.add_node(
            _concept_node(concept.name),
            element="concept",
            name=concept.name,
            label=concept.label,
            kind=concept.kind,
            t_index=concept.t_index,
            updates=concept.updates,
            statements=concept.statements,
        )
    for relation in reader.relations([concept.name for concept in concepts], among=True):
        graph.add_edge(
            _concept_node(relation.a),
            _concept_node(relation.b),
            "relation",
            element="relation",
            label="relation",
            strength=relation.strength,
            t_index=relation.t_index,
        )
    for entity in reader.entities():
        node = _entity_node(entity.id)
        graph.add_node(
            node,
            element="entity",
            name=entity.id,
            label=entity.label,
            kind=entity.type,
            t_index=entity.t_index,
            updates=entity.updates,
            properties=dict(entity.properties),
            source=entity.source,
        )
        if entity.concept:
            kind = "stands on"
            graph.add_edge(node, _concept_node(entity.concept), kind, element=kind, label=kind)
    for triplet in reader.triplets():
        graph.add_edge(
            _entity_node(triplet.subject),
            _entity_node(triplet.object),
            triplet.predicate,
            element="triplet",
            label=triplet.predicate,
            strength=triplet.strength,
            t_index=triplet.t_index,
            properties=dict(triplet.properties),
            source=triplet.source,
        )
    return graph


def _concept_node(name: str) -> str:
    return f"concept:{name}"


def _entity_node(id: str) -> str:
    return f"entity:{id}"
