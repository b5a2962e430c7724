"""Names that the tagger missed."""

from __future__ import annotations

from spacy.symbols import PROPN
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from recallm.english.names import entities, with_missed_names
from recallm.english.pipeline import read_doc
from tests.extraction.tagging import given
from tests.tables import each_row


@each_row(
    [
        ("What/PRON is/AUX Elise/ADV doing/VERB", True, ["Elise"]),
        ("What/PRON is/AUX Elise/ADV doing/VERB", False, ["Elise"]),
        ("Is/AUX Elise/ADJ vegan/NOUN", True, ["Elise"]),
        ("an/DET Italian/ADJ restaurant/NOUN", False, []),
        ("Perhaps/ADV Directly/ADV From/ADP Us/PRON", True, []),
        ("Yes/INTJ ./PUNCT Thank/VERB you/PRON", True, []),
        ("I/PRON NEVER/ADV sleep/VERB", True, []),
        ("What/PRON did/AUX I/ADV do/VERB", True, []),
        ("he/PRON went/VERB home/ADV", True, []),
        ("Ann/PROPN met/VERB Bo132/PRON", False, ["Ann", "Bo132"]),
        ("at/ADP Studio54/ADJ", False, ["Studio54"]),
    ]
)
def test_missed_names(tagged: str, asked: bool, expected: list[str]) -> None:
    """A capital behind a word tells, but in headlines, for emphasis and for "I"."""
    text = with_missed_names(given(tagged), asked=asked)
    found = [word.text for word, tag in zip(text.words, text.tags, strict=True) if tag == PROPN]
    assert found == expected


def test_an_entity_ends_at_a_delimiter_of_cells() -> None:
    """A number alone is no entity; a comma with a space behind it may be part of a name."""
    words = ["Ann", "Berg", ",", "BMW", "|", "2019", ";", "Acme", ",", "Inc."]
    doc = Doc(
        Vocab(),
        words=words,
        spaces=[True, False, False, True, True, False, False, False, True, False],
        pos=["PROPN", "PROPN", "PUNCT", "PROPN", "PROPN", "NUM", *["PROPN"] * 4],
    )
    doc.set_ents([Span(doc, 0, 6, label="PER"), Span(doc, 7, 10, label="ORG")])
    found = entities(read_doc(doc, doc.text))
    assert [(" ".join(words[first:last]), kind) for first, last, kind in found] == [
        ("Ann Berg", "PER"),
        ("BMW", "PER"),
        ("Acme , Inc.", "ORG"),
    ]
