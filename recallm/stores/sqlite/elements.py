"""Entities with their words and vectors, and triplets with their evidence, within a view."""

from __future__ import annotations

import json
from collections.abc import Collection
from operator import attrgetter
from typing import Any, LiteralString, NamedTuple

from recallm.model import (
    LARGEST_NUMBER,
    ElementKey,
    Entity,
    Triplet,
    TripletEvidence,
    position_of,
    t_index_of,
)
from recallm.stores.semantics.reading import bearers_of, by_parts, latest_first, mapping_of
from recallm.stores.semantics.rows import unpack_timestamp
from recallm.stores.sqlite.codec import verified_vectors
from recallm.stores.sqlite.schema import passage_row
from recallm.stores.sqlite.view import Queries, View, among

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
_TRIPLETS: LiteralString = " FROM element x {index} WHERE x.ns = :ns"
_VISIBLE_END: LiteralString = (
    " AND EXISTS (SELECT 1 FROM element e CROSS JOIN element_evidence v ON v.ns = e.ns"
    "  AND v.element = e.number WHERE e.ns = x.ns AND e.id = x.{end}{visible})"
)
_RECENT_ROWS = 4096
"""Latest rows of evidence looked through for a limited read of a hub."""

_FEW_TRIPLETS = 2048
"""Triplets whose evidence is sorted sooner than the latest rows are looked through."""

_RECENT: LiteralString = (
    "SELECT at FROM (SELECT element, at FROM element_evidence INDEXED BY element_evidence_at"
    " WHERE ns = :ns{visible} ORDER BY at DESC LIMIT :recent) e WHERE EXISTS (SELECT 1"
    " FROM element x WHERE x.number = e.element AND x.subject IS NOT NULL{chosen})"
    " ORDER BY at DESC LIMIT :limit"
)
_SINCE: LiteralString = (
    "SELECT {} FROM element_evidence INDEXED BY element_evidence_at WHERE ns = :ns AND at >= :first"
    "{visible} AND EXISTS (SELECT 1 FROM element x WHERE x.number = element_evidence.element"
    " AND x.subject IS NOT NULL{chosen})"
)
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
    numbers: set[int] = set()
    if ids is None and concepts is None and passages is None:
        numbers = _numbers(view, " AND id IS NOT NULL")
    if ids is not None:
        numbers |= _numbers(view, " AND id IN {list}", ids)
    if concepts is not None:
        numbers |= _numbers(view, " AND concept IN {list}", concepts)
    if passages is not None:
        numbers |= _of_passages(view, passages)
    shown = _shown(view, numbers)
    found = [e for e in elements_of(view, shown).values() if e.id is not None]
    sources = _sources(view, {e.number for e in found})
    entities = [
        Entity(
            id=e.id,
            type=e.type,
            label=e.label,
            concept=e.concept or "",
            properties=json.loads(e.properties),
            t_index=shown[e.number][1],
            updates=shown[e.number][0],
            source=sources[e.number],
        )
        for e in found
    ]
    return sorted(entities, key=attrgetter("id"))


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
    shown_there = None if passages is None else _of_passages(view, passages)
    entries = [(subjects, objects)]
    if ends is not None:
        entries = [(_common(subjects, ends), objects), (subjects, _common(objects, ends))]
    numbers: set[int] = set()
    for some_subjects, some_objects in entries:
        index, chosen, lists = _chosen(view, some_subjects, predicates, some_objects)
        if shown_there is not None:
            index, lists["shown"] = "NOT INDEXED", shown_there
            chosen += " AND number IN " + among("shown")
        sql: LiteralString = "SELECT number" + _TRIPLETS.replace("{index}", index) + chosen
        numbers.update(number for (number,) in view.rows(sql, **lists))
    shown = _shown(view, numbers)
    sources = _sources(view, shown)
    triplets = [
        Triplet(
            subject=x.subject,
            predicate=x.predicate,
            object=x.object,
            properties=json.loads(x.properties),
            strength=shown[x.number][0],
            t_index=shown[x.number][1],
            source=sources[x.number],
        )
        for x in elements_of(view, shown).values()
    ]
    for wanted, part in ((subjects, "subject"), (predicates, "predicate"), (objects, "object")):
        if wanted is not None and not {getattr(x, part) for x in triplets} <= set(wanted):
            raise ValueError("an index of the table element leads to another row")
    return sorted(triplets, key=by_parts)


def _common(some: Collection[str] | None, ends: Collection[str]) -> set[str]:
    return set(ends) if some is None else set(some) & set(ends)


def _chosen(
    view: View,
    subjects: Collection[str] | None,
    predicates: Collection[str] | None,
    objects: Collection[str] | None,
) -> tuple[LiteralString, LiteralString, dict[str, Collection[Any]]]:
    """How the triplets are found that meet these conditions and whose ends are visible: the index
    of the first end that is given and of the predicate, the conditions, and their lists."""
    index: LiteralString = "INDEXED BY triplet"
    chosen: LiteralString = ""
    lists: dict[str, Collection[Any]] = {}
    if predicates is not None:
        lists["predicates"] = set(predicates)
        chosen += " AND predicate IN " + among("predicates")
        index = "INDEXED BY triplet_predicate"
    if objects is not None:
        lists["objects"] = set(objects)
        chosen += " AND object IN " + among("objects")
        index = "INDEXED BY triplet_object"
    if subjects is not None:
        lists["subjects"] = set(subjects)
        chosen += " AND subject IN " + among("subjects")
        index = "INDEXED BY triplet"
    if not lists:
        chosen = " AND subject IS NOT NULL"
    if view.visible:
        end = _VISIBLE_END.replace("{visible}", view.visible)
        chosen += end.replace("{end}", "subject") + end.replace("{end}", "object")
    return index, chosen, lists


def _shown(view: View, numbers: Collection[int]) -> dict[int, tuple[int, int]]:
    """By the number of an entity or triplet with visible evidence: how many visible updates show
    it, and the t of the latest of them."""
    rows = view.rows(_SHOWN.replace("{visible}", view.visible), numbers)
    return {number: (updates, t_index) for number, updates, t_index in rows}


def _sources(view: View, numbers: Collection[int]) -> dict[int, str | None]:
    """By the number of an entity or triplet: the id of the latest visible passage that shows it."""
    return dict(view.rows(_SOURCE.replace("{visible}", view.visible), numbers))


def _of_passages(view: View, passages: Collection[str]) -> set[int]:
    """The numbers of the elements that the updates of these visible passages show."""
    rows = view.rows(_OF_PASSAGES + view.visible_passage, set(passages))
    return {number for (number,) in rows}


def _numbers(
    view: View, condition: LiteralString, listed: Collection[Any] | None = None
) -> set[int]:
    sql: LiteralString = "SELECT number FROM element WHERE ns = :ns" + condition
    return {number for (number,) in view.rows(sql, None if listed is None else set(listed))}


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
    rows = _evidence(view, subjects, predicates, objects, limit)
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
    view: View,
    subjects: Collection[str] | None,
    predicates: Collection[str] | None,
    objects: Collection[str] | None,
    limit: int | None,
) -> list[tuple[Any, ...]]:
    """The rows of evidence; with a limit those of the latest keys, and all with the last of these
    keys."""
    index, chosen, lists = _chosen(view, subjects, predicates, objects)
    triplets: LiteralString = _TRIPLETS.replace("{index}", index) + chosen
    source: LiteralString = (
        " FROM element_evidence WHERE ns = :ns AND element IN (SELECT number" + triplets + ")"
        + view.visible
    )  # fmt: skip
    if limit is None:
        return view.read("element_evidence", "SELECT {}" + source, **lists)
    many = "SELECT 1" + triplets + " LIMIT 1 OFFSET :few"
    if view.rows(many, **lists, few=_FEW_TRIPLETS):
        recent = _RECENT.replace("{visible}", view.visible).replace("{chosen}", chosen)
        found = view.rows(recent, **lists, recent=_RECENT_ROWS, limit=limit)
        if len(found) == limit:
            since = _SINCE.replace("{visible}", view.visible).replace("{chosen}", chosen)
            return view.read("element_evidence", since, **lists, first=found[-1][0])
    # The sign keeps the planner from going through all evidence in order of time.
    sql: LiteralString = "SELECT at" + source + " ORDER BY +at DESC LIMIT :limit"
    latest = view.rows(sql, **lists, limit=limit)
    first = latest[-1][0] if latest else 0
    return view.read(
        "element_evidence", "SELECT {}" + source + " AND at >= :first", **lists, first=first
    )


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
