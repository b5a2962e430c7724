"""What facts are read from, within a view: evidence of triplets, predicates, words of entities."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, LiteralString, Protocol

from recallm.model import TripletEvidence, empty_mapping, position_of
from recallm.stores.cypher import facts as cypher
from recallm.stores.neo4j.transaction import Row
from recallm.stores.neo4j.values import json_in, key_of, keys_of
from recallm.stores.timestamps import unpack_timestamp

__all__ = ["read_entities_by_words", "read_predicates", "read_triplet_evidence"]


class _Ask(Protocol):
    """Runs a query within the horizon."""

    def __call__(self, query: LiteralString, **parameters: Any) -> Sequence[Row]: ...


def read_triplet_evidence(
    ask: _Ask,
    subjects: Collection[str] | None,
    predicates: Collection[str] | None,
    objects: Collection[str] | None,
    limit: int,
) -> list[TripletEvidence]:
    """``GraphReader.triplet_evidence``."""
    given = subjects is not None, predicates is not None, objects is not None
    found = ask(
        cypher.TRIPLET_EVIDENCE[given],
        subjects=keys_of(subjects or ()),
        predicates=keys_of(predicates or ()),
        objects=keys_of(objects or ()),
        limit=limit,
    )
    evidence = [_evidence(row) for row in found]
    evidence.sort(key=lambda e: (-e.t_index, -e.position, e.subject, e.predicate, e.object))
    return evidence


def _evidence(row: Row) -> TripletEvidence:
    subject, object, shown, update = row["subject"], row["object"], row["shown"], row["update"]
    properties = shown["properties"]
    return TripletEvidence(
        subject=subject["id"],
        subject_label=subject["label"],
        subject_concept=subject["concept"],
        predicate=row["predicate"],
        object=object["id"],
        object_label=object["label"],
        object_concept=object["concept"],
        object_type=object["type"],
        properties=json_in(properties) if properties else empty_mapping(),
        t_index=update["t"],
        position=position_of(shown["key"]),
        passage=update["id"],
        timestamp=unpack_timestamp(update["timestamp"]),
        source=update["source"],
    )


def read_predicates(ask: _Ask, counter: int) -> dict[str, int]:
    """``GraphReader.predicates`` up to the counter that the reader was opened at."""
    found = ask(cypher.PREDICATES, t=counter)
    return dict(sorted((row["predicate"], row["triplets"]) for row in found))


def read_entities_by_words(
    ask: _Ask, words: Collection[str], limit: int
) -> dict[str, tuple[str, ...]]:
    """``GraphReader.entities_by_words``."""
    by_key = {key_of(word): word for word in words}
    bearers: dict[str, list[str]] = {}
    for row in ask(cypher.ENTITIES_BY_WORDS, words=list(by_key), limit=limit) if by_key else ():
        bearers.setdefault(by_key[row["word"]], []).append(row["id"])
    return {word: tuple(sorted(bearers[word])) for word in sorted(bearers)}
