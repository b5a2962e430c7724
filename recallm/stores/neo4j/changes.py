"""``Changes`` of the shared write semantics as the rows that the write queries take."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, LiteralString, Protocol

from recallm.entity_words import codes_of, name_words
from recallm.model import (
    ElementKey,
    ExtractedStatement,
    PreparedUpdate,
    statement_key,
    t_index_of,
)
from recallm.stores.cypher import changes as cypher
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


def write_changes(write: _Write, name: str, namespace: int, changes: Changes) -> None:
    """Write all changes into the rows ``namespace`` of the namespace ``name``, with one query where
    nothing goes."""
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
    added = _Added(changes, new)
    written = [*((update, update.statements) for update in new), *rewritten]
    write(
        cypher.ADD,
        t=changes.namespace.t,
        name=name,
        totals=_namespace(changes.namespace),
        sessions=added.sessions(),
        concepts=added.concepts(),
        stems=added.stems(),
        predicates=_predicates(changes),
        updates=_columns_of(cypher.UPDATE_COLUMNS, added.updates),
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
        write(cypher.SUMMARIES, summaries=[summary_out(it) for it in changes.summaries])


Columns = dict[str, list[Any]]
"""Rows by column; a column of nulls alone is left out."""


def _columns(columns: Mapping[str, list[Any]]) -> Columns:
    return {name: it for name, it in columns.items() if not it or it.count(None) < len(it)}


def _columns_of(names: Iterable[str], rows: Sequence[Mapping[str, Any]]) -> Columns:
    return _columns({name: [row.get(name) for row in rows] for name in names})


def _named(names: Collection[str]) -> Columns:
    """The columns of keys, and of names where these differ from their keys."""
    keys = [key_of(name) for name in names]
    differing = [None if name == key else name for name, key in zip(names, keys, strict=True)]
    return _columns({"key": keys, "name": differing})


class _Added:
    """The parameters of ``ADD`` about new updates, and about the totals that a write changes."""

    def __init__(self, changes: Changes, new: Sequence[PreparedUpdate]) -> None:
        self._changes = changes
        self._new = new
        self._concepts = {name: row for name, row in changes.concepts.items() if row is not None}
        self._sessions = {key: row for key, row in changes.sessions.items() if row.statements}
        self._places = {name: place for place, name in enumerate(self._concepts)}
        """The place of each concept."""
        self.updates = [update_out(0, it, stored_session_key(it)) for it in new]
        """The properties of each update."""
        self._said = [(at, it) for at, update in enumerate(new) for it in update.statements]
        stems, concepts = _postings((update, update.statements) for update in new)
        self._stem_postings, self._concept_postings = stems, concepts
        keys = (statement_key(t_of(new[at]), it.position) for at, it in self._said)
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
        counts = [None if set(it.values()) <= {1} else list(it.values()) for it in held]
        return {
            **_named(documents),
            "documents": list(documents.values()),
            "places": [[self._place_of[key] for key in keys] for keys in held],
            **_columns({"counts": counts}),
        }

    def statements(self) -> Columns:
        places: dict[str | None, int] = {key: at for at, key in enumerate(self._sessions, 1)}
        sessions = [places.get(row.get("session_key"), 0) for row in self.updates]
        properties = [
            statement_out(self.updates[place], self._new[place].text or "", statement)
            for place, statement in self._said
        ]
        return {
            **_columns_of(cypher.STATEMENT_COLUMNS, properties),
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


def _predicates(changes: Changes) -> Columns:
    triplets = {name: number for name, number in changes.predicates.items() if number}
    return {
        "key": [key_of(name) for name in triplets],
        "name": list(triplets),
        "triplets": list(triplets.values()),
    }


def _delete_totals(write: _Write, changes: Changes, *, may_empty_sessions: bool) -> None:
    """Delete the totals that became 0. A session of 0 statements that lost none was never there."""
    sessions = changes.sessions if may_empty_sessions else {}
    gone = {
        "concepts": [key_of(name) for name, row in changes.concepts.items() if row is None],
        "stems": [key_of(stem) for stem, documents in changes.terms.items() if not documents],
        "sessions": [key_of(it) for it, row in sessions.items() if not row.statements],
        "predicates": [key_of(it) for it, triplets in changes.predicates.items() if not triplets],
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
    stems, concepts = _postings(rewritten)
    sessions = {t_of(update): stored_session_key(update) for update, _ in rewritten}

    def located(keys: Iterable[int]) -> list[str | None]:
        names = [sessions[t_index_of(key)] for key in keys]
        return [None if it is None else key_of(it) for it in names]

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
        stem_postings=[
            {
                "key": key_of(stem),
                "keys": list(held),
                "counts": list(held.values()),
                "sessions": located(held),
            }
            for stem, held in stems.items()
        ],
        concept_postings=[
            {"key": key_of(name), "keys": list(held), "counts": [], "sessions": located(held)}
            for name, held in concepts.items()
        ],
    )


def _changed(before: PreparedUpdate, after: PreparedUpdate) -> tuple[ExtractedStatement, ...]:
    """The statements that a cut changed in more than their spans."""
    stored = {s.position: (s.concepts, s.terms, s.text) for s in before.statements}
    return tuple(s for s in after.statements if stored[s.position] != (s.concepts, s.terms, s.text))


def _postings(
    said: Iterable[tuple[PreparedUpdate, Iterable[ExtractedStatement]]],
) -> tuple[defaultdict[str, dict[int, int]], defaultdict[str, dict[int, int]]]:
    """For each stem, and for each concept, the keys of the statements that hold or mention it,
    ascending, with how often."""
    stems: defaultdict[str, dict[int, int]] = defaultdict(dict)
    concepts: defaultdict[str, dict[int, int]] = defaultdict(dict)
    for update, statements in sorted(said, key=lambda it: t_of(it[0])):
        for statement in sorted(statements, key=lambda it: it.position):
            key = statement_key(t_of(update), statement.position)
            for stem, count in Counter(statement.terms).items():
                stems[stem][key] = count
            for mention in statement.concepts:
                concepts[mention.name][key] = 1
    return stems, concepts


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
    stems, concepts = _postings(lost)
    write(
        cypher.DELETE_STATEMENTS,
        keys=keys,
        stem_postings=[{"key": key_of(it), "keys": list(held)} for it, held in stems.items()],
        concept_postings=[{"key": key_of(it), "keys": list(held)} for it, held in concepts.items()],
    )
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
