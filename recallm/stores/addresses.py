"""What a text that names a store means: the URI of a server, or the path of a file.

Any part of the text may be a password, so that no error repeats the text.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import SplitResult, urlsplit

from recallm.errors import InvalidInputError

__all__ = ["TARGETS", "checked_uri", "is_server"]

TARGETS: Final = "a file path, a neo4j:// or bolt:// URI, a neo4j Driver, a GraphStore, or None"
"""What can be named as a store."""

_NEO4J_SCHEMES = frozenset({"neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc"})
_WRITE = "write neo4j://HOST:7687 or bolt://HOST:7687 for a server, ./NAME for a file of that name"
# A drive letter of Windows is one letter: no scheme and no host is taken for that.
_HAS_SCHEME = re.compile(r"(?P<scheme>[^/\\]*):/(?P<second>/?)")
_IS_DRIVE = re.compile(r"[A-Za-z]:(?!//)")
_NEO4J_WITHOUT_SLASHES = re.compile(r"(neo4j|bolt)(\+s|\+ssc)?:", re.IGNORECASE)
_HOST_AND_PORT = re.compile(r"(\[[^/\\]*\]|[^:/\\\s]*):\d{0,5}/?(\?.*)?\Z")
_HAS_PASSWORD = re.compile(r"[^/\\]*:[^/\\]*@")


def is_server(target: str) -> bool:
    """Whether what a user wrote is the URI of a server; else it is the path of a file.

    What is wrong is said without the text itself, in which a password may stand.

    Raises:
        InvalidInputError: it is neither: a URL of another scheme, or an address without a scheme.
    """
    text = target.strip()
    if text == ":memory:" or _IS_DRIVE.match(text):
        return False
    if text.startswith("file:"):
        raise InvalidInputError(
            "a file: URI is no store; give the plain path of the file", argument="store"
        )
    if found := _HAS_SCHEME.match(text):
        scheme = found["scheme"].lower()
        if scheme in _NEO4J_SCHEMES and found["second"]:
            return True
        if scheme in _NEO4J_SCHEMES:
            raise InvalidInputError(
                f"two slashes follow the scheme of a server; {_WRITE}", argument="store"
            )
        named = f"the scheme {scheme}://" if scheme.replace("+", "").isalnum() else "such a scheme"
        raise InvalidInputError(f"no store has {named}; give {TARGETS}", argument="store")
    for pattern, found_out in (
        (_NEO4J_WITHOUT_SLASHES, "two slashes follow the scheme of a server"),
        (_HOST_AND_PORT, "that looks like the host and port of a server without its scheme"),
        (_HAS_PASSWORD, "that looks like a user name, a password and a server"),
    ):
        if pattern.match(text):
            raise InvalidInputError(f"{found_out}; {_WRITE}", argument="store")
    return False


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
