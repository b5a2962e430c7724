"""What a reader of an earlier state, or beside expired passages, sees and counts is what the oracle
sees and counts, from whichever end the store counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from recallm.model import Filter, Horizon, PreparedUpdate, Selection, Withdraw
from recallm.stores.neo4j import Neo4jStore
from tests.store_suite import DictStore
from tests.store_suite.marked_text import entity, prepared
from tests.store_suite.snapshots import snapshot
from tests.store_suite.topics.base import at

_UPDATES = 60
_HORIZONS = (
    *(Horizon(as_of=t) for t in (1, 8, 30, 52, 62)),
    *(Horizon(as_of=at(minutes)) for minutes in (-1, 8, 31.5, 55, 500)),
    Horizon(),
    Horizon(now=at(1001), withdrawn=True),
    Horizon(now=at(1001)),
    Horizon(now=at(1041)),
    Horizon(as_of=at(40), now=at(1041)),
    Horizon(as_of=at(40), now=at(2000)),
)
_SOME = (Horizon(as_of=30), Horizon(as_of=at(31.5)), Horizon(), Horizon(as_of=at(40), now=at(1041)))


def _updates() -> list[PreparedUpdate]:
    """They mention "ann" in three statements, some with an entity on her; each 10th is of no
    session, each 8th expires. Two late updates of the graph alone, which have no timestamp, show
    the entity."""
    updates = []
    for n in range(_UPDATES):
        updates.append(
            prepared(
                f"p{n}",
                f"[Ann] met [T{n % 7}]",
                "[Ann] sang to [Ann]",
                f"[Bob] saw [Ann] in [T{n % 3}]",
                session=None if n % 10 == 0 else f"s{n // 25}",
                timestamp=at(n),
                expires_at=at(1000 + n) if n % 8 == 0 else None,
                entities=(entity("a", "Ann"),) if n % 12 == 0 else (),
            )
        )
        if n in {50, 59}:
            updates.append(PreparedUpdate(id="", text=None, entities=(entity("a", "Ann"),)))
    return updates


def _agree(
    store: Neo4jStore,
    oracle: DictStore,
    namespace: str,
    horizons: Sequence[Horizon] = _HORIZONS,
) -> None:
    for horizon in horizons:
        answers = []
        for each in (store, oracle):
            with each.reader(namespace, horizon) as view:
                names = ["ann", "bob", "t1", "t5"]
                answers.append(
                    (
                        snapshot(view),
                        dict(view.postings(["ann", "sang"], limit=90, where=Filter())),
                        dict(view.mentions(names, limit=None, where=Filter(session="s1"))),
                    )
                )
        assert answers[0] == answers[1], horizon


def test_said_in_order(store: Neo4jStore, namespace: str) -> None:
    """All passages that were written by a moment were also said by then."""
    oracle = DictStore()
    for each in (store, oracle):
        each.apply(namespace, _updates())
    _agree(store, oracle, namespace)
    for each in (store, oracle):
        for id in ("p0", "p13", "p31", "p59"):
            each.forget(namespace, Selection(kind="id", value=id))
        each.amend(namespace, Withdraw(ids=[f"p{n}" for n in range(4, 30, 4)]))
    _agree(store, oracle, namespace, _SOME)
    for each in (store, oracle):
        each.amend(namespace, Withdraw(ids=["p35", "p40", "p41"]))
        each.amend(namespace, Withdraw(ids=["p4"], undo=True))
    _agree(store, oracle, namespace, _SOME)


def test_said_in_another_order(store: Neo4jStore, namespace: str) -> None:
    """Some was said later than what was written after, or at no known time."""
    updates = [update for update in _updates() if update.text is not None]
    updates[15] = replace(updates[15], timestamp=at(45))
    updates[45] = replace(updates[45], timestamp=None)
    oracle = DictStore()
    for each in (store, oracle):
        each.apply(namespace, updates)
    _agree(store, oracle, namespace, _SOME)
