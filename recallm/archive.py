"""Export and load as JSON Lines: one line says what the archive is, one line for each knowledge
update in order of t, one for each summary, and a last line that counts them, so that an archive
that was cut short is known as such. From any store to any other, without loss.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from recallm.errors import ArchiveError
from recallm.model import (
    MAX_POSITION,
    NO_POSITION,
    ConceptMention,
    EntityUpsert,
    ExtractedStatement,
    Neighbours,
    PreparedUpdate,
    StatementVector,
    Summary,
    Trait,
    TripletUpsert,
)

__all__ = ["open_for_reading", "open_for_writing", "read_archive", "write_archive"]

_FORMAT = "recallm-archive"
_VERSION = 2
_READ = (1, 2)  # 2: entities have vectors


@contextmanager
def open_for_writing(target: str | os.PathLike[str] | IO[str]) -> Iterator[IO[str]]:
    """``target`` as a text stream. A file is replaced only when all of it was written.

    Raises:
        ArchiveError: the file cannot be written.

    """
    if not isinstance(target, str | os.PathLike):
        yield target
        return
    path = Path(os.path.realpath(target))
    if path.exists() and not path.is_file():
        # A pipe or a device is written to; only a file can be replaced.
        try:
            with path.open("w", encoding="utf-8", newline="\n") as stream:
                yield stream
        except OSError as error:
            raise ArchiveError(f"{path} cannot be written: {error}") from error
        return
    draft = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
    try:
        try:
            with draft.open("x", encoding="utf-8", newline="\n") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            if path.exists():
                shutil.copymode(path, draft)
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        reason = error.strerror or error
        raise ArchiveError(f"{path} cannot be written: {reason}") from error


@contextmanager
def open_for_reading(source: str | os.PathLike[str] | IO[str]) -> Iterator[IO[str]]:
    """``source`` as a text stream.

    Raises:
        ArchiveError: the file cannot be read.

    """
    if not isinstance(source, str | os.PathLike):
        yield source
        return
    with ExitStack() as stack:
        try:
            stream = stack.enter_context(Path(source).open(encoding="utf-8", newline="\n"))
        except OSError as error:
            raise ArchiveError(f"{os.fspath(source)} cannot be read: {error}") from error
        yield stream


def write_archive(
    stream: IO[str], namespace: str, t_index: int, records: Iterable[PreparedUpdate | Summary]
) -> int:
    """Write an archive; return the number of knowledge updates in it."""
    updates = summaries = 0
    _line(
        stream, {"format": _FORMAT, "version": _VERSION, "namespace": namespace, "t_index": t_index}
    )
    for record in records:
        if isinstance(record, Summary):
            summaries += 1
            _line(stream, {"summary": _summary_out(record)})
        else:
            updates += 1
            _line(stream, {"update": _update_out(record)})
    _line(stream, {"end": {"updates": updates, "summaries": summaries}})
    return updates


def read_archive(stream: IO[str]) -> tuple[int, Iterator[PreparedUpdate | Summary]]:
    """The t_index of an archive, and its records; they are read while they are iterated.

    Raises:
        ArchiveError: a line is not what it should be, or the last one is missing.

    """
    lines = _lines(stream)
    _, header = next(lines, (1, {}))
    if header.get("format") != _FORMAT:
        raise ArchiveError("this is no recallm archive; make one with export", line=1)
    if header.get("version") not in _READ:
        raise ArchiveError(
            f"the archive has version {header.get('version')!r}, this recallm reads up to "
            f"{_VERSION}; upgrade recallm",
            line=1,
        )
    t_index = header.get("t_index")
    if not isinstance(t_index, int) or t_index < 0:
        raise ArchiveError("t_index is missing", line=1)
    return t_index, _records(lines, t_index)


def _records(
    lines: Iterator[tuple[int, dict[str, Any]]], t_index: int
) -> Iterator[PreparedUpdate | Summary]:
    counts = {"updates": 0, "summaries": 0}
    latest = 0
    for number, line in lines:
        try:
            if "end" in line:
                if line["end"] != counts:
                    raise ArchiveError(
                        f"the archive should hold {line['end']}, but holds {counts}", line=number
                    )
                if (extra := next(lines, None)) is not None:
                    raise ArchiveError(
                        "something follows the archive's last line; load one archive at a time, "
                        "each into a namespace of its own",
                        line=extra[0],
                    )
                return
            if "summary" in line:
                counts["summaries"] += 1
                yield _summary_in(line["summary"])
            else:
                counts["updates"] += 1
                update = _update_in(line["update"])
                latest = _checked(update, latest, t_index)
                yield update
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ArchiveError(
                f"this is no record of an archive: {type(error).__name__}: {error}", line=number
            ) from error
    raise ArchiveError("the archive was cut short: its last line is missing; export it again")


def _checked(update: PreparedUpdate, latest: int, t_index: int) -> int:
    """The update's t, if it comes after ``latest`` and its statements lie in its text."""
    if update.t_index is None or not latest < update.t_index <= t_index:
        raise ValueError(f"t_index {update.t_index} should lie in {latest + 1} to {t_index}")
    end, position = 0, -1
    for statement in update.statements:
        if not position < statement.position <= MAX_POSITION:
            raise ValueError(f"statement position {statement.position} is out of order")
        if not end <= statement.start <= statement.end <= len(update.text or ""):
            raise ValueError(f"statement {statement.position} lies outside of its text")
        end, position = statement.end, statement.position
    known = {statement.position for statement in update.statements}
    shown = {at for pair in update.neighbours for at in (pair.earlier, pair.later)}
    shown |= {entity.position for entity in update.entities} - {NO_POSITION}
    shown |= {triplet.position for triplet in update.triplets} - {NO_POSITION}
    shown |= {vector.position for vector in update.vectors}
    if not shown <= known:
        raise ValueError(f"evidence at {sorted(shown - known)}, where no statement is")
    return update.t_index


def _lines(stream: IO[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    number = 0
    try:
        for number, text in enumerate(stream, start=1):
            line = json.loads(text)
            if not isinstance(line, dict):
                raise ArchiveError("this is no JSON object", line=number)
            yield number, line
    except ValueError as error:  # not JSON, or not UTF-8
        raise ArchiveError(f"this is no JSON line: {error}", line=number or 1) from error


def _line(stream: IO[str], value: Mapping[str, Any]) -> None:
    stream.write(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n")


def _update_out(update: PreparedUpdate) -> dict[str, Any]:
    """Only what is set, so that lines stay short."""
    out: dict[str, Any] = {
        "id": update.id,
        "t_index": update.t_index,
        "text": update.text,
        "statements": [_statement_out(statement) for statement in update.statements],
        "neighbours": [[it.a, it.b, it.earlier, it.later] for it in update.neighbours],
        "source": update.source,
        "session": update.session,
        "speaker": update.speaker,
        "speaker_concept": update.speaker_concept,
        "timestamp": _moment_out(update.timestamp),
        "metadata": dict(update.metadata),
        "path": list(update.path),
        "key": update.key,
        "expires_at": _moment_out(update.expires_at),
        "entities": [
            {
                "id": it.id,
                "type": it.type,
                "concept": _mention_out(it.concept),
                "properties": dict(it.properties),
                "position": it.position,
                "vectors": {model: _blob_out(blob) for model, blob in it.vectors.items()},
            }
            for it in update.entities
        ],
        "triplets": [
            [it.subject, it.predicate, it.object, dict(it.properties), it.position]
            for it in update.triplets
        ],
        "vectors": [[it.position, it.model, _blob_out(it.blob)] for it in update.vectors],
    }
    return {name: value for name, value in out.items() if value not in (None, [], {})}


def _update_in(line: Mapping[str, Any]) -> PreparedUpdate:
    return PreparedUpdate(
        id=line["id"],
        t_index=line["t_index"],
        text=line.get("text"),
        statements=tuple(_statement_in(it) for it in line.get("statements", ())),
        neighbours=tuple(
            Neighbours(a=a, b=b, earlier=earlier, later=later)
            for a, b, earlier, later in line.get("neighbours", ())
        ),
        source=line.get("source"),
        session=line.get("session"),
        speaker=line.get("speaker"),
        speaker_concept=line.get("speaker_concept"),
        timestamp=_moment_in(line.get("timestamp")),
        metadata=line.get("metadata", {}),
        path=tuple(line.get("path", ())),
        key=line.get("key"),
        expires_at=_moment_in(line.get("expires_at")),
        entities=tuple(
            EntityUpsert(
                id=it["id"],
                type=it["type"],
                concept=_mention_in(it["concept"]),
                properties=it["properties"],
                position=it["position"],
                vectors={
                    model: base64.b64decode(blob) for model, blob in it.get("vectors", {}).items()
                },
            )
            for it in line.get("entities", ())
        ),
        triplets=tuple(
            TripletUpsert(
                subject=subject,
                predicate=predicate,
                object=object_,
                properties=properties,
                position=position,
            )
            for subject, predicate, object_, properties, position in line.get("triplets", ())
        ),
        vectors=tuple(
            StatementVector(position=position, model=model, blob=base64.b64decode(blob))
            for position, model, blob in line.get("vectors", ())
        ),
    )


def _statement_out(statement: ExtractedStatement) -> list[Any]:
    return [
        statement.position,
        statement.start,
        statement.end,
        " ".join(statement.terms),
        [_mention_out(mention) for mention in statement.concepts],
        int(statement.traits),
    ]


def _statement_in(line: list[Any]) -> ExtractedStatement:
    position, start, end, terms, concepts, traits = line
    return ExtractedStatement(
        position=position,
        start=start,
        end=end,
        terms=tuple(terms.split(" ")) if terms else (),
        concepts=tuple(_mention_in(mention) for mention in concepts),
        traits=Trait(traits),
    )


def _mention_out(mention: ConceptMention) -> list[str]:
    return [mention.name, mention.label, mention.kind]


def _mention_in(line: list[Any]) -> ConceptMention:
    name, label, kind = line
    return ConceptMention(name=name, label=label, kind=kind)


def _summary_out(summary: Summary) -> dict[str, Any]:
    return {
        "concept": summary.concept,
        "t_index": summary.t_index,
        "text": summary.text,
        "terms": " ".join(summary.terms),
        "traits": int(summary.traits),
    }


def _summary_in(line: Mapping[str, Any]) -> Summary:
    return Summary(
        concept=line["concept"],
        t_index=line["t_index"],
        text=line["text"],
        terms=tuple(line["terms"].split(" ")) if line["terms"] else (),
        traits=Trait(line["traits"]),
    )


def _blob_out(blob: bytes) -> str:
    return base64.b64encode(blob).decode()


def _moment_out(value: datetime | None) -> str | None:
    return None if value is None else value.isoformat()


def _moment_in(value: str | None) -> datetime | None:
    return None if value is None else datetime.fromisoformat(value)
