"""Session keys inside a write: what ``recallm.model.sessions`` decides, kept in the rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from recallm.model import OpenSession, PreparedUpdate, decide_session, is_message, session_key_of
from recallm.stores.semantics.rows import NamespaceTotals, t_of


def stored_session_key(update: PreparedUpdate) -> str | None:
    """The session key of a stored update; None where it belongs to no session."""
    return update.session_key or session_key_of(update.session, update.source)


def with_session_key(
    namespace: NamespaceTotals, update: PreparedUpdate, has_statements: Callable[[str], bool]
) -> PreparedUpdate:
    """The numbered ``update`` with its session key, where that is not the one of its names.
    ``namespace`` notes which session is open; ``has_statements`` says it of a session key."""
    decided = decide_session(update, t_of(update), namespace.open_session, has_statements)
    namespace.open_session = decided.open_session
    if decided.key == session_key_of(update.session, update.source):
        return update
    return replace(update, session_key=decided.key)


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
