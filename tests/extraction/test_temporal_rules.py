"""What questions ask of time."""

from __future__ import annotations

import tomllib
from pathlib import Path
from time import thread_time

from hypothesis import given as hypothesis_given
from hypothesis import strategies as st

from recallm.english.plain_reading import tenses
from recallm.english.questions import RULES, temporal_reading
from recallm.model import TemporalIntent, TemporalReading, Trait
from tests.extraction.tagging import given
from tests.tables import each_row

PRESENT, PAST, FUTURE, MIXED = Trait.PRESENT, Trait.PAST, Trait.FUTURE, Trait.PRESENT | Trait.PAST
NONE = Trait(0)
TENSES = {"PRESENT": PRESENT, "PAST": PAST, "FUTURE": FUTURE, "MIXED": MIXED, "NONE": NONE}
READINGS: dict[str, str] = tomllib.loads(
    Path(__file__).with_name("readings.toml").read_text(encoding="utf-8")
)


def in_words(reading: TemporalReading) -> str:
    """ "current high latest within previous spread": the intent, how much recency counts (low up
    to 0.3, high from 0.7), then what is not as usual."""
    band = "low" if reading.recency <= 0.3 else "high" if reading.recency >= 0.7 else "half"
    parts = [reading.intent, band]
    if reading.order != "any":
        parts.append(reading.order)
    if reading.window != "none":
        parts.append(reading.window)
    if reading.previous:
        parts.append("previous")
    if reading.spread:
        parts.append("spread")
    return " ".join(parts)


@each_row(READINGS.items())
def test_readings(question: str, expected: str) -> None:
    tense, _, reading = expected.partition(": ")
    assert in_words(temporal_reading(question, TENSES[tense])) == reading


@each_row(
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
    ]
)
def test_words_take_precedence_over_tenses(question: str, expected: TemporalIntent) -> None:
    tagged = given(question)
    marks = [word.marks for word in tagged.words]
    found = tenses(marks, tagged.tags, [word.lowered for word in tagged.words])
    assert temporal_reading(tagged.text, found).intent == expected


def test_fired_rules_are_named_in_order() -> None:
    """With what each set; one that only confirms an earlier one is not named."""
    reading = temporal_reading("What are all the places she visited last week?", MIXED)
    assert reading.rules == (
        "last <period> → recency 0.5, window within",
        "list → all of them",
    )


@each_row(
    [
        ("When did she move?", "when did"),
        ("Has she ever been to Paris?", "in the past"),
        ("How long has she lived there?", "when will, how long"),
        ("Who is the former president of France?", "before, former"),
    ]
)
def test_the_name_of_a_rule_fits_the_question(question: str, rule: str) -> None:
    (fired,) = temporal_reading(question, MIXED).rules
    assert fired.partition(" →")[0] == rule


def test_an_earlier_rule_wins() -> None:
    """A date before a word of the present, a word before a tense."""
    dated = temporal_reading("What is he currently doing in August 2023?", PRESENT)
    assert (dated.intent, dated.recency, dated.order) == ("historical", 0.0, "latest")


def test_text_without_a_question_reads_as_neutral() -> None:
    assert temporal_reading("", Trait(0)) == TemporalReading()


def test_every_rule_has_its_own_name() -> None:
    names = [rule.name for rule in RULES]
    assert len(names) == len(set(names))


@each_row(
    [
        "before Cisco " + "what was " * 1200,
        "last for " + "where did " * 1200,
        "was a used to " * 900,
        "what has " * 1200,
        "how many has do " * 900,
        "is a b c d e " * 900,
        "march 3 to " * 1000,
    ]
)
def test_a_long_text_is_read_in_a_moment(text: str) -> None:
    """Under 50 ms each where it was written; a pattern that looks back and forth takes 10 s."""
    asked = text
    start = thread_time()  # others may use the machine too
    temporal_reading(asked, PAST)
    assert thread_time() - start < 2.0


VOCABULARY = (
    "what which who when where how did does is was has she Anna last first before since until in "
    "May march 2023 2023-05-03 week weeks ago now still used use to no longer yet ever many times "
    "often all the list bands moment when latest next this ex-wife former old job 7 , ' | don't "
    "what's ’ \x00 ㋿ ( [ \\"
)


@hypothesis_given(
    st.one_of(
        st.text(), st.lists(st.sampled_from(VOCABULARY.split(" ")), max_size=30).map(" ".join)
    ),
    st.sampled_from([PRESENT, PAST, FUTURE, MIXED, NONE]),
)
def test_any_text_is_read_deterministically(text: str, tense: Trait) -> None:
    reading = temporal_reading(text, tense)
    assert reading == temporal_reading(text, tense)
    assert 0.0 <= reading.recency <= 1.0
