"""Writing entities and triplets, and taking them away."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable

from recallm.errors import UnknownEntityError
from recallm.model import ConceptMention, EntityUpsert, PreparedUpdate, TripletUpsert, statement_key
from recallm.stores.sqlite.codec import json_text
from recallm.stores.sqlite.concepts import add_update, is_touched, recount_updates
from recallm.stores.sqlite.lookup import inserted
from recallm.stores.sqlite.properties import write_evidence
from recallm.stores.sqlite.schema import NO_CONCEPT

__all__ = ["Brought", "EntityBatch", "check_all_known", "delete_entities", "delete_triplets"]

Brought = tuple[int, PreparedUpdate]
"""A t, and an update whose entities and triplets are evidence at it."""

_UNKNOWN = 0
"""The concept of an entity that a triplet names before its own upsert comes (in an archive)."""


class EntityBatch:
    """Writes the entities and triplets of a batch, in order.

    ``concepts`` maps the names that the batch mentions to ids. ``late_entities``: a triplet may
    name an entity that comes later; ``check_all_known`` must follow.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        ns: int,
        concepts: dict[str, int],
        late_entities: bool,
    ) -> None:
        self._connection = connection
        self._ns = ns
        self._concepts = dict(concepts)
        self._late_entities = late_entities

    def write(self, brought: Iterable[Brought]) -> None:
        """Write all entities and triplets, in this order, which need not be that of t.

        Raises:
            UnknownEntityError: a triplet names an entity that does not exist.
        """
        for t_index, update in brought:
            for entity in update.entities:
                self._write_entity(t_index, entity)
            for triplet in update.triplets:
                self._write_triplet(t_index, triplet)

    def _write_entity(self, t_index: int, upsert: EntityUpsert) -> None:
        row = self._connection.execute(
            "SELECT number, concept, properties FROM entity WHERE ns = ? AND id = ?",
            (self._ns, upsert.id),
        ).fetchone()
        before = _UNKNOWN if row is None else row[1]
        number = self._insert_entity(upsert.id) if row is None else row[0]
        stays = upsert.mentioned and row is not None
        concept = before if stays else self._concept(upsert.concept)
        touched = concept != NO_CONCEPT and is_touched(self._connection, self._ns, concept, t_index)
        properties = write_evidence(
            self._connection,
            "entity",
            self._ns,
            number,
            statement_key(t_index, upsert.position),
            {} if stays else upsert.properties,
            "{}" if row is None else row[2],
        )
        if not stays:
            self._describe(upsert, number, concept, properties)
        if before not in (_UNKNOWN, NO_CONCEPT, concept) and recount_updates(
            self._connection, self._ns, before
        ):
            self._concepts = {name: id for name, id in self._concepts.items() if id != before}
        if concept == NO_CONCEPT:
            return
        if before not in (_UNKNOWN, concept):
            recount_updates(self._connection, self._ns, concept)
        else:
            # The entity brings no evidence from elsewhere.
            add_update(self._connection, self._ns, concept, None if touched else t_index)

    def _describe(self, upsert: EntityUpsert, number: int, concept: int, properties: str) -> None:
        """Give an entity what ``upsert`` says of it."""
        self._connection.execute(
            "UPDATE entity SET type = ?, concept = ?, label = ?, kind = ?, properties = ?"
            " WHERE number = ?",
            (upsert.type, concept, upsert.concept.label, upsert.concept.kind,
             properties, number),
        )  # fmt: skip
        self._connection.executemany(
            "INSERT OR REPLACE INTO entity_vector VALUES (?, ?, ?, ?)",
            [(self._ns, number, model, blob) for model, blob in upsert.vectors.items()],
        )

    def _write_triplet(self, t_index: int, upsert: TripletUpsert) -> None:
        subject, object = self._entity(upsert.subject), self._entity(upsert.object)
        row = self._connection.execute(
            "SELECT number, properties FROM triplet"
            " WHERE ns = ? AND subject = ? AND predicate = ? AND object = ?",
            (self._ns, subject, upsert.predicate, object),
        ).fetchone()
        if row is None:
            number = inserted(
                self._connection,
                "INSERT INTO triplet (ns, subject, predicate, object, properties)"
                " VALUES (?, ?, ?, ?, ?)",
                (self._ns, subject, upsert.predicate, object, json_text(upsert.properties)),
            )
            row = (number, json_text(upsert.properties))
        number, before = row
        properties = write_evidence(
            self._connection,
            "triplet",
            self._ns,
            number,
            statement_key(t_index, upsert.position),
            upsert.properties,
            before,
        )
        if properties != before:
            self._connection.execute(
                "UPDATE triplet SET properties = ? WHERE number = ?", (properties, number)
            )

    def _entity(self, id: str) -> int:
        row = self._connection.execute(
            "SELECT number FROM entity WHERE ns = ? AND id = ?", (self._ns, id)
        ).fetchone()
        if row is not None:
            number: int = row[0]
            return number
        if self._late_entities:
            return self._insert_entity(id)
        raise UnknownEntityError(id)

    def _insert_entity(self, id: str) -> int:
        return inserted(
            self._connection,
            "INSERT INTO entity (ns, id, type, concept, label, kind, properties)"
            " VALUES (?, ?, '', ?, '', '', '{}')",
            (self._ns, id, _UNKNOWN),
        )

    def _concept(self, mention: ConceptMention) -> int:
        if not mention.name:
            return NO_CONCEPT
        if mention.name not in self._concepts:
            row = self._connection.execute(
                "SELECT id FROM concept WHERE ns = ? AND name = ?", (self._ns, mention.name)
            ).fetchone()
            if row is None:
                id = inserted(
                    self._connection,
                    "INSERT INTO concept (ns, name, label, kind, t_index, updates, statements)"
                    " VALUES (?, ?, ?, ?, 0, 0, 0)",
                    (self._ns, mention.name, mention.label, mention.kind),
                )
                row = (id,)
            self._concepts[mention.name] = row[0]
        return self._concepts[mention.name]


def check_all_known(connection: sqlite3.Connection, ns: int) -> None:
    """Refuse triplets whose entities never came.

    Raises:
        UnknownEntityError: one that did not.
    """
    row = connection.execute(
        "SELECT id FROM entity WHERE ns = ? AND concept = ? ORDER BY id LIMIT 1", (ns, _UNKNOWN)
    ).fetchone()
    if row is not None:
        raise UnknownEntityError(row[0])


def delete_entities(
    connection: sqlite3.Connection, ns: int, numbers: Collection[int]
) -> tuple[dict[int, set[int]], int]:
    """Delete entities with their evidence, their vectors and their triplets.

    Returns what they touched (concept → t), for ``settle_concepts``, and how many triplets went.
    """
    touched: dict[int, set[int]] = {}
    triplets: set[int] = set()
    for number in numbers:
        (concept,) = connection.execute(
            "SELECT concept FROM entity WHERE number = ?", (number,)
        ).fetchone()
        for (at,) in connection.execute(
            "SELECT at FROM entity_evidence WHERE ns = ? AND entity = ?", (ns, number)
        ):
            if concept != NO_CONCEPT:
                touched.setdefault(concept, set()).add(at >> 20)
        triplets.update(
            row[0]
            for row in connection.execute(
                "SELECT number FROM triplet WHERE ns = ?1 AND subject = ?2"
                " UNION SELECT number FROM triplet WHERE ns = ?1 AND object = ?2",
                (ns, number),
            )
        )
        connection.execute("DELETE FROM entity_evidence WHERE ns = ? AND entity = ?", (ns, number))
        connection.execute("DELETE FROM entity_vector WHERE ns = ? AND entity = ?", (ns, number))
        connection.execute("DELETE FROM entity WHERE number = ?", (number,))
    delete_triplets(connection, ns, triplets)
    return touched, len(triplets)


def delete_triplets(connection: sqlite3.Connection, ns: int, numbers: Collection[int]) -> None:
    """Delete triplets with their evidence."""
    connection.executemany(
        "DELETE FROM triplet_evidence WHERE ns = ? AND triplet = ?", [(ns, n) for n in numbers]
    )
    connection.executemany("DELETE FROM triplet WHERE number = ?", [(n,) for n in numbers])
