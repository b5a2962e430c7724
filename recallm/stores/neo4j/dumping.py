"""``dump``: the updates of a namespace as they would be applied again, page by page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, LiteralString

from recallm.model import (
    NO_POSITION,
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
)
from recallm.stores.cypher import dumping as cypher
from recallm.stores.neo4j.connection import Connection
from recallm.stores.neo4j.transaction import Row, rows
from recallm.stores.neo4j.values import json_in, key_of, mentions_in, passage_in, summary_in
from recallm.stores.neo4j.whole import whole_rows
from recallm.stores.sessions import NAMED

__all__ = ["dump"]

_PAGE = 500


def dump(connection: Connection, key: str, t_index: int) -> Iterator[PreparedUpdate | Summary]:
    """See ``GraphReader.dump``; ``key`` is the namespace of the rows, ``t_index`` the latest
    t."""

    def ask(query: LiteralString, **parameters: Any) -> list[Row]:
        given = {"namespace": key, "t": t_index, **parameters}
        return whole_rows(lambda: list(connection.read(lambda tx: rows(tx, query, given))))

    after = 0
    while page := ask(cypher.UPDATES, after=after, limit=_PAGE):
        ts = [row["update"]["t"] for row in page]
        entities = ask(cypher.ENTITIES, ts=ts)
        parts = {
            "statements": _by_t(ask(cypher.STATEMENTS, ts=ts)),
            "evidence": _by_t(ask(cypher.EVIDENCE, ts=ts)),
            "entities": _by_t(entities),
            "triplets": _by_t(ask(cypher.TRIPLETS, ts=ts)),
            "vectors": _by_t(ask(cypher.VECTORS, ts=ts)),
        }
        latest = {key_of(it["entity"]["id"]) for it in entities if it["latest"]}
        vectors = _by_id(ask(cypher.ENTITY_VECTORS, ids=list(latest)))
        # An update that is still as it was had all its parts until now. From the first one on
        # that was forgotten or cut meanwhile, the page is read again.
        now = ask(cypher.UPDATES, after=after, limit=_PAGE)
        for row, still in zip(page, now, strict=False):
            if row != still:
                break
            t = after = row["update"]["t"]
            yield _update(
                row["update"], {name: rows_of[t] for name, rows_of in parts.items()}, vectors
            )
    summaries = [summary_in(row["summary"]) for row in ask(cypher.SUMMARIES)]
    yield from sorted(summaries, key=lambda it: (it.t_index, it.concept))


def _by_t(found: list[Row]) -> defaultdict[int, list[Row]]:
    groups: defaultdict[int, list[Row]] = defaultdict(list)
    for row in found:
        groups[row["t"]].append(row)
    return groups


def _by_id(found: list[Row]) -> dict[str, dict[str, bytes]]:
    vectors: dict[str, dict[str, bytes]] = {}
    for row in found:
        vectors.setdefault(row["id"], {})[row["model"]] = bytes(row["blob"])
    return vectors


def _update(
    node: Row, parts: Mapping[str, list[Row]], vectors_of: Mapping[str, Mapping[str, bytes]]
) -> PreparedUpdate:
    entities = [_entity(row, vectors_of) for row in parts["entities"]]
    triplets = [_triplet(row) for row in parts["triplets"]]
    update = PreparedUpdate(
        id="",
        text=None,
        entities=tuple(sorted(entities, key=lambda it: (it.id, it.position))),
        triplets=tuple(
            sorted(triplets, key=lambda it: (it.subject, it.predicate, it.object, it.position))
        ),
        t_index=node["t"],
    )
    if node.get("id") is None:
        return update
    passage = passage_in(node)
    statements = [_statement(row["statement"]) for row in parts["statements"]]
    neighbours = [pair for row in parts["evidence"] for pair in _neighbours(row)]
    vectors = [
        StatementVector(
            position=row["key"] & NO_POSITION, model=row["model"], blob=bytes(row["blob"])
        )
        for row in parts["vectors"]
    ]
    return replace(
        update,
        id=passage.id,
        text=passage.text,
        source=passage.source,
        session=passage.session,
        speaker=passage.speaker,
        speaker_concept=node.get("speaker_concept"),
        timestamp=passage.timestamp,
        metadata=passage.metadata,
        path=passage.path,
        key=passage.key,
        expires_at=passage.expires_at,
        session_key=_derived_key(node),
        statements=tuple(sorted(statements, key=lambda it: it.position)),
        neighbours=tuple(sorted(neighbours, key=lambda it: (it.a, it.b, it.earlier, it.later))),
        vectors=tuple(sorted(vectors, key=lambda it: (it.position, it.model))),
    )


def _derived_key(node: Row) -> str | None:
    """The session key of an update, if it was derived from time."""
    key: str | None = node.get("session_key")
    return key if key is not None and not key.startswith(NAMED) else None


def _statement(node: Row) -> ExtractedStatement:
    return ExtractedStatement(
        position=node["key"] & NO_POSITION,
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
        position=row["key"] & NO_POSITION,
    )


def _triplet(row: Row) -> TripletUpsert:
    return TripletUpsert(
        subject=row["subject"],
        predicate=row["predicate"],
        object=row["object"],
        properties=_properties(row),
        position=row["key"] & NO_POSITION,
    )


def _properties(row: Row) -> Mapping[str, Any]:
    told: str | None = row["told"]
    return empty_mapping() if told is None else json_in(told)
