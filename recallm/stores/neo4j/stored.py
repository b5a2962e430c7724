"""Stored updates as ``PreparedUpdate`` values: for forgetting, and for ``GraphReader.dump``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any, LiteralString

from recallm.model import (
    ConceptMention,
    EntityUpsert,
    ExtractedStatement,
    Neighbours,
    PreparedUpdate,
    StatementVector,
    Summary,
    Trait,
    TripletUpsert,
    empty_mapping,
    position_of,
)
from recallm.stores.cypher import dumping as cypher
from recallm.stores.neo4j.connection import Connection
from recallm.stores.neo4j.torn_reads import complete_rows
from recallm.stores.neo4j.transaction import Row, rows
from recallm.stores.neo4j.values import (
    BEFORE_NEXT,
    json_in,
    keys_of,
    mentions_in,
    passage_in,
    summary_in,
)
from recallm.stores.semantics.archiving import dump_records, in_dump_order
from recallm.stores.semantics.sessions import session_key_of

__all__ = ["dump", "stored_updates"]

Ask = Callable[[LiteralString, Mapping[str, Any]], Sequence[Row]]
"""Run a query and give its rows."""


def stored_updates(ask: Ask, ts: Sequence[int]) -> list[PreparedUpdate]:
    """The updates at these t, ascending, as ``GraphReader.dump`` gives them."""
    return _with_parts(ask, ask(cypher.UPDATES_AT, {"ts": list(ts)}))


def dump(connection: Connection, key: str, t_index: int) -> Iterator[PreparedUpdate | Summary]:
    """``GraphReader.dump`` of the rows of ``key`` up to ``t_index``, without a snapshot."""

    def ask(query: LiteralString, parameters: Mapping[str, Any]) -> list[Row]:
        given = {
            "namespace": key,
            "t": t_index,
            "before": (t_index + 1) * BEFORE_NEXT,
            **parameters,
        }
        return complete_rows(lambda: list(connection.read(lambda tx: rows(tx, query, given))))

    def page(after: int, limit: int) -> list[PreparedUpdate]:
        bounds = {"after": after, "limit": limit}
        while found := ask(cypher.UPDATES, bounds):
            updates = _with_parts(ask, found)
            # An update that is still as it was had all its parts until now. From the first one on
            # that was forgotten or cut meanwhile, the page is read again.
            now = ask(cypher.UPDATES, bounds)
            pairs = takewhile(lambda it: it[0] == it[1], zip(found, now, strict=False))
            if stable := len(list(pairs)):
                return updates[:stable]
        return []

    def summaries() -> list[Summary]:
        return [summary_in(row["summary"]) for row in ask(cypher.SUMMARIES, {})]

    return dump_records(page, summaries)


def _with_parts(ask: Ask, found: Sequence[Row]) -> list[PreparedUpdate]:
    """The updates of these nodes with all that belongs to them."""
    ts = {"ts": [row["update"]["t"] for row in found]}
    entities = ask(cypher.ENTITIES, ts)
    parts = {
        "statements": _by_t(ask(cypher.STATEMENTS, ts)),
        "evidence": _by_t(ask(cypher.EVIDENCE, ts)),
        "entities": _by_t(entities),
        "triplets": _by_t(ask(cypher.TRIPLETS, ts)),
        "vectors": _by_t(ask(cypher.VECTORS, ts)),
    }
    latest = keys_of({it["entity"]["id"] for it in entities if it["latest"]})
    vectors = _by_id(ask(cypher.ENTITY_VECTORS, {"ids": latest}) if latest else ())
    return [
        _update(
            row["update"],
            {name: by_t[row["update"]["t"]] for name, by_t in parts.items()},
            vectors,
        )
        for row in found
    ]


def _by_t(found: Sequence[Row]) -> defaultdict[int, list[Row]]:
    groups: defaultdict[int, list[Row]] = defaultdict(list)
    for row in found:
        groups[row["t"]].append(row)
    return groups


def _by_id(found: Sequence[Row]) -> dict[str, dict[str, bytes]]:
    vectors: dict[str, dict[str, bytes]] = {}
    for row in found:
        vectors.setdefault(row["id"], {})[row["model"]] = bytes(row["blob"])
    return vectors


def _update(
    node: Row, parts: Mapping[str, list[Row]], vectors_of: Mapping[str, Mapping[str, bytes]]
) -> PreparedUpdate:
    update = PreparedUpdate(
        id="",
        text=None,
        entities=tuple(_entity(row, vectors_of) for row in parts["entities"]),
        triplets=tuple(map(_triplet, parts["triplets"])),
        t_index=node["t"],
    )
    if node.get("id") is not None:
        passage = passage_in(node)
        is_named = session_key_of(passage.session, passage.source) is not None
        update = replace(
            update,
            id=passage.id,
            text=passage.text,
            source=passage.source,
            session=passage.session,
            session_key=None if is_named else node.get("session_key"),
            speaker=passage.speaker,
            speaker_concept=node.get("speaker_concept"),
            timestamp=passage.timestamp,
            metadata=passage.metadata,
            path=passage.path,
            key=passage.key,
            expires_at=passage.expires_at,
            statements=tuple(_statement(row["statement"]) for row in parts["statements"]),
            neighbours=tuple(pair for row in parts["evidence"] for pair in _neighbours(row)),
            vectors=tuple(map(_vector, parts["vectors"])),
        )
    return in_dump_order(update)


def _vector(row: Row) -> StatementVector:
    return StatementVector(
        position=position_of(row["key"]), model=row["model"], blob=bytes(row["blob"])
    )


def _statement(node: Row) -> ExtractedStatement:
    return ExtractedStatement(
        position=position_of(node["key"]),
        start=node["start"],
        end=node["end"],
        terms=tuple(node["terms"]),
        concepts=mentions_in(node),
        traits=Trait(node["traits"]),
    )


def _neighbours(row: Row) -> list[Neighbours]:
    return [
        Neighbours(a=row["a"], b=row["b"], earlier=earlier, later=later)
        for earlier, later in zip(row["earlier"], row["later"], strict=True)
    ]


def _entity(row: Row, vectors_of: Mapping[str, Mapping[str, bytes]]) -> EntityUpsert:
    node = row["entity"]
    return EntityUpsert(
        id=node["id"],
        type=node["type"],
        concept=ConceptMention(name=node["concept"], label=node["label"], kind=node["kind"]),
        properties=_properties(row),
        vectors=vectors_of.get(node["id"], empty_mapping()) if row["latest"] else empty_mapping(),
        position=position_of(row["key"]),
    )


def _triplet(row: Row) -> TripletUpsert:
    return TripletUpsert(
        subject=row["subject"],
        predicate=row["predicate"],
        object=row["object"],
        properties=_properties(row),
        position=position_of(row["key"]),
    )


def _properties(row: Row) -> Mapping[str, Any]:
    properties: str | None = row["evidence_properties"]
    return empty_mapping() if properties is None else json_in(properties)
