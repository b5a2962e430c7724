"""How stores encode a timestamp: as ISO text and as microseconds since 1970 (UTC).

The text keeps the offset and is what readers get back; the microseconds are compared and indexed.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import overload

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@overload
def microseconds(timestamp: datetime) -> int: ...
@overload
def microseconds(timestamp: datetime | None) -> int | None: ...
def microseconds(timestamp: datetime | None) -> int | None:
    """Whole microseconds since 1970 (UTC)."""
    return None if timestamp is None else (timestamp - _EPOCH) // _MICROSECOND


def from_microseconds(value: int) -> datetime:
    """The timestamp (UTC) ``value`` microseconds after 1970."""
    return _EPOCH + value * _MICROSECOND


def timestamp_text(timestamp: datetime | None) -> str | None:
    """ISO 8601, with the timestamp's own offset."""
    return None if timestamp is None else timestamp.isoformat()


@lru_cache(maxsize=1 << 10)
def unpack_timestamp(text: str | None) -> datetime | None:
    """Decode a timestamp that may be missing."""
    return None if text is None else datetime.fromisoformat(text)
