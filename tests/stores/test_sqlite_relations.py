"""Relations among concepts are found in other ways for hubs and in views of the past."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing

import pytest

from recallm.model import Horizon
from recallm.stores.sqlite import SQLiteStore, relations
from tests.store_suite import DictStore
from tests.store_suite.marked_text import entity, prepared
from tests.store_suite.topics.base import at

NAMES = [f"c{i}" for i in range(14)]


@pytest.fixture(scope="module", params=range(3))
def written(request: pytest.FixtureRequest) -> Iterator[tuple[SQLiteStore, DictStore]]:
    """A store and the oracle with the same updates: two hubs, chains, islands."""
    chance = random.Random(request.param)
    updates = []
    for number in range(40):
        some = chance.sample(NAMES[:9], 2) if number % 3 else chance.sample(NAMES[8:], 2)
        if number % 4 == 0:
            some[0] = chance.choice(["c0", "c1"])
        moving = (entity("e", "E", chance.choice(NAMES)),) if number % 7 == 0 else ()
        expires = at(-1) if number % 11 == 0 else None
        updates.append(
            prepared(
                str(number),
                " and ".join(f"[{name}]" for name in dict.fromkeys(some)),
                timestamp=at(chance.randrange(100)) if number % 5 else None,
                expires_at=expires,
                entities=moving,
            )
        )
    oracle = DictStore()
    with closing(SQLiteStore()) as store:
        store.apply("n", updates)
        oracle.apply("n", updates)
        yield store, oracle


@pytest.mark.parametrize(
    "horizon",
    [Horizon(), Horizon(as_of=25), Horizon(as_of=at(50)), Horizon(now=at(0)), Horizon(as_of=0)],
    ids=["now", "t", "datetime", "expired", "nothing"],
)
@pytest.mark.parametrize("few", [1, 64])
def test_every_way_says_what_the_oracle_says(
    written: tuple[SQLiteStore, DictStore],
    horizon: Horizon,
    few: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(relations, "_FEW_AT_LEAST", few)
    store, oracle = written
    with store.reader("n", horizon) as reader, oracle.reader("n", horizon) as expected:
        for size in (2, 5, 14):
            names = NAMES[:size]
            assert reader.relations(names, among=True) == expected.relations(names, among=True)
            for limit in (0, 1, 3, 50, None):
                found, wanted = (it.relations(names, limit=limit) for it in (reader, expected))
                assert found == wanted
