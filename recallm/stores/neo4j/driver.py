"""What a user gives to reach a server, checked: its address, credentials, bookmarks.

A bookmark of the driver stands for a transaction. A member of a cluster that has not got the
transaction yet waits for it before it answers. As a text, which one process hands to another,
bookmarks have spaces between them.
"""

from __future__ import annotations

from typing import Final

from neo4j import Auth, Bookmarks, Driver, GraphDatabase
from neo4j.api import BookmarkManager
from neo4j.exceptions import ConfigurationError

from recallm.errors import InvalidInputError

_LIVENESS_CHECK_AFTER: Final = 2.0
"""Seconds without use after which the driver tests a connection before it uses it."""


def open_driver(uri: str, auth: object, *, patience: float, timeout: float) -> Driver:
    """A driver. ``patience``: seconds to wait for a connection; ``timeout``: those for which it may
    try a transaction again.

    Raises:
        InvalidInputError: the URI or the credentials cannot be used.
    """
    credentials = _credentials(auth)
    try:
        return GraphDatabase.driver(
            uri,
            auth=credentials,
            connection_timeout=patience,
            connection_acquisition_timeout=patience,
            liveness_check_timeout=_LIVENESS_CHECK_AFTER,
            max_transaction_retry_time=timeout,
            user_agent="recallm",
        )
    except (ConfigurationError, ValueError):
        pass  # the driver's error repeats the URI
    raise InvalidInputError(
        "this cannot be used as a Neo4j URI: write neo4j://HOST:7687, or bolt://HOST:7687 for "
        "one server without routing, with +s after the scheme for TLS",
        argument="store",
    )


def _credentials(auth: object) -> tuple[str, str] | Auth | None:
    """A user name and a password, or what ``neo4j.Auth`` stands for. What is refused is not
    repeated, as the driver would do: it may be a password."""
    if auth is None or isinstance(auth, Auth):
        return auth
    if isinstance(auth, tuple | list) and [type(part) for part in auth] == [str, str]:
        user, password = auth
        return user, password
    raise InvalidInputError(
        "auth is a user name and a password, two texts: auth=(USER, PASSWORD)", argument="auth"
    )


def bookmark_manager(text: str | None) -> BookmarkManager:
    """What makes each transaction wait for the ones before it, and for the bookmark ``text``.

    Raises:
        InvalidInputError: ``text`` is no bookmark.
    """
    if text is None:
        return GraphDatabase.bookmark_manager()
    raw = text.split()
    if not raw or not text.isascii() or not text.replace(" ", "").isprintable():
        raise not_a_bookmark()
    return GraphDatabase.bookmark_manager(initial_bookmarks=Bookmarks.from_raw_values(raw))


def bookmark_text(manager: BookmarkManager) -> str | None:
    """The bookmarks of a manager as one text; None where there are none."""
    return " ".join(sorted(manager.get_bookmarks())) or None


def not_a_bookmark() -> InvalidInputError:
    """The error for a text that neither recallm nor the server can read."""
    return InvalidInputError(
        "this is no bookmark: give the text of memory.bookmark as it is", argument="bookmark"
    )
