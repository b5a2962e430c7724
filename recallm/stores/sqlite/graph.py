"""Entities with their vectors, and triplets, within a view."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from operator import itemgetter
from typing import Any, LiteralString

from recallm.model import Entity, Triplet
from recallm.stores.sqlite.checksums import verified_vectors
from recallm.stores.sqlite.lookup import fetch_by, read, read_by
from recallm.stores.sqlite.schema import NO_CONCEPT, passage_row
from recallm.stores.sqlite.view import View

__all__ = ["read_entities", "read_entity_vectors", "read_triplets"]


_ENTITY_SOURCE: LiteralString = (
    "SELECT number, (SELECT p.id FROM entity_evidence v CROSS JOIN passage p"
    "  ON p.row = (n.ns << 32) + (v.at >> 20) WHERE v.ns = n.ns AND v.entity = n.number{visible}"
    "  ORDER BY v.at DESC LIMIT 1) FROM entity n WHERE number IN"
)
_TRIPLET_SOURCE = _ENTITY_SOURCE.replace("entity", "triplet")

_ENTITIES_OF: LiteralString = (
    "SELECT v.entity FROM passage CROSS JOIN entity_evidence v INDEXED BY entity_evidence_at"
    " ON v.ns = passage.ns AND v.at >= passage.t << 20 AND v.at < (passage.t + 1) << 20"
    " WHERE passage.ns = ? AND passage.id IN"
)
_TRIPLETS_OF = _ENTITIES_OF.replace("entity", "triplet")


def read_entities(
    view: View,
    ids: Collection[str] | None,
    concepts: Collection[str] | None,
    passages: Collection[str] | None,
) -> list[Entity]:
    """``GraphReader.entities``."""
    columns: LiteralString = (
        "SELECT e.number, max(v.at) >> 20, count(DISTINCT v.at >> 20) FROM entity e"
        " JOIN entity_evidence v ON v.ns = e.ns AND v.entity = e.number WHERE e.ns = ?"
    )
    after: LiteralString = view.visible_sql + " GROUP BY e.number"
    conditions: list[tuple[LiteralString, Collection[object]]] = []
    if ids is not None:
        conditions.append((" AND e.id IN", set(ids)))
    if concepts is not None:
        conditions.append((" AND e.concept IN", view.ids("concept", concepts).values()))
    if passages is not None:
        conditions.append((" AND e.number IN", _of_passages(view, _ENTITIES_OF, passages)))
    rows: list[tuple[Any, ...]] = []
    for condition, values in conditions:
        rows += fetch_by(
            view.rows, columns + condition, values, after, lead=(view.ns,), tail=view.visible_values
        )
    if not conditions:
        rows = view.rows(columns + after, (view.ns, *view.visible_values))
    found = {number: (t_index, updates) for number, t_index, updates in rows}
    sources = _sources(view, _ENTITY_SOURCE, {n: t_index for n, (t_index, _) in found.items()})
    entities = read_by(view.rows, "entity", "SELECT {} FROM entity WHERE number IN", found)
    on = {row[4] for row in entities}
    on_concepts = read_by(view.rows, "concept", "SELECT {} FROM concept WHERE id IN", on)
    names = {NO_CONCEPT: "", **{id: name for id, _, name, *_ in on_concepts}}
    return [
        Entity(
            id=id,
            type=type,
            label=label,
            concept=names[concept],
            properties=json.loads(properties),
            t_index=found[number][0],
            updates=found[number][1],
            source=sources[number],
        )
        for number, _, id, type, concept, label, _, properties in sorted(
            set(entities), key=itemgetter(2)
        )
    ]


def read_entity_vectors(view: View, ids: Collection[str] | None, model: str) -> dict[str, bytes]:
    """``GraphReader.entity_vectors``."""
    visible: LiteralString = ""
    if view.visible_sql:
        visible = (
            " AND EXISTS (SELECT 1 FROM entity_evidence v"
            " WHERE v.ns = e.ns AND v.entity = e.number" + view.visible_sql + ")"
        )
    if ids is None:
        rows = view.rows(
            "SELECT e.id, w.blob, w.crc - w.entity FROM entity_vector w"
            " CROSS JOIN entity e ON e.number = w.entity WHERE w.ns = ? AND w.model = ?" + visible,
            (view.ns, model, *view.visible_values),
        )
    else:
        rows = fetch_by(
            view.rows,
            "SELECT e.id, w.blob, w.crc - w.entity FROM entity e CROSS JOIN entity_vector w"
            " ON w.ns = e.ns AND w.entity = e.number WHERE e.ns = ? AND w.model = ? AND e.id IN",
            set(ids),
            visible,
            lead=(view.ns, model),
            tail=view.visible_values,
        )
    return dict(sorted(verified_vectors(rows)))


def _sources(view: View, sql: LiteralString, latest: Mapping[int, int]) -> dict[int, str | None]:
    """Number of an entity or triplet → the id of the latest visible passage that is its evidence.

    ``latest`` maps each number to the latest t of its evidence, which mostly has a passage; ``sql``
    finds the passage for the others.
    """
    by_t = dict(
        fetch_by(
            view.rows,
            "SELECT t, id FROM passage WHERE row IN",
            {passage_row(view.ns, t) for t in latest.values()},
        )
    )
    found: dict[int, str | None] = {n: by_t[t] for n, t in latest.items() if t in by_t}
    text: LiteralString = sql.replace("{visible}", view.visible_sql)
    found.update(fetch_by(view.rows, text, latest.keys() - found.keys(), lead=view.visible_values))
    return found


def _of_passages(view: View, sql: LiteralString, passages: Collection[str]) -> set[int]:
    """The numbers of the entities or triplets that the updates of these visible passages wrote."""
    rows = fetch_by(
        view.rows,
        sql,
        set(passages),
        view.visible_passage_sql,
        lead=(view.ns,),
        tail=view.visible_passage_values,
    )
    return {number for (number,) in rows}


def read_triplets(
    view: View,
    subjects: Collection[str] | None,
    predicates: Collection[str] | None,
    objects: Collection[str] | None,
    ends: Collection[str] | None,
    passages: Collection[str] | None,
) -> list[Triplet]:
    """``GraphReader.triplets``."""
    chosen = _chosen(view, subjects, predicates, objects, ends, passages)
    involved = {number for _, _, s, _, o, _ in chosen for number in (s, o)}
    named = read_by(
        view.rows,
        "entity",
        "SELECT {} FROM entity e WHERE EXISTS (SELECT 1 FROM entity_evidence v"
        " WHERE v.ns = e.ns AND v.entity = e.number" + view.visible_sql + ") AND number IN",
        involved,
        lead=view.visible_values,
    )  # fmt: skip
    ids = {number: id for number, _, id, *_ in named}
    evidence = {
        number: (strength, t_index)
        for number, strength, t_index in fetch_by(
            view.rows,
            "SELECT triplet, count(DISTINCT at >> 20), max(at) >> 20 FROM triplet_evidence"
            " WHERE ns = ? AND triplet IN",
            [row[0] for row in chosen],
            view.visible_sql + " GROUP BY triplet",
            lead=(view.ns,),
            tail=view.visible_values,
        )
    }
    sources = _sources(view, _TRIPLET_SOURCE, {n: t for n, (_, t) in evidence.items()})
    triplets = [
        Triplet(
            subject=ids[subject],
            predicate=predicate,
            object=ids[object],
            properties=json.loads(properties),
            strength=evidence[number][0],
            t_index=evidence[number][1],
            source=sources[number],
        )
        for number, _, subject, predicate, object, properties in chosen
        if number in evidence and subject in ids and object in ids
    ]
    return sorted(triplets, key=lambda t: (t.subject, t.predicate, t.object))


def _chosen(
    view: View,
    subjects: Collection[str] | None,
    predicates: Collection[str] | None,
    objects: Collection[str] | None,
    ends: Collection[str] | None,
    passages: Collection[str] | None,
) -> set[tuple[Any, ...]]:
    """The rows (``CHECKSUMMED_COLUMNS``) of the triplets that meet all conditions; the query starts
    at the condition that an index answers best."""
    named = {
        condition: None if ids is None else _numbers(view, ids)
        for condition, ids in (("subject", subjects), ("object", objects), ("ends", ends))
    }
    columns: LiteralString = "SELECT {} FROM triplet WHERE ns = ?"
    # The sign keeps the planner from reading all of the namespace's by an index.
    by_number: LiteralString = columns.replace("ns =", "+ns =") + " AND number IN"
    by_subject: LiteralString = columns + " AND subject IN"
    by_object: LiteralString = columns + " AND object IN"
    lead = (view.ns,)
    rows: list[tuple[Any, ...]]
    if passages is not None:
        written = _of_passages(view, _TRIPLETS_OF, passages)
        rows = read_by(view.rows, "triplet", by_number, written, lead=lead)
    elif (numbers := named["subject"]) is not None:
        rows = read_by(view.rows, "triplet", by_subject, numbers, lead=lead)
    elif (numbers := named["object"]) is not None:
        rows = read_by(view.rows, "triplet", by_object, numbers, lead=lead)
    elif (numbers := named["ends"]) is not None:
        rows = read_by(view.rows, "triplet", by_subject, numbers, lead=lead)
        rows += read_by(view.rows, "triplet", by_object, numbers, lead=lead)
    elif predicates is not None:
        rows = read_by(
            view.rows, "triplet", columns + " AND predicate IN", set(predicates), lead=lead
        )
    else:
        rows = read(view.rows, "triplet", columns, lead)
    subject_in, object_in, end_in = named["subject"], named["object"], named["ends"]
    return {
        row
        for row in rows
        if (subject_in is None or row[2] in subject_in)
        and (predicates is None or row[3] in predicates)
        and (object_in is None or row[4] in object_in)
        and (end_in is None or row[2] in end_in or row[4] in end_in)
    }


def _numbers(view: View, ids: Collection[str]) -> set[int]:
    rows = fetch_by(
        view.rows, "SELECT number FROM entity WHERE ns = ? AND id IN", set(ids), lead=(view.ns,)
    )
    return {number for (number,) in rows}
