"""The server for its clients: over standard input and output, as a client starts it on the same
machine, or over HTTP (the protocol's streamable HTTP, without sessions: no request depends on an
earlier one).

Three things keep strangers out of HTTP. The server listens on this machine alone, unless a token
guards it. There, the Host and Origin of each request must be this machine's own, so that no web
page reaches the server under a name of its own (DNS rebinding). A token, where there is one, is
compared in constant time, before anything else reads the request.

SIGINT and SIGTERM end the process at once, whatever a tool does: a thread at work cannot be
stopped otherwise. A transaction that it had not committed is undone when the memory is next opened.
"""

from __future__ import annotations

import hmac
import logging
import os
import re
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any

import anyio
import mcp
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from recallm.errors import InvalidInputError

PATH = "/mcp"

_OWN_HOSTS = ("127.0.0.1", "localhost", "::1")
_LEAST_TOKEN = 16
_SDK = str(Path(mcp.__file__).parent)


def _prepare_process() -> None:
    """Let signals end the process, and keep what clients sent out of its log: the SDK's lines
    repeat malformed messages, and are logged as their place in the SDK."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    logging.basicConfig()  # or the SDK's first line would do so, without the filter
    for handler in logging.getLogger().handlers:
        handler.addFilter(_without_contents)


def _without_contents(record: logging.LogRecord) -> bool:
    # The SDK logs some lines as the root logger: only their file tells whose they are.
    if record.pathname.startswith(_SDK):
        record.msg = "a client's message failed in the MCP SDK (%s.%s, line %d)"
        record.args = record.module, record.funcName, record.lineno
        record.exc_info = record.exc_text = None
    return True


def serve_stdio(server: Server[Any, Any]) -> None:
    """Answer the client on standard input until it closes it. Standard output is for the protocol
    alone: what any library writes there goes to standard error from now on."""
    _prepare_process()
    sys.stdout.flush()
    own = os.dup(1)
    os.dup2(2, 1)

    async def serve() -> None:
        with open(own, "w", encoding="utf-8", newline="\n") as stream:  # noqa: PTH123 (a descriptor)
            async with stdio_server(stdout=anyio.wrap_file(stream)) as (received, sent):
                await server.run(received, sent, server.create_initialization_options())

    try:
        anyio.run(serve)
    except* (BrokenPipeError, ConnectionResetError, anyio.ClosedResourceError):
        pass  # the client left before it had every answer


# -- HTTP --------------------------------------------------------------------------------------


def check_exposure(host: str, token: str | None) -> None:
    """Refuse a server that others than this machine's users reach without a token, and a token that
    can be guessed, or that no header can hold.

    Raises:
        InvalidInputError: the host is open to other machines and there is no token, or
            the token cannot be used.

    """
    if token is not None:
        if not re.fullmatch(rf"[!-~]{{{_LEAST_TOKEN},}}", token):
            raise InvalidInputError(
                f"the token must be at least {_LEAST_TOKEN} ASCII characters without spaces; make "
                "one with: openssl rand -hex 32",
                argument="token",
            )
    elif host not in _OWN_HOSTS:
        raise InvalidInputError(
            f"a server at {host!r} is open to other machines: give a token with --token-file FILE "
            "or RECALLM_MCP_TOKEN, or leave the host at 127.0.0.1",
            argument="host",
        )


def serve_http(
    server: Server[Any, Any],
    *,
    host: str,
    port: int,
    token: str | None,
    ready: Callable[[str], None],
) -> None:
    """Answer clients at ``http://host:port/mcp`` until the process ends.

    ``port`` 0 is any free port. ``ready`` gets the address once clients can connect.

    Raises:
        InvalidInputError: the host is open to other machines and there is no token, or the token
            cannot be used, or the server cannot listen there.

    """
    check_exposure(host, token)
    _prepare_process()
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidInputError(
            f"the server cannot listen on port {port} of {host!r}: {reason}; choose another "
            "--port, or --port 0 for any free one",
            argument="port",
        ) from error
    # Connections inherit it; asyncio sets it on sockets of its own alone. Without it an answer
    # waits 40 ms for the client's acknowledgement of its headers.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    # No log of requests, and none of their headers.
    config = uvicorn.Config(
        _app(server, host, token),
        log_config=None,
        log_level="warning",
        access_log=False,
        ws="none",
        server_header=False,
    )
    web = uvicorn.Server(config)
    web.capture_signals = nullcontext  # type: ignore[assignment] # they end the process
    shown = f"[{host}]" if ":" in host else host
    ready(f"http://{shown}:{listening.getsockname()[1]}{PATH}")
    web.run([listening])


def _app(server: Server[Any, Any], host: str, token: str | None) -> Starlette:
    manager = StreamableHTTPSessionManager(
        server, json_response=True, stateless=True, security_settings=_security(host)
    )

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with manager.run():
            yield

    return Starlette(
        # A GET would wait for messages that this server never sends.
        routes=[Route(PATH, manager.asgi_app, methods=["POST"])],
        middleware=[] if token is None else [_guard(token)],
        lifespan=lifespan,
    )


def _guard(token: str) -> Middleware:
    """What answers 401 to every request without the token."""

    async def answer(request: Request, call_next: RequestResponseEndpoint) -> Response:
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and hmac.compare_digest(given.encode(), token.encode()):
            return await call_next(request)
        return PlainTextResponse(
            "This server needs its token, as Authorization: Bearer TOKEN",
            status_code=401,
            headers={"WWW-Authenticate": "Bearer"},
        )

    return Middleware(BaseHTTPMiddleware, dispatch=answer)


def _security(host: str) -> TransportSecuritySettings:
    """Which Host and Origin headers are taken. A host that is open to other machines is guarded by
    its token alone: under which names they know it is not known here."""
    own = [f"{name}{port}" for name in ("127.0.0.1", "localhost", "[::1]") for port in ("", ":*")]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=host in _OWN_HOSTS,
        allowed_hosts=own,
        allowed_origins=[f"http://{each}" for each in own],
    )
