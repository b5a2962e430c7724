"""Who is meant: speakers, addressees, askers, and the names behind pronouns."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from recallm import InvalidInputError, RecallM

NOON = datetime(2025, 3, 1, 12, tzinfo=UTC)


def texts_about(memory: RecallM, concept: str) -> list[str]:
    return [statement.text for statement in memory.history(concept)]


def test_you_is_the_other_speaker_of_the_session() -> None:
    memory = RecallM()
    memory.update("The harbour was grey.", speaker="Bob", session="s")
    memory.update("Did you paint yesterday?", speaker="Ann", session="s")
    assert texts_about(memory, "Bob") == ["The harbour was grey.", "Did you paint yesterday?"]


def test_we_are_both_speakers() -> None:
    memory = RecallM()
    memory.update_many(
        [
            {"text": "The harbour was grey.", "speaker": "Bob", "session": "s"},
            {"text": "Our boat leaks.", "speaker": "Ann", "session": "s"},
        ]
    )
    assert "Our boat leaks." in texts_about(memory, "Bob")
    assert "Our boat leaks." in texts_about(memory, "Ann")


@pytest.mark.parametrize("speakers", [[], ["Ann"], ["Bob", "Carl"]])
def test_you_is_nobody_where_there_is_not_exactly_one_other_speaker(speakers: list[str]) -> None:
    memory = RecallM()
    for speaker in speakers:
        memory.update("The harbour was grey.", speaker=speaker, session="s")
    memory.update("Bob paints.", speaker="Bob", session="another")
    memory.update("Did you paint yesterday?", speaker="Ann", session="s")
    for name in ("Bob", "Carl"):
        assert "Did you paint yesterday?" not in texts_about(memory, name)


def test_sessions_derived_from_time_have_speakers_too() -> None:
    memory = RecallM()
    memory.update("The harbour was grey.", speaker="Bob", timestamp=NOON)
    memory.update("Did you paint?", speaker="Ann", timestamp=NOON + timedelta(minutes=5))
    memory.update("Did you sail?", speaker="Ann", timestamp=NOON + timedelta(days=1))
    assert texts_about(memory, "Bob") == ["The harbour was grey.", "Did you paint?"]


def test_a_batch_and_single_updates_find_the_same_people() -> None:
    items = [
        {"text": text, "speaker": speaker, "session": "s", "id": str(number)}
        for number, (speaker, text) in enumerate(
            [
                ("Ann", "Ingrid has a new job. She is happy."),
                ("Bob", "Did you visit her in Porto?"),
                ("Ann", "She wants our old boat."),
                ("Bob", "Your boat leaks, and she knows it."),
            ]
        )
    ]
    one_by_one, many = RecallM(), RecallM()
    for item in items:
        one_by_one.update(**item)  # type: ignore[arg-type]
    many.update_many(items, batch_size=3)
    for name in ("Ann", "Bob", "Ingrid", "boat"):
        assert texts_about(one_by_one, name) == texts_about(many, name)
    assert one_by_one.stats() == many.stats()


def test_an_asker_finds_what_they_said_themselves() -> None:
    memory = RecallM()
    memory.update("I moved from Malaga to Porto.", speaker="Ann", session="s")
    memory.update("I live in Rome.", speaker="Bob", session="s")
    first = memory.recall("Where do I live?", asker="Ann", limit=1).statements
    assert [statement.text for statement in first] == ["I moved from Malaga to Porto."]
    first = memory.recall("Where do I live?", asker="Bob", limit=1).statements
    assert [statement.text for statement in first] == ["I live in Rome."]
    asked = memory.recall("Who lives in Rome?", asker="Ann")
    assert asked.text == memory.recall("Who lives in Rome?").text
    with pytest.raises(InvalidInputError, match="asker"):
        memory.recall("Where do I live?", asker=3)  # type: ignore[arg-type]
