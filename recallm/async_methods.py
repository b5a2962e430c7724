"""The methods of a memory for code in an event loop: each runs the method of its name without the
``a`` in a worker thread.

A memory reads and writes files, and computes. In the thread of an event loop that would block
everything else. A call that is cancelled goes on in its thread to the end: what it writes is
written whole.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

__all__ = ["in_thread"]

P = ParamSpec("P")
R = TypeVar("R")


def in_thread(method: Callable[P, R]) -> Callable[P, Coroutine[Any, Any, R]]:
    """``method`` as a coroutine that runs it in a worker thread, with the caller's context
    variables."""

    @wraps(method)
    async def run(*args: P.args, **kwargs: P.kwargs) -> R:
        return await asyncio.to_thread(method, *args, **kwargs)

    run.__doc__ = f"``{method.__name__}`` in a worker thread."
    return run
