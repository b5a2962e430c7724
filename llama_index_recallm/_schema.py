"""What kinds of nodes and relations a graph has, for people and for language models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from llama_index_recallm._nodes import is_chunk
from llama_index_recallm._values import decoded
from recallm import Entity, Triplet

__all__ = ["schema_of", "schema_text", "values_text"]


def schema_of(entities: Iterable[Entity], triplets: Iterable[Triplet]) -> dict[str, Any]:
    """``node_props`` and ``rel_props`` (label → property → type), ``relationships`` (label of the
    source, label of the relation, label of the target), each sorted."""
    labels: dict[str, str] = {}
    nodes: dict[str, dict[str, str]] = {}
    for entity in entities:
        labels[entity.id] = entity.type
        own = nodes.setdefault(entity.type, {})
        if not is_chunk(entity):
            own.setdefault("name", "str")
        own.update(_types(entity.properties))
    relations: dict[str, dict[str, str]] = {}
    shapes: set[tuple[str, str, str]] = set()
    for triplet in triplets:
        relations.setdefault(triplet.predicate, {}).update(_types(triplet.properties))
        if triplet.subject in labels and triplet.object in labels:
            shapes.add((labels[triplet.subject], triplet.predicate, labels[triplet.object]))
    return {
        "node_props": {label: dict(sorted(nodes[label].items())) for label in sorted(nodes)},
        "rel_props": {name: dict(sorted(relations[name].items())) for name in sorted(relations)},
        "relationships": sorted(shapes),
    }


def schema_text(schema: Mapping[str, Any]) -> str:
    """``schema_of`` in words."""
    lines = ["Node labels and their properties:"]
    lines += [_line(label, own) for label, own in schema["node_props"].items()]
    lines += ["Relation labels and their properties:"]
    lines += [_line(label, own) for label, own in schema["rel_props"].items()]
    lines += ["Relations:"]
    lines += [
        f"({start})-[{label}]->({end})"
        for start, label, end in (map(_flat, shape) for shape in schema["relationships"])
    ]
    return "\n".join(lines)


def values_text(schema: Mapping[str, Any]) -> str:
    """What ``type`` and ``name`` are in the nodes of Neo4j that entities and triplets are."""
    lines = ["Values of RecallMEntity.type, and what is in properties:"]
    lines += [_line(label, own) for label, own in schema["node_props"].items()]
    lines += ["Values of RecallMTriplet.name, and what is in properties:"]
    lines += [_line(label, own) for label, own in schema["rel_props"].items()]
    lines += ["Type of the subject, name of the triplet, type of the object:"]
    lines += [", ".join(map(_flat, shape)) for shape in schema["relationships"]]
    return "\n".join(lines)


def _types(properties: Mapping[str, Any]) -> dict[str, str]:
    return {name: type(value).__name__ for name, value in decoded(properties).items()}


def _line(label: str, properties: Mapping[str, str]) -> str:
    named = ", ".join(f"{_flat(name)} ({kind})" for name, kind in properties.items())
    return f"{_flat(label)}: {named}"


def _flat(name: str) -> str:
    """A name on one line: none may pass for a line of the schema."""
    return " ".join(name.split())
