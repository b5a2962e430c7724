"""What users get back says why."""

from __future__ import annotations

from recallm.model import TemporalReading
from recallm.recall.results import RecalledContext, RecalledStatement

QUESTION = "Where did she live before 2023?"


def test_explain_says_what_the_question_asks_of_time() -> None:
    """Each rule that fired, on one line."""
    reading = TemporalReading(rules=("now → recency 1, latest first", "in 2022 → within\n2022"))
    lines = RecalledContext(question=QUESTION, time=reading).explain().splitlines()
    assert lines == [
        f"question: {QUESTION}",
        "time: now → recency 1, latest first; in 2022 → within 2022",
    ]


def test_explain_says_nothing_of_time_where_no_rule_fired() -> None:
    assert RecalledContext(question=QUESTION, time=TemporalReading()).explain() == (
        f"question: {QUESTION}"
    )
    assert RecalledContext(question=QUESTION).explain() == f"question: {QUESTION}"


def test_a_statement_shows_its_line_in_a_notebook() -> None:
    said = RecalledStatement(
        id="a#0", text="I live in Oslo.", t_index=1, position=0, speaker="Ann", concepts=()
    )
    assert repr((said,)) == "(<RecalledStatement 'a#0': Ann: I live in Oslo.>,)"
