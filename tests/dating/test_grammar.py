"""One grammar of dates: a date in a statement is one in a question, and the reverse."""

from __future__ import annotations

from datetime import UTC, datetime
from string import capwords

from hypothesis import given
from hypothesis import strategies as st

from recallm.english.dating import asked_dates, statement_dates
from recallm.english.dating.phrases import DECADES, HOLIDAYS, MONTHS, SEASONS, WEEKDAYS
from recallm.english.extractor import Extractor
from recallm.ground.config import RecallConfig
from tests.tables import each_row

EXTRACTOR = Extractor(RecallConfig())
NOW = datetime(2023, 5, 10, 12, tzinfo=UTC)
"""A Wednesday."""

PICKS = ("last", "this", "next", "this past", "this coming", "previous", "upcoming")
PERIODS = ("week", "weekend", "month", "quarter", "semester", "term", "year", "decade", "fortnight")
DATES = (
    *(f"in {month}" for month in MONTHS),
    *(f"{pick} {month}" for pick in PICKS for month in MONTHS if len(month) > 4),
    *(f"on 3 {month}" for month in MONTHS),
    *(f"on {month} 3rd" for month in MONTHS),
    *(f"in {part} {month.title()}" for part in ("early", "mid", "late") for month in MONTHS),
    *(f"on {day.title()}" for day in WEEKDAYS),
    *(f"{pick} {day.title()}" for pick in PICKS for day in WEEKDAYS),
    *(f"on {day.title()} {part}" for day in WEEKDAYS for part in ("night", "morning")),
    *(f"two {day.title()}s ago" for day in WEEKDAYS),
    *(f"on {capwords(holiday)}" for holiday in HOLIDAYS),
    *(f"{pick} {holiday}" for pick in PICKS for holiday in HOLIDAYS),
    *(f"in the {season}" for season in SEASONS),
    *(f"in {season} 2022" for season in SEASONS),
    *(f"{pick} {season}" for pick in PICKS for season in SEASONS),
    *(f"two {season}s ago" for season in SEASONS),
    *(f"{pick} {period}" for pick in PICKS for period in PERIODS),
    *(f"{number} {period}s ago" for number in ("two", "a few", "10") for period in PERIODS),
    *(f"a {period} ago" for period in PERIODS),
    *(f"in the last three {period}s" for period in PERIODS),
    *(f"in the past {period}s" for period in PERIODS),
    *(f"in the {decade}" for decade in DECADES),
    *(
        f"{part} last {period}"
        for part in ("early", "late")
        for period in ("week", "month", "year")
    ),
    *("on the 3rd of May", "on the 3rd of May 2023", "on May 3, 2023", "on 3 May", "on Sept. 3"),
    *("on 2023-05-03", "in 2023-05", "on 5/3/2023", "on 5/3/23", "on 3.5.2023", "on 25/12/2022"),
    *("in 2022", "since 2022", "in the 2022 season", "in late 2022", "at the end of 2022"),
    *("in the 1990s", "in 1990s", "in the 90s", "in the '90s", "in the early nineties"),
    *("in Q3 2022", "in Q1", "in the third quarter of 2022", "in the last quarter of 2021"),
    *("yesterday", "the day before yesterday", "yesterday evening", "last night", "last evening"),
    *("tomorrow", "the day after tomorrow", "tomorrow morning", "today", "tonight"),
    *("this morning", "this evening", "the other day", "over the weekend", "at the weekend"),
    *(
        "ten minutes ago",
        "an hour ago",
        "three days ago",
        "three days back",
        "a couple of days ago",
    ),
    *("in two weeks", "within three days", "two weeks from now", "in the next few days"),
    *("the week before 9 June 2023", "two days after May 3, 2023", "the Friday before Christmas"),
    *("on the 3rd of last month", "on the 3rd", "between July and September 2022", "before 2022"),
    *("from 2019 to 2021", "from 3 to 7 May 2023", "from Monday to Friday", "by last summer"),
    *("since last week", "until Christmas", "before New Year's Eve", "after Boxing Day"),
    *("on new years eve", "on Valentines Day", "on Mothers' Day", "on the Fourth of July"),
)
NO_DATES = (
    *("in May's house", "with April", "with June", "with the March family", "in a spring of water"),
    *("in first place", "in the last chapter", "at last", "in her twenties", "in her nineties"),
    *("on the 3rd floor", "for 2023 dollars", "some time ago", "years ago", "now and then"),
    *(
        "in the second quarter",
        "in the end",
        "the next day",
        "before lunch",
    ),
    *("in the 99th minute", "in the present", "for the last time", "in room 2023", "all night"),
)


@each_row(dict.fromkeys(DATES))
def test_a_phrase_is_a_date_in_a_statement_and_in_a_question(phrase: str) -> None:
    asked = f"Whom did Anna meet {phrase}?"
    assert statement_dates(f"Anna met Bob {phrase}.", NOW)
    assert asked_dates(asked, NOW)
    assert EXTRACTOR.question(asked).time.window != "none"


@each_row(NO_DATES)
def test_a_phrase_is_a_date_in_neither(phrase: str) -> None:
    asked = f"Whom did Anna meet {phrase}?"
    assert not statement_dates(f"Anna met Bob {phrase}.", NOW)
    assert not asked_dates(asked, NOW)
    assert EXTRACTOR.question(asked).time.window == "none"


WORDS = (
    "last next this on in the a two early mid late end of first quarter q3 2022 3rd 3 May june "
    "week month year years decade season weekend summer Friday evening Christmas new year's eve "
    "Boxing day 2023-05-03 ago before after from to until since nineties 1990s yesterday "
    "tomorrow and fortnight"
)


@given(st.lists(st.sampled_from(WORDS.split()), min_size=1, max_size=6).map(" ".join))
def test_any_words_are_a_date_in_both_or_in_neither(words: str) -> None:
    asked = bool(asked_dates(f"Whom did Anna meet {words}?", NOW))
    window = EXTRACTOR.question(f"Whom did Anna meet {words}?").time.window
    assert bool(statement_dates(f"Anna met Bob {words}.", NOW)) is asked
    assert (window != "none") is asked
