"""The latest evidence of a hub is found in the latest rows of all evidence, if it stands there."""

from __future__ import annotations

import pytest

from recallm.model import Horizon, PreparedUpdate
from recallm.stores.sqlite import SQLiteStore, facts
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
        for number in range(60)
    ]  # fmt: skip


CONDITIONS: dict[str, dict[str, list[str]]] = {
    "object": {"objects": ["hub"]},
    "object and predicate": {"objects": ["hub"], "predicates": ["asks"]},
    "subject": {"subjects": ["hub", "rest"]},
    "predicate": {"predicates": ["tells"]},
    "nothing": {},
}


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("recent", [5, 40, 4096])
@pytest.mark.parametrize(
    "horizon", [Horizon(), Horizon(as_of=31), Horizon(as_of=NOON), Horizon(now=at(10))]
)
def test_the_latest_evidence_of_a_hub(
    monkeypatch: pytest.MonkeyPatch, condition: str, recent: int, horizon: Horizon
) -> None:
    monkeypatch.setattr(facts, "_FEW_TRIPLETS", 2)
    monkeypatch.setattr(facts, "_RECENT_ROWS", recent)
    store, oracle = SQLiteStore(), DictStore()
    for each in (store, oracle):
        each.apply("n", updates())
        each.apply("other", updates()[:9])
    with store.reader("n", horizon) as reader, oracle.reader("n", horizon) as expected:
        for limit in (1, 2, 10, 100):
            given = CONDITIONS[condition]
            assert reader.triplet_evidence(**given, limit=limit) == expected.triplet_evidence(
                **given, limit=limit
            )
