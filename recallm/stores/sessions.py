"""Which session a knowledge update belongs to (design: the session, else the source, else time).

A session key is ``"=" + name`` for a named session and ``"@" + t`` for one derived from time,
where t is that of its first update. Updates without a name and without a timestamp have none.
Derived sessions run in the order of arrival: an update goes on with the session of the one before
it (among those without a name and with a timestamp) if their timestamps are less than an hour
apart.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

__all__ = ["NAMED", "SESSION_GAP", "derived_sessions", "next_derived_session", "session_key_of"]

SESSION_GAP = timedelta(hours=1)
NAMED = "="
"""How the key of a named session begins."""


def session_key_of(session: str | None, source: str | None) -> str | None:
    """The key of a named session; None where neither name is given."""
    name = session if session is not None else source
    return None if name is None else NAMED + name


def next_derived_session(
    previous: tuple[datetime, str] | None, t_index: int, timestamp: datetime
) -> str:
    """The derived key of the update ``t_index``, after ``previous`` (timestamp, key)."""
    if previous is not None and abs(timestamp - previous[0]) < SESSION_GAP:
        return previous[1]
    return f"@{t_index}"


def derived_sessions(updates: Iterable[tuple[int, datetime]]) -> dict[int, str]:
    """t_index → derived key, for all (t_index, timestamp) ascending by t_index."""
    keys: dict[int, str] = {}
    previous: tuple[datetime, str] | None = None
    for t_index, timestamp in updates:
        key = next_derived_session(previous, t_index, timestamp)
        keys[t_index] = key
        previous = (timestamp, key)
    return keys
