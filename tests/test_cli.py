"""The command line, on real files: what it writes, forgets and hands on."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from tqdm import tqdm

from recallm import RecallM, __version__
from recallm.cli.app import read_secret

from .command_line import STORY, Run, run, stats, texts, told
from .neo4j.fixtures import RunningServer

__all__ = ["run", "told"]  # fixtures


# ---- update ----------------------------------------------------------------------------------


def test_each_paragraph_of_a_file_is_a_knowledge_update(told: Run, tmp_path: Path) -> None:
    assert (tmp_path / "recallm.db").exists()
    assert stats(told)["t_index"] == 3
    assert stats(told)["statements"] == 4
    rows = json.loads(told("history", "Brandon", "--json").stdout)
    assert {row["source"] for row in rows} == {"story.txt"}


def test_a_file_has_a_number_of_updates_for_a_percentage(
    told: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    totals: list[int | None] = []

    def bar(**given: Any) -> Any:
        totals.append(given["total"])
        return tqdm(**{**given, "disable": True})

    monkeypatch.setattr("recallm.memory.writing.tqdm", bar)
    told("update", "--file", "story.txt")
    told("update", input="Ann sings.")  # a pipe may go on for ever
    assert totals == [3, None]


def test_the_messages_of_a_file_are_a_conversation(run: Run, tmp_path: Path) -> None:
    chat = [
        {"role": "system", "content": "Be\u2028brief."},
        {"role": "user", "content": "I keep bees.", "id": "1", "created_at": 1_767_000_000},
        {"role": "assistant", "content": "How many?", "id": "2"},
    ]
    lines = (json.dumps(message, ensure_ascii=False) for message in chat)
    (tmp_path / "lines.jsonl").write_text("\n\n".join(lines), "utf-8")
    (tmp_path / "list.json").write_text(json.dumps({"messages": chat}, indent=1))
    for name in ("lines.jsonl", "list.json"):
        done = run("update", "--messages", name, "--db", f"{name}.db")
        assert done.stdout == "2 knowledge updates, 2 statements\n", done.output
        with RecallM(f"{name}.db") as memory:
            said = [(passage.speaker, passage.text) for passage in memory.passages(session=name)]
        assert said == [("Human", "I keep bees."), ("AI", "How many?")]
    again = run("update", "--messages", "list.json", "--db", "list.json.db")
    assert again.stdout.endswith("2 known already\n")
    for content, message in {
        "{": "line 1 is not JSON",
        "[" * 100_000: "line 1 is not JSON",
        '["Hi."]': "holds no messages",
        '{"role": "bot", "content": "Hi."}': "item 0: role must be one of 'user'",
    }.items():
        (tmp_path / "bad.json").write_text(content)
        done = run("update", "--messages", "bad.json", "--db", "bad.db")
        assert (done.exit_code, message in done.stderr) == (1, True), done.stderr
    assert run("update", "--messages", "list.json", "--speaker", "Ann").exit_code == 2


def test_every_argument_is_a_knowledge_update(run: Run) -> None:
    done = run("update", "Ada plays chess.", "Ada won.\n\nAda is glad.", "--speaker", "Max")
    assert done.exit_code == 0
    assert done.stdout == "2 knowledge updates, 3 statements\n"
    rows = json.loads(run("history", "Ada", "--json").stdout)
    assert [row["t_index"] for row in rows] == [1, 2, 2]
    assert {row["speaker"] for row in rows} == {"Max"}


def test_each_paragraph_of_standard_input_is_a_knowledge_update(run: Run) -> None:
    for number, arguments in enumerate(((), ("-",), ("--file", "-"))):
        db = ("--db", f"{number}.db")
        assert run("update", *arguments, *db, input=STORY).exit_code == 0
        assert stats(run, *db)["t_index"] == 3, arguments


def test_speaker_and_time_are_stored(run: Run) -> None:
    run(
        "update", "Rain fell on Lisbon.", "--timestamp", "2026-05-01T12:00+02:00",
        "--source", "diary", "--session", "May", "--id", "one",
    )  # fmt: skip
    [row] = json.loads(run("history", "Lisbon", "--json").stdout)
    assert row["timestamp"] == "2026-05-01T10:00:00+00:00" or row["timestamp"].startswith(
        "2026-05-01T12:00:00+02:00"
    )
    assert (row["id"], row["source"], row["session"]) == ("one#0", "diary", "May")


def test_the_same_id_is_stored_once_and_another_text_refused(run: Run) -> None:
    run("update", "Rain fell on Lisbon.", "--id", "one")
    again = run("update", "Rain fell on Lisbon.", "--id", "one")
    assert "1 known already" in again.stdout
    other = run("update", "Snow fell on Lisbon.", "--id", "one")
    assert other.exit_code == 1
    assert other.stderr.startswith("recallm: ")
    assert stats(run)["t_index"] == 1


def test_a_failure_is_one_message_and_its_exit_code(told: Run) -> None:
    for code, arguments in (
        (1, ("update", "")),
        (2, ("update", "--file", "missing.txt")),
        (2, ("update", "--timestamp", "yesterday", "Rain.")),
        (2, ("update", "--id", "one", "Rain.", "Snow.")),
        (2, ("recall",)),
        (2, ("recall", "Who?", "--json", "--prompt")),
        (1, ("recall", "Who?", "--limit", "0")),
        (2, ("recall", "Who?", "--since", "soon")),
        (2, ("recall", "Who?", "--ranking", "best")),
        (2, ("forget",)),
        (2, ("forget", "--id", "one", "--concept", "Paris")),
        (2, ("ask", "Who?")),
        (2, ("load", "missing.jsonl")),
        (1, ("load", "story.txt")),
        (1, ("stats", "--db", "missing.db")),
        (1, ("stats", "--db", "story.txt")),
        (1, ("stats", "--db", "ftp://host")),
        (2, ("dance",)),
    ):
        done = told(*arguments, input="a password\n")
        assert done.exit_code == code, (arguments, done.output)
        assert isinstance(done.exception, SystemExit), arguments
        assert done.stderr, arguments
        assert "Traceback" not in done.output, arguments
    assert stats(told)["t_index"] == 3


def test_an_address_that_is_refused(run: Run, tmp_path: Path) -> None:
    """No password is asked for, none is shown, and no file is made."""
    for db in ("neo4j://ann:s3cret@host", "bolt:s3cret@host", "ann:s3cret@host", "localhost:7687"):
        for command in (("stats",), ("update", "Ann ran.")):
            done = run(*command, "--db", db)
            assert done.exit_code == 1, db
            assert "neo4j" in done.stderr, db
            assert "s3cret" not in done.output, db
            assert "Password" not in done.output, db
            assert not list(tmp_path.iterdir()), db


def test_text_that_is_not_utf_8_is_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "latin.txt").write_bytes("Caf\xe9".encode("latin-1"))
    done = run("update", "--file", "latin.txt")
    assert done.exit_code == 1
    assert "latin.txt" in done.stderr
    assert "UTF-8" in done.stderr


def test_what_is_no_prose_is_refused(run: Run) -> None:
    Path("table.csv").write_text("name\nAnn\n")
    Path("page.html").write_text("<p>Ann sings.</p>")
    for name in ("nowhere.txt", "table.csv", "page.html", "http://localhost:1/page"):
        done = run("update", "--file", name)
        assert done.exit_code == 2, (name, done.output)
        assert "Traceback" not in done.output, name
        assert done.stderr, name


# ---- forget, export, load --------------------------------------------------------------------


def test_forget_counts_what_it_removed(told: Run) -> None:
    planned = told("forget", "--concept", "Brazil", "--dry-run")
    done = told("forget", "--concept", "Brazil")
    assert planned.stdout == f"would be {done.stdout}"
    assert "1 passage, 1 statement" in done.stdout
    assert texts(told("history", "Brazil", "--json")) == []
    assert "nothing is stored under id 'unknown'" in told("forget", "--id", "unknown").stdout


def test_forget_what_is_old_or_has_expired(told: Run) -> None:
    assert told("forget", "--before", "3").exit_code == 0
    rows = json.loads(told("history", "Brandon", "--json").stdout)
    assert [row["t_index"] for row in rows] == [3]
    with RecallM("recallm.db") as memory:
        memory.update("Brandon is at the gate.", expires_at=datetime(2026, 1, 1, tzinfo=UTC))
    assert "1 passage, 1 statement" in told("forget", "--expired").stdout
    assert "nothing" in told("forget", "--expired").stdout


def test_forget_everything_asks_first(told: Run) -> None:
    assert told("forget", "--everything", input="n\n").exit_code == 1
    assert stats(told)["statements"] == 4
    assert told("forget", "--everything", "--yes").exit_code == 0
    assert stats(told)["statements"] == 0


def test_export_and_load_make_the_same_memory(told: Run, tmp_path: Path) -> None:
    written = told("export")
    assert written.exit_code == 0
    assert told("export", "archive.jsonl").exit_code == 0
    assert (tmp_path / "archive.jsonl").read_text("utf-8") == written.stdout
    assert all(map(json.loads, written.stdout.splitlines()))  # notes stay out of it
    assert told("load", "archive.jsonl", "--db", "a.db").exit_code == 0
    assert told("load", "--db", "b.db", input=written.stdout).exit_code == 0
    assert stats(told, "--db", "a.db") == stats(told, "--db", "b.db") == stats(told)
    assert told("export", "--db", "b.db").stdout == written.stdout


def test_export_and_load_name_the_namespace(told: Run) -> None:
    assert told("update", "Ann sings.", "--namespace", "ann").exit_code == 0
    done = told("export", "archive.jsonl")
    assert "3 knowledge updates exported from namespace default" in done.stderr
    assert "not those of 1 other namespace" in done.stderr
    loaded = told("load", "archive.jsonl", "--namespace", "bo")
    assert loaded.stdout == "3 knowledge updates loaded into namespace bo\n"
    alone = told("export", "--namespace", "bo", "--db", "recallm.db")
    assert "not those of 2 other namespaces" in alone.stderr
    unknown = told("export", "other.jsonl", "--namespace", "nobody")
    assert unknown.exit_code == 1
    assert "there is no namespace 'nobody'" in unknown.stderr
    assert not Path("other.jsonl").exists()


def test_version(run: Run) -> None:
    done = run("--version")
    assert (done.exit_code, done.stdout) == (0, f"recallm {__version__}\n")


def test_the_name_of_a_file_is_no_text(told: Run) -> None:
    for name in ("story.txt", "recallm.db"):
        done = told("update", name)
        assert done.exit_code == 2
        assert f"{name} is a file" in done.stderr
    assert stats(told)["passages"] == 3
    assert told("update", "story.txt is a file of mine.").exit_code == 0


def test_a_file_is_backed_up_and_restored(told: Run) -> None:
    assert "is copied to monday.db" in told("backup", "monday.db").stdout
    assert told("forget", "--everything", "--yes").exit_code == 0
    Path("recallm.db").rename("old.db")
    assert "recallm.db is restored from monday.db" in told("restore", "monday.db").stdout
    assert stats(told)["passages"] == 3
    for wrong in (
        ("backup", "monday.db"),
        ("restore", "no.db"),
        ("restore", "monday.db"),
        ("backup", "x", "--db", "bolt://x"),
    ):
        refused = told(*wrong)
        assert (refused.exit_code, refused.stderr.count("\n")) == (1, 1), wrong
    assert told("export", "a.jsonl").exit_code == 0
    for name in ("recallm.db", "monday.db", "a.jsonl"):
        assert Path(name).stat().st_mode & 0o777 == 0o600, name


def test_a_secret_that_others_can_read_is_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    secret = tmp_path / "token"
    secret.write_text("s3cret\n")
    for mode, warned in ((0o600, False), (0o640, True), (0o604, True), (0o400, False)):
        secret.chmod(mode)
        caplog.clear()
        assert read_secret(secret, "token_file") == "s3cret"
        assert ("chmod 600" in caplog.text) == warned, oct(mode)
        assert "s3cret" not in caplog.text


# ---- a server --------------------------------------------------------------------------------


def test_a_neo4j_server_by_password_file_or_prompt(
    run: Run, tmp_path: Path, neo4j_server: RunningServer
) -> None:
    user, password = neo4j_server.auth
    (tmp_path / "password").write_text(f"{password}\n")
    server = ("--db", neo4j_server.uri, "--user", user, "--namespace", uuid4().hex)
    known = (*server, "--password-file", "password")
    assert run("update", "Rain fell on Lisbon.", *known).exit_code == 0
    asked = run("recall", "Where did rain fall?", *server, input=f"{password}\n")
    assert "Rain fell on Lisbon." in asked.stdout
    assert password not in asked.output
    assert run("forget", "--everything", "--yes", *known).exit_code == 0
    (tmp_path / "password").write_text("wrong")
    refused = run("stats", *known)
    assert refused.exit_code == 1
    assert "password" in refused.stderr


# ---- as a process ----------------------------------------------------------------------------


_MAIN = """
from signal import SIGINT, default_int_handler, signal
signal(SIGINT, default_int_handler)  # a shell's background job hands on that it is ignored
from recallm.cli import main
main()
"""


def process(folder: Path, *arguments: str, **options: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", _MAIN, *arguments],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        **options,
    )


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="POSIX pipes")
def test_a_closed_pipe_is_no_error_message(told: Run, tmp_path: Path) -> None:
    told("update", *[f"Brandon bought {count} melons." for count in range(800)])
    with process(tmp_path, "export") as export:
        assert export.stdout
        assert export.stderr
        export.stdout.readline()
        export.stdout.close()
        assert export.stderr.read() == ""
        assert export.wait() == 1


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_an_interrupt_ends_it_quietly_and_leaves_the_file_whole(run: Run, tmp_path: Path) -> None:
    assert run("update", "Brandon waits.", "--db", "whole.db").exit_code == 0
    with process(tmp_path, "update", "--db", "whole.db") as update:
        assert update.stdin
        assert update.stderr
        update.stdin.write("Brandon sings.\n\nBrandon dan")
        update.stdin.flush()
        # SQLite's log appears when the process opens the file: from there on it reads the texts.
        while not (tmp_path / "whole.db-wal").exists():
            assert update.poll() is None
            time.sleep(0.05)
        update.send_signal(signal.SIGINT)
        said = update.stderr.read()
        assert (update.wait(), said) == (130, "")
    assert stats(run, "--db", "whole.db")["t_index"] == 1
