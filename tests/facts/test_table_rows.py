"""The rows of tables: CSV, JSON and records, good and bad."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from io import BytesIO, StringIO
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recallm import InvalidInputError, RecallM
from recallm.facts.table_rows import TableRow, checked_rows, source_of

PEOPLE = 'name,works for,born\nAda,"Acme, Inc.",1815\nBo,,1990-05-01\n'


def read(
    table: object,
    *,
    key: str = "name",
    relations: Sequence[str] | None = None,
    said: str | None = None,
) -> list[TableRow]:
    source = source_of(table, key=key)
    columns = None if relations is None else {column: column for column in relations}
    return list(checked_rows(source, key=key, columns=columns, said=said))


def cells(table: object, **given: Any) -> list[tuple[Any, dict[str, Any]]]:
    """The key and the cells of each row; of a cell with one term this term."""
    return [
        (
            row.key,
            {column: terms if len(terms) > 1 else terms[0] for column, terms in row.cells.items()},
        )
        for row in read(table, **given)
    ]


def problem(table: object, **given: Any) -> str:
    with pytest.raises(InvalidInputError) as failure:
        read(table, **given)
    assert failure.value.argument == "table"
    return failure.value.message


# ---- CSV -------------------------------------------------------------------------------------


def test_a_csv() -> None:
    assert read(StringIO(PEOPLE)) == [
        TableRow(1, "Ada", {"works for": ("Acme, Inc.",), "born": ("1815",)}, None),
        TableRow(2, "Bo", {"born": ("1990-05-01",)}, None),
    ]


def test_a_file_of_any_delimiter(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    assert source_of(str(path), key="name").name == "people.csv"
    wrong = []
    for mark, end in product(",;\t|", ("\n", "\r\n")):
        text = f'\ufeffname{mark}"lives{end}in"{mark}note{end}Ada{mark}"Oslo{end}2"{mark} x {end}'
        path.write_bytes(text.encode())
        found = cells(path)
        if found != [("Ada", {f"lives{end}in": f"Oslo{end}2", "note": "x"})]:
            wrong.append((mark, end, found))
    assert wrong == []


def test_the_delimiter_is_the_one_that_finds_the_key() -> None:
    assert cells(StringIO("a,b,c;name\n1,2,3;Ada\n")) == [("Ada", {"a,b,c": "1,2,3"})]


def test_blank_lines_and_rows_are_skipped() -> None:
    assert [row.number for row in read(StringIO("\n\nname,a\n\nAda,1\n , \n,\n\nBo,2\n"))] == [1, 2]


BAD_CSV = [
    ("", "is empty"),
    ("\ufeff\n \n", "is empty"),
    (',,\n;\n""\n', "is empty"),
    ("who,a\nAda,1\n", "no column 'name'; the columns are 'who', 'a'"),
    ("name,a,a\n", "'a' stands twice"),
    ("name,,b\n", "column 2 has no name"),
    ("name,a\nAda,1\nBo\n", "line 3 has 1 cells, the header has 2"),
    ("name,a\nAda,1,2\n", "line 2 has 3 cells"),
    ("name,a\nAda,1\n,2\n", "row 2: the key column 'name' is blank"),
    ("name,a\nAda,1\nBo,2\n Ada ,3\n", "row 3: the key 'Ada' stands in row 1 already"),
    ('name,a\nAda,"x', "the row behind line 1 cannot be read"),
    ('name,a\nAda,"x"y\n', "the row behind line 1 cannot be read"),
    ('name,"a\n', "the row behind line"),
    (f"name,a\nAda,{'x' * 1025}\n", "row 1: column 'a' must have 1 to 1024 characters"),
    (f"name,a\n{'x' * 1025},1\n", "row 1: column 'name' must have"),
    (f"name,{'x' * 1025}\nAda,1\n", "the name of column 2 must have"),
    (f"name,a\nAda,{'x' * 200_000}\n", "the row behind line 1 cannot be read: field larger"),
    ("name,a\nAda,\ud800\n", "row 1: column 'a' holds a lone surrogate"),
]


def test_bad_csv() -> None:
    found = [(problem(StringIO(text, newline="")), expected) for text, expected in BAD_CSV]
    assert [row for row in found if row[1] not in row[0]] == []


def test_a_nul_is_a_character_like_any_other() -> None:
    assert cells(StringIO("name,a\nAda,x\x00y\n")) == [("Ada", {"a": "x\x00y"})]


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
NAMES = st.lists(
    TEXTS.map(str.strip).filter(lambda text: text not in ("", "name") and "\ufeff" not in text),
    max_size=4,
    unique=True,
)


@given(
    NAMES, st.lists(st.lists(TEXTS, min_size=4, max_size=4), max_size=4), st.sampled_from(",;\t|")
)
def test_what_is_written_as_csv_is_read(
    columns: list[str], rows: list[list[str]], delimiter: str
) -> None:
    stream = StringIO(newline="")
    writer = csv.writer(stream, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writerow(["name", *columns])
    writer.writerows((f"P{number}", *row[: len(columns)]) for number, row in enumerate(rows))
    stream.seek(0)
    expected = [
        (f"P{number}", {column: cell.strip() for column, cell in zip(columns, row, strict=False)})
        for number, row in enumerate(rows)
    ]
    found = cells(stream)
    assert found == [(key, {column: x for column, x in row.items() if x}) for key, row in expected]


def test_bad_files(tmp_path: Path) -> None:
    assert "cannot be read" in problem(tmp_path / "none.csv")
    assert "cannot be read" in problem(tmp_path)
    (tmp_path / "latin.csv").write_bytes(b"name,a\nAda,\xff\n")
    assert "not text in UTF-8" in problem(tmp_path / "latin.csv")
    with RecallM(tmp_path / "memory.db"):
        assert "belongs to a database" in problem(tmp_path / "memory.db")
    (tmp_path / "mac.csv").write_bytes(b"name,a\rAda,1\r")
    assert "cannot be read" in problem(tmp_path / "mac.csv")
    assert "gives bytes" in problem(BytesIO(PEOPLE.encode()))


# ---- JSON ------------------------------------------------------------------------------------

RECORDS = '{"name": "Ada", "age": 36, "tags": ["a", "b", null, "a"], "x": null}'


def test_json(tmp_path: Path) -> None:
    path = tmp_path / "people.json"
    for text in (RECORDS + "\n", f"[{RECORDS}]", f"\ufeff [\n{RECORDS}\n]", f"\n{RECORDS}\n\n"):
        expected = [("Ada", {"age": 36, "tags": ("a", "b")})]
        assert cells(StringIO(text)) == expected, text
        path.write_text(text, encoding="utf-8")
        assert cells(path) == expected, text


def test_records_may_lack_columns() -> None:
    records = [{"name": "Ada", "a": True}, {"name": 7, "b": date(2024, 5, 1)}]
    assert cells(records) == [("Ada", {"a": True}), (7, {"b": date(2024, 5, 1)})]
    assert cells(iter(records), relations=["b"]) == [("Ada", {}), (7, {"b": date(2024, 5, 1)})]
    assert cells([]) == []
    assert problem(records, relations=["c"]) == "no row has a column 'c'"


BAD_JSON = [
    ('{"name": "Ada"}\n{"name": ', "row 2 is no JSON"),
    ('{\n"name": "Ada"}\n', "row 1 is no JSON"),
    ('{"name": "Ada", "name": "Bo"}', "stands twice in an object"),
    ('{"name": "Ada", "a": Infinity}', "column 'a' holds inf"),
    ('[{"name": "Ada"}', "the table is no JSON"),
    ("[" * 100_000, "the table is no JSON"),
    ("[5]", "row 1: a row must be a mapping of column → cell, not int"),
    ('{"name": "Ada", "a": {"b": 1}}', "row 1: column 'a' holds dict"),
    ('{"name": "Ada", "a": [[1]]}', "row 1: column 'a' holds list"),
    ('{"name": "Ada", "": 1}', "row 1: a column has no name"),
    ('{"name": ["Ada", "Bo"]}', "row 1: the key column 'name' has 2 values"),
    ('{"who": "Ada"}', "row 1: the key column 'name' is blank"),
    ('{"name": 1}\n{"name": "1"}', "row 2: the key '1' stands in row 1"),
    ('{"name": "\\ud800"}', "lone surrogate"),
]


def test_bad_json() -> None:
    found = [(problem(StringIO(text)), expected) for text, expected in BAD_JSON]
    assert [row for row in found if row[1] not in row[0]] == []


# ---- values ----------------------------------------------------------------------------------


TYPED = [
    (" x ", "x"),
    (1.5, 1.5),
    (np.float64(1.5), 1.5),
    (np.int32(7), 7),
    (np.bool_(True), True),
    (np.datetime64("2024-05-01T10:00:00.000000000"), datetime(2024, 5, 1, 10)),  # noqa: DTZ001
    (np.array(["a", "b"]), ("a", "b")),
    (Decimal("3.50"), "3.50"),
    (Decimal("1E+2"), "100"),
    (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    (time(10, 30), "10:30:00"),
    (date(2024, 5, 1), date(2024, 5, 1)),
    ((1, "1", 1), (1, "1")),
]


def test_typed_cells() -> None:
    wrong = []
    for cell, expected in TYPED:
        ((_, found),) = cells([{"name": "Ada", "a": cell}])
        terms = found["a"] if isinstance(found["a"], tuple) else [found["a"]]
        plain = {type(term) for term in terms} <= {str, bool, int, float, date, datetime}
        if found != {"a": expected} or not plain:
            wrong.append((cell, found))
    assert wrong == []


class NAType:
    """As pandas has it."""

    def __repr__(self) -> str:
        return "<NA>"

    def __eq__(self, other: object) -> Any:
        raise TypeError("boolean value of NA is ambiguous")

    __hash__ = object.__hash__


ABSENT = [None, "", " \n", float("nan"), np.float64("nan"), np.datetime64("NaT"), Decimal("nan"),
          Decimal("sNaN"), NAType(), [], [None, ""]]  # fmt: skip


def test_absent_cells() -> None:
    for absent in ABSENT:
        found = cells([{"name": "Ada", "a": absent, "b": 1}])
        assert found == [("Ada", {"b": 1})], repr(absent)


NO_CELLS = [b"x", {"a": 1}, {1, 2}, object(), 1j, float("inf"), Decimal("Infinity"), timedelta(1),
            Decimal("1E+999999999"), 10**5000, [{}]]  # fmt: skip


def test_what_is_no_cell() -> None:
    for bad in NO_CELLS:
        assert problem([{"name": "Ada", "a": 1}, {"name": "Bo", "a": bad}]).startswith("row 2: ")


def test_the_moment_of_a_row() -> None:
    rows = read(
        StringIO(
            "name,at,a\nAda,2024-05-01,1\nBo,2024-05-01T10:00+02:00,2\nCy,,3\nDi,1 May 2024,4\n"
        ),
        said="at",
    )
    noon = datetime(2024, 5, 1, tzinfo=UTC)
    there = datetime(2024, 5, 1, 10, tzinfo=timezone(timedelta(hours=2)))
    assert [row.said for row in rows] == [noon, there, None, noon]
    assert [set(row.cells) for row in rows] == [{"a"}] * 4
    both = read(StringIO("name,at\nAda,2024-05-01\n"), said="at", relations=["at"])
    assert both[0].cells == {"at": ("2024-05-01",)}
    for bad in ("soon", "7", "0001-01-01T00:00+14:00"):
        assert "row 1: column 'at'" in problem(StringIO(f"name,at\nAda,{bad}\n"), said="at")
    assert "no column 'when'" in problem(StringIO("name,at\n"), said="when")


# ---- kinds of tables -------------------------------------------------------------------------


def test_what_is_no_table() -> None:
    for bad in (None, 5, b"x", {"name": "Ada"}, object()):
        assert "table" in problem(bad), bad
    for frame in (SimpleNamespace(columns=["name"]), SimpleNamespace(schema=None)):
        assert 'to_dict("records")' in problem(frame)
