"""Exceptions that a signal handler raises anywhere in a call: Ctrl-C, time-outs by SIGALRM."""

from __future__ import annotations

import gc
import random
import signal
import sqlite3
import sys
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from recallm.errors import RecallMError
from recallm.model import Horizon, PreparedUpdate, Selection
from recallm.stores.sqlite import SQLiteStore
from tests.store_suite.marked_text import prepared
from tests.stores.sqlite_rows import check_rows

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no interval timers here")

INTERRUPTS = 5_000
"""In each of the two tests."""


@pytest.fixture(autouse=True)
def forgotten_by_the_hook(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python swallows, and reports, what is raised in a callback of its garbage collector. pytest
    would keep the report, and with its traceback the frames of interrupted readers."""
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)


class Interrupted(BaseException):
    """Raised by the signal handler, as KeyboardInterrupt is."""


@contextmanager
def interrupting() -> Generator[Callable[[Callable[[], object]], bool], None, None]:
    """``attempt(work)``: whether ``work`` returned before a signal came, after a random time."""
    chance = random.Random(12)
    armed = False

    def handler(signum: int, frame: object) -> None:
        del signum, frame
        if armed:
            raise Interrupted

    def attempt(work: Callable[[], object]) -> bool:
        nonlocal armed
        done = False
        try:
            armed = True
            signal.setitimer(signal.ITIMER_REAL, 10 ** chance.uniform(-5, -2.3))
            work()
            done = True
            armed = False
        except Interrupted:
            armed = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        return done

    before = signal.signal(signal.SIGALRM, handler)
    try:
        yield attempt
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def interrupted_often(store: SQLiteStore, check: Callable[[], None]) -> set[str]:
    """Write, read and forget, and be interrupted; the ids whose writing was acknowledged."""
    acknowledged: set[str] = set()
    attempted = interrupts = 0
    with interrupting() as attempt:
        while interrupts < INTERRUPTS:
            attempted += 1
            id = str(attempted)
            if attempt(lambda id=id: store.apply("n", [prepared(id, "[Ann] met [Bo]")])):  # type: ignore[misc]
                acknowledged.add(id)
            else:
                interrupts += 1
                if interrupts % 500 == 0:
                    check()
            interrupts += not attempt(lambda: read_ids(store))
            if attempted % 10 == 0:
                forgotten = chosen(acknowledged)
                acknowledged -= forgotten
                interrupts += not attempt(
                    lambda forgotten=forgotten: [  # type: ignore[misc]
                        store.forget("n", Selection(kind="id", value=id)) for id in forgotten
                    ]
                )
    return acknowledged


def open_views(store: SQLiteStore) -> int:
    """How many readers the store takes for open."""
    gc.collect()
    return len(store._connections._snapshots)


def chosen(acknowledged: set[str]) -> set[str]:
    return set(sorted(acknowledged)[:8]) if len(acknowledged) > 20 else set()


def read_ids(store: SQLiteStore) -> set[str]:
    with store.reader("n", Horizon()) as reader:
        return {record.id for record in reader.dump() if isinstance(record, PreparedUpdate)}


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    store = SQLiteStore(path, timeout=5)

    def check_other_processes() -> None:
        """Other processes can write, and so can other threads."""
        with closing(sqlite3.connect(path, timeout=0.2, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            other.rollback()

    acknowledged = interrupted_often(store, check_other_processes)
    assert acknowledged
    with ThreadPoolExecutor(max_workers=1) as pool:
        pool.submit(store.apply, "n", [prepared("last", "[Ann]")]).result(timeout=30)
        assert pool.submit(read_ids, store).result(timeout=30) >= acknowledged | {"last"}
        assert open_views(store) == 0
        forgotten = pool.submit(store.forget, "n", Selection(kind="id", value="last")).result(
            timeout=30
        )
        assert not forgotten.erasure_pending
        pool.submit(store.close).result(timeout=30)
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    with closing(sqlite3.connect(path)) as connection:
        check_rows(connection)
    with closing(SQLiteStore(path)) as opened:
        assert read_ids(opened) >= acknowledged


def test_a_store_in_memory() -> None:
    store = SQLiteStore(timeout=5)
    acknowledged = interrupted_often(store, lambda: None)
    with ThreadPoolExecutor(max_workers=1) as pool:
        pool.submit(store.apply, "n", [prepared("last", "[Ann]")]).result(timeout=30)
        assert pool.submit(read_ids, store).result(timeout=30) >= acknowledged | {"last"}
        assert open_views(store) == 0
        pool.submit(store.close).result(timeout=30)


def test_while_another_thread_writes(tmp_path: Path) -> None:
    """Interrupted while it waits for the lock, a write leaves the lock to the others."""
    with closing(SQLiteStore(tmp_path / "memory.db", timeout=5)) as store:
        stop: list[bool] = []

        def use() -> int:
            number = 0
            while not stop:
                number += 1
                store.apply("n", [prepared(f"thread-{number}", "[Ann] met [Bo]")])
            return number

        acknowledged = set()
        with ThreadPoolExecutor(max_workers=1) as pool, interrupting() as attempt:
            using = pool.submit(use)
            for number in range(1_000):
                id = str(number)
                if attempt(lambda id=id: store.apply("n", [prepared(id, "[Ann]")])):  # type: ignore[misc]
                    acknowledged.add(id)
            stop.append(True)
            written = using.result(timeout=30)
        threads = {f"thread-{number}" for number in range(1, written + 1)}
        assert read_ids(store) >= acknowledged | threads


def test_closing_is_interrupted(tmp_path: Path) -> None:
    """The memory is closed, or works; the file is undamaged either way."""
    path = tmp_path / "memory.db"
    with interrupting() as attempt:
        for number in range(200):
            store = SQLiteStore(path, timeout=5)
            store.apply("n", [prepared(str(number), "[Ann] met [Bo]")])
            attempt(store.close)
            with suppress(RecallMError):
                store.apply("m", [prepared(str(number), "[Ann]")])
            store.close()
            store.close()
    with closing(SQLiteStore(path)) as store:
        assert read_ids(store) == {str(number) for number in range(200)}
