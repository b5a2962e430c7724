"""The sentences and the scores of the benchmark of concept words."""

from __future__ import annotations

import re

from benchmarks.concept_words import SHORT_SENTENCES, scored
from recallm import RecallConfig
from recallm.english.extractor import Extractor


def test_two_hundred_sentences_with_words_in_brackets() -> None:
    """Each is another sentence, and brackets are closed."""
    lines = SHORT_SENTENCES.read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(set(lines)) == 200
    for line in lines:
        assert not re.search(r"[\[\]]", re.sub(r"\[[^\[\]]+\]", "", line)), line


def test_missed_and_wrong_words_are_counted() -> None:
    """In this sentence a name is not marked, and a verb is."""
    extractor = Extractor(RecallConfig())
    scores = scored(["[Anna] [visited] Paris.", "[Anna] visited [Paris]."], extractor)
    assert (scores.sentences, scores.right, scores.missed, scores.wrong) == (2, 3, 1, 1)
    assert len(scores.mistakes) == 1
    assert scores.row("x")["sentences without a mistake"] == 50.0
