"""The temporal graph of a namespace for other programs: as a networkx graph, and as GraphML.

Concepts, their relations, entities and triplets are nodes and edges with the same ids and
attributes in both. ``MemoryGraph.to_networkx`` lists them.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import IO, TYPE_CHECKING, Any, NamedTuple
from xml.sax.saxutils import escape, quoteattr

from recallm.archive import open_for_writing
from recallm.errors import ArchiveError, MissingDependencyError
from recallm.stores.base import GraphReader

if TYPE_CHECKING:
    from networkx import MultiDiGraph

__all__ = ["networkx_graph", "write_graphml"]

_HEADER = (
    '<?xml version="1.0" encoding="UTF-8"?>'
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
)
_TYPES = {
    "node": {
        "element": "string",
        "name": "string",
        "label": "string",
        "kind": "string",
        "t_index": "long",
        "updates": "long",
        "statements": "long",
        "properties": "string",
        "source": "string",
    },
    "edge": {
        "element": "string",
        "label": "string",
        "strength": "long",
        "t_index": "long",
        "properties": "string",
        "source": "string",
    },
}
"""The type in GraphML of each attribute of a node and of an edge."""

_CONTROL = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffe\uffff]"
"""What XML forbids, a carriage return, which it does not keep, and what a terminal obeys."""
_CONTROLS = re.compile(_CONTROL)
_CONTROLS_AND_ESCAPES = re.compile(rf"{_CONTROL}|\\(?=u[0-9a-f]{{4}})")
"""Also the backslash of what would look like an escape."""


class Node(NamedTuple):
    """A concept or an entity."""

    id: str
    attributes: dict[str, Any]


class Edge(NamedTuple):
    """A relation, a triplet, or what an entity stands on: from the node ``start`` to ``end``.
    ``key`` tells edges between the same two nodes apart."""

    start: str
    end: str
    key: str
    attributes: dict[str, Any]


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
    for each in _elements(reader):
        if isinstance(each, Node):
            graph.add_node(each.id, **each.attributes)
        else:
            graph.add_edge(each.start, each.end, each.key, **each.attributes)
    return graph


def write_graphml(reader: GraphReader, target: str | os.PathLike[str] | IO[str]) -> int:
    """See ``MemoryGraph.write_graphml``.

    Raises:
        ArchiveError: the file cannot be written, or another file is there.
        InvalidInputError: ``target`` is neither a path nor a text stream.

    """
    nodes = 0
    with open_for_writing(target, kind="GraphML file of recallm", is_own=_is_graphml) as stream:
        for text in _graphml(reader):
            nodes += text.startswith("<node")
            try:
                stream.write(text)
            except (OSError, TypeError, ValueError) as error:
                raise ArchiveError(f"the graph cannot be written: {error}") from error
    return nodes


def _elements(reader: GraphReader) -> Iterator[Node | Edge]:
    """Nodes, each before its edges."""
    names: list[str] = []
    for concept in reader.concepts():
        names.append(concept.name)
        yield Node(
            _concept_node(concept.name),
            {
                "element": "concept",
                "name": concept.name,
                "label": concept.label,
                "kind": concept.kind,
                "t_index": concept.t_index,
                "updates": concept.updates,
                "statements": concept.statements,
            },
        )
    for relation in reader.relations(names, among=True):
        totals = {"strength": relation.strength, "t_index": relation.t_index}
        yield Edge(
            _concept_node(relation.a),
            _concept_node(relation.b),
            "relation",
            {"element": "relation", "label": "relation", **totals},
        )
    for entity in reader.entities():
        node = _entity_node(entity.id)
        yield Node(
            node,
            {
                "element": "entity",
                "name": entity.id,
                "label": entity.label,
                "kind": entity.type,
                "t_index": entity.t_index,
                "updates": entity.updates,
                "properties": dict(entity.properties),
                "source": entity.source,
            },
        )
        if entity.concept:
            kind = "stands on"
            yield Edge(node, _concept_node(entity.concept), kind, {"element": kind, "label": kind})
    for triplet in reader.triplets():
        yield Edge(
            _entity_node(triplet.subject),
            _entity_node(triplet.object),
            triplet.predicate,
            {
                "element": "triplet",
                "label": triplet.predicate,
                "strength": triplet.strength,
                "t_index": triplet.t_index,
                "properties": dict(triplet.properties),
                "source": triplet.source,
            },
        )


def _concept_node(name: str) -> str:
    return f"concept:{name}"


def _entity_node(id: str) -> str:
    return f"entity:{id}"


def _graphml(reader: GraphReader) -> Iterator[str]:
    yield _HEADER
    for owner, types in _TYPES.items():
        for name, kind in types.items():
            key = f'id="{owner}-{name}" for="{owner}" attr.name="{name}" attr.type="{kind}"'
            yield f"<key {key}/>\n"
    yield '<graph edgedefault="directed">\n'
    for number, each in enumerate(_elements(reader)):
        if isinstance(each, Node):
            owner, attributes = "node", {"id": each.id}
        else:
            ends = {"source": each.start, "target": each.end}
            owner, attributes = "edge", {"id": f"e{number}", **ends}
        given = " ".join(f"{name}={quoteattr(_safe(text))}" for name, text in attributes.items())
        yield f"<{owner} {given}>{_data(owner, each.attributes)}</{owner}>\n"
    yield "</graph>\n</graphml>\n"


def _data(owner: str, attributes: Mapping[str, Any]) -> str:
    """The values of a node or an edge that it has."""
    data = ""
    for name, value in attributes.items():
        if name == "properties":
            text = _CONTROLS.sub(_escape, json.dumps(value, ensure_ascii=False))
        else:
            text = _safe(str(value))
        if value is not None:
            data += f'<data key="{owner}-{name}">{escape(text)}</data>'
    return data


def _safe(text: str) -> str:
    r"""``text`` with escapes such as ``\u001b`` for control characters; two texts stay two."""
    return _CONTROLS_AND_ESCAPES.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def _is_graphml(first_line: bytes) -> bool:
    return first_line == _HEADER.encode()
