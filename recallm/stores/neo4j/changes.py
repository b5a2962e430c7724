"""``Changes`` of the shared write semantics as the rows that the write queries take."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, LiteralString, Protocol

from recallm.entity_words import codes_of, name_words
from recallm.model import ElementKey, ExtractedStatement, PreparedUpdate, statement_key
from recallm.stores.cypher import changes as cypher
from recallm.stores.neo4j.values import (
    CONCEPT_WORDS,
    element_key,
    json_out,
    key_of,
    keys_of,
    neighbours_out,
    statement_out,
    summary_out,
    update_out,
)
from recallm.stores.neo4j.vector_index import float_row
from recallm.stores.semantics.rows import (
    Changes,
    ElementRow,
    NamespaceTotals,
    Pair,
    Properties,
    t_of,
)
from recallm.stores.semantics.sessions import stored_session_key
from recallm.stores.semantics.writing import pairs_of

__all__ = ["write_changes"]


class _Write(Protocol):
    """Runs a query in the namespace."""

    def __call__(self, query: LiteralString, **parameters: Any) -> object: ...


def write_changes(
    write: _Write, name: str, namespace: int, changes: Changes, *, indexed: bool | None
) -> None:
    """Write all changes into the rows ``namespace`` of the namespace ``name``; each query with
    nothing to do is left out. ``indexed``: that of ``recallm.stores.neo4j.vector_index``."""
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
    _write_totals(write, name, changes, indexed)
    written = [(update, update.statements) for update in new]
    if new:
        rows = [_update(namespace, it) for it in new]
        write(cypher.UPDATES, updates=rows, **_postings(written))
        _write_relations(write, changes, new)
    rewritten = [(after, said) for before, after in cut if (said := _changed(before, after))]
    if rewritten:
        rows = [
            row
            for it, said in rewritten
            for row in _statements(update_out(namespace, it, stored_session_key(it)), it, said)
        ]
        write(cypher.STATEMENTS, statements=rows, **_postings(rewritten))
        written += rewritten
    _delete_relations(write, changes)
    if references := [[key, key_of(id)] for key, id in _references(written)]:
        write(cypher.REFERENCES, references=references)
    vectors = [
        {
            "properties": {"namespace": namespace, "key": key, "model": model, "blob": blob},
            **_floats(model, blob, indexed),
        }
        for key, (model, blob) in [*_vectors_of(written), *changes.vectors.items()]
    ]
    if vectors:
        write(cypher.VECTORS, vectors=vectors)
    _write_elements(write, changes, indexed)
    if changes.summaries:
        write(cypher.SUMMARIES, summaries=[summary_out(it) for it in changes.summaries])


def _write_totals(write: _Write, name: str, changes: Changes, indexed: bool | None) -> None:
    write(
        cypher.TOTALS,
        t=changes.namespace.t,
        name=name,
        totals={**_namespace(changes.namespace), "indexed": indexed},
        concepts=[
            {
                "key": key_of(name),
                "name": name,
                "label": row.label,
                "kind": row.kind,
                "t_index": row.t_index,
                "updates": row.updates,
                "statements": row.statements,
            }
            for name, row in changes.concepts.items()
            if row is not None
        ],
        untouched=[key_of(name) for name, row in changes.concepts.items() if row is None],
        terms=[
            {"key": key_of(stem), "name": stem, "documents": documents}
            for stem, documents in changes.terms.items()
            if documents
        ],
        unused=[key_of(stem) for stem, documents in changes.terms.items() if not documents],
        sessions=[
            {"key": key_of(key), "name": key, "statements": row.statements, "terms": row.terms}
            for key, row in changes.sessions.items()
            if row.statements
        ],
        predicates=[
            {"key": key_of(predicate), "name": predicate, "triplets": triplets}
            for predicate, triplets in changes.predicates.items()
            if triplets
        ],
        unused_predicates=[
            key_of(it) for it, triplets in changes.predicates.items() if not triplets
        ],
        empty=[key_of(key) for key, row in changes.sessions.items() if not row.statements],
    )


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


def _update(namespace: int, update: PreparedUpdate) -> dict[str, Any]:
    """A row for the query that writes updates."""
    properties = update_out(namespace, update, stored_session_key(update))
    return {
        "properties": properties,
        "paths": properties.get("paths") or [],
        "statements": _statements(properties, update, update.statements),
    }


def _statements(
    properties: Mapping[str, Any], update: PreparedUpdate, said: Iterable[ExtractedStatement]
) -> list[dict[str, Any]]:
    """Rows for the queries that write statements; ``properties`` are those of the update's node."""
    return [
        {
            "t": update.t_index,
            "properties": statement_out(properties, update.text or "", statement),
            "concepts": keys_of({mention.name for mention in statement.concepts}),
        }
        for statement in said
    ]


def _changed(before: PreparedUpdate, after: PreparedUpdate) -> tuple[ExtractedStatement, ...]:
    """The statements that a cut changed in more than their spans."""
    stored = {s.position: (s.concepts, s.terms, s.text) for s in before.statements}
    return tuple(s for s in after.statements if stored[s.position] != (s.concepts, s.terms, s.text))


def _postings(said: _Said) -> dict[str, list[dict[str, Any]]]:
    """Rows for the queries that write posting lists: one for each stem and each concept, with the
    keys of the statements that hold the stem or mention the concept, ascending."""
    stems: defaultdict[str, dict[int, int]] = defaultdict(dict)
    concepts: defaultdict[str, dict[int, int]] = defaultdict(dict)
    for update, statements in said:
        for statement in statements:
            key = statement_key(update.t_index or 0, statement.position)
            for stem, count in Counter(statement.terms).items():
                stems[stem][key] = count
            for mention in statement.concepts:
                concepts[mention.name][key] = 1
    return {
        "stem_postings": [
            {"key": key_of(stem), "keys": sorted(held), "counts": [held[it] for it in sorted(held)]}
            for stem, held in stems.items()
        ],
        "concept_postings": [
            {"key": key_of(name), "keys": sorted(held), "counts": []}
            for name, held in concepts.items()
        ],
    }


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
    keys = [statement_key(it.t_index or 0, s.position) for it, said in lost for s in said]
    write(cypher.DELETE_STATEMENTS, keys=keys, **_postings(lost))
    if gone:
        write(cypher.DELETE_PASSAGES, ts=[it.t_index for it in gone if it.text is not None])
    if cut:
        write(cypher.CUT_PASSAGES, passages=[_cut_passage(after) for _, after in cut])


def _cut_passage(update: PreparedUpdate) -> dict[str, Any]:
    text, t_index = update.text or "", update.t_index or 0
    return {
        "t": t_index,
        "text": text,
        "spans": [[statement_key(t_index, s.position), s.start, s.end] for s in update.statements],
        "neighbours": neighbours_out(update),
    }


# -- relations ---------------------------------------------------------------------------------


def _write_relations(write: _Write, changes: Changes, new: list[PreparedUpdate]) -> None:
    """The relations that new passages show, with their evidence."""
    shown: defaultdict[Pair, list[int]] = defaultdict(list)
    for update in new:
        for pair in pairs_of(update):
            shown[pair].append(t_of(update))
    relations = [
        {
            "a": key_of(pair[0]),
            "b": key_of(pair[1]),
            "strength": totals.strength,
            "t_index": totals.t_index,
            "ts": shown[pair],
        }
        for pair, totals in changes.relations.items()
        if totals is not None and pair in shown
    ]
    if relations:
        write(cypher.RELATIONS, relations=relations)


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


def _write_elements(write: _Write, changes: Changes, indexed: bool | None) -> None:
    """The entities and triplets that stay, with their new evidence, and the vectors of entities."""
    elements = [
        _element(key, row, changes.element_evidence.get(key, {}))
        for key, row in changes.elements.items()
        if row is not None
    ]
    if elements:
        write(cypher.ELEMENTS, elements=elements)
    if changes.entity_vectors:
        vectors = [
            {
                "entity": key_of(id),
                "model": model,
                "model_key": key_of(model),
                "blob": blob,
                "words": keys_of(codes_of(model, blob)),
                **_floats(model, blob, indexed),
            }
            for (id, model), blob in changes.entity_vectors.items()
        ]
        write(cypher.ENTITY_VECTORS, entity_vectors=vectors)


def _floats(model: str, blob: bytes, indexed: bool | None) -> dict[str, Any]:
    return {} if indexed is None else float_row(model, blob)


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
