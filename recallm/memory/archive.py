"""Archives: JSON Lines, from any store to any other, without loss.

An archive holds, in this order: a header, the updates by t, the summaries, an end line:
``{"format": …, "version": …, "namespace": …, "t_index": …}``, then ``{"update": …}`` and
``{"summary": …}``, then ``{"end": true}``. The last field of each line, ``check``, is a checksum of
all lines up to this one: a line that was changed, moved or lost is noticed when it is read.
Pydantic writes and reads the fields of a record by their types.

An export makes a new file or replaces an older archive. It never overwrites another kind of file,
least of all a database.
"""

from __future__ import annotations

import os
import re
import shutil
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from itertools import count, pairwise
from pathlib import Path
from typing import IO, TYPE_CHECKING, ClassVar
from zlib import crc32

from recallm.errors import ArchiveError, InvalidInputError
from recallm.ground import checks
from recallm.model import LARGEST_NUMBER, MAX_POSITION, NO_POSITION, PreparedUpdate, Summary
from recallm.stores.sqlite.open_files import BESIDE_A_DATABASE, is_open_database, private

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_VERSION = 1
_FORMAT = "recallm-archive"
_BEGINNING = f'{{"format":"{_FORMAT}"'
"""How every archive begins, of any version."""

_LONGEST_HEADER = 65_536
"""Characters of the first line: a file that is no archive is refused before much of it is read."""

_TERMINAL_CONTROLS = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters that JSON allows in a text, and that a terminal would obey."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """One line: the header (the first four fields), a record, or the end."""

    __pydantic_config__: ClassVar[dict[str, str]] = {
        "extra": "forbid",
        "ser_json_bytes": "base64",
        "val_json_bytes": "base64",
    }

    format: str | None = None
    version: int | None = None
    namespace: str | None = None
    t_index: int | None = None
    update: PreparedUpdate | None = None
    summary: Summary | None = None
    end: bool = False


@cache
def _json_form() -> TypeAdapter[_Line]:
    from pydantic import TypeAdapter  # `import recallm` need not wait for it

    return TypeAdapter(_Line)


def write_archive(
    stream: IO[str], namespace: str, t_index: int, records: Iterable[PreparedUpdate | Summary]
) -> int:
    """Write an archive; return the number of knowledge updates in it.

    Raises:
        ArchiveError: the stream failed.

    """
    check = updates = 0

    def write(line: _Line) -> None:
        nonlocal check
        written = _json_form().dump_json(line, exclude_defaults=True).decode()
        text = escaped_for_terminals(written)
        check = crc32(text.encode(), check)
        try:
            stream.write(f"{text[:-1]}{_check_field(check)}\n")
        except (OSError, TypeError, ValueError) as error:
            raise ArchiveError(f"the archive cannot be written: {error}") from error

    write(_Line(format=_FORMAT, version=_VERSION, namespace=namespace, t_index=t_index))
    for record in records:
        if isinstance(record, Summary):
            write(_Line(summary=record))
        else:
            write(_Line(update=record))
            updates += 1
    write(_Line(end=True))
    return updates


def read_archive(stream: IO[str]) -> tuple[int, Iterator[PreparedUpdate | Summary]]:
    """The t_index of an archive, and its records, which are read while the caller iterates.

    Raises:
        ArchiveError: a line is no longer as it was written, or is missing; the archive has another
            version.
        InvalidInputError: the stream does not give text.

    """
    lines = _lines(stream)
    header = next(lines)
    records = (line.update or line.summary for line in lines)
    return header.t_index or 0, (record for record in records if record is not None)


def _lines(stream: IO[str]) -> Iterator[_Line]:
    """The lines of an archive, each after its checksum was compared."""
    check = 0
    line = _Line()
    for number in count(1):
        try:
            text: object = stream.readline(_LONGEST_HEADER if number == 1 else -1)
        except UnicodeError:
            text = "\N{REPLACEMENT CHARACTER}"  # what is no text fails the checks below
        except (OSError, ValueError) as error:
            raise ArchiveError(f"the archive cannot be read: {error}", line=number) from error
        if not isinstance(text, str):
            raise InvalidInputError(
                f"source must be a text stream: it gave {type(text).__name__}; open the file as "
                "text, in UTF-8",
                argument="source",
            )
        if number == 1:
            _check_header(text)
        elif not text:
            break
        elif line.end:
            raise ArchiveError(
                "something follows the archive's last line; load one archive at a time, each into "
                "a namespace of its own",
                line=number,
            )
        text = text.rstrip("\r\n")
        size = len(_check_field(0))
        written = text[:-size] + "}"
        check = crc32(written.encode("utf-8", "replace"), check)
        if text[-size:] != _check_field(check):
            raise ArchiveError(
                "the archive is damaged, or was changed after its export; export it again",
                line=number,
            )
        try:
            line = _json_form().validate_json(written)
            if line.update is not None:
                _check_update(line.update)
        except ValueError as error:
            problem = f"this is no record of an archive: {error}"
            raise ArchiveError(problem, line=number) from error
        yield line
    if not line.end:
        raise ArchiveError("the archive was cut short: its last line is missing; export it again")


def _check_update(update: PreparedUpdate) -> None:
    """Refuse what no store holds: moments without a time zone, numbers without end, and statements
    that are no spans of their text in its order, on which cutting relies.

    Raises:
        InvalidInputError: the update holds some.

    """
    checks.timestamp(update.timestamp)
    checks.timestamp(update.expires_at, "expires_at")
    if not 0 <= (update.withdrawn_t or 0) <= LARGEST_NUMBER:
        raise InvalidInputError("withdrawn_t is no t_index", argument="withdrawn_t")
    borders = [border for each in update.statements for border in (each.start, each.end)]
    borders = [0, *borders, len(update.text or "")]
    positions = [each.position for each in update.statements]
    shown = {each.position for each in (*update.vectors, *update.elements)}
    if (
        borders != sorted(borders)
        or not all(a < b for a, b in pairwise([-1, *positions, MAX_POSITION + 1]))
        or not shown <= {*positions, NO_POSITION}
    ):
        raise InvalidInputError(
            "the statements are no spans of the text, one behind the other", argument="statements"
        )


def _check_field(check: int) -> str:
    """The end of a line with this checksum."""
    return f',"check":"{check:08x}"}}'


def _check_header(text: str) -> None:
    """Refuse what is no archive, or one of another version."""
    if not text.startswith(_BEGINNING):
        raise ArchiveError("this is no recallm archive; make one with export", line=1)
    if not text.startswith(f'{_BEGINNING},"version":{_VERSION},'):
        raise ArchiveError(
            f"the archive has another version than {_VERSION}, which this recallm reads; load it "
            "with the recallm that exported it",
            line=1,
        )


def escaped_for_terminals(text: str) -> str:
    """Equal JSON, with escapes for the characters that a terminal would obey."""
    return _TERMINAL_CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


# Files.
@contextmanager
def open_for_writing(target: str | os.PathLike[str] | IO[str]) -> Iterator[IO[str]]:
    """``target`` as a text stream. A file is written as a draft beside ``target`` and moved there
    once it is on the disk; until then an older archive stays as it was.

    Raises:
        ArchiveError: the file cannot be written, or a file that is no archive is there.
        InvalidInputError: ``target`` is neither a path nor a text stream.

    """
    if not isinstance(target, str | os.PathLike):
        yield _stream(target, "target", "write")
        return
    given = checks.file_path(target, "target")
    try:
        path = Path(os.path.realpath(given))
        _check_replaceable(path)
        draft = path.with_name(f".{uuid.uuid4().hex}.recallm")
        try:
            with open(draft, "x", encoding="utf-8", newline="\n", opener=private) as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            _check_replaceable(path)
            with suppress(FileNotFoundError):
                shutil.copymode(path, draft)
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise ArchiveError(f"{given} cannot be written: {error.strerror or error}") from error


@contextmanager
def open_for_reading(source: str | os.PathLike[str] | IO[str]) -> Iterator[IO[str]]:
    """``source`` as a text stream.

    Raises:
        ArchiveError: the file cannot be read.
        InvalidInputError: ``source`` is neither a path nor a text stream.

    """
    if not isinstance(source, str | os.PathLike):
        yield _stream(source, "source", "readline")
        return
    path = checks.file_path(source, "source")
    _check_no_database(path)
    try:
        stream = path.open(encoding="utf-8", newline="\n")
    except OSError as error:
        raise ArchiveError(f"{path} cannot be read: {error.strerror or error}") from error
    with stream:
        yield stream


def _stream(given: IO[str], argument: str, method: str) -> IO[str]:
    if not callable(getattr(given, method, None)):
        raise InvalidInputError(
            f"{argument} must be the path of a file or a text stream with {method}(), not "
            f"{type(given).__name__}",
            argument=argument,
        )
    return given


def _check_no_database(path: Path) -> None:
    """Refuse a database that is open in this process, before anything opens its file, and the files
    that SQLite writes beside a database."""
    if path.name.endswith(BESIDE_A_DATABASE) or is_open_database(path):
        raise ArchiveError(f"{path} belongs to a database; name another file")


def _check_replaceable(path: Path) -> None:
    """Refuse to overwrite what is no archive: another file, a folder or a device."""
    _check_no_database(path)
    if path.exists() and not path.is_file():
        raise ArchiveError(f"{path} is no file: an export is written to a file or to a text stream")
    with suppress(FileNotFoundError), path.open("rb") as stream:
        if stream.read(len(_BEGINNING)) != _BEGINNING.encode():
            raise ArchiveError(
                f"{path} is there already and is no recallm archive: it is not written over; name "
                "another file, or delete this one first"
            )
