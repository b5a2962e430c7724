"""Files that are deleted, moved, replaced or cut while a store has them open."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from recallm.errors import StoreCorruptError, StoreError, StoreUnavailableError
from recallm.model import Horizon, PreparedUpdate
from recallm.stores.sqlite import SQLiteStore
from tests.store_suite.marked_text import prepared


def fill(path: Path, *ids: str) -> None:
    with closing(SQLiteStore(path)) as store:
        store.apply("n", [prepared(id, "[Ann] met [Bo]") for id in ids])


def ids(store: SQLiteStore) -> list[str]:
    with store.reader("n", Horizon()) as reader:
        return [record.id for record in reader.dump() if isinstance(record, PreparedUpdate)]


def contents(path: Path) -> list[str]:
    with closing(SQLiteStore(path)) as store:
        return ids(store)


def delete(path: Path) -> None:
    path.unlink()


def delete_all(path: Path) -> None:
    for file in path.parent.glob(f"{path.name}*"):
        file.unlink()


def move(path: Path) -> None:
    path.rename(path.with_name("moved.db"))


def replace(path: Path) -> None:
    other = path.with_name("other.db")
    fill(other, "other")
    other.replace(path)


@pytest.mark.parametrize("vanish", [delete, delete_all, move, replace])
def test_nothing_is_acknowledged_any_more(vanish: Callable[[Path], None], path: Path) -> None:
    with closing(SQLiteStore(path)) as store:
        store.apply("n", [prepared("1", "[Ann]")])
        vanish(path)
        with pytest.raises(StoreUnavailableError, match="while it was open"):
            store.apply("n", [prepared("2", "[Ann]")])
        with pytest.raises(StoreUnavailableError, match="while it was open"):
            ids(store)
    assert not path.exists() or contents(path) == ["other"]


def test_what_was_acknowledged_is_in_a_file_that_was_moved(path: Path) -> None:
    with closing(SQLiteStore(path)) as store:
        store.apply("n", [prepared("1", "[Ann]")])
        move(path)
    assert contents(path.with_name("moved.db")) == ["1"]


def test_a_file_that_was_put_back_is_written_again(path: Path) -> None:
    with closing(SQLiteStore(path)) as store:
        store.apply("n", [prepared("1", "[Ann]")])
        move(path)
        with pytest.raises(StoreUnavailableError):
            store.apply("n", [prepared("2", "[Ann]")])
        path.with_name("moved.db").rename(path)
        store.apply("n", [prepared("2", "[Ann]")])
    assert contents(path) == ["1", "2"]


def test_the_old_log_does_not_overwrite_a_replacement(path: Path) -> None:
    """The store that has the old file open deletes its own log, and no other."""
    with closing(SQLiteStore(path)) as store:
        store.apply("n", [prepared(str(number), "[Ann] met [Bo]") for number in range(50)])
        replace(path)
    assert contents(path) == ["other"]


USING = """
import sys
from recallm.stores.sqlite import SQLiteStore
from tests.store_suite.marked_text import prepared
store = SQLiteStore(sys.argv[1])
store.apply("n", [prepared("theirs", "[Ann]")])
print("written", flush=True)
sys.stdin.readline()
store.apply("n", [prepared("theirs later", "[Ann]")])
store.close()
"""


@pytest.mark.slow
def test_the_log_of_a_replacement_in_use_stays(path: Path) -> None:
    """Another process writes to the replacement while the store of the old file is closed."""
    store = SQLiteStore(path)
    store.apply("n", [prepared("1", "[Ann]")])
    for file in sorted(path.parent.iterdir()):
        file.rename(file.with_name(f"old-{file.name}"))
    fill(path, "other")
    with subprocess.Popen(
        [sys.executable, "-c", USING, path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        store.close()
        assert path.with_name(f"{path.name}-wal").exists()
        process.communicate("\n", timeout=60)
    assert process.returncode == 0
    assert contents(path) == ["other", "theirs", "theirs later"]


def test_a_log_that_was_deleted(path: Path) -> None:
    with closing(SQLiteStore(path)) as store:
        store.apply("n", [prepared("1", "[Ann]")])
        path.with_name(f"{path.name}-wal").unlink()
        with pytest.raises(StoreUnavailableError, match="-wal was deleted"):
            store.apply("n", [prepared("2", "[Ann]")])
    assert contents(path) == ["1"]


def test_a_file_that_is_cut_while_it_is_open(path: Path) -> None:
    """It is no new file, also where a fork has closed all connections."""
    with closing(SQLiteStore(path)) as store:
        store.apply("n", [prepared("1", "[Ann]")])
        if not os.fork():
            os._exit(0)
        os.wait()
        os.truncate(path, 0)
        with pytest.raises(StoreUnavailableError, match="0 bytes"):
            store.apply("n", [prepared("2", "[Ann]")])
        with pytest.raises(StoreUnavailableError, match="0 bytes"):
            ids(store)


def test_a_file_of_no_bytes_beside_a_log_is_not_new(path: Path, tmp_path: Path) -> None:
    """A copy as a crash left it, of which the database was cut."""
    copy = tmp_path / "copy" / path.name
    copy.parent.mkdir()
    with closing(SQLiteStore(path)) as store:
        store.apply("n", [prepared("1", "[Ann]")])
        subprocess.check_call(["cp", f"{path}-wal", f"{copy}-wal"])
    log = copy.with_name(f"{copy.name}-wal")
    content = log.read_bytes()
    assert content
    copy.touch()
    with pytest.raises(StoreCorruptError, match="the file was cut"):
        SQLiteStore(copy)
    assert (copy.read_bytes(), log.read_bytes()) == (b"", content)


def test_a_relative_path_stays_where_it_was_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "later").mkdir()
    monkeypatch.chdir(tmp_path)
    with closing(SQLiteStore("a.db")) as store:
        store.apply("n", [prepared("1", "[Ann]")])
        monkeypatch.chdir("later")
        store.apply("n", [prepared("2", "[Ann]")])
        assert ids(store) == ["1", "2"]
    assert contents(tmp_path / "a.db") == ["1", "2"]


def test_names_that_no_file_can_have(tmp_path: Path) -> None:
    for name in ("x" * 5_000, "x" * 300, "a\0b", "\ud800"):
        with pytest.raises(StoreError, match="cannot be opened"):
            SQLiteStore(f"{tmp_path}/{name}")


def test_a_timeout_beyond_what_sqlite_counts_is_long(path: Path) -> None:
    for timeout in (2_147_484.0, 1e12):
        with closing(SQLiteStore(path, timeout=timeout)) as store:
            store.apply("n", [prepared("1", "[Ann]")])
            writer = store._connections._writer  # type: ignore[attr-defined]
            (milliseconds,) = writer.execute("PRAGMA busy_timeout").fetchone()
            assert milliseconds > 1_000_000_000


LIMITED = """
import resource, sys
from recallm.errors import StoreFullError
from recallm.stores.sqlite import SQLiteStore
from tests.store_suite.marked_text import prepared
store = SQLiteStore(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, resource.RLIM_INFINITY))
written = 0
try:
    for number in range(5_000):
        store.apply("n", [prepared(str(number), "[Ann] met [Bo] " * 20)])
        written += 1
except StoreFullError as error:
    assert "ulimit -f" in str(error), error
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
    store.apply("n", [prepared("after", "[Ann]")])
    store.close()
    print(written)
"""


@pytest.mark.slow
def test_a_limit_on_the_size_of_files(path: Path) -> None:
    pytest.importorskip("resource")
    done = subprocess.run([sys.executable, "-c", LIMITED, path], capture_output=True, text=True)
    assert done.stderr == ""
    written = int(done.stdout)
    assert contents(path) == [*map(str, range(written)), "after"]
