"""The queries of ``recallm.stores.semantics.reading.Reader``, in SQL.

The first column says whether the rows that a row is made of have their checksums
(``{sound TABLE ALIAS}``). ``Queries.rows`` says what else stands in braces, ``View`` which parts a
horizon brings.
"""

from __future__ import annotations

import re
from functools import cache
from typing import LiteralString

from recallm.stores.semantics.reading import literal, with_parts
from recallm.stores.sqlite.schema import checksum, columns_of

_SOUND = re.compile(r"\{sound (\w+) (\w+)\}")


_COUNTED: LiteralString = "{?past: AND at < :end?}"
_HIDDEN: LiteralString = (
    "{?dated: AND +said <= :said?}{?expired: AND (expires IS NULL OR +expires > :now)?}"
    "{?withdrawn: AND (withdrawn IS NULL OR +withdrawn > :last)?}"
)
# Only a datetime hides an update without a passage.
_UPDATE_SHOWN: LiteralString = (
    "{?hides: AND coalesce((SELECT 1" + _HIDDEN + " FROM passage INDEXED BY passage_t"
    "  WHERE passage.ns = :ns AND passage.t = {t}), :said IS NULL)?}"
)
_VISIBLE_AT: LiteralString = _COUNTED + _UPDATE_SHOWN.replace("{t}", "at >> 20")
VISIBLE_PASSAGE: LiteralString = "{?past: AND passage.t <= :last?}" + _HIDDEN
"""The rows that count, and those that are visible, of a table with a column ``at``; the visible
rows of ``passage``. A condition continues a WHERE."""


@cache
def spelled(sql: LiteralString, given: frozenset[str]) -> LiteralString:
    """A query with its comparisons of checksums, and with the parts that are given."""

    def comparison(found: re.Match[str]) -> str:
        table, alias = literal(found[1]), literal(found[2])
        return f"({alias}.crc = {checksum(columns_of(table), alias)})"

    for name, condition in _CONDITIONS.items():
        sql = sql.replace(name, condition)
    return literal(_SOUND.sub(comparison, with_parts(sql, given)))


_CONDITIONS: dict[LiteralString, LiteralString] = {
    "{counted}": _COUNTED,
    "{visible}": _VISIBLE_AT,
    "{visible_passage}": VISIBLE_PASSAGE,
}

_VISIBLE: LiteralString = (
    " FROM element_evidence v WHERE v.ns = x.ns AND v.element = x.number{visible}"
)
_UPDATES: LiteralString = "(SELECT count(DISTINCT at >> 20)" + _VISIBLE + ")"
_T_INDEX: LiteralString = "(SELECT max(at) >> 20" + _VISIBLE + ")"
_SOURCE: LiteralString = (
    "(SELECT p.id FROM element_evidence v CROSS JOIN passage p"
    "  ON p.row = (v.ns << 32) + (v.at >> 20) WHERE v.ns = x.ns AND v.element = x.number{visible}"
    "  ORDER BY v.at DESC LIMIT 1)"
)
_OF_PASSAGES: LiteralString = (
    "{?passages: AND x.number IN (SELECT v.element FROM passage CROSS JOIN element_evidence v"
    "  INDEXED BY element_evidence_at ON v.ns = passage.ns AND v.at >= passage.t << 20"
    "  AND v.at < (passage.t + 1) << 20"
    "  WHERE passage.ns = :ns AND passage.id IN {passages}{visible_passage})?}"
)

_SHOWN: LiteralString = "{?bounded: AND EXISTS (SELECT 1" + _VISIBLE + ")?}"
_BORNE: LiteralString = (
    "{?bounded: AND EXISTS (SELECT 1 FROM element_evidence v WHERE v.ns = w.ns"
    " AND v.element = w.entity{visible})?}"
)
_END: LiteralString = (
    "EXISTS (SELECT 1 FROM element e CROSS JOIN element_evidence v ON v.ns = e.ns"
    " AND v.element = e.number WHERE e.ns = x.ns AND e.id = x."
)
CHOSEN: LiteralString = (
    " {?subjects:x.subject IN {subjects}?:+x.subject IS NOT NULL?}"
    "{?predicates: AND x.predicate IN {predicates}?: AND x.predicate IS NOT NULL?}"
    "{?objects: AND x.object IN {objects}?}"
    "{?bounded: AND " + _END + "subject{visible}) AND " + _END + "object{visible})?}"
)
"""The conditions of triplets that are given, and whose ends are visible."""
MENTIONS: LiteralString = (
    "(SELECT value AS at FROM json_each(keys_in(c.newest)) UNION ALL SELECT value"
    " FROM concept_block b CROSS JOIN json_each(keys_in(b.blob)) WHERE b.ns = c.ns"
    " AND b.owner = c.id)"
)
"""The keys of all statements that mention ``concept c``, in no order, for a subquery."""
_TOUCHED: LiteralString = (
    "{?hides: AND (EXISTS (SELECT 1 FROM " + MENTIONS + " WHERE true{visible})"
    " OR EXISTS (SELECT 1 FROM element e CROSS JOIN element_evidence v ON v.ns = e.ns"
    "  AND v.element = e.number WHERE e.ns = c.ns AND e.concept = c.name{visible}))?}"
)
"""The condition that a visible row touches ``concept c``."""

_LATER: LiteralString = " AND at >= (y.t_index + 1) << 20{counted}"
_CONCEPTS: LiteralString = (
    "SELECT {sound concept c} AND CASE WHEN y.ns IS NULL THEN 1 ELSE {sound summary y} END,"
    " c.name, c.label, c.kind, c.t_index, c.updates, c.statements,"
    " y.t_index, y.text, y.terms, y.traits,"
    " CASE WHEN y.ns IS NOT NULL THEN (SELECT count(DISTINCT t) FROM ("
    "  SELECT at >> 20 AS t FROM " + MENTIONS + " WHERE true" + _LATER
    + " UNION ALL SELECT at >> 20 FROM element e CROSS JOIN element_evidence v ON v.ns = e.ns"
    "   AND v.element = e.number" + _LATER + " WHERE e.ns = c.ns AND e.concept = c.name)) END"
    " FROM concept c LEFT JOIN summary y ON y.ns = c.ns AND y.concept = c.name"
    " AND y.t_index <= :last"
    "{?expired: AND NOT EXISTS (SELECT 1 FROM " + MENTIONS
    + " WHERE at < (y.t_index + 1) << 20 AND EXISTS (SELECT 1 FROM passage INDEXED BY passage_t"
    "   WHERE passage.ns = :ns AND passage.t = at >> 20 AND expires <= :now))?}"
    "{?dated: AND NOT EXISTS (SELECT 1 FROM " + MENTIONS
    + " WHERE at < (y.t_index + 1) << 20 AND NOT EXISTS (SELECT 1 FROM passage INDEXED BY passage_t"
    "   WHERE passage.ns = :ns AND passage.t = at >> 20 AND +said <= :said))?} WHERE "
)  # fmt: skip
"""A summary is in force where it covers nothing hidden (but what is withdrawn)."""

_RELATED: LiteralString = (
    "SELECT 1, min(c.name, o.name), max(c.name, o.name), (SELECT count(*) FROM evidence q"
    "  WHERE q.ns = e.ns AND q.a = e.a AND q.b = e.b AND q.shown <= e.shown) AS strength, e.shown"
    " FROM neighbour n"
    " CROSS JOIN evidence e ON e.ns = n.ns AND e.a = min(n.a, n.b) AND e.b = max(n.a, n.b)"
    " AND e.shown = {?past:(SELECT max(shown) FROM evidence q WHERE q.ns = n.ns"
    "  AND q.a = min(n.a, n.b) AND q.b = max(n.a, n.b) AND q.shown <= :last)?:n.t_index?}"
    " CROSS JOIN concept c ON c.id = n.a CROSS JOIN concept o ON o.id = n.b"
    " WHERE n.ns = :ns{?hides: AND EXISTS (SELECT 1 FROM evidence WHERE ns = :ns AND a = e.a"
    "  AND b = e.b" + " AND shown <= :last" + _UPDATE_SHOWN.replace("{t}", "shown") + ")?}"
)
_IDS: LiteralString = "(SELECT id FROM concept WHERE ns = :ns AND name IN {names})"


QUERIES: dict[str, LiteralString] = {
    "sessions": (
        "SELECT {sound session s}, s.key, passages, first_t, latest, began, ended FROM ("
        " SELECT session_id, count(*) AS passages, min(t) AS first_t, max(t) AS latest,"
        "  min(said) AS began, max(said) AS ended FROM passage INDEXED BY passage_t"
        "  WHERE ns = :ns AND session_id IS NOT NULL{visible_passage} GROUP BY session_id)"
        " LEFT JOIN session s ON s.id = session_id ORDER BY latest DESC"
    ),
    "statement keys": (
        "SELECT 1, at FROM {?embedded:vector?:statement?} s WHERE ns = :ns AND at > :after"
        "{?embedded:?: AND NOT EXISTS (SELECT 1 FROM vector v WHERE v.ns = s.ns AND v.at = s.at)?}"
        "{visible} ORDER BY at{?limit: LIMIT :limit?}"
    ),
    "vectors": (
        "SELECT {sound vector v}, at, blob FROM vector v WHERE ns = :ns AND at > :after"
        "{?keys: AND at IN {keys}?} AND model = :model{visible} ORDER BY at{?limit: LIMIT :limit?}"
    ),
    "entity vectors": (
        "SELECT {sound entity_vector w} AND {sound element x}, x.id, w.blob FROM entity_vector w"
        " CROSS JOIN element x ON x.number = w.entity WHERE w.ns = :ns AND w.model = :model"
        "{?ids: AND w.entity IN (SELECT number FROM element WHERE ns = :ns AND id IN {ids})?}"
        + _BORNE
    ),
    "concepts": _CONCEPTS + "c.ns = :ns AND c.name IN {names}" + _TOUCHED,
    "latest concepts": (
        _CONCEPTS + "c.id IN (SELECT id FROM concept c WHERE c.ns = :ns AND t_index > :last"
        + _TOUCHED + " UNION ALL SELECT * FROM (SELECT id FROM concept c WHERE c.ns = :ns"
        " AND t_index <= :last" + _TOUCHED + " ORDER BY t_index DESC, name{?limit: LIMIT :limit?}))"
    ),
    "relations": _RELATED + (
        " AND n.a = (SELECT id FROM concept WHERE ns = :ns AND name = :name)"
        "{?limit: ORDER BY {?past:e.shown?:n.t_index?} DESC, strength DESC, o.name LIMIT :limit?}"
    ),
    "relations among": _RELATED + " AND n.a IN " + _IDS + " AND n.b IN " + _IDS + " AND n.b > n.a",
    "entities": (
        "SELECT {sound element x}, x.id, x.type, x.label, coalesce(x.concept, ''), x.properties, "
        + _T_INDEX + ", " + _UPDATES + ", " + _SOURCE
        + " FROM element x WHERE x.ns = :ns AND x.id {?ids:IN {ids}?:IS NOT NULL?}"
        "{?concepts: AND x.concept IN {concepts}?}" + _OF_PASSAGES + _SHOWN
    ),
    "triplets": (
        "SELECT {sound element x}, x.subject, x.predicate, x.object, x.properties, "
        + _UPDATES + ", " + _T_INDEX + ", " + _SOURCE
        + " FROM element x WHERE x.ns = :ns AND" + CHOSEN + _OF_PASSAGES + _SHOWN
    ),
    "evidence": (
        "SELECT {sound element_evidence v} AND {sound element x} AND {sound element s}"
        " AND {sound element o}, s.id, s.label, coalesce(s.concept, ''), x.predicate, o.id,"
        " o.label, coalesce(o.concept, ''), o.type, v.properties, v.at FROM ("
        " SELECT element, at FROM {?first:element_evidence v CROSS JOIN element x"
        "  ON x.number = v.element WHERE v.ns = :ns AND v.at >= :first?:element x"
        "  CROSS JOIN element_evidence v ON v.ns = x.ns AND v.element = x.number WHERE x.ns = :ns?}"
        "  AND" + CHOSEN + "{visible}"
        "  {?limit: ORDER BY at DESC, subject, predicate, object LIMIT :limit?}"
        " ) f CROSS JOIN element_evidence v ON v.ns = :ns AND v.element = f.element AND v.at = f.at"
        " CROSS JOIN element x ON x.number = f.element"
        " LEFT JOIN element s ON s.ns = :ns AND s.id = x.subject"
        " LEFT JOIN element o ON o.ns = :ns AND o.id = x.object"
    ),
    "summaries": (
        "SELECT {sound summary y}, concept, t_index, text, terms, traits FROM summary y"
        " WHERE ns = :ns"
    ),
    "predicates": "SELECT {sound predicate p}, predicate, triplets FROM predicate p WHERE ns = :ns",
    # The first entities by their number that bear a word: up to the last one of the limit.
    "bearers": (
        "SELECT {sound element e}, value, e.id FROM {words} CROSS JOIN entity_word w"
        " ON w.ns = :ns AND w.word = value AND w.entity <= coalesce((SELECT w.entity"
        "  FROM entity_word w WHERE w.ns = :ns AND w.word = value" + _BORNE
        + " ORDER BY w.entity LIMIT 1 OFFSET :limit - 1), 1 << 62)" + _BORNE
        + " LEFT JOIN element e ON e.number = w.entity"
    ),
}  # fmt: skip
"""By their names in ``Reader``."""
