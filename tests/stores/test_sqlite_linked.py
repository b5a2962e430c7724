"""``linked`` takes other ways for hubs, wide windows and views of the past: all say the same."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing

import pytest

from recallm.model import Horizon
from recallm.stores.sqlite import SQLiteStore, relations, traversal
from recallm.testing import DictStore
from recallm.testing.marked_text import entity, prepared
from recallm.testing.suite.base import at

NAMES = [f"c{i}" for i in range(14)]


@pytest.fixture(scope="module", params=range(3))
def told(request: pytest.FixtureRequest) -> Iterator[tuple[SQLiteStore, DictStore]]:
    """A store and the oracle that were told the same: two hubs, chains, islands."""
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
    ("few", "page", "ball"), [(4096, 256, 20_000), (2, 3, 5), (0, 1, 0), (3, 2, 1000), (4096, 2, 2)]
)
@pytest.mark.parametrize(
    "horizon",
    [Horizon(), Horizon(as_of=25), Horizon(as_of=at(50)), Horizon(now=at(0)), Horizon(as_of=0)],
    ids=["now", "t", "datetime", "expired", "nothing"],
)
def test_every_way_says_what_the_oracle_says(
    told: tuple[SQLiteStore, DictStore],
    horizon: Horizon,
    few: int,
    page: int,
    ball: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(traversal, "_FEW_NEIGHBOURS", few)
    monkeypatch.setattr(traversal, "_PAGE", page)
    monkeypatch.setattr(traversal, "_SMALL_BALL", ball)
    monkeypatch.setattr(traversal, "_SHORT_SPAN", 10)
    monkeypatch.setattr(traversal, "_FEW_AT_LEAST", 1)
    monkeypatch.setattr(relations, "_FEW_AT_LEAST", 1)
    store, oracle = told
    with store.reader("n", horizon) as reader, oracle.reader("n", horizon) as expected:
        for start in [*NAMES, "none"]:
            for hops in (1, 2, 3, 5):
                for oldest, newest, limit in [(0, 99, 50), (20, 28, 50), (5, 35, 4), (9, 8, 5)]:
                    found, wanted = (
                        r.linked(start, hops=hops, oldest=oldest, newest=newest, limit=limit)
                        for r in (reader, expected)
                    )
                    assert found == wanted, (start, hops, oldest, newest, limit)
        for size in (2, 5, 14):
            names = NAMES[:size]
            assert reader.relations_among(names) == expected.relations_among(names)
            for limit in (0, 1, 3, 50):
                assert reader.relations(names, limit=limit) == expected.relations(
                    names, limit=limit
                )
