"""Entities with their words and vectors, and triplets with their evidence, within a view."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from typing import Any, LiteralString, NamedTuple

from recallm.model import (
    LARGEST_NUMBER,
    ElementKey,
    Entity,
    Triplet,
    TripletEvidence,
    TripletKey,
    position_of,
    t_index_of,
)
from recallm.stores.semantics.reading import bearers_of, latest_first, mapping_of
from recallm.stores.semantics.rows import unpack_timestamp
from recallm.stores.sqlite.schema import passage_row, verified, verified_vectors
from recallm.stores.sqlite.view import Queries, View, among, columns

_ELEMENTS: LiteralString = " FROM element x WHERE x.ns = :ns"
_SHOWN: LiteralString = (
    "SELECT (SELECT count(DISTINCT at >> 20) FROM element_evidence v WHERE v.ns = x.ns"
    "  AND v.element = x.number{visible}), (SELECT max(at) >> 20 FROM element_evidence v"
    "  WHERE v.ns = x.ns AND v.element = x.number{visible}),"
    " (SELECT p.id FROM element_evidence v CROSS JOIN passage p"
    "  ON p.row = (v.ns << 32) + (v.at >> 20) WHERE v.ns = x.ns AND v.element = x.number{visible}"
    "  ORDER BY v.at DESC LIMIT 1), " + columns("element") + _ELEMENTS
)
"""How many updates show an element, the t of the latest, the id of the latest passage, and the
element's row."""
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
_VISIBLE_END: LiteralString = (
    " AND EXISTS (SELECT 1 FROM element e CROSS JOIN element_evidence v ON v.ns = e.ns"
    "  AND v.element = e.number WHERE e.ns = x.ns AND e.id = x.{end}{visible})"
)
_RECENT_ROWS = 4096
"""Latest rows of evidence looked through for a limited read of a hub."""

_FEW_TRIPLETS = 2048
"""Triplets whose evidence is sorted sooner than the latest rows are looked through."""

_BEARERS: LiteralString = (
    "SELECT word, entity FROM {list} CROSS JOIN entity_word w ON w.ns = :ns AND w.word = value"
    " AND w.entity <= coalesce((SELECT w.entity FROM entity_word w WHERE w.ns = :ns"
    "  AND w.word = value{visible} ORDER BY w.entity LIMIT 1 OFFSET :limit - 1),"
    " :largest){visible}"
)
"""The first entities by their number that bear a word: up to the last one of the limit."""
_VISIBLE_BEARER: LiteralString = (
    " AND EXISTS (SELECT 1 FROM element_evidence WHERE ns = w.ns AND element = w.entity{visible})"
)


class Element(NamedTuple):
    """A row of ``element``: the columns that its checksum covers. ``subject``, ``predicate`` and
    ``object`` are None for an entity, ``id`` for a triplet."""

    ns: int
    number: int
    id: Any
    subject: Any
    predicate: Any
    object: Any
    type: str
    concept: str | None
    label: str
    kind: Any
    properties: str

    @property
    def key(self) -> ElementKey:
        """The id of an entity; the parts of a triplet."""
        key: ElementKey = self.id or (self.subject, self.predicate, self.object)
        return key


def elements_of(queries: Queries, numbers: Collection[int]) -> dict[int, Element]:
    """The rows with these numbers, by number.

    Raises:
        ValueError: a row is damaged.
    """
    rows = queries.read("element", "SELECT {} FROM element WHERE number IN {list}", numbers)
    return {row[1]: Element(*row) for row in rows}


def read_entities(
    view: View,
    ids: Collection[str] | None = None,
    *,
    concepts: Collection[str] | None = None,
    passages: Collection[str] | None = None,
) -> list[Entity]:
    """``GraphReader.entities``."""
    conditions: list[tuple[LiteralString, Collection[Any] | None]] = []
    if ids is not None:
        conditions.append((" AND id IN {list}", set(ids)))
    if concepts is not None:
        conditions.append((" AND concept IN {list}", set(concepts)))
    if passages is not None:
        brought = _of_passages(view, passages)
        conditions.append((" AND number IN {list} AND +id IS NOT NULL", brought))
    found: dict[str, Entity] = {}
    for condition, listed in conditions or [(" AND id IS NOT NULL", None)]:
        for updates, t_index, source, e in _shown(view, condition, listed):
            found[e.id] = Entity(
                id=e.id,
                type=e.type,
                label=e.label,
                concept=e.concept or "",
                properties=json.loads(e.properties),
                t_index=t_index,
                updates=updates,
                source=source,
            )
    return [found[id] for id in sorted(found)]


def read_entity_vectors(
    view: View, ids: Collection[str] | None = None, *, model: str
) -> dict[str, bytes]:
    """``GraphReader.entity_vectors``."""
    sql: LiteralString = _VECTORS.replace("{visible}", view.visible)
    if ids is not None:
        sql += " AND w.entity IN (SELECT number FROM element WHERE ns = :ns AND id IN {list})"
    rows = view.rows(sql, None if ids is None else set(ids), model=model)
    return dict(sorted(verified_vectors(rows)))


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
    entries = [(subjects, objects)]
    if ends is not None:
        entries = [(_common(subjects, ends), objects), (subjects, _common(objects, ends))]
    found: dict[TripletKey, Triplet] = {}
    for some_subjects, some_objects in entries:
        chosen, lists = _chosen(
            view, subject=some_subjects, predicate=predicates, object=some_objects
        )
        if passages is not None:
            lists["brought"] = _of_passages(view, passages)
            chosen += " AND number IN " + among("brought")
        for strength, t_index, source, x in _shown(view, chosen, **lists):
            found[x.subject, x.predicate, x.object] = Triplet(
                subject=x.subject,
                predicate=x.predicate,
                object=x.object,
                properties=json.loads(x.properties),
                strength=strength,
                t_index=t_index,
                source=source,
            )
    return [found[key] for key in sorted(found)]


def _common(some: Collection[str] | None, ends: Collection[str]) -> set[str]:
    return set(ends) if some is None else set(some) & set(ends)


def _chosen(
    view: View, **ends: Collection[str] | None
) -> tuple[LiteralString, dict[str, Collection[Any]]]:
    """The conditions of triplets that meet these, and whose ends are visible, and their lists."""
    chosen: LiteralString = ""
    lists: dict[str, Collection[Any]] = {}
    columns: tuple[LiteralString, ...] = ("subject", "predicate", "object")
    for column in columns:
        if (wanted := ends[column]) is not None:
            lists[column] = set(wanted)
            chosen += " AND " + column + " IN " + among(column)
    chosen = chosen or " AND subject IS NOT NULL"
    if view.visible:
        end = _VISIBLE_END.replace("{visible}", view.visible)
        chosen += end.replace("{end}", "subject") + end.replace("{end}", "object")
    return chosen, lists


def _shown(
    view: View, chosen: LiteralString, listed: Collection[Any] | None = None, **lists: Any
) -> Iterator[tuple[int, int, str | None, Element]]:
    """The chosen elements that visible updates show: how many show it, the t of the latest, the id
    of the latest passage, and the row.

    Raises:
        ValueError: a row is damaged.
    """
    rows = view.rows(_SHOWN.replace("{visible}", view.visible) + chosen, listed, **lists)
    elements = verified((row[3:] for row in rows), "element")
    for (updates, t_index, source, *_), element in zip(rows, elements, strict=True):
        if updates:
            yield updates, t_index, source, Element(*element)


def _of_passages(view: View, passages: Collection[str]) -> set[int]:
    """The numbers of the elements that the updates of these visible passages show."""
    rows = view.rows(_OF_PASSAGES + view.visible_passage, set(passages))
    return {number for (number,) in rows}


def read_triplet_evidence(
    view: View,
    *,
    subjects: Collection[str] | None = None,
    predicates: Collection[str] | None = None,
    objects: Collection[str] | None = None,
    limit: int | None = None,
) -> list[TripletEvidence]:
    """``GraphReader.triplet_evidence``."""
    if limit == 0:
        return []
    rows = _evidence(
        view, *_chosen(view, subject=subjects, predicate=predicates, object=objects), limit
    )
    elements = elements_of(view, {number for _, number, *_ in rows})
    ends = {end for x in elements.values() for end in (x.subject, x.object)}
    entities = _entities(view, ends)
    passages = _passages(view, {t_index_of(at) for _, _, at, *_ in rows})
    evidence: list[TripletEvidence] = []
    for _, number, at, properties, _ in rows:
        x, t_index = elements[number], t_index_of(at)
        subject, object = entities[x.subject], entities[x.object]
        passage, timestamp, source = passages.get(t_index, (None, None, None))
        evidence.append(
            TripletEvidence(
                subject=subject.id,
                subject_label=subject.label,
                subject_concept=subject.concept or "",
                predicate=x.predicate,
                object=object.id,
                object_label=object.label,
                object_concept=object.concept or "",
                object_type=object.type,
                properties=mapping_of(properties),
                t_index=t_index,
                position=position_of(at),
                passage=passage,
                timestamp=unpack_timestamp(timestamp),
                source=source,
            )
        )
    return latest_first(evidence, limit)


def _entities(view: View, ids: Collection[str]) -> dict[str, Element]:
    """The rows of the entities with these ids, by id."""
    sql: LiteralString = "SELECT {} FROM element WHERE ns = :ns AND id IN {list}"
    return {row[2]: Element(*row) for row in view.read("element", sql, ids)}


def _evidence(
    view: View, chosen: LiteralString, lists: dict[str, Collection[Any]], limit: int | None
) -> list[tuple[Any, ...]]:
    """The rows of the chosen triplets' evidence; with a limit those of the latest keys, and all
    with the last of these keys."""
    triplets: LiteralString = _ELEMENTS + chosen
    rows: LiteralString = " FROM element_evidence WHERE ns = :ns" + view.visible
    of_triplets: LiteralString = " AND element IN (SELECT number" + triplets + ")"
    are_triplets: LiteralString = (
        " EXISTS (SELECT 1 FROM element x WHERE x.number = element AND x.subject IS NOT NULL"
        + chosen + ")"
    )  # fmt: skip
    since: LiteralString = "SELECT {}" + rows + " AND at >= :first"
    if limit is None:
        return view.read("element_evidence", since + of_triplets, **lists, first=0)
    if view.rows("SELECT 1" + triplets + " LIMIT 1 OFFSET :few", **lists, few=_FEW_TRIPLETS):
        recent = view.rows(
            "SELECT at FROM (SELECT element, at" + rows + " ORDER BY at DESC LIMIT :recent) WHERE"
            + are_triplets + " ORDER BY at DESC LIMIT :limit",
            **lists, recent=_RECENT_ROWS, limit=limit,
        )  # fmt: skip
        if len(recent) == limit:
            first = recent[-1][0]
            sql: LiteralString = since + " AND" + are_triplets
            return view.read("element_evidence", sql, **lists, first=first)
    # The sign keeps the planner from going through all evidence in order of time.
    sql = "SELECT at" + rows + of_triplets + " ORDER BY +at DESC LIMIT :limit"
    latest = view.rows(sql, **lists, limit=limit)
    first = latest[-1][0] if latest else 0
    return view.read("element_evidence", since + of_triplets, **lists, first=first)


def _passages(view: View, ts: Collection[int]) -> dict[int, tuple[str, str | None, str | None]]:
    """Id, timestamp and source of the passages at these t, by t; a graph-only update has none."""
    rows = view.read(
        "passage",
        "SELECT {} FROM passage WHERE row IN {list}",
        {passage_row(view.ns, t) for t in ts},
    )
    return {t: (id, timestamp, source) for _, t, id, _, source, _, _, _, timestamp, *_ in rows}


def read_predicates(view: View) -> dict[str, int]:
    """``GraphReader.predicates``."""
    rows = view.read("predicate", "SELECT {} FROM predicate WHERE ns = :ns ORDER BY predicate")
    return {predicate: triplets for _, predicate, triplets in rows}


def read_entities_by_words(
    view: View, words: Collection[str], *, limit: int
) -> dict[str, tuple[str, ...]]:
    """``GraphReader.entities_by_words``."""
    if not limit:
        return {}
    visible: LiteralString = ""
    if view.visible:
        visible = _VISIBLE_BEARER.replace("{visible}", view.visible)
    rows = view.rows(
        _BEARERS.replace("{visible}", visible), set(words), limit=limit, largest=LARGEST_NUMBER
    )
    entities = elements_of(view, {number for _, number in rows})
    return bearers_of((word, entities[number].id) for word, number in rows)
