"""From a text to its statements, concepts and neighbours, with the shipped pipeline."""

from __future__ import annotations

import re
from collections.abc import Iterator
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recallm.english.extractor as under_test
from recallm import RecallM
from recallm.english.extractor import Extractor
from recallm.errors import InvalidInputError
from recallm.ground.config import RecallConfig
from recallm.memory.discourses import Discourses
from recallm.memory.update_request import UpdateRequest
from recallm.model import ConceptMention, Extraction, Trait, Turn
from tests.extraction.golden import CONCEPTS, QUESTIONS, sentences_to_concepts, to_questions
from tests.tables import each_row

EXTRACTOR = Extractor(RecallConfig())
MARKUP = re.compile(r"[\s\-+*•‣◦▪▸►●○·–—>#()\[\]=_~`.xX0-9A-Za-z]*")
"""White space and all that a line's marker or a rule is made of."""

TEXTS = st.one_of(
    st.text(),
    st.lists(
        st.sampled_from(
            [
                *"\n \t-*>#.!?\"'()“”:;,1a",
                "\r\n",
                "- ",
                "1. ",
                "Anna",
                "left.",
                "Dr.",
                "New York",
                "loves",
                "\n\n",
                "“We go. ",
                "2019",
                "<b>",
                "👍",
                "\x00",
                "我喜欢咖啡。",
                "שלום",
                "\u200b",
            ]
        ),
        max_size=40,
    ).map(" ".join),
    st.text(alphabet="(['\"-.!?:;)]}👍a1 \n", max_size=300),
)


def statements(text: str, extraction: Extraction) -> list[str]:
    return [text[statement.start : statement.end] for statement in extraction.statements]


def names(text: str, config: RecallConfig | None = None) -> list[list[str]]:
    extraction = Extractor(config or RecallConfig()).extract(text)
    return [[concept.name for concept in s.concepts] for s in extraction.statements]


def test_the_walk_through() -> None:
    """The worked example's concepts and relations."""
    first = EXTRACTOR.extract("Brandon loves coffee")
    assert [c.name for c in first.statements[0].concepts] == ["brandon", "coffe"]
    assert [(n.a, n.b, n.earlier, n.later) for n in first.neighbours] == [
        ("brandon", "coffe", 0, 0)
    ]
    second = EXTRACTOR.extract("Brandon wants to travel to Paris")
    assert [c.name for c in second.statements[0].concepts] == ["brandon", "pari"]
    question = EXTRACTOR.question("Who wants to travel to Paris?")
    assert [c.name for c in question.concepts] == ["pari"]
    assert question.asks == Trait.PERSON | Trait.NAME


def test_golden_concepts() -> None:
    """A change of behaviour is a difference that someone reads."""
    golden = CONCEPTS.read_text("utf-8")
    assert sentences_to_concepts(golden) == golden


def test_golden_questions() -> None:
    """As for the concepts."""
    golden = QUESTIONS.read_text("utf-8")
    assert to_questions(golden) == golden


@given(TEXTS, st.sampled_from([None, "Anna", "Anna Smith", "!", "\x00"]))
def test_nothing_is_lost(text: str, speaker: str | None) -> None:
    """Any text: spans ascend and are disjoint, and only markup lies outside of them."""
    extraction = EXTRACTOR.extract(text, speaker=speaker)
    end = 0
    for position, statement in enumerate(extraction.statements):
        assert statement.position == position
        assert end <= statement.start < statement.end <= len(text)
        piece = text[statement.start : statement.end]
        assert piece == piece.strip()
        assert MARKUP.fullmatch(text[end : statement.start])
        end = statement.end
        found = [concept.name for concept in statement.concepts]
        assert len(set(found)) == len(found)
        assert all(found)
        assert all(term and " " not in term for term in statement.terms)
        if extraction.speaker_concept is not None:
            assert found[0] == extraction.speaker_concept
    assert MARKUP.fullmatch(text[end:])
    assert bool(extraction.statements) == bool(text.strip())
    mentioned = [{c.name for c in s.concepts} for s in extraction.statements]
    for pair in extraction.neighbours:
        assert pair.a < pair.b
        assert pair.earlier <= pair.later
        assert {pair.a, pair.b} <= mentioned[pair.earlier] | mentioned[pair.later]


@settings(max_examples=50)
@given(TEXTS)
def test_no_question_or_label_fails(text: str) -> None:
    """No text crashes; a label always has a name unless it is blank."""
    question = EXTRACTOR.question(text)
    assert len(set(question.terms)) == len(question.terms)
    assert bool(EXTRACTOR.concept_name(text)) == bool(text.strip())
    EXTRACTOR.describe(text)


@settings(max_examples=50)
@given(
    st.lists(
        st.tuples(TEXTS, st.sampled_from([None, "Anna"])).map(lambda said: Turn(*said)), max_size=6
    ),
    st.integers(1, 4),
)
def test_extract_many_equals_extract_one_by_one(turns: list[Turn], batch_size: int) -> None:
    """Batches change nothing."""
    expected = [EXTRACTOR.extract(turn.text, speaker=turn.speaker) for turn in turns]
    assert list(EXTRACTOR.extract_many(turns, batch_size=batch_size)) == expected


def test_extract_many_reads_one_batch_ahead_at_most() -> None:
    """No more is read ahead than a batch."""
    read = 0

    def endless() -> Iterator[Turn]:
        nonlocal read
        while True:
            read += 1
            yield Turn("Anna left.")

    stream = EXTRACTOR.extract_many(endless(), batch_size=8)
    assert len(next(stream).statements) == 1
    assert read == 8


def test_the_speaker_is_mentioned_in_every_statement_and_stands_first() -> None:
    """With the parts of the name, and as first neighbour of the first concept."""
    extraction = EXTRACTOR.extract("I love tea. It is raining!", speaker="Anna Smith")
    assert extraction.speaker_concept == "anna smith"
    for statement in extraction.statements:
        assert statement.concepts[:3] == (
            ConceptMention(name="anna smith", label="Anna Smith", kind="entity"),
            ConceptMention(name="anna", label="Anna", kind="name"),
            ConceptMention(name="smith", label="Smith", kind="name"),
        )
    assert [(n.a, n.b) for n in extraction.neighbours] == [("anna smith", "tea")]


def test_a_blank_speaker_is_none() -> None:
    """As if it had not been given."""
    assert EXTRACTOR.extract("I love tea.", speaker="  ").speaker_concept is None


@each_row(
    [
        ("coffee", "coffe"),
        ("New York", "new york"),
        ("new\n york", "new york"),
        ("US", "us"),
        ("U.S.", "us"),
        ("Dr. Meyer", "dr meyer"),
        ("#python", "python"),
        ("C++", "c++"),
        ("NEW YORK", "new york"),
        ("the Beatles", "beatl"),
        ("Anna's", "anna"),
        ("Jean-Luc Picard", "jean luc picard"),
        ("!!!", "!!!"),
        ("x" * 200, "x" * 100),
        ("", ""),
    ]
)
def test_concept_names(label: str, name: str) -> None:
    """How a text spells a concept leads to its key."""
    assert EXTRACTOR.concept_name(label) == name


def test_the_name_of_an_extracted_label_is_the_extracted_name() -> None:
    """What history and forget are asked for is what was stored."""
    text = "Anna Smith met Dr. Meyer of the United Nations in New York, USA, about two coffee cups."
    for statement in EXTRACTOR.extract(text).statements:
        assert len(statement.concepts) > 8
        for concept in statement.concepts:
            assert EXTRACTOR.concept_name(concept.label) == concept.name


def test_neighbours_at_a_distance() -> None:
    """Configurable: at 2, the one after the next is a neighbour too."""
    text = "Anna gave Bob some tea."
    near = EXTRACTOR.extract(text).neighbours
    far = Extractor(RecallConfig(distance=2)).extract(text).neighbours
    assert [(n.a, n.b) for n in near] == [("anna", "bob"), ("bob", "tea")]
    assert {(n.a, n.b) for n in far} == {("anna", "bob"), ("bob", "tea"), ("anna", "tea")}


def test_the_papers_options() -> None:
    """Whole names, names alone; the authors' trimming."""
    text = "Anna gave Bob Miller two cups of tea in the kitchen."
    assert names(text, RecallConfig(concepts="nouns")) == [
        ["anna", "bob miller", "cup", "tea", "kitchen"]
    ]
    assert names(text, RecallConfig(concepts="names")) == [["anna", "bob miller"]]
    assert names(text, RecallConfig(trim_concepts=3)) == [["anna", "bob miller", "bob", "miller"]]


def test_quantities_are_no_concepts_and_names_are_whole() -> None:
    nouns = RecallConfig(concepts="nouns")
    wrong = []
    for text, expected in {
        "Ann flew a Boeing 747 to New York.": ["ann", "boe 747", "new york"],
        "The United States of America has 391,000 lakes.": ["unit state of america", "lake"],
        "There are 866 parks and a lot of towns on Route 66.": ["park", "town", "rout 66"],
        "Ann saw dozens of birds in 1999.": ["ann", "bird", "1999"],
        "Bob passed POL-358.": ["bob", "pol 358"],
        "Bob has four dogs.": ["bob", "dog"],
    }.items():
        found = names(text, nouns)[0]
        if found != expected:
            wrong.append((text, found))
    assert not wrong
    assert "866" in EXTRACTOR.extract("There are 866 parks.").statements[0].terms


def test_a_code_is_one_concept_however_it_is_written() -> None:
    spellings = ("POL-358", "POL 358", "POL358", "pol 358", "Pol-358")
    assert {EXTRACTOR.concept_name(each) for each in spellings} == {"pol 358"}
    for code, spaced in {"COVID-19": "Covid 19", "Boeing-747": "Boeing 747"}.items():
        assert EXTRACTOR.concept_name(code) == EXTRACTOR.concept_name(spaced)


def test_words_of_a_name_ask_for_no_time() -> None:
    for name in ("After the Rain", "The Last Orchard", "Before the Thaw"):
        time = EXTRACTOR.question(f"Who is the author of {name}?").time
        assert (time.order, time.previous, time.anchor) == ("latest", False, None), name


def test_describe_covers_the_whole_text() -> None:
    """The terms of all sentences in order, and the traits of any."""
    terms, traits = EXTRACTOR.describe("Anna left in 2019. Bob has three cats.")
    assert terms == ("anna", "leav", "2019", "bob", "three", "cat")
    assert traits & (Trait.TIME | Trait.NUMBER | Trait.PAST) == (
        Trait.TIME | Trait.NUMBER | Trait.PAST
    )


def test_too_many_statements_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the index of the item among many."""
    monkeypatch.setattr(under_test, "MAX_POSITION", 1)
    assert len(EXTRACTOR.extract("one\ntwo").statements) == 2
    with pytest.raises(InvalidInputError, match="3 statements") as caught:
        EXTRACTOR.extract("one\ntwo\nthree")
    assert caught.value.argument == "text"
    with pytest.raises(InvalidInputError, match="item 1: ") as caught:
        list(EXTRACTOR.extract_many([Turn("one"), Turn("one\ntwo\nthree")]))
    assert caught.value.index == 1


@each_row(["(", "'", "👍", "a\n", "( ", '"a ', "Anna went home. ", "x", "-", "<a", "a'"])
def test_hostile_texts_take_bounded_time(unit: str) -> None:
    """Rows of symbols, lines of one letter, words without end: none is lost, none is quadratic.

    Quadratic tokenizing of these took minutes.
    """
    text = unit * (12_000 // len(unit))
    extraction = EXTRACTOR.extract(text)
    assert sum(map(len, statements(text, extraction))) > len(text) // 4


def test_a_long_question_is_read_at_both_ends() -> None:
    """A document handed in as a question costs no more than a page of it."""
    extractor = Extractor(RecallConfig())
    filler = "Nothing here matters at all. " * 10_000
    question = extractor.question(f"Anna wrote this. {filler} The secret. {filler} Where is Oslo?")
    names = {concept.name for concept in question.concepts}
    assert {"anna", "oslo"} <= names
    assert "secret" not in question.terms
    assert question.asks & Trait.PLACE


def test_a_question_has_64_terms_and_concepts_at_most() -> None:
    extractor = Extractor(RecallConfig())
    question = extractor.question("Who met " + ", ".join(f"Zed{n}" for n in range(300)) + "?")
    assert len(question.terms) == len(question.concepts) == 64
    assert {"zed 0", "zed 299"} <= {concept.name for concept in question.concepts}


@each_row(
    [
        ("What happened in October 2025?", ("happen",)),
        ("What did Bob do on May 3, 2023?", ("bob",)),
        ("What did Bob do before 2023-05-03?", ("bob",)),
        ("What did Bob do last summer?", ("bob", "last", "summer")),
        ("What did Bob get for Christmas?", ("bob", "christma")),
        ("In May 2023?", ("mai", "2023")),
    ]
)
def test_a_date_with_its_year_is_no_search_term(
    question: str, search_terms: tuple[str, ...]
) -> None:
    """The date limits time; where nothing else is asked, its words are all there is to search."""
    assert EXTRACTOR.question(question).search_terms == search_terms


MESSAGES = st.lists(
    st.tuples(
        st.sampled_from(["Ann Baker", "Bob", "assistant", None]),
        st.lists(
            st.sampled_from(
                [
                    "Ingrid Meyer works for Acme.",
                    "She moved to Oslo, and he followed her.",
                    "Ann and Bob met Ingrid.",
                    "They like it. The company pays them.",
                    "He gave his book to Carl Baker; you know him.",
                ]
            ),
            min_size=1,
            max_size=4,
        ).map(" ".join),
    ),
    min_size=2,
    max_size=8,
)


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(MESSAGES, st.integers(1, 8))
def test_what_a_session_said_is_the_same_read_once_or_again(
    messages: list[tuple[str | None, str]], batch_size: int
) -> None:
    """Whether or not the blocks of the messages before are remembered."""

    def said(extractor: Extractor) -> list[Extraction]:
        requests = [
            UpdateRequest(text=text, speaker=speaker, id=f"m{n}", session="s")
            for n, (speaker, text) in enumerate(messages)
        ]
        with RecallM() as memory:
            discourses = Discourses(memory._opened, requests)
            turns = [each.turn(discourses.of(place)) for place, each in enumerate(requests)]
            return list(extractor.extract_many(turns, batch_size=batch_size))

    with patch("recallm.english.plain_reading._REMEMBERED_CHARACTERS", 0):
        assert said(Extractor(RecallConfig())) == said(EXTRACTOR)
