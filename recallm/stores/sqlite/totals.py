"""How much there is in a view: concepts with totals and summaries, relations, sizes, statistics.

What a horizon hides up to the view's t counts in the sizes.

``neighbour`` knows every relation that evidence shows now. A view of the past holds each against
its evidence up to the view's t, whose rows are its strength.
Where the view hides some of what counts, a relation needs evidence that is shown.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from operator import attrgetter
from typing import Any, LiteralString

from recallm.model import (
    ConceptRow,
    Relation,
    Sizes,
    Stats,
    Summary,
    Trait,
    statement_key,
    t_index_of,
)
from recallm.stores.semantics.reading import concept_rows, sizes_of
from recallm.stores.semantics.rows import ConceptTotals
from recallm.stores.sqlite.schema import end_keys, unpack, unpack_mentions
from recallm.stores.sqlite.view import MENTIONS, Queries, View

_TOUCHES: LiteralString = (
    "WITH every (concept, at, entity) AS ("
    " SELECT c.name, k.value, NULL FROM concept c CROSS JOIN json_each(keys_in(c.newest)) k"
    " WHERE c.ns = :ns AND c.name IN {list} UNION ALL"
    " SELECT c.name, k.value, NULL FROM concept c CROSS JOIN concept_block b ON b.ns = c.ns"
    "  AND b.owner = c.id CROSS JOIN json_each(keys_in(b.blob)) k"
    " WHERE c.ns = :ns AND c.name IN {list} UNION ALL"
    " SELECT c.name, at, e.id FROM concept c CROSS JOIN element e"
    " ON e.ns = c.ns AND e.concept = c.name CROSS JOIN element_evidence v"
    " ON v.ns = e.ns AND v.element = e.number WHERE c.ns = :ns AND c.name IN {list}),"
    " touch AS (SELECT * FROM every WHERE true{counted}) "
)
"""One row for each mention of a concept, and for each evidence of an entity on it."""

_ENDS: LiteralString = (
    "SELECT name, coalesce((SELECT blob FROM concept_block b WHERE b.ns = c.ns AND b.owner = c.id"
    "  ORDER BY last LIMIT 1), newest), CASE WHEN newest != x'' THEN newest ELSE (SELECT blob"
    "  FROM concept_block b WHERE b.ns = c.ns AND b.owner = c.id ORDER BY last DESC LIMIT 1) END"
    " FROM concept c WHERE NOT EXISTS"
    " (SELECT 1 FROM element e WHERE e.ns = c.ns AND e.concept = c.name)"
    " AND ns = :ns AND name IN {list}"
)
"""The first and the last records of mentions of concepts without entities: two seeks each, however
many mentions there are."""

_CORPUS: LiteralString = (
    "SELECT count(*), coalesce(sum(length), 0),"
    " count(DISTINCT CASE WHEN session > 0 THEN session END)"
    " FROM statement INDEXED BY statement_session WHERE ns = :ns AND at < :end"
)
_SESSIONS: LiteralString = (
    "SELECT x.key, count(*), sum(length) FROM session x JOIN statement s"
    " INDEXED BY statement_session ON s.ns = x.ns AND s.session = x.id"
    " WHERE x.ns = :ns AND x.key IN {list} AND at < :end GROUP BY x.key"
)

_STATS: dict[str, LiteralString] = {
    "passages": "SELECT count(*) FROM passage INDEXED BY passage_t WHERE ns = :ns",
    "concepts": "SELECT count(*) FROM concept WHERE ns = :ns",
    "relations": "SELECT count(*) / 2 FROM neighbour WHERE ns = :ns",
    "entities": "SELECT count(*) FROM element WHERE ns = :ns AND id IS NOT NULL",
    "triplets": "SELECT count(*) FROM element WHERE ns = :ns AND subject IS NOT NULL",
    "summaries": "SELECT count(*) FROM summary WHERE ns = :ns",
    "vectors": "SELECT count(*) FROM vector WHERE ns = :ns",
}
"""Queries by the field of `Stats` that they count."""


def read_concepts(
    view: View, names: Collection[str] | None = None, *, limit: int | None = None
) -> list[ConceptRow]:
    """``GraphReader.concepts``."""
    sql: LiteralString = "SELECT {} FROM concept c WHERE ns = :ns" + view.visible_concept
    if names is not None:
        stored = view.read("concept", sql + " AND name IN {list}", set(names))
    elif view.is_present and limit is not None:
        sql += " ORDER BY t_index DESC, name LIMIT :limit"
        stored = view.read("concept", sql, limit=limit)
    else:
        stored = view.read("concept", sql)
    return concept_rows(
        {name: ConceptTotals(*row) for _, _, name, *row in stored},
        view.last,
        limit,
        lambda names: count_touches(view, dict.fromkeys(names), view.counted),
        lambda names: _summaries_in_force(view, names),
    )


def count_touches(
    queries: Queries,
    left: Mapping[str, tuple[int, int] | None],
    counted: LiteralString = "",
) -> dict[str, ConceptTotals]:
    """``Rows.count_touches``. ``counted`` is a condition on ``at``."""
    if not left:
        return {}
    touches: LiteralString = _TOUCHES.replace("{counted}", counted)
    known = {name: counts for name, counts in left.items() if counts}
    rows: list[tuple[Any, ...]] = [
        (name, t_index_of(end_keys(latest)[1]), *known[name], end_keys(earliest)[0])
        for name, earliest, latest in queries.rows(_ENDS, known)
        if latest
    ]
    names = left.keys() - {name for name, *_ in rows}
    rows += queries.rows(
        touches + "SELECT concept, max(at) >> 20, count(DISTINCT at >> 20),"
        " count(*) - count(entity), min(CASE WHEN entity IS NULL THEN at END)"
        " FROM touch GROUP BY concept",
        names,
    )
    spellings: dict[str, tuple[Any, Any]] = {}
    if any(first is None for *_, first in rows):
        for name, label, kind in queries.rows(
            touches + "SELECT touch.concept, e.label, e.kind FROM touch JOIN element e"
            " ON e.ns = :ns AND e.id = touch.entity ORDER BY at >> 20, e.id",
            names,
        ):
            spellings.setdefault(name, (label, kind))
    firsts = {name: first for name, *_, first in rows if first is not None}
    sql: LiteralString = "SELECT at, concepts FROM statement WHERE ns = :ns AND at IN {list}"
    mentions = dict(queries.rows(sql, set(firsts.values())))
    for name, first in firsts.items():
        mention = next(m for m in unpack_mentions(mentions[first]) if m.name == name)
        spellings[name] = (mention.label, mention.kind)
    return {
        name: ConceptTotals(*spellings[name], t_index, updates, statements)
        for name, t_index, updates, statements, _ in rows
    }


def _summaries_in_force(view: View, names: Collection[str]) -> dict[str, tuple[Summary, int]]:
    """The summaries in force of concepts, by name, each with the number of updates that touched the
    concept after it."""
    if not view.has_summaries:
        return {}
    sql: LiteralString = "SELECT {} FROM summary WHERE ns = :ns AND concept IN {list}"
    found: dict[str, tuple[Summary, int]] = {}
    after: LiteralString = _TOUCHES.replace("{counted}", view.counted + " AND at >= :after")
    for summary in map(read_summary, view.read("summary", sql + " AND t_index <= :last", names)):
        end = statement_key(summary.t_index + 1, 0)
        if not view.hides or not _covers_hidden(view, summary.concept, end):
            ((touches,),) = view.rows(
                after + "SELECT count(DISTINCT at >> 20) FROM touch", [summary.concept], after=end
            )
            found[summary.concept] = summary, touches
    return found


def read_summary(row: tuple[Any, ...]) -> Summary:
    """The summary of a row of its table."""
    _, concept, t_index, text, terms, traits = row
    return Summary(
        concept=concept, t_index=t_index, text=text, terms=unpack(terms), traits=Trait(traits)
    )


def _covers_hidden(view: View, concept: str, stop: int) -> bool:
    """Whether the view hides a mention of the concept before the key ``stop``: by an expired
    passage, or by one that was said later."""
    sql: LiteralString = (
        "SELECT 1 FROM concept c WHERE c.ns = :ns AND c.name = :concept AND EXISTS (SELECT 1 FROM "
        + MENTIONS + " WHERE at < :stop AND NOT EXISTS (SELECT 1 FROM passage INDEXED BY passage_t"
        "  WHERE passage.ns = :ns AND passage.t = at >> 20 AND (:said IS NULL OR +said <= :said)"
        "  AND (expires IS NULL OR :now IS NULL OR +expires > :now)))"
    )  # fmt: skip
    return bool(view.rows(sql, concept=concept, stop=stop))


def read_sizes(view: View, session_keys: Collection[str] = ()) -> Sizes:
    """``GraphReader.sizes``."""
    keys = set(session_keys)
    if not view.is_present:
        return sizes_of(view.rows(_CORPUS)[0], view.rows(_SESSIONS, keys))
    sql: LiteralString = "SELECT {} FROM session WHERE ns = :ns AND key IN {list}"
    rows = view.read("session", sql + " AND statements > 0", keys)
    return sizes_of(view.totals, (row[2:] for row in rows))


def read_stats(view: View) -> Stats:
    """``GraphReader.stats``."""
    statements, _, sessions = view.totals
    counts = {field: view.rows(sql)[0][0] for field, sql in _STATS.items()}
    return Stats(t_index=view.state.t_index, statements=statements, sessions=sessions, **counts)


_RELATED: LiteralString = (
    "SELECT c.name, o.name, (SELECT count(*) FROM evidence q WHERE q.ns = e.ns AND q.a = e.a"
    "  AND q.b = e.b AND q.shown <= e.shown) AS strength, e.shown"
    " FROM neighbour n CROSS JOIN evidence e"
    " ON e.ns = n.ns AND e.a = min(n.a, n.b) AND e.b = max(n.a, n.b){latest}"
    " CROSS JOIN concept c ON c.id = n.a CROSS JOIN concept o ON o.id = n.b WHERE n.ns = :ns"
)
_NOW: LiteralString = _RELATED.replace("{latest}", " AND e.shown = n.t_index")
_THEN: LiteralString = _RELATED.replace(
    "{latest}",
    " AND e.shown = (SELECT max(shown) FROM evidence q WHERE q.ns = :ns"
    "  AND q.a = min(n.a, n.b) AND q.b = max(n.a, n.b) AND q.shown <= :last)",
)
"""Relations as they are now, and as they were at the view's t."""

_IDS: LiteralString = "(SELECT id FROM concept WHERE ns = :ns AND name IN {list})"


def read_relations(
    view: View, names: Collection[str], *, limit: int | None = None, among: bool = False
) -> list[Relation]:
    """``GraphReader.relations``."""
    shown: LiteralString = ""
    if view.hides:
        shown = (
            " AND EXISTS (SELECT 1 FROM evidence WHERE ns = :ns AND a = e.a AND b = e.b"
            + view.visible_evidence + ")"
        )  # fmt: skip
    if among:
        ends: LiteralString = " AND n.a IN " + _IDS + " AND n.b IN " + _IDS + " AND n.b > n.a"
        rows = view.rows(_THEN + ends + shown, set(names))
    else:
        rows = [row for name in set(names) for row in _newest_relations(view, name, limit, shown)]
    found = {
        Relation(a=min(one, other), b=max(one, other), strength=strength, t_index=t_index)
        for one, other, strength, t_index in rows
    }
    return sorted(found, key=attrgetter("a", "b"))


def _newest_relations(
    view: View, name: str, limit: int | None, shown: LiteralString
) -> list[tuple[Any, ...]]:
    """The rows of the newest relations of a concept that meet the condition ``shown``."""
    most = -1 if limit is None else limit
    order: LiteralString = " ORDER BY n.t_index DESC, strength DESC, o.name LIMIT :limit"
    of: LiteralString = (
        " AND n.a = (SELECT id FROM concept WHERE ns = :ns AND name = :name) AND n.t_index "
    )
    rows = view.rows(_NOW + of + "<= :last" + shown + order, name=name, limit=most)
    if not view.is_present:
        rows += view.rows(_THEN + of + "> :last" + shown, name=name)
        rows.sort(key=lambda row: (-row[3], -row[2], row[1]))
    return rows[:limit]
