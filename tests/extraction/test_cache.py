"""The cache of texts that were read lately."""

from __future__ import annotations

from recallm.extraction.reading import TextCache


def test_a_text_is_stored_until_it_was_not_used_for_longest() -> None:
    cache: TextCache[int] = TextCache(450)
    cache.add("aaaa", 1)
    cache.add("bbbb", 2)
    assert cache.get("aaaa") == 1
    cache.add("cccc", 3)
    assert [cache.get(text) for text in ("aaaa", "bbbb", "cccc")] == [1, None, 3]


def test_a_text_is_stored_once_with_its_latest_value() -> None:
    cache: TextCache[int] = TextCache(450)
    for value in (1, 2, 3):
        cache.add("aaaa", value)
    cache.add("bbbb", 4)
    assert (cache.get("aaaa"), cache.get("bbbb")) == (3, 4)


def test_a_text_that_is_larger_than_the_cache_is_not_stored() -> None:
    cache: TextCache[int] = TextCache(450)
    cache.add("aaaa", 1)
    cache.add("longer than all" * 20, 2)
    assert cache.get("longer than all" * 20) is None
    assert cache.get("aaaa") == 1
