"""Logs that processes left when they were killed: replayed into their own file, and no other."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from recallm.errors import StoreCorruptError, StoreError
from recallm.model import Horizon, PreparedUpdate
from recallm.stores.sqlite import SQLiteStore, back_up
from tests.store_suite.marked_text import prepared

pytestmark = pytest.mark.slow

WRITER = """
import os, random, sqlite3, sys
from contextlib import closing
from recallm.model import Selection
from recallm.stores.sqlite import SQLiteStore, back_up
from tests.store_suite.marked_text import prepared

# Each line: a session's name, how many writes, where a back-up is made, whether it is killed.
path, seed = sys.argv[1], int(sys.argv[2])
chance = random.Random(seed)
for line in sys.stdin:
    name, writes, at, kill = line.split()
    pid = os.fork()
    if pid:
        os.waitpid(pid, 0)
        continue
    store = SQLiteStore(path)
    for i in range(int(writes)):
        store.apply("n", [prepared(f"{name}-{i}-{j}", f"[Ann{chance.randrange(99)}] met [Bo] " +
            "x" * chance.randrange(300)) for j in range(chance.choice((1, 1, 20)))])
        if i == int(at):
            with closing(sqlite3.connect(path)) as one, closing(sqlite3.connect("open.db")) as two:
                one.backup(two)
            back_up(path, "backup.db")
            with closing(sqlite3.connect(path, isolation_level=None)) as one:
                one.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        if chance.random() < 0.1 and i + 1 < int(writes):
            store.forget("n", Selection(kind="id", value=f"{name}-{i}-0"))
    if kill == "kill":
        os.kill(os.getpid(), 9)
    store.close()
    os._exit(0)
"""


def ids(path: Path) -> set[str]:
    with closing(SQLiteStore(path)) as store, store.reader("n", Horizon()) as reader:
        assert store.problems() == []
        return {update.id for update in reader.dump() if isinstance(update, PreparedUpdate)}


def run(path: Path, seed: int, *sessions: str) -> None:
    subprocess.run(
        [sys.executable, "-c", WRITER, path, str(seed)],
        input="\n".join(sessions),
        text=True,
        check=True,
        cwd=path.parent,
        timeout=120,
    )


@pytest.mark.parametrize("seeds", [range(1), pytest.param(range(1, 9), marks=pytest.mark.nightly)])
def test_a_foreign_log_destroys_no_back_up(tmp_path: Path, seeds: range) -> None:
    """Random histories: a back-up of each kind, then a process that is killed. Its log is replayed
    into its own file, and refused beside the back-up, which stays as it is."""
    wrong: list[object] = []
    for seed in seeds:
        chance = random.Random(seed)
        folder = tmp_path / f"{seed}"
        folder.mkdir()
        path = folder / "m.db"
        run(path, seed, f"first {chance.choice((1, 5, 30))} -1 close")
        shutil.copy(path, folder / "closed.db")
        writes = chance.choice((1, 3, 40, 80))
        more = [f"more{i} 3 -1 close" for i in range(chance.choice((0, 1, 2)))]
        run(path, seed, *more, f"last {writes} {chance.randrange(writes)} kill")
        copy = Path(shutil.copytree(folder, folder / "whole")) / path.name
        if f"last-{writes - 1}-0" not in ids(copy):
            wrong.append((seed, "an acknowledged write is lost"))
        for kind in ("closed.db", "open.db", "backup.db"):
            place = Path(shutil.copytree(folder, folder / f"restored-{kind}")) / path.name
            whole = (folder / kind).read_bytes()
            chance.choice((os.replace, shutil.copy))(place.with_name(kind), place)
            log = place.with_name("m.db-wal")
            if log.stat().st_size == 0:
                continue
            before = log.read_bytes()
            try:
                SQLiteStore(place).close()
                wrong.append((seed, kind, "opened"))
            except StoreCorruptError as error:
                if "m.db-wal is not the log of" not in str(error):
                    wrong.append((seed, kind, error))
            if (place.read_bytes(), log.read_bytes()) != (whole, before):
                wrong.append((seed, kind, "changed"))
            for stale in place.parent.glob("m.db*"):
                stale.unlink()
            back_up(folder / kind, place)
            if ids(place) != ids(Path(shutil.copy(folder / kind, folder / "alone.db"))):
                wrong.append((seed, kind, "restored otherwise"))
    assert wrong == []


def test_a_log_is_replayed_into_its_own_file(tmp_path: Path) -> None:
    """Also where the tables are in the log alone, and where a checkpoint had begun."""
    path = tmp_path / "m.db"
    run(path, 0, "first 1 -1 kill")
    new = Path(shutil.copytree(tmp_path, tmp_path / "new")) / path.name
    assert "first-0-0" in ids(new)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA wal_checkpoint(PASSIVE)")
        begun = Path(shutil.copytree(tmp_path, tmp_path / "begun")) / path.name
        assert begun.with_name("m.db-wal").stat().st_size
        assert ids(begun) == ids(new)
        place = Path(shutil.copytree(tmp_path, tmp_path / "other")) / path.name
        with closing(sqlite3.connect(tmp_path / "song.db")) as song:
            song.executescript("CREATE TABLE a (b); CREATE TABLE c (d);")
        run(tmp_path / "another.db", 0, "first 1 -1 close")
        for path in (tmp_path / "another.db", tmp_path / "song.db"):
            place.write_bytes(path.read_bytes())
            with pytest.raises(StoreCorruptError, match="is not the log of"):
                SQLiteStore(place)
            assert place.read_bytes() == path.read_bytes()


def test_a_journal_belongs_to_no_file_with_a_log(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    run(path, 0, "first 2 -1 close")
    whole = path.read_bytes()
    path.with_name("m.db-journal").write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" * 200)
    with pytest.raises(StoreCorruptError, match=r"m\.db-journal is not the log of"):
        SQLiteStore(path)
    assert path.read_bytes() == whole


def test_a_back_up_is_put_back(tmp_path: Path) -> None:
    """To a place without a memory and without a log."""
    path, backup, place = (tmp_path / name for name in ("m.db", "backup.db", "new.db"))
    with closing(SQLiteStore(path)) as store:
        store.apply("n", [prepared("1", "[Ann]")])
        back_up(path, backup)
        store.apply("n", [prepared("2", "[Ann]")])
        for taken in (path, backup):
            with pytest.raises(StoreError, match=f"{taken.name} is there already"):
                back_up(backup, taken)
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(backup.stat().st_mode) == 0o600
    log = place.with_name("new.db-wal")
    log.touch()
    with pytest.raises(StoreError, match=r"new\.db-wal is there already"):
        back_up(backup, place)
    log.unlink()
    for bad, said in ((tmp_path / "no.db", "no memory at"), (Path(__file__), "not a recallm")):
        with pytest.raises(StoreError, match=said):
            back_up(bad, place)
    back_up(backup, place)
    assert (ids(place), ids(path)) == ({"1"}, {"1", "2"})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["backup.db", "m.db", "new.db"]
