"""What a write puts and deletes: a query for each, with a list of rows for every kind.

Rows are put by the parameter with the name of their kind, and deleted by ``gone_KIND``. A row
begins with its key. What a row refers to, it names by key.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Final, LiteralString

from recallm.ground.entity_words import codes_of, name_words
from recallm.model import PreparedUpdate, statement_key, t_index_of
from recallm.stores.neo4j import values
from recallm.stores.neo4j.schema import COUNTED, TOTALS
from recallm.stores.semantics.reading import literal
from recallm.stores.semantics.rows import (
    Changes,
    NamespaceTotals,
    RowsByKind,
    RowsOfKind,
    changed_rows,
    json_text,
    kept_of,
    stored_session_key,
    t_of,
)
from recallm.stores.semantics.writing import antecedents_in, pairs_of

_NODES: Final[tuple[tuple[LiteralString, LiteralString, LiteralString], ...]] = (
    ("updates", "RecallMUpdate", "t"),
    ("statements", "RecallMStatement", "key"),
    ("entities", "RecallMElement:RecallMEntity", "key"),
    ("triplets", "RecallMElement:RecallMTriplet", "key"),
    ("summaries", "RecallMConcept", "key"),
)
"""Kinds of nodes: labels, and the property that is the key. A row has a map of properties."""

_STATEMENT: Final[LiteralString] = "RecallMStatement {namespace: $namespace, key: "
_ELEMENT: Final[LiteralString] = "RecallMElement {namespace: $namespace, key: "
_UPDATE: Final[LiteralString] = "RecallMUpdate {namespace: $namespace, t: "
_PASSAGE: Final[LiteralString] = "RecallMUpdate {namespace: $namespace, id_key: "

_NEW: Final[tuple[tuple[LiteralString, ...], ...]] = (
    ("has", _UPDATE, "HAS", _STATEMENT),
    ("references", _STATEMENT, "REFERS_TO", _PASSAGE),
)
"""Kinds of relationships of which each that is put is new: from which node, type, to which node. A
row has the key of the first node, and, for each relationship, that of the other."""

_KEPT: Final[tuple[tuple[LiteralString, ...], ...]] = (
    ("paths", _UPDATE, "UNDER {namespace: $namespace, path: end[1]}", _UPDATE),
    ("subjects", _ELEMENT, "SUBJECT", _ELEMENT),
    ("objects", _ELEMENT, "OBJECT", _ELEMENT),
    ("evidence", _ELEMENT, "SHOWN {key: end[1]}", _UPDATE),
    ("vectors", _ELEMENT, "EMBEDDED {namespace: $namespace, model: end[1]}", _ELEMENT),
)
"""Kinds of relationships that may be there already. For each relationship, a row also has the
property by which those of the same two nodes differ, and a map of others."""


def _counted_put(
    kind: LiteralString, labels: LiteralString, more: LiteralString, columns: LiteralString
) -> LiteralString:
    places = enumerate(columns.split(), 1)
    properties = literal(", ".join([f"x.{name} = row[{place}]" for place, name in places]))
    return f"""
UNWIND ${kind} AS row
MERGE (x:{labels} {{namespace: $namespace, key: row[0]{more}}})
SET {properties}
"""


def _nodes_put(kind: LiteralString, labels: LiteralString, key: LiteralString) -> LiteralString:
    return f"""
UNWIND ${kind} AS row
MERGE (x:{labels} {{namespace: $namespace, {key}: row[0]}})
SET x += row[1]
"""


def _nodes_deleted(kind: LiteralString, labels: LiteralString, key: LiteralString) -> LiteralString:
    return f"""
UNWIND $gone_{kind} AS row
MATCH (x:{labels} {{namespace: $namespace, {key}: row[0]}})
DETACH DELETE x
"""


def _related(
    kind: LiteralString, one: LiteralString, other: LiteralString, change: LiteralString
) -> LiteralString:
    """Does ``change`` with the two nodes of each relationship, ``a`` and ``b``."""
    return f"""
UNWIND ${kind} AS row
MATCH (a:{one}row[0]}})
UNWIND row[1] AS end
MATCH (b:{other}end[0]}})
WITH a, b, end
{change}
"""


_POSTINGS: Final[LiteralString] = """
UNWIND $postings AS row
MERGE (p:RecallMPostings {namespace: $namespace, key: row[0], first: row[1]})
SET p.keys = coalesce(p.keys, []) + row[2], p.sessions = coalesce(p.sessions, []) + row[3],
    p.counts = coalesce(p.counts, []) + row[4]
"""

_POSTINGS_DELETED: Final[LiteralString] = """
UNWIND $gone_postings AS row
UNWIND row[1] AS at
CALL (row, at) {
    MATCH (p:RecallMPostings)
    WHERE p.namespace = $namespace AND p.key = row[0] AND p.first <= at[0]
    RETURN p ORDER BY p.namespace DESC, p.key DESC, p.first DESC LIMIT 1
}
WITH DISTINCT p, row[1] AS gone
WITH p, p.keys AS keys, p.sessions AS sessions, p.counts AS counts,
    [i IN range(0, size(p.keys) - 1) WHERE NOT [p.keys[i]] IN gone] AS left
SET p.keys = [i IN left | keys[i]], p.sessions = [i IN left | sessions[i]],
    p.counts = [i IN left | counts[i]]
WITH p, left WHERE left = [] AND p.first > 0
DELETE p
"""
"""Takes the postings with some keys out of the blocks of a list. A block that is empty then goes,
but for the first."""

_RELATIONS: Final[LiteralString] = """
UNWIND $relations AS row
MATCH (a:RecallMConcept {namespace: $namespace, key: row[0]})
MATCH (b:RecallMConcept {namespace: $namespace, key: row[1]})
MERGE (a)-[r:RELATED]->(b)
SET r.ts = [t IN coalesce(r.ts, []) WHERE NOT t IN row[2]] + row[3]
WITH r WHERE r.ts = []
DELETE r
RETURN count(*) AS relations
"""
"""A row has the t that show a relation no more, and those that show it from now on. Says how many
relations went."""

_STANDING: Final[LiteralString] = """
UNWIND $standing AS row
MATCH (x:RecallMElement {namespace: $namespace, key: row[0]})
CALL (x, row) { MATCH (x)-[old:STANDS_ON]->(c) WHERE c.key <> row[1] DELETE old }
MATCH (c:RecallMConcept {namespace: $namespace, key: row[1]})
MERGE (x)-[:STANDS_ON]->(c)
"""

_WORDS: Final[LiteralString] = """
UNWIND $words AS row
MATCH (x:RecallMElement {namespace: $namespace, key: row[0]})
CALL (x, row) { MATCH (x)-[b:BEARS {model: row[1]}]->(x) WHERE NOT b.word IN row[2] DELETE b }
UNWIND row[2] AS word
MERGE (x)-[:BEARS {namespace: $namespace, model: row[1], word: word}]->(x)
"""
"""The words that an entity bears by its vector under a model, or by its concept."""


def _in_turn(*parts: str) -> LiteralString:
    """A query that does the ``parts``, which are literals, one after the other."""
    return literal("".join(["\nCALL () {" + part + "}" for part in parts]))


PUT: Final[LiteralString] = (
    """
MATCH (n:RecallMNamespace {key: $key})
SET n.locked = true
WITH n, coalesce(n.writes, []) AS writes
WHERE coalesce(last(writes), '') = $latest
SET n += $totals, n.writes = [name IN writes WHERE name <> $write][-99..] + $write
WITH n"""
    + _in_turn(
        *[_counted_put(*kind) for kind in COUNTED],
        *[_nodes_put(*kind) for kind in _NODES],
        _POSTINGS,
        _RELATIONS,
        *[_related(kind, a, b, f"CREATE (a)-[:{type}]->(b)") for kind, a, type, b in _NEW],
        *[
            _related(kind, a, b, f"MERGE (a)-[r:{type}]->(b) SET r += end[2]")
            for kind, a, type, b in _KEPT
        ],
        _STANDING,
        _WORDS,
    )
    + "\nRETURN relations AS row"
)
"""Puts all rows, and has a row: how many relations went. It puts nothing, and has no row, where the
latest write of the namespace is not ``$latest`` any more. ``writes`` has the names of the latest
hundred: whoever lost the reply to a commit finds there that the write is done."""

DELETE: Final[LiteralString] = _in_turn(
    _POSTINGS_DELETED,
    *[
        _related("gone_" + kind, a, b, f"MATCH (a)-[r:{type}]->(b) DELETE r")
        for kind, a, type, b in (*_NEW, *_KEPT)
    ],
    *[_nodes_deleted(kind, labels, "key") for kind, labels, *_ in COUNTED],
    *[_nodes_deleted(*kind) for kind in _NODES],
)

_KINDS: Final = {query: re.findall(r"UNWIND \$(?:gone_)?(\w+)", query) for query in (PUT, DELETE)}
"""The kinds whose rows a query needs."""

_BLOCK: Final = 64
"""Postings that a block gets."""


def parameters_of(
    changes: Changes, ends: dict[str, tuple[int, int]], numbers: dict[str | None, int]
) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
    """The rows of some changes, as parameters of ``PUT`` and of ``DELETE``.

    Args:
        changes: what a write changes.
        ends: of each list of postings that the transaction has looked up or written, the ``first``
            of the last block, and how many postings that block got.
        numbers: of each session that it has looked up or written.
    """
    old: RowsByKind = defaultdict(dict)
    new: RowsByKind = defaultdict(dict)
    for before, after in changes.passages:
        _add_update(old, before)
        _add_update(new, after)
        if after and after.statements:
            numbers.setdefault(stored_session_key(after), t_of(after))
    changed_rows(old, new)
    lists, relations = new.pop("postings", {}), new.pop("relations", {})
    _add_blocks(new, lists, ends, numbers)
    _add_totals(new, changes, ends, numbers)
    _add_elements(new, changes)
    put = {kind: _rows(new, kind, is_gone=False) for kind in _KINDS[PUT]}
    gone = {kind: _rows(new, kind, is_gone=True) for kind in _KINDS[DELETE]}
    for kind, *_ in (*_NEW, *_KEPT):
        put[kind], gone[kind] = _by_first(put[kind]), _by_first(gone[kind])
    gone["postings"] = _by_first(key for key, row in lists.items() if row is None)
    ts: defaultdict[Any, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for (a, b, t), row in relations.items():
        ts[a, b][row is not None].append(t)
    put["relations"] = [(*pair, *lost_and_new) for pair, lost_and_new in ts.items()]
    return put, {"gone_" + kind: rows for kind, rows in gone.items()}


def _rows(rows: RowsByKind, kind: str, *, is_gone: bool) -> list[Any]:
    """The rows of a kind that are put, or the keys of those that are gone."""
    found = rows.get(literal(kind), {}).items()
    return [(*key, *(row or ())) for key, row in found if (row is None) is is_gone]


def _by_first(rows: Iterable[tuple[Any, ...]]) -> list[tuple[Any, list[Any]]]:
    """Rows with the same first value in one: that value, and a list of the rest of each."""
    rest: defaultdict[Any, list[Any]] = defaultdict(list)
    for row in rows:
        rest[row[0]].append(row[1:])
    return [*rest.items()]


def _add_update(rows: RowsByKind, update: PreparedUpdate | None) -> None:
    """Add the rows of a passage, or of a graph-only update that brings something."""
    if update is None or (update.text is None and not update.elements):
        return
    t, session = t_of(update), stored_session_key(update)
    node = values.update_out(update, session)
    rows["updates"][t,] = (node,)
    for path in node.get("paths") or ():
        rows["paths"][t, t, path] = ({"t": t},)
    vectors = {vector.position: vector for vector in update.vectors}
    for said in update.statements:
        key = statement_key(t, said.position)
        own = values.statement_out(update, said, vectors.get(said.position))
        rows["statements"][key,] = ({"lane": node["lane"], **own},)
        rows["has"][t, key] = ()
        for id in antecedents_in(said):
            rows["references"][key, values.key_of(id)] = ()
        for mention in said.concepts:
            rows["postings"][values.key_of(mention.name), key] = (session, 1)
        for stem, count in Counter(said.terms).items():
            rows["postings"][values.stem_key(stem), key] = (session, count)
    for a, b in pairs_of(update):
        rows["relations"][values.key_of(a), values.key_of(b), t] = ()


def _add_blocks(
    rows: RowsByKind,
    postings: RowsOfKind,
    ends: dict[str, tuple[int, int]],
    numbers: Mapping[str | None, int],
) -> None:
    """Add the rows of the blocks to which new postings go: (list, key) → session, count."""
    new = sorted((*key, *row) for key, row in postings.items() if row is not None)
    for name, own in _by_first(new):
        first, filled = ends.get(name, (0, 0))
        while own:
            if filled == _BLOCK:
                first, filled = own[0][0], 0
            part, own = own[: _BLOCK - filled], own[_BLOCK - filled :]
            filled += len(part)
            keys, sessions, counts = zip(*part, strict=True)
            places = [numbers[key] if key else 0 for key in sessions]
            rows["postings"][name, first] = keys, places, counts
        ends[name] = first, filled


def _add_totals(
    rows: RowsByKind,
    changes: Changes,
    ends: Mapping[str, tuple[int, int]],
    numbers: Mapping[str | None, int],
) -> None:
    """Add the rows of concepts, stems, sessions and predicates; columns as in ``COUNTED``."""
    t = changes.namespace.t
    for name, c in changes.concepts.items():
        key = values.key_of(name)
        totals = c and (c.t_index, c.updates, c.statements)
        own = c and (name, c.label, c.kind, totals, c.t_index, *ends.get(key, (0, 0)))
        rows["concepts"][key,] = own or None
    for stem, statements in changes.terms.items():
        key = values.stem_key(stem)
        is_held = statements > 0
        rows["terms"][key,] = (stem, (t, statements), *ends.get(key, (0, 0))) if is_held else None
    for name, session in changes.sessions.items():
        if name in numbers:
            size = name, (t, session.statements, session.terms), numbers[name]
            rows["sessions"][values.key_of(name),] = size if session.statements else None
    for name, triplets in changes.predicates.items():
        rows["predicates"][values.key_of(name),] = (name, triplets) if triplets else None
    for summary in changes.summaries:
        rows["summaries"][values.key_of(summary.concept),] = (values.summary_out(summary),)


def _add_elements(rows: RowsByKind, changes: Changes) -> None:
    """Add the rows of entities and triplets, of their evidence, and of vectors."""
    for key, row in changes.elements.items():
        name = values.element_key(key)
        kind = "entities" if isinstance(key, str) else "triplets"
        if row is None:
            rows[kind][name,] = None
            continue
        concept = row.concept
        own: dict[str, Any] = {"type": row.type, "latest": row.latest}
        own |= {"concept": concept.name, "label": concept.label, "kind": concept.kind}
        own["properties"] = json_text(row.properties)
        if isinstance(key, str):
            rows[kind][name,] = ({"id": key, **own},)
            rows["standing"][name,] = (values.key_of(concept.name),)
            words = values.keys_of(name_words(concept.name))
            rows["words"][name, values.CONCEPT_WORDS] = (words,)
        else:
            subject, predicate, object = map(values.key_of, key)
            ends = {"subject": subject, "predicate": predicate, "object": object}
            rows[kind][name,] = ({"name": key[1], **ends, **own},)
            rows["subjects"][name, subject, ""] = ({},)
            rows["objects"][name, object, ""] = ({},)
    for key, shown in changes.element_evidence.items():
        for at, evidence in shown.items():
            place = values.element_key(key), t_index_of(at), at
            rows["evidence"][place] = None
            if evidence is not None:
                properties, description = kept_of(evidence)
                rows["evidence"][place] = ({"properties": properties, "description": description},)
    for (id, model), blob in changes.entity_vectors.items():
        name, model_key = values.key_of(id), values.key_of(model)
        rows["vectors"][name, name, model_key] = ({"name": model, "blob": blob},)
        rows["words"][name, model_key] = (values.keys_of(codes_of(model, blob)),)


def namespace_properties(totals: NamespaceTotals) -> dict[str, Any]:
    """The properties of the namespace's node."""
    return {name: getattr(totals, name) for name in TOTALS} | {
        "open_t": totals.open_session.t_index if totals.open_session else 0,
        "vector_bytes": json_text(totals.vector_sizes),
    }
