"""The network gives the labels that spaCy's components give."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from spacy.language import Language

from recallm.english import shipped
from recallm.english.pipeline import TaggedText, load_pipeline, read_doc
from recallm.english.shipped import KNOWLEDGE, Network, load_shipped, shipped_components

TEXTS = [
    "Where did Ingrid Olsen live before she moved to Porto?",
    "when is my dentist appointment, and who's coming along",
    "Joe Biden met Angela Merkel in Berlin. He can't say why. Acme Inc., of San Jose, paid for it.",
    "Dr. Who's sister-in-law bought 2 kg of apples @ 3.50 in the U.S., didn't she?!",
    "Ana works for Microsoft; Bob for the Red Cross and the New York Times.",
    "Ann  Smith \n\n went to  New   York \n City.",
    "a.\n\nb.",
    "  \n\n ",
    "",
    "x" * 5_000,
    "我住在马拉加。 Привет, Анна! 👍🍕 :)",
    "| Ann | BMW |\n|---|---|\n| Bob | Audi A4 |",
    "https://example.com/a,b?c=1 v2.1.3 E-1042 ann@example.com",
    "THE PRESIDENT OF FRANCE VISITED LONDON. " * 20,
]


@cache
def components() -> Language:
    return load_shipped(vocab=load_pipeline(None)._nlp.vocab)


def by_spacy(text: str) -> TaggedText:
    """Without roles: they are spaCy's tags, which no user's pipeline gives."""
    doc = load_pipeline(None)._nlp.make_doc(text)
    for _, component in components().pipeline:
        doc = component(doc)
    return replace(read_doc(doc, text), roles=tuple(token.tag_ for token in doc))


def test_labels_are_those_of_spacys_components() -> None:
    """However many texts are read at once, and whatever stands beside a text."""
    expected = [*map(by_spacy, TEXTS)]
    assert [*load_pipeline(None).tag(TEXTS)] == expected
    assert [*load_pipeline(None).tag(TEXTS[::-1])] == expected[::-1]
    assert [next(load_pipeline(None).tag([text])) for text in TEXTS] == expected
    assert {label for tagged in expected for *_, label in tagged.entities} == {"PER", "LOC", "ORG"}


def test_a_full_table_of_words_starts_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the table holds, labels are the same."""
    nlp = load_pipeline(None)._nlp
    roomy = Network(shipped_components(KNOWLEDGE))
    monkeypatch.setattr(shipped, "_MOST_WORDS", 5)
    narrow = Network(shipped_components(KNOWLEDGE))
    docs = [*map(nlp.make_doc, TEXTS)]
    expected = roomy.read(docs)
    assert narrow.read(docs) == expected
    assert [narrow.read([doc])[0] for doc in docs] == expected
    assert len(narrow._known) < len(roomy._known)
