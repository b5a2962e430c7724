"""Many users at once: the figures add up, and what a store holds is checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.scale import Target, check, measure
from benchmarks.scale_load import Load, quick, shares
from recallm import RecallM
from tests.neo4j.fixtures import RunningServer

_LOAD = quick(Load(processes=1))


def test_shares_follow_zipfs_law_and_lose_nothing() -> None:
    assert shares(4, 25, 1.0) == [12, 6, 4, 3]
    assert shares(3, 10, 0.0) == [4, 3, 3]
    assert sum(shares(50, 997, 1.1)) == 997


def _adds_up(found: dict[str, Any]) -> None:
    row = found["row"]
    assert min(row["updates/s"], row["recalls/s"]) > 0
    assert row["update p50 ms"] <= row["update p95 ms"]
    assert found["alone"]["update client cpu ms"] > 0


@pytest.mark.slow
def test_a_run_on_sqlite_adds_up_and_gives_bytes(tmp_path: Path) -> None:
    found = measure(Target(name="SQLite", place=str(tmp_path / "a.db"), folder=tmp_path), _LOAD)
    _adds_up(found)
    assert found["row"]["bytes a statement"] > 50
    assert found["alone"]["update trips"] is None
    with RecallM(tmp_path / "a.db") as memory:
        held = [memory.in_namespace(f"scale-{rank}").stats().passages for rank in (1, 2, 3, 4)]
    assert sum(held) == _LOAD.filled + _LOAD.updates + _LOAD.alone
    with pytest.raises(SystemExit, match="an earlier run"):
        measure(Target(name="SQLite", place=str(tmp_path / "a.db")), _LOAD)


@pytest.mark.nightly  # the run on SQLite goes through the same phases, without the proxy
def test_a_run_on_a_server_counts_round_trips_with_their_delay(neo4j_server: RunningServer) -> None:
    target = Target(name="Neo4j", place=neo4j_server.uri, auth=neo4j_server.auth)
    try:
        found = measure(target, _LOAD, 0.01)
    finally:
        with RecallM(neo4j_server.uri, auth=neo4j_server.auth) as memory:
            for rank in (1, 2, 3, 4):
                memory.erase_namespace(f"scale-{rank}")
    _adds_up(found)
    alone = found["alone"]
    for name in ("update", "recall"):
        assert alone[f"{name} trips"] >= 1
        assert alone[f"{name} p50 ms"] >= 10
    assert found["row"]["bytes a statement"] is None
    assert alone["update server cpu ms"] is None


def test_what_a_store_holds_must_be_what_was_written() -> None:
    """Not lost, not doubled, no other text, nothing of another namespace."""
    for written in (
        {},
        {"1/1": "Ann sails.", "1/1+": "Ann sails."},
        {"1/1": "Ben sails."},
        {"1/1": "Ann sails.", "2/1": "B."},
    ):
        with RecallM() as memory:
            for id, text in written.items():
                memory.update(text, id=id)
            with pytest.raises(SystemExit, match="passages of 1 written"):
                check(memory, {"1/1": "Ann sails."})
            memory.forget(everything=True)
            memory.update("Ann sails.", id="1/1")
            check(memory, {"1/1": "Ann sails."})
