"""The session of a knowledge update: its session, else its source, or what time says.

A session key is ``"="`` and a name, or ``"@"`` and the t of the first update of a session without
a name. An update belongs to the session that it names. Without one:

* **A document**, which has a source and is no message, belongs to the session of its source.
* **A message** has a source, a speaker and a timestamp. If the session of its source has statements
  already, or the latest message has the same source, the source is a thread: the message belongs to
  the session of its source, and closes the open session. Else it continues the open session, or
  begins the session of its source, which is then the open one.
* **An update with a timestamp and without a source** continues the open session, or begins one.
* Others belong to no session.

The open session is the one of the latest update that began or continued a session by time. An
update continues it if their timestamps are less than an hour apart. This follows the order of
arrival. A session key stays as it was written, also where the update before it is forgotten. Where
the update that the next one may continue is forgotten, the next one begins a session.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from recallm.model import SESSION_GAP, PreparedUpdate, Session, is_message, session_name_of
from recallm.stores.semantics.rows import NamespaceTotals, OpenSession, t_of
from recallm.stores.timestamps import from_microseconds

__all__ = [
    "close_session",
    "restored_with_session_key",
    "session_key_of",
    "session_of_row",
    "stored_session_key",
    "with_session_key",
]

_NAMED = "="


def session_key_of(session: str | None, source: str | None) -> str | None:
    """The key of a named session; None where neither name is given."""
    name = session_name_of(session, source)
    return None if name is None else _NAMED + name


def session_of_row(
    key: str, passages: int, first_t: int, t_index: int, began: int | None, ended: int | None
) -> Session:
    """A session from a row of a store, whose times are microseconds since 1970."""
    return Session(
        name=key.removeprefix(_NAMED) if key.startswith(_NAMED) else None,
        passages=passages,
        first_t=first_t,
        t_index=t_index,
        began=None if began is None else from_microseconds(began),
        ended=None if ended is None else from_microseconds(ended),
    )


def stored_session_key(update: PreparedUpdate) -> str | None:
    """The session key of a stored update; None where it belongs to no session."""
    return update.session_key or session_key_of(update.session, update.source)


def with_session_key(
    namespace: NamespaceTotals, update: PreparedUpdate, has_statements: Callable[[str], bool]
) -> PreparedUpdate:
    """The numbered ``update`` with its session key, if time decides it. ``namespace`` notes which
    session is open; ``has_statements`` says it of a session key."""
    said = update.timestamp
    if update.text is None or said is None or update.session is not None:
        return update
    own = session_key_of(None, update.source)
    latest = namespace.open_session
    if own is not None:
        if not is_message(update):
            return update
        if (latest and latest.source == update.source) or has_statements(own):
            namespace.open_session = None
            return update
    key = own or f"@{update.t_index}"
    if latest and abs(said - latest.timestamp) < SESSION_GAP:
        key = latest.key
    namespace.open_session = OpenSession(t_of(update), key, said, update.source)
    return update if key == own else replace(update, session_key=key)


def restored_with_session_key(namespace: NamespaceTotals, update: PreparedUpdate) -> PreparedUpdate:
    """An update of an archive with its session key. The archive says it of a message."""
    said, key = update.timestamp, update.session_key
    if key is None or said is None:
        if is_message(update):
            namespace.open_session = None
            return update
        return with_session_key(namespace, update, lambda _: False)
    namespace.open_session = OpenSession(t_of(update), key, said, update.source)
    return update


def close_session(namespace: NamespaceTotals, t_index: int) -> None:
    """Note that the update at this t is forgotten: no update continues its session."""
    if namespace.open_session and namespace.open_session.t_index == t_index:
        namespace.open_session = None
