"""Tables become facts, and a table that is loaded again updates them."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import partial
from io import StringIO
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recallm import InvalidInputError, StoreError
from recallm.facts import FactMemory, TableReport, tables

MAY = datetime(2024, 5, 1, tzinfo=UTC)
JUNE = datetime(2024, 6, 1, tzinfo=UTC)

PEOPLE = """name,works_for,born,speaks
Ada,BMW,1990-05-01,English
Bo,Cisco,,Thai
"""
LATER = """name,works_for,born,speaks
Ada,Pfizer,1990-05-01,
Cy,Cisco,"1 May 2001",Dutch
"""


def load(facts: FactMemory, text: str, **given: Any) -> TableReport:
    return facts.load(csv.DictReader(StringIO(text)), **{"key": "name", "name": "people", **given})


def lines(facts: FactMemory, **given: Any) -> list[str]:
    return sorted(fact.line for fact in facts.read(**given))


def report(*counts: int) -> TableReport:
    return TableReport(**dict(zip(TableReport.__slots__, counts, strict=True)))


# ---- what is written -------------------------------------------------------------------------


def test_rows_are_facts(facts: FactMemory) -> None:
    assert load(facts, PEOPLE, said=MAY) == report(2, 5, 0, 0, 0)
    assert lines(facts) == [
        "Ada — born → 1990-05-01",
        "Ada — speaks → English",
        "Ada — works_for → BMW",
        "Bo — speaks → Thai",
        "Bo — works_for → Cisco",
    ]
    (born,) = facts.read("Ada", "born")
    assert (born.value, born.said, born.source) == (date(1990, 5, 1), MAY, "people")
    passage = facts.memory.get(born.passage or "")
    assert passage is not None
    assert passage.metadata == {"key": "Ada", "row": 1}
    assert [fact.object for fact in facts.read("ada", "works for")] == ["BMW"]


def test_a_table_that_is_loaded_again(facts: FactMemory) -> None:
    load(facts, PEOPLE, said=MAY)
    before = facts.memory.stats().t_index
    assert load(facts, PEOPLE, said=JUNE) == report(2, 0, 0, 0, 5)
    assert facts.memory.stats().t_index == before
    assert load(facts, LATER, said=JUNE) == report(2, 3, 1, 3, 1)
    assert lines(facts) == [
        "Ada — born → 1990-05-01",
        "Ada — works_for → Pfizer",
        "Cy — born → 1 May 2001",
        "Cy — speaks → Dutch",
        "Cy — works_for → Cisco",
    ]
    assert len(facts.read(as_of=MAY)) == len(facts.read(as_of=before)) == 5
    employers = facts.changes("Ada", "works for")
    assert [(employer.object, employer.since, employer.until) for employer in employers] == [
        ("BMW", MAY, JUNE),
        ("Pfizer", JUNE, None),
    ]
    (spoke,) = facts.changes("Bo", "speaks")
    assert (spoke.object, spoke.until, spoke.ended_by) == ("Thai", JUNE, "ended")
    assert load(facts, LATER) == report(2, 0, 0, 0, 5)
    assert load(facts, PEOPLE) == report(2, 3, 1, 3, 1)
    assert "Bo — speaks → Thai" in lines(facts)


def test_values_are_typed(facts: FactMemory) -> None:
    rows = [{"name": 7, "n": 52000.0, "b": True, "d": date(2024, 5, 1), "x": float("nan")}]
    assert facts.load(rows, key="name", name="t").added == 3
    values = [(fact.relation, fact.object, fact.value) for fact in facts.read(7)][::-1]
    day = date(2024, 5, 1)
    assert sorted(values) == [("b", "true", True), ("d", "2024-05-01", day), ("n", "52000", 52000)]
    kinds = {entity.id: (entity.type, entity.concept) for entity in facts.memory.graph.entities()}
    assert (kinds["52000"], kinds["2024-05-01"]) == (("number", ""), ("date", ""))


def test_cells_of_data_frames_and_databases(facts: FactMemory) -> None:
    row = {"name": "Ann", "pay": Decimal("52000.50"), "age": np.int64(34), "is in": np.bool_(True)}
    assert facts.load([row], key="name", name="t").added == 3
    found = {fact.relation: fact.value for fact in facts.read("Ann")}
    assert found == {"pay": 52000.5, "age": 34, "is in": True}


def test_lists_have_several_values(facts: FactMemory) -> None:
    def tags(*values: str) -> TableReport:
        return facts.load([{"name": "Ada", "tag": list(values)}], key="name", name="t")

    assert tags("a", "b", "c") == report(1, 3, 0, 0, 0)
    assert tags("b", "d") == report(1, 0, 1, 1, 1)
    assert [fact.object for fact in facts.read("Ada", "tag")] == ["d", "b"]
    assert tags() == report(1, 0, 0, 2, 0)
    assert facts.read() == []


def test_columns_and_objects_may_change_their_spelling(facts: FactMemory) -> None:
    load(facts, PEOPLE)
    assert load(facts, PEOPLE.replace("works_for", "Works for")).unchanged == 5
    for _ in range(2):
        assert load(facts, PEOPLE.replace("BMW", "bmw")).changed == 1
        assert [fact.object for fact in facts.read("Ada", "works for")] == ["bmw"]
        assert load(facts, PEOPLE.replace("BMW", "bmw")).unchanged == 5
        assert load(facts, PEOPLE).changed == 1
    two = [{"name": "Ada", "tag": ["Red", "red", "reds"]}]
    assert facts.load(two, key="name", name="t").added == 1
    assert facts.load(two, key="name", name="t") == report(1, 0, 0, 0, 1)


def test_a_row_is_never_said_before_what_it_changes(facts: FactMemory) -> None:
    load(facts, "name,works for\nAda,BMW\n", said=JUNE)
    assert load(facts, "name,works for\nAda,Cisco\n", said=MAY).changed == 1
    (now,) = facts.read("Ada")
    assert (now.object, now.said) == ("Cisco", JUNE)
    load(facts, "name,works for\nAda,BMW\n")
    assert facts.memory.now() - facts.read("Ada")[0].said < timedelta(minutes=5)  # type: ignore[operator]


# ---- beside other facts ----------------------------------------------------------------------


def test_other_sources_stay_as_they_are(facts: FactMemory) -> None:
    facts.write("Ada", "likes", "chess", source="talk")
    facts.write("Bo", "speaks", "Thai", source="talk")
    load(facts, PEOPLE)
    load(facts, PEOPLE, name="copy")
    load(facts, "name,works_for\nAda,BMW\n")
    assert "Ada — likes → chess" in lines(facts)
    assert load(facts, PEOPLE, name="copy").unchanged == 5
    facts.memory.forget(source="people")
    assert len(lines(facts)) == 6
    assert load(facts, PEOPLE) == report(2, 5, 0, 0, 0)


def test_what_others_ended_or_forgot(facts: FactMemory) -> None:
    load(facts, PEOPLE)
    facts.end("Ada", "works for")
    assert load(facts, PEOPLE).unchanged == 5
    assert facts.read("Ada", "works for") == []
    facts.memory.forget(id=facts.read("Bo", "speaks")[0].passage)
    assert load(facts, PEOPLE) == report(2, 2, 0, 0, 3)
    facts.memory.forget(everything=True)
    assert load(facts, PEOPLE) == report(2, 5, 0, 0, 0)


# ---- failures --------------------------------------------------------------------------------


BAD_ARGUMENTS: list[tuple[dict[str, Any], str, str]] = [
    ({"name": None}, "name", "name must be a str"),
    ({"name": ""}, "name", "name must have"),
    ({"key": None}, "key", "key must be a str"),
    ({"key": "who"}, "rows", "row 1: the key column 'who' has 0 values"),
    ({"said": datetime(2024, 5, 1)}, "said", "time zone"),  # noqa: DTZ001
    ({"said": 5}, "said", "said"),
]

BAD_ROWS: list[tuple[Any, str]] = [
    ({"name": " "}, "the key column 'name' has 0 values"),
    ({"name": ["Bo", "Cy"]}, "has 2 values"),
    ({"name": " ADA"}, "the key 'ADA' stands in row 1 already"),
    ({"name": "Bo", "": 1}, "the name of a column"),
    ({"name": "Bo", 5: {}}, "column 5"),
    ({"name": "Bo", "not born in": 1}, "denies a relation"),
    ({"name": "Bo", "x" * 1021: 1}, "the denial of a column"),
    ({"name": "Bo", "a": "x" * 1025}, "column 'a' must have 1 to 1024 characters"),
    ({"name": "x" * 1025}, "must have"),
    ({"name": "Bo", "a": "\ud800"}, "lone surrogate"),
    *(
        ({"name": "Bo", "a": cell}, "column 'a'")
        for cell in (b"x", {"a": 1}, {1}, object(), 1j, float("inf"), 10**5000, [{}], [[1]])
    ),
    ("Bo", "a row must be a mapping of column → cell, not str"),
]


def test_bad_arguments_and_rows_write_nothing(facts: FactMemory) -> None:
    for arguments, argument, problem in BAD_ARGUMENTS:
        with pytest.raises(InvalidInputError, match=problem) as failure:
            load(facts, PEOPLE, **arguments)
        assert failure.value.argument == argument, arguments
    for row, problem in BAD_ROWS:
        with pytest.raises(InvalidInputError) as failure:
            facts.load([{"name": "Ada", "a": 1}, row], key="name", name="people")
        assert failure.value.argument == "rows"
        assert problem in failure.value.message, (row, failure.value.message)
        assert failure.value.message.startswith("row 2: "), row
    for bad in (None, 5, b"x", {"name": "Ada"}, object()):
        with pytest.raises(InvalidInputError, match="rows"):
            facts.load(bad, key="name", name="people")  # type: ignore[arg-type]
    assert facts.memory.stats().t_index == 0


class NAType:
    """As pandas has it."""

    def __ne__(self, other: object) -> Any:
        raise TypeError("boolean value of NA is ambiguous")

    __hash__ = object.__hash__


def test_absent_cells(facts: FactMemory) -> None:
    absent = [None, "", " \n", float("nan"), np.float64("nan"), NAType(), [], [None, ""]]
    rows = [{"name": place, "a": cell, "b": 1} for place, cell in enumerate(absent)]
    assert facts.load(rows, key="name", name="t").added == len(absent)


@pytest.mark.parametrize("size", [1, 7])
def test_a_load_that_was_cut_off_is_completed(
    facts: FactMemory, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(tables, "ROWS_AT_ONCE", size)
    first = "name,a,b\n" + "".join(f"P{n},x{n},y\n" for n in range(6))
    later = "name,a,b\n" + "".join(f"P{n},x{n + n % 2},z\n" for n in range(2, 8))
    load(facts, first)
    expected = {(f"P{n}", "a", f"x{n + n % 2}") for n in range(2, 8)}
    expected |= {(f"P{n}", "b", "z") for n in range(2, 8)}

    write = facts.memory.update_many
    for batches in range(3):
        left = iter(range(batches))

        def broken(items: Any, left: Iterator[int] = left, **given: Any) -> Any:
            if next(left, None) is None:
                raise StoreError("the disk is gone")
            return write(items, **given)

        with pytest.MonkeyPatch.context() as patch, suppress(StoreError):
            patch.setattr(facts.memory, "update_many", broken)
            load(facts, later)
    load(facts, later)
    assert {(fact.subject, fact.relation, fact.object) for fact in facts.read()} == expected
    assert load(facts, later) == report(6, 0, 0, 0, 12)


# ---- large tables ----------------------------------------------------------------------------


def _calls(load: Callable[[], object]) -> int:
    """How many functions are called: work that does not depend on the machine."""
    calls = 0

    def counted(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        load()
    finally:
        sys.setprofile(None)
    return calls


def test_work_grows_with_rows_and_with_the_values_of_a_cell(shared_facts: FactMemory) -> None:
    def rows(size: int) -> list[dict[str, object]]:
        return [{"name": f"Person {n}", "lives in": f"Town {n % 9}"} for n in range(size)]

    def cell(size: int) -> list[dict[str, object]]:
        return [{"name": "List", "member": [f"Member {n}" for n in range(size)]}]

    for table in (rows, cell):
        calls = []
        for size in (200, 400):  # the names are new to the second load, too
            facts = shared_facts.in_namespace(uuid4().hex)
            first = partial(facts.load, table(size), key="name", name=f"{size}")
            calls.append((_calls(first), _calls(first)))
        assert calls[1][0] < 2.2 * calls[0][0], calls
        assert calls[1][1] < 2.2 * calls[0][1], calls


# ---- any two tables --------------------------------------------------------------------------

CELLS = st.sampled_from(["", "a", "A", "b", "bs", "7", "7.0", "2024-05-01", "x y", "X_y"])
TABLES = st.dictionaries(
    st.sampled_from(["Ada", "Bo", "7", "x y"]),
    st.tuples(CELLS, CELLS, CELLS),
    max_size=4,
)


@settings(max_examples=10, deadline=None)
@given(loads=st.lists(TABLES, min_size=1, max_size=4))
def test_what_holds_is_the_last_table(
    shared_facts: FactMemory, loads: list[dict[str, tuple[str, str, str]]]
) -> None:
    columns = ("lives in", "speaks", "speaks_of")
    facts = shared_facts.in_namespace(uuid4().hex)
    for table in loads:
        rows = [
            {"name": name, **dict(zip(columns, row, strict=True))} for name, row in table.items()
        ]
        facts.load(rows, key="name", name="t")
        cells = {
            (name, column, cell)
            for name, row in table.items()
            for column, cell in zip(columns, row, strict=True)
            if cell
        }
        found = {(fact.subject, fact.relation, fact.object) for fact in facts.read(match="exact")}
        assert found == cells
        again = facts.load(rows, key="name", name="t")
        assert again == report(len(table), 0, 0, 0, len(cells))


def test_a_key_may_change_its_spelling(facts: FactMemory) -> None:
    load(facts, "name,works for\nada,BMW\n")
    assert load(facts, "name,works for\nAda,BMW\n") == report(1, 0, 0, 0, 1)
    assert lines(facts) == ["ada — works for → BMW"]
    load(facts, "name,works for\nADA,Audi\n")
    assert lines(facts) == ["ADA — works for → Audi"]
    with pytest.raises(InvalidInputError, match="row 2: the key 'ADA' stands in row 1 already"):
        load(facts, "name,works for\nAda,BMW\nADA,Cisco\n")
    load(facts, "name,works for\n")
    assert lines(facts) == []


def test_loads_at_once_write_each_row_once(
    facts: FactMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "ROWS_AT_ONCE", 5)

    people = "name,town\n" + "".join(f"P{number},Oslo\n" for number in range(6))
    write = facts.memory.update_many

    def after_another_load(items: Any, **given: Any) -> Any:
        monkeypatch.setattr(facts.memory, "update_many", write)
        load(facts, people)
        return write(items, **given)

    monkeypatch.setattr(facts.memory, "update_many", after_another_load)
    load(facts, people)
    assert facts.memory.stats().passages == 6
    assert load(facts, "name,town\nP1,Bergen\n").changed == 1
    assert load(facts, "name,town\nP1,Oslo\n").changed == 1
    assert [fact.object for fact in facts.read(subject="P1")] == ["Oslo"]
