"""The main text of a web page, by ``trafilatura`` (extra ``web``)."""

from __future__ import annotations

from urllib.parse import urlsplit

from recallm import InvalidInputError, MissingDependencyError, RecallMError

__all__ = ["PageError", "page_text"]

_TIMEOUT = 30
"""Seconds for each answer of a server."""


class PageError(RecallMError):
    """A web page cannot be fetched, or holds no text. ``url`` is its address."""

    def __init__(self, message: str, *, url: str) -> None:
        super().__init__(message)
        self.url = url


def page_text(url: str) -> str:
    """The main text of the page at ``url``, a paragraph a line; menus and comments left out.

    Raises:
        InvalidInputError: not an ``http://`` or ``https://`` address.
        MissingDependencyError: ``trafilatura`` is not installed.
        PageError: the page cannot be fetched, or no text was found in it.
    """
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        usable = False
    if not usable:
        raise InvalidInputError(
            f"{url!r} is not the address of a web page: it must begin with http:// or https://",
            argument="url",
        )
    try:
        import trafilatura
        from trafilatura.settings import use_config
    except ImportError as error:
        raise MissingDependencyError("trafilatura", extra="web") from error
    config = use_config()
    for option, value in {
        "DOWNLOAD_TIMEOUT": str(_TIMEOUT),
        # A page whose certificate is wrong is not the page that was asked for.
        "INSECURE_SSL_FALLBACK": "off",
        # The user names the page; one of the own network is as good as another.
        "SSRF_PROTECTION": "off",
    }.items():
        config.set("DEFAULT", option, value)
    response = trafilatura.fetch_response(url, config=config)
    if response is None:
        raise PageError(f"{url} cannot be fetched; is the address right?", url=url)
    if response.status != 200:
        raise PageError(f"{url} cannot be fetched: HTTP status {response.status}", url=url)
    text = trafilatura.extract(response.data or b"", url=url, include_comments=False, config=config)
    if not text:
        raise PageError(f"no text was found in {url}", url=url)
    return text
