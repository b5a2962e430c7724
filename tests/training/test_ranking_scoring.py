"""How well weights put what answers first: on orders made by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recallm.model import PreparedUpdate
from recallm.ranking.signals import Weights
from tests.retrieval.talk import asked, candidates, store_of, turn
from tests.tables import each_row
from training.ranking.examples import Asked
from training.ranking.fitting import measured
from training.ranking.scoring import COLUMNS, means, score

SHORTEST_FIRST = Weights(intercept=0.0, signals={"length": -1.0})


def lines(count: int) -> list[str]:
    """So many texts about herons, each a word longer than the one before: the order is known."""
    return [" ".join(["heron", *(f"w{number}" for number in range(n))]) for n in range(count)]


def question(
    *groups: Sequence[str],
    told: Sequence[PreparedUpdate],
    kind: str = "LoCoMo",
    wanted: int | None = None,
    text: str = "which heron",
) -> Asked:
    found = candidates(store_of(*told), asked(text))
    assert found is not None
    texts = [one.text for one in found.statements]
    places = tuple(np.array([texts.index(text) for text in group]) for group in groups)
    return Asked(kind=kind, unit="u", candidates=found, groups=places, wanted=wanted or len(groups))


def told(texts: Sequence[str]) -> list[PreparedUpdate]:
    return [turn(text, id=text, session=text) for text in texts]


@each_row([(0, (1, 1)), (9, (1, 1)), (10, (0, 1)), (24, (0, 1)), (25, (0, 0))])
def test_evidence_among_the_first_passages(place: int, expected: tuple[float, float]) -> None:
    texts = lines(30)
    one = question([texts[place]], told=told(texts))
    assert score(measured([one]), SHORTEST_FIRST) == {"LoCoMo": [expected]}


@each_row([(4, (1, 1)), (5, (0, 1)), (10, (0, 0))])
def test_told_worlds_are_looked_at_less_far(place: int, expected: tuple[float, float]) -> None:
    texts = lines(12)
    one = question([texts[place]], told=told(texts), kind="Temporal")
    assert score(measured([one]), SHORTEST_FIRST) == {"Temporal": [expected]}


def test_the_best_of_a_group_counts_and_each_group_its_share() -> None:
    texts = lines(30)
    one = question([texts[29], texts[3]], [texts[12]], told=told(texts))
    assert score(measured([one]), SHORTEST_FIRST) == {"LoCoMo": [(0.5, 1.0)]}


def test_evidence_that_was_not_found_is_missing() -> None:
    texts = lines(3)
    one = question([texts[0]], told=told(texts), wanted=4)
    assert score(measured([one]), SHORTEST_FIRST) == {"LoCoMo": [(0.25, 0.25)]}


def test_where_nothing_is_known_nothing_is_found() -> None:
    unknown = Asked(kind="DuoRC", unit="u", candidates=None, groups=(), wanted=1)
    assert score(measured([unknown]), SHORTEST_FIRST) == {"DuoRC": [(0.0, 0.0)]}


def test_statements_of_one_passage_take_one_place() -> None:
    """Evidence is a turn: what fills the first ten places are turns, not sentences."""
    first = turn(*(f"heron s{n}" for n in range(12)), id="long", session="long")
    texts = lines(12)[2:]
    one = question([texts[8]], told=[first, *told(texts)])
    assert score(measured([one]), SHORTEST_FIRST) == {"LoCoMo": [(1.0, 1.0)]}


@each_row([(0, (1, 1)), (7, (0, 1)), (15, (0, 0))])
def test_an_answer_of_a_film_in_so_many_tokens(place: int, expected: tuple[float, float]) -> None:
    """A statement takes about 20 tokens, four characters each; of equals the shorter is first."""
    texts = [f"heron {'x' * (70 + n)}" for n in range(16)]
    equal = Weights(intercept=0.0, signals={"meaning": 1.0})
    one = question([texts[place]], told=told(texts), kind="DuoRC")
    assert score(measured([one]), equal) == {"DuoRC": [expected]}


def test_evidence_that_repeats_the_question_is_not_recalled() -> None:
    one = question(
        ["Which heron?"], told=told(["Which heron?", "heron sleeps"]), text="Which heron?"
    )
    assert score(measured([one]), SHORTEST_FIRST) == {"LoCoMo": [(0.0, 0.0)]}


def test_means_of_the_sets_that_there_are() -> None:
    found = means({"LoCoMo": [(1.0, 1.0), (0.0, 0.5)], "DuoRC": [(0.0, 1.0)], "Temporal": []})
    assert found == {
        "LoCoMo @10": 0.5,
        "LoCoMo @25": 0.75,
        "DuoRC 100 tokens": 0.0,
        "DuoRC 200 tokens": 1.0,
    }
    assert set(COLUMNS) == {"LoCoMo", "REALTALK", "DuoRC", "Temporal"}


def test_questions_stand_in_their_order_by_set() -> None:
    texts = lines(30)
    near, far = (question([texts[place]], told=told(texts)) for place in (0, 29))
    other = question([texts[0]], told=told(texts), kind="REALTALK")
    assert score(measured([far, other, near]), SHORTEST_FIRST) == {
        "LoCoMo": [(0.0, 0.0), (1.0, 1.0)],
        "REALTALK": [(1.0, 1.0)],
    }
