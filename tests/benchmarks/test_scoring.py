"""What counts as found, on orders made by hand."""

from __future__ import annotations

import pytest

from benchmarks import duorc, locomo
from benchmarks.corpora import Asked
from benchmarks.evidence import Stems
from benchmarks.rankers import Found, HandedOver
from benchmarks.temporal import judge
from benchmarks.temporal_world import CURRENT, FIRST, PREVIOUS, Question, Statement, World
from tests.tables import each_row

_HOME = ("Ann", "home")


_TURNS = {"x": "Text of x, gladly", "y": "Text of y"}


class _Fixed:
    """A ranker that says what it was told to say."""

    name = "fixed"

    def __init__(self, *items: str, of_tokens: int = 0) -> None:
        self._found = [Found(item=item, text=f"Text of {item}") for item in items]
        self._of_tokens = of_tokens

    def best(self, question: str) -> list[Found]:
        return self._found

    def context(
        self, question: str, *, limit: int | None = None, tokens: int | None = None
    ) -> list[Found]:
        return self._found[:limit] if (tokens or 0) >= self._of_tokens else []

    def handed_over(self, question: str, *, tokens: int) -> HandedOver:
        found = self.context(question, tokens=tokens)
        text = "\n".join(each.text for each in found)
        return HandedOver(text=text, lines=[(each.text, [each]) for each in found])


def test_evidence_is_found_among_the_first_distinct_turns() -> None:
    asked = Asked(question="?", answers=(), evidence=("x", "y"))
    order = ["a", "a", "a", "x", "b", "c", "d", "e", "y"]
    found = locomo.score(asked, _Fixed(*order, of_tokens=1000), _TURNS, Stems())
    assert found["R@5"] == 0.5  # a, x, b, c, d
    assert found["R@10"] == 1.0
    # Of "Text of x, gladly" the last word is missing, of y all is there.
    assert (found["whole@10"], found["whole@25"]) == pytest.approx((5 / 6, 5 / 6))
    assert (found["R in 500"], found["R in 1000"]) == (0.0, 1.0)


def test_no_evidence_is_found_where_nothing_is_recalled() -> None:
    asked = Asked(question="?", answers=(), evidence=("x",))
    assert set(locomo.score(asked, _Fixed(), _TURNS, Stems()).values()) == {0.0}


def test_an_answer_stands_in_one_statement_in_any_case() -> None:
    asked = Asked(question="?", answers=("TEXT OF X",))
    found = duorc.score(asked, _Fixed("a", "x", of_tokens=200))
    assert found == {"100 tokens": 0.0, "200 tokens": 1.0, "400 tokens": 1.0}
    across = Asked(question="?", answers=("of a Text",))
    assert set(duorc.score(across, _Fixed("a", "x")).values()) == {0.0}


_WORLD = World(
    statements=(
        Statement(text="Ann settled in Rome", subject="Ann", topic=_HOME, states=(0,)),
        Statement(text="Ann swapped Rome for Oslo", subject="Ann", topic=_HOME, states=(0, 1)),
        Statement(text="Ann likes Oslo", subject="Ann", topic=_HOME, states=(1,)),
        Statement(text="Ann saw a bird", subject="Ann"),
        Statement(text="Ben settled in Rome", subject="Ben", topic=("Ben", "home"), states=(0,)),
        Statement(text="Ann is off to Bonn", subject="Ann", topic=_HOME, states=(2,)),
    ),
    ends=(6,),
    questions=((),),
)


@each_row(
    [
        (CURRENT, 2, [0, 2, 5], 1),
        (CURRENT, 2, [5, 3, 4], 1),  # another topic may have a later word
        (CURRENT, 2, [5, 2], 0),  # what is out of date has the last word
        (CURRENT, 2, [0, 1, 2], 0),
        (CURRENT, 1, [0, 1], 1),
        (CURRENT, 2, [], 0),
        (PREVIOUS, 1, [2, 5], 1),
        (PREVIOUS, 1, [5, 2], 1),
        (PREVIOUS, 1, [0, 5], 0),
        (FIRST, 0, [1, 5], 1),  # it tells what was swapped
        (FIRST, 0, [4, 2], 0),
    ],
)
def test_what_holds_now_needs_the_last_word_and_what_held_must_be_there(
    kind: str, state: int, context: list[int], value: float
) -> None:
    question = Question(text="?", kind=kind, subject="Ann", topic=_HOME, state=state)
    found = [Found(item=str(place), text=_WORLD.statements[place].text) for place in context]
    assert judge(_WORLD, question, found) == value
