"""The server over HTTP (the protocol's streamable HTTP, without sessions: no request depends on an
earlier one).

Three things keep strangers out. The server listens on this machine alone, unless a token guards it.
There, the Host and Origin of each request must be this machine's own, so that no web page reaches
the server under a name of its own (DNS rebinding). A token, where there is one, is compared in
constant time, before anything else reads the request.
"""

from __future__ import annotations

import hmac
import ipaddress
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import FrameType
from typing import Any

import anyio
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from recallm.errors import InvalidInputError
from recallm.mcp_server.process import bounded_ending

PATH = "/mcp"

_LEAST_TOKEN = 16
_GRACE = 2
"""Seconds for which the server waits for its answers when it is interrupted."""


def check_exposure(host: str, token: str | None) -> None:
    """Refuse a server that others than this machine's users reach without a token, and a token that
    can be guessed, or that no header can hold.

    Raises:
        InvalidInputError: it is one of these.

    """
    if token is not None:
        if (
            len(token) < _LEAST_TOKEN
            or not (token.isascii() and token.isprintable())
            or " " in token
        ):
            raise InvalidInputError(
                f"the token must be at least {_LEAST_TOKEN} ASCII characters without spaces; make "
                "one with: openssl rand -hex 32",
                argument="token",
            )
    elif not _is_loopback(host):
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
    """Answer clients at ``http://host:port/mcp`` until the process is interrupted; where a tool is
    still at work some seconds later, the process ends.

    ``port`` 0 is any free port. ``ready`` gets the address once clients can connect.

    Raises:
        InvalidInputError: the host is open to other machines and there is no token, or the token
            cannot be used, or the server cannot listen there.

    """
    check_exposure(host, token)
    with _listening(host, port) as listening:
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
            timeout_graceful_shutdown=_GRACE,
        )
        shown = f"[{host}]" if ":" in host else host
        ready(f"http://{shown}:{listening.getsockname()[1]}{PATH}")
        with bounded_ending() as interrupted:
            anyio.run(_Server(config, interrupted).serve, [listening])


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, interrupted: Callable[[], None]) -> None:
        super().__init__(config)
        self._interrupted = interrupted

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._interrupted()
        super().handle_exit(sig, frame)


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidInputError(
            f"the server cannot listen on port {port} of {host!r}: {reason}; choose another "
            "--port, or --port 0 for any free one",
            argument="port",
        ) from error


def _app(server: Server[Any, Any], host: str, token: str | None) -> Starlette:
    manager = StreamableHTTPSessionManager(
        server, json_response=True, stateless=True, security_settings=_security(host)
    )

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with manager.run():
            yield

    guards = [] if token is None else [Middleware(_TokenGuard, token=token)]
    return Starlette(
        # A GET would wait for messages that this server never sends.
        routes=[Route(PATH, manager.asgi_app, methods=["POST"])],
        middleware=guards,
        lifespan=lifespan,
    )


class _TokenGuard:
    """Answers 401 to every request without the token."""

    def __init__(self, app: ASGIApp, *, token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or self._is_known(scope):
            await self._app(scope, receive, send)
            return
        refusal = PlainTextResponse(
            "This server needs its token, as Authorization: Bearer TOKEN",
            status_code=401,
            headers={"WWW-Authenticate": "Bearer"},
        )
        await refusal(scope, receive, send)

    def _is_known(self, scope: Scope) -> bool:
        scheme, _, given = Headers(scope=scope).get("authorization", "").partition(" ")
        is_bearer = scope["type"] == "http" and scheme.lower() == "bearer"
        return is_bearer and hmac.compare_digest(given.encode(), self._token)


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _security(host: str) -> TransportSecuritySettings:
    """Which Host and Origin headers are taken. A host that is open to other machines is guarded by
    its token alone: under which names they know it is not known here."""
    if not _is_loopback(host):
        return TransportSecuritySettings(enable_dns_rebinding_protection=False)
    names = {"127.0.0.1", "localhost", "[::1]", f"[{host}]" if ":" in host else host}
    hosts = [each for name in sorted(names) for each in (name, f"{name}:*")]
    return TransportSecuritySettings(
        allowed_hosts=hosts, allowed_origins=[f"http://{each}" for each in hosts]
    )
