"""What facts are read from, within a view: evidence of triplets, predicates, words of entities."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection
from typing import Any, LiteralString

from recallm.model import LARGEST_NUMBER, TripletEvidence, empty_mapping, position_of, t_index_of
from recallm.stores.sqlite.entities import concept_names, elements_of
from recallm.stores.sqlite.schema import passage_row
from recallm.stores.sqlite.view import View
from recallm.stores.timestamps import unpack_timestamp

_IDS: LiteralString = "(SELECT number FROM element WHERE ns = :ns AND id IN {list})"
_VISIBLE_END: LiteralString = (
    " AND EXISTS (SELECT 1 FROM element_evidence WHERE ns = x.ns AND element = x.{end}{visible})"
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
    triplets = elements_of(view, {number for _, number, _, _ in rows})
    entities = elements_of(view, {n for x in triplets.values() for n in (x.subject, x.object)})
    names = concept_names(view, {e.concept for e in entities.values() if e.concept})
    passages = _passages(view, {t_index_of(at) for _, _, at, _ in rows})
    evidence: list[TripletEvidence] = []
    for _, number, at, properties in rows:
        x, t_index = triplets[number], t_index_of(at)
        subject, object = entities[x.subject], entities[x.object]
        passage, timestamp, source = passages.get(t_index, (None, None, None))
        evidence.append(
            TripletEvidence(
                subject=subject.id,
                subject_label=subject.label,
                subject_concept=names[subject.concept] if subject.concept else "",
                predicate=x.predicate,
                object=object.id,
                object_label=object.label,
                object_concept=names[object.concept] if object.concept else "",
                object_type=object.type,
                properties=empty_mapping() if properties is None else json.loads(properties),
                t_index=t_index,
                position=position_of(at),
                passage=passage,
                timestamp=unpack_timestamp(timestamp),
                source=source,
            )
        )
    evidence.sort(key=lambda e: (-e.t_index, -e.position, e.subject, e.predicate, e.object))
    return evidence[:limit]


def _evidence(
    view: View,
    subjects: Collection[str] | None,
    predicates: Collection[str] | None,
    objects: Collection[str] | None,
    limit: int | None,
) -> list[tuple[Any, ...]]:
    """The rows of evidence; with a limit those of the latest keys, and all with the last of these
    keys. The index is that of the first end that is given, and of the predicate."""
    index: LiteralString = ""
    lists: dict[LiteralString, Collection[object]] = {}
    chosen: LiteralString = ""
    if predicates is not None:
        index = "triplet_predicate"
        lists["predicates"] = set(predicates)
        chosen += " AND predicate IN {predicates}"
    if objects is not None:
        index = "triplet_object"
        lists["objects"] = set(objects)
        chosen += " AND object IN " + _IDS.replace("list", "objects")
    if subjects is not None or not index:
        index = "triplet"
    if subjects is not None:
        lists["subjects"] = set(subjects)
        chosen += " AND subject IN " + _IDS.replace("list", "subjects")
    if view.visible:
        end = _VISIBLE_END.replace("{visible}", view.visible)
        chosen += end.replace("{end}", "subject") + end.replace("{end}", "object")
    triplets: LiteralString = (
        " FROM element x INDEXED BY " + index + " WHERE x.ns = :ns AND x.subject IS NOT NULL"
        + chosen
    )  # fmt: skip
    source: LiteralString = (
        " FROM element_evidence WHERE ns = :ns AND element IN (SELECT number" + triplets + ")"
        + view.visible
    )  # fmt: skip
    if limit is None:
        return view.read("element_evidence", "SELECT {}" + source, lists=lists)
    many = "SELECT 1" + triplets + " LIMIT 1 OFFSET :few"
    if view.rows(many, lists=lists, few=_FEW_TRIPLETS):
        recent = _RECENT.replace("{visible}", view.visible).replace("{chosen}", chosen)
        found = view.rows(recent, lists=lists, recent=_RECENT_ROWS, limit=limit)
        if len(found) == limit:
            since = _SINCE.replace("{visible}", view.visible).replace("{chosen}", chosen)
            return view.read("element_evidence", since, lists=lists, first=found[-1][0])
    # The sign keeps the planner from going through all evidence in order of time.
    sql: LiteralString = "SELECT at" + source + " ORDER BY +at DESC LIMIT :limit"
    latest = view.rows(sql, lists=lists, limit=limit)
    first = latest[-1][0] if latest else 0
    return view.read(
        "element_evidence", "SELECT {}" + source + " AND at >= :first", lists=lists, first=first
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
    ids: defaultdict[str, list[str]] = defaultdict(list)
    for word, number in rows:
        ids[word].append(entities[number].id)
    return {word: tuple(sorted(ids[word])) for word in sorted(ids)}
