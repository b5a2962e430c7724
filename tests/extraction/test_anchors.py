"""Values by which questions name a place in a history."""

from __future__ import annotations

import pytest

from recallm.config import RecallConfig
from recallm.extraction import Extractor
from recallm.model import TemporalReading
from tests.tables import each_row


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
