"""The session of a knowledge update: its session, else its source, else derived from time.

A session key is ``"=" + name`` for a named session, and ``"@" + t`` for one derived from time,
where t is that of its first update. An update without a name and without a timestamp has none.
Derived sessions follow the order of arrival: an update continues the session of the update before
it (of those without a name and with a timestamp) if their timestamps are less than an hour apart.
A session key stays as it was written, also where the update before it is forgotten.
"""

from __future__ import annotations

from datetime import datetime, timedelta

__all__ = ["NAMED", "SESSION_GAP", "next_derived_session", "session_key_of"]

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
