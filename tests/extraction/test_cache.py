"""The cache of extractions that wait for their update."""

from __future__ import annotations

from recallm.extraction import ExtractionCache
from recallm.model import Extraction


def test_an_extraction_is_popped_once_by_text_and_speaker() -> None:
    cache = ExtractionCache(1000)
    first, second = Extraction(), Extraction(speaker_concept="ann")
    cache.add("text", None, first)
    cache.add("text", "Ann", second)
    assert cache.get("text", None) is first
    assert cache.pop("text", "Ann") is second
    assert cache.pop("text", "Ann") is None
    assert cache.pop("text", None) is first


def test_the_oldest_entries_are_dropped_when_the_cache_is_full() -> None:
    cache = ExtractionCache(450)
    for text in ("aaaa", "bbbb", "bbbb", "cccc", "longer than all" * 20):
        cache.add(text, None, Extraction())
    assert [cache.get(text, None) is not None for text in ("aaaa", "bbbb", "cccc")] == [
        False,
        True,
        True,
    ]
    assert cache.pop("bbbb", None) is not None
    cache.add("dddddd", None, Extraction())
    assert cache.get("cccc", None) is not None
    assert cache.get("longer than all" * 20, None) is None
