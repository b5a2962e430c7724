"""Entities and triplets within a view."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any, LiteralString

from recallm.model import Entity, Triplet
from recallm.stores.sqlite.lookup import fetch_by
from recallm.stores.sqlite.view import View

__all__ = ["read_entities", "read_triplets"]


def read_entities(
    view: View, ids: Collection[str] | None, concepts: Collection[str] | None
) -> list[Entity]:
    """``GraphReader.entities``."""
    columns: LiteralString = (
        "SELECT e.id, e.type, e.label, c.name, e.properties, max(v.at) >> 20,"
        " count(DISTINCT v.at >> 20) FROM entity e JOIN concept c ON c.id = e.concept"
        " JOIN entity_evidence v ON v.ns = e.ns AND v.entity = e.number WHERE e.ns = ?"
    )
    after: LiteralString = view.seen + " GROUP BY e.number"
    rows: list[tuple[Any, ...]] = []
    if ids is None and concepts is None:
        rows = view.rows(columns + after, (view.ns, *view.seen_values))
    if ids is not None:
        rows += fetch_by(
            view.rows, columns + " AND e.id IN", set(ids), after,
            lead=(view.ns,), tail=view.seen_values,
        )  # fmt: skip
    if concepts is not None:
        rows += fetch_by(
            view.rows, columns + " AND e.concept IN", view.ids("concept", concepts).values(), after,
            lead=(view.ns,), tail=view.seen_values,
        )  # fmt: skip
    return [
        Entity(
            id=id,
            type=type,
            label=label,
            concept=concept,
            properties=json.loads(properties),
            t_index=t_index,
            updates=updates,
        )
        for id, type, label, concept, properties, t_index, updates in sorted(set(rows))
    ]


def read_triplets(
    view: View,
    subjects: Collection[str] | None,
    predicates: Collection[str] | None,
    objects: Collection[str] | None,
    ends: Collection[str] | None,
) -> list[Triplet]:
    """``GraphReader.triplets``."""
    chosen = _chosen(view, subjects, predicates, objects, ends)
    involved = {number for _, s, _, o, _ in chosen for number in (s, o)}
    ids = dict(
        fetch_by(
            view.rows,
            "SELECT number, id FROM entity e WHERE EXISTS (SELECT 1 FROM entity_evidence v"
            " WHERE v.ns = e.ns AND v.entity = e.number" + view.seen + ") AND number IN",
            involved,
            lead=view.seen_values,
        )
    )
    evidence = {
        number: (strength, t_index)
        for number, strength, t_index in fetch_by(
            view.rows,
            "SELECT triplet, count(DISTINCT at >> 20), max(at) >> 20 FROM triplet_evidence"
            " WHERE ns = ? AND triplet IN",
            [row[0] for row in chosen],
            view.seen + " GROUP BY triplet",
            lead=(view.ns,),
            tail=view.seen_values,
        )
    }
    triplets = [
        Triplet(
            subject=ids[subject],
            predicate=predicate,
            object=ids[object],
            properties=json.loads(properties),
            strength=evidence[number][0],
            t_index=evidence[number][1],
        )
        for number, subject, predicate, object, properties in chosen
        if number in evidence and subject in ids and object in ids
    ]
    return sorted(triplets, key=lambda t: (t.subject, t.predicate, t.object))


def _chosen(
    view: View,
    subjects: Collection[str] | None,
    predicates: Collection[str] | None,
    objects: Collection[str] | None,
    ends: Collection[str] | None,
) -> set[tuple[Any, ...]]:
    """(number, subject, predicate, object, properties) of the triplets that meet the conditions,
    found by the one that an index answers best."""
    named = {
        condition: None if ids is None else _numbers(view, ids)
        for condition, ids in (("subject", subjects), ("object", objects), ("ends", ends))
    }
    columns: LiteralString = (
        "SELECT number, subject, predicate, object, properties FROM triplet WHERE ns = ?"
    )
    by_subject: LiteralString = columns + " AND subject IN"
    by_object: LiteralString = columns + " AND object IN"
    lead = (view.ns,)
    rows: list[tuple[Any, ...]]
    if (numbers := named["subject"]) is not None:
        rows = fetch_by(view.rows, by_subject, numbers, lead=lead)
    elif (numbers := named["object"]) is not None:
        rows = fetch_by(view.rows, by_object, numbers, lead=lead)
    elif (numbers := named["ends"]) is not None:
        rows = fetch_by(view.rows, by_subject, numbers, lead=lead)
        rows += fetch_by(view.rows, by_object, numbers, lead=lead)
    elif predicates is not None:
        rows = fetch_by(view.rows, columns + " AND predicate IN", set(predicates), lead=lead)
    else:
        rows = view.rows(columns, lead)
    subject_in, object_in, end_in = named["subject"], named["object"], named["ends"]
    return {
        row
        for row in rows
        if (subject_in is None or row[1] in subject_in)
        and (predicates is None or row[2] in predicates)
        and (object_in is None or row[3] in object_in)
        and (end_in is None or row[1] in end_in or row[3] in end_in)
    }


def _numbers(view: View, ids: Collection[str]) -> set[int]:
    rows = fetch_by(
        view.rows, "SELECT number FROM entity WHERE ns = ? AND id IN", set(ids), lead=(view.ns,)
    )
    return {number for (number,) in rows}
