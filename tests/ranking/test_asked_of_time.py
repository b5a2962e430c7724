"""What a question asks of time, end to end: which of equal sentences, of which day, and when."""

from __future__ import annotations

from datetime import UTC, datetime

from recallm import RecallM

GYM = "I went to the gym."


def test_which_of_equal_sentences() -> None:
    gym = RecallM()
    for month in (1, 3, 4):
        said = datetime(2023, month, 5, tzinfo=UTC)
        gym.update(GYM, speaker="Ann", timestamp=said)
        gym.update("Good for you!", speaker="Bo", timestamp=said)
    for question, months in (
        ("When did Ann first go to the gym?", [1]),
        ("When did Ann last go to the gym?", [4]),
        ("How many times did Ann go to the gym?", [1, 3, 4]),
    ):
        times = [each.timestamp for each in gym.recall(question).statements if each.text == GYM]
        assert [time.month for time in times if time is not None] == months, question
    found = gym.recall("Did Ann go to the gym in January 2023?").statements
    best = max(found, key=lambda each: each.score or 0.0)
    assert (best.text, best.timestamp) == (GYM, datetime(2023, 1, 5, tzinfo=UTC))


def test_different_answers_come_before_paraphrases_of_one() -> None:
    memory = RecallM()
    memory.update_many(
        [
            "Dave loves Radiohead.",
            "Dave adores Radiohead so much.",
            "Dave is a fan of Radiohead.",
            "Dave enjoyed Radiohead again.",
            "Dave enjoyed Radiohead at the stadium.",
            "Dave saw Muse live.",
            "Dave enjoyed Coldplay.",
        ]
    )
    for limit in (3, 4):
        text = memory.recall("Which bands has Dave enjoyed?", limit=limit).text
        assert all(band in text for band in ("Radiohead", "Muse", "Coldplay")), limit


def test_a_word_that_asks_for_the_last_is_no_word_to_find() -> None:
    memory = RecallM()
    memory.update_many(["Bob visited Cairo last Friday.", "Bob ate a cake.", "Bob visited Osaka."])
    found = memory.recall("Which city did Bob visit last?").statements
    best = max(found, key=lambda statement: statement.score or 0.0)
    assert best.text == "Bob visited Osaka."
    assert not any("last" in step for statement in found for step in statement.path)


def test_a_question_about_the_past_is_asked_then() -> None:
    """Relative dates are resolved against the moment that ``as_of`` names."""
    memory = RecallM(clock=lambda: datetime(2026, 1, 1, tzinfo=UTC))
    memory.update("Ann met Bo.", timestamp=datetime(2023, 3, 3, tzinfo=UTC))
    then = memory.recall("Whom did Ann meet last Friday?", as_of=datetime(2023, 3, 6, tzinfo=UTC))
    assert "2023-03-03" in then.explain()


def test_what_a_question_asked_of_time_is_told_where_nothing_is_found() -> None:
    assert "now" in RecallM().recall("Where does Ann live now?").explain()
