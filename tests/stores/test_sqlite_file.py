"""What is particular to a file: its failures, its other users, and what forgetting leaves in it."""

from __future__ import annotations

import gc
import re
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from recallm.errors import (
    ClosedError,
    InvalidInputError,
    SchemaVersionError,
    StoreBusyError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
)
from recallm.model import POSITION_BITS, Horizon, PreparedUpdate, Selection, Summary
from recallm.stores import sqlite
from recallm.stores.base import SCHEMA_VERSION
from recallm.stores.sqlite import SQLiteStore, connections
from recallm.stores.sqlite.open_files import OpenFile
from tests.store_suite.marked_text import prepared
from tests.store_suite.topics.base import Space, at
from tests.stores.sqlite_rows import check_rows, count, fill


@pytest.fixture
def store(path: Path) -> Iterator[SQLiteStore]:
    store = SQLiteStore(path)
    yield store
    store.close()


class TestOpening:
    def test_a_name_may_hold_what_addresses_must_not(self, tmp_path: Path) -> None:
        path = tmp_path / "a?mode=memory&b#c %41 é.db"
        fill(path)
        assert path.exists()
        with closing(SQLiteStore(path)) as store:
            assert count(store) == 3

    def test_an_empty_file_becomes_a_store(self, path: Path) -> None:
        path.touch()
        fill(path)
        with closing(SQLiteStore(path)) as store:
            assert count(store) == 3

    def test_no_file_can_be_there(self, tmp_path: Path) -> None:
        with pytest.raises(StoreError, match="create its folder first"):
            SQLiteStore(tmp_path / "none" / "memory.db")
        with pytest.raises(StoreError, match="Is a directory"):
            SQLiteStore(tmp_path)

    def test_the_file_is_no_database(self, path: Path) -> None:
        for content in (b"Dear diary, " * 500, b"\0" * 8192, b"x"):
            path.write_bytes(content)
            with pytest.raises(StoreCorruptError, match=r"memory\.db is not a"):
                SQLiteStore(path)
            assert path.read_bytes() == content

    def test_the_file_is_another_programs_database(self, path: Path) -> None:
        with closing(sqlite3.connect(path)) as other:
            other.execute("CREATE TABLE song (title TEXT)")
        before = path.read_bytes()
        with pytest.raises(StoreCorruptError, match="not one of recallm"):
            SQLiteStore(path)
        assert path.read_bytes() == before

    def test_another_recallm_wrote_the_file(self, path: Path) -> None:
        fill(path)
        export = "export it with the recallm that wrote it"
        for version, advice in ((SCHEMA_VERSION + 1, "upgrade recallm"), (0, export)):
            with closing(sqlite3.connect(path)) as other:
                other.execute(f"PRAGMA user_version = {version}")
            before = path.read_bytes()
            with pytest.raises(SchemaVersionError, match=advice) as caught:
                SQLiteStore(path)
            assert (caught.value.found, caught.value.known) == (version, SCHEMA_VERSION)
            assert path.read_bytes() == before

    def test_the_file_is_damaged(self, path: Path) -> None:
        fill(path, 500)
        content = bytearray(path.read_bytes())
        for place in range(2048, len(content), 2048):
            content[place : place + 64] = b"\xa5" * 64
        path.write_bytes(content)
        with pytest.raises(StoreCorruptError, match="damaged") as caught:
            fill(path, 501)
        assert isinstance(caught.value.__cause__, sqlite3.Error)

    def test_a_negative_timeout_is_refused(self) -> None:
        with pytest.raises(InvalidInputError, match="timeout"):
            SQLiteStore(timeout=-1)


@pytest.mark.slow
class TestFullDisk:
    def test_nothing_of_the_batch_stays(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        fill(path)
        unlimited = connections.connect

        def with_little_room(address: str, timeout: float) -> sqlite3.Connection:
            connection = unlimited(address, timeout)
            connection.execute("PRAGMA max_page_count = 120").fetchone()
            return connection

        monkeypatch.setattr("recallm.stores.sqlite.file.connect", with_little_room)
        with closing(SQLiteStore(path)) as store:
            with pytest.raises(StoreFullError, match="cannot grow") as caught:
                store.apply("n", [prepared(f"long {i}", "[Ann] " * 500) for i in range(200)])
            assert isinstance(caught.value.__cause__, sqlite3.Error)
            assert count(store) == 3
            [applied] = store.apply("n", [prepared("short", "[Ann]")])
            assert applied.t_index == 4

    def test_a_file_is_made_as_soon_as_there_is_room(self, path: Path) -> None:
        program = (
            "import resource, sys\n"
            "from recallm import StoreFullError\n"
            "from recallm.stores.sqlite import SQLiteStore\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 10, 1 << 19))\n"
            "try:\n"
            "    SQLiteStore(sys.argv[1])\n"
            "except StoreFullError as error:\n"
            "    print(error)\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 19, 1 << 19))\n"
            "SQLiteStore(sys.argv[1]).close()\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=False
        )
        assert "memory.db cannot grow" in done.stdout, done.stderr
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
class TestSeveralUsers:
    def test_a_second_writer_waits(self, store: SQLiteStore, path: Path) -> None:
        with closing(sqlite3.connect(path, check_same_thread=False)) as other:
            other.execute("BEGIN IMMEDIATE")
            timer = threading.Timer(0.3, other.rollback)
            timer.start()
            assert store.apply("n", [prepared("1", "[Ann]")])[0].t_index == 1
            timer.join()

    def test_but_not_for_ever(self, path: Path) -> None:
        with closing(SQLiteStore(path, timeout=0.2)) as store:
            store.apply("n", [prepared("1", "[Ann]")])
            with closing(sqlite3.connect(path)) as other:
                other.execute("BEGIN IMMEDIATE")
                with pytest.raises(StoreBusyError, match=r"for 0\.2 s, .*try again") as caught:
                    store.apply("n", [prepared("2", "[Ann]")])
                assert isinstance(caught.value.__cause__, sqlite3.Error)
                assert count(store) == 1
            assert store.apply("n", [prepared("2", "[Ann]")])[0].t_index == 2

    def test_threads_of_one_store_wait_for_each_other(self, path: Path) -> None:
        with closing(SQLiteStore(path, timeout=0.2)) as store:
            writing, done = threading.Event(), threading.Event()

            def records() -> Iterator[PreparedUpdate]:
                writing.set()
                done.wait(5)
                yield from ()

            with ThreadPoolExecutor(max_workers=1) as pool:
                other = pool.submit(store.restore, "m", 0, records())
                assert writing.wait(5)
                with pytest.raises(StoreBusyError, match="another writer"):
                    store.apply("n", [prepared("1", "[Ann]")])
                assert store.namespaces() == []
                done.set()
                other.result()

    @pytest.mark.parametrize("in_file", [False, True])
    def test_a_write_inside_a_write_is_refused(self, in_file: bool, path: Path) -> None:
        with closing(SQLiteStore(path if in_file else None)) as store:

            def records() -> Iterator[PreparedUpdate]:
                store.apply("n", [prepared("1", "[Ann]")])
                yield from ()

            with pytest.raises(StoreBusyError, match="already"):
                store.restore("m", 0, records())
            assert store.namespaces() == []

    def test_processes_share_a_counter(self, store: SQLiteStore, path: Path) -> None:
        """Each update of each process has a t of its own, and none is lost."""
        program = (
            "import sys\n"
            "from recallm.stores.sqlite import SQLiteStore\n"
            "from tests.store_suite.marked_text import prepared\n"
            "store = SQLiteStore(sys.argv[1])\n"
            "for i in range(25):\n"
            "    [a] = store.apply('n', [prepared(f'{sys.argv[2]}-{i}', '[Ann] met [Bo]')])\n"
            "    print(a.t_index)\n"
            "store.close()\n"
        )
        processes = [
            subprocess.Popen(
                [sys.executable, "-c", program, str(path), name], stdout=subprocess.PIPE, text=True
            )
            for name in ("a", "b")
        ]
        own = [store.apply("n", [prepared(f"c-{i}", "[Ann] [Bo]")])[0].t_index for i in range(25)]
        outputs = [process.communicate(timeout=120)[0].split() for process in processes]
        assert [process.returncode for process in processes] == [0, 0]
        ts = sorted(own + [int(t) for numbers in outputs for t in numbers])
        assert ts == list(range(1, 76))
        with store.reader("n", Horizon()) as reader:
            [relation] = reader.relations(["ann"], limit=5)
            assert relation.strength == 75
        with closing(sqlite3.connect(path)) as connection:
            check_rows(connection)

    def test_processes_that_open_a_new_file_at_once(self, path: Path) -> None:
        program = (
            "import sys\n"
            "from recallm.stores.sqlite import SQLiteStore\n"
            "SQLiteStore(sys.argv[1]).close()\n"
        )
        processes = [subprocess.Popen([sys.executable, "-c", program, str(path)]) for _ in range(4)]
        assert [process.wait(120) for process in processes] == [0, 0, 0, 0]


class TestMemory:
    def test_a_reader_keeps_its_view_while_others_write(self) -> None:
        with closing(SQLiteStore()) as store:
            store.apply("n", [prepared("1", "[Ann]")])
            with store.reader("n", Horizon()) as first, store.reader("n", Horizon()) as twin:
                store.apply("n", [prepared("2", "[Ann]")])
                with store.reader("n", Horizon()) as second:
                    store.forget("n", Selection(kind="everything", value=True))
                    assert [r.sizes().corpus.statements for r in (first, twin, second)] == [1, 1, 2]
                    assert count(store) == 0
            assert count(store) == 0

    @pytest.mark.parametrize("in_file", [False, True])
    def test_a_restore_may_read_the_same_store(self, in_file: bool, path: Path) -> None:
        with closing(SQLiteStore(path if in_file else None)) as store:
            store.apply("n", [prepared("1", "[Ann] met [Bo]"), prepared("2", "[Ann]")])

            def records() -> Iterator[PreparedUpdate | Summary]:
                with store.reader("n", Horizon()) as reader:
                    yield from reader.dump()
                    assert store.namespaces() == ["n"]

            assert store.restore("copy", 2, records()) == 2
            assert store.namespaces() == ["copy", "n"]
            assert count(store, "copy") == 2


class TestClosed:
    @pytest.mark.parametrize("in_file", [False, True])
    def test_a_reader_outlives_neither_its_block_nor_its_store(
        self, in_file: bool, path: Path
    ) -> None:
        store = SQLiteStore(path if in_file else None)
        with store.reader("n") as ended:
            pass
        with store.reader("n") as reader:
            store.close()
            for each in (ended, reader):
                with pytest.raises(ClosedError):
                    each.stats()

    def test_no_log_is_left_behind(self, path: Path) -> None:
        fill(path)
        assert [file.name for file in path.parent.iterdir()] == ["memory.db"]

    def test_nothing_is_open(self, path: Path) -> None:
        """Also while the closed store is still there."""
        store = SQLiteStore(path)
        assert str(path) in {file.path for file in psutil.Process().open_files()}
        store.close()
        assert str(path) not in {file.path for file in psutil.Process().open_files()}


def test_a_store_that_is_dropped_closes_its_file(tmp_path: Path) -> None:
    """Python 3.13 warns of every connection that is not closed; here it would be an error."""
    path = tmp_path / "m.db"
    store = SQLiteStore(path)
    with store.reader("n"):
        pass
    del store
    gc.collect()
    assert not path.with_name("m.db-wal").exists()


def test_a_file_that_another_process_creates_meanwhile(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is empty when it is looked at, and has a log a moment later."""
    path.touch()
    others: list[SQLiteStore] = []
    look = OpenFile.size

    def size(file: OpenFile) -> int:
        found = look(file)
        if not others:
            monkeypatch.undo()
            others.append(SQLiteStore(path))
            others[0].apply("n", [prepared("1", "[Ann] met [Bo].")])
        return found

    monkeypatch.setattr(OpenFile, "size", size)
    with closing(SQLiteStore(path)) as store:
        assert count(store) == 1
    others[0].close()


def test_the_time_of_a_forgotten_update_is_stored_nowhere(path: Path) -> None:
    """The session that the next update may continue is that of a stored passage, or none."""

    def open_t() -> int:
        with closing(sqlite3.connect(path)) as connection:
            (row,) = connection.execute("SELECT open_t FROM namespace").fetchone()
        return int(row)

    with closing(SQLiteStore(path)) as store:
        space = Space(store, "ns")
        space.write(prepared("1", "[Ann]", timestamp=at(0)), prepared("2", "[Bo]", timestamp=at(1)))
        assert open_t() == 2
        space.forget("id", "1")
        assert open_t() == 2
        space.forget("id", "2")
    assert open_t() == 0
    assert at(1).isoformat().encode() not in path.read_bytes()


def test_sql_shifts_statement_keys_by_position_bits() -> None:
    """The SQL writes the bits of a position as a literal, which must equal the model's constant."""
    shifts = {
        int(bits)
        for module in Path(sqlite.__file__).parent.glob("*.py")
        for bits in re.findall(r"\bat\)? >> (\d+)", module.read_text("utf-8"))
    }
    assert shifts == {POSITION_BITS}
