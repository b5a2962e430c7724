"""What questions ask for, and the values by which they name a place in a history."""

from __future__ import annotations

import pytest

from recallm.english.extractor import Extractor
from recallm.english.questions import asked_traits
from recallm.english.words import Word, word_of
from recallm.ground.config import RecallConfig
from recallm.model import TemporalReading, Trait
from tests.tables import each_row

PERSON = Trait.PERSON | Trait.NAME
PLACE = Trait.PLACE | Trait.NAME
ORGANISATION = Trait.ORGANISATION | Trait.NAME
EXTENT = Trait.TIME | Trait.NUMBER


def words(text: str) -> list[Word]:
    return [*map(word_of, text.split())]


@each_row(
    [
        ("When did Anna move", Trait.TIME),
        ("Since when is she here", Trait.TIME),
        ("What time is it", Trait.TIME),
        ("What year was that", Trait.TIME),
        ("In which month did she leave", Trait.TIME),
        ("What is the date of the party", Trait.TIME),
        ("How long did it take", EXTENT),
        ("How often does she run", EXTENT),
        ("How many cats has she", Trait.NUMBER),
        ("How old is Bob", Trait.NUMBER),
        ("Who wants tea", PERSON),
        ("Whose car is it", PERSON),
        ("To whom did he write", PERSON),
        ("Which friend called", PERSON),
        ("Where does she live", PLACE),
        ("Which city did he visit", PLACE),
        ("What other big cities did he see", PLACE),
        ("What company does she work for", ORGANISATION),
        ("Which one is it", Trait.NAME),
        ("What is the name of the dog", Trait.NAME),
        ("What is his dog called", Trait.NAME),
        ("What did she buy", Trait(0)),
        ("What is her job", Trait(0)),
        ("Why did he leave", Trait(0)),
        ("How did he leave", Trait(0)),
        ("Does the man who called live here", Trait(0)),
        ("Do you know where Bob lives", PLACE),
        ("Tell me when Anna left", Trait.TIME),
        ("Anna left", Trait(0)),
        ("How", Trait(0)),
        ("What", Trait(0)),
        ("", Trait(0)),
    ]
)
def test_asked_traits(question: str, expected: Trait) -> None:
    """The first question word decides; questions of yes or no ask for nothing."""
    assert asked_traits(words(question)) == expected


@pytest.fixture(scope="module")
def extractor() -> Extractor:
    return Extractor(RecallConfig())


@each_row(
    [
        ("Where did Ingrid live before Porto?", "before", "Porto", {"porto"}),
        ("Before Porto, where was Ingrid's home?", "before", "Porto", {"porto"}),
        ("What came after the cello?", "after", "the cello", {"cello"}),
        ("What came after the cello for Ingrid?", "after", "the cello", {"cello"}),
        ("Which phone replaced the Galaxy for Ada?", "after", "the Galaxy", {"galaxi"}),
        (
            "Which job did she have when she lived in Oslo?",
            "at",
            "she lived in Oslo",
            {"live", "oslo"},
        ),
        ("What did Tom do until he became a baker?", "before", "he became a baker", {"baker"}),
        ("I forgot it. Who was her boss prior to Nokia?", "before", "Nokia", {"nokia"}),
    ]
)
def test_a_named_value_is_an_anchor(
    question: str, relation: str, text: str, terms: set[str], extractor: Extractor
) -> None:
    reading = extractor.question(question).time
    assert reading.anchor is not None
    assert (reading.anchor.relation, reading.anchor.text) == (relation, text)
    assert terms <= set(reading.anchor.terms)
    assert text not in reading.anchor.asked
    assert "ingrid" not in reading.anchor.terms
    assert reading.rules[0].startswith(f"{relation} <{text}> → ")
    assert (reading.previous, reading.recency, reading.order) == (False, 0.0, "any")


@each_row(
    [
        "Where did Ingrid live before?",
        "Where did Ingrid live before that?",
        "Where did Ingrid live before 2022?",
        "What did Ingrid do in May?",
        "When did Ingrid move before Christmas?",
        "What does Ingrid do when it rains?",
        "How many dogs did Ingrid have before Rex?",
        "Where does Ingrid live now?",
        "",
    ]
)
def test_other_questions_have_none(question: str, extractor: Extractor) -> None:
    assert extractor.question(question).time.anchor is None


def test_a_long_text_has_at_most_the_anchor_of_its_last_question(extractor: Extractor) -> None:
    long = "She lived in Rome and he did not. " * 300
    assert extractor.question(long).time.anchor is None
    reading = extractor.question(f"{long}Where did she live before Porto?").time
    assert reading.anchor is not None
    assert reading.anchor.text == "Porto"
    assert TemporalReading().anchor is None
