"""Extractions that wait for their update."""

from __future__ import annotations

from recallm.extraction import KeptExtractions
from recallm.model import Extraction


def test_one_is_taken_once_by_its_text_and_speaker() -> None:
    kept = KeptExtractions(1000)
    first, second = Extraction(), Extraction(speaker_concept="ann")
    kept.keep("text", None, first)
    kept.keep("text", "Ann", second)
    assert kept.get("text", None) is first
    assert kept.take("text", "Ann") is second
    assert kept.take("text", "Ann") is None
    assert kept.take("text", None) is first


def test_the_oldest_go_where_there_are_too_many() -> None:
    kept = KeptExtractions(450)
    for text in ("aaaa", "bbbb", "bbbb", "cccc", "longer than all" * 20):
        kept.keep(text, None, Extraction())
    assert [kept.get(text, None) is not None for text in ("aaaa", "bbbb", "cccc")] == [
        False,
        True,
        True,
    ]
    assert kept.take("bbbb", None) is not None
    kept.keep("dddddd", None, Extraction())
    assert kept.get("cccc", None) is not None
    assert kept.get("longer than all" * 20, None) is None
