"""What a text that names a store means: the URI of a server, or the path of a file.

Any part of the text may be a password, so that no error repeats the text.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import SplitResult, urlsplit

from recallm.errors import InvalidInputError

TARGETS: Final = "a file path, a neo4j:// or bolt:// URI, a neo4j Driver, a GraphStore, or None"
"""What can be named as a store."""

_SERVER = re.compile(r"(neo4j|bolt)(\+s|\+ssc)?://", re.IGNORECASE)
_FILE = re.compile(r":memory:\Z|[^:]*([/\\]|\Z)|[A-Za-z]:(?!//)")
"""A path has no colon before its first slash, except after the drive letter of Windows."""


def is_server(target: str) -> bool:
    """Whether what a user wrote is the URI of a server; else it is the path of a file.

    Raises:
        InvalidInputError: it is neither: a URL of another scheme, a host and port without a scheme,
            or a bare file name with a colon. The text is not repeated.
    """
    text = target.strip()
    if _SERVER.match(text):
        return True
    if _FILE.match(text):
        return False
    raise InvalidInputError(
        "this is neither the URI of a server, as in neo4j://HOST:7687 or bolt://HOST:7687, nor a "
        f"path: write ./NAME for a file with a colon in its name; give {TARGETS}",
        argument="store",
    )


def checked_uri(uri: str) -> SplitResult:
    """The parts of a server's URI, which has no user name and no password.

    Raises:
        InvalidInputError: it has, or names no host or no port. Its text is not repeated.
    """
    if "@" in uri:
        raise InvalidInputError(
            "a URI is shown in logs and errors, so that no user name or password may be in it: "
            'give them as auth=("neo4j", "…")',
            argument="store",
        )
    try:
        split = urlsplit(uri.strip())
        if split.hostname and split.port != 0:
            return split
    except ValueError:
        pass  # its text repeats what stands there for a port
    raise InvalidInputError(
        "a Neo4j URI names a host and at most a port, a number from 1 to 65535, as in "
        "neo4j://localhost:7687",
        argument="store",
    )
