"""How values of ``recallm.model`` are spelled in columns.

* Lists of strings are one text, joined by a separator: splitting it costs a tenth of JSON, and
  recall reads hundreds of statements a question. A list whose strings hold the separator is JSON
  behind a mark.
* Timestamps are ISO text, which comes back as it was, beside whole microseconds, which order.
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
    """Spell a list of strings as one text."""
    text = _SEPARATOR.join(parts)
    if text.count(_SEPARATOR) == len(parts) - 1 and text and _JSON_MARK not in text:
        return text
    return _JSON_MARK + json.dumps(parts) if parts else ""


def unpack(text: str) -> tuple[str, ...]:
    """The list of strings that ``pack`` spelled."""
    if not text:
        return ()
    if text[0] == _JSON_MARK:
        return tuple(json.loads(text[1:]))
    return tuple(text.split(_SEPARATOR))


def path_text(path: Iterable[str]) -> str:
    """Spell a path so that the paths at and below it are those whose text begins with its own."""
    return "".join(
        part.replace(_JSON_MARK, _JSON_MARK + "0").replace(_SEPARATOR, _JSON_MARK + "1")
        + _SEPARATOR
        for part in path
    )


def read_path(text: str) -> tuple[str, ...]:
    """The path that ``path_text`` spelled."""
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
    """The texts of the paths at and below ``path``, which is not empty: the first one, and the
    first after them."""
    text = path_text(path)
    return text, text[:-1] + chr(ord(_SEPARATOR) + 1)


def pack_mentions(mentions: Iterable[ConceptMention]) -> str:
    """Spell the concepts of a statement as one text."""
    return pack([_mention_text((m.name, m.label, m.kind)) for m in mentions])


def unpack_mentions(text: str) -> tuple[ConceptMention, ...]:
    """The concepts of a statement."""
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
    """Whole microseconds since 1970 (UTC), which order as the timestamps do."""
    return None if timestamp is None else (timestamp - _EPOCH) // _MICROSECOND


def timestamp_text(timestamp: datetime | None) -> str | None:
    """ISO 8601 with the offset that the timestamp had."""
    return None if timestamp is None else timestamp.isoformat()


@lru_cache(maxsize=1 << 10)
def read_timestamp(text: str) -> datetime:
    """The timestamp that ``timestamp_text`` spelled."""
    return datetime.fromisoformat(text)


def unpack_timestamp(text: str | None) -> datetime | None:
    """The same, where there may be none."""
    return None if text is None else read_timestamp(text)


def json_text(value: Mapping[str, Any]) -> str:
    """JSON of a mapping, in its own order."""
    return json.dumps(dict(value)) if value else "{}"


def same_json(value: object) -> str:
    """The JSON text by which JSON values are equal or not."""
    return json.dumps(value, sort_keys=True)


def entry_hash(key: str, value: object) -> int:
    """64 bits of an entry of a mapping: what equal entries have in common, and few others."""
    digest = hashlib.blake2b(same_json([key, value]).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
