"""Many users at once: the figures add up, and what a store holds is checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.scale import Target, check, measure
from benchmarks.scale_load import Load, shares
from recallm import RecallM

_LOAD = Load(
    processes=1, writers=2, readers=2, namespaces=4, filled=48, updates=24, recalls=12, alone=6
)


def test_shares_follow_zipfs_law_and_lose_nothing() -> None:
    assert shares(4, 25, 1.0) == [12, 6, 4, 3]
    assert shares(3, 10, 0.0) == [4, 3, 3]
    assert sum(shares(50, 997, 1.1)) == 997


@pytest.mark.slow
def test_a_run_on_sqlite_adds_up_and_gives_bytes(tmp_path: Path) -> None:
    found = measure(Target(name="SQLite", place=str(tmp_path / "a.db"), folder=tmp_path), _LOAD)
    row = found["row"]
    assert min(row["updates/s"], row["recalls/s"]) > 0
    assert row["update p50 ms"] <= row["update p95 ms"]
    assert found["alone"]["update client cpu ms"] > 0
    assert row["bytes a statement"] > 50
    assert found["alone"]["update trips"] is None
    with RecallM(tmp_path / "a.db") as memory:
        held = [memory.in_namespace(f"scale-{rank}").stats().passages for rank in (1, 2, 3, 4)]
    assert sum(held) == _LOAD.filled + _LOAD.updates + _LOAD.alone
    with pytest.raises(SystemExit, match="an earlier run"):
        measure(Target(name="SQLite", place=str(tmp_path / "a.db")), _LOAD)


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
