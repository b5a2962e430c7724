"""The routes of the viewer, and who may ask for them."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeAlias

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recallm.errors import InvalidInputError, RecallMError, StoreError
from recallm.memory import RecallM
from recallm.model import Moment
from recallm.viewer.views import MemoryViews

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""Every answer has these, errors too."""

_HOSTS = ("127.0.0.1", "localhost")
"""Names of this server. A page of another name that leads here (DNS rebinding) is refused."""
_TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
"""Of the page's files. The system's own table may call a script plain text."""
_PAGE = "index.html"
_NEIGHBOURS = 24
_MOST_NEIGHBOURS = 120
_MOST_STATEMENTS = 50
_LARGEST_NUMBER = 2**53 - 1
_DIGITS = 16
"""Of that number, which JavaScript still knows exactly."""
_LONGEST_BODY = 16_384
"""Bytes that a request may send."""

Answer: TypeAlias = Callable[[Request], Response]


def application(memory: RecallM, *, token: str, may_forget: bool = False) -> ASGIApp:
    """The viewer of ``memory``; whoever has ``token`` may read it, and, with ``may_forget``,
    forget."""
    views = MemoryViews(memory)
    static = _static()

    def page(request: Request) -> Response:
        _check_token(request.query_params.get("token"), token)
        return static[_PAGE]

    def file(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in static or name == _PAGE:
            raise HTTPException(404, "there is no such file")
        return static[name]

    async def forget(request: Request) -> Response:
        asked = await _body(request)
        kind, id = asked.get("kind"), asked.get("id")
        if kind not in ("statement", "passage") or not isinstance(id, str):
            raise HTTPException(400, "say what to forget: a kind, 'statement' or 'passage', and id")
        return JSONResponse(await run_in_threadpool(views.forget, kind, id))

    reads: dict[str, Callable[[Request], Any]] = {
        "overview": lambda _: {**views.overview(), "may_forget": may_forget},
        "latest": lambda asked: views.latest(_as_of(asked)),
        "concepts": lambda asked: views.concepts(
            asked.query_params.get("text", "").strip(), _number(asked, "skip") or 0, _as_of(asked)
        ),
        "graph": lambda asked: views.graph(
            _given(asked, "concept"),
            _number(asked, "limit", least=1, most=_MOST_NEIGHBOURS) or _NEIGHBOURS,
            _as_of(asked),
        ),
        "timeline": lambda asked: views.timeline(
            _given(asked, "concept"), _number(asked, "skip") or 0, _as_of(asked)
        ),
        "recall": lambda asked: views.recall(
            _given(asked, "question"),
            _number(asked, "limit", least=1, most=_MOST_STATEMENTS),
            _as_of(asked),
        ),
        "passage": lambda asked: views.passage(_given(asked, "id")),
    }
    # Starlette runs functions that are not coroutines in worker threads.
    routes = [
        Route("/", page),
        Route("/static/{name}", file),
        *(Route(f"/api/{name}", _answering(read)) for name, read in reads.items()),
    ]
    if may_forget:
        routes.append(Route("/api/forget", forget, methods=["POST"]))
    app = Starlette(
        routes=routes,
        middleware=[
            Middleware(TrustedHostMiddleware, allowed_hosts=_HOSTS, www_redirect=False),
            Middleware(_TokenForApi, token=token),
        ],
        exception_handlers={HTTPException: _refused, RecallMError: _failed, Exception: _broken},
    )
    return _WithHeaders(app)


# Who may ask.


class _TokenForApi:
    """Asks for the token wherever the memory is read or written."""

    def __init__(self, app: ASGIApp, *, token: str) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith("/api"):
            given = Request(scope).headers.get("authorization", "")
            try:
                _check_token(given.removeprefix("Bearer "), self._token)
            except HTTPException as error:
                await _problem(error.detail, error.status_code)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _check_token(given: str | None, token: str) -> None:
    if not secrets.compare_digest((given or "").encode(), token.encode()):
        raise HTTPException(403, "open the address that 'recallm view' printed: it has the token")


class _WithHeaders:
    """Adds ``HEADERS`` to every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await self._app(scope, receive, with_headers)


# What was asked.


def _given(request: Request, name: str) -> str:
    value = request.query_params.get(name, "")
    if not value.strip():
        raise HTTPException(400, f"{name} is missing")
    return value


def _as_of(request: Request) -> Moment | None:
    """A t_index, or a day or a time in ISO 8601."""
    value = request.query_params.get("as_of", "")
    return value if "-" in value else _number(request, "as_of")


def _number(
    request: Request, name: str, *, least: int = 0, most: int = _LARGEST_NUMBER
) -> int | None:
    """The number that was given, moved to its bounds; None where none was."""
    value = request.query_params.get(name)
    if value is None:
        return None
    if not (value.isascii() and value.isdecimal() and len(value) <= _DIGITS):
        raise HTTPException(400, f"{name} must be a whole number")
    return max(least, min(int(value), most))


async def _body(request: Request) -> dict[str, Any]:
    """The JSON object that a request sends."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > _LONGEST_BODY:
            raise HTTPException(413, "the request is too long")
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise HTTPException(400, "the request is no JSON object")
    return value


# Answers.


def _answering(read: Callable[[Request], Any]) -> Answer:
    def answer(request: Request) -> Response:
        found = read(request)
        if found is None:
            raise HTTPException(404, "the memory has no such passage")
        return JSONResponse(found)

    return answer


def _problem(message: str, status: int) -> JSONResponse:
    return JSONResponse({"error": message}, status_code=status)


def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - as the table of handlers says
    if request.url.path.startswith("/api"):
        return _problem(error.detail, error.status_code)
    return PlainTextResponse(f"{error.detail}\n", status_code=error.status_code)


def _failed(_: Request, error: Exception) -> Response:
    if isinstance(error, InvalidInputError):
        return _problem(str(error), 400)
    return _problem(str(error), 503 if isinstance(error, StoreError) else 500)


def _broken(_: Request, error: Exception) -> Response:
    return _problem(f"the viewer failed: {type(error).__name__}; the terminal says more", 500)


# The page's files.


def _static() -> dict[str, Response]:
    """Each file of the page by its name, as an answer. All are read once: no path of a request ever
    reaches the file system."""
    found = (files("recallm.viewer") / "static").iterdir()
    return {
        each.name: Response(each.read_bytes(), media_type=_TYPES[Path(each.name).suffix])
        for each in found
        if Path(each.name).suffix in _TYPES
    }
