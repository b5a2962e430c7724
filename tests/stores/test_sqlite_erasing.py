"""What forgetting leaves in the bytes of the file and of its log: nothing."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from recallm.model import Horizon, Selection
from recallm.stores.sqlite import SQLiteStore, erasing
from tests.store_suite.marked_text import entity, prepared, triplet
from tests.store_suite.topics.base import Space, find_passage
from tests.stores.sqlite_rows import check_rows, count

pytestmark = pytest.mark.slow


@pytest.fixture
def store(path: Path) -> Iterator[SQLiteStore]:
    store = SQLiteStore(path)
    yield store
    store.close()


def bytes_of(path: Path) -> bytes:
    """Of the file and all that stands beside it. Another process reads: POSIX takes a process's
    locks on a file away when it closes any descriptor of that file."""
    return subprocess.check_output(["cat", *sorted(path.parent.iterdir())])


class TestForgottenText:
    """Nothing of what was forgotten is left in the bytes of the file or of its log."""

    def apply_each(self, store: SQLiteStore) -> None:
        store.apply("n", [prepared(f"before {i}", "[Bo] ran to [Rome]") for i in range(200)])
        store.apply(
            "n",
            [
                prepared(
                    f"secret {i}",
                    "[Quixote] hid the [zyzzyva]",
                    "[Bo] sat",
                    source="xylophone",
                    metadata={"code": "quokka"},
                    entities=(entity("e-vexillology", "Quincunx"),),
                    triplets=(triplet("e-vexillology", "jumbled", "e-vexillology"),),
                )
                for i in range(50)
            ],
        )
        store.apply("n", [prepared(f"after {i}", "[Ann] met [Bo]") for i in range(200)])

    words = (b"Quixote", b"quixote", b"zyzzyva", b"xylophone", b"quokka", b"Quincunx", b"jumbled")

    def test_whole_passages(self, store: SQLiteStore, path: Path) -> None:
        self.apply_each(store)
        assert all(word in bytes_of(path) for word in self.words)
        assert store.forget("n", Selection(kind="source", value="xylophone")).passages == 50
        assert [word for word in self.words if word in bytes_of(path)] == []
        assert count(store) == 400

    def test_single_statements(self, store: SQLiteStore, path: Path) -> None:
        self.apply_each(store)
        assert store.forget("n", Selection(kind="concept", value="zyzzyva")).statements == 50
        left = [word for word in self.words if word in bytes_of(path)]
        assert left == [b"xylophone", b"quokka", b"Quincunx", b"jumbled"]
        assert count(store) == 450

    def test_pronouns_elsewhere(self, store: SQLiteStore, path: Path) -> None:
        """A pronoun in another passage keeps no name of the forgotten one."""
        self.apply_each(store)
        store.apply(
            "n",
            [
                prepared(f"later {i}", f"{{He>quixote@secret {i}}} saw [Bo]", "[Ann] sat")
                for i in range(50)
            ],
        )
        assert store.forget("n", Selection(kind="source", value="xylophone")).passages == 50
        left = [word for word in (*self.words, b"secret") if word in bytes_of(path)]
        assert left == []
        assert count(store) == 500
        with closing(sqlite3.connect(path)) as connection:
            check_rows(connection)

    def test_an_open_reader_puts_the_purge_off(self, store: SQLiteStore, path: Path) -> None:
        self.apply_each(store)
        with store.reader("n", Horizon()) as reader:
            assert reader.sizes().corpus.statements == 500
            store.forget("n", Selection(kind="source", value="xylophone"))
            assert find_passage(reader, "secret 1") is not None
            assert b"zyzzyva" in bytes_of(path)
        store.apply("m", [prepared("1", "[Cy]")])
        assert b"zyzzyva" not in bytes_of(path)

    def test_rows_fit_afterwards(self, store: SQLiteStore, path: Path) -> None:
        self.apply_each(store)
        store.forget("n", Selection(kind="concept", value="rome"))
        Space(store, "n").delete_graph(entities=["e-vexillology"])
        with closing(sqlite3.connect(path)) as connection:
            check_rows(connection)


def name(number: int) -> str:
    """A word that stands nowhere else."""
    return "Q" + "".join(random.Random(number).choices("bcdfghjklmnpqrstvwxz", k=14))


NAMES, GROUPS = 600, 10


def group(number: int) -> str:
    """The source of every ``GROUPS``th name."""
    return f"group {number % GROUPS}"


def tell_of_many(store: SQLiteStore) -> None:
    """600 names, in two namespaces and in no order, so that pages are split in their middle."""
    numbers = list(range(NAMES))
    random.Random(5).shuffle(numbers)
    for first in range(0, NAMES, 30):
        store.apply(
            ("n", "other")[first // 30 % 2],
            [
                prepared(
                    f"id-{name(number)}",
                    f"[{name(number)}] met [Bo] [Ann]",
                    source=group(number),
                    entities=(entity(name(number), "Person"),),
                )
                for number in numbers[first : first + 30]
            ],
        )


def left_of(path: Path, numbers: range) -> list[int]:
    content = bytes_of(path).lower()
    return [number for number in numbers if name(number).lower().encode() in content]


class TestPagesThatWereSplit:
    def test_no_copy_is_left(self, store: SQLiteStore, path: Path) -> None:
        tell_of_many(store)
        for namespace in ("n", "other"):
            for number in range(0, GROUPS, 2):
                store.forget(namespace, Selection(kind="source", value=group(number)))
        assert left_of(path, range(0, NAMES, 2)) == []
        assert left_of(path, range(1, NAMES, 2)) == list(range(1, NAMES, 2))
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            check_rows(connection)
        assert count(store) + count(store, "other") == NAMES // 2
        tell_of_many(store)
        assert count(store) + count(store, "other") == NAMES

    def test_everything(self, store: SQLiteStore, path: Path) -> None:
        tell_of_many(store)
        for namespace in ("n", "other"):
            assert store.forget(namespace, Selection(kind="everything", value=True))
        assert left_of(path, range(NAMES)) == []

    def test_a_file_too_large_to_tell_its_pages_apart(
        self, store: SQLiteStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(erasing, "_MOST_PAGES", 10)
        tell_of_many(store)
        assert store.forget("n", Selection(kind="concept", value="bo")).erasure_pending

    def test_with_two_stores_on_one_file(self, store: SQLiteStore, path: Path) -> None:
        """The other one has pages in its cache that hold copies, and writes them again."""
        with closing(SQLiteStore(path)) as other:
            tell_of_many(other)
            for number in range(0, GROUPS, 2):
                for namespace in ("n", "other"):
                    store.forget(namespace, Selection(kind="source", value=group(number)))
                other.apply("n", [prepared(f"new {number}", f"[Cy{number}] met [Bo]")])
            assert left_of(path, range(0, NAMES, 2)) == []


READING = """
import sys
from recallm.model import Horizon
from recallm.stores.sqlite import SQLiteStore
store = SQLiteStore(sys.argv[1])
with store.reader("n", Horizon()) as reader:
    print(reader.sizes().corpus.statements, flush=True)
    sys.stdin.readline()
"""


@contextmanager
def reading_process(path: Path) -> Iterator[None]:
    """Another process with a reader open on the present state."""
    with subprocess.Popen(
        [sys.executable, "-c", READING, path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        yield
        process.communicate("\n", timeout=60)


class TestPutOff:
    """A reader of another process sees an earlier state: erasing waits, and ``forget`` says so."""

    secret = b"zyzzyva"

    def apply_each(self, store: SQLiteStore) -> None:
        store.apply("n", [prepared(f"{i}", "[Bo] hid the [zyzzyva]") for i in range(20)])
        store.apply("n", [prepared("kept", "[Bo] ran")])

    def forget(self, store: SQLiteStore, path: Path) -> None:
        with reading_process(path):
            forgotten = store.forget("n", Selection(kind="concept", value="zyzzyva"))
            assert forgotten.erasure_pending
            assert forgotten.passages == 20
            assert self.secret in bytes_of(path)

    def test_the_next_write_erases(self, store: SQLiteStore, path: Path) -> None:
        self.apply_each(store)
        self.forget(store, path)
        store.apply("m", [prepared("1", "[Cy]")])
        assert self.secret not in bytes_of(path)
        assert not store.forget("m", Selection(kind="id", value="1")).erasure_pending

    def test_the_next_write_of_another_process_erases(self, store: SQLiteStore, path: Path) -> None:
        with closing(SQLiteStore(path)) as other:
            self.apply_each(store)
            self.forget(store, path)
            other.apply("m", [prepared("1", "[Cy]")])
            assert self.secret not in bytes_of(path)

    def test_closing_erases(self, path: Path) -> None:
        store = SQLiteStore(path)
        self.apply_each(store)
        self.forget(store, path)
        store.close()
        assert self.secret not in bytes_of(path)

    def test_the_next_opening_erases_where_the_forgetter_died(self, path: Path) -> None:
        program = (
            "import os, sys\n"
            "from recallm.model import Selection\n"
            "from recallm.stores.sqlite import SQLiteStore, file\n"
            "file.erase_deleted = lambda *given: os._exit(9)\n"
            "store = SQLiteStore(sys.argv[1])\n"
            "store.forget('n', Selection(kind='concept', value='zyzzyva'))\n"
        )
        with closing(SQLiteStore(path)) as store:
            self.apply_each(store)
        assert subprocess.run([sys.executable, "-c", program, path]).returncode == 9
        assert self.secret in bytes_of(path)
        with closing(SQLiteStore(path)) as store:
            assert self.secret not in bytes_of(path)
            assert count(store) == 1

    def test_what_forgets_nothing_is_not_pending(self, store: SQLiteStore, path: Path) -> None:
        self.apply_each(store)
        self.forget(store, path)
        with reading_process(path):
            nothing = store.forget("n", Selection(kind="id", value="nobody"))
            assert (bool(nothing), nothing.erasure_pending) == (False, False)
