"""How values of ``recallm.model`` are encoded in columns.

* A list of strings is one text, joined by a separator: splitting it costs a tenth of reading JSON,
  and recall reads hundreds of statements for a question. A list with the separator inside a string
  is JSON after a mark.
* A timestamp is ISO text, which keeps its offset, beside whole microseconds, which sort.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

from recallm.model import ConceptMention

__all__ = [
    "below",
    "entry_hash",
    "json_text",
    "microseconds",
    "pack",
    "pack_mentions",
    "path_text",
    "read_path",
    "read_timestamp",
    "same_json",
    "timestamp_text",
    "unpack",
    "unpack_mentions",
    "unpack_timestamp",
]

_SEPARATOR = "\x1f"
_JSON_MARK = "\x1e"
_WITHIN_MENTION = "\x1d"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def pack(parts: Sequence[str]) -> str:
    """Encode a list of strings as one text."""
    text = _SEPARATOR.join(parts)
    if text.count(_SEPARATOR) == len(parts) - 1 and text and _JSON_MARK not in text:
        return text
    return _JSON_MARK + json.dumps(parts) if parts else ""


def unpack(text: str) -> tuple[str, ...]:
    """Decode a list of strings."""
    if not text:
        return ()
    if text[0] == _JSON_MARK:
        return tuple(json.loads(text[1:]))
    return tuple(text.split(_SEPARATOR))


def path_text(path: Iterable[str]) -> str:
    """Encode a path. The paths at and below it are those whose text begins with its text."""
    return "".join(
        part.replace(_JSON_MARK, _JSON_MARK + "0").replace(_SEPARATOR, _JSON_MARK + "1")
        + _SEPARATOR
        for part in path
    )


def read_path(text: str) -> tuple[str, ...]:
    """Decode a path."""
    if not text:
        return ()
    parts = text[:-1].split(_SEPARATOR)
    if _JSON_MARK not in text:
        return tuple(parts)
    return tuple(
        part.replace(_JSON_MARK + "1", _SEPARATOR).replace(_JSON_MARK + "0", _JSON_MARK)
        for part in parts
    )


def below(path: Iterable[str]) -> tuple[str, str]:
    """The range [first, end) of the texts of all paths at and below ``path``, which is not
    empty."""
    text = path_text(path)
    return text, text[:-1] + chr(ord(_SEPARATOR) + 1)


def pack_mentions(mentions: Iterable[ConceptMention]) -> str:
    """Encode the concepts of a statement as one text."""
    return pack([_mention_text((m.name, m.label, m.kind)) for m in mentions])


def unpack_mentions(text: str) -> tuple[ConceptMention, ...]:
    """Decode the concepts of a statement."""
    return tuple(map(_mention, unpack(text)))


def _mention_text(parts: tuple[str, str, str]) -> str:
    text = _WITHIN_MENTION.join(parts)
    is_plain = text.count(_WITHIN_MENTION) == len(parts) - 1 and text[0] != _JSON_MARK
    return text if is_plain else _JSON_MARK + json.dumps(parts)


@lru_cache(maxsize=1 << 14)
def _mention(text: str) -> ConceptMention:
    parts: Any = json.loads(text[1:]) if text[0] == _JSON_MARK else text.split(_WITHIN_MENTION)
    return ConceptMention(name=parts[0], label=parts[1], kind=parts[2])


def microseconds(timestamp: datetime | None) -> int | None:
    """Whole microseconds since 1970 (UTC)."""
    return None if timestamp is None else (timestamp - _EPOCH) // _MICROSECOND


def timestamp_text(timestamp: datetime | None) -> str | None:
    """ISO 8601, with the timestamp's own offset."""
    return None if timestamp is None else timestamp.isoformat()


@lru_cache(maxsize=1 << 10)
def read_timestamp(text: str) -> datetime:
    """Decode a timestamp."""
    return datetime.fromisoformat(text)


def unpack_timestamp(text: str | None) -> datetime | None:
    """Decode a timestamp that may be missing."""
    return None if text is None else read_timestamp(text)


def json_text(value: Mapping[str, Any]) -> str:
    """The JSON text of a mapping, in its own order."""
    return json.dumps(dict(value)) if value else "{}"


def same_json(value: object) -> str:
    """The JSON text with sorted keys: two JSON values are equal if theirs are."""
    return json.dumps(value, sort_keys=True)


def entry_hash(key: str, value: object) -> int:
    """A 64-bit hash of an entry of a mapping; JSON-equal entries have the same one."""
    digest = hashlib.blake2b(same_json([key, value]).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
