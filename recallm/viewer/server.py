"""The server of the viewer, on the loopback address."""

from __future__ import annotations

import secrets
import socket

import uvicorn

from recallm.errors import InvalidInputError
from recallm.memory import RecallM
from recallm.viewer.app import application

_HOST = "127.0.0.1"
_SECONDS_TO_END = 3
"""How long answers that are under way may take when the server ends."""


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
