"""The parameters of ``ADD``: new updates, and the totals that a write changes, as columns."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from recallm.model import ExtractedStatement, PreparedUpdate, statement_key
from recallm.stores.cypher import changes as cypher
from recallm.stores.neo4j.values import key_of, statement_out, update_out
from recallm.stores.semantics.rows import Changes, Pair, t_of
from recallm.stores.semantics.sessions import stored_session_key
from recallm.stores.semantics.writing import pairs_of

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
        self.updates = [update_out(0, update, stored_session_key(update)) for update in new]
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
