"""Bad input: each a clear error that names the argument and says what to do."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest

from recallm import checks
from recallm.errors import InvalidInputError, RecallMError


@pytest.mark.parametrize("value", [None, 3, b"bytes", ["text"]])
def test_a_text_must_be_a_str(value: object) -> None:
    with pytest.raises(InvalidInputError, match="text must be a str") as caught:
        checks.passage_text(value)
    assert caught.value.argument == "text"
    assert isinstance(caught.value, RecallMError)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("value", ["", " ", "\n\t\u2003"])
def test_an_empty_text_is_refused(value: str) -> None:
    with pytest.raises(InvalidInputError, match="empty"):
        checks.passage_text(value)


@pytest.mark.parametrize("value", ["\x00", "a\x00b", "\u202eRTL", "😀", "中文", "<b>'\"`;--"])
def test_any_character_that_unicode_can_encode_is_kept(value: str) -> None:
    assert checks.passage_text(value) == value
    assert checks.name(value, "id") == value


def test_a_lone_surrogate_is_refused_with_the_way_to_clean_it() -> None:
    text = "broken \ud83d end"
    with pytest.raises(InvalidInputError, match=r"lone surrogate at character 7.*'replace'"):
        checks.passage_text(text)
    checks.passage_text(text.encode("utf-8", "replace").decode("utf-8"))


@pytest.mark.parametrize("value", ["", "x" * (checks.MAX_NAME + 1)])
def test_names_have_a_length(value: str) -> None:
    with pytest.raises(InvalidInputError, match="1 to 1024 characters"):
        checks.name(value, "namespace")


def test_a_naive_datetime_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"no time zone.*timezone\.utc"):
        checks.timestamp(datetime(2024, 1, 1))  # noqa: DTZ001 - naive on purpose


@pytest.mark.parametrize(
    "value",
    [
        datetime.min.replace(tzinfo=timezone(timedelta(hours=1))),
        datetime.max.replace(tzinfo=timezone(timedelta(hours=-1))),
    ],
)
def test_a_datetime_without_a_place_in_utc_is_refused(value: datetime) -> None:
    with pytest.raises(InvalidInputError, match="1 to 9999"):
        checks.timestamp(value)


def test_a_date_is_no_datetime() -> None:
    with pytest.raises(InvalidInputError, match="must be a datetime, not date"):
        checks.timestamp(datetime(2024, 1, 1, tzinfo=UTC).date())


@pytest.mark.parametrize("value", [-1, True, 1.5, "3", "", "2024", "2024-13-01", "yesterday"])
def test_what_is_no_moment_is_refused(value: object) -> None:
    with pytest.raises(InvalidInputError, match="as_of"):
        checks.moment(value, "as_of")


def test_a_day_is_whole_in_the_time_zone_of_the_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        for argument in ("as_of", "until", "since", "before"):
            clock = "23:59:59.999999" if argument in ("as_of", "until") else "00:00:00"
            for value, expected in {
                "2026-01-01": f"2026-01-01T{clock}-05:00",
                date(2026, 7, 1): f"2026-07-01T{clock}-04:00",
                "2026-07-01 10:30": "2026-07-01T10:30:00-04:00",
                " 2026-07-01T10:30+02:00": "2026-07-01T10:30:00+02:00",
            }.items():
                assert checks.moment(value, argument) == datetime.fromisoformat(expected)
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize("value", [0, -3, True, 2.0, "5"])
def test_a_limit_is_at_least_one(value: object) -> None:
    with pytest.raises(InvalidInputError, match="limit"):
        checks.count(value, "limit")


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), True, "0.5"])
def test_a_probability_lies_in_0_to_1(value: object) -> None:
    with pytest.raises(InvalidInputError, match="min_score"):
        checks.probability(value, "min_score")


@pytest.mark.parametrize(
    "value",
    [
        {1: "int key"},
        {"tuple": (1, 2)},
        {"nan": float("nan")},
        {"set": {1}},
        {"when": datetime(2024, 1, 1, tzinfo=UTC)},
        {"bad": "\ud800"},
        ["not", "a", "mapping"],
    ],
)
def test_properties_that_json_would_change_are_refused(value: Any) -> None:
    with pytest.raises(InvalidInputError, match="metadata"):
        checks.properties(value, "metadata")


def test_properties_that_refer_to_themselves_are_refused() -> None:
    endless: dict[str, Any] = {}
    endless["self"] = endless
    with pytest.raises(InvalidInputError, match="metadata"):
        checks.properties(endless, "metadata")


def test_good_properties_come_back_as_a_copy() -> None:
    inner: list[Any] = [1, 2.5, None, True, {"b": "é"}]
    value = {"a": inner}
    copied = checks.properties(value, "metadata")
    assert copied == value
    inner.append("later")
    assert copied != value


def test_properties_have_a_depth_that_every_reader_can_read() -> None:
    """Lists count like mappings; what can be written can be read deep down in a program too."""
    deepest: Any = {}
    for _ in range(499):
        deepest = {"in": deepest}
    assert checks.properties(deepest, "metadata") == deepest
    with pytest.raises(InvalidInputError, match="within each other"):
        checks.properties({"in": deepest}, "metadata")
    with pytest.raises(InvalidInputError, match="within each other"):
        checks.properties({"in": [deepest["in"]]}, "metadata")


def test_whole_numbers_are_ints_within_their_bounds() -> None:
    assert checks.whole(3, "n", least=3, most=3) == 3
    for value, problem in ((True, "an int"), (3.0, "an int"), (2, "at least 3"), (4, "at most 3")):
        with pytest.raises(InvalidInputError, match=f"n must be {problem}"):
            checks.whole(value, "n", least=3, most=3)


def test_a_wait_is_no_longer_than_sqlite_can_count() -> None:
    """In milliseconds of 31 bits."""
    assert checks.seconds(2.5, "timeout") == 2.5
    assert checks.seconds(2_147_484, "timeout") == checks.seconds(1e300, "timeout") == 2_147_483
    for value in (-1, float("inf"), float("nan"), True, "3"):
        with pytest.raises(InvalidInputError, match="timeout"):
            checks.seconds(value, "timeout")


def test_a_list_of_strings_is_required() -> None:
    assert checks.strings(iter(("a", "b")), "ids") == ["a", "b"]
    for value in ("ab", b"ab", 5, None, [None], ["\ud800"]):
        with pytest.raises(InvalidInputError, match="ids"):
            checks.strings(value, "ids")


@pytest.mark.parametrize("value", ["\x00", "\ud800", "", "x" * 5000, b"x", 5, None])
def test_a_value_that_is_no_path_is_refused(value: object) -> None:
    with pytest.raises(InvalidInputError, match="store"):
        checks.file_path(value, "store")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("Ann", "ids must be a list of str, not str"),
        ([1], "ids must hold str values, not int"),
    ],
)
def test_a_list_of_names_is_no_single_name(value: object, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message) as caught:
        checks.strings(value, "ids")
    assert caught.value.argument == "ids"
