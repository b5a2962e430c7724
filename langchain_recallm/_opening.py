"""Something that a ``with`` or ``async with`` statement opens and closes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Protocol, TypeVar

__all__ = ["Opening"]


class _Closable(Protocol):
    def close(self) -> None: ...


_T = TypeVar("_T", bound=_Closable)


class Opening(AbstractContextManager[_T], AbstractAsyncContextManager[_T]):
    """What ``open`` opens when the block begins, and its ``close`` closes when the block ends: in
    an ``async with`` off the event loop."""

    def __init__(self, open: Callable[[], _T]) -> None:
        self._open = open
        self._opened: _T | None = None

    def __enter__(self) -> _T:
        self._opened = self._open()
        return self._opened

    def __exit__(self, *_: object) -> None:
        if self._opened is not None:
            self._opened.close()

    async def __aenter__(self) -> _T:
        return await asyncio.to_thread(self.__enter__)

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self.__exit__)
