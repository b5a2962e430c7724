"""The properties of entities and triplets: what each evidence was told with, and all of it
merged in the order of the evidence's keys, which is that of (t, position)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from recallm.stores.cypher import properties as cypher
from recallm.stores.neo4j.transaction import Tx, chunks, rows
from recallm.stores.neo4j.values import json_in, json_out

__all__ = ["EntityKey", "Told", "TripletKey", "merge_again", "told_of_entities", "told_of_triplets"]

EntityKey = str
TripletKey = tuple[str, str, str]
_Places = dict[int, dict[str, Any]]


@dataclass(slots=True)
class Told:
    """What shows an entity or a triplet in a batch, and with which properties.

    ``merged`` is, as JSON, what was told by all that is stored of it but ``places``, and comes
    before these; ``places`` has by key the properties of the evidence of which they are known.
    """

    merged: str = "{}"
    places: _Places = field(default_factory=dict)
    _shown: dict[int, bool] = field(default_factory=dict)

    def show(self, key: int, properties: Mapping[str, Any]) -> None:
        """Take in one evidence; told again with other properties, it has both."""
        if properties:
            self.places[key] = {**self.places.get(key, {}), **properties}
        self._shown[key] = self._shown.get(key, False) or bool(properties)

    def shown(self) -> list[list[Any]]:
        """The evidence that was taken in: its key and, where it was told with some, its
        properties."""
        return [
            [key, json_out(self.places[key]) if told else None] for key, told in self._shown.items()
        ]

    def changed(self) -> dict[str, Any]:
        """What changes in the node."""
        return _merged_out(json_in(self.merged), self.places) if any(self._shown.values()) else {}


def told_of_entities(
    tx: Tx, namespace: str, entities: Collection[EntityKey]
) -> dict[EntityKey, _Places]:
    """What each of these entities was told with, by the key of the evidence."""
    return {
        row["row"]: _places_in(row["places"])
        for chunk in chunks(entities)
        for row in rows(tx, cypher.TOLD_OF_ENTITIES, {"namespace": namespace, "rows": chunk})
    }


def told_of_triplets(
    tx: Tx, namespace: str, triplets: Collection[TripletKey]
) -> dict[TripletKey, _Places]:
    """What each of these triplets was told with, by the key of the evidence."""
    found: dict[TripletKey, _Places] = {}
    for chunk in chunks(triplets):
        parameters = {"namespace": namespace, "rows": [list(key) for key in chunk]}
        for row in rows(tx, cypher.TOLD_OF_TRIPLETS, parameters):
            subject, predicate, object = row["row"]
            found[subject, predicate, object] = _places_in(row["places"])
    return found


def merge_again(
    tx: Tx,
    namespace: str,
    *,
    entities: Collection[EntityKey],
    triplets: Collection[TripletKey],
) -> None:
    """Merge the properties of these anew, from the evidence that there still is."""
    for entity_keys in chunks(entities):
        of_entities = told_of_entities(tx, namespace, entity_keys)
        merged = [[key, _merged_out({}, places)] for key, places in of_entities.items()]
        if merged:
            rows(tx, cypher.MERGED_ENTITIES, {"namespace": namespace, "rows": merged})
    for triplet_keys in chunks(triplets):
        of_triplets = told_of_triplets(tx, namespace, triplet_keys)
        merged = [[list(key), _merged_out({}, places)] for key, places in of_triplets.items()]
        if merged:
            rows(tx, cypher.MERGED_TRIPLETS, {"namespace": namespace, "rows": merged})


def _places_in(places: list[list[Any]]) -> _Places:
    return {key: json_in(properties) for key, properties in places}


def _merged_out(before: dict[str, Any], places: _Places) -> dict[str, Any]:
    """The properties of a node of which the evidence was told with these."""
    merged = dict(before)
    for key in sorted(places):
        merged |= places[key]
    return {"properties": json_out(merged), "told_at": max(places, default=None)}
