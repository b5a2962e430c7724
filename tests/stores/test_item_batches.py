"""Batches in which items take the place of each other, on SQLite and Neo4j against the oracle.

A store may forget and write a batch in another order than its updates have: nobody may see it.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recallm.errors import RecallMError
from recallm.model import Horizon, PreparedUpdate, Selection
from recallm.stores.base import Applied, GraphStore
from recallm.stores.neo4j import Neo4jStore
from recallm.stores.sqlite import SQLiteStore
from tests.store_suite import DictStore, strategies
from tests.store_suite.snapshots import Vocabulary, snapshot

# Few places, so that items meet; ids that mostly do not.
_PLACES: tuple[tuple[tuple[str, ...], str | None], ...] = (
    ((), None),
    ((), "k"),
    (("p",), "k"),
    ((), "l"),
)
_IDS = st.sampled_from("ab") | st.integers(0, 10**9).map(str) | st.integers(0, 10**9).map(str)


@st.composite
def _updates(draw: st.DrawFn) -> PreparedUpdate:
    update = draw(strategies.prepared_updates())
    path, key = draw(st.sampled_from(_PLACES))
    if update.text is None:
        return update
    if draw(st.booleans()):
        update = replace(update, entities=(), triplets=())
    if draw(st.booleans()):
        # No session by name: the session follows from time.
        update = replace(update, source=None, session=None)
    return replace(update, id=draw(_IDS), path=path, key=key)


_BATCHES = st.lists(st.lists(_updates(), min_size=1, max_size=6), min_size=1, max_size=4)


@settings(max_examples=60)
@given(batches=_BATCHES)
def test_sqlite(batches: list[list[PreparedUpdate]]) -> None:
    """SQLite says what the oracle says after each batch."""
    with closing(SQLiteStore()) as store:
        _agree(store, "items", batches)


# The store is shared by all examples: each has a namespace of its own.
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batches=_BATCHES)
def test_neo4j(store: Neo4jStore, batches: list[list[PreparedUpdate]]) -> None:
    """Neo4j says what the oracle says after each batch."""
    namespace = f"items-{uuid.uuid4()}"
    _agree(store, namespace, batches)
    store.forget(namespace, Selection(kind="everything", value=True))


def _agree(store: GraphStore, namespace: str, batches: Sequence[Sequence[PreparedUpdate]]) -> None:
    oracle = DictStore()
    for batch in batches:
        assert _applied(store, namespace, batch) == _applied(oracle, namespace, batch)
        for horizon in (Horizon(), Horizon(as_of=2)):
            with oracle.reader(namespace, horizon) as reader:
                records = list(reader.dump())
                known = Vocabulary().add(records)
                wanted = snapshot(reader, known)
            with store.reader(namespace, horizon) as reader:
                assert list(reader.dump()) == records
                found = snapshot(reader, known)
            for kind, value in wanted.items():
                assert found[kind] == value, kind


def _applied(
    store: GraphStore, namespace: str, batch: Sequence[PreparedUpdate]
) -> list[Applied] | tuple[type, str]:
    """What became of a batch, or why it failed."""
    try:
        return store.apply(namespace, batch)
    except RecallMError as error:
        return type(error), str(error)
