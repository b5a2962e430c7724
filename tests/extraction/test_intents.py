"""What questions ask of time."""

from __future__ import annotations

import pytest

from recallm.extraction.intents import temporal_reading
from recallm.extraction.tenses import tenses
from recallm.model import TemporalIntent
from tests.extraction.tagging import given


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Where/ADV does/AUX Anna/PROPN live/VERB now/ADV", "current"),
        ("Where/ADV does/AUX Anna/PROPN live/VERB", "current"),
        ("What/PRON is/AUX her/PRON job/NOUN", "current"),
        ("Where/ADV did/AUX Anna/PROPN live/VERB before/ADV Rome/PROPN", "historical"),
        ("Where/ADV did/AUX Anna/PROPN first/ADV live/VERB", "historical"),
        ("When/ADV did/AUX Anna/PROPN move/VERB", "historical"),
        ("Has/AUX Anna/PROPN ever/ADV sung/VERB", "historical"),
        ("Where/ADV was/AUX Anna/PROPN in/ADP 2019/NUM", "historical"),
        ("What/PRON did/AUX Anna/PROPN buy/VERB", "neutral"),
        ("Will/AUX Anna/PROPN come/VERB", "neutral"),
    ],
)
def test_words_decide_before_tenses_do(question: str, expected: TemporalIntent) -> None:
    tagged = given(question)
    marks = [word.marks for word in tagged.words]
    found = tenses(marks, tagged.tags, [word.lowered for word in tagged.words])
    assert temporal_reading(tagged.words, found).intent == expected
