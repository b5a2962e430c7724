"""The server over standard input and output, as a client starts it on the same machine."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from typing import Any, TextIO, cast

import anyio
import anyio.from_thread
import anyio.lowlevel
from anyio.streams.memory import MemoryObjectSendStream
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from recallm.mcp_server.process import bounded_ending

_log = logging.getLogger("recallm.mcp_server")


def serve_stdio(server: Server[Any, Any]) -> None:
    """Answer the client on standard input until it closes it, or leaves. Where the process is
    interrupted and a tool is still at work some seconds later, the process ends."""
    with _protocol_stream() as stream, bounded_ending() as interrupted:
        try:
            anyio.run(_serve, server, stream, interrupted)
        except* (BrokenPipeError, ConnectionResetError):
            pass  # the client left without closing standard input


@contextmanager
def _protocol_stream() -> Iterator[TextIO]:
    """Standard output for the protocol alone: what any library writes there goes to standard error
    from now on."""
    sys.stdout.flush()
    own = os.dup(1)
    os.dup2(2, 1)
    stream = open(own, "w", encoding="utf-8", newline="\n")  # noqa: PTH123, SIM115 (a descriptor)
    try:
        yield stream
    finally:
        with suppress(BrokenPipeError):  # the client did not read everything
            stream.close()


async def _serve(server: Server[Any, Any], stream: TextIO, interrupted: Callable[[], None]) -> None:
    lines_in, lines = anyio.create_memory_object_stream[str](1)
    threading.Thread(
        target=_read_lines, args=(lines_in, anyio.lowlevel.current_token()), daemon=True
    ).start()
    # stdio_server iterates over its input, and asks for nothing else of a file.
    source = cast("anyio.AsyncFile[str]", lines)
    with _woken_by_signals():
        async with anyio.create_task_group() as tasks:

            async def serve() -> None:
                async with stdio_server(source, anyio.wrap_file(stream)) as (received, sent):
                    await server.run(received, sent, server.create_initialization_options())
                tasks.cancel_scope.cancel()

            tasks.start_soon(serve)
            try:
                await anyio.sleep_forever()
            finally:
                # An interruption reaches this task at once, the others when their tools are done.
                interrupted()


@contextmanager
def _woken_by_signals() -> Iterator[None]:
    """Wake the event loop for every signal. Python's handlers run in the main thread: where a
    signal comes just before that thread waits for input, or reaches another thread, they would run
    at the client's next message alone."""
    if sys.platform == "win32":  # where asyncio does so itself
        yield
        return
    loop = asyncio.get_running_loop()
    receiving, sending = socket.socketpair()
    with receiving, sending:
        receiving.setblocking(False)
        sending.setblocking(False)
        loop.add_reader(receiving, receiving.recv, 4096)
        earlier = signal.set_wakeup_fd(sending.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(earlier)
            loop.remove_reader(receiving)


def _read_lines(lines: MemoryObjectSendStream[str], token: anyio.lowlevel.EventLoopToken) -> None:
    """Send the lines of standard input to the event loop until it is closed.

    A read cannot be interrupted: in a thread of anyio it would keep the process alive after Ctrl-C.
    ``sys.stdin`` is not used, because a process cannot end while a daemon thread reads from it.
    """
    # The server may end before its client does.
    with suppress(anyio.BrokenResourceError, anyio.RunFinishedError, CancelledError):
        try:
            with open(os.dup(0), encoding="utf-8", errors="replace", newline="\n") as stream:  # noqa: PTH123
                for line in stream:
                    anyio.from_thread.run(lines.send, line, token=token)
        except OSError as error:
            _log.warning("standard input cannot be read: %s", error)
        finally:
            anyio.from_thread.run_sync(lines.close, token=token)
