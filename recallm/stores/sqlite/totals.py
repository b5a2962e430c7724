"""Concepts with their totals, and their summaries, within a view."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any, LiteralString

from recallm.model import (
    ConceptKind,
    ConceptRow,
    ContextVersion,
    Summary,
    Trait,
    statement_key,
)
from recallm.stores.sqlite.codec import unpack, unpack_mentions
from recallm.stores.sqlite.lookup import Fetch, fetch_by, read, read_by
from recallm.stores.sqlite.view import View

__all__ = ["concept_rows", "context_version"]


def concept_rows(view: View, names: Collection[str] | None, limit: int | None) -> list[ConceptRow]:
    """``GraphReader.concepts``."""
    columns: LiteralString = "SELECT {} FROM concept c WHERE ns = ?"
    if names is not None:
        wanted = set(names)
        kept = read_by(
            view.rows, "concept", columns + " AND name IN", wanted, view.touched, lead=(view.ns,),
            tail=view.touched_values,
        )  # fmt: skip
        if any(row[2] not in wanted for row in kept):
            raise ValueError("an index of the table concept leads to another row")
    elif view.is_present and limit is not None:
        sql: LiteralString = columns + view.touched + " ORDER BY t_index DESC, name LIMIT ?"
        kept = read(view.rows, "concept", sql, (view.ns, *view.touched_values, limit))
    else:
        sql = columns + view.touched
        kept = read(view.rows, "concept", sql, (view.ns, *view.touched_values))
    rows: dict[int, ConceptRow] = {}
    derived: list[int] = []
    for id, _, name, label, kind, t_index, updates, statements in set(kept):
        if t_index > view.ceiling:
            derived.append(id)
            continue
        rows[id] = ConceptRow(
            name=name,
            label=label,
            kind=kind,
            t_index=t_index,
            updates=updates,
            statements=statements,
            merges=updates - 1,
        )
    if derived:
        rows |= _derived_rows(view, derived)
    ordered = sorted(rows.items(), key=lambda item: (-item[1].t_index, item[1].name))[:limit]
    return _with_summaries(view, ordered)


def _derived_rows(view: View, ids: list[int]) -> dict[int, ConceptRow]:
    """Totals counted from the rows up to the view's t."""
    ns, upto, values = view.ns, view.upto, view.upto_values
    names = dict(fetch_by(view.rows, "SELECT id, name FROM concept WHERE id IN", ids))
    mentioned = {
        concept: rest
        for concept, *rest in fetch_by(
            view.rows,
            "SELECT concept, count(*), min(at), max(at), count(DISTINCT at >> 20) FROM mention"
            " WHERE ns = ? AND concept IN",
            ids,
            upto + " GROUP BY concept",
            lead=(ns,),
            tail=values,
        )
    }
    stood_on: dict[int, dict[int, tuple[Any, ...]]] = {}
    for concept, t_index, id, *spelling in fetch_by(
        view.rows,
        "SELECT e.concept, v.at >> 20, e.id, e.label, e.kind FROM entity e JOIN entity_evidence v"
        " ON v.ns = e.ns AND v.entity = e.number WHERE e.ns = ? AND e.concept IN",
        ids,
        upto,
        lead=(ns,),
        tail=values,
    ):
        by_t = stood_on.setdefault(concept, {})
        by_t[t_index] = min((id, *spelling), by_t.get(t_index, (id, *spelling)))
    spellings = dict(
        fetch_by(
            view.rows,
            "SELECT at, concepts FROM statement WHERE ns = ? AND at IN",
            {first for _, first, _, _ in mentioned.values()},
            lead=(ns,),
        )
    )
    rows: dict[int, ConceptRow] = {}
    label: str
    kind: ConceptKind
    for id in mentioned.keys() | stood_on.keys():
        name = names[id]
        statements, first, last, updates = mentioned.get(id, (0, 0, -1, 0))
        by_t = stood_on.get(id, {})
        if statements:
            label, kind = next(
                (m.label, m.kind) for m in unpack_mentions(spellings[first]) if m.name == name
            )
        else:
            _, label, kind = by_t[min(by_t)]
        if by_t and statements:
            updates = len(_touched(view, id) | by_t.keys())
        rows[id] = ConceptRow(
            name=name,
            label=label,
            kind=kind,
            t_index=max(last >> 20, *by_t) if by_t else last >> 20,
            updates=updates or len(by_t),
            statements=statements,
            merges=0,
        )
    return {id: replace(row, merges=row.updates - 1) for id, row in rows.items()}


def _touched(view: View, concept: int, after: int = -1) -> set[int]:
    """The t, later than ``after``, of the updates that mention the concept."""
    rows = view.rows(
        "SELECT DISTINCT at >> 20 FROM mention WHERE ns = ? AND concept = ? AND at >= ?"
        + view.upto,
        (view.ns, concept, statement_key(after + 1, 0), *view.upto_values),
    )
    return {t_index for (t_index,) in rows}


def _touched_by_entities(view: View, concept: int, after: int) -> set[int]:
    rows = view.rows(
        "SELECT DISTINCT v.at >> 20 FROM entity e JOIN entity_evidence v"
        " ON v.ns = e.ns AND v.entity = e.number"
        " WHERE e.ns = ? AND e.concept = ? AND v.at >= ?" + view.upto,
        (view.ns, concept, statement_key(after + 1, 0), *view.upto_values),
    )
    return {t_index for (t_index,) in rows}


def _with_summaries(view: View, rows: list[tuple[int, ConceptRow]]) -> list[ConceptRow]:
    """The rows with their summaries in force; ``merges`` counts the updates after those."""
    revised = _in_force(view, [id for id, _ in rows])
    result: list[ConceptRow] = []
    for id, row in rows:
        if id in revised:
            _, after, text, terms, traits = revised[id]
            summary = Summary(
                concept=row.name,
                t_index=after,
                text=text,
                terms=unpack(terms),
                traits=Trait(traits),
            )
            merged = _touched(view, id, after) | _touched_by_entities(view, id, after)
            row = replace(row, merges=len(merged), summary=summary)
        result.append(row)
    return result


def _in_force(view: View, ids: list[int]) -> dict[int, tuple[Any, ...]]:
    """Concept → its summary row (concept, t_index, text, terms, traits), where it has one."""
    if not view.rows("SELECT 1 FROM summary WHERE ns = ? LIMIT 1", (view.ns,)):
        return {}
    rows = read_by(
        view.rows,
        "summary",
        "SELECT {} FROM summary WHERE ns = ? AND concept IN",
        ids,
        "AND t_index <= ?",
        lead=(view.ns,),
        tail=(view.ceiling,),
    )
    latest: dict[int, tuple[Any, ...]] = {}
    for _, *row in sorted(set(rows)):
        if not view.hides or not _covers_hidden(view, row[0], row[1]):
            latest[row[0]] = tuple(row)
    return latest


def _covers_hidden(view: View, concept: int, t_index: int) -> bool:
    """Whether the view hides a mention of the concept up to ``t_index``: one by an expired passage,
    of which there are few, or one that was said later."""
    last = statement_key(t_index + 1, 0)
    covered: LiteralString = "FROM mention WHERE ns = ? AND concept = ? AND at < ?"
    if view.expired_by is not None and view.rows(
        "SELECT 1 FROM passage x INDEXED BY passage_expires CROSS JOIN mention m ON m.ns = x.ns"
        " AND m.concept = ? AND m.at >= x.t << 20 AND m.at < (x.t + 1) << 20 AND m.at < ?"
        " WHERE x.ns = ? AND x.expires <= ? LIMIT 1",
        (concept, last, view.ns, view.expired_by),
    ):
        return True
    return view.is_dated and bool(
        view.rows(
            "SELECT 1 " + covered + " AND NOT (1" + view.seen + ") LIMIT 1",
            (view.ns, concept, last, *view.seen_values),
        )
    )


def context_version(fetch: Fetch, ns: int, name: str) -> ContextVersion | None:
    """The version of a concept's context, for ``WriteSummary``; None if nothing mentions it."""
    rows = fetch(
        "SELECT statements,"
        " (SELECT max(at) FROM mention m WHERE m.ns = c.ns AND m.concept = c.id),"
        " (SELECT max(t_index) FROM summary y WHERE y.ns = c.ns AND y.concept = c.id)"
        " FROM concept c WHERE ns = ? AND name = ? AND statements > 0",
        (ns, name),
    )
    if not rows:
        return None
    statements, latest, summary_t = rows[0]
    return ContextVersion(t_index=latest >> 20, statements=statements, summary_t=summary_t)
