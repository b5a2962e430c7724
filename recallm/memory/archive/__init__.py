"""Archives: JSON Lines, from any store to any other, without loss.

An archive holds, in this order: a header, the updates by t, the summaries, an end line:
``{"format": …, "version": …, "namespace": …, "t_index": …}``, then ``{"update": …}`` and
``{"summary": …}``, then ``{"end": {"updates": count, "summaries": count}}``. An archive without its
end line was cut short. ``records`` gives each value its JSON form.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO, Any

from recallm.errors import ArchiveError, InvalidInputError
from recallm.ground import checks
from recallm.memory.archive.files import open_for_reading, open_for_writing
from recallm.memory.archive.records import LAST_T, SUMMARY, UPDATE, fields, violation
from recallm.memory.archive.strict_json import FORMAT, NO_ARCHIVE, json_lines, write_line
from recallm.model import PreparedUpdate, Reference, Summary

__all__ = ["open_for_reading", "open_for_writing", "read_archive", "write_archive"]

_VERSION = 1
_HEADER = ("format", "version", "namespace", "t_index")
_COUNTS = ("updates", "summaries")


def write_archive(
    stream: IO[str], namespace: str, t_index: int, records: Iterable[PreparedUpdate | Summary]
) -> int:
    """Write an archive; return the number of knowledge updates in it.

    Raises:
        ArchiveError: the stream failed.

    """
    counts = dict.fromkeys(_COUNTS, 0)
    write_line(
        stream, {"format": FORMAT, "version": _VERSION, "namespace": namespace, "t_index": t_index}
    )
    for record in records:
        if isinstance(record, Summary):
            counts["summaries"] += 1
            write_line(stream, {"summary": SUMMARY.write(record)})
        else:
            counts["updates"] += 1
            write_line(stream, {"update": UPDATE.write(record)})
    write_line(stream, {"end": counts})
    return counts["updates"]


def read_archive(stream: IO[str]) -> tuple[int, Iterator[PreparedUpdate | Summary]]:
    """The t_index of an archive, and its records, which are read while the caller iterates.

    Raises:
        ArchiveError: a line is invalid, contradicts a line before it, or is missing; the archive
            has another version.
        InvalidInputError: the stream does not give text.

    """
    lines = json_lines(stream)
    _, header = next(lines, (1, {}))
    if header.get("format") != FORMAT:
        raise ArchiveError(NO_ARCHIVE, line=1)
    try:
        version = checks.whole(header.get("version"), "version", least=0)
        if version != _VERSION:
            raise ArchiveError(
                f"the archive has version {checks.shown(version)}, this recallm reads version "
                f"{_VERSION}; load it with the recallm that exported it",
                line=1,
            )
        fields(header, "header", _HEADER, _HEADER)
        checks.name(header["namespace"], "namespace")
        t_index = checks.whole(header["t_index"], "t_index", least=0, most=LAST_T)
    except InvalidInputError as error:
        raise _invalid_line(error, 1) from error
    return t_index, _records(lines, t_index)


def _records(
    lines: Iterator[tuple[int, dict[str, Any]]], t_index: int
) -> Iterator[PreparedUpdate | Summary]:
    checker = _Consistency(t_index)
    for number, line in lines:
        try:
            kind, value = next(iter(line.items())) if len(line) == 1 else ("", None)
            if kind == "update":
                update = UPDATE.read(value, kind)
                checker.check_update(update)
                yield update
            elif kind == "summary":
                summary = SUMMARY.read(value, kind)
                checker.check_summary(summary)
                yield summary
            elif kind == "end":
                checker.check_end(value)
                break
            else:
                raise violation("line", "must hold an update, a summary or the end")
        except InvalidInputError as error:
            raise _invalid_line(error, number) from error
    else:
        raise ArchiveError("the archive was cut short: its last line is missing; export it again")
    if (extra := next(lines, None)) is not None:
        raise ArchiveError(
            "something follows the archive's last line; load one archive at a time, each into a "
            "namespace of its own",
            line=extra[0],
        )


class _Consistency:
    """Compares each record of an archive with the records before it. Every check raises
    InvalidInputError where they contradict each other. Whether triplets have their entities, and
    vectors one size, checks the store that is filled (``GraphStore.restore``)."""

    def __init__(self, t_index: int) -> None:
        self._t_index = t_index
        self._found = dict.fromkeys(_COUNTS, 0)
        self._latest_t = 0
        self._latest_summary = (0, "")
        self._passages: set[str] = set()
        self._first_mention: dict[str, int] = {}
        self._embedded: set[str] = set()
        """The ids of the entities whose vectors were there already."""

    def check_update(self, update: PreparedUpdate) -> None:
        """Updates stand before summaries, ascending by t, each id once."""
        t_index = update.t_index or 0
        if self._found["summaries"]:
            raise violation("update", "comes after a summary")
        if not self._latest_t < t_index <= self._t_index:
            raise violation(
                "t_index", f"{t_index} is not from {self._latest_t + 1} to {self._t_index}"
            )
        self._latest_t = t_index
        self._found["updates"] += 1
        if update.text is not None and update.id in self._passages:
            raise violation("id", f"{update.id[:40]!r} belongs to an update before")
        for statement in update.statements:
            for concept in statement.concepts:
                self._first_mention.setdefault(concept.name, t_index)
                self._check_reference(concept.reference)
        if update.text is not None:
            self._passages.add(update.id)
        for entity in update.entities:
            if entity.vectors and entity.id in self._embedded:
                raise violation("entity", f"{entity.id[:40]!r} has vectors twice")
            self._embedded.update([entity.id] if entity.vectors else ())

    def check_summary(self, summary: Summary) -> None:
        """Summaries stand in order, each of a concept that an update mentions by then."""
        first = self._first_mention.get(summary.concept)
        if first is None or not first <= summary.t_index <= self._latest_t:
            raise violation("summary", "is of a concept that no update mentions by then")
        place = (summary.t_index, summary.concept)
        if not self._latest_summary < place:
            raise violation("summary", "is out of order: by t_index, then by concept")
        self._latest_summary = place
        self._found["summaries"] += 1

    def check_end(self, value: object) -> None:
        """The end line counts the records."""
        counts = fields(value, "end", _COUNTS, _COUNTS)
        announced = {name: checks.whole(counts[name], name, least=0) for name in _COUNTS}
        if announced != self._found:
            raise violation("archive", f"should hold {announced}, but holds {self._found}")

    def _check_reference(self, reference: Reference | None) -> None:
        """The antecedent of a reference stands in its own update or in one before."""
        antecedent = reference and reference.antecedent
        if antecedent is not None and antecedent not in self._passages:
            raise violation("reference", f"names {antecedent[:40]!r}, which is no update before")


def _invalid_line(error: InvalidInputError, line: int) -> ArchiveError:
    return ArchiveError(f"this is no record of an archive: {error.message}", line=line)
