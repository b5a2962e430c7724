"""Bookmarks as texts, which one process hands to another.

A bookmark of the driver stands for a transaction. A member of a cluster that has not got the
transaction yet waits for it before it answers. The text holds the driver's bookmarks, with spaces
between them.
"""

from __future__ import annotations

from neo4j import Bookmarks, GraphDatabase
from neo4j.api import BookmarkManager

from recallm.errors import InvalidInputError

__all__ = ["bookmark_manager", "bookmark_text", "not_a_bookmark"]


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
