"""Who is meant: speakers, addressees, askers, and the names behind pronouns."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from recallm import InvalidInputError, RecallM
from tests.tables import each_row

NOON = datetime(2025, 3, 1, 12, tzinfo=UTC)


def texts_about(memory: RecallM, concept: str) -> list[str]:
    return [statement.text for statement in memory.history(concept)]


def test_you_is_the_other_speaker_of_the_session() -> None:
    memory = RecallM()
    memory.update("The harbour was grey.", speaker="Bob", session="s")
    memory.update("Did you paint yesterday?", speaker="Ann", session="s")
    assert texts_about(memory, "Bob") == ["The harbour was grey.", "Did you paint yesterday?"]


def test_we_are_both_speakers_where_the_words_say_so() -> None:
    said = ["Our boat leaks.", "You and I own a boat.", "Shall we sail?"]
    memory = RecallM()
    memory.update("The harbour was grey.", speaker="Bob", session="s")
    memory.update_many({"text": text, "speaker": "Ann", "session": "s"} for text in said)
    assert texts_about(memory, "Bob")[1:] == said[1:]
    assert texts_about(memory, "Ann") == said


def test_you_is_nobody_where_there_is_not_exactly_one_other_speaker() -> None:
    opened = RecallM()
    for speakers in ([], ["Ann"], ["Bob", "Carl"]):
        memory = opened.in_namespace(str(speakers))
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


def test_messages_with_a_source_each_speak_to_each_other() -> None:
    told = [
        ("Bob", "m1", 0, "The harbour was grey."),
        ("Ann", "m2", 5, "Did you paint?"),
        ("Ann", "thread", 300, "The garden is green."),
        ("Carl", "other thread", 301, "The attic is dusty."),
        ("Ann", "thread", 302, "We sang."),
        ("Dora", "other thread", 303, "Did you sail?"),
        ("Dora", "other thread", 304, "Did you swim?"),
    ]
    items = [
        {
            "text": text,
            "speaker": who,
            "source": source,
            "timestamp": NOON + timedelta(minutes=minute),
        }
        for who, source, minute, text in told
    ]
    memory = RecallM()
    memory.update_many(items)
    assert texts_about(memory, "Bob") == ["The harbour was grey.", "Did you paint?"]
    assert "We sang." not in texts_about(memory, "Dora")
    assert "Did you swim?" not in texts_about(memory, "Ann")


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


def test_without_an_asker_i_is_the_speaker_who_has_no_name_but_a_role() -> None:
    for speaker in ("Human", "user"):
        with RecallM() as memory:
            memory.update("I moved to Leeds.", speaker=speaker)
            memory.update("I live in Rome.", speaker="Bob")
            memory.update("How do you like Leeds?", speaker="AI")
            context = memory.recall("Where do I live?")
            (best,) = memory.recall("Where do I live?", limit=1).statements
            assert best.text == "I moved to Leeds."
            assert context.text == memory.recall("Where do I live?", asker=speaker).text
            assert "Rome" not in context.text
            assert "Rome" in memory.recall("Where do I live?", asker="Bob").text


def test_where_nobody_has_a_role_the_newest_texts_may_answer_what_asks_of_me() -> None:
    with RecallM() as memory:
        memory.update("The Eiffel Tower is in Paris.")
        memory.update("I moved to Porto last week.")
        [answer] = memory.recall("Where do I live?").statements
        assert answer.text == "I moved to Porto last week."
        assert memory.recall("Where does she live?", speaker="Bob").text == ""


def memory_of_ingrid() -> RecallM:
    memory = RecallM()
    memory.update("Ingrid works for Siemens.", session="s", id="named")
    memory.update("She moved to Porto.", session="s", id="referring")
    return memory


def test_a_context_names_an_antecedent_that_none_of_its_statements_spells() -> None:
    memory = memory_of_ingrid()
    alone = memory.recall("Who moved to Porto?", limit=1)
    assert alone.text == "She [Ingrid] moved to Porto."
    [statement] = alone.statements
    assert (statement.text, statement.line) == ("She moved to Porto.", alone.text)
    [reference] = statement.references
    assert statement.text[reference.start : reference.end] == "She"
    assert (reference.concept, reference.label, reference.passage) == ("ingrid", "Ingrid", "named")
    assert "She stands for Ingrid, as in named" in alone.explain()
    both = memory.recall("Who moved to Porto?", limit=2)
    assert len(both.statements) == 2
    assert "[Ingrid]" not in both.text
    assert both.statements[1].line in both.text


@each_row([("Tom",), ("Kim",)])
def test_a_pronoun_goes_on_from_pronouns_long_behind_the_name(name: str) -> None:
    """Also where most who bear the name are women: "he" said what this one is."""
    predicates = ("is a vegetarian", "loves spicy food", "works a lot", "plays the cello")
    with RecallM() as memory:
        memory.update(f"My brother {name} is staying with us.", speaker="user", session="s")
        for predicate in predicates:
            memory.update("Noted, thank you for telling me.", speaker="assistant", session="s")
            memory.update(f"He {predicate}.", speaker="user", session="s")
        [last] = memory.recall("Who plays the cello?", limit=1).statements
    assert (last.text, [each.label for each in last.references]) == (
        "He plays the cello.",
        [name],
    )


def test_names_of_antecedents_are_counted_in_the_budget() -> None:
    memory = memory_of_ingrid()
    size = memory.recall("Who moved to Porto?", limit=1).tokens
    assert size == memory.count_tokens("She [Ingrid] moved to Porto.")
    assert not memory.recall("Who moved to Porto?", limit=1, max_tokens=size - 1)


def test_a_forgotten_name_leaves_the_pronoun_with_nobody() -> None:
    memory = memory_of_ingrid()
    memory.forget(id="named")
    assert memory.history("Ingrid") == ()
    assert memory.recall("Who moved to Porto?", limit=1).text == "She moved to Porto."


def test_a_text_about_a_human_asks_nothing() -> None:
    with RecallM() as memory:
        memory.update("The human body needs sleep.", speaker="assistant", session="1")
        memory.update("I moved to Leeds.", speaker="user", session="1")
        memory.update("I work for a bank.", speaker="user", session="1")
        assert "I moved to Leeds." in memory.recall("Where do I live?").text
