"""The lines of an archive: JSON objects, each of them strict JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from math import isinf
from typing import IO, Any

from recallm.errors import ArchiveError, InvalidInputError

__all__ = [
    "FORMAT",
    "LONGEST_HEADER",
    "NO_JSON",
    "for_terminals",
    "is_header",
    "json_lines",
    "write_line",
]

FORMAT = "recallm-archive"

LONGEST_HEADER = 65_536
"""Characters of the first line: what is no archive is known before much of it is read."""

_LONGEST_LINE = 1 << 30
"""Characters of every other line; SQLite holds no longer text either."""

NO_JSON = (ValueError, RecursionError)
"""What reading JSON raises: no JSON, no Unicode, lists within lists beyond what Python can read."""

_NOT_FOR_TERMINALS = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Controls that JSON allows as they are: a terminal that shows an archive would obey them."""


def json_lines(stream: IO[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of an archive with the numbers of their lines, from 1.

    Raises:
        ArchiveError: a line is no JSON object, is too long, or cannot be read.
        InvalidInputError: the stream does not give text.

    """
    number = 0
    while True:
        number += 1
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
            line = _read(text)
        except InvalidInputError:
            raise
        except OSError as error:
            raise ArchiveError(f"the archive cannot be read: {error}", line=number) from error
        except NO_JSON as error:
            raise ArchiveError(f"this is no JSON line: {error}", line=number) from error
        if not isinstance(line, dict):
            raise ArchiveError("this is no JSON object", line=number)
        yield number, line


def write_line(stream: IO[str], value: Mapping[str, Any]) -> None:
    """Write one object as one line, which a terminal can show.

    Raises:
        ArchiveError: the stream failed, or takes no text.

    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        stream.write(for_terminals(text) + "\n")
    except (OSError, TypeError, ValueError) as error:
        raise ArchiveError(f"the archive cannot be written: {error}") from error


def for_terminals(text: str) -> str:
    """JSON that says the same, without characters that a terminal would obey."""
    return _NOT_FOR_TERMINALS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def is_header(line: bytes) -> bool:
    """Whether a file that begins so is an archive, of whichever version."""
    try:
        found = _read(line.decode())
    except NO_JSON:
        return False
    return isinstance(found, dict) and found.get("format") == FORMAT


def _read(text: str) -> Any:
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
