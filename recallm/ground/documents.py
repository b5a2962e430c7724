"""The text of files that are remembered as one knowledge update each.

It is UTF-8, or of the encoding that the caller names: a guess would change letters in silence.
"""

from __future__ import annotations

from pathlib import Path

from recallm.errors import DocumentError, InvalidInputError

_TABLES = frozenset((".csv", ".tsv", ".json", ".jsonl", ".ndjson"))
"""Endings of the names of files that hold rows, not prose."""

_PAGES = frozenset((".html", ".htm", ".xhtml"))
"""Endings of the names of files that hold web pages."""


def file_text(path: Path, *, encoding: str | None = None) -> str:
    """The text of a file.

    Raises:
        DocumentError: the file cannot be read, is empty, or is no text in its encoding.
        InvalidInputError: it holds rows or a web page, or there is no such encoding.

    """
    check_prose(path)
    try:
        with path.open(encoding=encoding or "utf-8-sig", newline="") as stream:
            text = stream.read().removeprefix("\ufeff")
    except UnicodeError as error:
        problem = f"it is not text in {encoding or 'UTF-8'}; name its encoding"
        if getattr(error, "object", b"").startswith(b"%PDF"):
            problem = "it is a PDF; give its text"
        raise DocumentError(str(path), problem) from error
    except OSError as error:
        if path.parts[:1] in (("http:",), ("https:",)):
            raise _no_page(path) from None
        raise DocumentError(str(path), f"it cannot be read ({error.strerror})") from error
    except (LookupError, ValueError):
        raise InvalidInputError(f"there is no encoding {encoding!r}", argument="encoding") from None
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
