"""Files and folders that a process may not write: in a process of a user who owns nothing, because
root may write everything."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from recallm.errors import StoreReadOnlyError
from recallm.stores.sqlite import SQLiteStore
from tests.stores.sqlite_rows import fill
from tests.tools import in_child

pytestmark = pytest.mark.slow

NOBODY = 65534


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


@pytest.mark.parametrize(
    ("of_file", "of_folder"), [(0o444, 0o777), (0o666, 0o555), (0o000, 0o777), (None, 0o555)]
)
def test_what_cannot_be_written_is_refused(
    folder: Path, of_file: int | None, of_folder: int
) -> None:
    if of_file is not None:
        fill(folder / "memory.db")
        (folder / "memory.db").chmod(of_file)
    folder.chmod(of_folder)

    def work() -> None:
        if os.getuid() == 0:
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        with pytest.raises(StoreReadOnlyError, match="written"):
            SQLiteStore(folder / "memory.db")

    assert os.waitpid(in_child(work), 0)[1] == 0
