"""Files and folders that a process may not write: in a process of a user who owns nothing, because
root may write everything."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from recallm.errors import StoreBusyError, StoreError, StoreReadOnlyError
from recallm.model import Filter, Horizon, Selection
from recallm.stores.sqlite import SQLiteStore
from tests.store_suite.marked_text import prepared
from tests.stores.sqlite_rows import count, fill
from tests.tools import in_child

pytestmark = pytest.mark.slow

NOBODY = 65534


def as_nobody(work: Callable[[], None]) -> None:
    def without_rights() -> None:
        if os.getuid() == 0:
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        work()

    assert os.waitpid(in_child(without_rights), 0)[1] == 0


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "mine"
    folder.mkdir()
    for parent in (folder, *folder.parents):
        if parent == Path(tempfile.gettempdir()):
            break
        if parent.stat().st_uid == os.getuid():
            parent.chmod(parent.stat().st_mode | 0o055)
    yield folder
    folder.chmod(0o755)


def reads_but_does_not_write(path: Path) -> None:
    store = SQLiteStore(path)
    assert count(store) == 3
    with pytest.raises(StoreReadOnlyError, match="permissions"):
        store.apply("n", [prepared("new", "[Ann]")])
    with pytest.raises(StoreReadOnlyError, match="permissions"):
        store.forget("n", Selection(kind="id", value="0"))
    assert count(store) == 3
    store.close()


def test_the_file_cannot_be_written(folder: Path) -> None:
    fill(folder / "memory.db")
    (folder / "memory.db").chmod(0o444)
    as_nobody(lambda: reads_but_does_not_write(folder / "memory.db"))


def test_the_folder_cannot_be_written(folder: Path) -> None:
    fill(folder / "memory.db")
    (folder / "memory.db").chmod(0o666)
    folder.chmod(0o555)
    as_nobody(lambda: reads_but_does_not_write(folder / "memory.db"))


def test_while_another_process_writes(folder: Path) -> None:
    with closing(SQLiteStore(folder / "memory.db")) as writer:
        writer.apply("n", [prepared(str(i), f"[Ann] {i}") for i in range(3)])
        for file in folder.iterdir():
            file.chmod(0o444)
        as_nobody(lambda: reads_but_does_not_write(folder / "memory.db"))


def test_while_somebody_writes_now_and_then(folder: Path) -> None:
    """A reader who can write nothing beside the file sees one state, or gets an error that
    says to read again."""
    path = folder / "memory.db"
    fill(path)
    path.chmod(0o444)
    folder.chmod(0o555)

    def work() -> None:
        last = 0
        while last < 78:
            try:
                with closing(SQLiteStore(path)) as store:
                    while last < 78:
                        with store.reader("n", Horizon()) as reader:
                            seen = reader.sizes().corpus.statements
                            found = reader.mentions(["bo"], limit=None, where=Filter())["bo"]
                            assert seen == len(found.keys) == reader.state.t_index >= last
                        last = seen
            except StoreBusyError:
                continue

    with ThreadPoolExecutor(max_workers=1) as pool:
        reading = pool.submit(as_nobody, work)
        for number in range(25):
            with closing(SQLiteStore(path)) as writer:
                writer.apply("n", [prepared(f"{number}-{i}", "[Ann] [Bo]") for i in range(3)])
        reading.result()


def test_a_write_under_an_open_reader(folder: Path) -> None:
    """The reader says that the file changed; the next one sees the new state."""
    path = folder / "memory.db"
    fill(path)
    path.chmod(0o444)
    folder.chmod(0o555)
    opened, written = folder.parent / "opened", folder.parent / "written"
    os.mkfifo(opened)
    os.mkfifo(written)
    written.chmod(0o666)
    opened.chmod(0o666)

    def work() -> None:
        store = SQLiteStore(path)
        with store.reader("n", Horizon()) as reader:
            assert reader.sizes().corpus.statements == 3
            opened.write_text("now")
            assert written.read_text() == "done"
            with pytest.raises(StoreBusyError, match="read again"):
                reader.stats()
        assert count(store) == 4

    with ThreadPoolExecutor(max_workers=1) as pool:
        reading = pool.submit(as_nobody, work)
        assert opened.read_text() == "now"
        with closing(SQLiteStore(path)) as writer:
            writer.apply("n", [prepared("new", "[Ann]")])
        written.write_text("done")
        reading.result(timeout=60)


def test_no_file_can_be_made(folder: Path) -> None:
    folder.chmod(0o555)

    def work() -> None:
        with pytest.raises(StoreReadOnlyError, match="cannot be made"):
            SQLiteStore(folder / "memory.db")

    as_nobody(work)


def test_the_file_cannot_be_read(folder: Path) -> None:
    fill(folder / "memory.db")
    (folder / "memory.db").chmod(0o000)

    def work() -> None:
        with pytest.raises(StoreError, match="may be read"):
            SQLiteStore(folder / "memory.db")

    as_nobody(work)
