"""What a write takes out of the graph: one query, and its parameters."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, LiteralString

from recallm.model import ExtractedStatement, PreparedUpdate, statement_key
from recallm.stores.cypher.postings import POSTINGS_DELETED
from recallm.stores.neo4j import values
from recallm.stores.semantics.rows import Changes, Pair, stored_session_key, t_of
from recallm.stores.semantics.writing import antecedents_in, pairs_of

_EVIDENCE: Final[LiteralString] = """
UNWIND $evidence AS row
MATCH (x:RecallMElement {namespace: $namespace, key: row[0]})-[shown:SHOWN {key: row[1]}]->()
USING INDEX SEEK x:RecallMElement(namespace, key)
DELETE shown
WITH DISTINCT row[1] / 1048576 AS t
MATCH (u:RecallMUpdate {namespace: $namespace, t: t})
WHERE u.id IS NULL AND NOT EXISTS { (u)<-[:SHOWN]-() }
DETACH DELETE u
"""
"""Evidence of entities and triplets, and graph-only updates that show no other."""

_ELEMENTS: Final[LiteralString] = """
UNWIND $elements AS key
MATCH (x:RecallMElement {namespace: $namespace, key: key})
USING INDEX SEEK x:RecallMElement(namespace, key)
OPTIONAL MATCH (x)-[:EMBEDDED]->(v:RecallMEntityVector)
WITH x, collect(v) AS vectors,
    COLLECT { MATCH (x)-[:SHOWN]->(u:RecallMUpdate) WHERE u.id IS NULL RETURN u } AS shown
FOREACH (v IN vectors | DETACH DELETE v)
DETACH DELETE x
WITH shown
UNWIND shown AS u
WITH DISTINCT u WHERE NOT EXISTS { (u)<-[:SHOWN]-() }
DETACH DELETE u
"""

_PASSAGES: Final[LiteralString] = """
UNWIND $passages AS t
MATCH (u:RecallMUpdate {namespace: $namespace, t: t})
DETACH DELETE u
"""

_CUTS: Final[LiteralString] = """
UNWIND $cuts AS row
MATCH (u:RecallMUpdate {namespace: $namespace, t: row.t})
SET u += row.properties, u.cuts = coalesce(u.cuts, 0) + 1
WITH row
UNWIND row.statements AS said
MATCH (s:RecallMStatement {namespace: $namespace, key: said.key})
SET s += said.properties
FOREACH (gone IN COLLECT {
    MATCH (s)-[gone:MENTIONS]->(c) WHERE NOT c.key IN said.concepts RETURN gone
    UNION ALL
    MATCH (s)-[gone:REFERS_TO]->(u) WHERE NOT u.id_key IN said.references RETURN gone
} | DELETE gone)
"""
"""Passages that change. ``cuts`` changes with any part of the passage, so that a dump notices it.
``concepts`` and ``references`` of a statement are left."""

_RELATIONS: Final[LiteralString] = """
UNWIND $relations AS row
MATCH (a:RecallMConcept {namespace: $namespace, key: row[0]})
MATCH (b:RecallMConcept {namespace: $namespace, key: row[1]})
MATCH (a)-[r:RELATED]->(b)
SET r.ts = [t IN r.ts WHERE NOT t IN row[2]]
WITH r WHERE r.ts = []
DELETE r
"""


def _deleted(rows: LiteralString, label: LiteralString) -> LiteralString:
    return f"""
UNWIND ${rows} AS key
MATCH (x:{label} {{namespace: $namespace, key: key}})
DETACH DELETE x
"""


_PARTS: Final[tuple[LiteralString, ...]] = (
    _EVIDENCE,
    _ELEMENTS,
    *POSTINGS_DELETED,
    _deleted("statements", "RecallMStatement"),
    _PASSAGES,
    _CUTS,
    _RELATIONS,
    _deleted("concepts", "RecallMConcept"),
    _deleted("stems", "RecallMStem"),
    _deleted("sessions", "RecallMSession"),
    _deleted("predicates", "RecallMPredicate"),
)

REMOVE: Final[LiteralString] = "".join([f"\nCALL () {{{part}}}" for part in _PARTS])
"""Evidence, elements, statements with their postings, and passages; what passages and relations
lose; totals that became 0."""


def removed_by(changes: Changes) -> dict[str, list[Any]]:
    """The parameters of ``REMOVE``: of no rows where nothing goes."""
    gone = [before for before, after in changes.passages if before and after is None]
    cut = [(before, after) for before, after in changes.passages if before and after]
    lost = [(update, update.statements) for update in gone]
    unshown: defaultdict[Pair, list[int]] = defaultdict(list)
    for before, after in changes.passages:
        if before:
            for pair in pairs_of(before) - (pairs_of(after) if after else set()):
                unshown[pair].append(t_of(before))
    statements = [(t_of(update), s.position) for update in gone for s in update.statements]
    for before, after in cut:
        left = {s.position: s for s in after.statements}
        statements += [
            (t_of(before), s.position) for s in before.statements if s.position not in left
        ]
        lost.append((before, tuple(_without(s, left.get(s.position)) for s in before.statements)))
    stems, concepts = values.postings_of(lost)
    # A session of 0 statements that lost none was never there.
    sessions = changes.sessions if gone or cut else {}
    return {
        "evidence": [
            [values.element_key(key), at]
            for key, shown in changes.element_evidence.items()
            for at, evidence in shown.items()
            if evidence is None
        ],
        "elements": [
            values.element_key(key) for key, row in changes.elements.items() if row is None
        ],
        "stem_postings": _posting_rows(stems),
        "concept_postings": _posting_rows(concepts),
        "statements": [statement_key(*place) for place in statements],
        "passages": [update.t_index for update in gone if update.text is not None],
        "cuts": [_cut(before, after) for before, after in cut],
        "relations": [[values.key_of(a), values.key_of(b), ts] for (a, b), ts in unshown.items()],
        "concepts": [values.key_of(name) for name, row in changes.concepts.items() if row is None],
        "stems": [
            values.key_of(stem) for stem, documents in changes.terms.items() if not documents
        ],
        "sessions": [values.key_of(key) for key, row in sessions.items() if not row.statements],
        "predicates": [
            values.key_of(name) for name, number in changes.predicates.items() if not number
        ],
    }


def _without(before: ExtractedStatement, after: ExtractedStatement | None) -> ExtractedStatement:
    """A statement with those of its terms and concepts alone that it loses."""
    if after is None:
        return before
    lost = tuple(mention for mention in before.concepts if mention not in after.concepts)
    return replace(before, terms=(), concepts=lost)


def _posting_rows(postings: Mapping[str, Mapping[int, int]]) -> list[list[Any]]:
    """The keys of the statements whose postings go from each list."""
    return [[values.key_of(name), list(held)] for name, held in postings.items()]


def _cut(before: PreparedUpdate, after: PreparedUpdate) -> dict[str, Any]:
    """A row for the query that changes passages."""
    vectors = {vector.position: vector for vector in after.vectors}
    new = {vector.position for vector in after.vectors if vector not in before.vectors}
    return {
        "t": t_of(after),
        "properties": values.update_out(after, stored_session_key(after)),
        "statements": [
            {
                "key": statement_key(t_of(after), s.position),
                "properties": values.statement_out(after, s, vectors.get(s.position)),
                "concepts": values.keys_of({mention.name for mention in s.concepts}),
                "references": values.keys_of(antecedents_in(s)),
            }
            for s in after.statements
            if s.position in new or s not in before.statements
        ],
    }
