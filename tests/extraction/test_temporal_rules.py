"""What questions ask of time."""

from __future__ import annotations

from time import perf_counter

from hypothesis import given as hypothesis_given
from hypothesis import strategies as st

from recallm.english.questions import temporal_reading
from recallm.english.temporal_rules import RULES
from recallm.english.traits import tenses
from recallm.model import TemporalIntent, TemporalReading, Trait
from tests.extraction.tagging import given
from tests.tables import each_row

PRESENT, PAST, FUTURE, MIXED = Trait.PRESENT, Trait.PAST, Trait.FUTURE, Trait.PRESENT | Trait.PAST
NONE = Trait(0)


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


@each_row(
    [
        # How things are.
        ("Where does she live?", PRESENT, "current high latest"),
        ("Where does Tom live now?", PRESENT, "current high latest"),
        ("Where is she living these days?", PRESENT, "current high latest"),
        ("What is her dog called?", MIXED, "current high latest"),
        ("Is he married?", MIXED, "current high latest"),
        ("Where are the offices located?", MIXED, "current high latest"),
        (
            "Which city is the headquarter of the Smith and Sons Trust Ltd located in?",
            MIXED,
            "current high latest",
        ),
        ("Which religion is Tom O'Neil affiliated with?", MIXED, "current high latest"),
        ("Which company is the film produced by?", MIXED, "current high latest"),
        ("Which company was the film produced by?", PAST, "neutral low"),
        ("What is a saw used for?", MIXED, "current high latest"),
        ("Is he still vegetarian?", PRESENT, "current high latest"),
        ("Who currently owns the flat?", PRESENT, "current high latest"),
        ("What is she doing at the moment?", PRESENT, "current high latest"),
        ("Which car does he drive at present?", PRESENT, "current high latest"),
        ("What's her present job?", PRESENT, "current high latest"),
        ("As of today, who is the captain?", PRESENT, "current high latest"),
        ("What's Tom's latest project?", PRESENT, "current high latest"),
        ("What was her most recent trip?", PAST, "current high latest"),
        ("What has she been painting lately?", PAST, "current high latest spread"),
        ("What did Melanie paint recently?", PAST, "current high latest"),
        ("Has he finished yet?", PAST, "current high latest"),
        ("Does she smoke anymore?", PRESENT, "current high latest"),
        ("Doesn't he work there any more?", PRESENT, "current high latest"),
        ("What's my new address?", PRESENT, "current high latest"),
        ("Whats my name", NONE, "current high latest"),
        ("Which house did she buy in the end?", PAST, "neutral high latest"),
        ("What does she no longer eat?", PRESENT, "current high latest"),
        ("What does he do now that he has retired?", MIXED, "current high latest"),
        ("Where is she now based?", MIXED, "current high latest"),
        # Words that look like it.
        ("What happened at the moment when he left?", PAST, "neutral low"),
        ("Where was he living at the time of the fire?", PAST, "historical low"),
        ("What did she like when she was a kid?", PAST, "historical low"),
        ("Where is New York?", PRESENT, "current high latest"),
        ("What present did she get?", PAST, "neutral low"),
        ("What did she paint for the still life class?", PAST, "neutral low"),
        ("What does she do now and then?", PRESENT, "current high latest"),
        ("What did she do now and then?", PAST, "neutral low"),
        ("Did it take no longer than an hour?", PAST, "neutral low"),
        ("Did he measure the electric current?", PAST, "neutral low"),
        ("Did he visit yet another museum?", PAST, "neutral low"),
        # The last one.
        ("Where did she travel last?", PAST, "neutral high latest"),
        ("When was the last time she ran?", PAST, "neutral high latest"),
        ("When did he last call?", PAST, "neutral high latest"),
        ("What was the last city she visited?", PAST, "neutral high latest"),
        ("What is his last name?", PRESENT, "current high latest"),
        ("What was his last name?", PAST, "neutral low"),
        ("How long did the relationship last?", PAST, "neutral low"),
        ("Did their love last a long time?", PAST, "neutral low"),
        ("Did she win at last?", PAST, "neutral low"),
        ("What's her next trip?", PRESENT, "current high latest"),
        ("Who lived next door?", PAST, "neutral low"),
        # The state before.
        ("What was her job before Cisco?", PAST, "historical half latest previous"),
        ("Where did he live before moving to Rome?", PAST, "historical half latest previous"),
        ("Where did she live before she moved to Rome?", PAST, "historical half latest previous"),
        ("Where did he work before?", PAST, "historical half latest previous"),
        ("Where did he volunteer before?", PAST, "historical half latest previous"),
        ("How did she commute before?", PAST, "historical half latest previous"),
        ("Who owned the house earlier?", PAST, "historical half latest previous"),
        ("What job had he before his current one?", PAST, "historical half latest previous"),
        ("Who was her boss previously?", PAST, "historical half latest previous"),
        ("What was their previous address?", PAST, "historical half latest previous"),
        ("What's her former job?", PRESENT, "historical half latest previous"),
        ("Who is his ex-wife?", PRESENT, "historical half latest previous"),
        ("What was her old address?", PAST, "historical half latest previous"),
        ("Where did Anna use to live?", PAST, "historical low latest previous"),
        ("What car did he used to drive?", PAST, "historical low latest previous"),
        ("Where is the house she used to live in?", MIXED, "historical low latest previous"),
        # Nothing was superseded.
        ("What did she do before the party?", PAST, "historical low"),
        ("Who called the night before?", PAST, "historical low"),
        ("What did he buy two days before?", PAST, "historical low"),
        ("Where did she once work?", PAST, "historical low"),
        ("Has she been here before?", PAST, "historical low"),
        ("Where was she the day before the party?", PAST, "historical low"),
        ("What is the job of his ex-wife now?", PRESENT, "current high latest"),
        ("Who is the former dancer in the film?", PRESENT, "historical low"),
        ("Is she used to the cold?", MIXED, "neutral low"),
        ("Was he getting used to early hours?", PAST, "neutral low"),
        ("What is the tool used to cut?", MIXED, "neutral low"),
        ("What did she use to cut the bread?", PAST, "neutral low"),
        ("How old is her brother?", PRESENT, "current high latest"),
        # How it began.
        ("What did he do first?", PAST, "historical low earliest"),
        ("When did she first say it?", PAST, "historical low earliest"),
        ("What was the plan originally?", PAST, "historical low earliest"),
        ("What was her initial reaction?", PAST, "historical low earliest"),
        ("What did he think at first?", PAST, "historical low earliest"),
        ("At what age did she begin to dance?", PAST, "historical low earliest"),
        ("When did Caroline start painting?", PAST, "historical low earliest"),
        ("Since when has she been a vegan?", PAST, "historical low earliest"),
        ("What is her first name?", PRESENT, "current high latest"),
        ("What was in the first aid kit?", PAST, "neutral low"),
        ("Did she win first place?", PAST, "neutral low"),
        ("Who spoke about the First Amendment?", PAST, "neutral low"),
        ("Who painted the Last Supper?", PAST, "neutral low"),
        ("Did he read about current affairs?", PAST, "neutral low"),
        ("Did ocean currents warm the harbour?", PAST, "neutral low"),
        ("Why did the dog sit still?", PAST, "neutral low"),
        ("Did she buy second hand clothes?", PAST, "neutral low"),
        ("Where did the oldest daughter go?", PAST, "neutral low"),
        ("What is the second largest city?", PRESENT, "current high latest"),
        # When, ever, how long.
        ("When did Anna move?", PAST, "historical low"),
        ("What year did she move?", PAST, "historical low"),
        ("In which month was the wedding?", PAST, "historical low"),
        ("How long ago did they meet?", PAST, "historical low"),
        ("Has she ever been to Paris?", PAST, "historical low"),
        ("Was it to last forever?", PAST, "neutral low"),
        ("What did she play as a child?", PAST, "historical low"),
        ("When is the party?", PRESENT, "current half latest"),
        ("How long has she lived there?", PAST, "neutral half"),
        ("What did Anna buy?", PAST, "neutral low"),
        ("Will Anna come?", FUTURE, "neutral half"),
        ("Would she like it?", NONE, "neutral low"),
        ("Anna and Tom", NONE, "neutral low"),
        # Dates.
        ("Who was president in 2010?", PAST, "historical low within"),
        ("What did she do on 7 May 2023?", PAST, "historical low within"),
        ("What did she do in May?", PAST, "historical low within"),
        ("Where did she march in March?", PAST, "historical low within"),
        ("Where does April live?", PRESENT, "current high latest"),
        ("What did he give to June?", PAST, "neutral low"),
        ("What happened between March and May?", PAST, "historical low within"),
        ("What did she do from March to May?", PAST, "historical low within"),
        ("What did she do in April 2022?", PAST, "historical low within"),
        ("What may she do?", NONE, "neutral low"),
        ("Did they march on?", PAST, "neutral low"),
        ("Where did he live before 2023?", PAST, "historical half latest until"),
        ("What did he read until June?", PAST, "historical half latest until"),
        ("As of March 2023, where did he live?", PAST, "historical half latest until"),
        ("Is the meeting still on Friday?", PRESENT, "current half latest within"),
        ("Whom did he meet on Friday?", PAST, "neutral half within"),
        ("What has she eaten today?", PAST, "current high latest within spread"),
        ("What has she read since March?", PAST, "neutral half since spread"),
        ("What did he do after 5 May 2023?", PAST, "neutral half since"),
        ("What happened between 2019 and 2021?", PAST, "historical low within"),
        ("How many years ago did she die?", PAST, "historical low"),
        ("Where did she go the next morning?", PAST, "neutral low"),
        ("How did he spend the weekend?", PAST, "historical half within"),
        ("What did they do two weeks ago?", PAST, "historical low within"),
        ("What did she do last week?", PAST, "historical half within"),
        ("What did she eat yesterday?", PAST, "historical half within"),
        ("What did they see last summer?", PAST, "historical half within"),
        ("What is she doing this weekend?", PRESENT, "current high latest within"),
        ("What will she do next month?", FUTURE, "neutral high latest within"),
        ("Whom did he meet the week before August 3, 2023?", PAST, "historical low within"),
        ("What did they wear in the 1990s?", PAST, "historical low within"),
        ("Until when did he stay?", PAST, "neutral half latest"),
        ("How has he been since the accident?", PAST, "neutral half"),
        # All that was told of it.
        ("Which bands has Dave enjoyed?", PAST, "neutral low spread"),
        ("What activities does Melanie do?", PRESENT, "current low spread"),
        ("What kind of activities did John do?", PAST, "neutral low spread"),
        ("What are Melanie's hobbies?", PRESENT, "current low spread"),
        ("List the cities that she visited.", PAST, "neutral low spread"),
        ("What are all the places she visited?", MIXED, "neutral low spread"),
        ("Who else came?", PAST, "neutral low spread"),
        ("What has she painted?", PAST, "neutral low spread"),
        ("How many books has he read?", PAST, "neutral low spread"),
        ("How many times has she gone to the beach?", PAST, "historical low spread"),
        ("How often does she run?", PRESENT, "current half latest spread"),
        ("How has her job changed?", PAST, "neutral low spread"),
        ("How many children does she have?", PRESENT, "current high latest"),
        ("What does she do every morning?", PRESENT, "current high latest"),
        ("Name every city that she visited.", PAST, "neutral low spread"),
        ("Did he sleep all the time?", PAST, "neutral low"),
        ("Who lived in the old house?", PAST, "neutral low"),
        ("What does Melanie do?", PRESENT, "current high latest"),
        ("Tell me about her trips.", PRESENT, "current high latest spread"),
        ("Which of the two houses did she buy?", PAST, "neutral low"),
        ("What class does she take?", PRESENT, "current high latest"),
        ("What kind of agent is he?", PRESENT, "current high latest"),
        ("What happens when they meet?", PRESENT, "current high latest"),
        ("What has she become?", PAST, "neutral low"),
        ("What are they doing in the yard?", PRESENT, "current high latest"),
    ]
)
def test_readings(question: str, tense: Trait, expected: str) -> None:
    assert in_words(temporal_reading(question, tense)) == expected


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
    start = perf_counter()
    temporal_reading(asked, PAST)
    assert perf_counter() - start < 2.0


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
