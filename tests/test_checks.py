"""Bad input: each a clear error that names the argument and says what to do."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from functools import partial
from typing import Any

import pytest

from recallm.errors import InvalidInputError, RecallMError
from recallm.ground import checks


def test_what_cannot_be_used_is_refused_with_the_reason() -> None:
    """Each error names the argument."""
    naive = datetime(2024, 1, 1)  # noqa: DTZ001 - naive on purpose
    noon = datetime(2024, 1, 1, tzinfo=UTC)
    early = datetime.min.replace(tzinfo=timezone(timedelta(hours=1)))
    late = datetime.max.replace(tzinfo=timezone(timedelta(hours=-1)))
    endless: dict[str, Any] = {}
    endless["self"] = endless
    table: list[tuple[Callable[[Any, str], object], str, list[Any]]] = [
        (checks.passage_text, "must be a str", [None, 3, b"bytes", ["text"]]),
        (checks.passage_text, "empty", ["", " ", "\n\t\u2003"]),
        (checks.passage_text, r"surrogate at character 7.*'replace'", ["broken \ud83d end"]),
        (checks.name, "1 to 1024 characters", ["", "x" * (checks.MAX_NAME + 1)]),
        (checks.timestamp, r"no time zone.*timezone\.utc", [naive]),
        (checks.timestamp, "1 to 9999", [early, late]),
        (checks.timestamp, "must be a datetime, not date", [noon.date()]),
        (checks.moment, "given", [-1, True, 1.5, "3", "", "2024", "2024-13-01", "yesterday"]),
        (checks.count, "given", [0, -3, True, 2.0, "5"]),
        (checks.probability, "given", [-0.1, 1.1, float("nan"), True, "0.5"]),
        (checks.properties, "given", [
            {1: "int key"}, {"tuple": (1, 2)}, {"nan": float("nan")}, {"set": {1}}, {"when": noon},
            {"bad": "\ud800"}, ["not", "a", "mapping"], endless,
        ]),
        (checks.seconds, "given", [-1, float("inf"), float("nan"), True, "3"]),
        (checks.file_path, "given", ["\x00", "\ud800", "", "x" * 5000, b"x", 5, None]),
        (checks.strings, "must be a list .* a single one", ["Ann", b"ab", 5, None]),
        (checks.strings, "must hold str values, not int", [[1]]),
        (checks.strings, "given", [[None], ["\ud800"]]),
        (partial(checks.whole, least=3, most=3), "must be an int", [True, 3.0]),
        (partial(checks.whole, least=3, most=3), "must be at least 3", [2]),
        (partial(checks.whole, least=3, most=3), "must be at most 3", [4]),
    ]  # fmt: skip
    for check, reason, values in table:
        for value in values:
            with pytest.raises(InvalidInputError, match=reason) as caught:
                check(value, "given")
            assert caught.value.argument == "given"
            assert isinstance(caught.value, RecallMError)
            assert isinstance(caught.value, ValueError)


def test_good_values_come_back() -> None:
    for value in ("\x00", "a\x00b", "\u202eRTL", "😀", "中文", "<b>'\"`;--"):
        assert checks.passage_text(value) == checks.name(value, "id") == value
    checks.passage_text("broken \ud83d end".encode("utf-8", "replace").decode("utf-8"))
    assert checks.whole(3, "n", least=3, most=3) == 3
    assert checks.strings(iter(("a", "b")), "ids") == ["a", "b"]
    # A wait is no longer than SQLite can count: in milliseconds of 31 bits.
    assert checks.seconds(2.5, "timeout") == 2.5
    assert checks.seconds(2_147_484, "timeout") == checks.seconds(1e300, "timeout") == 2_147_483


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
    for _ in range(99):
        deepest = {"in": deepest}
    assert checks.properties(deepest, "metadata") == deepest
    with pytest.raises(InvalidInputError, match="within each other"):
        checks.properties({"in": deepest}, "metadata")
    with pytest.raises(InvalidInputError, match="within each other"):
        checks.properties({"in": [deepest["in"]]}, "metadata")
