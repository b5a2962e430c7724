"""What the parts of a memory share: one namespace of an open store, and when it is closed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from tqdm import tqdm

from recallm.errors import ClosedError
from recallm.ground import checks
from recallm.model import Horizon, Moment
from recallm.stores.base import GraphReader, GraphStore

T = TypeVar("T")


class Life:
    """Whether a memory is open. ``closing``: what ``close`` calls, in this order. A memory that is
    derived from another one has the life of that one as its ``root``, and ends with it."""

    def __init__(
        self, closing: Sequence[Callable[[], None]] = (), *, root: Life | None = None
    ) -> None:
        self._closing = closing
        self._root = root
        self._is_closed = False
        self.before_closing: list[Callable[[], object]] = root.before_closing if root else []
        """What is called first, while memories of the same root can still be written to."""

    @property
    def is_closed(self) -> bool:
        """Whether the memory, or its root, is closed."""
        return self._is_closed or (self._root is not None and self._root.is_closed)

    def close(self) -> None:
        """End this life; a second call does nothing."""
        if self._is_closed:
            return
        try:
            for finish in self.before_closing:
                finish()
        finally:
            self._is_closed = True
            for close in self._closing:
                close()


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenNamespace:
    """One namespace of the memory's store. ``concept_name`` gives the name of the concept that a
    label spells. ``clock`` gives the present, aware. Ask the store which optional protocols of
    ``recallm.stores.base`` it has."""

    store: GraphStore
    name: str
    concept_name: Callable[[str], str]
    clock: Callable[[], datetime]
    life: Life

    def check_open(self) -> None:
        """Raise ``ClosedError`` where the memory is closed."""
        if self.life.is_closed:
            raise ClosedError

    def reader(
        self, as_of: Moment | None = None, *, withdrawn: bool = False
    ) -> AbstractContextManager[GraphReader]:
        """A reader of what was known at a moment, without what has expired."""
        self.check_open()
        moment = checks.moment(as_of, "as_of")
        horizon = Horizon(as_of=moment, now=self.clock(), withdrawn=withdrawn)
        return self.store.reader(self.name, horizon)

    def named(self, namespace: str) -> OpenNamespace:
        """Another namespace of the same store."""
        self.check_open()
        return replace(self, name=checks.name(namespace, "namespace"))


def shown_progress(records: Iterable[T], progress: bool, done: str, *, total: int) -> Iterator[T]:
    """``records``, with a bar on standard error that counts them where ``progress`` is True."""
    bar = tqdm(records, desc=done, total=total, disable=not progress, unit="update", delay=2)
    return iter(bar)
