"""The dates that a question asks for."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from recallm.english.dating import asked_dates
from tests.tables import each_row

NOW = datetime(2023, 5, 10, 12, tzinfo=UTC)
"""A Wednesday."""


@each_row(
    [
        ("What did he eat on May 3, 2023?", ["within 2023-05-03"]),
        ("the 3rd of May 2023", ["within 2023-05-03"]),
        ("on 2023-05-03", ["within 2023-05-03"]),
        ("in June 2023", ["within 2023-06-01..2023-06-30"]),
        ("in 2022", ["within 2022-01-01..2022-12-31"]),
        ("in the 1990s", ["within 1990-01-01..1999-12-31"]),
        ("last august", ["within it in any year"]),
        ("in May", ["within it in any year"]),
        ("on May 3", ["within it in any year"]),
        ("between July and September 2022", ["within 2022-07-01..2022-09-30"]),
        ("from 2019 to 2021", ["within 2019-01-01..2021-12-31"]),
        ("between 3 and 7 May 2023", ["within 2023-05-03..2023-05-07"]),
        ("from the 3rd to the 7th of May 2023", ["within 2023-05-03..2023-05-07"]),
        ("on May 3-7, 2023", ["within 2023-05-03..2023-05-07"]),
        ("at the end of 2022", ["within 2022-09-02..2022-12-31"]),
        ("by the end of May 2022", ["until 2022-05-31"]),
        ("the week before 9 June 2023", ["within 2023-06-02..2023-06-08"]),
        ("two days after May 3, 2023", ["within 2023-05-05"]),
        ("from July to September", ["within it in any year"]),
        ("moved from there in 2021", ["within 2021-01-01..2021-12-31"]),
        ("since March 2022", ["since 2022-03-01"]),
        ("after 5 May 2023", ["since 2023-05-06"]),
        ("before 2023", ["until 2022-12-31"]),
        ("until 2023", ["until 2023-12-31"]),
        ("in June 2022 and on 3 May 2023", ["within 2022-06-01..2022-06-30", "within 2023-05-03"]),
        ("since March", []),
        ("yesterday", []),
        ("last week", []),
        ("from March to May 2022", ["within 2022-03-01..2022-05-31"]),
        ("between April and June", ["within it in any year"]),
        ("in April", ["within it in any year"]),
        ("Where does April live?", []),
        ("What did he give to June?", []),
        ("What is the job of May?", []),
        ("May I march along?", []),
        ("2023-13-03", []),
        ("She has 3 cats and 2023 fish", []),
        ("", []),
    ]
)
def test_dates_without_a_present(text: str, expected: list[str]) -> None:
    """Relative dates are left out; a date without its year is one of any year."""
    assert [str(date).split(" → ")[1] for date in asked_dates(text)] == expected


@each_row(
    [
        ("since March", ["since 2023-03-01"]),
        ("yesterday", ["within 2023-05-09"]),
        ("last week", ["within 2023-05-01..2023-05-07"]),
        ("move from four years ago", ["within 2019-01-01..2019-12-31"]),
        ("from last week on", ["since 2023-05-01"]),
        ("in the past week", ["within 2023-05-03..2023-05-10"]),
        ("two weeks ago", ["within 2023-04-23..2023-04-29"]),
        ("last summer", ["within 2022-06-01..2022-08-31"]),
        ("on Friday", ["within 2023-05-05"]),
        ("from Monday to Friday", ["within 2023-05-01..2023-05-05"]),
        ("this weekend", ["within 2023-05-13..2023-05-14"]),
    ]
)
def test_relative_dates_count_from_the_present(text: str, expected: list[str]) -> None:
    assert [str(date).split(" → ")[1] for date in asked_dates(text, NOW)] == expected


def test_the_first_16_dates_are_read() -> None:
    years = range(2000, 2050)
    asked = asked_dates(" and ".join(f"in {year}" for year in years))
    assert [date.name for date in asked] == [f"in {year}" for year in years[:16]]


WORDS = (
    "since until between from to and before after in on the end of March may 7 2023 2023-05-07 "
    "last week weeks two ago Friday summer 1990s 31 february tomorrow , ? will"
)


@given(
    st.one_of(st.text(), st.lists(st.sampled_from(WORDS.split(" ")), max_size=20).map(" ".join)),
    st.one_of(st.none(), st.datetimes(timezones=st.just(UTC))),
)
def test_any_question_is_read_deterministically(text: str, now: datetime | None) -> None:
    asked = asked_dates(text, now)
    assert asked == asked_dates(text, now)
    assert all(str(date).startswith(date.name) for date in asked)
