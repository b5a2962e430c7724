"""The dates that a statement tells of."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from recallm.english.dating import statement_dates
from tests.tables import each_row

SAID = datetime(2023, 5, 10, 12, tzinfo=UTC)
"""A Wednesday."""

RELATIVE = [
    ("I went there yesterday.", "2023-05-09"),
    ("We ate out last night.", "2023-05-09"),
    ("The day before yesterday it rained.", "2023-05-08"),
    ("It is my birthday today.", "2023-05-10"),
    ("This morning I ran.", "2023-05-10"),
    ("See you tomorrow!", "2023-05-11"),
    ("We leave the day after tomorrow.", "2023-05-12"),
    ("Last Friday we met.", "2023-05-05"),
    ("Last Fri we met.", "2023-05-05"),
    ("We met last Tues. and danced.", "2023-05-09"),
    ("Last Tuesday night we danced.", "2023-05-09"),
    ("On Friday we ate out.", "2023-05-05"),
    ("I'll see her on Friday.", "2023-05-12"),
    ("We met on Wednesday.", "2023-05-03"),
    ("I start next Monday.", "2023-05-15"),
    ("This Saturday is the race.", "2023-05-13"),
    ("This past Sunday we rested.", "2023-05-07"),
    ("It was two Fridays ago.", "2023-04-28"),
    ("She called three days ago.", "2023-05-07"),
    ("She called 3 days ago.", "2023-05-07"),
    ("A couple of days ago I fell.", "2023-05-08"),
    ("A few days ago I fell.", "2023-05-06..2023-05-08"),
    ("The other day I fell.", "2023-05-03..2023-05-09"),
    ("A week ago I fell.", "2023-04-30..2023-05-06"),
    ("It was two weeks ago.", "2023-04-23..2023-04-29"),
    ("It was two seasons ago.", "2022-09-01..2022-11-30"),
    ("It was a few quarters ago.", "2022-04-01..2022-12-31"),
    ("We moved two months ago.", "2023-03-01..2023-03-31"),
    ("We moved a year ago.", "2022-01-01..2022-12-31"),
    ("We moved ten years ago.", "2013-01-01..2013-12-31"),
    ("Last week I read a book.", "2023-05-01..2023-05-07"),
    ("This week I read a book.", "2023-05-08..2023-05-14"),
    ("I travel next week.", "2023-05-15..2023-05-21"),
    ("Last month we won.", "2023-04-01..2023-04-30"),
    ("This month we won.", "2023-05-01..2023-05-31"),
    ("It starts next month.", "2023-06-01..2023-06-30"),
    ("Last year we won.", "2022-01-01..2022-12-31"),
    ("It starts next year.", "2024-01-01..2024-12-31"),
    ("Last weekend we hiked.", "2023-05-06..2023-05-07"),
    ("We hiked over the weekend.", "2023-05-06..2023-05-07"),
    ("It was two weekends ago.", "2023-04-29..2023-04-30"),
    ("We will camp this weekend.", "2023-05-13..2023-05-14"),
    ("We will camp next weekend.", "2023-05-20..2023-05-21"),
    ("It starts in three days.", "2023-05-13"),
    ("It starts in two weeks.", "2023-05-21..2023-05-27"),
    ("It starts a month from now.", "2023-06-01..2023-06-30"),
    ("For the past two weeks I was ill.", "2023-04-26..2023-05-10"),
    ("This past week I was ill.", "2023-05-03..2023-05-10"),
    ("I was ill for the past year.", "2022-05-10..2023-05-10"),
    ("This coming week I am off.", "2023-05-15..2023-05-21"),
    ("We will be there in a day.", "2023-05-11"),
    ("We met on the 3rd.", "2023-05-03"),
    ("We met on the 20th.", "2023-04-20"),
    ("We will meet on the 20th.", "2023-05-20"),
    ("It was the 20th of last month.", "2023-04-20"),
    ("Chapter 7 - 3 May: we moved.", "2023-05-03"),
    ("In March we moved.", "2023-03-01..2023-03-31"),
    ("In June we moved.", "2022-06-01..2022-06-30"),
    ("We will marry in June.", "2023-06-01..2023-06-30"),
    ("In late April we moved.", "2023-04-21..2023-04-30"),
    ("Last March we moved.", "2023-03-01..2023-03-31"),
    ("Last June we moved.", "2022-06-01..2022-06-30"),
    ("They come next March.", "2024-03-01..2024-03-31"),
    ("On May 7th we moved.", "2023-05-07"),
    ("On 12 November we moved.", "2022-11-12"),
    ("Last summer was fun.", "2022-06-01..2022-08-31"),
    ("We will sail this summer.", "2023-06-01..2023-08-31"),
    ("In the winter we moved.", "2022-12-01..2023-02-28"),
    ("Last Christmas we sang.", "2022-12-24..2022-12-26"),
    ("We sang on Christmas Eve.", "2022-12-24"),
    ("We sang on Halloween.", "2022-10-31"),
    ("It was the day before Halloween.", "2022-10-30"),
]
"""What it is, as said on that Wednesday."""

ABSOLUTE = [
    ("On 7 May 2022 she left.", "2022-05-07"),
    ("On May 7, 2022 she left.", "2022-05-07"),
    ("On the 7th of May, 2022, she left.", "2022-05-07"),
    ("She left on 2022-05-07.", "2022-05-07"),
    ("She left on 5/7/2022.", "2022-05-07"),
    ("She left on 23.4.2022.", "2022-04-23"),
    ("In 2019 James left.", "2019-01-01..2019-12-31"),
    ("She left before the 2016 election.", "2016-01-01..2016-12-31"),
    ("In  March  2021 she left.", "2021-03-01..2021-03-31"),
    ("She left in Sept. 2021.", "2021-09-01..2021-09-30"),
    ("It was the summer of 2020.", "2020-06-01..2020-08-31"),
    ("She left in 2019.", "2019-01-01..2019-12-31"),
    ("She has lived here since 2016.", "2016-01-01..2016-12-31"),
    ("She left in early 2021.", "2021-01-01..2021-05-01"),
    ("It was in the 1990s.", "1990-01-01..1999-12-31"),
    ("It was in the 90s.", "1990-01-01..1999-12-31"),
    ("It was the week before 9 June 2022.", "2022-06-02..2022-06-08"),
    ("It was the Friday before 9 June 2022.", "2022-06-03"),
    ("It was two days after 9 June 2022.", "2022-06-11"),
    ("It was two weekends before 9 June 2022.", "2022-05-28..2022-05-29"),
    ("It was the month after June 2022.", "2022-07-01..2022-07-31"),
]
"""What names its year."""

NO_DATES = [
    "She may march on.",
    "May I come in?",
    "April is my best friend.",
    "My sister June came.",
    "I fall asleep fast.",
    "I try to fall asleep.",
    "The next morning we left.",
    "In 2000 steps we were there.",
    "Summer reads a lot.",
    "She has 3 cats and 2023 fish.",
    "We paid for 2000 bricks.",
    "We gave it to 2000 people.",
    "It weighs over 2000 tons.",
    "It costs $2000.",
    "Room 2020 is free.",
    "It takes two days.",
    "How much she does in a day!",
    "The second week was hard.",
    "We live on the 3rd floor.",
    "Mondays are hard.",
    "Good morning!",
    "We meet at 10:30.",
    "We sat on wedges.",
    "I love winter coats.",
    "It was 2023-13-45.",
    "On 31 February 2023 nothing was.",
    "",
]


@each_row(RELATIVE + ABSOLUTE)
def test_a_date_counts_from_the_day_on_which_it_was_said(text: str, expected: str) -> None:
    assert [str(date) for date in statement_dates(text, SAID)] == [expected]


@each_row(NO_DATES)
def test_words_that_only_look_like_a_date(text: str) -> None:
    assert statement_dates(text, SAID) == ()


@each_row(ABSOLUTE)
def test_a_date_with_its_year_needs_no_timestamp(text: str, expected: str) -> None:
    assert [str(date) for date in statement_dates(text, None)] == [expected]


@each_row([text for text, _ in RELATIVE])
def test_other_dates_need_a_timestamp(text: str) -> None:
    assert statement_dates(text, None) == ()


def test_dates_stand_in_textual_order() -> None:
    found = statement_dates("In June we moved, and yesterday, unlike in 2019, we rested.", SAID)
    assert [str(date.start) for date in found] == ["2022-06-01", "2023-05-09", "2019-01-01"]


def test_the_day_is_that_of_the_timestamps_own_zone() -> None:
    east = datetime(2023, 5, 10, 1, tzinfo=timezone(timedelta(hours=9)))
    assert [str(date) for date in statement_dates("Yesterday.", east)] == ["2023-05-09"]


@each_row(
    [text for text, _ in RELATIVE]
    + ["999 years ago", "in 999 decades", "999 decades from now", "the last 999 years"],
)
def test_dates_beyond_the_calendar_are_left_out(text: str) -> None:
    for said in (datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)):
        assert all(date.start < date.end for date in statement_dates(text, said))


WORDS = (
    "last next this past two 3 a few couple of days weeks week weekend month years year ago from "
    "now in on the early late mid may March june Friday fridays 3rd 31 2023 0 99 1990s '90s "
    "2023-05-03 12/31/99 31.2.2024 christmas new year's eve summer yesterday tomorrow before after "
    "will , . ’ İ \x00"
)


@given(
    st.one_of(st.text(), st.lists(st.sampled_from(WORDS.split(" ")), max_size=20).map(" ".join)),
    st.one_of(st.none(), st.datetimes(timezones=st.just(UTC))),
)
def test_any_text_is_read_deterministically(text: str, said: datetime | None) -> None:
    found = statement_dates(text, said)
    assert found == statement_dates(text, said)
    assert all(date.start < date.end for date in found)
