"""Exceptions that a signal handler raises anywhere in a call: Ctrl-C, time-outs by SIGALRM."""

from __future__ import annotations

import gc
import math
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

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no interval timers here"),
]


@pytest.fixture(autouse=True)
def forgotten_by_the_hook(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python swallows, and reports, what is raised in a callback of its garbage collector. pytest
    would keep the report, and with its traceback the frames of interrupted readers."""
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)


SHORTEST = 0.005
"""Seconds that the longest time before a signal is at least."""


class Interrupted(BaseException):
    """Raised by the signal handler, as KeyboardInterrupt is."""


@contextmanager
def interrupting() -> Generator[Callable[[Callable[[], object]], bool], None, None]:
    """``attempt(work)``: whether ``work`` returned before a signal came, after a random time. The
    longest time grows on a busy machine, where nothing would ever return otherwise."""
    chance = random.Random(12)
    armed = False
    longest = SHORTEST

    def handler(signum: int, frame: object) -> None:
        del signum, frame
        if armed:
            raise Interrupted

    def attempt(work: Callable[[], object]) -> bool:
        nonlocal armed, longest
        done = False
        try:
            armed = True
            signal.setitimer(signal.ITIMER_REAL, 10 ** chance.uniform(-5, math.log10(longest)))
            work()
            done = True
            armed = False
        except Interrupted:
            armed = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        longest = max(SHORTEST, longest * (0.9 if done else 1.1))
        return done

    before = signal.signal(signal.SIGALRM, handler)
    try:
        yield attempt
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def often(some: int, many: int) -> pytest.MarkDecorator:
    """The argument ``times`` of a test: how often there are interrupts in the day and at night."""
    return pytest.mark.parametrize("times", [some, pytest.param(many, marks=pytest.mark.nightly)])


def interrupted_often(store: SQLiteStore, times: int, check: Callable[[], None]) -> set[str]:
    """Write, read and forget, and be interrupted; the ids whose writing was acknowledged."""
    acknowledged: set[str] = set()
    attempted = interrupts = 0
    with interrupting() as attempt:
        while interrupts < times:
            attempted += 1
            id = str(attempted)
            if attempt(lambda id=id: store.apply("n", [prepared(id, "[Ann] met [Bo]")])):  # type: ignore[misc]
                acknowledged.add(id)
            else:
                interrupts += 1
                if interrupts % 50 == 0:
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


@often(300, 5_000)
def test_a_file(tmp_path: Path, times: int) -> None:
    path = tmp_path / "memory.db"
    store = SQLiteStore(path, timeout=5)

    def check_other_processes() -> None:
        """Other processes can write, and so can other threads."""
        with closing(sqlite3.connect(path, timeout=0.2, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            other.rollback()

    acknowledged = interrupted_often(store, times, check_other_processes)
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


@often(300, 5_000)
def test_a_store_in_memory(times: int) -> None:
    store = SQLiteStore(timeout=5)
    acknowledged = interrupted_often(store, times, lambda: None)
    with ThreadPoolExecutor(max_workers=1) as pool:
        pool.submit(store.apply, "n", [prepared("last", "[Ann]")]).result(timeout=30)
        assert pool.submit(read_ids, store).result(timeout=30) >= acknowledged | {"last"}
        assert open_views(store) == 0
        pool.submit(store.close).result(timeout=30)


@often(100, 1_000)
def test_while_another_thread_writes(tmp_path: Path, times: int) -> None:
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
            for number in range(times):
                id = str(number)
                if attempt(lambda id=id: store.apply("n", [prepared(id, "[Ann]")])):  # type: ignore[misc]
                    acknowledged.add(id)
            stop.append(True)
            written = using.result(timeout=30)
        threads = {f"thread-{number}" for number in range(1, written + 1)}
        assert read_ids(store) >= acknowledged | threads


@often(25, 200)
def test_closing_is_interrupted(tmp_path: Path, times: int) -> None:
    """The memory is closed, or works; the file is undamaged either way."""
    path = tmp_path / "memory.db"
    with interrupting() as attempt:
        for number in range(times):
            store = SQLiteStore(path, timeout=5)
            store.apply("n", [prepared(str(number), "[Ann] met [Bo]")])
            attempt(store.close)
            with suppress(RecallMError):
                store.apply("m", [prepared(str(number), "[Ann]")])
            store.close()
            store.close()
    with closing(SQLiteStore(path)) as store:
        assert read_ids(store) == {str(number) for number in range(times)}
