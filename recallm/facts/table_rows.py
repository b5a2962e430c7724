"""The rows of a table, whatever holds it: CSV, JSON or records.

Every kind of table gives records: a mapping from column to the raw value of each cell. Checks of
keys, columns and cells are the same for all of them, and every error names the row or the line.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias
from uuid import UUID

from recallm.errors import ArchiveError, InvalidInputError
from recallm.facts.fact import Term, checked_term
from recallm.facts.values import value_of
from recallm.ground import checks
from recallm.memory.archive import open_for_reading

Record: TypeAlias = Mapping[str, object]
"""The cells of a row as they were given, by column."""

Table: TypeAlias = tuple[Sequence[str] | None, Iterator[Record]]
"""The columns, if they are known before the first row, and the records."""

_DELIMITERS = ",;\t|"
_BLANK = '\ufeff \t\r\n,;|"'
"""Characters of lines without a cell."""
_EMPTY = "the table is empty; it needs a header, or records"
_MOST_DIGITS = 1_000
"""A Decimal with more is no cell."""
_ABSENT_TYPES = frozenset(("NAType", "NaTType"))
"""The types of pandas for a missing value; they compare with nothing."""


class TableRow(NamedTuple):
    """A row: its ``number`` from 1 (a header does not count), its key, the terms of each relation
    that has some, and when it was said (None: at the time of the load)."""

    number: int
    key: Term
    cells: Mapping[str, tuple[Term, ...]]
    said: datetime | None


class Source(NamedTuple):
    """A table: its ``name``, if it has one; ``read``, which reads it from the first row on; and
    whether it can be read twice."""

    name: str | None
    read: Callable[[], Table]
    is_rereadable: bool


def source_of(table: object, *, key: str) -> Source:
    """The table that a user gives."""
    if isinstance(table, str | os.PathLike):
        path = checks.file_path(table, "table")
        return Source(path.name, lambda: _read_lines(_lines_of(path), key), True)
    given: Any = table
    if callable(getattr(given, "read", None)):
        return Source(None, lambda: _read_lines(iter(given), key), False)
    if hasattr(given, "columns") or hasattr(given, "schema"):
        raise _unusable(
            'give the rows of a data frame: frame.to_dict("records") of pandas, '
            "frame.to_dicts() of Polars, table.to_pylist() of Arrow"
        )
    records = checks.listed(table, "table")
    return Source(None, lambda: (None, iter(records)), isinstance(table, Sequence))


def checked_rows(
    source: Source,
    *,
    key: str,
    columns: Mapping[str, str] | None = None,
    said: str | None = None,
    check_relation: Callable[[str], None] = lambda _: None,
    seen: dict[str, int] | None = None,
) -> Iterator[TableRow]:
    """Each row of a table, checked. ``key`` and ``said`` name columns; ``columns`` gives those that
    are read the names of their relations, and None stands for all others. ``check_relation`` raises
    an error for a relation that cannot be written. ``seen`` gets each key (``same_key``), with
    the number of its row. An InvalidInputError says which row, column or key cannot be used.
    """
    header, records = source.read()
    needed = {key, *(columns or ()), *(() if said is None else (said,))}
    relations: dict[object, str | None] = {}
    """The relation of each known column; None for a column that is not read."""

    def relation_of(column: object, place: str = "a column") -> str | None:
        if column not in relations:
            if not isinstance(column, str) or not column.strip():
                raise _unusable(f"{place} has no name but {checks.shown(column)}; name the column")
            relation = None if column in (key, said) else column.strip()
            if columns is not None:
                relation = columns.get(column)
            if relation is not None:
                checks.name(relation, f"the name of {place}")
                check_relation(relation)
            relations[column] = relation
        return relations[column]

    for number, column in enumerate(header or (), 1):
        if column in relations:
            raise _unusable(f"the column {checks.shown(column)} stands twice")
        try:
            relation_of(column, f"column {number}")
        except InvalidInputError as error:
            raise _unusable(error.message) from None
    if header is not None and (missing := needed - relations.keys()):
        shown = ", ".join(map(checks.shown, header[:20]))
        raise _unusable(f"there is no column {checks.shown(min(missing))}; the columns are {shown}")
    rows = {} if seen is None else seen
    for number, record in enumerate(records, 1):
        try:
            row = _row(number, record, relation_of, key=key, said=said)
            text = checked_term(row.key, "key")
            known = rows.setdefault(same_key(text), number)
            if known != number:
                raise _unusable(f"the key {checks.shown(text)} stands in row {known} already")
        except InvalidInputError as error:
            raise _unusable(f"row {number}: {error.message}") from None
        yield row
    if header is None and rows and (missing := needed - relations.keys()):
        raise _unusable(f"no row has a column {checks.shown(min(missing))}")


def same_key(text: str) -> str:
    """What two spellings of one key share: the text without case and further white space."""
    return " ".join(text.casefold().split())


def _row(
    number: int,
    record: object,
    relation_of: Callable[[object], str | None],
    *,
    key: str,
    said: str | None,
) -> TableRow:
    if not isinstance(record, Mapping):
        kind = type(record).__name__
        raise _unusable(f"a row must be a mapping of column → cell, not {kind}")
    keys = _terms(record.get(key), key)
    if len(keys) != 1:
        problem = "is blank" if not keys else f"has {len(keys)} values"
        raise _unusable(f"the key column {checks.shown(key)} {problem}")
    cells: dict[str, tuple[Term, ...]] = {}
    for column, value in record.items():
        relation = relation_of(column)
        if relation is not None and (terms := _terms(value, column)):
            cells[relation] = cells.get(relation, ()) + terms
    moment = None if said is None else _moment(record.get(said), said)
    return TableRow(number, keys[0], cells, moment)


# -- cells -------------------------------------------------------------------------------------


def _terms(value: object, column: str) -> tuple[Term, ...]:
    """The terms of a cell; none where it is blank."""
    if isinstance(value, list | tuple):
        return tuple(dict.fromkeys(chain.from_iterable(_scalar(each, column) for each in value)))
    return _scalar(value, column)


def _scalar(value: object, column: str) -> tuple[Term, ...]:
    given: Any = value
    argument = f"column {checks.shown(column)}"
    if isinstance(given, str):
        text = given.strip()
        return (checks.name(text, argument),) if text else ()
    if given is None or type(given).__name__ in _ABSENT_TYPES:
        return ()
    if hasattr(given, "dtype") and hasattr(given, "tolist"):  # numpy
        if given.dtype.kind == "M":  # Python has no nanoseconds
            given = given.astype("datetime64[us]")
        return _terms(given.tolist(), column)
    if isinstance(given, datetime):  # a pandas Timestamp too
        return (datetime.combine(given.date(), given.timetz()),)
    if isinstance(given, Decimal) and given.is_finite() and abs(given.adjusted()) < _MOST_DIGITS:
        given = format(given, "f")
    is_measured = isinstance(given, float | Decimal)
    if is_measured and "nan" in str(given).lower():  # Decimal has two kinds
        return ()
    is_finite = isinstance(given, float) and isfinite(given)
    if isinstance(given, str | bool | int | date | time | UUID) or is_finite:
        term: Any = str(given) if isinstance(given, time | UUID) else given
        checked_term(term, argument)
        return (term,)
    shown = str(given) if is_measured else type(given).__name__
    raise _unusable(
        f"{argument} holds {shown:.60}; a cell is a text, a finite number, a date, True or False, "
        "or a list of these; leave the column out with relations=…"
    )


def _moment(value: object, column: str) -> datetime | None:
    """The moment that a cell holds; without a time zone it is in UTC."""
    terms = _terms(value, column)
    if not terms:
        return None
    first = next(iter(terms))
    found = value_of(first) if isinstance(first, str) else first
    if len(terms) > 1 or not isinstance(found, date):
        raise _unusable(
            f"column {checks.shown(column)} says when a row was said and holds "
            f"{checks.shown(first)}; write a date like 2024-05-01 or 2024-05-01T14:30+02:00"
        )
    if not isinstance(found, datetime):
        found = datetime.combine(found, time())
    moment = found if found.utcoffset() is not None else found.replace(tzinfo=UTC)
    return checks.timestamp(moment, f"column {checks.shown(column)}")


# -- kinds of tables ---------------------------------------------------------------------------


def _lines_of(path: Path) -> Iterator[str]:
    try:
        with open_for_reading(path) as stream:
            yield from stream
    except ArchiveError as error:
        raise _unusable(str(error)) from error


def _read_lines(given: Iterator[object], key: str) -> Table:
    """The table in lines of text: JSON where the first one begins with [ or {, else CSV."""
    lines = _checked_lines(given)
    first = next((line for line in lines if line.strip(_BLANK)), "").lstrip("\ufeff")
    if not first:
        raise _unusable(_EMPTY)
    if first.lstrip().startswith(("[", "{")):
        return None, _json_records(first, lines)
    rows = _csv_rows(first, lines, key)
    columns = [column.strip() for column in next(rows, [])]
    if not columns:
        raise _unusable(_EMPTY)
    return columns, (dict(zip(columns, row, strict=True)) for row in rows)


def _checked_lines(given: Iterator[object]) -> Iterator[str]:
    try:
        for line in given:
            if not isinstance(line, str):
                raise _unusable(
                    f"the stream gives {type(line).__name__}; open it as text, in UTF-8"
                )
            yield line
    except UnicodeDecodeError as error:
        raise _unusable(f"the table is not text in UTF-8: {error}") from error


def _csv_rows(first: str, lines: Iterator[str], key: str) -> Iterator[list[str]]:
    """The rows of a CSV, its header first; blank ones are left out. The delimiter is the one with
    which the first line has the key and the most columns."""

    def fit(delimiter: str) -> tuple[bool, int]:
        columns = [column.strip() for column in next(csv.reader([first], delimiter=delimiter))]
        return key in columns, len(columns)

    line = 1
    size = None
    try:
        reader = csv.reader(chain([first], lines), delimiter=max(_DELIMITERS, key=fit), strict=True)
        for row in reader:
            line = reader.line_num
            if not any(map(str.strip, row)):
                continue
            size = size or len(row)
            if len(row) != size:
                raise _unusable(f"line {line} has {len(row)} cells, the header has {size}")
            yield row
    except csv.Error as error:
        raise _unusable(f"the row behind line {line} cannot be read: {error}") from error


def _json_records(first: str, lines: Iterator[str]) -> Iterator[Record]:
    if first.lstrip().startswith("["):
        yield from _json("the table", first + "".join(lines))
        return
    rows = (line for line in chain([first], lines) if line.strip())
    for number, line in enumerate(rows, 1):
        yield _json(f"row {number}", line)


def _json(place: str, text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        raise _unusable(
            f"{place} is no JSON: {error}; write a list of objects, or one object a line"
        ) from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a name stands twice in an object")
    return made


def _unusable(problem: str) -> InvalidInputError:
    return InvalidInputError(problem, argument="table")
