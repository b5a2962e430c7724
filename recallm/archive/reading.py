"""From the lines of an archive to the records of a namespace that agree with each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

from recallm import checks
from recallm.archive.lines import FORMAT, json_lines
from recallm.archive.records import LAST_T, fields, summary_of, update_of
from recallm.archive.writing import VERSION
from recallm.errors import ArchiveError, InvalidInputError
from recallm.model import ConceptMention, EntityUpsert, PreparedUpdate, Summary

__all__ = ["read_archive"]

_READ = range(1, VERSION + 1)  # 2: entities have vectors
_HEADER = ("format", "version", "namespace", "t_index")
_COUNTS = ("updates", "summaries")


def read_archive(stream: IO[str]) -> tuple[int, Iterator[PreparedUpdate | Summary]]:
    """The t_index of an archive, and its records; they are read while they are iterated.

    Raises:
        ArchiveError: a line is not what it should be, or the last one is missing.
        InvalidInputError: the stream does not give text.

    """
    lines = json_lines(stream)
    _, header = next(lines, (1, {}))
    if header.get("format") != FORMAT:
        raise ArchiveError("this is no recallm archive; make one with export", line=1)
    try:
        version = checks.whole(header.get("version"), "version", least=1)
        if version not in _READ:
            raise ArchiveError(
                f"the archive has version {version}, this recallm reads up to {VERSION}; "
                "upgrade recallm",
                line=1,
            )
        fields(header, "header", _HEADER, _HEADER)
        checks.name(header["namespace"], "namespace")
        t_index = checks.whole(header["t_index"], "t_index", least=0, most=LAST_T)
    except InvalidInputError as error:
        raise _no_record(error, 1) from error
    return t_index, _records(lines, t_index)


def _records(
    lines: Iterator[tuple[int, dict[str, Any]]], t_index: int
) -> Iterator[PreparedUpdate | Summary]:
    before = _Before(t_index)
    for number, line in lines:
        try:
            kind, value = next(iter(line.items())) if len(line) == 1 else ("", None)
            if kind == "update":
                yield before.with_update(update_of(value), number)
            elif kind == "summary":
                yield before.with_summary(summary_of(value))
            elif kind == "end":
                before.check_end(value)
                break
            else:
                raise _wrong("line", "must hold an update, a summary or the end")
        except InvalidInputError as error:
            raise _no_record(error, number) from error
    else:
        raise ArchiveError("the archive was cut short: its last line is missing; export it again")
    if (extra := next(lines, None)) is not None:
        raise ArchiveError(
            "something follows the archive's last line; load one archive at a time, each into a "
            "namespace of its own",
            line=extra[0],
        )
    before.check_all_known()


class _Before:
    """What the records of an archive said so far, as far as a later one may contradict it."""

    def __init__(self, t_index: int) -> None:
        self._t_index = t_index
        self._updates = 0
        self._summaries = 0
        self._latest = 0
        self._latest_summary = (0, "")
        self._passages: set[str] = set()
        self._concepts: dict[str, int] = {}
        self._entities: dict[str, tuple[str, ConceptMention, bool]] = {}
        self._awaited: dict[str, int] = {}
        self._model: str | None = None
        self._sizes: dict[str, int] = {}

    def with_update(self, update: PreparedUpdate, line: int) -> PreparedUpdate:
        """``update``, if it follows from what was before.

        Raises:
            InvalidInputError: it does not.

        """
        t_index = update.t_index or 0
        if self._summaries:
            raise _wrong("update", "comes after a summary")
        if not self._latest < t_index <= self._t_index:
            raise _wrong("t_index", f"{t_index} is not of {self._latest + 1} to {self._t_index}")
        self._latest = t_index
        self._updates += 1
        if update.text is not None:
            if update.id in self._passages:
                raise _wrong("id", f"{update.id[:40]!r} is that of an update before")
            self._passages.add(update.id)
        for statement in update.statements:
            for concept in statement.concepts:
                self._concepts.setdefault(concept.name, t_index)
        for entity in update.entities:
            self._take(entity)
        for triplet in update.triplets:
            for id in (triplet.subject, triplet.object):
                if id not in self._entities:
                    self._awaited.setdefault(id, line)
        for vector in update.vectors:
            self._model = self._model or vector.model
            if vector.model != self._model:
                raise _wrong("vectors", f"are of {vector.model!r}, those before of {self._model!r}")
            self._measure(vector.model, vector.blob)
        return update

    def with_summary(self, summary: Summary) -> Summary:
        """``summary``, if it follows from what was before.

        Raises:
            InvalidInputError: it does not.

        """
        place = (summary.t_index, summary.concept)
        mentioned = self._concepts.get(summary.concept)
        if mentioned is None or not mentioned <= summary.t_index <= self._latest:
            raise _wrong("summary", "is of a concept that no update mentions by then")
        if not self._latest_summary < place:
            raise _wrong("summary", "is out of order: by t_index, then by concept")
        self._latest_summary = place
        self._summaries += 1
        return summary

    def check_end(self, value: object) -> None:
        """Compare the counts of the last line with what was there.

        Raises:
            InvalidInputError: something is missing, or too much.

        """
        counts = fields(value, "end", _COUNTS, _COUNTS)
        should = {name: checks.whole(counts[name], name, least=0) for name in _COUNTS}
        found = {"updates": self._updates, "summaries": self._summaries}
        if should != found:
            raise _wrong("archive", f"should hold {should}, but holds {found}")

    def check_all_known(self) -> None:
        """Refuse triplets between entities that are nowhere.

        Raises:
            ArchiveError: there is one.

        """
        missing = self._awaited.keys() - self._entities.keys()
        if missing:
            id = min(missing, key=self._awaited.__getitem__)
            raise ArchiveError(
                f"a triplet names the entity {id[:40]!r}, which no update brings",
                line=self._awaited[id],
            )

    def _take(self, entity: EntityUpsert) -> None:
        """An entity is at each evidence what it is at the last, where its vectors stand."""
        known = self._entities.get(entity.id)
        if known is not None and (known[:2] != (entity.type, entity.concept) or known[2]):
            raise _wrong("entity", f"{entity.id[:40]!r} is another one than before")
        self._entities[entity.id] = (entity.type, entity.concept, bool(entity.vectors))
        for model, blob in entity.vectors.items():
            self._measure(model, blob)

    def _measure(self, model: str, blob: bytes) -> None:
        if self._sizes.setdefault(model, len(blob)) != len(blob):
            raise _wrong("vectors", f"of {model!r} are not all of the same dimension")


def _wrong(what: str, problem: str) -> InvalidInputError:
    return InvalidInputError(f"{what} {problem}", argument="source")


def _no_record(error: InvalidInputError, line: int) -> ArchiveError:
    return ArchiveError(f"this is no record of an archive: {error.message}", line=line)
