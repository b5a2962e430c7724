"""The rows of the graph that a write puts and deletes, by their kinds (``cypher.changes``)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from recallm.ground.entity_words import codes_of, name_words
from recallm.model import PreparedUpdate, statement_key, t_index_of
from recallm.stores.cypher.changes import RELATIONSHIPS
from recallm.stores.cypher.schema import TOTALS
from recallm.stores.neo4j import values
from recallm.stores.semantics.rows import (
    Changes,
    NamespaceTotals,
    description_of,
    stored_session_key,
    t_of,
)
from recallm.stores.semantics.writing import antecedents_in, pairs_of

_Row: TypeAlias = tuple[tuple[Any, ...], tuple[Any, ...] | None]
"""A kind and a key, and what is put there; None: the row goes."""

_BLOCK: Final = 64
"""Postings that a block gets."""


class ChangedRows:
    """The rows of some changes.

    Args:
        changes: what a write changes.
        ends: of each list of postings that the transaction has looked up or written, the ``first``
            of the last block, and how many postings that block got.
        numbers: of each session that it has looked up or written.

    Attributes:
        put: rows to put, by kind: the key and what is put there.
        gone: keys of rows to delete, by kind.
    """

    def __init__(
        self, changes: Changes, ends: dict[str, tuple[int, int]], numbers: dict[str | None, int]
    ) -> None:
        self.put: defaultdict[str, list[Any]] = defaultdict(list)
        self.gone: defaultdict[str, list[Any]] = defaultdict(list)
        for before, after in changes.passages:
            rows = _rows_of_update(after)
            if before is not None:
                old, new = dict(_rows_of_update(before)), dict(rows)
                self._add((key, None) for key in old if key not in new)
                rows = ((key, row) for key, row in new.items() if old.get(key) != row)
            self._add(rows)
            if after and after.statements:
                numbers.setdefault(stored_session_key(after), t_of(after))
        relations: defaultdict[Any, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
        for kinds, place in ((self.gone, 0), (self.put, 1)):
            for *pair, t in kinds["relations"]:
                relations[tuple(pair)][place].append(t)
        self.put["relations"] = [(*pair, *ts) for pair, ts in relations.items()]
        self.gone["postings"] = _by_first(self.gone["postings"])
        self.put["postings"] = [
            block
            for name, postings in _by_first(self.put["postings"])
            for block in _blocks(name, sorted(postings), ends, numbers)
        ]
        self._add(_rows_of_totals(changes, ends, numbers))
        self._add(_rows_of_elements(changes))
        for kinds in (self.put, self.gone):
            kinds.update({kind: _by_first(kinds[kind]) for kind in RELATIONSHIPS})

    def _add(self, rows: Iterable[_Row]) -> None:
        for key, row in rows:
            if row is None:
                self.gone[key[0]].append(key[1:])
            else:
                self.put[key[0]].append(key[1:] + row)


def _by_first(rows: Iterable[tuple[Any, ...]]) -> list[tuple[Any, list[Any]]]:
    """Rows with the same first value in one: that value, and a list of the rest of each."""
    rest: defaultdict[Any, list[Any]] = defaultdict(list)
    for row in rows:
        rest[row[0]].append(row[1:])
    return [*rest.items()]


def _rows_of_update(update: PreparedUpdate | None) -> Iterator[_Row]:
    """The rows of a passage, or of a graph-only update that brings something."""
    if update is None or (update.text is None and not update.elements):
        return
    t, session = t_of(update), stored_session_key(update)
    node = values.update_out(update, session)
    yield ("updates", t), (node,)
    for path in node.get("paths") or ():
        yield ("paths", t, t, path), ({"t": t},)
    vectors = {vector.position: vector for vector in update.vectors}
    for said in update.statements:
        key = statement_key(t, said.position)
        own = values.statement_out(update, said, vectors.get(said.position))
        yield ("statements", key), ({"lane": node["lane"], **own},)
        yield ("has", t, key), ()
        for id in antecedents_in(said):
            yield ("references", key, values.key_of(id)), ()
        for mention in said.concepts:
            yield ("postings", values.key_of(mention.name), key), (session, 1)
        for stem, count in Counter(said.terms).items():
            yield ("postings", values.stem_key(stem), key), (session, count)
    for a, b in pairs_of(update):
        yield ("relations", values.key_of(a), values.key_of(b), t), ()


def _blocks(
    name: str,
    postings: list[tuple[Any, ...]],
    ends: dict[str, tuple[int, int]],
    numbers: Mapping[str | None, int],
) -> Iterator[tuple[Any, ...]]:
    """The rows of the blocks to which new postings go (key, session, count), ascending."""
    first, filled = ends.get(name, (0, 0))
    while postings:
        if filled == _BLOCK:
            first, filled = postings[0][0], 0
        part, postings = postings[: _BLOCK - filled], postings[_BLOCK - filled :]
        filled += len(part)
        keys, sessions, counts = zip(*part, strict=True)
        yield name, first, keys, [numbers[key] if key else 0 for key in sessions], counts
    ends[name] = first, filled


def _rows_of_totals(
    changes: Changes,
    ends: Mapping[str, tuple[int, int]],
    numbers: Mapping[str | None, int],
) -> Iterator[_Row]:
    """The rows of concepts, stems, sessions and predicates; columns as in ``COUNTED``."""
    t = changes.namespace.t
    for name, c in changes.concepts.items():
        key = values.key_of(name)
        if c is None:
            yield ("concepts", key), None
            continue
        totals = c.t_index, c.updates, c.statements
        own = name, c.label, c.kind, totals, c.t_index, *ends.get(key, (0, 0))
        yield ("concepts", key), own
    for stem, statements in changes.terms.items():
        key = values.stem_key(stem)
        is_held = statements > 0
        yield ("terms", key), (stem, (t, statements), *ends.get(key, (0, 0))) if is_held else None
    for name, session in changes.sessions.items():
        if name in numbers:
            size = name, (t, session.statements, session.terms), numbers[name]
            yield ("sessions", values.key_of(name)), size if session.statements else None
    for name, triplets in changes.predicates.items():
        yield ("predicates", values.key_of(name)), (name, triplets) if triplets else None
    for summary in changes.summaries:
        yield ("summaries", values.key_of(summary.concept)), (values.summary_out(summary),)


def _rows_of_elements(changes: Changes) -> Iterator[_Row]:
    """The rows of entities and triplets, of their evidence, and of vectors."""
    for key, row in changes.elements.items():
        name = values.element_key(key)
        kind = "entities" if isinstance(key, str) else "triplets"
        if row is None:
            yield (kind, name), None
            continue
        concept = row.concept
        own: dict[str, Any] = {"type": row.type, "latest": row.latest}
        own |= {"concept": concept.name, "label": concept.label, "kind": concept.kind}
        own["properties"] = values.json_out(row.properties)
        if isinstance(key, str):
            yield (kind, name), ({"id": key, **own},)
            yield ("standing", name), (values.key_of(concept.name),)
            words = values.keys_of(name_words(concept.name))
            yield ("words", name, values.CONCEPT_WORDS), (words,)
        else:
            subject, predicate, object = map(values.key_of, key)
            ends = {"subject": subject, "predicate": predicate, "object": object}
            yield (kind, name), ({"name": key[1], **ends, **own},)
            yield ("subjects", name, subject, ""), ({},)
            yield ("objects", name, object, ""), ({},)
    for key, shown in changes.element_evidence.items():
        for at, evidence in shown.items():
            place = "evidence", values.element_key(key), t_index_of(at), at
            if evidence is None:
                yield place, None
                continue
            properties = values.json_out(evidence.properties) if evidence.properties else None
            description = description_of(evidence) or None
            yield place, ({"properties": properties, "description": description},)
    for (id, model), blob in changes.entity_vectors.items():
        name, model_key = values.key_of(id), values.key_of(model)
        yield ("vectors", name, name, model_key), ({"name": model, "blob": blob},)
        yield ("words", name, model_key), (values.keys_of(codes_of(model, blob)),)


def namespace_properties(totals: NamespaceTotals) -> dict[str, Any]:
    """The properties of the namespace's node."""
    return {name: getattr(totals, name) for name in TOTALS} | {
        "open_t": totals.open_session.t_index if totals.open_session else 0,
        "vector_bytes": values.json_out(totals.vector_sizes),
    }
