"""What the topics of the suite share: the fixtures, and a few ways to say things shortly."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from recallm.model import (
    Amendment,
    Forgotten,
    GraphNames,
    Horizon,
    Passage,
    PreparedUpdate,
    Selection,
    SelectionKind,
    Summary,
    Trait,
    WriteSummary,
)
from recallm.stores.base import Applied, GraphReader, GraphStore
from tests.store_suite.dict_store import DictStore
from tests.store_suite.snapshots import (
    Vocabulary,
    find_item,
    find_passage,
    revisable,
    snapshot,
    summaries,
)

__all__ = [
    "NOON",
    "Space",
    "StoreTests",
    "at",
    "find_item",
    "find_passage",
    "revisable",
    "snapshot_of",
    "summaries",
    "summary",
]

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


@dataclass(frozen=True)
class Space:
    """A namespace of a store, and what tests do there."""

    store: GraphStore
    name: str

    def beside(self, ending: object) -> Space:
        """Another namespace of the same store, whose name goes on so."""
        return Space(self.store, f"{self.name}{ending}")

    def is_listed(self) -> bool:
        """Whether the store names it among its namespaces."""
        return self.name in self.store.namespaces()

    def write(self, *updates: PreparedUpdate) -> list[int]:
        """Apply each update in a transaction of its own; their t."""
        return [self.apply([update])[0].t_index for update in updates]

    def apply(
        self, updates: Sequence[PreparedUpdate], *, now: datetime | None = None
    ) -> list[Applied]:
        return self.store.apply(self.name, updates, now=now)

    def reader(self, horizon: Horizon | None = None) -> AbstractContextManager[GraphReader]:
        return self.store.reader(self.name, horizon or Horizon())

    def amend(self, amendment: Amendment) -> int:
        return self.store.amend(self.name, amendment)

    def forget(self, kind: SelectionKind, value: Any) -> Forgotten:
        """Forget what one selection selects."""
        return self.forget_selection(Selection(kind=kind, value=value))

    def forget_selection(self, selection: Selection) -> Forgotten:
        return self.store.forget(self.name, selection)

    def delete_graph(
        self, *, entities: Iterable[str] = (), triplets: Iterable[tuple[str, str, str]] = ()
    ) -> Forgotten:
        """Forget entities and triplets by name."""
        names = GraphNames(entities=frozenset(entities), triplets=frozenset(triplets))
        return self.forget("graph", names)

    def revise(self, concept: str, t_index: int) -> None:
        """Write ``summary(concept, t_index)``; ``t_index`` must be that of the concept."""
        with self.reader() as reader:
            row = revisable(reader, concept)
        assert row is not None
        assert self.amend(
            WriteSummary(summary=summary(concept, t_index), statements=row.statements)
        )

    def dump(self) -> list[Any]:
        """Its records."""
        with self.reader() as reader:
            return list(reader.dump())

    def passage(self, id: str) -> Passage:
        """The visible passage with this id, which is there."""
        with self.reader() as reader:
            [found] = reader.passages(ids=[id])
        return found

    def restore(self, t_index: int, records: Iterable[PreparedUpdate | Summary]) -> int:
        return self.store.restore(self.name, t_index, records)

    def copied(self) -> Space:
        """A new namespace beside it, which is filled with its dump."""
        copy = self.beside("-copy")
        with self.reader() as reader:
            copy.restore(reader.state.t_index, list(reader.dump()))
        return copy

    def snapshot(
        self, horizon: Horizon | None = None, also: Vocabulary | None = None
    ) -> dict[str, Any]:
        """All that a reader can say."""
        with self.reader(horizon) as reader:
            return snapshot(reader, also)


class StoreTests:
    """Tests of one topic; the subclass gives the fixture ``store``."""

    @pytest.fixture
    def store(self) -> GraphStore:
        """The store under test, which need not be empty."""
        raise NotImplementedError("a subclass of StoreSuite gives the fixture 'store'")

    @pytest.fixture
    def space(self, store: GraphStore) -> Space:
        """A namespace that nothing else uses."""
        return Space(store, f"suite-{uuid.uuid4()}")

    @pytest.fixture
    def reopened(self, store: GraphStore) -> GraphStore:
        """A second store on the data of ``store``; skips where they live in the store alone."""
        pytest.skip(f"{type(store).__name__} keeps its data to itself")


def at(minutes: float) -> datetime:
    """A moment so many minutes after noon."""
    return NOON + timedelta(minutes=minutes)


def summary(concept: str, t_index: int, text: str = "in short") -> Summary:
    """A summary of a concept up to ``t_index``."""
    return Summary(
        concept=concept, t_index=t_index, text=text, terms=("short",), traits=Trait.PRESENT
    )


def snapshot_of(
    store: GraphStore,
    namespace: str,
    horizon: Horizon | None = None,
    also: Vocabulary | None = None,
) -> dict[str, Any]:
    """All that a reader of ``namespace`` can say."""
    return Space(store, namespace).snapshot(horizon, also)


def delete_graph(store: GraphStore, namespace: str, **names: Any) -> Forgotten:
    """``Space.delete_graph``."""
    return Space(store, namespace).delete_graph(**names)


def oracle_snapshot(
    t_index: int, records: Iterable[PreparedUpdate | Summary], also: Vocabulary
) -> Any:
    """All that the oracle says of a namespace which never held anything but ``records``."""
    oracle = Space(DictStore(), "control")
    oracle.restore(t_index, records)
    return oracle.snapshot(also=also)
