"""What the contexts of each system hold at equal tokens."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import reading
from benchmarks.corpora import Asked, conversations
from benchmarks.evidence import Stems, answer_stems
from benchmarks.rankers import Found, HandedOver
from benchmarks.rankings import (
    BM25_ROW,
    PAPER_ROW,
    STATEMENTS_ROW,
    TURNS_ROW,
    items_of,
    opened_rows,
)
from tests.benchmarks.corpus import write_conversation
from tests.tables import each_row

_QA = [
    {"question": "What did Ann buy?", "answer": "a boat", "evidence": ["D1:1"], "category": 4},
    {"question": "What is out of tune?", "answer": "piano", "evidence": ["D2:1"], "category": 1},
]
_ROWS = [STATEMENTS_ROW, TURNS_ROW, BM25_ROW, PAPER_ROW]


def test_every_row_is_reported_with_its_figures(tmp_path: Path) -> None:
    folder = write_conversation(tmp_path / "talks", qa=_QA).parent
    out = tmp_path / "out.json"
    reading.main([str(folder), "--without-vectors", "--tokens", "200", "--json", str(out)])
    [found] = json.loads(out.read_text())["data"]
    assert [row["system"] for row in found["rows"]] == _ROWS
    for row in found["rows"]:
        assert row["evidence"] == row["whole evidence"] == row["answer stems"] == 1.0, row
    assert len(found["differences"]) == 2


def test_no_context_is_longer_than_its_tokens(tmp_path: Path) -> None:
    [talk] = conversations(write_conversation(tmp_path / "talks", qa=_QA).parent)
    with opened_rows(None, whole_turns=True) as rows:
        measured = rows("one")
        measured.write(items_of(talk))
        for ranker in measured.rankers:
            for tokens in (20, 40, 1000):
                context = ranker.handed_over(talk.questions[0].question, tokens=tokens)
                assert len(context.text) <= 4 * tokens, ranker.name
                if ranker.name != PAPER_ROW:  # whose text is one paragraph
                    lines = [line for line, _ in context.lines]
                    assert context.text.splitlines()[-len(lines) :] == lines or not lines
                    assert all(each.text in line for line, told in context.lines for each in told)


_TURNS = {"1": "I adopted a puppy called Toby. Thanks, Deb!", "2": "We painted the kitchen."}


@each_row(
    [
        (
            [Found(item="1", text="Thanks, Deb!")],
            {"evidence": 1.0, "whole evidence": 2 / 6, "answer stems": 0.0, "wasted": 0.0},
        ),
        (
            [
                Found(item="1", text="I adopted a puppy called Toby."),
                Found(item="2", text="We painted the kitchen."),
            ],
            {"evidence": 1.0, "whole evidence": 4 / 6, "answer stems": 1.0, "wasted": 28 / 64},
        ),
        ([], {"evidence": 0.0, "whole evidence": 0.0, "answer stems": 0.0, "wasted": 0.0}),
    ],
)
def test_figures_tell_a_turn_that_was_touched_from_one_that_is_there(
    found: list[Found], figures: dict[str, float]
) -> None:
    asked = Asked(question="Whom did she adopt?", answers=("Toby",), evidence=("1",))
    lines = [(f"Ann: {each.text}", [each]) for each in found]
    context = HandedOver(text="\n".join(line for line, _ in lines), lines=lines)
    assert reading.figures(asked, context, _TURNS, Stems()) == pytest.approx(figures)


@each_row(
    [
        ("Was it?", "Yes", ""),
        ("When was it?", "The week before 7 May, 2023", ""),
        ("When was it?", "last Friday", ""),
        ("When was the race?", "In 2022, after the race in Porto", "porto"),
        ("What did Ann buy?", "Ann bought a boat.", "boat"),
        ("What is it?", "GPS", "gps"),
    ],
)
def test_an_answer_is_looked_for_by_what_neither_dates_nor_the_question_hold(
    question: str, answer: str, expected: str
) -> None:
    asked = Asked(question=question, answers=(answer,))
    assert answer_stems(asked, Stems()) == set(expected.split())
