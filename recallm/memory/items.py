"""Items: texts stored under a key at a path, as in a key-value store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from recallm.errors import InvalidInputError
from recallm.ground import checks
from recallm.ground.methods import knows_its_arguments
from recallm.memory.open_memory import OpenMemory
from recallm.memory.update_request import UpdateRequest
from recallm.memory.writing import put
from recallm.model import Filter, Horizon, Passage, Scalar, Selection
from recallm.recall.request import RecallRequest
from recallm.recall.results import KnowledgeUpdate
from recallm.stores.base import GraphReader

_READ_AT_ONCE = 64
"""Ranked items that a search reads at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewItem(UpdateRequest):
    """A text to store under ``key`` at ``path``. It replaces the item that is there.

    With ``recalled=False`` the item can be looked up and listed, but recall does not find it. It
    expires at ``expires_at`` (aware; None: never). The rest is as in ``RecallM.update``.

    Raises:
        InvalidInputError: a value cannot be used.

    """

    # Both must be given: the request of an update has defaults for them.
    path: Annotated[Sequence[str], checks.item_path]  # pyright: ignore[reportGeneralTypeIssues]
    key: Annotated[str, checks.name]  # pyright: ignore[reportGeneralTypeIssues]
    id: Annotated[Any, checks.new_id] = field(default=None, init=False, repr=False, compare=False)


@knows_its_arguments
class MemoryItems:
    """The items of one namespace.

    An item is a passage: ``recall`` finds its statements. ``forget`` always forgets the complete
    item, even if only one of its statements is selected. Each method raises ``InvalidInputError``
    for an argument that cannot be used, and ``StoreError`` where the store fails.

    >>> from recallm import NewItem, RecallM
    >>> memory = RecallM()
    >>> _ = memory.items.put([NewItem(path=("users", "ann"), key="food", text="Ann loves pizza")])
    >>> _ = memory.items.put([NewItem(path=("users", "ann"), key="food", text="Ann loves sushi")])
    >>> memory.items.get(("users", "ann"), "food").text
    'Ann loves sushi'
    >>> [statement.text for statement in memory.recall("What does Ann love?").statements]
    ['Ann loves sushi']
    """

    def __init__(self, opened: OpenMemory) -> None:
        self._opened = opened
        self._omits_expired = True

    def with_expired(self) -> MemoryItems:
        """These items, read with those that have expired, until a sweep or a write of the namespace
        frees their room."""
        shown = copy(self)
        shown._omits_expired = False
        return shown

    def _reader(self, horizon: Horizon | None = None) -> AbstractContextManager[GraphReader]:
        """A reader within ``horizon``; for None within the present, as these items show it."""
        present = Horizon(now=self._opened.clock() if self._omits_expired else None)
        return self._opened.store.reader(self._opened.name, horizon or present)

    def put(self, items: Iterable[NewItem]) -> list[KnowledgeUpdate]:
        """Store items, each as a knowledge update, all in one transaction. The item that stood
        under the same key at the same path is forgotten.

        Raises:
            InvalidInputError: one of ``items`` is no NewItem; nothing was written.
            StoreError: the store failed; nothing was written.

        """
        # Each gets an id of its own: an item that is put twice is written twice.
        given = [replace(item) for item in checks.instances(NewItem, items, "items")]
        return put(self._opened, given, range(len(given))) if given else []

    def get(self, path: Sequence[str], key: str) -> Passage | None:
        """The item under ``key`` at ``path``; None if there is none."""
        return self._item(path, key)

    def below(
        self,
        path: Sequence[str] = (),
        *,
        limit: int | None = None,
        accept: Callable[[Passage], bool] | None = None,
        likely: Mapping[tuple[str, ...], Scalar] | None = None,
    ) -> tuple[Passage, ...]:
        """The items at ``path`` and below it, the latest first; at most ``limit`` of those for
        which ``accept`` is true.

        ``likely`` saves reading items that ``accept`` would refuse: values in the metadata by their
        paths of keys, as in ``{("color",): "red"}``; None is a missing value too. An item whose
        metadata holds another value there may be left out."""
        where = Filter(path=checks.item_path(path, "path"))
        at_most = checks.count(limit, "limit")
        accepts = _accepting(accept)
        likely = checks.optional(_checked_likely, likely, "likely")
        found: list[Passage] = []
        size = at_most if accept is None or at_most is None else max(at_most, _READ_AT_ONCE)
        with self._reader() as reader:
            while True:
                items = reader.passages(where, limit=size, likely=likely)
                found += filter(accepts, items)
                if size is None or len(items) < size or len(found) >= (at_most or 0):
                    return tuple(found[:at_most])
                where = replace(where, until=items[-1].t_index - 1)
                size *= 4

    def search(
        self,
        question: str,
        path: Sequence[str] = (),
        *,
        limit: int | None = None,
        accept: Callable[[Passage], bool] | None = None,
        likely: Mapping[tuple[str, ...], Scalar] | None = None,
    ) -> tuple[tuple[Passage, float], ...]:
        """The items at ``path`` and below it that are relevant to ``question``, best first, each
        with the probability that its best statement helps to answer. At most ``limit`` of those for
        which ``accept`` is true; ``likely`` as in ``below``. Items with equal texts are all found
        (``recall`` shows equal sentences once). An item with a statement equal to ``question``,
        letter case apart, comes first, with probability 1."""
        asked = checks.string(question, "question")
        where = Filter(path=checks.item_path(path, "path"))
        at_most = checks.count(limit, "limit")
        is_accepted = _accepting(accept)
        likely = checks.optional(_checked_likely, likely, "likely")
        found: list[tuple[Passage, float]] = []
        with self._reader() as reader:
            request = RecallRequest(
                question=asked,
                where=where,
                now=self._opened.clock(),
                config=self._opened.config,
                count_tokens=self._opened.count_tokens,
            )
            scores = self._opened.recaller.passages(reader, request)
            ids = list(scores)
            for start in range(0, len(ids), _READ_AT_ONCE):
                some = ids[start : start + _READ_AT_ONCE]
                items = {item.id: item for item in reader.passages(ids=some, likely=likely)}
                for id in some:
                    if id in items and is_accepted(items[id]):
                        found.append((items[id], scores[id]))
                        if len(found) == at_most:
                            return tuple(found)
        return tuple(found)

    def paths(self) -> tuple[tuple[str, ...], ...]:
        """The paths that hold an item, sorted."""
        with self._reader() as reader:
            return tuple(reader.paths())

    def delete(self, path: Sequence[str], key: str) -> bool:
        """Forget the item under ``key`` at ``path``; return whether there was one."""
        item = self._item(path, key, Horizon(withdrawn=True))
        if item is None:
            return False
        return bool(
            self._opened.store.forget(self._opened.name, Selection(kind="id", value=item.id))
        )

    def _item(
        self, path: Sequence[str], key: str, horizon: Horizon | None = None
    ) -> Passage | None:
        where = Filter(path=checks.item_path(path, "path"), key=checks.name(key, "key"))
        for _ in range(2):
            with self._reader(horizon) as reader:
                found = reader.passages(where, limit=1)
            if found:
                return found[0]
            # A server without snapshots: if the item is replaced while the reader is open, the
            # reader sees neither the old item nor the new one. A new reader sees the new one.
        return None


def _accepting(accept: Callable[[Passage], bool] | None) -> Callable[[Passage], bool]:
    """``accept``, checked; a failure of it names the argument."""
    accepts = checks.optional_callable(accept, "accept")
    if accepts is None:
        return lambda _: True
    return lambda item: checks.result_of(lambda: bool(accepts(item)), "accept")


def _checked_likely(given: object, argument: str) -> dict[tuple[str, ...], Scalar]:
    checked: dict[tuple[str, ...], Scalar] = {}
    for path, value in checks.mapping(given, argument).items():
        if not (isinstance(path, tuple) and path and isinstance(value, Scalar)):
            raise InvalidInputError(
                f"{argument} must name values by tuples of keys, as in {{('color',): 'red'}}: a "
                f"str, int, bool or None each, not {checks.shown(path)}: {checks.shown(value)}",
                argument=argument,
            )
        if isinstance(value, str):
            checks.string(value, argument)
        checked[checks.item_path(path, argument)] = value
    return checked
