"""Concepts in textual order, from tags and entities made by hand."""

from __future__ import annotations

from recallm.config import ConceptChoice
from recallm.english.concepts import concept_places, trimmed
from recallm.english.names import entities
from recallm.english.pipeline import TaggedText
from tests.extraction.tagging import given
from tests.tables import each_row


def read(
    tagged: TaggedText, *, all_capitals: bool = False, concepts: ConceptChoice = "all"
) -> list[tuple[str, ...]]:
    """Each place's concept and parts, as "name/kind"."""
    span = (0, len(tagged.words))
    return [
        tuple(f"{mention.name}/{mention.kind}" for mention in (place.concept, *place.parts))
        for place in concept_places(
            tagged, span, entities(tagged), all_capitals=all_capitals, concepts=concepts
        )
    ]


def test_nouns_names_and_numbers_are_concepts() -> None:
    """The paper's nouns, and what the authors' code takes beside them."""
    tagged = given("Brandon/PROPN bought/VERB three/NUM red/ADJ bananas/NOUN ./PUNCT")
    assert read(tagged) == [("brandon/name",), ("banana/noun",)]


def test_a_run_of_names_is_an_entity_with_its_parts() -> None:
    """It holds one place."""
    tagged = given("Anna/PROPN lives/VERB in/ADP New/PROPN York/PROPN")
    assert read(tagged) == [("anna/name",), ("new york/entity", "new/name", "york/name")]


def test_a_run_that_holds_one_marked_entity_is_that_entity() -> None:
    """The recogniser stopped short."""
    tagged = given("the/DET Boston/PROPN Book/PROPN Fair/PROPN", entities=[(1, 2, "LOC")])
    assert entities(tagged) == [(1, 4, "LOC")]


def test_a_run_that_holds_two_marked_entities_is_left_as_they_are() -> None:
    """Two names may stand side by side."""
    tagged = given("Anna/PROPN Paris/PROPN", entities=[(0, 1, "PER"), (1, 2, "LOC")])
    assert read(tagged) == [("anna/entity",), ("pari/entity",)]


def test_edges_are_stripped_off_entities() -> None:
    """Determiners, possessives and "'s" are no part of a name."""
    tagged = given("My/PRON the/DET Beatles/PROPN 's/PART records/NOUN", entities=[(0, 4, "ORG")])
    assert read(tagged) == [("beatl/entity",), ("record/noun",)]


def test_an_entity_may_hold_other_words() -> None:
    """ "of" belongs to the name, and is no concept by itself."""
    tagged = given("the/DET Bank/PROPN of/ADP America/PROPN", entities=[(0, 4, "ORG")])
    assert read(tagged) == [("bank of america/entity", "bank/name", "america/name")]


@each_row(
    [
        given("It/PRON rains/VERB", entities=[(0, 1, "ORG")]),
        given("I/PROPN know/VERB him/NOUN"),
        given("this/NOUN and/CCONJ that/NOUN"),
        given("-/NOUN →/PROPN •/NOUN"),
        given("x" * 101 + "/NOUN"),
    ]
)
def test_tokens_that_are_never_concepts(tagged: TaggedText) -> None:
    """Pronouns however they are tagged, tokens without a letter or digit, endless tokens."""
    assert read(tagged) == []


def test_dates_and_amounts_of_other_pipelines_are_no_entities() -> None:
    """ "the first three days" is not a name."""
    tagged = given("the/DET first/ADJ three/NUM days/NOUN", entities=[(0, 4, "DATE")])
    assert read(tagged) == [("dai/noun",)]


def test_numbers_and_times_in_digits_are_numbers_whatever_their_tag() -> None:
    """A pipeline may take them for symbols."""
    tagged = given("at/ADP 10:30/X in/ADP 1999/PROPN for/ADP 3.50/SYM")
    assert read(tagged) == [("10:30/number",), ("1999/number",)]


def test_words_of_other_scripts_are_nouns() -> None:
    """An English pipeline cannot tell; words that it gave up on count if they are not ASCII."""
    tagged = given("он/PRON любит/VERB Москву/PROPN")
    assert read(tagged) == [("он/noun",), ("любит/noun",), ("москву/name",)]
    assert read(given("naïveté/X foo/X")) == [("naivet/noun",)]


def test_acronyms_are_not_stemmed_unless_the_text_is_in_capitals() -> None:
    """ "GPS" is no plural of "gp"; "CATS" in capitals is one of "cat"."""
    tagged = given("US/PROPN wants/VERB AIDS/NOUN gone/VERB")
    assert read(tagged) == [("us/name",), ("aids/noun",)]
    assert read(given("GPS/NOUN")) == [("gps/noun",)]
    assert read(given("GPS/NOUN"), all_capitals=True) == [("gp/noun",)]


def test_a_word_in_capitals_for_emphasis_is_the_same_concept() -> None:
    """ "PARIS" is Paris."""
    tagged = given("Paris/PROPN not/PART PARIS/PROPN nor/CCONJ LAS/PROPN VEGAS/PROPN")
    assert read(tagged) == [
        ("pari/name",),
        ("pari/name",),
        ("la vega/entity", "la/name", "vega/name"),
    ]


def test_nouns_are_nouns_and_whole_names() -> None:
    """A name is one concept; a bare quantity is none."""
    tagged = given("Anna/PROPN Smith/PROPN has/VERB two/NUM cats/NOUN", entities=[(0, 2, "PER")])
    assert read(tagged, concepts="nouns") == [
        ("anna smith/entity",),
        ("cat/noun",),
    ]


def test_names_alone_are_whole() -> None:
    """Paper, Changes to the Architecture: named entities and nothing else."""
    tagged = given(
        "Brandon/PROPN saw/VERB two/NUM cats/NOUN in/ADP New/PROPN York/PROPN",
        entities=[(5, 7, "LOC")],
    )
    assert read(tagged, concepts="names") == [("brandon/name",), ("new york/entity",)]


def names(tagged: TaggedText, most: int) -> list[str]:
    found = list(
        concept_places(tagged, (0, len(tagged.words)), [], all_capitals=False, concepts="all")
    )
    return [place.concept.name for place in trimmed(found, most)]


def test_trimming_keeps_the_first_name_and_what_stands_beside_it() -> None:
    """The authors' rule for sentences with more than three concepts."""
    tagged = given("dogs/NOUN cats/NOUN Anna/PROPN birds/NOUN Bob/PROPN dogs/NOUN")
    assert names(tagged, 3) == ["cat", "anna", "bird"]


def test_trimming_keeps_the_middle_where_there_is_no_name() -> None:
    """The authors' rule, continued."""
    tagged = given("dogs/NOUN cats/NOUN mice/NOUN birds/NOUN fish/NOUN")
    assert names(tagged, 3) == ["cat", "mice", "bird"]


def test_trimming_leaves_short_sentences_alone() -> None:
    """Repetitions do not count."""
    tagged = given("dogs/NOUN cats/NOUN dogs/NOUN cats/NOUN mice/NOUN")
    assert names(tagged, 3) == ["dog", "cat", "dog", "cat", "mice"]
