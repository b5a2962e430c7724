"""Checks of arguments, one for each kind of value.

Each function takes a value and the argument's name, and returns the value in its normal form. A
value that cannot be used raises ``InvalidInputError``, whose message says what to do.
"""

from __future__ import annotations

import json
import os
import re
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from functools import cache, partial
from pathlib import Path
from sys import float_info
from types import NoneType
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from recallm.errors import InvalidInputError, RecallMError
from recallm.model import LARGEST_NUMBER, Filter, t_index_of

_LARGEST_T = t_index_of(LARGEST_NUMBER)
"""Beyond every t_index of a store: a greater one has the same meaning."""

_LONGEST_WAIT = 2_147_483.0
"""Seconds, about 25 days. SQLite counts a wait in milliseconds with 31 bits; more means no wait."""

_DEEPEST_NESTING = 100
"""Levels of mappings and lists: deeper JSON is not read again by every parser of archives."""

_FIELD = re.compile(r"\{[^{}-]*\}")
"""A field of a template: "user-{user_id}". A GUID in braces, "{6F96-…}", is none."""

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., object])

MAX_NAME = 1024
"""Characters of a namespace, id, source, session or speaker: longer ones do not fit an index."""


def check_fields(instance: Any) -> None:
    """Check each field of a frozen dataclass by its annotation, and replace it by what the check
    returns: ``Annotated[str, checks.name]`` has its check, a ``Literal`` allows its values. None
    passes where the type has it."""
    for name, check, allows_none in _checks_of(instance.__class__):
        value = getattr(instance, name)
        if value is not None or not allows_none:
            object.__setattr__(instance, name, check(value, name))


@cache
def _checks_of(kind: Any) -> list[tuple[str, Callable[[Any, str], object], bool]]:
    """The fields of a dataclass that have a check, and whether they may be None."""
    found: list[tuple[str, Callable[[Any, str], object], bool]] = []
    for name, hint in get_type_hints(kind, include_extras=True).items():
        if get_origin(hint) is Literal:
            found.append((name, partial(choice, get_args(hint)), False))
        elif get_origin(hint) is Annotated:
            found.append((name, hint.__metadata__[0], NoneType in get_args(hint.__origin__)))
    return found


def string(value: object, argument: str) -> str:
    """A str without lone surrogates, which no encoding of Unicode has. An instance of a subclass
    becomes a plain str."""
    if not isinstance(value, str):
        raise _not_a(value, "a str", argument)
    value = str.__str__(value)
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise _unusable(
            argument,
            f"holds a lone surrogate at character {error.start}, which cannot be stored; clean it "
            "first, for example with text.encode('utf-8', 'replace').decode('utf-8')",
        ) from None
    return value


def passage_text(value: object, argument: str = "text") -> str:
    """A text that holds more than white space."""
    text = string(value, argument)
    if not text.strip():
        raise InvalidInputError("text is empty; a knowledge update needs some", argument=argument)
    return text


def name(value: object, argument: str) -> str:
    """A string of 1 to ``MAX_NAME`` characters of any kind."""
    text = string(value, argument)
    if not 1 <= len(text) <= MAX_NAME:
        beginning = f"; it begins with {text[:40]!r}" if text else ""
        raise _unusable(
            argument, f"must have 1 to {MAX_NAME} characters, not {len(text)}{beginning}"
        )
    return text


def new_id(value: object, argument: str) -> str:
    """A ``name``, a random one for None."""
    return uuid.uuid4().hex if value is None else name(value, argument)


def namespace(value: object, argument: str = "namespace") -> str:
    """A name that is no template: nothing would fill it, and all users would share one memory."""
    text = name(value, argument)
    if _FIELD.search(text):
        raise InvalidInputError(
            f"{argument}={text!r} is a template, which nothing fills: all users would share one "
            "memory. Fill it yourself, as in memory.in_namespace(f'user-{user_id}'), or give an "
            "adapter that has runs namespace=…, a template or a callable over the run",
            argument=argument,
        )
    return text


def item_path(value: object, argument: str) -> tuple[str, ...]:
    """A list or tuple of ``string``; a single str is refused."""
    if isinstance(value, str | bytes | bytearray) or not isinstance(value, Sequence):
        raise _not_a(value, "a tuple of str", argument)
    return tuple(string(part, argument) for part in value)


def listed(value: object, argument: str) -> Iterable[Any]:
    """A list or another iterable; a single str, bytes or mapping is refused. Errors of the caller's
    own iterator pass through."""
    single = isinstance(value, str | bytes | bytearray | memoryview | Mapping)
    if single or not isinstance(value, Iterable):
        raise _unusable(
            argument,
            f"must be a list (or another iterable), not {type(value).__name__}; put a single one "
            "into a list",
        )
    return value


def instances(kind: type[T], value: object, argument: str) -> tuple[T, ...]:
    """A list, or another iterable, of instances of one class of recallm; None is an empty one."""
    values = tuple(listed(() if value is None else value, argument))
    for each in values:
        if not isinstance(each, kind):
            raise _unusable(
                argument, f"must hold {kind.__name__} values, not {type(each).__name__}"
            )
    return values


def strings(value: object, argument: str) -> list[str]:
    """``listed``, of ``string``."""
    return [string(each, argument) for each in instances(str, listed(value, argument), argument)]


def file_path(value: object, argument: str) -> Path:
    """A str or an ``os.PathLike`` that the system accepts as the path of a file. The file need not
    exist."""
    given: object = value.__fspath__() if isinstance(value, os.PathLike) else value
    if not isinstance(given, str):
        raise _not_a(value, "the path of a file as a str or a pathlib.Path", argument)
    if not given:
        raise InvalidInputError(f"{argument}: the file path is empty", argument=argument)
    path = Path(str.__str__(given))
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        pass  # the error of whoever opens it is clearer
    except (OSError, ValueError) as error:  # too long, NUL, a lone surrogate
        reason = error.strerror if isinstance(error, OSError) else error
        raise _unusable(argument, f"cannot be the path of a file: {reason}") from None
    return path


def optional(check: Callable[[object, str], T], value: object, argument: str) -> T | None:
    """``check``, or None."""
    return None if value is None else check(value, argument)


def optional_name(value: object, argument: str) -> str | None:
    """``name``, or None."""
    return optional(name, value, argument)


def timestamp(value: object, argument: str = "timestamp") -> datetime | None:
    """An aware datetime from the years 1 to 9999 in UTC, or None."""
    return optional(_aware, value, argument)


def _aware(value: object, argument: str) -> datetime:
    if not isinstance(value, datetime):
        hint = "fromisoformat(…)" if isinstance(value, str) else "fromtimestamp(…, timezone.utc)"
        raise _unusable(
            argument, f"must be a datetime, not {type(value).__name__}; write datetime.{hint}"
        )
    if (offset := value.utcoffset()) is None:
        raise _unusable(
            argument,
            "has no time zone; give an aware datetime, for example datetime.now(timezone.utc) or "
            "value.replace(tzinfo=timezone.utc)",
        )
    try:
        in_utc = value.astimezone(UTC)
    except OverflowError:
        raise _unusable(argument, "lies outside of the years 1 to 9999 in UTC") from None
    # ISO 8601 has no seconds in an offset, as a town's own time before 1900 has.
    return in_utc if offset % timedelta(minutes=1) else value


def moment(value: object, argument: str) -> int | datetime | None:
    """A t_index (0 or more), an aware datetime, or None; also what ``iso_moment`` reads, or a
    date."""
    if isinstance(value, int) and not isinstance(value, bool):
        if value < 0:
            raise _unusable(argument, f"must be a t_index of at least 0, not {shown(value)}")
        return min(int(value), _LARGEST_T)
    if isinstance(value, str):
        return iso_moment(value, argument)
    if isinstance(value, date) and not isinstance(value, datetime):
        return iso_moment(value.isoformat(), argument)
    if value is None or isinstance(value, datetime):
        return timestamp(value, argument)
    raise _not_a(value, "a t_index (int), an aware datetime, or a day in ISO 8601", argument)


def iso_moment(text: str, argument: str) -> datetime:
    """The moment of a day or a time in ISO 8601, in the time zone of this machine where the text
    has none. A day is its end for ``as_of`` and ``until``, its start for every other argument."""
    given = text.strip()
    try:
        if given.isdecimal():
            raise ValueError("it has digits alone")
        try:
            edge = time.max if argument in _ENDS_OF_DAYS else time.min
            found = datetime.combine(date.fromisoformat(given), edge)
        except ValueError:
            found = datetime.fromisoformat(given)
        if found.utcoffset() is None:
            found = found.astimezone()
    except (ValueError, OverflowError, OSError) as error:
        raise _unusable(
            argument,
            f"must be a day or a time in ISO 8601, such as 2024-05-01 or 2024-05-01T14:30, not "
            f"{shown(text)}: {error}",
        ) from None
    timestamp(found, argument)
    return found


_ENDS_OF_DAYS = frozenset({"as_of", "until"})
"""Arguments that mean all of the day that they name."""


def whole(value: object, argument: str, *, least: int, most: int | None = None) -> int:
    """A whole number from ``least`` to ``most``; a float or a bool is refused."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise _not_a(value, "an int", argument)
    if value < least or (most is not None and value > most):
        bounds = f"at least {least}" if most is None or value < least else f"at most {most}"
        raise _unusable(argument, f"must be {bounds}, not {shown(value)}")
    return int(value)


def positive(value: object, argument: str) -> int:
    """A whole number of at least 1 that a store can hold."""
    return whole(value, argument, least=1, most=LARGEST_NUMBER)


def count(value: object, argument: str) -> int | None:
    """A whole number of at least 1, or None. Numbers too large for a store are cut."""
    return None if value is None else min(whole(value, argument, least=1), LARGEST_NUMBER)


def probability(value: object, argument: str) -> float | None:
    """A number from 0 to 1, or None."""
    return None if value is None else _number(value, argument, 1, "a number from 0 to 1")


def mapping(value: object, argument: str) -> dict[Any, Any]:
    """A mapping, copied into a dict."""
    if not isinstance(value, Mapping):
        raise _not_a(value, "a mapping", argument)
    return dict(value)


def properties(value: object, argument: str) -> dict[str, Any]:
    """A mapping that JSON returns unchanged, at most 100 levels deep; a copy of it. None is
    empty."""
    if value is None:
        return {}
    given = mapping(value, argument)
    if not given:
        return given
    if _is_deeper(given, _DEEPEST_NESTING):
        raise _unusable(
            argument,
            f"has more than {_DEEPEST_NESTING} mappings and lists within each other; store a "
            "flatter value",
        )
    try:
        text = json.dumps(given, ensure_ascii=False, allow_nan=False)
        text.encode()
        copy: dict[str, Any] = json.loads(text)
        same = copy == given
    except (TypeError, ValueError, RecursionError) as error:
        raise _unusable(
            argument,
            "must hold JSON values only (str, int, finite float, bool, None, lists, dicts with "
            f"str keys): {error}",
        ) from None
    if not same:
        raise _unusable(
            argument,
            "would change if it were stored as JSON: use str keys, and lists, not tuples",
        )
    return copy


def statement_filter(given: Mapping[str, object]) -> Filter:
    """The filter among the arguments of ``recall`` or ``passages``."""
    return Filter(
        since=moment(given.get("since"), "since"),
        until=moment(given.get("until"), "until"),
        speaker=optional_name(given.get("speaker"), "speaker"),
        session=optional_name(given.get("session"), "session"),
        metadata=properties(given.get("metadata"), "metadata"),
        path=optional(item_path, given.get("path"), "path"),
    )


def amount(value: object, argument: str) -> float:
    """A finite number of at least 0."""
    return _number(value, argument, float_info.max, "a finite number of at least 0")


def _number(value: object, argument: str, most: float, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        raise _unusable(argument, f"must be {what}, not {shown(value)}")
    return float(value)


def seconds(value: object, argument: str) -> float | None:
    """A number of seconds (0 or more, at most about 25 days), or None."""
    return None if value is None else min(amount(value, argument), _LONGEST_WAIT)


def clock(value: Callable[..., object] | None) -> Callable[[], datetime]:
    """A callable that gives the present as an aware datetime; None: the system's clock. Each of its
    answers is checked, the first one now."""
    given = optional_callable(value, "clock")
    if given is None:
        return partial(datetime.now, UTC)
    now = checked_results(given, "clock", _aware)
    now()
    return now


def checked_results(
    function: Callable[..., object], argument: str, check: Callable[[object, str], T]
) -> Callable[..., T]:
    """``function``, a user's ``argument``, with a check of all that it returns."""
    return lambda *given: check(result_of(function, argument, *given), argument)


def result_of(function: Callable[..., T], argument: str, *given: object) -> T:
    """What ``function``, a user's ``argument``, returns; its failure becomes an error that names
    it."""
    try:
        return function(*given)
    except RecallMError:
        raise
    except Exception as error:
        raise _unusable(argument, f"failed: {type(error).__name__}: {error}") from error


def choice(options: Sequence[T], value: object, argument: str) -> T:
    """One of ``options``."""
    for option in options:
        if value == option:
            return option
    *names, last = map(repr, options)
    raise _unusable(argument, f"must be {', '.join(names)} or {last}, not {shown(value)}")


def flag(value: object, argument: str) -> bool:
    """True or False."""
    if not isinstance(value, bool):
        raise _not_a(value, "True or False", argument)
    return value


def optional_callable(value: F | None, argument: str) -> F | None:
    """A callable, or None."""
    if value is not None and not callable(value):
        raise _not_a(value, "callable", argument)
    return value


def _is_deeper(value: object, levels: int) -> bool:
    """Whether mappings, lists and tuples are nested in more than ``levels`` levels."""
    if not isinstance(value, Mapping | list | tuple):
        return False
    inner = value.values() if isinstance(value, Mapping) else value
    return levels == 0 or any(_is_deeper(each, levels - 1) for each in inner)


_EXPECTED = {
    "llm": "a callable prompt → text",
    "text": "a str (update_many takes several texts, and messages)",
}
"""What an argument must be, where its type alone does not say what to write."""


def _not_a(value: object, what: str, argument: str) -> InvalidInputError:
    what = _EXPECTED.get(argument, what)
    return _unusable(argument, f"must be {what}, not {type(value).__name__}")


def _unusable(argument: str, problem: str) -> InvalidInputError:
    return InvalidInputError(f"{argument} {problem}", argument=argument)


def shown(value: object) -> str:
    """A bad value as an error names it: the beginning of its ``repr``, or its type where ``repr``
    fails (an int of thousands of digits, a thousand nested lists)."""
    try:
        return f"{value!r:.60}"
    except Exception:  # noqa: BLE001 - whatever it raises
        return type(value).__name__
