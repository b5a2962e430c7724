"""What a server needs of its process: a log without its clients' words, and an end that comes."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import mcp
from pydantic import ValidationError

_log = logging.getLogger("recallm.mcp_server")
_GRACE = 5
"""Seconds from an interruption until the process ends, whatever a tool still does."""
_SDK = str(Path(mcp.__file__).parent)


def hide_contents() -> None:
    """Keep what clients sent out of the process's log: the SDK's lines repeat malformed messages.
    They are logged as their place in the SDK and the kind of the error."""
    for handler in logging.getLogger().handlers:
        handler.addFilter(_without_contents)


def _without_contents(record: logging.LogRecord) -> bool:
    # The SDK logs some lines as the root logger: only their file tells whose they are.
    if record.pathname.startswith(_SDK):
        error = record.exc_info[1] if record.exc_info else sys.exc_info()[1]
        place = f"{record.module}.{record.funcName}, line {record.lineno}"
        kind = f": {_kind(error)}" if error else ""
        record.msg, record.args = f"a client's message failed in the MCP SDK ({place}){kind}", None
        record.exc_info = record.exc_text = None
    return True


def _kind(error: BaseException) -> str:
    name = type(error).__name__
    if not isinstance(error, ValidationError):
        return name
    kinds = {problem["type"] for problem in error.errors(include_input=False, include_url=False)}
    return f"{name} ({', '.join(sorted(kinds))})"


@contextmanager
def bounded_ending() -> Iterator[Callable[[], None]]:
    """The function to call when the server is interrupted: unless the body ends a few seconds
    later, the process does (status 130).

    A thread at work cannot be stopped otherwise. A transaction that it had not committed is undone
    when the memory is next opened.
    """
    interrupted, ended = threading.Event(), threading.Event()

    def end() -> None:
        interrupted.wait()
        if not ended.wait(_GRACE):
            _log.warning("a tool was still at work; what it had not written is dropped")
            os._exit(130)

    # Started here: a handler of signals may interrupt the start of another thread.
    threading.Thread(target=end, daemon=True).start()
    try:
        yield interrupted.set
    finally:
        ended.set()
        interrupted.set()
