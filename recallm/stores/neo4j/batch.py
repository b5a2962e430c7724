"""Knowledge updates as the rows that the write queries take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from recallm.model import (
    ConceptMention,
    EntityUpsert,
    ExtractedStatement,
    PreparedUpdate,
    TripletUpsert,
    statement_key,
)
from recallm.stores.neo4j.properties import Told, TripletKey
from recallm.stores.neo4j.values import (
    instant,
    key_of,
    micros,
    sort_of,
    statement_out,
    update_out,
)
from recallm.stores.sessions import next_derived_session, session_key_of

__all__ = ["Batch", "triplet_key"]


@dataclass(slots=True, kw_only=True)
class Batch:
    """The rows of some updates of one namespace, gathered so that each node is met once.

    ``open_session`` and ``open_said`` are the session derived from time that the next update may
    go on with, and when its latest update was said. What is stored of the entities and triplets
    that the updates name must be told by ``know_entity`` and ``know_triplet`` first.
    """

    namespace: str
    open_session: str | None
    open_said: int | None
    updates: list[dict[str, Any]] = field(default_factory=list)
    concepts: dict[str, dict[str, Any]] = field(default_factory=dict)
    stems: dict[str, dict[str, Any]] = field(default_factory=dict)
    relations: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    sessions: dict[str, dict[str, Any]] = field(default_factory=dict)
    vectors: list[dict[str, Any]] = field(default_factory=list)
    entities: dict[str, dict[str, Any]] = field(default_factory=dict)
    entity_vectors: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    triplets: dict[TripletKey, dict[str, Any]] = field(default_factory=dict)
    touched: set[str] = field(default_factory=set)
    joined: set[int] = field(default_factory=set)
    statements: int = 0
    terms: int = 0
    _entities_told: dict[str, Told] = field(default_factory=dict)
    _stood_on: dict[str, str] = field(default_factory=dict)
    _triplets_told: dict[TripletKey, Told] = field(default_factory=dict)

    def know_entity(self, key: str, told: Told, concept: str) -> None:
        """An entity that is stored, and the name of the concept that it stands on ("": none)."""
        self._entities_told[key] = told
        self._stood_on[key] = key_of(concept)

    def know_triplet(self, key: TripletKey, told: Told) -> None:
        """A triplet that is stored."""
        self._triplets_told[key] = told

    def knows_entity(self, id: str) -> bool:
        """Whether an entity is stored or was brought."""
        return key_of(id) in self._entities_told

    def entity_rows(self) -> list[dict[str, Any]]:
        """The rows of all entities, with where they are shown."""
        return [_told_row(row, self._entities_told[key]) for key, row in self.entities.items()]

    def triplet_rows(self) -> list[dict[str, Any]]:
        """The rows of all triplets, with where they are shown."""
        return [_told_row(row, self._triplets_told[key]) for key, row in self.triplets.items()]

    def add(self, update: PreparedUpdate, t_index: int) -> None:
        """Take in one update; one that joins a passage's has the t of that."""
        self.add_all_but_triplets(update, t_index)
        self.add_triplets(update, t_index)

    def add_all_but_triplets(self, update: PreparedUpdate, t_index: int) -> None:
        """Take in one update without its triplets."""
        if update.text is not None:
            self._add_passage(update, update.text, t_index)
        elif update.id:
            self.joined.add(t_index)
        elif update.entities or update.triplets:
            properties = update_out(self.namespace, update, t_index, None)
            self.updates.append({"properties": properties, "statements": [], "paths": []})
        for entity in update.entities:
            self._add_entity(entity, t_index)

    def add_triplets(self, update: PreparedUpdate, t_index: int) -> None:
        """Take in the triplets of one update."""
        for triplet in update.triplets:
            self._add_triplet(triplet, t_index)

    def _add_passage(self, update: PreparedUpdate, text: str, t_index: int) -> None:
        properties = update_out(self.namespace, update, t_index, self._session_key(update, t_index))
        said = [self._add_statement(properties, text, statement) for statement in update.statements]
        self.updates.append(
            {"properties": properties, "statements": said, "paths": properties["paths"] or []}
        )
        for name in {mention.name for it in update.statements for mention in it.concepts}:
            self.concepts[key_of(name)]["updates"] += 1
        self._add_relations(update, properties)
        self.vectors += [
            {
                "namespace": self.namespace,
                "key": statement_key(t_index, vector.position),
                "model": vector.model,
                "blob": vector.blob,
            }
            for vector in update.vectors
        ]

    def _session_key(self, update: PreparedUpdate, t_index: int) -> str | None:
        named = session_key_of(update.session, update.source)
        if named is not None or update.timestamp is None:
            return named
        previous = None
        if self.open_session is not None and self.open_said is not None:
            previous = (instant(self.open_said), self.open_session)
        self.open_session = update.session_key or next_derived_session(
            previous, t_index, update.timestamp
        )
        self.open_said = micros(update.timestamp)
        return self.open_session

    def _add_statement(
        self, update: Mapping[str, Any], text: str, statement: ExtractedStatement
    ) -> dict[str, Any]:
        for mention in statement.concepts:
            key = key_of(mention.name)
            row = self.concepts.get(key)
            if row is None:
                row = self.concepts[key] = {
                    **_concept_row(mention),
                    "updates": 0,
                    "statements": 0,
                }
            row["statements"] += 1
            row["t"] = update["t"]
        stems = Counter(statement.terms)
        for stem in stems:
            row = self.stems.setdefault(
                key_of(stem), {"key": key_of(stem), "name": stem, "documents": 0}
            )
            row["documents"] += 1
            row["t"] = update["t"]
        self.statements += 1
        self.terms += statement.length
        if update["session_key"] is not None:
            row = self.sessions.setdefault(
                update["lane"],
                {
                    "key": update["lane"],
                    "name": update["session_key"],
                    "statements": 0,
                    "terms": 0,
                },
            )
            row["statements"] += 1
            row["terms"] += statement.length
            row["t"] = update["t"]
        return {
            "properties": statement_out(update, text, statement),
            "concepts": [key_of(mention.name) for mention in statement.concepts],
            "stems": [[key_of(stem), count] for stem, count in stems.items()],
        }

    def _add_relations(self, update: PreparedUpdate, properties: Mapping[str, Any]) -> None:
        shown: dict[tuple[str, str], dict[str, Any]] = {}
        for pair in update.neighbours:
            evidence = shown.setdefault(
                (key_of(pair.a), key_of(pair.b)),
                {
                    "namespace": self.namespace,
                    "t": properties["t"],
                    "said": properties["said"],
                    "expires": properties["expires"],
                    "earlier": [],
                    "later": [],
                },
            )
            evidence["earlier"].append(pair.earlier)
            evidence["later"].append(pair.later)
        for (a, b), evidence in shown.items():
            row = self.relations.setdefault(
                (a, b), {"a": a, "b": b, "first": evidence["t"], "evidence": []}
            )
            row["t"] = evidence["t"]
            row["evidence"].append(evidence)

    def _add_entity(self, entity: EntityUpsert, t_index: int) -> None:
        key = key_of(entity.id)
        place = statement_key(t_index, entity.position)
        row = self.entities.setdefault(
            key, {"key": key, "stays": True, "stands_on": None, "properties": {}}
        )
        if entity.mentioned and key in self._entities_told:
            self._entities_told[key].show(place, {})
            self.touched |= {self._stood_on[key]} - {""}
            return
        self._entities_told.setdefault(key, Told()).show(place, entity.properties)
        concept = key_of(entity.concept.name)
        self.touched |= {concept, self._stood_on.get(key, concept)} - {""}
        self._stood_on[key] = concept
        row["stays"] = False
        row["stands_on"] = None
        if concept:
            row["stands_on"] = _concept_row(entity.concept) | {
                "namespace": self.namespace,
                "t_index": t_index,
                "updates": 0,
                "statements": 0,
                "merges": 0,
            }
        row["properties"] = {
            "id": entity.id,
            "sort": sort_of(entity.id),
            "type": entity.type,
            "label": entity.concept.label,
            "kind": entity.concept.kind,
            "concept": entity.concept.name,
        }
        for model, blob in entity.vectors.items():
            self.entity_vectors[key, model] = {
                "entity": key,
                "model": model,
                "model_key": key_of(model),
                "blob": blob,
            }

    def _add_triplet(self, triplet: TripletUpsert, t_index: int) -> None:
        key = triplet_key(triplet.subject, triplet.predicate, triplet.object)
        place = statement_key(t_index, triplet.position)
        self._triplets_told.setdefault(key, Told()).show(place, triplet.properties)
        subject, predicate, object = key
        self.triplets[key] = {
            "subject": subject,
            "predicate": predicate,
            "object": object,
            "name": triplet.predicate,
            "properties": {},
        }


def triplet_key(subject: str, predicate: str, object: str) -> TripletKey:
    """A triplet as its constraint knows it."""
    return key_of(subject), key_of(predicate), key_of(object)


def _concept_row(mention: ConceptMention) -> dict[str, Any]:
    return {
        "key": key_of(mention.name),
        "name": mention.name,
        "sort": sort_of(mention.name),
        "label": mention.label,
        "kind": mention.kind,
    }


def _told_row(row: Mapping[str, Any], told: Told) -> dict[str, Any]:
    return {**row, "shown": told.shown(), "properties": row["properties"] | told.changed()}
