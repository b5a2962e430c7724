"""The budget: what is chosen of a ranking, for any way to count tokens."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recallm.model import TemporalReading, statement_key
from recallm.recall.ranking.budget import Budget, context_text, fit_by_worth, fit_in_order
from recallm.recall.ranking.linear_model import RankedStatements
from recallm.recall.results import PREFIX, chronological
from tests.retrieval.talk import store_of, turn


def ranking(texts: list[str], scores: list[float]) -> RankedStatements:
    """The texts, one passage each, with these scores."""
    store = store_of(*(turn(text, id=str(place)) for place, text in enumerate(texts)))
    with store.reader("n") as reader:
        rows = tuple(
            reader.statements([statement_key(place + 1, 0) for place in range(len(texts))])
        )
    return RankedStatements(
        statements=rows,
        scores=np.array(scores),
        worth=np.array(scores),
        added=np.zeros((len(rows), 0)),
        order=tuple(sorted(range(len(rows)), key=lambda place: (-scores[place], -place))),
    )


verbatim = context_text


def fit(
    ranked: RankedStatements,
    *,
    limit: int | None,
    max_tokens: int | None,
    count_tokens: Callable[[str], int],
) -> list[int]:
    budget = Budget(limit=limit, max_tokens=max_tokens, count_tokens=count_tokens, text=verbatim)
    return fit_by_worth(ranked.statements, ranked.order, ranked.worth, budget, TemporalReading())


def text_of(ranked: RankedStatements, places: list[int]) -> str:
    return verbatim(chronological(ranked.statements[p] for p in places))


COUNTERS: dict[str, Callable[[str], int]] = {
    "characters / 4": lambda text: -(-len(text) // 4),
    "words": lambda text: len(text.split()),
    "more than the sum of its lines": lambda text: int(len(text) ** 1.2),
    "nothing": lambda text: 0,
}


@settings(max_examples=60)
@given(
    counter=st.sampled_from(sorted(COUNTERS)),
    texts=st.lists(st.text("abc ", min_size=1, max_size=40), min_size=1, max_size=12),
    seed=st.integers(0, 1000),
    limit=st.none() | st.integers(1, 5),
    max_tokens=st.none() | st.integers(1, 400),
)
def test_no_budget_is_ever_exceeded(
    counter: str, texts: list[str], seed: int, limit: int | None, max_tokens: int | None
) -> None:
    """And no sentence stands twice, and the latest of equal ones that were chosen is kept."""
    count = COUNTERS[counter]
    scores = np.random.default_rng(seed).random(len(texts)).tolist()
    ranked = ranking(texts, scores)
    places = fit(ranked, limit=limit, max_tokens=max_tokens, count_tokens=count)
    assert limit is None or len(places) <= limit
    assert max_tokens is None or not places or count(text_of(ranked, places)) <= max_tokens
    normal = [" ".join(ranked.statements[place].text.split()) for place in places]
    assert len(set(normal)) == len(places)
    if limit is None and max_tokens is None:
        assert set(normal) == {" ".join(text.split()) for text in texts}


def test_what_is_left_over_is_used() -> None:
    """Each line alone rounds up; together there is room for one more."""
    ranked = ranking(["abc def", "abd def", "abe def"], [0.3, 0.2, 0.1])
    whole = text_of(ranked, [0, 1, 2])
    exact = -(-len(whole) // 4)
    places = fit(ranked, limit=None, max_tokens=exact, count_tokens=COUNTERS["characters / 4"])
    assert sorted(places) == [0, 1, 2]


def test_the_best_that_fit_are_taken_whatever_their_length() -> None:
    """With a limit, length matters only where tokens are short."""
    ranked = ranking(["a long sentence " * 5, "short", "brief"], [0.9, 0.5, 0.4])
    count = COUNTERS["characters / 4"]
    assert fit(ranked, limit=2, max_tokens=1000, count_tokens=count) == [0, 1]
    assert fit(ranked, limit=2, max_tokens=17, count_tokens=count) == [1, 2]


def test_an_equal_sentence_that_would_not_be_chosen_changes_nothing() -> None:
    """That the words of an answer were said again, of something else, is no matter."""
    ranked = ranking(["yes", "no", "yes", "perhaps"], [0.9, 0.8, 0.01, 0.7])
    assert fit(ranked, limit=2, max_tokens=None, count_tokens=len) == [0, 1]
    count = COUNTERS["characters / 4"]
    enough = count(text_of(ranked, [0, 1]))
    assert fit(ranked, limit=None, max_tokens=enough, count_tokens=count) == [0, 1]


def test_the_first_that_fit_are_taken_to_the_last_token() -> None:
    words = list("abcdefghi")
    for most in range(10):
        budget = Budget(
            limit=None, max_tokens=most, count_tokens=lambda text: len(text.split()), text=verbatim
        )
        assert fit_in_order(words, " ".join, budget) == words[:most]


def test_nothing_fits() -> None:
    ranked = ranking(["abc"], [0.9])
    assert fit(ranked, limit=None, max_tokens=1, count_tokens=len) == []


def test_a_further_statement_of_a_passage_that_has_a_line_costs_no_head() -> None:
    """So the rest of a turn comes before another turn that is worth a little more."""
    turns = (
        turn(
            "A kayak is sold", "It was red", "Ann paid" + " a lot" * 8, speaker="Bartholomew", day=1
        ),
        turn("I saw it too", speaker="Bartholomew", day=2),
    )
    with store_of(*turns).reader("n") as reader:
        keys = [statement_key(1, 0), statement_key(1, 1), statement_key(1, 2), statement_key(2, 0)]
        rows = tuple(reader.statements(keys))
    scores = np.array([0.9, 0.5, 0.2, 0.55])
    ranked = RankedStatements(
        statements=rows,
        scores=scores,
        worth=scores,
        added=np.zeros((4, 0)),
        order=(0, 3, 1, 2),
    )
    line = "[2024-03-01] Bartholomew: A kayak is sold; It was red"
    whole = len(f"{PREFIX}\n{line}\n")
    places = fit(ranked, limit=None, max_tokens=whole, count_tokens=len)
    assert text_of(ranked, places) == line
    assert fit(ranked, limit=2, max_tokens=whole, count_tokens=len) == places
    gap = f"[2024-03-01] Bartholomew: A kayak is sold … {rows[2].text}"
    assert text_of(ranked, [0, 2]) == gap
    both = f"{PREFIX}\n{line}\n[2024-03-02] Bartholomew: I saw it too"
    assert text_of(ranked, [3, 1, 0]) == both
    assert text_of(ranked, fit(ranked, limit=3, max_tokens=999, count_tokens=len)) == both
