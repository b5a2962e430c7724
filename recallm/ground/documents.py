"""The text of files and web pages that are remembered as one knowledge update each.

Plain text is UTF-8 (or UTF-16 with a byte order mark), or of the encoding that the caller names: a
guess would change letters in silence. A web page is of the encoding that it declares, if the web
has it, and without one of Windows-1252, as in browsers. Of a page the main text is taken, without
menus and adverts.
"""

from __future__ import annotations

import codecs
import importlib.util
import re
from pathlib import Path

from recallm.errors import DocumentError, InvalidInputError, MissingDependencyError
from recallm.ground.fetching import address_parts, fetch

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

_CHARSETS = {
    charset: codec
    for codec, labels in {
        "utf-8": "utf-8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8",
        "utf-16-le": "utf-16 utf-16-le",
        "utf-16-be": "utf-16-be",
        "cp866": "cp866",
        "cp874": "cp874 dos-874 windows-874 iso8859-11 tis-620",
        "cp1252": "cp1252 ascii iso8859-1",
        "cp1254": "cp1254 iso8859-9",
        **{f"cp{page}": f"cp{page}" for page in (1250, 1251, 1253, 1255, 1256, 1257, 1258)},
        **{f"iso8859-{part}": f"iso8859-{part}" for part in (2, 3, 4, 5, 10, 13, 14, 16)},
        "iso8859-6": "iso8859-6 csiso88596e csiso88596i iso-8859-6-e iso-8859-6-i",
        "iso8859-7": "iso8859-7 sun_eu_greek",
        "iso8859-8": "iso8859-8 csiso88598e csiso88598i iso-8859-8-e iso-8859-8-i logical visual",
        "iso8859-15": "iso8859-15 csisolatin9",
        "koi8-r": "koi8-r koi koi8",
        "koi8-u": "koi8-u koi8-ru",
        "mac-roman": "mac-roman mac csmacintosh",
        "mac-cyrillic": "mac-cyrillic mac-ukrainian",
        "gb18030": "gb18030 gb2312 gbk csgb2312 gb_2312 gb_2312-80",
        "big5hkscs": "big5hkscs big5 cn-big5",
        "euc_jp": "euc_jp cseucpkdfmtjapanese",
        "iso2022_jp": "iso2022_jp",
        "cp932": "cp932 shift_jis windows-31j",
        "cp949": "cp949 euc_kr cseuckr csksc56011987 iso-ir-149 ks_c_5601-1989 ksc_5601 "
        "windows-949",
    }.items()
    for charset in labels.split()
}
"""The charsets of the web, by the name of Python's codec or by a label that Python does not know,
and the codec that browsers read each with. Other codecs of Python obey the page ("unicode_escape"),
or take time that grows with the square of its length ("punycode")."""

_LARGEST_PAGE = 20_000_000
"""Bytes of a web page that are read."""

_MOST_ELEMENTS = 30_000
_MOST_ATTRIBUTES = 200_000
_MOST_OF_ONE_TAG = 1_000
"""Bounds of a page's markup: to read more takes minutes, and gigabytes."""
_MARK = re.compile(r"<!--(?:-?>|.*?(?:--!?>|\Z))|<([a-z][^\s/>]*)", re.IGNORECASE | re.DOTALL)
"""A comment, or the beginning of a tag with its name."""
_ATTRIBUTE = re.compile(
    r"""[\s/]*[^\s/>][^\s/>=]*(?:\s*=\s*(?:"[^"]*(?:"|\Z)|'[^']*(?:'|\Z)|[^\s>]*))?"""
)

_END_OF_SCRIPT = re.compile("</(?:script|style)", re.IGNORECASE)

_TIMEOUT = 60.0
"""Seconds that a web page may take, with all its redirects."""


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


def url_text(url: str, *, allow_private: bool = False, is_typed: bool = False) -> str:
    """The main text of the web page, or the text, that an http or https address gives.

    A host in a private network, or on this computer, is refused, also behind a redirect, unless
    ``allow_private``. With ``is_typed`` a person typed the address: it may be private, and so may
    be what a private address leads to.

    Raises:
        DocumentError: the server does not answer within 60 seconds with a text of at most 20 MB,
            a host is private, or the page has no text, or too much markup.
        InvalidInputError: ``url`` is no such address.
        MissingDependencyError: trafilatura is not installed.

    """
    if address_parts(url) is None:
        raise InvalidInputError(
            f"{url!r} is no address of a web page; it begins with https:// or http://",
            argument="url",
        )
    _check_installed()
    answer = fetch(
        url,
        allow_private=allow_private,
        is_typed=is_typed,
        seconds=_TIMEOUT,
        most_bytes=_LARGEST_PAGE,
    )
    start = _plain_start(answer.content)
    is_page = "html" in answer.kind or _MARKUP.match(start) is not None
    return _text_of(answer.content, url, is_page=is_page, declared=answer.charset)


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


def _text_of(
    content: bytes,
    name: str,
    *,
    is_page: bool,
    encoding: str | None = None,
    declared: str | None = None,
) -> str:
    """``encoding``: what the caller names. ``declared``: the charset that a server names."""
    text = _decoded(content, name, is_page=is_page, encoding=encoding, declared=declared)
    if is_page and text.strip():
        _check_installed()
        _check_markup(text, name)
        import trafilatura

        text = trafilatura.extract(text, favor_recall=True, include_comments=False) or ""
    if not text.strip():
        raise DocumentError(name, "a page without text" if is_page else "it is empty")
    return text


def _decoded(
    content: bytes, name: str, *, is_page: bool, encoding: str | None, declared: str | None
) -> str:
    if encoding is None:
        marked = (codec for mark, codec in _MARKS.items() if content.startswith(mark))
        encoding = next(marked, None) or _web_codec(declared or "")
        if encoding is None and is_page:
            encoding = _declared_in(content)
    try:
        is_encoding = codecs.lookup(encoding or "utf-8")._is_text_encoding
    except (LookupError, ValueError):
        is_encoding = False
    if not is_encoding:
        raise InvalidInputError(f"there is no encoding {encoding!r}", argument="encoding")
    try:
        return content.decode(encoding or "utf-8")
    except ValueError as error:
        if is_page:
            return content.decode("windows-1252", errors="replace")
        problem = f"it is not text in {encoding or 'UTF-8'}; name its encoding"
        if content.startswith(b"%PDF"):
            problem = "it is a PDF; give its text"
        raise DocumentError(name, problem) from error


def _declared_in(content: bytes) -> str | None:
    """The codec of the charset that a page declares in its head. A page that declares UTF-16 in the
    letters of ASCII is UTF-8."""
    found = _CHARSET.search(content[:4096])
    codec = _web_codec(found[1].decode("ascii", errors="replace")) if found else None
    return "utf-8" if codec in ("utf-16-le", "utf-16-be") else codec


def _web_codec(label: str) -> str | None:
    """Python's codec for a charset of the web."""
    label = re.sub(r"^(?:x-)+", "", label.strip().lower())
    label = re.sub(r"^iso8859(?=\d)", "iso8859-", label)
    try:
        return _CHARSETS.get(label) or _CHARSETS.get(codecs.lookup(label).name)
    except (LookupError, ValueError):
        return None


def _plain_start(content: bytes) -> bytes:
    """The first bytes as ASCII, whatever Unicode encoding they are in."""
    return content[:200].removeprefix(codecs.BOM_UTF8).replace(b"\0", b"").lstrip(b"\xff\xfe")


def _check_markup(page: str, name: str) -> None:
    """Refuse a page whose markup takes too long to read: parsers compare each attribute of a tag
    with all others."""
    elements = attributes = position = 0
    while mark := _MARK.search(page, position):
        position = mark.end()
        if mark[1] is None:
            continue
        elements += 1
        most = min(_MOST_OF_ONE_TAG, _MOST_ATTRIBUTES - attributes)
        own = 0
        while own <= most and (attribute := _ATTRIBUTE.match(page, position)):
            position = attribute.end()
            own += 1
        attributes += own
        if elements > _MOST_ELEMENTS or own > most:
            raise DocumentError(
                name,
                f"its markup is too large; a page has at most {_MOST_ELEMENTS} elements, and a "
                f"tag {_MOST_OF_ONE_TAG} attributes",
            )
        if mark[1].lower() in ("script", "style"):  # what looks like a tag in there is none
            end = _END_OF_SCRIPT.search(page, position)
            position = len(page) if end is None else end.start()


def _check_installed() -> None:
    if importlib.util.find_spec("trafilatura") is None:
        raise MissingDependencyError("trafilatura", extra="documents")
