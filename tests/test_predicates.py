"""What predicates mean: names, relations, and what holds by evidence."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from recallm import InvalidInputError, RecallM
from recallm.model import NO_POSITION, TripletEvidence
from recallm.recall.predicates.holding import Claim, holding
from recallm.recall.predicates.relations import (
    PredicateNames,
    Relations,
    shipped_endings,
    shipped_relations,
)
from recallm.recall.predicates.states import stated_relations


@pytest.fixture(scope="module")
def names() -> PredicateNames:
    return PredicateNames(RecallM().graph.concept_name)


def test_names(names: PredicateNames) -> None:
    for texts, negative in (
        (
            ("works for", "WORKS_FOR", "worksFor", "Work-for", "is working for", "still works for"),
            ("not work for", "no longer works for", "doesn't work for", "stopped working for",
             "does not work for anymore", "has never worked for", "didn\u2019t work for"),
        ),
        (
            ("employed by", "is employed by", "was employed by", "has been employed by"),
            ("isn't employed by", "is no longer employed by", "NOT_EMPLOYED_BY"),
        ),
        (("customer of", "is a customer of", "are customers of"), ("is not a customer of",)),
        (("may move to", "MAY_MOVE_TO"), ("may not move to",)),
    ):  # fmt: skip
        [name] = {names.of(text).name for text in (*texts, *negative)}
        assert [names.of(text).negative for text in texts] == [False] * len(texts)
        assert [names.of(text).negative for text in negative] == [True] * len(negative)
        assert name != ""
    for text in ("not", "is", "has", "is a", ">>", "known for not paying", "may"):
        name, is_negative = names.of(text)
        assert name, text
        assert not is_negative, text
    different = (
        "works for", "works with", "move to", "may move to", "has won", "capital of", "capital",
    )  # fmt: skip
    assert len({names.of(text).name for text in different}) == len(different)


def test_the_table(names: PredicateNames) -> None:
    relations = Relations(names)
    for predicate, key_of, side in (
        ("IS_EMPLOYED_BY", "works for", "subject"),
        ("chief executive officer of", "CEO of", "object"),
        ("is the capital city of", "capital of", "object"),
        ("resides in", "lives in", "subject"),
        ("client of", "customer of", None),
    ):
        key = relations.of(predicate).name
        assert key == relations.of(key_of).name, predicate
        assert relations.side(key) == side, predicate
        assert relations.phrasings(key), predicate
    with pytest.raises(InvalidInputError, match="single-valued and multi-valued"):
        Relations(names, single_valued={"works for": None}, multi_valued=["employed by"])


def test_each_phrasing_of_the_table_belongs_to_one_relation(names: PredicateNames) -> None:
    keys: dict[str, str] = {}
    for table in shipped_relations():
        for phrasing in table["phrasings"]:
            name, negative = names.of(phrasing)
            assert not negative
            first = table["phrasings"][0]
            assert keys.setdefault(name, first) == first, phrasing


def test_what_ends_relations(names: PredicateNames) -> None:
    """Events are named by words that deny nothing, and states end relations of the table."""
    relations = Relations(names)
    for event in shipped_endings("events"):
        ended = {relations.of(relation).name for relation in event["ends"]}
        for phrasing in event["phrasings"]:
            name, negative = relations.of(phrasing)
            assert not negative, phrasing
            assert name not in ended, phrasing
            assert all(name in relations.endings(key).events for key in ended), phrasing
    for state in shipped_endings("states"):
        for relation in state.get("ends", ()):
            key = relations.of(relation).name
            assert set(state["qualities"]) <= relations.endings(key).qualities
    assert relations.side(relations.of("favorite band of").name) == "object"


# What holds.


def claim(
    object: str,
    t_index: int,
    *,
    negative: bool = False,
    year: int | None = None,
    position: int = NO_POSITION,
) -> Claim:
    evidence = TripletEvidence(
        "Ada", "Ada", "ada", "not p" if negative else "p", object, object, object, "entity", {},
        t_index, position, "x", None if year is None else datetime(year, 1, 1, tzinfo=UTC), None,
    )  # fmt: skip
    return Claim("ada", "p", object, negative, evidence)


def test_what_holds() -> None:
    cases = (
        ([claim("A", 1), claim("B", 2)], "B", "AB"),
        ([claim("A", 1), claim("B", 1)], "AB", "AB"),
        ([claim("A", 1), claim("B", 1), claim("C", 2), claim("B", 2)], "BC", "ABC"),
        ([claim("A", 1), claim("B", 2), claim("A", 3)], "A", "AB"),
        ([claim("A", 1), claim("A", 2, negative=True)], "", ""),
        ([claim("A", 1, negative=True), claim("A", 2)], "A", "A"),
        ([claim("A", 1), claim("B", 2), claim("B", 3, negative=True)], "", "A"),
        ([claim("A", 1), claim("B", 2, negative=True)], "A", "A"),
        ([claim("B", 1, negative=True)], "", ""),
        ([claim("A", 1, year=2024), claim("B", 2, year=2020)], "A", "AB"),
        ([claim("A", 1, year=2024), claim("B", 2, year=2020), claim("C", 3)], "C", "ABC"),
        ([claim("A", 1, year=2024), claim("A", 2, year=2020, negative=True)], "A", "A"),
        ([claim("A", 1, year=2024), claim("B", 2, year=2024)], "B", "AB"),
        # In one text the later sentence decides; at one place the denial.
        ([claim("A", 1, position=1), claim("A", 1, position=0, negative=True)], "A", "A"),
        ([claim("A", 1, position=0), claim("A", 1, position=1, negative=True)], "", ""),
        ([claim("A", 1), claim("A", 1, negative=True)], "", ""),
    )
    for claims, single, many in cases:
        for is_single, expected in ((True, single), (False, many)):
            for order in (claims, claims[::-1]):
                held = holding(order, single_valued=is_single).held
                assert "".join(sorted(span.first.object for span in held)) == expected, claims


def test_spans() -> None:
    claims = [
        claim("A", 1),
        claim("B", 2),
        claim("B", 3),
        claim("A", 4),
        claim("A", 5, negative=True),
    ]
    spans = holding(claims, single_valued=True).spans
    assert [
        (
            span.first.object,
            span.first.t_index,
            span.latest.t_index,
            span.end and span.end.t_index,
            span.ended_by,
        )
        for span in spans
    ] == [("A", 1, 1, 2, "superseded"), ("B", 2, 3, 4, "superseded"), ("A", 4, 4, 5, "ended")]


def test_what_a_sentence_states() -> None:
    """Not what was, what may be, and what means something else."""
    for text, relation, subject in (
        ("Ada moved to Porto.", "lives in", "ada"),
        ("Ada has just moved to the Bronx", "lives in", "ada"),
        ("Last year Ada Byron was busy, now Ada's based in Porto", "lives in", "ada"),
        ("I\u2019m living in Porto", "lives in", "I"),
        ("We've relocated to Lyon", "lives in", "I"),
        ("She has been living in Rome since May", "lives in", "they"),
        ("Ada just got a job at BMW", "works for", "ada"),
        ("Ada is married to Bob", "married to", "ada"),
        ("Ada's brother moved to Oslo", "lives in", "brother"),
    ):
        assert stated_relations(text) == {(relation, subject)}, text
    for text in (
        "",
        "Lives in Rome",
        "Ada wants to move to Oslo",
        "Ada lived in Oslo",
        "Ada is moving to Oslo",
        "Ada moved to the next question",
        "Ada works at night",
        "Ada works at the weekend, at BMW too",
    ):
        assert stated_relations(text) == frozenset(), text
    # What is denied or over is stated of nobody.
    for text in ("Ada does not live in Rome", "Ada was employed by BMW"):
        assert {who for _, who in stated_relations(text)} <= {"not", "was"}, text
