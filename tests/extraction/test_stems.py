"""Stems are lower-cased Porter stems; acronyms stay whole."""

from __future__ import annotations

import pytest

from recallm.extraction.stems import is_acronym, is_all_capitals, plain, stem


@pytest.mark.parametrize(
    ("word", "expected"),
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
        ("cafe\u0301", "caf\u00e9"),
    ],
)
def test_stem(word: str, expected: str) -> None:
    """The paper's examples, Porter's own, and other scripts in one form of Unicode."""
    assert stem(word) == expected


def test_acronyms_are_told_by_their_capitals() -> None:
    """Two to six characters, all letters capital."""
    assert all(map(is_acronym, ["US", "NASA", "B2B", "UNESCO"]))
    assert not any(map(is_acronym, ["I", "Us", "us", "PCs", "WONDERFUL", "2019"]))
    assert plain("US") == "us"


def test_a_text_in_capitals() -> None:
    """It has several words and no small letter; a single word may be an acronym."""
    assert is_all_capitals("I LOVE CATS")
    assert not is_all_capitals("NASA")
    assert not is_all_capitals("NASA flies")
    assert not is_all_capitals("123 456")
