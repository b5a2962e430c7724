"""From the records of a namespace to the lines of an archive."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from datetime import datetime
from typing import IO, Any

from recallm.archive.lines import FORMAT, write_line
from recallm.model import ConceptMention, ExtractedStatement, PreparedUpdate, Summary

__all__ = ["VERSION", "write_archive"]

VERSION = 2


def write_archive(
    stream: IO[str], namespace: str, t_index: int, records: Iterable[PreparedUpdate | Summary]
) -> int:
    """Write an archive; return the number of knowledge updates in it.

    Raises:
        ArchiveError: the stream failed.

    """
    updates = summaries = 0
    write_line(
        stream, {"format": FORMAT, "version": VERSION, "namespace": namespace, "t_index": t_index}
    )
    for record in records:
        if isinstance(record, Summary):
            summaries += 1
            write_line(stream, {"summary": _summary_out(record)})
        else:
            updates += 1
            write_line(stream, {"update": _update_out(record)})
    write_line(stream, {"end": {"updates": updates, "summaries": summaries}})
    return updates


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


def _statement_out(statement: ExtractedStatement) -> list[Any]:
    return [
        statement.position,
        statement.start,
        statement.end,
        " ".join(statement.terms),
        [_mention_out(mention) for mention in statement.concepts],
        int(statement.traits),
    ]


def _mention_out(mention: ConceptMention) -> list[str]:
    return [mention.name, mention.label, mention.kind]


def _summary_out(summary: Summary) -> dict[str, Any]:
    return {
        "concept": summary.concept,
        "t_index": summary.t_index,
        "text": summary.text,
        "terms": " ".join(summary.terms),
        "traits": int(summary.traits),
    }


def _blob_out(blob: bytes) -> str:
    return base64.b64encode(blob).decode()


def _moment_out(value: datetime | None) -> str | None:
    return None if value is None else value.isoformat()
