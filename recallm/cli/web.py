"""The main text of a web page, by ``trafilatura`` (extra ``web``)."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from urllib.parse import urlsplit

from recallm import InvalidInputError, MissingDependencyError, RecallMError

__all__ = ["PageError", "page_text"]

_TIMEOUT = 30
"""Seconds for each answer of a server."""

_DEADLINE = 60.0
"""Seconds for a page, with redirects and retries. ``_TIMEOUT`` alone does not bound a server that
sends a byte now and then."""

_LARGEST = 20_000_000
"""Bytes of a page, unpacked."""


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
        PageError: the page cannot be fetched within 60 seconds and 20 MB, or no text was found in
            it.
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
        import trafilatura  # noqa: F401 - imported here, so that the deadline does not count it
    except ImportError as error:
        raise MissingDependencyError("trafilatura", extra="web") from error
    page: Future[str] = Future()

    def fetch() -> None:
        try:
            page.set_result(_fetched(url))
        except Exception as error:  # noqa: BLE001 - raised where it is waited for
            page.set_exception(error)

    # Only a thread bounds a request to a server that sends a byte now and then, or never ends its
    # headers. It is a daemon: it ends with the request, or with the process.
    threading.Thread(target=fetch, name="recallm-fetch", daemon=True).start()
    try:
        return page.result(_DEADLINE)
    except RecallMError:
        raise
    except TimeoutError as error:
        raise PageError(
            f"{url} cannot be fetched: it took more than {_DEADLINE:.0f} seconds", url=url
        ) from error
    except Exception as error:
        raise PageError(
            f"{url} cannot be read: {type(error).__name__}: {error}", url=url
        ) from error


def _fetched(url: str) -> str:
    import trafilatura
    from trafilatura.settings import use_config

    config = use_config()
    for option, value in {
        "DOWNLOAD_TIMEOUT": str(_TIMEOUT),
        "MAX_FILE_SIZE": str(_LARGEST),
        # A page whose certificate is wrong is not the page that was asked for.
        "INSECURE_SSL_FALLBACK": "off",
        # The user chose the page; a page of the user's own network is allowed.
        "SSRF_PROTECTION": "off",
    }.items():
        config.set("DEFAULT", option, value)
    response = trafilatura.fetch_response(url, config=config)
    if response is None:
        raise PageError(
            f"{url} cannot be fetched, or is larger than {_LARGEST // 10**6} MB; is the address "
            "right?",
            url=url,
        )
    if response.status != 200:
        raise PageError(f"{url} cannot be fetched: HTTP status {response.status}", url=url)
    text = trafilatura.extract(response.data or b"", url=url, include_comments=False, config=config)
    if not text:
        raise PageError(f"no text was found in {url}", url=url)
    return text
