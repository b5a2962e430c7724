"""Blocks and sentences: where a sentence begins and ends."""

from __future__ import annotations

from spacy.tokens import Doc
from spacy.vocab import Vocab

from recallm.english.pipeline import read_doc
from recallm.english.sentences import blocks, cleaned, sentences
from tests.tables import each_row


def blocks_of(text: str) -> list[str]:
    return [text[start:end] for start, end in blocks(text)]


@each_row(
    [
        ("", []),
        (" \n\t ", []),
        ("Anna left.", ["Anna left."]),
        ("  Anna left. \n", ["Anna left."]),
        ("Anna left.\n\nBob stayed.", ["Anna left.", "Bob stayed."]),
        ("eggs\nmilk\nbread", ["eggs", "milk", "bread"]),
        ("To buy:\n- eggs\n- milk", ["To buy:", "eggs", "milk"]),
        ("* eggs\n* milk\n•bread", ["eggs", "milk", "bread"]),
        ("1. Get up\n2. Eat\n10) Sleep", ["Get up", "Eat", "Sleep"]),
        ("(a) red\n(b) blue\niv) green", ["red", "blue", "green"]),
        ("- [ ] call Anna\n- [x] call Bob", ["call Anna", "call Bob"]),
        ("# Plans\nWe leave soon.", ["Plans", "We leave soon."]),
        ("> I agree\n> > I do not", ["I agree", "I do not"]),
        ("Plans\n=====\nWe leave.", ["Plans", "We leave."]),
        ("one\r\ntwo\u2028three\vfour", ["one", "two", "three", "four"]),
        ("J. Smith left", ["J. Smith left"]),
        ("-5 degrees", ["-5 degrees"]),
        ("1999. What a year", ["1999. What a year"]),
        ("---", ["---"]),
        ("- ", ["-"]),
        ("我喜欢咖啡。他在北京！", ["我喜欢咖啡。", "他在北京！"]),
    ]
)
def test_lines(text: str, expected: list[str]) -> None:
    """List items, headings, quoted lines, rules and paragraphs."""
    assert blocks_of(text) == expected


def test_a_sentence_broken_into_lines_is_one_block() -> None:
    """A long line that ends no sentence is carried on by a line in lower case."""
    text = "We walked along the river for the whole afternoon\nand came home at seven."
    assert blocks_of(text) == [text]


def test_hard_wrapped_prose_is_joined_even_before_a_capital() -> None:
    """In three lines or more, each broken where the next word had no room, a break is no end."""
    text = (
        "On the second day of the journey the bus from\n"
        "Lisbon was late again, and so we asked Doctor\n"
        "Meyer to wait for us at the hotel near the old\n"
        "harbour."
    )
    assert blocks_of(text) == [text]


def test_long_lines_that_had_room_left_are_not_joined() -> None:
    """Headlines of unequal length are not hard-wrapped prose."""
    lines = [
        "Mayor opens the new bridge over the river",
        "Team wins the cup for the third time in a row this year",
        "Storm leaves ten thousand homes without power",
    ]
    assert blocks_of("\n".join(lines)) == lines


def test_an_indented_line_continues_a_list_item() -> None:
    """As in Markdown."""
    assert blocks_of("- call Anna\n  about the trip\n- sleep") == [
        "call Anna\n  about the trip",
        "sleep",
    ]


def test_a_line_may_end_in_an_abbreviation() -> None:
    """The name after "Dr." belongs to it."""
    text = "Yesterday at the conference we met a certain Dr.\nwho of course was late."
    assert blocks_of(text) == [text]


def test_a_block_is_bounded() -> None:
    """A paragraph of a megabyte is cut after sentences, a word of a megabyte anywhere."""
    sentence = "We walked along the river for the whole afternoon. "
    pieces = blocks_of(sentence * 1000)
    assert max(map(len, pieces)) <= 3000
    assert all(piece.endswith("afternoon.") for piece in pieces)
    assert sum(map(len, blocks_of("a" * 1_000_000))) == 1_000_000


@each_row(
    [
        ("Anna left.", "Anna left."),
        ("one\ntwo\tthree", "one two three"),
        ("<b>Anna</b> left", "   Anna     left"),
        ("a < b and c > d", "a < b and c > d"),
        ("你好，世界。", "你好,世界."),
        ("so!!!!!!!!!!", "so!!!       "),
        ("wait...", "wait..."),
        ("x/" * 60, "x " * 60),
    ]
)
def test_cleaning_keeps_every_character_in_its_place(text: str, expected: str) -> None:
    """What the pipeline sees is as long as the text."""
    assert cleaned(text) == expected
    assert len(cleaned(text)) == len(text)


def sentences_of(text: str) -> list[str]:
    """The sentences of a text whose pipeline proposes a cut at every "|"."""
    words: list[str] = []
    begins: list[bool | int | None] = []
    for part in text.split("|"):
        for i, word in enumerate(part.split()):
            words.append(word)
            begins.append(i == 0)
    doc = Doc(Vocab(), words=words, sent_starts=begins)
    tagged = read_doc(doc, doc.text)
    return [
        " ".join(word.text for word in tagged.words[first:last])
        for first, last in sentences(tagged)
    ]


@each_row(
    [
        ("Anna left . | Bob stayed .", ["Anna left .", "Bob stayed ."]),
        ("really ? | yes", ["really ?", "yes"]),
        ("Stop ! 👍 | Go on", ["Stop ! 👍", "Go on"]),
        ("I am late :) | see you", ["I am late :)", "see you"]),
        ("we met at noon | Bob was late", ["we met at noon", "Bob was late"]),
    ]
)
def test_accepted_sentence_starts(text: str, expected: list[str]) -> None:
    """After a mark that ends sentences, a symbol, an emoticon, or before a capital."""
    assert sentences_of(text) == expected


@each_row(
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
    ]
)
def test_refused_sentence_starts(text: str) -> None:
    """Inside of quotes and brackets, after abbreviations, before what holds no word."""
    assert sentences_of(text) == [" ".join(text.replace("|", " ").split())]


def test_a_block_that_is_all_quoted_is_cut_as_usual() -> None:
    """Nobody is said to speak: its sentences stand for themselves."""
    assert sentences_of('"We go. | It is late."') == ['"We go.', 'It is late."']


def test_a_long_quotation_is_cut_as_usual() -> None:
    """A speech is no single statement."""
    speech = 'Ann said : "' + "We walk on . | " * 40 + 'We stay ." and so on .'
    assert len(sentences_of(speech)) == 41


def test_no_tokens_no_sentences() -> None:
    """An empty text has none."""
    assert sentences_of("") == []
