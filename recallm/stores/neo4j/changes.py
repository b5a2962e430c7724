"""``Changes`` of the shared write semantics as the rows and columns that the write queries take."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
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
    added = Added(changes, new)
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
        write(cypher.CUT_PASSAGES, passages=[_cut_passage(*passage) for passage in cut])


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


def _cut_passage(before: PreparedUpdate, after: PreparedUpdate) -> dict[str, Any]:
    """A row for the query that cuts passages."""
    node, text = update_out(after, None), after.text or ""
    stored = {s.position: (s.concepts, s.terms, s.text) for s in before.statements}
    vectors = {vector.position: vector for vector in after.vectors}
    statements: list[dict[str, Any]] = []
    for s in after.statements:
        properties = statement_out(node, text, s, vectors.get(s.position))
        row = {"key": properties["key"], "properties": {"start": s.start, "end": s.end}}
        if stored[s.position] != (s.concepts, s.terms, s.text):
            row["properties"] = {name: properties[name] for name in cypher.STATEMENT_COLUMNS}
            row["concepts"] = keys_of({mention.name for mention in s.concepts})
            row["references"] = keys_of(antecedents_in(s))
        statements.append(row)
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


# -- columns of ``ADD`` -------------------------------------------------------------------------


Columns = dict[str, list[Any]]
"""Rows by column; a column of nulls alone is left out."""


def _columns(columns: Mapping[str, list[Any]]) -> Columns:
    return {
        name: column
        for name, column in columns.items()
        if not column or column.count(None) < len(column)
    }


def columns_of(names: Iterable[str], rows: Sequence[Mapping[str, Any]]) -> Columns:
    """The columns with these names."""
    return _columns({name: [row.get(name) for row in rows] for name in names})


def _named(names: Collection[str]) -> Columns:
    """The columns of keys, and of names where these differ from their keys."""
    keys = [key_of(name) for name in names]
    differing = [None if name == key else name for name, key in zip(names, keys, strict=True)]
    return _columns({"key": keys, "name": differing})


class Added:
    """The parameters of ``ADD`` about new updates, and about the totals that a write changes."""

    def __init__(self, changes: Changes, new: Sequence[PreparedUpdate]) -> None:
        self._changes = changes
        self._new = new
        self._concepts = {name: row for name, row in changes.concepts.items() if row is not None}
        self._sessions = {key: row for key, row in changes.sessions.items() if row.statements}
        self._places = {name: place for place, name in enumerate(self._concepts)}
        """The place of each concept."""
        self.updates = [update_out(update, stored_session_key(update)) for update in new]
        """The properties of each update."""
        self._said = [
            (at, statement) for at, update in enumerate(new) for statement in update.statements
        ]
        stems, concepts = postings_of((update, update.statements) for update in new)
        self._stem_postings, self._concept_postings = stems, concepts
        keys = (statement_key(t_of(new[at]), statement.position) for at, statement in self._said)
        self._place_of = {key: place for place, key in enumerate(keys)}

    def sessions(self) -> Columns:
        first: dict[str | None, int] = {}
        for update in self._new:
            first.setdefault(stored_session_key(update), t_of(update))
        return {
            "key": [key_of(key) for key in self._sessions],
            "name": list(self._sessions),
            "number": [first.get(key, 0) for key in self._sessions],
            "statements": [row.statements for row in self._sessions.values()],
            "terms": [row.terms for row in self._sessions.values()],
        }

    def concepts(self) -> Columns:
        rows = self._concepts.values()
        return {
            **_named(self._concepts),
            "label": [row.label for row in rows],
            "kind": [row.kind for row in rows],
            "t_index": [row.t_index for row in rows],
            "updates": [row.updates for row in rows],
            "statements": [row.statements for row in rows],
            "places": [
                [self._place_of[key] for key in self._concept_postings.get(name, ())]
                for name in self._concepts
            ],
        }

    def stems(self) -> Columns:
        documents = {stem: number for stem, number in self._changes.terms.items() if number}
        held = [self._stem_postings.get(stem, {}) for stem in documents]
        counts = [
            None if set(numbers.values()) <= {1} else list(numbers.values()) for numbers in held
        ]
        return {
            **_named(documents),
            "documents": list(documents.values()),
            "places": [[self._place_of[key] for key in keys] for keys in held],
            **_columns({"counts": counts}),
        }

    def statements(self) -> Columns:
        places: dict[str | None, int] = {key: at for at, key in enumerate(self._sessions, 1)}
        sessions = [places.get(row.get("session_key"), 0) for row in self.updates]
        vectors = [{v.position: v for v in update.vectors} for update in self._new]
        properties = [
            statement_out(
                self.updates[place],
                self._new[place].text or "",
                statement,
                vectors[place].get(statement.position),
            )
            for place, statement in self._said
        ]
        return {
            **columns_of(cypher.STATEMENT_COLUMNS, properties),
            "update": [place for place, _ in self._said],
            "session": [sessions[place] for place, _ in self._said],
            "concepts": [
                [self._places[mention.name] for mention in statement.concepts]
                for _, statement in self._said
            ],
        }

    def relations(self) -> Columns:
        shown: defaultdict[Pair, list[int]] = defaultdict(list)
        for update in self._new:
            for pair in pairs_of(update):
                shown[pair].append(t_of(update))
        rows = [
            (pair, totals, ts)
            for pair, ts in shown.items()
            if (totals := self._changes.relations[pair]) is not None
        ]
        return {
            "a": [self._places[a] for (a, _), _, _ in rows],
            "b": [self._places[b] for (_, b), _, _ in rows],
            "strength": [totals.strength for _, totals, _ in rows],
            "t_index": [totals.t_index for _, totals, _ in rows],
            "ts": [ts for _, _, ts in rows],
        }


def predicates_of(changes: Changes) -> Columns:
    """The predicates that some triplets have."""
    triplets = {name: number for name, number in changes.predicates.items() if number}
    return {
        "key": [key_of(name) for name in triplets],
        "name": list(triplets),
        "triplets": list(triplets.values()),
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
