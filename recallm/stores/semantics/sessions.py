"""The session of a knowledge update: its session, else its source, else derived from time.

A session key is ``"="`` and the name for a named session, and ``"@"`` and a t for one derived from
time, where t is that of its first update. An update without a name and without a timestamp has no
session. Derived sessions follow the order of arrival: an update continues the session of the update
before it (of those without a name and with a timestamp) if their timestamps are less than an hour
apart. A session key stays as it was written, also where the update before it is forgotten. Where
the update that the next one may continue is forgotten, the next one begins a session.
"""

from __future__ import annotations

from dataclasses import replace

from recallm.model import SESSION_GAP, PreparedUpdate, session_name_of
from recallm.stores.semantics.rows import NamespaceTotals, OpenSession, t_of

__all__ = ["close_session", "session_key_of", "stored_session_key", "with_session_key"]

_NAMED = "="


def session_key_of(session: str | None, source: str | None) -> str | None:
    """The key of a named session; None where neither name is given."""
    name = session_name_of(session, source)
    return None if name is None else _NAMED + name


def stored_session_key(update: PreparedUpdate) -> str | None:
    """The session key of a stored update; None where it belongs to no session."""
    return session_key_of(update.session, update.source) or update.session_key


def with_session_key(namespace: NamespaceTotals, update: PreparedUpdate) -> PreparedUpdate:
    """The numbered ``update`` with its session key, if that is derived from time; an update of an
    archive may have it already. ``namespace`` notes the session as the open one."""
    said, key = update.timestamp, update.session_key
    is_named = session_key_of(update.session, update.source) is not None
    if update.text is None or said is None or is_named:
        return update
    open_session = namespace.open_session
    if key is None and open_session and abs(said - open_session.timestamp) < SESSION_GAP:
        key = open_session.key
    key = key or f"@{update.t_index}"
    namespace.open_session = OpenSession(t_of(update), key, said)
    return replace(update, session_key=key)


def close_session(namespace: NamespaceTotals, t_index: int) -> None:
    """Note that the update at this t is forgotten: no update continues its session."""
    if namespace.open_session and namespace.open_session.t_index == t_index:
        namespace.open_session = None
