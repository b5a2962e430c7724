"""The lines of an archive: one JSON object each, of strict JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import count
from math import isinf
from typing import IO, Any

from recallm.errors import ArchiveError, InvalidInputError

FORMAT = "recallm-archive"

LONGEST_HEADER = 65_536
"""Characters of the first line: a file that is no archive is refused before much of it is read."""

NO_ARCHIVE = "this is no recallm archive; make one with export"

_LONGEST_LINE = 1 << 30
"""Characters of every other line: SQLite cannot store a longer text either."""

_NOT_JSON = (ValueError, RecursionError)
"""What reading JSON raises: no JSON, no Unicode, or more nesting than Python can read."""

_TERMINAL_CONTROLS = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters that JSON allows in a text, and that a terminal would obey."""


def json_lines(stream: IO[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of an archive with the numbers of their lines, from 1.

    Raises:
        ArchiveError: a line is no JSON object, is too long, or cannot be read.
        InvalidInputError: the stream does not give text.

    """
    for number in count(1):
        longest = LONGEST_HEADER if number == 1 else _LONGEST_LINE
        try:
            text: object = stream.readline(longest)
            if not isinstance(text, str):
                raise InvalidInputError(
                    f"source must be a text stream: it gave {type(text).__name__}; open the file "
                    "as text, in UTF-8",
                    argument="source",
                )
            if not text:
                return
            if len(text) >= longest and not text.endswith("\n"):
                raise ArchiveError(f"the line has more than {longest} characters", line=number)
            line = read_json(text)
        except InvalidInputError:
            raise
        except OSError as error:
            raise ArchiveError(f"the archive cannot be read: {error}", line=number) from error
        except _NOT_JSON as error:
            fault = f"this is no JSON line: {error}" if number > 1 else NO_ARCHIVE
            raise ArchiveError(fault, line=number) from error
        if not isinstance(line, dict):
            raise ArchiveError("this is no JSON object", line=number)
        yield number, line


def write_line(stream: IO[str], value: Mapping[str, Any]) -> None:
    """Write one object as one line that a terminal can show safely."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        stream.write(escaped_for_terminals(text) + "\n")
    except (OSError, TypeError, ValueError) as error:
        raise ArchiveError(f"the archive cannot be written: {error}") from error


def escaped_for_terminals(text: str) -> str:
    """Equal JSON, with escapes for the characters that a terminal would obey."""
    return _TERMINAL_CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def is_header(line: bytes) -> bool:
    """Whether a file with this first line is an archive, of any version."""
    try:
        found = read_json(line.decode())
    except _NOT_JSON:
        return False
    return isinstance(found, dict) and found.get("format") == FORMAT


def read_json(text: str) -> Any:
    """The value of a JSON text. Refused are a name that stands twice in an object, NaN, Infinity
    and numbers beyond a float.

    Raises:
        ValueError: it is no such text.
        RecursionError: lists and objects are nested too deep.

    """
    return json.loads(text, object_pairs_hook=_object, parse_constant=_refused, parse_float=_finite)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a name stands twice in an object")
    return made


def _refused(constant: str) -> Any:
    raise ValueError(f"{constant} is no number of JSON")


def _finite(text: str) -> float:
    number = float(text)
    if isinf(number):
        raise ValueError(f"{text[:40]} is too great a number")
    return number
