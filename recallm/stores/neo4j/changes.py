"""``Changes`` of the shared write semantics as the rows and columns that the write queries take."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from recallm.ground.entity_words import codes_of, name_words
from recallm.model import ElementKey, ExtractedStatement, PreparedUpdate, statement_key
from recallm.stores.cypher import changes as cypher
from recallm.stores.neo4j.stored import Ask
from recallm.stores.neo4j.values import (
    CONCEPT_WORDS,
    element_key,
    json_out,
    key_of,
    keys_of,
    statement_out,
    summary_out,
    update_out,
)
from recallm.stores.semantics.cutting import antecedents_in
from recallm.stores.semantics.rows import (
    Changes,
    ElementRow,
    Evidence,
    NamespaceTotals,
    Pair,
    description_of,
    stored_session_key,
    t_of,
)
from recallm.stores.semantics.writing import pairs_of


def write_changes(write: Ask, changes: Changes) -> None:
    """Write all changes, with one query where nothing goes."""
    # A graph-only update that brings nothing is not stored.
    new = [
        after
        for before, after in changes.passages
        if before is None and after is not None
        if after.text is not None or after.elements
    ]
    cut = [(before, after) for before, after in changes.passages if before and after]
    gone = [before for before, after in changes.passages if before and after is None]
    _delete_elements(write, changes)
    if gone or cut:
        _forget(write, gone, cut)
    _delete_relations(write, changes)
    _delete_totals(write, changes, may_empty_sessions=bool(gone or cut))
    write(
        cypher.ADD,
        t=changes.namespace.t,
        totals=_namespace(changes.namespace),
        references=[
            [statement_key(t_of(update), said.position), key_of(id)]
            for update in new
            for said in update.statements
            for id in antecedents_in(said)
        ],
        vectors=[
            {"key": key, "model": model, "blob": blob}
            for key, (model, blob) in changes.vectors.items()
        ],
        **_added(changes, new),
        **_elements(changes),
    )
    if changes.summaries:
        write(cypher.SUMMARIES, summaries=[summary_out(summary) for summary in changes.summaries])


def _delete_totals(write: Ask, changes: Changes, *, may_empty_sessions: bool) -> None:
    """Delete the totals that became 0. A session of 0 statements that lost none was never there."""
    sessions = changes.sessions if may_empty_sessions else {}
    gone = {
        "concepts": [key_of(name) for name, row in changes.concepts.items() if row is None],
        "stems": [key_of(stem) for stem, documents in changes.terms.items() if not documents],
        "sessions": [key_of(key) for key, row in sessions.items() if not row.statements],
        "predicates": [
            key_of(predicate) for predicate, triplets in changes.predicates.items() if not triplets
        ],
    }
    if any(gone.values()):
        write(cypher.DELETE_TOTALS, **gone)


def _namespace(totals: NamespaceTotals) -> dict[str, Any]:
    return {
        "t": totals.t,
        "statements": totals.statements,
        "terms": totals.terms,
        "sessions": totals.sessions,
        "open_t": totals.open_session.t_index if totals.open_session else 0,
        "model": totals.model,
        "origin": totals.origin,
        "revision": totals.revision,
        "vocabulary": totals.vocabulary,
        "vector_bytes": json_out(totals.vector_sizes),
    }


# -- passages ----------------------------------------------------------------------------------


def _forget(
    write: Ask,
    gone: list[PreparedUpdate],
    cut: list[tuple[PreparedUpdate, PreparedUpdate]],
) -> None:
    """Delete passages, and what other passages lose: statements, or mentions in statements."""
    lost = [(update, update.statements) for update in gone]
    keys = [statement_key(t_of(update), s.position) for update in gone for s in update.statements]
    for before, after in cut:
        left = {s.position: s for s in after.statements}
        keys += [
            statement_key(t_of(before), s.position)
            for s in before.statements
            if s.position not in left
        ]
        said = tuple(_without(s, left.get(s.position)) for s in before.statements)
        lost.append((before, said))
    stems, concepts = postings_of(lost)
    write(
        cypher.DELETE_STATEMENTS,
        keys=keys,
        stem_postings=_posting_rows(stems),
        concept_postings=_posting_rows(concepts),
    )
    if gone:
        write(
            cypher.DELETE_PASSAGES,
            ts=[update.t_index for update in gone if update.text is not None],
        )
    if cut:
        write(cypher.CUT_PASSAGES, passages=[_cut_passage(after) for _, after in cut])


def _without(before: ExtractedStatement, after: ExtractedStatement | None) -> ExtractedStatement:
    """A statement with those of its terms and concepts alone that it loses."""
    if after is None:
        return before
    names = {mention.name for mention in after.concepts}
    return replace(
        before,
        terms=tuple(term for term in before.terms if term not in after.terms),
        concepts=tuple(mention for mention in before.concepts if mention.name not in names),
    )


def _posting_rows(postings: Mapping[str, Mapping[int, int]]) -> list[dict[str, Any]]:
    """Rows for the query that deletes postings."""
    return [{"key": key_of(name), "keys": list(held)} for name, held in postings.items()]


def _cut_passage(after: PreparedUpdate) -> dict[str, Any]:
    """A row for the query that cuts passages: what is left of an update."""
    node, text = update_out(after, None), after.text or ""
    vectors = {vector.position: vector for vector in after.vectors}
    statements = [
        {
            "properties": statement_out(t_of(after), text, s, vectors.get(s.position)),
            "concepts": keys_of({mention.name for mention in s.concepts}),
            "references": keys_of(antecedents_in(s)),
        }
        for s in after.statements
    ]
    columns = ("t", "text", "neighbours", "metadata", "metadata_entries")
    return {"statements": statements, **{name: node[name] for name in columns}}


# -- relations ---------------------------------------------------------------------------------


def _delete_relations(write: Ask, changes: Changes) -> None:
    """The evidence that forgetting takes, and the relations without any."""
    lost = [
        {
            "a": key_of(a),
            "b": key_of(b),
            "ts": [t for t, strength in shown.items() if strength is None],
            "strength": 0 if totals is None else totals.strength,
            "t_index": 0 if totals is None else totals.t_index,
        }
        for (a, b), shown in changes.relation_evidence.items()
        if None in shown.values()
        for totals in [changes.relations[a, b]]
    ]
    if lost:
        write(cypher.DELETE_RELATIONS, relations=lost)


# -- entities and triplets ---------------------------------------------------------------------


def _elements(changes: Changes) -> dict[str, Any]:
    """The parameters of ``ADD`` about the entities and triplets that stay, with their new evidence,
    and about the vectors of entities."""
    return {
        "elements": [
            _element(key, row, changes.element_evidence.get(key, {}))
            for key, row in changes.elements.items()
            if row is not None
        ],
        "entity_vectors": [
            {
                "entity": key_of(id),
                "model": model,
                "model_key": key_of(model),
                "blob": blob,
                "words": keys_of(codes_of(model, blob)),
            }
            for (id, model), blob in changes.entity_vectors.items()
        ],
    }


def _element(
    key: ElementKey, row: ElementRow, evidence: Mapping[int, Evidence | None]
) -> dict[str, Any]:
    """A row for the query that writes entities and triplets."""
    properties: dict[str, Any] = {
        "type": row.type,
        "concept": row.concept.name,
        "label": row.concept.label,
        "kind": row.concept.kind,
        "properties": json_out(row.properties),
        "latest": row.latest,
    }
    if isinstance(key, str):
        properties["id"] = key
    else:
        subject, predicate, object = map(key_of, key)
        ends = {"subject": subject, "predicate": predicate, "object": object}
        properties |= {"name": key[1], **ends}
    return {
        "key": element_key(key),
        "stands_on": key_of(row.concept.name) if row.concept.name else None,
        "subject": properties.get("subject"),
        "object": properties.get("object"),
        "model_key": CONCEPT_WORDS,
        "words": keys_of(name_words(row.concept.name)),
        "properties": properties,
        "shown": [
            [
                at,
                json_out(shown.properties) if shown.properties else None,
                description_of(shown) or None,
            ]
            for at, shown in evidence.items()
            if shown is not None
        ],
    }


def _delete_elements(write: Ask, changes: Changes) -> None:
    """The entities, triplets and evidence that go."""
    lost = [
        [element_key(key), at]
        for key, shown in changes.element_evidence.items()
        for at, evidence in shown.items()
        if evidence is None
    ]
    if lost:
        write(cypher.DELETE_EVIDENCE, evidence=lost)
    gone = [element_key(key) for key, row in changes.elements.items() if row is None]
    if gone:
        write(cypher.DELETE_ELEMENTS, elements=gone)


# -- what is added -----------------------------------------------------------------------------


def _added(changes: Changes, new: Sequence[PreparedUpdate]) -> dict[str, Any]:
    """The parameters of ``ADD`` about new updates, and about the totals that a write changes."""
    concepts = {name: row for name, row in changes.concepts.items() if row is not None}
    sessions = {key: row for key, row in changes.sessions.items() if row.statements}
    places = {name: place for place, name in enumerate(concepts)}
    place_of_session: dict[str | None, int] = {key: at for at, key in enumerate(sessions, 1)}
    updates = [update_out(update, stored_session_key(update)) for update in new]
    first: dict[str | None, int] = {}
    statements: list[dict[str, Any]] = []
    session_at: dict[int, int] = {}
    shown: defaultdict[Pair, list[int]] = defaultdict(list)
    for place, (update, node) in enumerate(zip(new, updates, strict=True)):
        session_key = node.get("session_key")
        first.setdefault(session_key, t_of(update))
        vectors = {vector.position: vector for vector in update.vectors}
        for said in update.statements:
            own = statement_out(t_of(update), update.text or "", said, vectors.get(said.position))
            mentioned = [places[mention.name] for mention in said.concepts]
            statements.append({"update": place, "concepts": mentioned, "properties": own})
            session_at[own["key"]] = place_of_session.get(session_key, 0)
        for pair in pairs_of(update):
            shown[pair].append(t_of(update))
    of_stems, of_concepts = postings_of((update, update.statements) for update in new)

    def row(name: str, totals: dict[str, Any], postings: Mapping[int, int]) -> dict[str, Any]:
        return {
            "key": key_of(name),
            "name": name,
            "totals": totals,
            "keys": list(postings),
            "counts": list(postings.values()),
            "sessions": [session_at[key] for key in postings],
        }

    return {
        "sessions": [
            {"key": key_of(key), "name": key, "number": first.get(key, 0), "totals": asdict(totals)}
            for key, totals in sessions.items()
        ],
        "concepts": [
            row(name, asdict(totals), of_concepts[name]) for name, totals in concepts.items()
        ],
        "stems": [
            row(stem, {"documents": documents}, of_stems[stem])
            for stem, documents in changes.terms.items()
            if documents
        ],
        "predicates": [
            {"key": key_of(name), "name": name, "triplets": triplets}
            for name, triplets in changes.predicates.items()
            if triplets
        ],
        "updates": updates,
        "statements": statements,
        "relations": [
            {"a": places[a], "b": places[b], "ts": ts, "totals": asdict(totals)}
            for (a, b), ts in shown.items()
            if (totals := changes.relations[a, b]) is not None
        ],
    }


def postings_of(
    said: Iterable[tuple[PreparedUpdate, Iterable[ExtractedStatement]]],
) -> tuple[defaultdict[str, dict[int, int]], defaultdict[str, dict[int, int]]]:
    """For each stem, and for each concept, the keys of the statements that hold or mention it,
    ascending, with how often."""
    stems: defaultdict[str, dict[int, int]] = defaultdict(dict)
    concepts: defaultdict[str, dict[int, int]] = defaultdict(dict)
    for update, statements in sorted(said, key=lambda one: t_of(one[0])):
        for statement in sorted(statements, key=lambda statement: statement.position):
            key = statement_key(t_of(update), statement.position)
            for stem, count in Counter(statement.terms).items():
                stems[stem][key] = count
            for mention in statement.concepts:
                concepts[mention.name][key] = 1
    return stems, concepts
