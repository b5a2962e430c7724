"""What a web server answers: one GET and its redirects, bounded in time and in size.

Each host is resolved once. All its addresses are checked, and the connection goes to one of these
addresses: a name that means another computer when it is resolved again changes nothing.
"""

from __future__ import annotations

import gzip
import io
import socket
import ssl
import string
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException, HTTPResponse
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Any, NamedTuple
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from recallm.errors import DocumentError

_MOST_HOPS = 10
"""Addresses that lead to one page."""
_UNICAST = IPv6Network("2000::/3")
"""What IPv6 has for the computers of the internet."""
_TRANSLATED = IPv6Network("64:ff9b::/96")
"""IPv4 addresses in a network that has IPv6 alone."""


class Answer(NamedTuple):
    """A page: its media type ("text/html"), the charset that the server names, and its bytes."""

    kind: str
    charset: str | None
    content: bytes


def address_parts(url: str) -> SplitResult | None:
    """The parts of an http or https address; None where ``url`` is none."""
    try:
        parts = urlsplit(url)
        is_address = bool(parts.scheme in ("http", "https") and parts.hostname and parts.port != 0)
        (parts.hostname or "").encode("idna")
    except ValueError:
        return None
    return parts if is_address else None


def fetch(
    url: str, *, allow_private: bool, is_typed: bool, seconds: float, most_bytes: int
) -> Answer:
    """The page at ``url``, an http or https address. ``seconds`` bounds all of it; what is private
    is as in ``recallm.ground.documents.url_text``.

    Raises:
        DocumentError: no server answers in time with a page of at most ``most_bytes``, or a host is
            private.

    """
    deadline = time.monotonic() + seconds
    may_be_private = allow_private or is_typed
    address = url
    try:
        for _ in range(_MOST_HOPS):
            parts = address_parts(address)
            if parts is None:
                raise DocumentError(url, f"it leads to {address!r}, no address of a web page")
            ends = _resolved(parts)
            is_private = not all(_is_public(host) for _, host, _ in ends)
            if is_private and not may_be_private:
                raise DocumentError(
                    url,
                    f"{parts.hostname} is in a private network; allow_private=True fetches it, "
                    "if nobody else chooses the address",
                )
            with _connected(parts, ends, deadline) as connection:
                response = _asked(connection, parts, deadline)
                location = response.headers.get("Location")
                if response.status not in (301, 302, 303, 307, 308) or location is None:
                    return _answer(url, response, most_bytes)
            # A header's bytes come as Latin-1: these are the bytes, as the server wrote them.
            location = quote(location, encoding="latin-1", safe=string.punctuation)
            address = urljoin(address, location)
            is_same_host = urlsplit(address).hostname == parts.hostname
            may_be_private = allow_private or (is_private and is_same_host)
    except DocumentError:
        raise
    except TimeoutError as error:
        raise DocumentError(url, f"it takes more than {seconds:g} seconds") from error
    except (OSError, HTTPException, ValueError, EOFError, zlib.error) as error:
        raise DocumentError(url, f"it cannot be read: {error}") from error
    raise DocumentError(url, f"it leads on from address to address, {_MOST_HOPS} times")


def _resolved(parts: SplitResult) -> list[tuple[int, str, Any]]:
    """The family, the host and the socket address of each end that a name means."""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    found = socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
    return [(family, str(end[0]), end) for family, _, _, _, end in found]


def _is_public(host: str) -> bool:
    """Whether an IP address is one of the internet, whatever form it has."""
    address = ip_address(host)
    if isinstance(address, IPv6Address):
        if address in _TRANSLATED:
            address = IPv4Address(int(address) & 0xFFFFFFFF)
        elif address.ipv4_mapped is not None:
            address = address.ipv4_mapped
        elif address not in _UNICAST or address.sixtofour is not None:
            return False
    return address.is_global and not address.is_multicast


@contextmanager
def _connected(
    parts: SplitResult, ends: list[tuple[int, str, Any]], deadline: float
) -> Iterator[socket.socket]:
    """A connection to the first end that takes one; encrypted where the address asks for that."""
    problem = OSError("the name has no address")
    for family, _, end in ends:
        with socket.socket(family, socket.SOCK_STREAM) as connection:
            try:
                connection.settimeout(_left(deadline))
                connection.connect(end)
            except OSError as error:
                problem = error
                continue
            if parts.scheme == "https":
                connection.settimeout(_left(deadline))
                context = ssl.create_default_context()
                with context.wrap_socket(connection, server_hostname=parts.hostname) as encrypted:
                    yield encrypted
            else:
                yield connection
            return
    raise problem


def _asked(connection: socket.socket, parts: SplitResult, deadline: float) -> HTTPResponse:
    """The answer of a server as far as its headers."""
    host = (parts.hostname or "").encode("idna").decode()
    host = f"[{host}]" if ":" in host else host
    path = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
    lines = (
        f"GET {quote(path, safe=string.punctuation)} HTTP/1.1",
        f"Host: {host}" if parts.port is None else f"Host: {host}:{parts.port}",
        "User-Agent: recallm",
        "Accept: text/html, text/*;q=0.9",
        "Accept-Encoding: identity",
        "Connection: close",
    )
    connection.settimeout(_left(deadline))
    connection.sendall("".join(f"{line}\r\n" for line in (*lines, "")).encode("ascii"))
    timed: Any = _Timed(connection, deadline)
    response = HTTPResponse(timed, method="GET")
    response.begin()
    return response


def _answer(url: str, response: HTTPResponse, most_bytes: int) -> Answer:
    if response.status != 200:
        raise DocumentError(url, f"the server answers with status {response.status}")
    headers = response.headers
    kind = headers.get_content_type() if "Content-Type" in headers else "text/html"
    if not (kind.startswith("text/") or kind == "application/xhtml+xml"):
        raise DocumentError(url, f"it is {kind}, not a text")
    packing = headers.get("Content-Encoding", "identity").strip().lower()
    if packing not in ("identity", "gzip", "x-gzip"):
        raise DocumentError(url, f"it is packed as {packing}")
    body = response if packing == "identity" else gzip.GzipFile(fileobj=response)
    content = body.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise DocumentError(url, f"it has more than {most_bytes // 10**6} MB")
    if response.length:
        raise DocumentError(url, f"the server cuts it off, {response.length} bytes too early")
    return Answer(kind, headers.get_content_charset(), content)


class _Timed(io.RawIOBase):
    """A connection to read from until a deadline: a server that sends a byte now and then would
    never run into the timeout of a socket."""

    def __init__(self, connection: socket.socket, deadline: float) -> None:
        self._connection = connection
        self._deadline = deadline

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(self)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._connection.settimeout(_left(self._deadline))
        return self._connection.recv_into(buffer)


def _left(deadline: float) -> float:
    """The seconds until a deadline; a TimeoutError says that there are none."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left
