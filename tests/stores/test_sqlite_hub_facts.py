"""The latest evidence of a hub is found in the latest rows of all evidence, if it stands there."""

from __future__ import annotations

from itertools import product

import pytest

from recallm.model import Horizon, PreparedUpdate
from recallm.stores.sqlite import SQLiteStore
from recallm.stores.sqlite import reader as sqlite_reader
from tests.store_suite import DictStore
from tests.store_suite.marked_text import entity, prepared, triplet
from tests.store_suite.topics.base import NOON, at


def updates() -> list[PreparedUpdate]:
    """Facts of a hub and of others in turn; some are dated, some expire, some are repeated."""
    return [
        prepared(
            str(number),
            "",
            entities=(entity("hub", "Hub"), entity("rest", "Rest"), entity(str(number), "End")),
            triplets=(
                triplet(str(number), "asks" if number % 3 else "tells", "hub"),
                triplet("hub", "asks", str(number // 4)) if number % 4 == 0
                else triplet("rest", "asks", str(number)),
            ),
            timestamp=NOON if number % 5 else None,
            expires_at=at(1) if number % 7 == 0 else None,
        )
        for number in range(40)
    ]  # fmt: skip


CONDITIONS: tuple[dict[str, list[str]], ...] = (
    {"objects": ["hub"]},
    {"objects": ["hub"], "predicates": ["asks"]},
    {"subjects": ["hub", "rest"]},
    {"predicates": ["tells"]},
    {},
)


@pytest.mark.slow
def test_the_latest_evidence_of_a_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_reader, "_FEW_TRIPLETS", 2)
    store, oracle = SQLiteStore(), DictStore()
    for each in (store, oracle):
        each.apply("n", updates())
        each.apply("other", updates()[:9])
    horizons = (Horizon(), Horizon(as_of=31), Horizon(as_of=NOON), Horizon(now=at(10)))
    for horizon, recent in product(horizons, (5, 30, 4096)):
        monkeypatch.setattr(sqlite_reader, "_RECENT_ROWS", recent)
        with store.reader("n", horizon) as reader, oracle.reader("n", horizon) as expected:
            for given, limit in product(CONDITIONS, (1, 2, 10, 100)):
                case = (horizon, recent, given, limit)
                wanted = expected.triplet_evidence(**given, limit=limit)
                assert reader.triplet_evidence(**given, limit=limit) == wanted, case
