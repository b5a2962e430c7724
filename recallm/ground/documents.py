"""The text of files that are remembered as one knowledge update each.

It is UTF-8 (or UTF-16 with a byte order mark), or of the encoding that the caller names: a guess
would change letters in silence.
"""

from __future__ import annotations

import codecs
from pathlib import Path

from recallm.errors import DocumentError, InvalidInputError

_TABLES = frozenset((".csv", ".tsv", ".json", ".jsonl", ".ndjson"))
"""Endings of the names of files that hold rows, not prose."""

_PAGES = frozenset((".html", ".htm", ".xhtml"))
"""Endings of the names of files that hold web pages."""

_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def file_text(path: Path, *, encoding: str | None = None) -> str:
    """The text of a file.

    Raises:
        DocumentError: the file cannot be read, is empty, or is no text in its encoding.
        InvalidInputError: it holds rows or a web page, or there is no such encoding.

    """
    check_prose(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        if path.parts[:1] in (("http:",), ("https:",)):
            raise _no_page(path) from None
        raise DocumentError(str(path), f"it cannot be read ({error.strerror})") from error
    text = _decoded(content, str(path), encoding).removeprefix("\ufeff")
    if text.lstrip()[:20].lower().startswith(("<!doctype html", "<html", "<?xml")):
        raise _no_page(path)
    if not text.strip():
        raise DocumentError(str(path), "it is empty")
    return text


def check_prose(path: Path) -> None:
    """Refuse a file of rows, whose cells are no sentences, and a web page, by the file's name.

    Raises:
        InvalidInputError: the name of the file ends like that of a table or a page.

    """
    ending = path.suffix.lower()
    if ending in _TABLES:
        raise InvalidInputError(
            f"{path} is no prose; write the rows of a table as facts: "
            f"FactMemory(memory).load({path.name!r}, key=…)",
            argument="path",
        )
    if ending in _PAGES:
        raise _no_page(path)


def _no_page(path: Path) -> InvalidInputError:
    return InvalidInputError(
        f"{path} is a web page, whose menus and markup are no prose; take its text first, with a "
        "loader of LangChain or LlamaIndex or with trafilatura.extract(html), and give the text "
        "to update",
        argument="path",
    )


def _decoded(content: bytes, name: str, encoding: str | None) -> str:
    if encoding is None:
        marked = (codec for mark, codec in _MARKS.items() if content.startswith(mark))
        encoding = next(marked, "UTF-8")
    try:
        is_encoding = codecs.lookup(encoding)._is_text_encoding
    except (LookupError, ValueError):
        is_encoding = False
    if not is_encoding:
        raise InvalidInputError(f"there is no encoding {encoding!r}", argument="encoding")
    try:
        return content.decode(encoding)
    except ValueError as error:
        problem = f"it is not text in {encoding}; name its encoding"
        if content.startswith(b"%PDF"):
            problem = "it is a PDF; give its text"
        raise DocumentError(name, problem) from error
