"""The text of files and web pages that are remembered as one knowledge update each.

Plain text is UTF-8 (or UTF-16 with a byte order mark), or of the encoding that the caller names: a
guess would change letters in silence. A web page is of the encoding that it declares, and without
one of Windows-1252, as in browsers. Of a page the main text is taken, without menus and adverts.
"""

from __future__ import annotations

import codecs
import importlib.util
import re
from pathlib import Path
from urllib.parse import urlsplit

from recallm.errors import DocumentError, InvalidInputError, MissingDependencyError

__all__ = ["check_no_table", "file_text", "url_text"]

_PAGES = frozenset((".html", ".htm", ".xhtml"))
"""Endings of the names of files that hold web pages."""

_TABLES = frozenset((".csv", ".tsv", ".json", ".jsonl", ".ndjson"))
"""Endings of the names of files that hold rows, not prose."""

_MARKUP = re.compile(rb"\s*(?:<\?xml|<!doctype html|<html)", re.IGNORECASE)
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}

_LARGEST_PAGE = 20_000_000
"""Bytes of a web page that are read."""

_TIMEOUT = 30.0
"""Seconds that a web server may be silent."""


def file_text(path: Path, *, encoding: str | None = None) -> str:
    """The text of a file; of a web page (by its ending, or its first tag) its main text.

    Raises:
        DocumentError: the file cannot be read, is empty, is no text in its encoding, or is a page
            without text.
        InvalidInputError: it holds rows, or there is no such encoding.
        MissingDependencyError: it is a web page, and trafilatura is not installed.

    """
    check_no_table(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DocumentError(str(path), f"it cannot be read ({error.strerror})") from error
    is_page = path.suffix.lower() in _PAGES or _MARKUP.match(_plain_start(content)) is not None
    return _text_of(content, str(path), is_page=is_page, encoding=encoding)


def url_text(url: str) -> str:
    """The main text of the web page, or the text, that an http or https address gives.

    The address is fetched as it is: give none that comes from somebody whom you do not trust, in a
    network with servers that nobody else shall reach.

    Raises:
        DocumentError: the server does not answer with a text of at most 20 MB, or the page has no
            text.
        InvalidInputError: ``url`` is no such address.
        MissingDependencyError: trafilatura is not installed.

    """
    try:
        parts = urlsplit(url)
        is_address = parts.scheme.lower() in ("http", "https") and bool(parts.hostname)
    except ValueError:
        is_address = False
    if not is_address:
        raise InvalidInputError(
            f"{url!r} is no address of a web page; it begins with https:// or http://",
            argument="url",
        )
    _check_installed()
    import urllib3

    try:
        response = urllib3.PoolManager().request(
            "GET",
            url,
            headers={"User-Agent": "recallm", "Accept": "text/html, text/*;q=0.9"},
            preload_content=False,
            timeout=_TIMEOUT,
            retries=urllib3.Retry(connect=0, read=0, redirect=5),
        )
        with response:
            if response.status != 200:
                raise DocumentError(url, f"the server answers with status {response.status}")
            kind, _, options = response.headers.get("Content-Type", "text/html").partition(";")
            kind = kind.strip().lower()
            if not (kind.startswith("text/") or kind == "application/xhtml+xml"):
                raise DocumentError(url, f"it is {kind}, not a text")
            content = response.read(_LARGEST_PAGE + 1)
    except urllib3.exceptions.HTTPError as error:
        raise DocumentError(url, f"it cannot be read: {error}") from error
    if len(content) > _LARGEST_PAGE:
        raise DocumentError(url, f"it has more than {_LARGEST_PAGE // 10**6} MB")
    declared = re.search(r"charset\s*=\s*[\"']?([\w.:-]+)", options, re.IGNORECASE)
    encoding = declared[1] if declared and _is_encoding(declared[1]) else None
    is_page = "html" in kind or _MARKUP.match(_plain_start(content)) is not None
    return _text_of(content, url, is_page=is_page, encoding=encoding)


def check_no_table(path: Path) -> None:
    """Refuse a file of rows: its cells are no sentences.

    Raises:
        InvalidInputError: the name of the file ends like that of a table.

    """
    if path.suffix.lower() in _TABLES:
        raise InvalidInputError(
            f"{path} is no prose; write the rows of a table as facts with FactMemory.load, or "
            f"'recallm facts load {path.name} --key COLUMN'",
            argument="path",
        )


def _text_of(content: bytes, name: str, *, is_page: bool, encoding: str | None) -> str:
    text = _decoded(content, name, is_page=is_page, encoding=encoding)
    if is_page and text.strip():
        text = _main_text(text) or ""
    if not text.strip():
        raise DocumentError(name, "a page without text" if is_page else "it is empty")
    return text


def _decoded(content: bytes, name: str, *, is_page: bool, encoding: str | None) -> str:
    if encoding is None:
        marked = (it for mark, it in _MARKS.items() if content.startswith(mark))
        encoding = next(marked, None) or (_declared(content) if is_page else None)
    elif not _is_encoding(encoding):
        raise InvalidInputError(f"there is no encoding {encoding!r}", argument="encoding")
    try:
        return content.decode(encoding or "utf-8")
    except ValueError as error:
        if is_page:
            return content.decode("windows-1252", errors="replace")
        raise DocumentError(
            name, f"it is not text in {encoding or 'UTF-8'}; name its encoding"
        ) from error


def _declared(content: bytes) -> str | None:
    """The encoding that a page declares in its head, if there is such an encoding."""
    found = _CHARSET.search(content[:4096])
    name = found[1].decode("ascii", errors="replace") if found else ""
    return name if _is_encoding(name) else None


def _is_encoding(name: str) -> bool:
    try:
        return codecs.lookup(name)._is_text_encoding  # codecs from bytes to bytes are none
    except (LookupError, ValueError):
        return False


def _plain_start(content: bytes) -> bytes:
    """The first bytes as ASCII, whatever Unicode encoding they are in."""
    return content[:200].removeprefix(codecs.BOM_UTF8).replace(b"\0", b"").lstrip(b"\xff\xfe")


def _main_text(page: str) -> str | None:
    _check_installed()
    import trafilatura

    return trafilatura.extract(page, favor_recall=True, include_comments=False)


def _check_installed() -> None:
    if importlib.util.find_spec("trafilatura") is None:
        raise MissingDependencyError("trafilatura", extra="documents")
