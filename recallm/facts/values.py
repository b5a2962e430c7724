"""Which texts are a number, a date or a boolean, and the one text of each such value.

A value is read only where the text can mean nothing else. Two texts of one value are not one
object: "52,000 USD" and "52,000" have the value 52000.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime
from functools import lru_cache
from math import isfinite
from typing import TypeAlias

from recallm.english.dating import Interval, named_dates
from recallm.errors import InvalidInputError
from recallm.ground.checks import MAX_NAME
from recallm.recall.predicates.held_facts import end_key

Value: TypeAlias = bool | int | float | date | datetime
"""What ``value_of`` finds in a text."""

_LONGEST_DATE = 40
"""Characters."""
_LARGEST_WHOLE_FLOAT = 1e16
"""From here on a float's text has an exponent."""
_BEYOND_NUMBERS = 10 ** (MAX_NAME - 1)
"""The text of a smaller number fits a name, with its sign."""

_NUMBER = (
    r"[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]+)?"
    r"|(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-][0-9]+)?"
)
_CODE = (
    "AED|ARS|AUD|BRL|CAD|CHF|CLP|CNY|COP|CZK|DKK|EGP|EUR|GBP|HKD|HUF|IDR|ILS|INR|JPY|KRW|MXN|MYR|"
    "NGN|NOK|NZD|PHP|PKR|PLN|RON|RUB|SAR|SEK|SGD|THB|TRY|TWD|UAH|USD|VND|ZAR|dollars|euros?|yen"
)
_SYMBOL = r"(?:US|CA|AU|NZ|A|C)?\$|[€£¥₹₽₩₺₪₫₦₱₴]"
_SCALE = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_UNIT = (
    "mm|cm|km|inches|inch|feet|foot|ft|yards|yd|miles|mile|mi|(?:kilo|centi|milli)?met(?:er|re)s?|"
    "mg|kg|lbs?|oz|pounds|ounces|(?:kilo)?grams?|tons?|tonnes?|ml|cl|lit(?:er|re)s?|gallons?|"
    "m²|km²|m³|m2|km2|ha|hectares?|acres?|sqm|sq ?(?:ft|km|m|mi)|"
    "square (?:feet|miles|(?:kilo)?met(?:er|re)s)|"
    "ms|sec|seconds?|min|minutes?|hrs?|hours?|days?|weeks?|months?|years?(?: old)?|yrs?|"
    "°C|°F|km/h|kph|mph|m/s|kW|MW|GW|kWh|MWh|Hz|kHz|MHz|GHz|[kKMGTP]i?B|bytes?|kcal|kJ|hp|dB|"
    "%|percent|per cent|‰"
)
_LETTER = "[mgtlsh]"
"""Units of one letter stand behind a space: "12m" may be the number of a flat."""
_QUANTITY = re.compile(
    rf"(?P<sign>[-−]?)(?:(?:{_SYMBOL}) ?|(?:{_CODE}) )?(?P<number>{_NUMBER})"
    rf"(?: (?P<scale>{'|'.join(_SCALE)}))?(?: ?(?:{_UNIT}|{_SYMBOL})| (?:{_CODE}|{_LETTER}))?"
)
_ISO_DATETIME = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d\S*", re.ASCII)
_ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_YEAR = re.compile(r"\d{4}", re.ASCII)


@lru_cache(maxsize=1 << 12)
def value_of(text: str) -> Value | None:
    """The number, date, moment or boolean that ``text`` as a whole is; None where it is a name or
    could mean something else.

    >>> [value_of(text) for text in ("52,000", "$1.2 million", "12 %", "3.5 km", "2019")]
    [52000, 1200000, 12, 3.5, 2019]
    >>> value_of("1 May 2024"), value_of("2024-05-01T10:30:00+02:00").hour, value_of("true")
    (datetime.date(2024, 5, 1), 10, True)
    >>> [value_of(text) for text in ("May 1", "007", "+47 22", "50 Cent", "4/5/2024", "1,5", "No")]
    [None, None, None, None, None, None, None]

    * **Numbers** have digits 0 to 9 without a leading zero, thousands parted by commas, a decimal
      point, and an exponent only with its sign. "million" and its like count. A percent sign, a
      currency or a common unit is left out: the number is the one written, never converted.
    * **Dates** have a day, a month and a year: ISO 8601, or as ``english.dating`` reads them.
      "4/5/2024" is none: day and month could be either.
    * **Moments** are ISO 8601 with a time; without an offset they are naive.
    * **Booleans** are "true" and "false", in any case.
    """
    text = text.strip()
    if not text or len(text) > MAX_NAME:
        return None
    if text[0].isalpha() and text.casefold() in ("true", "false"):
        return text.casefold() == "true"
    number = _number_in(text)
    return _date_in(text) if number is None else number


def text_of(value: Value, argument: str = "value") -> str:
    """The one text of a value: that of two equal numbers is the same, and ``value_of`` reads it
    back. ``argument`` names the value in an error.

    >>> text_of(52000.0), text_of(True), text_of(date(2024, 5, 1))
    ('52000', 'true', '2024-05-01')

    Raises:
        InvalidInputError: it is no number, date or boolean, or a number that is not finite or has
            thousands of digits.

    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, date):  # datetimes are dates
        return value.isoformat()
    if isinstance(value, float) and isfinite(value):
        is_whole = value.is_integer() and abs(value) < _LARGEST_WHOLE_FLOAT
        return str(int(value)) if is_whole else float.__repr__(value)
    if isinstance(value, int) and abs(value) < _BEYOND_NUMBERS:
        return int.__repr__(value)
    raise InvalidInputError(
        f"{argument} must be a bool, a date, a datetime or a finite number of fewer than "
        f"{MAX_NAME} digits, not this {type(value).__name__}",
        argument=argument,
    )


def _number_in(text: str) -> int | float | None:
    found = _QUANTITY.fullmatch(text)
    if found is None:
        return None
    sign = -1 if found["sign"] else 1
    scale = _SCALE.get(found["scale"], 1)
    digits = found["number"].replace(",", "")
    if digits.isdecimal():
        return sign * scale * int(digits)
    scaled = float(digits) * scale
    if not isfinite(scaled):
        return None
    return sign * (int(scaled) if scale > 1 and scaled.is_integer() else scaled)


def _date_in(text: str) -> date | None:
    try:
        if _ISO_DATETIME.fullmatch(text):
            return datetime.fromisoformat(text)
        if _ISO_DATE.fullmatch(text):
            return date.fromisoformat(text)
    except ValueError:  # no such day or time
        return None
    if len(text) > _LONGEST_DATE or not _YEAR.search(text) or "/" in text:
        return None
    named = named_dates(text, None)
    if len(named) != 1 or (named[0].start, named[0].end) != (0, len(text)):
        return None
    meant = named[0].means
    return meant.start if isinstance(meant, Interval) and meant.days == 1 else None


def text_key(text: str, concept_name: Callable[[str], str]) -> str:
    """What texts of one subject or object share: the name of the concept that they spell. A value
    spells none."""
    return end_key(text, "" if value_of(text) is not None else concept_name(text))
