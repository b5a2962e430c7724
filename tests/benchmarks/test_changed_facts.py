"""Changed facts: what is told and asked, and that the changed one is the last word."""

from __future__ import annotations

from benchmarks.changed_facts import last_words, stated
from recallm import RecallM


def test_the_changed_fact_is_the_last_word() -> None:
    sentences, changed = stated(60)
    assert (sentences, changed) == stated(60)
    assert len(changed) > 20
    for fact in changed:
        assert sentences.index(fact.before) < sentences.index(fact.now), fact
    with RecallM() as memory:
        memory.update_many(sentences)
        found = last_words(memory, changed)
        times = {fact.question: memory.recall(fact.question, limit=1).time for fact in changed}
    assert {name: len(each) for name, each in found.items()} == dict.fromkeys(found, len(changed))
    assert all(found["last word @5"])
    unread = [asked for asked, time in times.items() if time is None or time.order == "any"]
    assert not [asked for asked in unread if " is " in asked]
