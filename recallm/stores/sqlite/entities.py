"""Entities with their vectors, and triplets, within a view."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any, LiteralString, NamedTuple

from recallm.model import Entity, Triplet
from recallm.stores.sqlite.checksums import verified_vectors
from recallm.stores.sqlite.lookup import Queries
from recallm.stores.sqlite.schema import passage_row
from recallm.stores.sqlite.view import View

_SHOWN: LiteralString = (
    "SELECT element, count(DISTINCT at >> 20), max(at) >> 20 FROM element_evidence"
    " WHERE ns = :ns AND element IN {list}{visible} GROUP BY element"
)
_SOURCE: LiteralString = (
    "SELECT number, (SELECT p.id FROM element_evidence v CROSS JOIN passage p"
    "  ON p.row = (n.ns << 32) + (v.at >> 20) WHERE v.ns = n.ns AND v.element = n.number{visible}"
    "  ORDER BY v.at DESC LIMIT 1) FROM element n WHERE number IN {list}"
)
_OF_PASSAGES: LiteralString = (
    "SELECT v.element FROM passage CROSS JOIN element_evidence v INDEXED BY element_evidence_at"
    " ON v.ns = passage.ns AND v.at >= passage.t << 20 AND v.at < (passage.t + 1) << 20"
    " WHERE passage.ns = :ns AND passage.id IN {list}"
)
_VECTORS: LiteralString = (
    "SELECT e.id, w.blob, w.crc - w.entity FROM entity_vector w"
    " CROSS JOIN element e ON e.number = w.entity WHERE w.ns = :ns AND w.model = :model"
    " AND EXISTS (SELECT 1 FROM element_evidence v WHERE v.ns = e.ns AND v.element = e.number"
    "  {visible})"
)


class Element(NamedTuple):
    """A row of ``element``: the columns that its checksum covers. ``subject``, ``predicate`` and
    ``object`` are None for an entity, ``id`` for a triplet."""

    number: int
    ns: int
    id: Any
    type: str
    concept: int | None
    label: str
    kind: Any
    subject: Any
    predicate: Any
    object: Any
    properties: str


def elements_of(queries: Queries, numbers: Collection[int]) -> dict[int, Element]:
    """The rows with these numbers, by number.

    Raises:
        ValueError: a row is damaged.
    """
    rows = queries.read("element", "SELECT {} FROM element WHERE number IN {list}", numbers)
    return {row[0]: Element(*row) for row in rows}


def concept_names(queries: Queries, ids: Collection[int]) -> dict[int, str]:
    """The names of concepts by their row numbers.

    Raises:
        ValueError: a row is damaged.
    """
    rows = queries.read("concept", "SELECT {} FROM concept WHERE id IN {list}", ids)
    return {id: name for id, _, name, *_ in rows}


def read_entities(
    view: View,
    ids: Collection[str] | None = None,
    *,
    concepts: Collection[str] | None = None,
    passages: Collection[str] | None = None,
) -> list[Entity]:
    """``GraphReader.entities``."""
    numbers: set[int] = set()
    if ids is None and concepts is None and passages is None:
        numbers = _numbers(view, " AND id IS NOT NULL")
    if ids is not None:
        numbers |= _numbers(view, " AND id IN {list}", ids)
    if concepts is not None:
        on = view.ids("concept", concepts).values()
        numbers |= _numbers(view, " AND concept IN {list}", on)
    if passages is not None:
        numbers |= _of_passages(view, passages)
    shown = _shown(view, numbers)
    found = [e for e in elements_of(view, shown).values() if e.id is not None]
    names = concept_names(view, {e.concept for e in found if e.concept})
    sources = _sources(view, {e.number: shown[e.number][1] for e in found})
    entities = [
        Entity(
            id=e.id,
            type=e.type,
            label=e.label,
            concept="" if e.concept is None else names[e.concept],
            properties=json.loads(e.properties),
            t_index=shown[e.number][1],
            updates=shown[e.number][0],
            source=sources[e.number],
        )
        for e in found
    ]
    return sorted(entities, key=lambda entity: entity.id)


def read_entity_vectors(
    view: View, ids: Collection[str] | None = None, *, model: str
) -> dict[str, bytes]:
    """``GraphReader.entity_vectors``."""
    sql: LiteralString = _VECTORS.replace("{visible}", view.visible)
    numbers = None
    if ids is not None:
        sql += " AND w.entity IN {list}"
        numbers = _numbers(view, " AND id IN {list}", ids)
    return dict(sorted(verified_vectors(view.rows(sql, numbers, model=model))))


def read_triplets(
    view: View,
    *,
    subjects: Collection[str] | None = None,
    predicates: Collection[str] | None = None,
    objects: Collection[str] | None = None,
    ends: Collection[str] | None = None,
    passages: Collection[str] | None = None,
) -> list[Triplet]:
    """``GraphReader.triplets``."""
    chosen = _chosen(view, subjects, predicates, objects, ends, passages)
    entities = {number for x in chosen for number in (x.subject, x.object)}
    shown = _shown(view, entities | {x.number for x in chosen})
    chosen = [x for x in chosen if {x.number, x.subject, x.object} <= shown.keys()]
    named = elements_of(view, entities & shown.keys())
    sources = _sources(view, {x.number: shown[x.number][1] for x in chosen})
    triplets = [
        Triplet(
            subject=named[x.subject].id,
            predicate=x.predicate,
            object=named[x.object].id,
            properties=json.loads(x.properties),
            strength=shown[x.number][0],
            t_index=shown[x.number][1],
            source=sources[x.number],
        )
        for x in chosen
    ]
    return sorted(triplets, key=lambda t: (t.subject, t.predicate, t.object))


def _chosen(
    view: View,
    subjects: Collection[str] | None,
    predicates: Collection[str] | None,
    objects: Collection[str] | None,
    ends: Collection[str] | None,
    passages: Collection[str] | None,
) -> list[Element]:
    """The triplets that meet all conditions, whether visible or not. The query has one condition
    alone: the first that is given of those that an index answers."""

    def numbers_of(ids: Collection[str] | None) -> set[int] | None:
        return None if ids is None else _numbers(view, " AND id IN {list}", ids)

    either = numbers_of(ends)
    conditions: dict[LiteralString, set[Any] | None] = {
        "number": None if passages is None else _of_passages(view, passages),
        "subject": numbers_of(subjects),
        "object": numbers_of(objects),
        "predicate": None if predicates is None else set(predicates),
    }
    given: list[tuple[LiteralString, set[Any]]]
    given = [(column, values) for column, values in conditions.items() if values is not None]
    entries: list[tuple[LiteralString, set[Any]]] = given[:1]
    if not given and either is not None:
        entries = [("subject", either), ("object", either)]
    columns: LiteralString = "SELECT {} FROM element WHERE +ns = :ns AND "
    rows: list[tuple[Any, ...]] = []
    for column, values in entries:
        sql: LiteralString = columns + column + " IN {list}"
        # The sign keeps the planner from the indexes of the namespace; only a number needs none.
        rows += view.read("element", sql if column == "number" else sql.replace("+", ""), values)
    if not entries:
        rows = view.read("element", "SELECT {} FROM element WHERE ns = :ns AND subject IS NOT NULL")
    return [
        x
        for x in map(Element._make, set(rows))
        if x.subject is not None
        and all(getattr(x, column) in values for column, values in given)
        and (either is None or x.subject in either or x.object in either)
    ]


def _shown(view: View, numbers: Collection[int]) -> dict[int, tuple[int, int]]:
    """By the number of an entity or triplet with visible evidence: how many visible updates show
    it, and the t of the latest of them."""
    rows = view.rows(_SHOWN.replace("{visible}", view.visible), numbers)
    return {number: (updates, t_index) for number, updates, t_index in rows}


def _sources(view: View, latest: Mapping[int, int]) -> dict[int, str | None]:
    """By the number of an entity or triplet: the id of the latest visible passage that shows it.

    ``latest`` maps each number to the latest t of its evidence, which mostly has a passage.
    """
    rows = {passage_row(view.ns, t) for t in latest.values()}
    by_t = dict(view.rows("SELECT t, id FROM passage WHERE row IN {list}", rows))
    found: dict[int, str | None] = {n: by_t[t] for n, t in latest.items() if t in by_t}
    sql: LiteralString = _SOURCE.replace("{visible}", view.visible)
    found.update(view.rows(sql, latest.keys() - found.keys()))
    return found


def _of_passages(view: View, passages: Collection[str]) -> set[int]:
    """The numbers of the elements that the updates of these visible passages show."""
    rows = view.rows(_OF_PASSAGES + view.visible_passage, set(passages))
    return {number for (number,) in rows}


def _numbers(
    view: View, condition: LiteralString, listed: Collection[Any] | None = None
) -> set[int]:
    sql: LiteralString = "SELECT number FROM element WHERE ns = :ns" + condition
    return {number for (number,) in view.rows(sql, None if listed is None else set(listed))}
