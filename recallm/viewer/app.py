"""The server of the viewer, on the loopback address: its routes, and who may ask for them."""

from __future__ import annotations

import inspect
import mimetypes
import secrets
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import uvicorn
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from recallm.errors import InvalidInputError, RecallMError, StoreError
from recallm.memory import RecallM
from recallm.viewer.views import VIEWS, MemoryViews

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

_HOST = "127.0.0.1"
_HOSTS = (_HOST, "localhost")
"""Names of this server. A page of another name that leads here (DNS rebinding) is refused."""
_SECONDS_TO_END = 3
"""How long answers that are under way may take when the server ends."""
_HERE = Path(__file__).parent


class Viewer:
    """Serves one namespace of a memory, which the caller closes.

    ``port`` 0 takes a free one. ``url`` holds the token; it answers as soon as ``run`` is called.

    Raises:
        InvalidInputError: the port cannot be used.

    """

    def __init__(self, memory: RecallM, *, port: int = 0) -> None:
        try:
            self._socket = socket.create_server((_HOST, port))
        except (OSError, OverflowError) as error:
            raise InvalidInputError(
                f"port {port} cannot be used: {error}; without --port a free one is taken",
                argument="port",
            ) from error
        token = secrets.token_urlsafe(32)
        self.url = f"http://{_HOST}:{self._socket.getsockname()[1]}/?token={token}"
        config = uvicorn.Config(
            application(memory, token=token),
            access_log=False,  # addresses hold the token, questions are private
            log_config=None,
            lifespan="off",
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=_SECONDS_TO_END,
            ws="none",
        )
        self._server = uvicorn.Server(config)

    def run(self) -> None:
        """Serve until ``stop``; an interrupt raises KeyboardInterrupt when the answers that are
        under way are given."""
        with self._socket:
            self._server.run(sockets=[self._socket])

    def stop(self) -> None:
        """End ``run``, from any thread."""
        self._server.should_exit = True


def application(memory: RecallM, *, token: str) -> ASGIApp:
    """The viewer of ``memory``; whoever has ``token`` may read it."""
    views = MemoryViews(memory)
    mimetypes.add_type("text/javascript", ".js")  # some systems call a script plain text

    def page(request: Request) -> Response:
        _check_token(request.query_params.get("token"), token)
        return FileResponse(_HERE / "page.html")

    # Starlette runs functions that are not coroutines in worker threads.
    routes: list[BaseRoute] = [
        Route("/", page),
        Mount("/static", StaticFiles(directory=_HERE / "static")),
        *(Route(f"/api/{name}", _answering(getattr(views, name))) for name in VIEWS),
    ]
    return Starlette(
        routes=routes,
        middleware=[
            _guarded(token),
            Middleware(TrustedHostMiddleware, allowed_hosts=_HOSTS, www_redirect=False),
        ],
        exception_handlers=dict.fromkeys(
            (HTTPException, ValidationError, RecallMError, Exception), _failed
        ),
    )


def _guarded(token: str) -> Middleware:
    """What asks for the token wherever the memory is read, and adds ``HEADERS`` to every answer."""

    async def answer(request: Request, call_next: RequestResponseEndpoint) -> Response:
        try:
            if request.url.path.startswith("/api"):
                given = request.headers.get("authorization", "")
                _check_token(given.removeprefix("Bearer "), token)
        except HTTPException as error:
            response = _failed(request, error)
        else:
            response = await call_next(request)
        response.headers.update(HEADERS)
        return response

    return Middleware(BaseHTTPMiddleware, dispatch=answer)


def _check_token(given: str | None, token: str) -> None:
    if not secrets.compare_digest((given or "").encode(), token.encode()):
        raise HTTPException(403, "open the address that 'recallm view' printed: it has the token")


# Answers.


def _answering(read: Callable[..., Any]) -> Callable[[Request], Response]:
    """Answers with what ``read`` gives for the parameters of a request that it knows."""
    known = inspect.signature(read).parameters

    def answer(request: Request) -> Response:
        found = read(
            **{name: value for name, value in request.query_params.items() if name in known}
        )
        if found is None:
            raise HTTPException(404, "the memory has no such passage")
        return JSONResponse(found)

    return answer


def _failed(request: Request, error: Exception) -> Response:
    """The answer to a request that failed: its status, and what to do. Only the page, which is no
    part of the API, is refused in plain text."""
    match error:
        case HTTPException():
            status, problem = error.status_code, error.detail
            if not request.url.path.startswith("/api"):
                return PlainTextResponse(f"{problem}\n", status_code=status)
        case ValidationError():
            first = error.errors()[0]
            name, kind = first["loc"][0], first["type"]
            status, problem = 400, f"{name}: {first['msg']}"
            if kind in ("missing_argument", "string_pattern_mismatch"):
                problem = f"{name} is missing"
            elif kind.startswith("int_"):
                problem = f"{name} must be a whole number"
        case RecallMError():
            is_input = isinstance(error, InvalidInputError)
            status = 400 if is_input else 503 if isinstance(error, StoreError) else 500
            problem = str(error)
        case _:
            status = 500
            problem = f"the viewer failed: {type(error).__name__}; the terminal says more"
    # An error that nobody expected is answered outside of all middleware: without its headers.
    return JSONResponse({"error": problem}, status_code=status, headers=HEADERS)
