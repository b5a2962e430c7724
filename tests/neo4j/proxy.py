"""A TCP proxy: a network that is slow, drops connections or freezes when a test says so."""

from __future__ import annotations

import contextlib
import re
import socket
import threading
import time
from collections.abc import Iterator
from queue import SimpleQueue
from types import TracebackType
from typing import Self

from recallm.stores.neo4j.changes import PUT

_BEGIN = re.compile(rb"(?:\A|\0\0)..\xb1\x11", re.DOTALL)
"""How a message of the Bolt protocol that begins a transaction starts: a number may hold the same
last two bytes."""

_COMMIT = b"\0\2\xb0\x12\0\0"
_ENDS = _COMMIT, b"\0\2\xb0\x13\0\0", b"\0\2\xb0\x0f\0\0"
"""Messages that end a transaction: commit, roll back, reset (after a failure)."""

_WRITE = PUT.splitlines()[-1].encode()
"""The end of a query that commits with itself where no transaction was begun."""


class Proxy:
    """Forwards a free local port to `target`; a context manager.

    Attributes:
        uri: where it listens, as ``bolt://``.
        commits_lost: how many commits were lost, or their replies.
        delay: seconds that a round trip takes more, half of them in each direction.
        trips: round trips so far, those of greetings among them: how often the server replied to
            what a client had sent since the reply before. What a client sends in several pieces
            without waiting can only be counted right while there is a delay.
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
        self._commits_to_lose = 0
        self._lose_reply = True
        self.commits_lost = 0
        self.delay = 0.0
        self.trips = 0
        # Set where bytes flow; each connection has that of the time when it was made.
        self._flow = threading.Event()
        self._flow.set()
        self._flows = [self._flow]
        threading.Thread(target=self._accept, daemon=True).start()

    def cut_after(self, messages: int, *, accept: bool) -> None:
        """Drop all connections once the client has sent so many more chunks, the last of which
        still arrives; `accept` says whether new connections are served afterwards."""
        with self._lock:
            self._until_cut = messages
            self._accepting_after = accept

    def lose_commits(self, count: int, *, reply: bool) -> None:
        """Drop the connection of each of the next commits: before its reply arrives, or with
        `reply` False before it arrives itself."""
        with self._lock:
            self._commits_to_lose = count
            self._lose_reply = reply

    def freeze(self, *, later_ones: bool) -> None:
        """Forward nothing more, nor that an end was closed; `later_ones`: on new connections
        either."""
        with self._lock:
            self._flow.clear()
            if not later_ones:
                self._flow = threading.Event()
                self._flow.set()
                self._flows.append(self._flow)

    def thaw(self) -> None:
        """Forward what was held back, and all that comes."""
        with self._lock:
            for flow in self._flows:
                flow.set()

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
        self.thaw()
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
            for end in (client, server):  # else the kernel waits 40 ms before small pieces
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._lock:
                self._pairs.append((client, server))
                flow = self._flow
            doomed = threading.Event()
            asked = threading.Event()
            for source, sink, counted in ((client, server, True), (server, client, False)):
                threading.Thread(
                    target=self._pump,
                    args=(source, sink, counted, flow, doomed, asked),
                    daemon=True,
                ).start()

    def _pump(
        self,
        source: socket.socket,
        sink: socket.socket,
        counted: bool,
        flow: threading.Event,
        doomed: threading.Event,
        asked: threading.Event,
    ) -> None:
        """Forward from one end to the other; after `doomed` no reply arrives. `asked` is set while
        the client waits for a reply."""
        begun = False
        with contextlib.suppress(OSError):
            for chunk in self._received(source):
                flow.wait()
                if doomed.is_set():
                    break
                begun = begun or _BEGIN.search(chunk) is not None
                commits = _COMMIT in chunk or (_WRITE in chunk and not begun)
                begun = begun and not any(end in chunk for end in _ENDS)
                if counted and commits and self._loses_commit():
                    doomed.set()
                    if not self._lose_reply:
                        break
                self._count_trip(asked, is_reply=not counted)
                sink.sendall(chunk)
                if counted and self._is_last():
                    self._drop()
        flow.wait()
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _received(self, source: socket.socket) -> Iterator[bytes]:
        """What arrives at one end, each piece after half of the delay; pieces that follow each
        other are under way at the same time."""
        arrived: SimpleQueue[tuple[float, bytes]] = SimpleQueue()

        def receive() -> None:
            with contextlib.suppress(OSError):
                while chunk := source.recv(1 << 16):
                    arrived.put((time.monotonic() + self.delay / 2, chunk))
            arrived.put((0.0, b""))

        threading.Thread(target=receive, daemon=True).start()
        while True:
            due, chunk = arrived.get()
            if not chunk:
                return
            if (wait := due - time.monotonic()) > 0:
                time.sleep(wait)
            yield chunk

    def _count_trip(self, asked: threading.Event, *, is_reply: bool) -> None:
        with self._lock:
            if not is_reply:
                asked.set()
            elif asked.is_set():
                asked.clear()
                self.trips += 1

    def _loses_commit(self) -> bool:
        with self._lock:
            if not self._commits_to_lose:
                return False
            self._commits_to_lose -= 1
            self.commits_lost += 1
            return True

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
