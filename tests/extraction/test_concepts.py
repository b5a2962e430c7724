"""Concepts in textual order, from tags and entities made by hand."""

from __future__ import annotations

from recallm.english.concepts import concept_places, trimmed
from recallm.english.names import entities
from recallm.english.pipeline import TaggedText
from recallm.ground.config import ConceptChoice
from tests.extraction.tagging import given
from tests.tables import each_row

Entities = list[tuple[int, int, str]]


def read(tagged: TaggedText, *, all_capitals: bool = False, concepts: ConceptChoice = "all") -> str:
    """The concepts of all places, each with its parts behind "+", as "name/kind"."""
    span = (0, len(tagged.words))
    return ", ".join(
        " + ".join(f"{mention.name}/{mention.kind}" for mention in (place.concept, *place.parts))
        for place in concept_places(
            tagged, span, entities(tagged), all_capitals=all_capitals, concepts=concepts
        )
    )


@each_row(
    [
        # The paper's nouns, and what the authors' code takes beside them.
        (
            "Brandon/PROPN bought/VERB three/NUM red/ADJ bananas/NOUN",
            [],
            "brandon/name, banana/noun",
        ),
        # A run of names is an entity with its parts, and holds one place.
        ("lives/VERB in/ADP New/PROPN York/PROPN", [], "new york/entity + new/name + york/name"),
        # The recogniser stopped short; two names that it marked stay as they are.
        (
            "Boston/PROPN Fair/PROPN",
            [(0, 1, "LOC")],
            "boston fair/entity + boston/name + fair/name",
        ),
        ("Anna/PROPN Paris/PROPN", [(0, 1, "PER"), (1, 2, "LOC")], "anna/entity, pari/entity"),
        # Determiners, possessives and "'s" are no part of a name.
        (
            "My/PRON the/DET Beatles/PROPN 's/PART records/NOUN",
            [(0, 4, "ORG")],
            "beatl/entity, record/noun",
        ),
        # "of" belongs to a name, and is no concept by itself.
        (
            "the/DET Bank/PROPN of/ADP America/PROPN",
            [(0, 4, "ORG")],
            "bank of america/entity + bank/name + america/name",
        ),
        # Pronouns however they are tagged, tokens without a letter or digit, endless tokens.
        ("It/PRON rains/VERB", [(0, 1, "ORG")], ""),
        ("I/PROPN know/VERB him/NOUN", [], ""),
        ("this/NOUN and/CCONJ that/NOUN", [], ""),
        ("-/NOUN →/PROPN •/NOUN", [], ""),
        ("x" * 101 + "/NOUN", [], ""),
        # "the first three days" is no name.
        ("the/DET first/ADJ three/NUM days/NOUN", [(0, 4, "DATE")], "dai/noun"),
        # Times and years are numbers whatever their tag: a pipeline may take them for symbols.
        ("at/ADP 10:30/X in/ADP 1999/PROPN for/ADP 3.50/SYM", [], "10:30/number, 1999/number"),
        # An English pipeline cannot tell words of other scripts; what it gave up on counts if it is
        # not ASCII.
        ("он/PRON любит/VERB Москву/PROPN", [], "он/noun, любит/noun, москву/name"),
        ("naïveté/X foo/X", [], "naivet/noun"),
        # "GPS" is no plural of "gp"; "PARIS" is Paris.
        ("US/PROPN wants/VERB AIDS/NOUN", [], "us/name, aids/noun"),
        ("GPS/NOUN", [], "gps/noun"),
        ("Paris/PROPN not/PART PARIS/PROPN", [], "pari/name, pari/name"),
        ("nor/CCONJ LAS/PROPN VEGAS/PROPN", [], "la vega/entity + la/name + vega/name"),
    ]
)
def test_concepts_of_a_sentence(tagged: str, marked: Entities, expected: str) -> None:
    assert read(given(tagged, entities=marked)) == expected


def test_a_run_that_holds_one_marked_entity_is_of_its_type() -> None:
    tagged = given("the/DET Boston/PROPN Book/PROPN Fair/PROPN", entities=[(1, 2, "LOC")])
    assert entities(tagged) == [(1, 4, "LOC")]


def test_a_text_in_capitals_has_no_acronyms() -> None:
    """ "CATS" in capitals is a plural of "cat"."""
    assert read(given("GPS/NOUN"), all_capitals=True) == "gp/noun"


def test_nouns_and_whole_names_or_names_alone() -> None:
    """Paper, Changes to the Architecture: named entities and nothing else. A bare quantity is no
    noun."""
    text = "Brandon/PROPN saw/VERB two/NUM cats/NOUN in/ADP New/PROPN York/PROPN"
    tagged = given(text, entities=[(5, 7, "LOC")])
    assert read(tagged, concepts="nouns") == "brandon/name, cat/noun, new york/entity"
    assert read(tagged, concepts="names") == "brandon/name, new york/entity"


def names(tagged: TaggedText, most: int) -> list[str]:
    found = list(
        concept_places(tagged, (0, len(tagged.words)), [], all_capitals=False, concepts="all")
    )
    return [place.concept.name for place in trimmed(found, most)]


@each_row(
    [
        # The first name and what stands beside it.
        ("dogs cats Anna birds Bob dogs", ["cat", "anna", "bird"]),
        # The middle where there is no name.
        ("dogs cats mice birds fish", ["cat", "mice", "bird"]),
        # Repetitions do not count.
        ("dogs cats dogs cats mice", ["dog", "cat", "dog", "cat", "mice"]),
    ]
)
def test_trimming_is_the_authors_rule_beyond_three_concepts(text: str, kept: list[str]) -> None:
    tags = (f"{word}/{'PROPN' if word.istitle() else 'NOUN'}" for word in text.split())
    assert names(given(" ".join(tags)), 3) == kept
