"""Where sentences begin: the pipeline proposes, rules refuse."""

from __future__ import annotations

import pytest
from spacy.tokens import Doc
from spacy.vocab import Vocab

from recallm.extraction.pipeline import read_doc
from recallm.extraction.statements import sentences
from recallm.extraction.words import Lexicon


def cut(text: str) -> list[str]:
    """The sentences of a text whose pipeline proposes a cut at every "|"."""
    words: list[str] = []
    begins: list[bool | int | None] = []
    for part in text.split("|"):
        for i, word in enumerate(part.split()):
            words.append(word)
            begins.append(i == 0)
    doc = Doc(Vocab(), words=words, sent_starts=begins)
    tagged = read_doc(doc, doc.text, Lexicon())
    return [
        " ".join(word.text for word in tagged.words[first:last])
        for first, last in sentences(tagged)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Anna left . | Bob stayed .", ["Anna left .", "Bob stayed ."]),
        ("really ? | yes", ["really ?", "yes"]),
        ("Stop ! 👍 | Go on", ["Stop ! 👍", "Go on"]),
        ("I am late :) | see you", ["I am late :)", "see you"]),
        ("we met at noon | Bob was late", ["we met at noon", "Bob was late"]),
    ],
)
def test_cuts_that_stand(text: str, expected: list[str]) -> None:
    """After a mark that ends sentences, a symbol, an emoticon, or before a capital."""
    assert cut(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "I love | my cat .",
        "Well , | Bob stayed .",
        "Dr. | Who left .",
        "J. | Smith left .",
        'Jane said , "We should go. | It\'s late." and left .',
        'He wrote "Go home! | Now." to us .',
        "Anna (she left. | She is gone.) was here .",
        '"Stop!" | she said .',
        "That was great . | !!!",
        "That was great . | :-) | ❤",
        "Anna ( | Bob ) left",
    ],
)
def test_cuts_that_are_refused(text: str) -> None:
    """Inside of quotes and brackets, after abbreviations, before what holds no word."""
    assert cut(text) == [" ".join(text.replace("|", " ").split())]


def test_a_block_that_is_all_quoted_is_cut_as_usual() -> None:
    """Nobody is said to speak: its sentences stand for themselves."""
    assert cut('"We go. | It is late."') == ['"We go.', 'It is late."']


def test_a_long_quotation_is_cut_as_usual() -> None:
    """A speech is no single statement."""
    speech = 'Ann said : "' + "We walk on . | " * 40 + 'We stay ." and so on .'
    assert len(cut(speech)) == 41


def test_no_tokens_no_sentences() -> None:
    """An empty text has none."""
    assert cut("") == []
