"""Traits: times, numbers, names, persons, tenses, questions."""

from __future__ import annotations

from recallm.english.names import entities
from recallm.english.pipeline import TaggedText
from recallm.english.plain_reading import traits
from recallm.model import Trait
from tests.extraction.tagging import given
from tests.tables import each_row


def read(tagged: TaggedText) -> Trait:
    return traits(tagged, (0, len(tagged.words)), entities(tagged), tagged.text.strip())


TIMES = [
    "we/PRON met/VERB yesterday/NOUN",
    "in/ADP 1999/NUM",
    "the/DET 1980s/NOUN",
    "at/ADP 10:30/NUM",
    "at/ADP 3/NUM pm/NOUN",
    "on/ADP Monday/PROPN",
    "in/ADP May/PROPN",
    "on/ADP may/AUX 3/NUM",
    "last/ADJ week/NOUN",
    "three/NUM days/NOUN ago/ADV",
    "a/DET few/ADJ years/NOUN",
    "on/ADP 2020-05-03/NUM",
    "on/ADP 3/5/2020/NUM",
    "this/DET spring/NOUN",
    "every/DET Tuesday/PROPN",
    "at/ADP 7am/NUM",
]
NO_TIMES = [
    "you/PRON may/AUX go/VERB",
    "they/PRON march/VERB on/ADV",
    "a/DET spring/NOUN of/ADP water/NOUN",
    "it/PRON costs/VERB 3.50/NUM",
    "I/PRON fall/VERB asleep/ADJ",
    "May/AUX I/PRON go/VERB",
    "12345/NUM people/NOUN",
    "the/DET second/ADJ book/NOUN",
]


@each_row([*((text, True) for text in TIMES), *((text, False) for text in NO_TIMES)])
def test_dates_and_times(tagged: str, is_time: bool) -> None:
    """By rule: no pipeline label is asked. Words with another meaning count where they are written
    as names or beside a number."""
    assert bool(read(given(tagged)) & Trait.TIME) is is_time


@each_row(
    [
        ("he/PRON loved/VERB it/PRON", Trait.PAST),
        ("he/PRON went/VERB home/ADV", Trait.PAST),
        ("she/PRON has/AUX gone/VERB", Trait.PAST | Trait.PRESENT),
        ("he/PRON loves/VERB it/PRON", Trait.PRESENT),
        ("we/PRON are/AUX here/ADV", Trait.PRESENT),
        ("he/PRON needs/VERB food/NOUN", Trait.PRESENT),
        ("it/PRON will/AUX rain/VERB", Trait.FUTURE),
        ("it/PRON wo/AUX n't/PART rain/VERB", Trait.FUTURE),
        ("she/PRON is/AUX going/VERB to/PART sing/VERB", Trait.FUTURE | Trait.PRESENT),
        ("she/PRON is/AUX going/VERB home/ADV", Trait.PRESENT),
        ("did/AUX she/PRON like/VERB it/PRON", Trait.PAST),
        ("a/DET red/ADJ cat/NOUN", Trait(0)),
        ("who/PRON rebuilt/VERB the/DET shed/NOUN", Trait.PAST),
        ("who/PRON overheard/VERB them/PRON", Trait.PAST),
        ("they/PRON resent/VERB it/PRON", Trait.PRESENT),
        ("they/PRON relent/VERB", Trait.PRESENT),
        ("who/PRON put/VERB it/PRON there/ADV", Trait.PAST),
        ("Anna/PROPN quickly/ADV cut/VERB it/PRON", Trait.PAST),
        ("the/DET dogs/NOUN put/VERB up/ADP with/ADP it/PRON", Trait.PRESENT),
        ("where/ADV did/AUX she/PRON put/VERB it/PRON", Trait.PAST),
        ("she/PRON will/AUX set/VERB it/PRON", Trait.FUTURE),
        ("where/ADV was/AUX it/PRON put/VERB", Trait.PAST),
        ("it/PRON was/AUX put/VERB there/ADV", Trait.PAST),
        ("what/PRON had/AUX Anna/PROPN become/VERB", Trait.PAST),
        ("they/PRON come/VERB", Trait.PRESENT),
        ("I/PRON read/VERB a/DET book/NOUN", Trait.PAST),
        ("what/PRON does/AUX she/PRON read/VERB", Trait.PRESENT),
        ("they/PRON spread/VERB it/PRON", Trait.PRESENT),
    ]
)
def test_tenses(tagged: str, expected: Trait) -> None:
    """By the forms of verbs and auxiliaries."""
    assert read(given(tagged)) & (Trait.PAST | Trait.PRESENT | Trait.FUTURE) == expected


@each_row(
    [
        ("three/NUM cats/NOUN", True),
        ("12/NUM cats/NOUN", True),
        ("the/DET 3rd/ADJ cat/NOUN", True),
        ("in/ADP 1999/NUM", False),
        ("one/NUM of/ADP us/PRON", False),
        ("a/DET cat/NOUN", False),
    ]
)
def test_numbers(tagged: str, expected: bool) -> None:
    """A year answers no "how many"."""
    assert bool(read(given(tagged)) & Trait.NUMBER) is expected


def test_names_and_their_types() -> None:
    """Types are the recogniser's, of the shipped pipeline and of spaCy's own."""
    assert read(given("Anna/PROPN left/VERB")) & Trait.NAME
    for label, trait in [
        ("PER", Trait.PERSON),
        ("PERSON", Trait.PERSON),
        ("LOC", Trait.PLACE),
        ("GPE", Trait.PLACE),
        ("ORG", Trait.ORGANISATION),
    ]:
        found = read(given("Anna/PROPN left/VERB", entities=[(0, 1, label)]))
        assert found & (Trait.PERSON | Trait.PLACE | Trait.ORGANISATION) == trait
    assert not read(given("a/DET cat/NOUN")) & Trait.NAME


def test_persons_and_negation() -> None:
    """ "US" in capitals is not us."""
    assert read(given("I/PRON never/ADV left/VERB")) & (Trait.FIRST_PERSON | Trait.NEGATION) == (
        Trait.FIRST_PERSON | Trait.NEGATION
    )
    assert read(given("he/PRON told/VERB us/PRON")) & Trait.FIRST_PERSON
    assert not read(given("the/DET US/PROPN won/VERB")) & Trait.FIRST_PERSON
    assert read(given("Your/PRON cat/NOUN")) & Trait.SECOND_PERSON
    assert not read(given("my/PRON cat/NOUN")) & Trait.SECOND_PERSON


@each_row(
    [
        "she/PRON left/VERB ?/PUNCT",
        "she/PRON left/VERB ?!/PUNCT",
        '"/PUNCT she/PRON left/VERB ?/PUNCT "/PUNCT',
        "she/PRON left/VERB ?/PUNCT 👍/SYM",
        "what/PRON is/AUX this/PRON",
        "how/ADV many/ADJ cats/NOUN",
        "which/DET cat/NOUN did/AUX you/PRON see/VERB",
        "do/AUX you/PRON like/VERB it/PRON",
        "Tell/VERB me/PRON about/ADP Rome/PROPN ./PUNCT",
        "please/INTJ remind/VERB us/PRON when/ADV we/PRON leave/VERB ./PUNCT",
        "List/VERB all/DET bands/NOUN",
    ]
)
def test_questions(tagged: str) -> None:
    """They end in a question mark, start like one or request an answer."""
    assert read(given(tagged)) & Trait.QUESTION


@each_row(
    [
        "she/PRON left/VERB ./PUNCT",
        "when/ADV we/PRON met/VERB it/PRON rained/VERB",
        "what/PRON is/AUX done/VERB is/AUX done/VERB ./PUNCT",
        'he/PRON asked/VERB "/PUNCT why/ADV ?/PUNCT "/PUNCT twice/ADV',
        "do/VERB this/DET job/NOUN now/ADV ./PUNCT",
        "Remind/VERB me/PRON to/PART call/VERB Ann/PROPN ./PUNCT",
        "He/PRON did/AUX not/PART tell/VERB me/PRON about/ADP Rome/PROPN ./PUNCT",
        "List/NOUN prices/NOUN rose/VERB ./PUNCT",
    ]
)
def test_no_questions(tagged: str) -> None:
    """A question inside of a statement leaves it a statement."""
    assert not read(given(tagged)) & Trait.QUESTION
