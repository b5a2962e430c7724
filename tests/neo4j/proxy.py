"""A TCP proxy that can drop its connections: a network that fails when a test wants it to."""

from __future__ import annotations

import contextlib
import socket
import threading
from types import TracebackType
from typing import Self

__all__ = ["Proxy"]


class Proxy:
    """Forwards a free local port to `target`; a context manager.

    Attributes:
        uri: where it listens, as ``bolt://``.
    """

    def __init__(self, target: tuple[str, int]) -> None:
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.uri = f"bolt://127.0.0.1:{self._listener.getsockname()[1]}"
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._lock = threading.Lock()
        self._until_cut: int | None = None
        self._accepting_after = True
        self._accepting = True
        threading.Thread(target=self._accept, daemon=True).start()

    def cut_after(self, messages: int, *, accept: bool) -> None:
        """Drop all connections once the client has sent so many more chunks, the last of which
        still arrives; `accept` says whether new connections are served afterwards."""
        with self._lock:
            self._until_cut = messages
            self._accepting_after = accept

    def heal(self) -> None:
        """Serve again."""
        with self._lock:
            self._until_cut = None
            self._accepting = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._accepting = False
        # Closing alone would leave the thread in accept().
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._drop()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if not self._accepting:
                client.close()
                continue
            server = socket.create_connection(self._target)
            with self._lock:
                self._pairs.append((client, server))
            for source, sink, counted in ((client, server, True), (server, client, False)):
                threading.Thread(
                    target=self._pump, args=(source, sink, counted), daemon=True
                ).start()

    def _pump(self, source: socket.socket, sink: socket.socket, counted: bool) -> None:
        with contextlib.suppress(OSError):
            while chunk := source.recv(1 << 16):
                sink.sendall(chunk)
                if counted and self._is_last():
                    self._drop()
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _is_last(self) -> bool:
        with self._lock:
            if self._until_cut is None:
                return False
            self._until_cut -= 1
            if self._until_cut > 0:
                return False
            self._until_cut = None
            self._accepting = self._accepting_after
            return True

    def _drop(self) -> None:
        with self._lock:
            pairs, self._pairs = self._pairs, []
        for pair in pairs:
            for end in pair:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
                end.close()
