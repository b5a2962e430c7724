"""The JSON form of each value in an archive, stated once for both directions.

``UPDATE`` and ``SUMMARY`` turn a record into JSON and back. Reading applies to each value the rule
that holds when it is first written (``recallm.ground.checks``), and to each update the rules that
``GraphReader.dump`` guarantees. So an archive that loads could have been exported, and is exported
again as it was. Every violation is an ``InvalidInputError``.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import partial, reduce
from operator import or_
from typing import Any, get_args

import numpy as np

from recallm.errors import InvalidInputError
from recallm.ground import checks
from recallm.model import (
    MAX_POSITION,
    NO_POSITION,
    ConceptKind,
    ConceptMention,
    EntityUpsert,
    ExtractedStatement,
    Neighbours,
    PreparedUpdate,
    Reference,
    StatementVector,
    Summary,
    Trait,
    TripletUpsert,
    is_message,
)
from recallm.stores.semantics.reading import DUMP_ORDER

LAST_T = 1 << 31
"""The greatest t_index of an archive. Every store has room for as many updates again."""

_ALL_TRAITS = int(reduce(or_, Trait))
_HALF = np.dtype("<f2")
_LENGTH_TOLERANCE = 0.01
"""How far half precision may move the length of a unit vector from 1."""


@dataclass(frozen=True, slots=True)
class Form:
    """How one kind of value is written as JSON, and how it is read and checked. ``read`` takes the
    JSON value and the name that an error gives it."""

    write: Callable[[Any], Any]
    read: Callable[[Any, str], Any]


def fields(value: object, what: str, known: Iterable[str], required: Iterable[str]) -> Any:
    """A JSON object that has the names ``required`` and none but ``known``."""
    found = _json(value, dict, "an object", what)
    unknown, missing = found.keys() - set(known), set(required) - found.keys()
    if unknown or missing:
        name = min(unknown or missing)
        raise violation(what, f"{'has an unknown' if unknown else 'lacks its'} {name[:40]!r}")
    return found


def violation(what: str, problem: str) -> InvalidInputError:
    """The error for an archive that breaks a rule."""
    return InvalidInputError(f"{what} {problem}", argument=what)


# -- forms of single values --------------------------------------------------------------------


def _same(check: Callable[[Any, str], Any]) -> Form:
    return Form(lambda value: value, check)


def _json(value: object, kind: type, kind_name: str, what: str) -> Any:
    if not isinstance(value, kind):
        raise violation(what, f"must be {kind_name}, not {type(value).__name__}")
    return value


def _filled(value: object, what: str) -> str:
    text = checks.string(value, what)
    if not text:
        raise violation(what, "is empty")
    return text


def _kind(value: object, what: str) -> ConceptKind:
    return checks.choice(value, get_args(ConceptKind), what)


def _terms(value: object, what: str) -> tuple[str, ...]:
    text = checks.string(value, what)
    return tuple(_filled(term, what) for term in text.split(" ")) if text else ()


def _traits(value: object, what: str) -> Trait:
    return Trait(checks.whole(value, what, least=0, most=_ALL_TRAITS))


def _moment(value: object, what: str) -> datetime | None:
    if value is None:
        return None
    text = checks.string(value, what)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise violation(what, f"is no time: {error}") from None
    if moment.isoformat() != text:
        raise violation(what, f"must be spelled {moment.isoformat()}, not {text[:60]!r}")
    return checks.timestamp(moment, what)


def _properties(value: object, what: str) -> dict[str, Any]:
    return checks.properties(_json(value, dict, "an object", what), what)


def _blob(value: object, what: str) -> bytes:
    """A vector as the stores hold vectors: of length 1, or of zeros."""
    text = checks.string(value, what)
    try:
        blob = base64.b64decode(text, validate=True)
    except ValueError as error:
        raise violation(what, f"is no base 64: {error}") from None
    if base64.b64encode(blob).decode() != text:
        raise violation(what, "is not spelled as base 64 is")
    if not blob or len(blob) % _HALF.itemsize:
        raise violation(what, f"has {len(blob)} bytes, which are no numbers of 16 bits")
    length = float(np.linalg.norm(np.frombuffer(blob, _HALF).astype(np.float64)))
    if not (length == 0 or abs(length - 1) <= _LENGTH_TOLERANCE):  # nor is that of NaN
        raise violation(what, "is neither of length 1 nor of zeros")
    return blob


_NAME = _same(checks.name)
_OPTIONAL_NAME = _same(checks.optional_name)
_TEXT = _same(checks.string)
_FILLED = _same(_filled)
_COUNT = _same(partial(checks.whole, least=0))
_T_INDEX = _same(partial(checks.whole, least=1, most=LAST_T))
_STATEMENT_POSITION = _same(partial(checks.whole, least=0, most=MAX_POSITION))
_POSITION = _same(partial(checks.whole, least=0, most=NO_POSITION))
_TERMS = Form(" ".join, _terms)
_TRAITS = Form(int, _traits)
_MOMENT = Form(lambda moment: None if moment is None else moment.isoformat(), _moment)
_PROPERTIES = Form(dict, _properties)
_BLOB = Form(lambda blob: base64.b64encode(blob).decode(), _blob)


# -- forms of values that hold others ----------------------------------------------------------


def _list_of(form: Form) -> Form:
    """A tuple of values as a JSON array."""

    def read(value: object, what: str) -> tuple[Any, ...]:
        return tuple(form.read(each, what) for each in _json(value, list, "a list", what))

    return Form(lambda values: [form.write(each) for each in values], read)


def _map_of(form: Form) -> Form:
    """A mapping from names as a JSON object."""

    def read(value: object, what: str) -> dict[str, Any]:
        found = _json(value, dict, "an object", what)
        return {checks.name(name, what): form.read(each, what) for name, each in found.items()}

    return Form(lambda values: {name: form.write(each) for name, each in values.items()}, read)


def _row_of(make: Callable[..., Any], optional: str = "", /, **forms: Form) -> Form:
    """A value as a JSON array of its fields, in this order; ``optional`` names the last field where
    a row leaves it out for None."""
    lengths = (len(forms) - 1, len(forms)) if optional else (len(forms),)

    def write(value: object) -> list[Any]:
        return [
            form.write(each)
            for name, form in forms.items()
            if (each := getattr(value, name)) is not None or name != optional
        ]

    def read(value: object, what: str) -> Any:
        row = _json(value, list, "a list", what)
        if len(row) not in lengths:
            raise violation(what, f"must be rows of {len(forms)}, not of {len(row)}")
        cells = zip(forms.items(), row, strict=False)
        return make(**{name: form.read(cell, name) for (name, form), cell in cells})

    return Form(write, read)


def _object_of(make: Callable[..., Any], required: Collection[str], /, **forms: Form) -> Form:
    """A value as a JSON object, without the fields that are None or empty."""

    def write(value: object) -> dict[str, Any]:
        written = ((name, form.write(getattr(value, name))) for name, form in forms.items())
        return {name: each for name, each in written if each not in (None, [], {})}

    def read(value: object, what: str) -> Any:
        found = fields(value, what, forms, required)
        return make(**{name: forms[name].read(each, name) for name, each in found.items()})

    return Form(write, read)


_MENTION_FORMS = {"label": _FILLED, "kind": _same(_kind)}
_REFERENCE = _row_of(Reference, "antecedent", start=_COUNT, end=_COUNT, antecedent=_NAME)
_MENTION = _row_of(
    ConceptMention, "reference", name=_FILLED, **_MENTION_FORMS, reference=_REFERENCE
)
_MENTION_OR_NONE = _row_of(ConceptMention, name=_TEXT, **_MENTION_FORMS)
"""An entity that stands on no concept has a mention without a name."""

_STATEMENT = _row_of(
    ExtractedStatement,
    "text",
    position=_STATEMENT_POSITION,
    start=_COUNT,
    end=_COUNT,
    terms=_TERMS,
    concepts=_list_of(_MENTION),
    traits=_TRAITS,
    text=_FILLED,
)
_NEIGHBOURS = _row_of(Neighbours, a=_TEXT, b=_TEXT, earlier=_POSITION, later=_POSITION)
_ENTITY = _object_of(
    EntityUpsert,
    ("id", "type", "concept", "position"),
    id=_NAME,
    type=_NAME,
    concept=_MENTION_OR_NONE,
    properties=_PROPERTIES,
    position=_POSITION,
    vectors=_map_of(_BLOB),
    mentioned=Form(lambda mentioned: mentioned or None, checks.flag),
)
_TRIPLET = _row_of(
    TripletUpsert,
    subject=_NAME,
    predicate=_NAME,
    object=_NAME,
    properties=_PROPERTIES,
    position=_POSITION,
)
_VECTOR = _row_of(StatementVector, position=_POSITION, model=_NAME, blob=_BLOB)


# -- records -----------------------------------------------------------------------------------


def _consistent_update(*, text: str | None = None, **values: Any) -> PreparedUpdate:
    """The update of a line, if its parts agree with each other."""
    update = PreparedUpdate(text=text, **values)
    if update.text is None:
        kept = ("t_index", "entities", "triplets")
        graph: dict[str, Any] = {name: getattr(update, name) for name in kept}
        is_graph_only = update == PreparedUpdate(id="", text=None, **graph)
        if not (is_graph_only and (update.entities or update.triplets)):
            raise violation("update", "without text must hold entities or triplets, and only these")
    else:
        checks.name(update.id, "id")
    if update.path and update.key is None:
        raise violation("path", "goes with a key")
    if update.speaker_concept is not None and update.speaker is None:
        raise violation("speaker_concept", "goes with a speaker")
    _check_session_key(update)
    _check_statements(update.statements, len(update.text or ""))
    _check_neighbours(update.neighbours, update.statements)
    positions = {statement.position for statement in update.statements}
    _check_positions(update.vectors, positions)
    _check_positions([*update.entities, *update.triplets], {*positions, NO_POSITION})
    for part, place in DUMP_ORDER.items():
        places = list(map(place, getattr(update, part)))
        if places != sorted(set(places)):
            raise violation(part, "are not in their order, or are repeated")
    return update


def _check_session_key(update: PreparedUpdate) -> None:
    key = update.session_key
    if key is None:
        return
    has_own_session = update.source is not None and not is_message(update)
    if update.timestamp is None or update.session is not None or has_own_session:
        raise violation("session_key", "goes with a timestamp, and with no session or document")
    if key.startswith("=") and len(key) > 1 and key != f"={update.source}":
        return
    first = re.fullmatch("@([1-9][0-9]{0,9})", key)
    if not first or int(first[1]) > (update.t_index or 0):
        raise violation("session_key", "is not the t_index of this update or an earlier one")


def _check_statements(statements: Iterable[ExtractedStatement], length: int) -> None:
    for statement in statements:
        names = {concept.name for concept in statement.concepts}
        if len(names) < len(statement.concepts):
            raise violation("concepts", "hold a name twice")
        start, end, text = statement.start, statement.end, statement.text
        # Of a span that two propositions share, nothing is left once one of them is forgotten.
        if not (start <= end <= length and (start < end or text is not None)):
            raise violation("statements", "are no spans of the text")
        size = end - start if text is None else len(text)
        for reference in filter(None, (concept.reference for concept in statement.concepts)):
            if not reference.start < reference.end <= size:
                raise violation("reference", "is no span of its statement")


def _check_neighbours(
    pairs: Iterable[Neighbours], statements: Iterable[ExtractedStatement]
) -> None:
    concepts = {
        statement.position: {concept.name for concept in statement.concepts}
        for statement in statements
    }
    for pair in pairs:
        earlier, later = concepts.get(pair.earlier, set()), concepts.get(pair.later, set())
        are_mentioned = (pair.a in earlier and pair.b in later) or (
            pair.b in earlier and pair.a in later
        )
        if not (are_mentioned and pair.a < pair.b and pair.earlier <= pair.later):
            raise violation("neighbours", "are no concepts of the statements that they name")


def _check_positions(
    values: Iterable[EntityUpsert | TripletUpsert | StatementVector], known: Collection[int]
) -> None:
    for value in values:
        if value.position not in known:
            raise violation("position", f"is {value.position}, where no statement is")


UPDATE = _object_of(
    _consistent_update,
    ("id", "t_index"),
    id=_TEXT,
    t_index=_T_INDEX,
    text=_same(partial(checks.optional, checks.string)),
    statements=_list_of(_STATEMENT),
    neighbours=_list_of(_NEIGHBOURS),
    source=_OPTIONAL_NAME,
    session=_OPTIONAL_NAME,
    speaker=_OPTIONAL_NAME,
    speaker_concept=_OPTIONAL_NAME,
    timestamp=_MOMENT,
    metadata=Form(dict, checks.properties),
    path=Form(list, checks.item_path),
    key=_OPTIONAL_NAME,
    expires_at=_MOMENT,
    entities=_list_of(_ENTITY),
    triplets=_list_of(_TRIPLET),
    vectors=_list_of(_VECTOR),
    session_key=_OPTIONAL_NAME,
    withdrawn_t=_T_INDEX,
)
_SUMMARY_FORMS = {
    "concept": _FILLED,
    "t_index": _T_INDEX,
    "text": _TEXT,
    "terms": _TERMS,
    "traits": _TRAITS,
}
SUMMARY = _object_of(Summary, _SUMMARY_FORMS, **_SUMMARY_FORMS)
