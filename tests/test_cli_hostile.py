"""The command line, where texts, names, files and servers mean harm or are damaged."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recallm import RecallM

from .command_line import Run, run

__all__ = ["run"]  # a fixture

EVIL = "a\x1b[31m\x1b]0;title\x07b\x9b31mc\x85d\x7fe\x08f\u202eg\u2066h\ri"
"""ESC sequences, C1 controls, a carriage return, marks that turn the direction of writing."""
STEERS = frozenset(map(chr, [*range(32), *range(127, 160), 0x202E, 0x2066])) - {"\n", "\t"}


@pytest.fixture
def told(run: Run) -> Run:
    """The same, with a memory that holds evil texts."""
    with RecallM("recallm.db") as memory:
        memory.update(f"Lisbon has a sign: {EVIL}.", speaker=EVIL, id="sign", source=EVIL)
        memory.update("Lisbon lies by the sea.")
        memory.in_namespace(EVIL).update("Rain fell.")
    return run


def test_update_refuses_tables(told: Run) -> None:
    Path("notes.txt").write_text("Rain fell.")
    for name in ("people.csv", "a.TSV", "a.json", "a.jsonl", "a.ndjson"):
        Path(name).write_text("name,age\nAda,36\n")
        done = told("update", "--file", "notes.txt", "--file", name)
        assert done.exit_code == 2, name
        assert "FactMemory(memory).load" in done.stderr.replace("\n", " "), name
    with RecallM("recallm.db") as memory:
        assert memory.stats().passages == 2
    assert told("update", "-", input=Path(name).read_bytes()).exit_code == 0


# ---- files -----------------------------------------------------------------------------------


def test_export_never_overwrites_a_database(told: Run) -> None:
    Path("hard.jsonl").hardlink_to("recallm.db")
    for opened in (True, False):
        with RecallM("recallm.db" if opened else None) as held:
            held.stats()
            for ending in ("", "-wal", "-shm", "-journal"):
                linked = Path(f"linked{opened}{ending}")
                linked.symlink_to(f"recallm.db{ending}")
                for name in (f"recallm.db{ending}", str(linked), "hard.jsonl"):
                    done = told("export", name)
                    assert done.exit_code == 1, (name, done.output)
                    assert done.stderr.startswith("recallm: "), name
    with RecallM("other.db") as other:
        other.update("Ann met Bo.")
        assert told("export", "other.db").exit_code == 1
        assert other.stats().passages == 1
    with RecallM("recallm.db") as memory:
        assert memory.stats().passages == 2


def test_export_replaces_an_archive_and_nothing_else(told: Run) -> None:
    assert told("export", "archive.jsonl").exit_code == 0
    before = Path("archive.jsonl").read_text("utf-8")
    told("update", "Rain fell on Lisbon.")
    assert told("export", "archive.jsonl").exit_code == 0
    assert Path("archive.jsonl").read_text("utf-8") != before
    Path("notes.txt").write_text("mine")
    done = told("export", "notes.txt")
    assert done.exit_code == 1
    assert "no recallm archive" in done.stderr
    assert Path("notes.txt").read_text() == "mine"


def test_a_failed_export_leaves_the_archive_that_was_there(told: Run) -> None:
    told("export", "archive.jsonl")
    before = Path("archive.jsonl").read_bytes()

    def broken(self: Any) -> Iterator[Any]:
        yield from ()
        raise OSError("the disk is gone")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("recallm.stores.sqlite.reader.SQLiteReader.dump", broken)
        done = told("export", "archive.jsonl")
    assert done.exit_code == 1
    assert "the disk is gone" in done.stderr
    assert Path("archive.jsonl").read_bytes() == before
    assert sorted(path.suffix for path in Path().iterdir() if path.is_file()) == [".db", ".jsonl"]


def test_strange_arguments_are_one_message(told: Run) -> None:
    Path("latin").write_bytes(b"\xff")
    for arguments in (
        ("stats", "--db", "x" * 5000),
        ("update", "Rain.", "--db", "x" * 5000),
        ("update", "Rain.", "--db", "a\ud800.db"),
        ("update", "Rain.", "--db", "/dev/null/x"),
        ("update", "--file", "x" * 5000),
        ("export", "x" * 5000, "--db", "recallm.db"),
        ("load", "x" * 5000),
        ("recall", "Who?", "--as-of", "1" * 5000),
        ("recall", "Who?", "--min-score", "nan"),
        ("forget", "--before", "9" * 4400),
        ("stats", "--db", "neo4j://localhost:1", "--password-file", "latin"),
    ):
        done = told(*arguments)
        assert done.exit_code in (1, 2), arguments
        assert isinstance(done.exception, SystemExit), arguments
        assert done.stderr, arguments
        assert "Traceback" not in done.output, arguments
    # A t_index that is not reached.
    assert told("recall", "Who?", "--since", "9" * 50).exit_code == 0


# ---- terminals -------------------------------------------------------------------------------

COMMANDS = (
    ("recall", "What has Lisbon?"),
    ("recall", "What has Lisbon?", "--explain"),
    ("recall", "What has Lisbon?", "--prompt"),
    ("recall", "What has Lisbon?", "--json"),
    ("history", "Lisbon"),
    ("history", "Lisbon", "--json"),
    ("ask", "What has Lisbon?", "--llm-command", "cat"),
    ("stats",),
    ("namespaces",),
    ("namespaces", "--namespace", EVIL),
    ("doctor", "--namespace", EVIL),
    ("export",),
    ("export", f"no/{EVIL}"),
    ("update", "Rain.", "--id", EVIL),
    ("update", "Snow.", "--id", EVIL),
    ("stats", "--db", f"no/{EVIL}"),
    ("update", "--file", EVIL),
    ("update", "Rain.", "--timestamp", EVIL),
    ("load", EVIL),
    ("recall", "Who?", "--ranking", EVIL),
    ("recall", "Who?", EVIL),
    (f"--{EVIL}",),
    ("stats", f"--{EVIL}"),
    (EVIL,),
    ("stats", "--db", "neo4j://localhost:1", "--password-file", EVIL),
)


def test_outputs_and_errors_hold_no_terminal_controls(told: Run) -> None:
    """Neither on a terminal nor in a pipe; what is for a program is as it is in a pipe."""
    for arguments in COMMANDS:
        done = told(*arguments)
        raw = "--prompt" in arguments or "--llm-command" in arguments
        assert not STEERS & set(done.stderr), arguments
        assert bool(STEERS & set(done.stdout)) == raw, arguments
        assert isinstance(done.exception, SystemExit | None), arguments
    rows = json.loads(told("history", "Lisbon", "--json").stdout)
    assert EVIL.partition("\r")[0] in rows[0]["text"]
    assert rows[0]["speaker"] == EVIL


@pytest.mark.slow
def test_a_server_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    """The driver's log says the same in other words."""
    (tmp_path / "password").write_text("secret", encoding="utf-8")
    (tmp_path / "password").chmod(0o600)
    server = ["--db", "neo4j://127.0.0.1:1", "--password-file", "password"]
    done = subprocess.run(
        [sys.executable, "-c", "from recallm.cli import main; main()", "stats", *server],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr.count("recallm: ")) == (1, 1), done.stderr


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="POSIX terminals")
def test_no_output_controls_a_terminal(told: Run, tmp_path: Path) -> None:
    """All commands on a terminal without colours, as one process."""
    import pty

    script = (
        "import json, sys\n"
        "from recallm.cli import main\n"
        "for sys.argv in json.load(open('commands.json')):\n"
        "    try:\n"
        "        main()\n"
        "    except SystemExit as end:\n"
        "        print('command ended', end.code)\n"
    )
    Path("commands.json").write_text(json.dumps([("recallm", *each) for each in COMMANDS]))
    ours, theirs = pty.openpty()
    shown = bytearray()

    def read() -> None:
        while chunk := _read(ours):
            shown.extend(chunk)

    reader = threading.Thread(target=read)
    reader.start()
    subprocess.run(
        [sys.executable, "-c", script],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "dumb", "PYTHONIOENCODING": "utf-8"},
        timeout=300,
        check=True,
    )
    os.close(theirs)
    reader.join(60)
    os.close(ours)
    text = shown.decode().replace("\r\n", "\n")
    assert text.count("command ended") == len(COMMANDS)
    assert "Lisbon has a sign: a" in text
    assert not STEERS & set(text)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # the other end is closed
        return b""
