"""Counts of the facts that hold."""

from __future__ import annotations

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


def test_what_cannot_be_used_is_refused(facts: FactMemory) -> None:
    for operation, arguments in (
        ("count", {"of": "people"}),
        ("count", {"match": "nearly"}),
        ("count", {"relation": ""}),
    ):
        with pytest.raises(InvalidInputError):
            getattr(facts, operation)(**arguments)
