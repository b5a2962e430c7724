"""Concepts with their totals and their summaries, within a view."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, LiteralString

from recallm.model import (
    ConceptMention,
    ConceptRow,
    ContextVersion,
    Summary,
    Trait,
    statement_key,
    t_index_of,
)
from recallm.stores.semantics.rows import ConceptTotals
from recallm.stores.sqlite.codec import unpack, unpack_mentions
from recallm.stores.sqlite.lookup import Queries
from recallm.stores.sqlite.view import View

__all__ = ["concept_rows", "context_version", "count_touches", "mention_ends"]

_TOUCHES: LiteralString = (
    "WITH touch (concept, at, entity) AS ("
    " SELECT w.value, at, NULL FROM json_each(:listed) w CROSS JOIN mention m"
    " ON m.ns = :ns AND m.concept = w.value{counted}"
    " UNION ALL SELECT w.value, at, e.id FROM json_each(:listed) w CROSS JOIN element e"
    " ON e.ns = :ns AND e.concept = w.value CROSS JOIN element_evidence v"
    " ON v.ns = e.ns AND v.element = e.number{counted}) "
)
"""One row for each mention of a concept, and for each evidence of an entity on it."""


def concept_rows(view: View, names: Collection[str] | None, limit: int | None) -> list[ConceptRow]:
    """``GraphReader.concepts``."""
    sql: LiteralString = "SELECT {} FROM concept c WHERE ns = :ns" + view.visible_concept
    if names is not None:
        names = set(names)
        stored = view.read("concept", sql + " AND name IN {list}", names)
        if any(row[2] not in names for row in stored):
            raise ValueError("an index of the table concept leads to another row")
    elif view.is_present and limit is not None:
        sql += " ORDER BY t_index DESC, name LIMIT :limit"
        stored = view.read("concept", sql, limit=limit)
    else:
        stored = view.read("concept", sql)
    of_past = {id: name for id, _, name, _, _, t_index, *_ in stored if t_index > view.last}
    totals = {id: ConceptTotals(*row) for id, _, _, *row in stored if id not in of_past}
    totals |= count_touches(view, of_past, view.counted)
    spelled = {id: name for id, _, name, *_ in stored}
    ordered = sorted(totals.items(), key=lambda it: (-it[1].t_index, spelled[it[0]]))[:limit]
    return _with_summaries(view, [(id, _row(spelled[id], row)) for id, row in ordered])


def count_touches(
    queries: Queries, names: Mapping[int, str], counted: LiteralString = ""
) -> dict[int, ConceptTotals]:
    """The totals of concepts (id → name), counted from mentions and evidence of entities. A concept
    that nothing touches has no entry. ``counted`` is a condition on ``at``."""
    if not names:
        return {}
    touches: LiteralString = _TOUCHES.replace("{counted}", counted)
    rows = queries.rows(
        touches + "SELECT concept, max(at) >> 20, count(DISTINCT at >> 20),"
        " count(*) - count(entity), min(CASE WHEN entity IS NULL THEN at END)"
        " FROM touch GROUP BY concept",
        names,
    )
    spellings: dict[int, tuple[Any, Any]] = {}
    if any(first is None for *_, first in rows):
        for concept, label, kind in queries.rows(
            touches + "SELECT touch.concept, e.label, e.kind FROM touch JOIN element e"
            " ON e.ns = :ns AND e.id = touch.entity ORDER BY at >> 20, e.id",
            names,
        ):
            spellings.setdefault(concept, (label, kind))
    firsts = {id: first for id, *_, first in rows if first is not None}
    for id, mention in _mentions_at(queries, names, firsts).items():
        spellings[id] = (mention.label, mention.kind)
    return {
        id: ConceptTotals(*spellings[id], t_index, updates, statements)
        for id, t_index, updates, statements, _ in rows
    }


def mention_ends(
    queries: Queries, names: Mapping[int, str]
) -> dict[int, tuple[ConceptMention, int]]:
    """The earliest mention, and the t of the latest, of concepts (id → name) that statements
    mention and that no entity stands on: two seeks each, however many mentions there are."""
    rows = queries.rows(
        "SELECT id, (SELECT min(at) FROM mention m WHERE m.ns = c.ns AND m.concept = c.id),"
        " (SELECT max(at) FROM mention m WHERE m.ns = c.ns AND m.concept = c.id) FROM concept c"
        " WHERE NOT EXISTS (SELECT 1 FROM element e WHERE e.ns = c.ns AND e.concept = c.id)"
        " AND id IN {list}",
        names,
    )
    ends = {id: (first, last) for id, first, last in rows if first is not None}
    mentions = _mentions_at(queries, names, {id: first for id, (first, _) in ends.items()})
    return {id: (mention, t_index_of(ends[id][1])) for id, mention in mentions.items()}


def _mentions_at(
    queries: Queries, names: Mapping[int, str], keys: Mapping[int, int]
) -> dict[int, ConceptMention]:
    """How the statement with its key spells each concept (id → key)."""
    sql: LiteralString = "SELECT at, concepts FROM statement WHERE ns = :ns AND at IN {list}"
    concepts = dict(queries.rows(sql, set(keys.values())))
    return {
        id: next(m for m in unpack_mentions(concepts[key]) if m.name == names[id])
        for id, key in keys.items()
    }


def _row(name: str, totals: ConceptTotals) -> ConceptRow:
    return ConceptRow(
        name=name,
        label=totals.label,
        kind=totals.kind,
        t_index=totals.t_index,
        updates=totals.updates,
        statements=totals.statements,
        merges=totals.updates - 1,
    )


def _with_summaries(view: View, rows: list[tuple[int, ConceptRow]]) -> list[ConceptRow]:
    """The rows with their summaries in force; ``merges`` counts the updates after those."""
    revised = _in_force(view, [id for id, _ in rows])
    result: list[ConceptRow] = []
    for id, row in rows:
        if id in revised:
            _, t_index, text, terms, traits = revised[id]
            summary = Summary(
                concept=row.name,
                t_index=t_index,
                text=text,
                terms=unpack(terms),
                traits=Trait(traits),
            )
            after: LiteralString = view.counted + " AND at >= :after"
            ((merges,),) = view.rows(
                _TOUCHES.replace("{counted}", after) + "SELECT count(DISTINCT at >> 20) FROM touch",
                [id],
                after=statement_key(t_index + 1, 0),
            )
            row = replace(row, merges=merges, summary=summary)
        result.append(row)
    return result


def _in_force(view: View, ids: list[int]) -> dict[int, tuple[Any, ...]]:
    """Concept → its summary row (concept, t_index, text, terms, traits), where it has one."""
    if not view.rows("SELECT 1 FROM summary WHERE ns = :ns LIMIT 1"):
        return {}
    sql: LiteralString = "SELECT {} FROM summary WHERE ns = :ns AND concept IN {list}"
    rows = view.read("summary", sql + " AND t_index <= :last", ids)
    return {
        row[1]: row[1:]
        for row in rows
        if not view.hides or not _covers_hidden(view, row[1], row[2])
    }


def _covers_hidden(view: View, concept: int, t_index: int) -> bool:
    """Whether the view hides a mention of the concept up to ``t_index``: by an expired passage, of
    which there are few, or by one that was said later."""
    sql: LiteralString = (
        "SELECT 1 FROM passage x INDEXED BY passage_expires CROSS JOIN mention m ON m.ns = x.ns"
        " AND m.concept = :concept AND m.at >= x.t << 20 AND m.at < (x.t + 1) << 20"
        " AND m.at < :stop WHERE x.ns = :ns AND x.expires <= :now LIMIT 1"
    )
    if view.is_dated:
        sql = (
            "SELECT 1 FROM mention WHERE ns = :ns AND concept = :concept AND at < :stop"
            " AND NOT (1" + view.visible + ") LIMIT 1"
        )
    return bool(view.rows(sql, concept=concept, stop=statement_key(t_index + 1, 0)))


def context_version(queries: Queries, name: str) -> ContextVersion | None:
    """The version of a concept's context, for ``WriteSummary``; None if nothing mentions it."""
    rows = queries.rows(
        "SELECT statements,"
        " (SELECT max(at) FROM mention m WHERE m.ns = c.ns AND m.concept = c.id),"
        " (SELECT t_index FROM summary y WHERE y.ns = c.ns AND y.concept = c.id)"
        " FROM concept c WHERE ns = :ns AND name = :name AND statements > 0",
        name=name,
    )
    if not rows:
        return None
    statements, latest, summary_t = rows[0]
    return ContextVersion(t_index=t_index_of(latest), statements=statements, summary_t=summary_t)
