"""Relations in views of the present and of the past, against the oracle."""

from __future__ import annotations

import random

import pytest

from recallm.model import Horizon
from recallm.stores.sqlite import SQLiteStore
from tests.store_suite import DictStore
from tests.store_suite.marked_text import entity, prepared
from tests.store_suite.topics.base import at

NAMES = [f"c{i}" for i in range(14)]


def written(seed: int) -> tuple[SQLiteStore, DictStore]:
    """A store and the oracle with the same updates: two hubs, chains, islands."""
    chance = random.Random(seed)
    updates = []
    for number in range(40):
        some = chance.sample(NAMES[:9], 2) if number % 3 else chance.sample(NAMES[8:], 2)
        if number % 4 == 0:
            some[0] = chance.choice(["c0", "c1"])
        moving = (entity("e", "E", chance.choice(NAMES)),) if number % 7 == 0 else ()
        updates.append(
            prepared(
                str(number),
                " and ".join(f"[{name}]" for name in dict.fromkeys(some)),
                timestamp=at(chance.randrange(100)) if number % 5 else None,
                expires_at=at(-1) if number % 11 == 0 else None,
                entities=moving,
            )
        )
    store, oracle = SQLiteStore(), DictStore()
    for each in (store, oracle):
        each.apply("n", updates)
    return store, oracle


@pytest.mark.parametrize("seeds", [range(1), pytest.param(range(1, 6), marks=pytest.mark.nightly)])
def test_every_way_says_what_the_oracle_says(seeds: range) -> None:
    horizons = (
        Horizon(),
        Horizon(as_of=25),
        Horizon(as_of=at(50)),
        Horizon(now=at(0)),
        Horizon(as_of=0),
    )
    for seed in seeds:
        store, oracle = written(seed)
        for horizon in horizons:
            with store.reader("n", horizon) as reader, oracle.reader("n", horizon) as expected:
                for size in (2, 5, 14):
                    names, case = NAMES[:size], (seed, horizon, size)
                    found, wanted = (
                        view.relations(names, among=True) for view in (reader, expected)
                    )
                    assert found == wanted, case
                    for limit in (0, 1, 3, 50, None):
                        found, wanted = (
                            view.relations(names, limit=limit) for view in (reader, expected)
                        )
                        assert found == wanted, (case, limit)
        store.close()
