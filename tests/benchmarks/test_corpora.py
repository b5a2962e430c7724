"""Reading the public data sets."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.corpora import ABSTENTION, Asked, conversations, films, histories
from tests.benchmarks.corpus import write_conversation, write_films, write_history


def test_a_conversation_has_its_turns_and_the_questions_that_have_evidence(tmp_path: Path) -> None:
    write_conversation(tmp_path / "talks")
    [talk] = conversations(tmp_path / "talks")
    assert talk.name == "talk"
    assert [turn.id for turn in talk.turns] == ["D1:1", "D1:2", "D2:1", "D2:2"]
    assert talk.turns[0].timestamp == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert talk.turns[1].text == "Look [shares a warm bread]"
    assert talk.turns[2].timestamp == datetime(2023, 5, 9, 10, tzinfo=UTC)
    assert talk.questions == (
        Asked(
            question="Who bought a boat?",
            answers=("Ann",),
            evidence=("D1:1",),
            category="single-hop",
        ),
        Asked(
            question="What is it about the piano and the bread?",
            answers=("nothing",),
            evidence=("D2:1", "D1:2"),
            category="multi-hop",
        ),
    )


def test_a_film_has_the_questions_whose_answer_stands_in_its_plot(tmp_path: Path) -> None:
    plain = write_films(tmp_path / "films.jsonl")
    packed = tmp_path / "films.jsonl.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    for path in (plain, packed):
        [film] = films(path, 120)
        assert film.name == "boat"
        assert film.questions == (
            Asked(question="Who steals a boat?", answers=("ann",)),
            Asked(question="Who bakes bread?", answers=("Ben",)),
        )


def test_a_history_is_read_in_order_of_time(tmp_path: Path) -> None:
    write_history(tmp_path)
    write_history(tmp_path, "two_abs")
    one, two = histories(tmp_path)
    assert [(turn.id, turn.session, turn.speaker) for turn in one.turns] == [
        ("0:0", "boat", "user"),
        ("0:1", "boat", "assistant"),
        ("1:0", "bread", "user"),
        ("2:0", "bread", "user"),
    ]
    assert one.turns[0].timestamp == datetime(2023, 5, 22, 8, 30, tzinfo=UTC)
    [asked] = one.questions
    assert (asked.evidence, asked.sessions, asked.answers) == (("0:0",), ("boat",), ("a red one",))
    assert asked.moment == datetime(2023, 5, 30, 23, 40, tzinfo=UTC)
    assert asked.category == "single-session-user"
    assert two.questions[0].category == ABSTENTION
