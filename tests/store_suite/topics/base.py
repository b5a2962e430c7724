"""What the topics of the suite share: the fixtures, and a few ways to say things shortly."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from recallm.model import (
    Forgotten,
    GraphNames,
    Horizon,
    PreparedUpdate,
    Selection,
    SelectionKind,
    Summary,
    Trait,
    WriteSummary,
)
from recallm.stores.base import GraphStore
from tests.store_suite.dict_store import DictStore
from tests.store_suite.snapshots import (
    Vocabulary,
    context_version,
    find_item,
    find_passage,
    snapshot,
    summaries,
)

__all__ = [
    "NOON",
    "StoreTests",
    "apply_each",
    "at",
    "context_version",
    "delete_graph",
    "find_item",
    "find_passage",
    "forget",
    "revise",
    "snapshot_of",
    "summaries",
    "summary",
]

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


class StoreTests:
    """Tests of one topic; the subclass gives the fixture ``store``."""

    @pytest.fixture
    def store(self) -> GraphStore:
        """The store under test, which need not be empty but for ``namespace``."""
        raise NotImplementedError("a subclass of StoreSuite gives the fixture 'store'")

    @pytest.fixture
    def namespace(self) -> str:
        """A namespace that nothing else uses."""
        return f"suite-{uuid.uuid4()}"

    @pytest.fixture
    def reopened(self, store: GraphStore) -> GraphStore:
        """A second store on the data of ``store``; skips where they live in the store alone."""
        pytest.skip(f"{type(store).__name__} keeps its data to itself")


def at(minutes: float) -> datetime:
    """A moment so many minutes after noon."""
    return NOON + timedelta(minutes=minutes)


def apply_each(store: GraphStore, namespace: str, *updates: PreparedUpdate) -> list[int]:
    """Apply each update in a transaction of its own; their t."""
    return [store.apply(namespace, [update])[0].t_index for update in updates]


def forget(
    store: GraphStore, namespace: str, kind: SelectionKind, value: str | int | datetime
) -> Forgotten:
    """Forget what one selection selects."""
    return store.forget(namespace, Selection(kind=kind, value=value))


def delete_graph(
    store: GraphStore,
    namespace: str,
    *,
    entities: Iterable[str] = (),
    triplets: Iterable[tuple[str, str, str]] = (),
) -> Forgotten:
    """Forget entities and triplets by name."""
    names = GraphNames(entities=frozenset(entities), triplets=frozenset(triplets))
    return store.forget(namespace, Selection(kind="graph", value=names))


def summary(concept: str, t_index: int, text: str = "in short") -> Summary:
    """A summary of a concept up to ``t_index``."""
    return Summary(
        concept=concept, t_index=t_index, text=text, terms=("short",), traits=Trait.PRESENT
    )


def revise(store: GraphStore, namespace: str, concept: str, t_index: int) -> None:
    """Write ``summary(concept, t_index)``; ``t_index`` must be that of its latest statement."""
    with store.reader(namespace, Horizon()) as reader:
        version = context_version(reader, concept)
    assert version is not None
    assert version.t_index == t_index
    assert store.amend(namespace, WriteSummary(summary=summary(concept, t_index), expected=version))


def snapshot_of(
    store: GraphStore,
    namespace: str,
    horizon: Horizon | None = None,
    also: Vocabulary | None = None,
) -> dict[str, Any]:
    """All that a reader of ``namespace`` can say."""
    with store.reader(namespace, horizon or Horizon()) as reader:
        return snapshot(reader, also)


def oracle_snapshot(
    t_index: int, records: Iterable[PreparedUpdate | Summary], also: Vocabulary
) -> Any:
    """All that the oracle says of a namespace which never held anything but ``records``."""
    oracle = DictStore()
    oracle.restore("control", t_index, records)
    return snapshot_of(oracle, "control", also=also)
