"""Names that the tagger missed."""

from __future__ import annotations

from spacy.symbols import PROPN

from recallm.english.names import with_missed_names
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
