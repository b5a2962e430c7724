"""``Changes`` of the shared write semantics as the rows that the write queries take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, LiteralString, Protocol

from recallm.ground.entity_words import codes_of, name_words
from recallm.model import (
    ElementKey,
    ExtractedStatement,
    PreparedUpdate,
    statement_key,
    t_index_of,
)
from recallm.stores.cypher import changes as cypher
from recallm.stores.neo4j.adding import Added, columns_of, postings_of, predicates_of
from recallm.stores.neo4j.values import (
    CONCEPT_WORDS,
    element_key,
    json_out,
    key_of,
    keys_of,
    metadata_entries,
    neighbours_out,
    statement_out,
    summary_out,
    update_out,
)
from recallm.stores.semantics.rows import (
    Changes,
    ElementRow,
    NamespaceTotals,
    Properties,
    t_of,
)
from recallm.stores.semantics.sessions import stored_session_key


class _Write(Protocol):
    """Runs a query in the namespace."""

    def __call__(self, query: LiteralString, **parameters: Any) -> object: ...


def write_changes(write: _Write, namespace: int, changes: Changes) -> None:
    """Write all changes into the rows ``namespace``, with one query where nothing goes."""
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
    rewritten = [(after, said) for before, after in cut if (said := _changed(before, after))]
    if rewritten:
        _rewrite(write, namespace, rewritten)
    _delete_relations(write, changes)
    _delete_totals(write, changes, may_empty_sessions=bool(gone or cut))
    added = Added(changes, new)
    written = [*((update, update.statements) for update in new), *rewritten]
    write(
        cypher.ADD,
        t=changes.namespace.t,
        totals=_namespace(changes.namespace),
        sessions=added.sessions(),
        concepts=added.concepts(),
        stems=added.stems(),
        predicates=predicates_of(changes),
        updates=columns_of(cypher.UPDATE_COLUMNS, added.updates),
        statements=added.statements(),
        relations=added.relations(),
        references=[[key, key_of(id)] for key, id in _references(written)],
        vectors=[
            {"key": key, "model": model, "blob": blob}
            for key, (model, blob) in [*_vectors_of(written), *changes.vectors.items()]
        ],
        **_elements(changes),
    )
    if changes.summaries:
        write(cypher.SUMMARIES, summaries=[summary_out(summary) for summary in changes.summaries])


def _delete_totals(write: _Write, changes: Changes, *, may_empty_sessions: bool) -> None:
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


_Said = Sequence[tuple[PreparedUpdate, Sequence[ExtractedStatement]]]
"""Updates, each with some of its statements."""


def _rewrite(write: _Write, namespace: int, rewritten: _Said) -> None:
    """Write statements of stored passages."""
    stems, concepts = postings_of(rewritten)
    sessions = {t_of(update): stored_session_key(update) for update, _ in rewritten}
    write(
        cypher.STATEMENTS,
        statements=[
            {
                "t": update.t_index,
                "properties": statement_out(properties, update.text or "", statement),
                "concepts": keys_of({mention.name for mention in statement.concepts}),
            }
            for update, said in rewritten
            for properties in [update_out(namespace, update, stored_session_key(update))]
            for statement in said
        ],
        stem_postings=_posting_rows(stems, sessions),
        concept_postings=_posting_rows(concepts, sessions),
    )


def _changed(before: PreparedUpdate, after: PreparedUpdate) -> tuple[ExtractedStatement, ...]:
    """The statements that a cut changed in more than their spans."""
    stored = {s.position: (s.concepts, s.terms, s.text) for s in before.statements}
    return tuple(s for s in after.statements if stored[s.position] != (s.concepts, s.terms, s.text))


def _posting_rows(
    postings: Mapping[str, Mapping[int, int]], sessions: Mapping[int, str | None] | None = None
) -> list[dict[str, Any]]:
    """Rows for the queries that insert and delete postings. ``sessions``: the session key of each
    update whose postings are inserted, by its t."""
    rows: list[dict[str, Any]] = []
    for name, held in postings.items():
        row: dict[str, Any] = {"key": key_of(name), "keys": list(held)}
        if sessions is not None:
            row["counts"] = list(held.values())
            session_keys = [sessions[t_index_of(key)] for key in held]
            row["sessions"] = [None if key is None else key_of(key) for key in session_keys]
        rows.append(row)
    return rows


def _references(written: _Said) -> set[tuple[int, str]]:
    """Keys of statements, with the ids of the other passages that their references name."""
    return {
        (statement_key(update.t_index or 0, statement.position), mention.reference.antecedent)
        for update, said in written
        for statement in said
        for mention in statement.concepts
        if mention.reference is not None and mention.reference.antecedent is not None
    }


def _vectors_of(written: _Said) -> list[tuple[int, tuple[str, bytes]]]:
    return [
        (statement_key(update.t_index or 0, vector.position), (vector.model, vector.blob))
        for update, said in written
        if update.vectors
        for positions in [{statement.position for statement in said}]
        for vector in update.vectors
        if vector.position in positions
    ]


def _forget(
    write: _Write,
    gone: list[PreparedUpdate],
    cut: list[tuple[PreparedUpdate, PreparedUpdate]],
) -> None:
    """Delete passages, and take statements out of passages that keep others: those that go, and
    those that are written anew."""
    lost = [(update, update.statements) for update in gone]
    for before, after in cut:
        kept = {s.position for s in after.statements}
        kept -= {s.position for s in _changed(before, after)}
        lost.append((before, tuple(s for s in before.statements if s.position not in kept)))
    keys = [statement_key(update.t_index or 0, s.position) for update, said in lost for s in said]
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


def _cut_passage(update: PreparedUpdate) -> dict[str, Any]:
    text, t_index = update.text or "", update.t_index or 0
    return {
        "t": t_index,
        "text": text,
        "spans": [[statement_key(t_index, s.position), s.start, s.end] for s in update.statements],
        "neighbours": neighbours_out(update),
        "metadata": json_out(update.metadata),
        "metadata_entries": metadata_entries(update.metadata) or None,
    }


# -- relations ---------------------------------------------------------------------------------


def _delete_relations(write: _Write, changes: Changes) -> None:
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
    key: ElementKey, row: ElementRow, evidence: Mapping[int, Properties | None]
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
            [at, json_out(shown) if shown else None]
            for at, shown in evidence.items()
            if shown is not None
        ],
    }


def _delete_elements(write: _Write, changes: Changes) -> None:
    """The entities, triplets and evidence that go."""
    evidence = [
        [element_key(key), at]
        for key, shown in changes.element_evidence.items()
        for at, properties in shown.items()
        if properties is None
    ]
    if evidence:
        write(cypher.DELETE_EVIDENCE, evidence=evidence)
    gone = [element_key(key) for key, row in changes.elements.items() if row is None]
    if gone:
        write(cypher.DELETE_ELEMENTS, elements=gone)
