"""From the lines of an archive to the records of a namespace.

Every value is held to the rule that holds where it is written (``recallm.checks``), and every
record to the form in which ``GraphReader.dump`` gives it: what is loaded could have been written,
and is exported again as it was. Whatever is not so is an ``InvalidInputError``.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any, TypeVar, get_args

import numpy as np

from recallm import checks
from recallm.errors import InvalidInputError
from recallm.model import (
    MAX_POSITION,
    NO_POSITION,
    ConceptKind,
    ConceptMention,
    EntityUpsert,
    ExtractedStatement,
    Neighbours,
    PreparedUpdate,
    StatementVector,
    Summary,
    Trait,
    TripletUpsert,
)

__all__ = ["LAST_T", "fields", "summary_of", "update_of"]

LAST_T = 1 << 31
"""The greatest t_index of an archive: as many updates again have room in every store."""

_OF_A_PASSAGE = frozenset({
    "statements", "neighbours", "source", "session", "speaker", "speaker_concept", "timestamp",
    "metadata", "path", "key", "expires_at", "vectors",
})  # fmt: skip
_OF_AN_UPDATE = _OF_A_PASSAGE | {"id", "t_index", "text", "entities", "triplets"}
_OF_AN_ENTITY = frozenset({"id", "type", "concept", "properties", "position", "vectors"})
_OF_A_SUMMARY = frozenset({"concept", "t_index", "text", "terms", "traits"})

_KINDS = get_args(ConceptKind)
_ALL_TRAITS = int(reduce(or_, Trait))

_HALF = np.dtype("<f2")
_ROUNDED = 0.01
"""How far from 1 half precision may bring the length of a unit vector."""

T = TypeVar("T")


def fields(value: object, what: str, known: Iterable[str], needed: Iterable[str]) -> dict[str, Any]:
    """A JSON object that has the names ``needed`` and none but ``known``.

    Raises:
        InvalidInputError: it is something else.

    """
    line = _object(value, what)
    unknown, missing = line.keys() - set(known), set(needed) - line.keys()
    if unknown or missing:
        name = min(unknown or missing)
        raise _bad(what, f"{'has an unknown' if unknown else 'lacks its'} {name[:40]!r}")
    return line


def update_of(value: object) -> PreparedUpdate:
    """The knowledge update of a line.

    Raises:
        InvalidInputError: it could not have been written so.

    """
    line = fields(value, "update", _OF_AN_UPDATE, ("id", "t_index"))
    t_index = checks.whole(line["t_index"], "t_index", least=1, most=LAST_T)
    if line.get("text") is None:
        return _graph_update_of(line, t_index)
    text = checks.string(line["text"], "text")
    statements = _statements_of(line.get("statements", []), len(text))
    positions = {it.position for it in statements}
    key = checks.optional_name(line.get("key"), "key")
    path = checks.item_path(line.get("path", []), "path")
    speaker = checks.optional_name(line.get("speaker"), "speaker")
    speaker_concept = checks.optional_name(line.get("speaker_concept"), "speaker_concept")
    if path and key is None:
        raise _bad("path", "goes with a key")
    if speaker_concept is not None and speaker is None:
        raise _bad("speaker_concept", "goes with a speaker")
    return PreparedUpdate(
        id=checks.name(line["id"], "id"),
        t_index=t_index,
        text=text,
        statements=statements,
        neighbours=_neighbours_of(line.get("neighbours", []), statements),
        source=checks.optional_name(line.get("source"), "source"),
        session=checks.optional_name(line.get("session"), "session"),
        speaker=speaker,
        speaker_concept=speaker_concept,
        timestamp=_moment_of(line.get("timestamp"), "timestamp"),
        metadata=checks.properties(line.get("metadata"), "metadata"),
        path=path,
        key=key,
        expires_at=_moment_of(line.get("expires_at"), "expires_at"),
        entities=_entities_of(line.get("entities", []), positions),
        triplets=_triplets_of(line.get("triplets", []), positions),
        vectors=_vectors_of(line.get("vectors", []), positions),
    )


def _graph_update_of(line: Mapping[str, Any], t_index: int) -> PreparedUpdate:
    """An update of entities and triplets alone."""
    entities = _entities_of(line.get("entities", []), set())
    triplets = _triplets_of(line.get("triplets", []), set())
    if line["id"] != "" or _OF_A_PASSAGE & line.keys() or not (entities or triplets):
        raise _bad("update", "has no text, but is none of entities and triplets alone")
    return PreparedUpdate(id="", t_index=t_index, text=None, entities=entities, triplets=triplets)


def summary_of(value: object) -> Summary:
    """The summary of a line.

    Raises:
        InvalidInputError: it could not have been written so.

    """
    line = fields(value, "summary", _OF_A_SUMMARY, _OF_A_SUMMARY)
    return Summary(
        concept=_filled(line["concept"], "concept"),
        t_index=checks.whole(line["t_index"], "t_index", least=1, most=LAST_T),
        text=checks.string(line["text"], "text"),
        terms=_terms_of(line["terms"]),
        traits=_traits_of(line["traits"]),
    )


def _statements_of(value: object, length: int) -> tuple[ExtractedStatement, ...]:
    found: list[ExtractedStatement] = []
    position, end = -1, 0
    for row in _rows(value, "statements", 6):
        position = checks.whole(row[0], "position", least=position + 1, most=MAX_POSITION)
        start = checks.whole(row[1], "start", least=end, most=length)
        end = checks.whole(row[2], "end", least=start + 1, most=length)
        mentions = tuple(map(_mention_of, _list(row[4], "concepts")))
        if len({it.name for it in mentions}) < len(mentions):
            raise _bad("concepts", "hold a name twice")
        found.append(
            ExtractedStatement(
                position=position,
                start=start,
                end=end,
                terms=_terms_of(row[3]),
                concepts=mentions,
                traits=_traits_of(row[5]),
            )
        )
    return tuple(found)


def _neighbours_of(
    value: object, statements: Iterable[ExtractedStatement]
) -> tuple[Neighbours, ...]:
    held = {it.position: {concept.name for concept in it.concepts} for it in statements}
    found: list[Neighbours] = []
    for a, b, earlier, later in _rows(value, "neighbours", 4):
        pair = Neighbours(
            a=checks.string(a, "neighbours"),
            b=checks.string(b, "neighbours"),
            earlier=_position_of(earlier, held),
            later=_position_of(later, held),
        )
        first, second = held[pair.earlier], held[pair.later]
        told = (pair.a in first and pair.b in second) or (pair.b in first and pair.a in second)
        if not (told and pair.a < pair.b and pair.earlier <= pair.later):
            raise _bad("neighbours", "are no pair of concepts of the statements that they name")
        found.append(pair)
    return _ascending(found, "neighbours", lambda it: (it.a, it.b, it.earlier, it.later))


def _entities_of(value: object, positions: Iterable[int]) -> tuple[EntityUpsert, ...]:
    places = {*positions, NO_POSITION}
    found = []
    for each in _list(value, "entities"):
        line = fields(each, "entity", _OF_AN_ENTITY, _OF_AN_ENTITY - {"vectors"})
        vectors = _object(line.get("vectors", {}), "vectors")
        found.append(
            EntityUpsert(
                id=checks.name(line["id"], "entity id"),
                type=checks.name(line["type"], "entity type"),
                concept=_mention_of(line["concept"], may_be_none=True),
                properties=_properties_of(line["properties"], "entity properties"),
                position=_position_of(line["position"], places),
                vectors={
                    checks.name(model, "embedding model"): _blob_of(blob)
                    for model, blob in vectors.items()
                },
            )
        )
    return _ascending(found, "entities", lambda it: (it.id, it.position))


def _triplets_of(value: object, positions: Iterable[int]) -> tuple[TripletUpsert, ...]:
    places = {*positions, NO_POSITION}
    found = [
        TripletUpsert(
            subject=checks.name(subject, "subject"),
            predicate=checks.name(predicate, "predicate"),
            object=checks.name(object_, "object"),
            properties=_properties_of(properties, "triplet properties"),
            position=_position_of(position, places),
        )
        for subject, predicate, object_, properties, position in _rows(value, "triplets", 5)
    ]
    return _ascending(
        found, "triplets", lambda it: (it.subject, it.predicate, it.object, it.position)
    )


def _vectors_of(value: object, positions: Iterable[int]) -> tuple[StatementVector, ...]:
    places = set(positions)
    found = [
        StatementVector(
            position=_position_of(position, places),
            model=checks.name(model, "embedding model"),
            blob=_blob_of(blob),
        )
        for position, model, blob in _rows(value, "vectors", 3)
    ]
    return _ascending(found, "vectors", lambda it: (it.position,))


def _mention_of(value: object, *, may_be_none: bool = False) -> ConceptMention:
    name, label, kind = _row(value, "concepts", 3)
    if kind not in _KINDS:
        raise _bad("kind", f"must be one of {', '.join(_KINDS)}")
    return ConceptMention(
        name=checks.string(name, "concept") if may_be_none else _filled(name, "concept"),
        label=_filled(label, "label"),
        kind=kind,
    )


def _terms_of(value: object) -> tuple[str, ...]:
    text = checks.string(value, "terms")
    return tuple(_filled(term, "terms") for term in text.split(" ")) if text else ()


def _traits_of(value: object) -> Trait:
    return Trait(checks.whole(value, "traits", least=0, most=_ALL_TRAITS))


def _position_of(value: object, known: Iterable[int]) -> int:
    position = checks.whole(value, "position", least=0, most=NO_POSITION)
    if position not in known:
        raise _bad("position", f"is {position}, where no statement is")
    return position


def _moment_of(value: object, argument: str) -> datetime | None:
    if value is None:
        return None
    text = checks.string(value, argument)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise _bad(argument, f"is no time: {error}") from None
    if moment.isoformat() != text:
        raise _bad(argument, f"must be spelled {moment.isoformat()}, not {text[:60]!r}")
    return checks.timestamp(moment, argument)


def _blob_of(value: object) -> bytes:
    """A vector as the stores keep vectors: of length 1, or of zeros."""
    text = checks.string(value, "vectors")
    try:
        blob = base64.b64decode(text, validate=True)
    except ValueError as error:
        raise _bad("vectors", f"are no base 64: {error}") from None
    if base64.b64encode(blob).decode() != text:
        raise _bad("vectors", "are not spelled as base 64 is")
    if not blob or len(blob) % _HALF.itemsize:
        raise _bad("vectors", f"hold one of {len(blob)} bytes, which are no numbers of 16 bits")
    numbers = np.frombuffer(blob, _HALF).astype(np.float64)
    length = float(np.sqrt(numbers @ numbers)) if np.isfinite(numbers).all() else np.nan
    if not (length == 0 or abs(length - 1) <= _ROUNDED):
        raise _bad("vectors", "hold one that is neither of length 1 nor of zeros")
    return blob


def _properties_of(value: object, argument: str) -> dict[str, Any]:
    return checks.properties(_object(value, argument), argument)


def _filled(value: object, argument: str) -> str:
    text = checks.string(value, argument)
    if not text:
        raise _bad(argument, "is empty")
    return text


def _object(value: object, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _bad(what, f"must be an object, not {type(value).__name__}")
    return value


def _list(value: object, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise _bad(what, f"must be a list, not {type(value).__name__}")
    return value


def _rows(value: object, what: str, length: int) -> list[list[Any]]:
    return [_row(each, what, length) for each in _list(value, what)]


def _row(value: object, what: str, length: int) -> list[Any]:
    row = _list(value, what)
    if len(row) != length:
        raise _bad(what, f"must be rows of {length}, not of {len(row)}")
    return row


def _ascending(
    values: list[T], what: str, key: Callable[[T], tuple[str | int, ...]]
) -> tuple[T, ...]:
    keys = [key(value) for value in values]
    if any(one >= other for one, other in zip(keys, keys[1:], strict=False)):  # noqa: RUF007
        raise _bad(what, "are not in their order, or stand there twice")
    return tuple(values)


def _bad(argument: str, problem: str) -> InvalidInputError:
    return InvalidInputError(f"{argument} {problem}", argument=argument)
