"""All that a reader can say, as one value: two stores that agree give equal ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from recallm.ground.entity_words import codes_of, name_words
from recallm.model import (
    ConceptRow,
    Filter,
    Passage,
    PreparedUpdate,
    Summary,
    statement_key,
)
from recallm.stores.base import GraphReader
from tests.store_suite.dict_namespace import json_text

UNHIDDEN = frozenset({"dump", "dumped json", "predicates", "stats"})
"""What no horizon hides anything of."""

_ENOUGH = 1_000_000


@dataclass(slots=True, kw_only=True)
class Vocabulary:
    """The names that a reader is asked for: all that some records ever named."""

    passages: set[str] = field(default_factory=set)
    keys: set[int] = field(default_factory=set)
    stems: set[str] = field(default_factory=set)
    concepts: set[str] = field(default_factory=set)
    entities: set[str] = field(default_factory=set)
    codes: set[str] = field(default_factory=set)
    models: set[str] = field(default_factory=set)
    sessions: set[str] = field(default_factory=set)
    items: set[tuple[tuple[str, ...], str]] = field(default_factory=set)

    def add(self, records: Iterable[PreparedUpdate | Summary]) -> Vocabulary:
        """Take in what these records name; returns itself."""
        for record in records:
            if isinstance(record, Summary):
                self.concepts.add(record.concept)
            else:
                self._add_update(record)
        return self

    def _add_update(self, update: PreparedUpdate) -> None:
        t_index = update.t_index or 0
        self.passages.add(update.id)
        self.sessions |= {f"@{t_index}", f"={update.session}", f"={update.source}"}
        if update.key is not None:
            self.items.add((update.path, update.key))
        self.models |= {vector.model for vector in update.vectors}
        self.models |= {model for entity in update.entities for model in entity.vectors}
        for statement in update.statements:
            self.keys.add(statement_key(t_index, statement.position))
            self.stems |= set(statement.terms)
            self.concepts |= {concept.name for concept in statement.concepts}
        for entity in update.entities:
            self.entities.add(entity.id)
            for model, blob in entity.vectors.items():
                self.codes.update(codes_of(model, blob))
            if entity.concept.name:
                self.concepts.add(entity.concept.name)


def snapshot(reader: GraphReader, also: Vocabulary | None = None) -> dict[str, Any]:
    """The answers to all that can be asked about what ``dump`` names and ``also`` knows."""
    dump = list(reader.dump())
    known = also or Vocabulary()
    known.add(dump)
    keys, names = sorted(known.keys), sorted(known.concepts)
    words = known.codes.union(*map(name_words, names))
    passages = reader.passages(ids=known.passages)
    statements, entities = reader.statements(keys), reader.entities()
    triplets = reader.triplets()
    values = [passage.metadata for passage in passages]
    values += [statement.metadata for statement in statements]
    values += [entity.properties for entity in entities]
    values += [triplet.properties for triplet in triplets]
    values += [evidence.properties for evidence in reader.triplet_evidence()]
    updates = [record for record in dump if isinstance(record, PreparedUpdate)]
    told = [entity.properties for update in updates for entity in update.entities]
    told += [triplet.properties for update in updates for triplet in update.triplets]
    return {
        "t_index": reader.state.t_index,
        "passages": passages,
        "all passages": reader.passages(Filter()),
        "items": [reader.passages(Filter(path=path, key=key)) for path, key in sorted(known.items)],
        "paths": reader.paths(),
        "statements": statements,
        "postings": dict(reader.postings(known.stems, limit=_ENOUGH, where=Filter())),
        "mentions": dict(reader.mentions(names, limit=None, where=Filter())),
        "concepts": reader.concepts(),
        "named concepts": reader.concepts(names),
        "relations": reader.relations(names, limit=_ENOUGH),
        "relations among": reader.relations(names, among=True),
        "entities": entities,
        "named entities": reader.entities(known.entities),
        "entities brought": {id: reader.entities(passages=[id]) for id in sorted(known.passages)},
        "triplets": triplets,
        "triplets brought": {id: reader.triplets(passages=[id]) for id in sorted(known.passages)},
        "evidence": reader.triplet_evidence(),
        "predicates": dict(reader.predicates()),
        "entities by words": dict(reader.entities_by_words(words, limit=_ENOUGH)),
        "entity vectors": {m: dict(reader.entity_vectors(model=m)) for m in sorted(known.models)},
        # For Python 1, 1.0 and True are equal; as JSON they are not.
        "json": [json_text(dict(value)) for value in values],
        "sizes": reader.sizes(known.sessions),
        "vectors": {m: dict(reader.vectors(keys, model=m)) for m in sorted(known.models)},
        "all vectors": {m: dict(reader.vectors(model=m)) for m in sorted(known.models)},
        "embedded": reader.statement_keys(embedded=True),
        "not embedded": reader.statement_keys(embedded=False),
        "t_indexes": reader.t_indexes(Filter()),
        "sessions": reader.sessions(),
        "stats": reader.stats(),
        "dump": dump,
        "dumped json": [json_text(dict(value)) for value in told],
    }


def find_passage(reader: GraphReader, id: str) -> Passage | None:
    """The visible passage with this id."""
    return next(iter(reader.passages(ids=[id])), None)


def find_item(reader: GraphReader, path: Sequence[str], key: str) -> Passage | None:
    """The visible item under a key at a path."""
    return next(iter(reader.passages(Filter(path=tuple(path), key=key), limit=1)), None)


def summaries(reader: GraphReader, names: Iterable[str]) -> dict[str, Summary]:
    """The summaries in force of these concepts, by name."""
    rows = reader.concepts(list(names))
    return {row.name: row.summary for row in sorted(rows, key=_name) if row.summary is not None}


def revisable(reader: GraphReader, concept: str) -> ConceptRow | None:
    """A concept that statements mention."""
    rows = reader.concepts([concept])
    return rows[0] if rows and rows[0].statements else None


def _name(row: ConceptRow) -> str:
    return row.name
