"""Stems are lower-cased Porter stems; acronyms stay whole."""

from __future__ import annotations

from recallm.extraction.stems import (
    is_all_capitals,
    is_like_acronym,
    name_in_capitals,
    plain,
    stem,
)
from tests.tables import each_row


@each_row(
    [
        ("coffee", "coffe"),
        ("Paris", "pari"),
        ("Brandon", "brandon"),
        ("running", "run"),
        ("happily", "happili"),
        ("university", "univers"),
        ("universe", "univers"),
        ("as", "as"),
        ("2019", "2019"),
        ("Москва", "москва"),
        ("ｃｏｆｆｅｅ", "coffe"),
        ("cafe\u0301", "cafe"),
        ("José", "jose"),
        ("Łódź", "lodz"),
        ("が", "が"),
    ]
)
def test_stem(word: str, expected: str) -> None:
    """The paper's examples, Porter's own, and other scripts in one form of Unicode."""
    assert stem(word) == expected


def test_acronyms_are_told_by_their_capitals() -> None:
    """Two to six characters, all letters capital."""
    assert all(map(is_like_acronym, ["US", "NASA", "B2B", "UNESCO"]))
    assert not any(map(is_like_acronym, ["I", "Us", "us", "PCs", "WONDERFUL", "2019"]))
    assert plain("US") == "us"


@each_row(["PARIS", "JAMES", "ITALY", "LOVE", "KEYS", "BUS", "DAY", "LAS"])
def test_a_word_in_capitals_has_the_name_of_the_word(word: str) -> None:
    """Capitals are emphasis in a word with a vowel."""
    assert name_in_capitals(word) == stem(word)


@each_row(["US", "IT", "NASA", "GPS", "CBS", "AIDS", "SARS", "IRS", "B2B"])
def test_the_name_of_an_acronym_is_not_stemmed(word: str) -> None:
    """Without a vowel, listed, or no other word's plural."""
    assert name_in_capitals(word) == word.lower()


def test_a_text_in_capitals() -> None:
    """It has several words and no small letter; a single word may be an acronym."""
    assert is_all_capitals("I LOVE CATS")
    assert not is_all_capitals("NASA")
    assert not is_all_capitals("NASA flies")
    assert not is_all_capitals("123 456")
