"""Counts, groups and greatest values over the facts that hold."""

from __future__ import annotations

from datetime import date

import pytest

from recallm import InvalidInputError
from recallm.facts import FactMemory

STAFF = [
    ("Ada", "works for", "Opera"),
    ("Kay", "employed by", "Opera"),
    ("Max", "works for", "BMW"),
    ("Ina", "works for", "Fjordkraft"),
    ("Opera", "founded in", "Oslo"),
    ("Fjordkraft", "founded in", "Bergen"),
    ("BMW", "founded in", "Munich"),
    ("Oslo", "located in", "Norway"),
    ("Bergen", "located in", "Norway"),
    ("Munich", "located in", "Germany"),
]


@pytest.fixture
def staff(facts: FactMemory) -> FactMemory:
    """The facts of STAFF."""
    facts.write_many(STAFF)
    return facts


def test_a_count_is_of_what_is_not_given(staff: FactMemory) -> None:
    assert staff.count(relation="works for", object="opera") == 2
    assert staff.count("Ada", "works for") == 1
    assert staff.count(relation="works for") == 4
    assert staff.count("Ada", "works for", "Opera") == 1
    assert staff.count("Ada", "works for", "BMW") == 0
    assert staff.count() == len(STAFF)


def test_a_fact_in_two_phrasings_counts_once(staff: FactMemory) -> None:
    staff.write("Ada", "is employed by", "Opera")
    assert staff.count(relation="works for") == 4
    assert [group.count for group in staff.group("Ada", "works for", by="object")] == [1]


def test_what_no_longer_holds_does_not_count(staff: FactMemory) -> None:
    before = staff.memory.stats().t_index
    staff.write("Ada", "works for", "BMW")
    staff.write("Kay", "no longer works for", "Opera")
    assert staff.count(relation="works for", object="Opera") == 0
    assert staff.count(relation="works for", object="Opera", as_of=before) == 2


def test_two_hundred_answers_are_counted_exactly(facts: FactMemory) -> None:
    facts.write_many((f"Worker {n}", "works for", "Pfizer") for n in range(200))
    facts.write_many((f"Worker {n}", "works for", "Cisco") for n in range(0, 200, 10))
    assert facts.count(relation="works for", object="Pfizer") == 180
    assert len(facts.read(relation="works for", object="Pfizer")) == 180
    groups = facts.group(relation="works for", by="object")
    assert [(group.value, group.count) for group in groups] == [("Pfizer", 180), ("Cisco", 20)]


def test_groups_are_the_largest_or_the_smallest_first(staff: FactMemory) -> None:
    groups = staff.group(relation="works for", by="object")
    assert [(group.value, group.count) for group in groups] == [
        ("Opera", 2),
        ("BMW", 1),
        ("Fjordkraft", 1),
    ]
    least = staff.group(relation="works for", by="object", order="least", limit=1)
    assert [(group.value, group.count) for group in least] == [("BMW", 1)]


def test_the_greatest_is_by_number_or_date(staff: FactMemory) -> None:
    staff.write_many(
        [
            ("Ada", "salary", "52,000 USD"),
            ("Kay", "salary", 9_500),
            ("Max", "salary", "unknown"),
            ("Ada", "birthday", date(1990, 5, 1)),
            ("Kay", "birthday", "3 June 1985"),
        ]
    )
    assert [fact.subject for fact in staff.top("salary", limit=None)] == ["Ada", "Kay"]
    assert [fact.subject for fact in staff.top("salary", order="least")] == ["Kay"]
    assert [fact.subject for fact in staff.top("birthday", order="least")] == ["Kay"]
    assert staff.top("works for") == []
    staff.write("Ada", "salary", 9_000)
    staff.end("Ada", "salary", "52,000 USD")
    assert [fact.subject for fact in staff.top("salary")] == ["Kay"]


def test_what_cannot_be_used_is_refused(facts: FactMemory) -> None:
    for operation, arguments in (
        ("count", {"of": "people"}),
        ("count", {"match": "nearly"}),
        ("group", {"by": "t"}),
        ("group", {"by": "subject", "order": "first"}),
        ("top", {"relation": "salary", "order": "most"}),
        ("top", {"relation": "salary", "limit": -1}),
        ("top", {"relation": None}),
    ):
        with pytest.raises(InvalidInputError):
            getattr(facts, operation)(**arguments)
