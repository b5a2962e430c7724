"""Processes that fork while a memory is open: nothing acknowledged is lost, no child hangs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import pytest

from recallm import RecallM
from recallm.errors import ClosedError, StoreUnavailableError
from recallm.model import Horizon, PreparedUpdate
from recallm.stores.sqlite import SQLiteStore
from tests.store_suite.marked_text import prepared
from tests.store_suite.topics.base import find_passage
from tests.tools import in_child

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork"),
    # What Python 3.12 says of every fork of a process with threads.
    pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork.*:DeprecationWarning"),
]

HANGS_AFTER = 60.0
FORKS = [12, pytest.param(250, marks=pytest.mark.nightly)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


def exit_status(child: int) -> int | None:
    """The child's exit status; None where it had to be killed."""
    deadline = time.monotonic() + HANGS_AFTER
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.001)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def write(store: SQLiteStore, id: str) -> None:
    store.apply("n", [prepared(id, "[Ann] met [Bo]")])


def ids(store: SQLiteStore) -> set[str]:
    with store.reader("n", Horizon()) as reader:
        return {record.id for record in reader.dump() if isinstance(record, PreparedUpdate)}


def holds(store: SQLiteStore, id: str) -> bool:
    with store.reader("n", Horizon()) as reader:
        return find_passage(reader, id) is not None


@contextmanager
def busy(store: SQLiteStore) -> Generator[set[str], None, None]:
    """Two threads that write and read; the ids that were acknowledged to them."""
    stop = threading.Event()
    acknowledged: set[str] = set()

    def use(name: str) -> None:
        number = 0
        while not stop.is_set():
            write(store, f"{name}-{number}")
            acknowledged.add(f"{name}-{number}")
            number += 1
            with store.reader("n", Horizon()) as reader:
                reader.relations(["ann"], limit=3)
            time.sleep(0.005)

    with ThreadPoolExecutor(max_workers=2) as pool:
        running = [pool.submit(use, name) for name in ("a", "b")]
        try:
            yield acknowledged
        finally:
            stop.set()
        for each in running:
            each.result()


class TestFile:
    def test_workers_that_are_forked_before_their_parent_closes(self, path: Path) -> None:
        """As a web server forks its workers: one goes on with its copy of the open store, another
        one opens the file anew."""
        store = SQLiteStore(path)
        write(store, "parent")

        def work(name: str, used: SQLiteStore) -> None:
            for number in range(20):
                write(used, f"{name}-{number}")
            used.close()

        children = [
            in_child(lambda: work("inherited", store)),
            in_child(lambda: work("anew", SQLiteStore(path))),
        ]
        store.close()
        assert [exit_status(child) for child in children] == [0, 0]
        with closing(SQLiteStore(path)) as opened:
            assert ids(opened) == {"parent"} | {
                f"{name}-{number}" for name in ("inherited", "anew") for number in range(20)
            }

    @pytest.mark.parametrize("forks", FORKS)
    def test_many_forks_while_threads_use_the_store(self, path: Path, forks: int) -> None:
        with closing(SQLiteStore(path)) as store:

            def inherited(id: str) -> None:
                write(store, id)
                assert holds(store, id)
                store.close()

            def anew(id: str) -> None:
                with closing(SQLiteStore(path)) as opened:
                    write(opened, id)

            with busy(store) as acknowledged:
                for number in range(forks):
                    id = f"child-{number}"
                    work = inherited if number % 2 else anew
                    assert exit_status(in_child(partial(work, id))) == 0
            assert acknowledged
            assert ids(store) == acknowledged | {f"child-{number}" for number in range(forks)}

    def test_a_reader_that_is_open_belongs_to_the_parent(self, path: Path) -> None:
        with closing(SQLiteStore(path)) as store:
            write(store, "1")
            with store.reader("n", Horizon()) as reader:

                def work() -> None:
                    with pytest.raises(ClosedError):
                        reader.stats()
                    write(store, "2")
                    assert ids(store) == {"1", "2"}
                    store.close()

                assert exit_status(in_child(work)) == 0
                assert reader.sizes().corpus.statements == 1
            assert ids(store) == {"1", "2"}

    def test_a_fork_in_the_middle_of_a_write(self, path: Path) -> None:
        """The child can use the file in no way, and says so; the parent's write is whole."""
        with closing(SQLiteStore(path)) as store:
            write(store, "1")

            def work() -> None:
                uses = (lambda: write(store, "2"), lambda: ids(store), lambda: SQLiteStore(path))
                for use in uses:
                    with pytest.raises(StoreUnavailableError, match="fork"):
                        use()

            statuses = []

            def records() -> Iterator[PreparedUpdate]:
                for number in range(100):
                    if number == 50:
                        statuses.append(exit_status(in_child(work)))
                    yield prepared(str(number), "[Ann] met [Bo]", t_index=number + 1)

            assert store.restore("m", 100, records()) == 100
            assert statuses == [0]
            with store.reader("m", Horizon()) as reader:
                assert reader.sizes().corpus.statements == 100
            write(store, "2")
            assert ids(store) == {"1", "2"}


class TestMemory:
    @pytest.mark.parametrize("forks", FORKS)
    def test_many_forks_while_threads_use_the_store(self, forks: int) -> None:
        """The child has a copy of what was there when it was forked."""
        with closing(SQLiteStore()) as store:
            write(store, "before")

            def work() -> None:
                write(store, "child")
                assert holds(store, "before")
                assert holds(store, "child")
                store.close()

            with busy(store):
                for _ in range(forks):
                    assert exit_status(in_child(work)) == 0
            assert not holds(store, "child")


REMEMBERING = """
import multiprocessing, sys
from recallm import RecallM

def work(name, path):
    with RecallM(path) as memory:
        for number in range(5):
            memory.update(f"{name} owns {number} boats.", id=f"{name}-{number}")

if __name__ == "__main__":
    method, path = sys.argv[1:]
    memory = RecallM(path)
    memory.update("Ann owns a boat.", id="parent")
    context = multiprocessing.get_context(method)
    processes = [context.Process(target=work, args=(name, path)) for name in ("Bo", "Cy")]
    for process in processes:
        process.start()
    memory.close()
    for process in processes:
        process.join()
    sys.exit(any(process.exitcode for process in processes))
"""


@pytest.mark.parametrize("method", ["fork", pytest.param("spawn", marks=pytest.mark.nightly)])
def test_multiprocessing(method: str, path: Path, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(REMEMBERING)
    done = subprocess.run(
        [sys.executable, program, method, path], timeout=120, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    with RecallM(path) as memory:
        assert memory.stats().passages == 11


def test_a_memory_in_use_by_another_thread(path: Path) -> None:
    """Extraction, embeddings and recall have locks of their own: each is free in the child."""

    def embed(texts: list[str]) -> list[list[float]]:
        return [[float(len(text)), 1.0] for text in texts]

    with RecallM(path, embeddings=embed) as memory:
        stop = threading.Event()

        def use() -> None:
            number = 0
            while not stop.is_set():
                memory.update(f"Ann saw boat {number}. It was blue.")
                memory.recall("Which boat did Ann see?")
                number += 1

        def work() -> None:
            memory.update("Bo sold a boat.", id=None)
            assert "Bo" in memory.recall("Who sold a boat?").text

        with ThreadPoolExecutor(max_workers=1) as pool:
            using = pool.submit(use)
            statuses = [exit_status(in_child(work)) for _ in range(5)]
            stop.set()
            using.result()
        assert statuses == [0] * 5
        assert sum("Bo sold" in passage.text for passage in memory.passages()) == 5
