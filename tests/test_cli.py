"""The command line, on real files."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from tqdm import tqdm
from typer.testing import CliRunner, Result

from recallm import NewEntity, RecallM, __version__
from recallm.cli import app
from recallm.cli.arguments import read_secret

from .neo4j.fixtures import RunningServer
from .openai_server import MODEL, OpenAIServer
from .vectors.fakes import words

Run = Callable[..., Result]

STORY = """Brandon wants to go to Paris for his next vacation.
He has never been there.

Brandon is still looking forward to his vacation in Paris.

\t
Brandon cancelled his Paris trip, and is now planning on going to Brazil instead.
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run recallm in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("RECALLM_")]:
        monkeypatch.delenv(name)

    def recallm(*arguments: str, input: str | bytes | None = None) -> Result:
        return CliRunner().invoke(app, arguments, input=input)

    return recallm


@pytest.fixture
def told(run: Run, tmp_path: Path) -> Run:
    """The same, where STORY has been told."""
    (tmp_path / "story.txt").write_text(STORY, encoding="utf-8")
    done = run("update", "--file", "story.txt")
    assert done.exit_code == 0, done.output
    return run


def stats(run: Run, *arguments: str) -> dict[str, int]:
    found: dict[str, int] = json.loads(run("stats", "--json", *arguments).stdout)
    return found


def texts(result: Result) -> list[str]:
    found = json.loads(result.stdout)
    rows = found["statements"] if isinstance(found, dict) else found
    return [row["text"] for row in rows]


# ---- facts -----------------------------------------------------------------------------------

PEOPLE = "name,works for,born\nAda,BMW,1990-05-01\nBo,Cisco,\n"


def test_a_table_is_loaded_read_and_changed(run: Run) -> None:
    Path("people.csv").write_text(PEOPLE)
    load = ("facts", "load", "people.csv", "--key", "name", "--timestamp")
    done = run(*load, "2024-05-01T00:00+00:00")
    assert done.exit_code == 0, done.output
    assert done.stdout == "2 rows: 3 facts added, 0 changed, 0 ended, 0 unchanged\n"
    Path("people.csv").write_text(PEOPLE.replace("BMW", "Pfizer"))
    done = run(*load, "2024-06-01T00:00+00:00")
    assert done.stdout == "2 rows: 0 facts added, 1 changed, 0 ended, 2 unchanged\n"
    done = run("facts", "read", "--subject", "ada", "--relation", "works for")
    assert done.stdout == "t=3  2024-06-01 00:00+00:00  Ada — works for → Pfizer\n"
    done = run("facts", "read", "--relation", "works for", "--as-of", "2", "--json", "--exact")
    assert [row["object"] for row in json.loads(done.stdout)] == ["Cisco", "BMW"]
    done = run("facts", "read", "--object", "1990-05-01", "--json", "--limit", "1")
    assert json.loads(done.stdout)[0]["value"] == "1990-05-01"
    done = run("facts", "changes", "Ada", "works for")
    assert done.stdout == (
        "t=1..3  2024-05-01 00:00+00:00 until 2024-06-01 00:00+00:00  BMW  superseded\n"
        "t=3..  2024-06-01 00:00+00:00  Pfizer\n"
    )
    changed = json.loads(run("facts", "changes", "Ada", "works for", "--json").stdout)
    assert [row["ended_by"] for row in changed] == ["superseded", None]


def test_a_table_on_standard_input(run: Run) -> None:
    load = ("facts", "load", "-", "--key", "who", "--name", "staff", "--relation", "pay")
    table = "who;pay;at;x\nAda;5;2024-05-01;y\n"
    done = run(*load, "--said", "at", "--delimiter", ";", input=table)
    assert done.stdout == "1 row: 1 fact added, 0 changed, 0 ended, 0 unchanged\n", done.output
    (row,) = json.loads(run("facts", "read", "--json").stdout)
    assert (row["source"], row["value"], row["said"][:10]) == ("staff", 5, "2024-05-01")


def test_no_fact_is_no_error(run: Run) -> None:
    run("update", "Rain fell.")
    for arguments in (("read", "--subject", "Ada"), ("changes", "Ada", "works for")):
        done = run("facts", *arguments)
        assert (done.exit_code, done.stdout, done.stderr) == (0, "", "no fact found\n")
        assert run("facts", *arguments, "--json").stdout == "[]\n"


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
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "I keep bees.", "id": "1", "created_at": 1_767_000_000},
        {"role": "assistant", "content": "How many?", "id": "2"},
    ]
    (tmp_path / "lines.jsonl").write_text("\n\n".join(map(json.dumps, chat)))
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


# ---- recall, ask, history, stats -------------------------------------------------------------

QUESTION = "Where does Brandon plan on traveling for his next vacation?"


def test_recall_writes_one_line_for_each_statement_in_order(told: Run) -> None:
    done = told("recall", QUESTION, "--limit", "3")
    lines = done.stdout.splitlines()
    assert done.exit_code == 0
    assert len(lines) == 3
    assert "Brazil" in lines[-1]
    assert lines[-1].startswith("t=3 ")


def test_the_forms_of_a_recall(told: Run) -> None:
    found = json.loads(told("recall", QUESTION, "--json").stdout)
    assert found["question"] == QUESTION
    assert 0 < found["statements"][0]["score"] <= 1
    assert "brandon" in {concept["name"] for concept in found["concepts"]}
    assert told("recall", QUESTION, "--prompt").stdout.strip() == found["text"].strip() != ""
    assert "intercept" in told("recall", QUESTION, "--explain").stdout
    paper = json.loads(told("recall", QUESTION, "--ranking", "paper", "--json").stdout)
    assert paper["text"].startswith("Each sentence in the following statements is true")
    assert all(row["score"] is None for row in paper["statements"])


def test_recall_as_of_and_since_and_until(told: Run) -> None:
    def found(*arguments: str) -> str:
        return " ".join(texts(told("recall", QUESTION, "--json", *arguments)))

    assert "Brazil" in found()
    assert "Brazil" not in found("--as-of", "2")
    assert "looking forward" not in found("--since", "3")
    assert "Brazil" not in found("--until", "2")
    assert found("--since", "2999-01-01") == ""


def test_nothing_found_is_said_and_no_error(told: Run) -> None:
    done = told("recall", "Which zeppelin?", "--since", "99")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "nothing recalled" in done.stderr
    assert texts(told("recall", "Which zeppelin?", "--since", "99", "--json")) == []
    done = told("history", "Zanzibar")
    assert (done.exit_code, done.stdout) == (0, "")
    assert texts(told("history", "Zanzibar", "--json")) == []


def test_whose_memory_it_is(told: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert stats(told, "--namespace", "other")["statements"] == 0
    told("update", "Brandon sings.", "--namespace", "other")
    assert stats(told, "--namespace", "other")["t_index"] == 1
    monkeypatch.setenv("RECALLM_DB", "other.db")
    told("update", "Brandon sings.")
    assert stats(told)["t_index"] == 1
    assert stats(told, "--db", "recallm.db")["t_index"] == 3


def test_ask_hands_the_prompt_to_a_command_and_writes_its_answer(told: Run) -> None:
    done = told("ask", QUESTION, "--llm-command", "cat")
    assert done.exit_code == 0
    assert QUESTION in done.stdout
    before, _, rest = done.stdout.partition("<recalled_memory>\n")
    inside, _, after = rest.partition("\n</recalled_memory>\n")
    assert "Brazil" in inside
    assert "Brazil" not in before + after
    failed = told("ask", QUESTION, "--llm-command", "exit 3")
    assert failed.exit_code == 1
    assert "exit code 3" in failed.stderr


def test_stats_as_a_table(told: Run) -> None:
    lines = [line.split() for line in told("stats").stdout.splitlines()]
    assert ["statements", "4"] in lines


def test_texts_control_neither_the_terminal_nor_the_markup(run: Run) -> None:
    run("update", "The [bold]sign[/bold] of \x1b[31mLisbon\x1b[0m says :smile:.")
    line = run("recall", "What does the sign say?").stdout
    assert "\x1b" not in line
    assert "[bold]sign[/bold]" in line
    assert ":smile:" in line


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


def test_load_refuses_another_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text('{"hello": 1}\n')
    done = run("load", "bad.jsonl")
    assert done.exit_code == 1
    assert "archive" in done.stderr


def test_a_file_is_backed_up_and_restored(told: Run) -> None:
    assert "is copied to monday.db" in told("backup", "monday.db").stdout
    assert told("forget", "--everything", "--yes").exit_code == 0
    done = told("restore", "monday.db")
    assert "recallm.db is restored from monday.db; what was there is kept as" in done.stdout
    assert stats(told)["passages"] == 3
    for wrong in (
        ("backup", "monday.db"),
        ("restore", "no.db"),
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


# ---- embeddings ------------------------------------------------------------------------------


def test_statement_vectors(told: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given to what was told without, written with what is told with, used by the rankings."""
    monkeypatch.setattr("recallm.vectors.minilm.mini_lm", lambda: words)
    asked = ("recall", "Brandon Brazil", "--limit", "1", "--json")
    assert told(*asked, "--ranking", "vectors").stderr.startswith(
        "recallm: ranking='vectors' needs"
    )
    assert told("embed").exit_code == 1
    done = told("embed", "--embeddings", "default")
    assert done.stdout == "4 statements embedded\n"
    monkeypatch.setenv("RECALLM_EMBEDDINGS", "default")
    assert told("embed").stdout == "0 statements embedded\n"
    assert told("update", "Brandon is in Brazil now.").exit_code == 0
    assert stats(told)["vectors"] == 5
    assert texts(told(*asked, "--ranking", "vectors")) == ["Brandon is in Brazil now."]
    for ranking in ("ement", "statements"):
        assert "Brazil" in texts(told(*asked, "--ranking", ranking))[0]


# ---- owners, conversations, an examination ----------------------------------------------------


def test_namespaces_and_sessions_are_listed(told: Run) -> None:
    with RecallM("recallm.db", namespace="ann") as memory:
        memory.update("Bob hums.", session="choir", timestamp=datetime(2024, 5, 1, 12, tzinfo=UTC))
    assert told("namespaces").stdout.splitlines() == [
        "ann  t=1  1 update, 1 statement",
        "default  t=3  3 updates, 4 statements",
    ]
    assert json.loads(told("namespaces", "--json").stdout)["ann"]["passages"] == 1
    assert told("sessions", "--namespace", "ann").stdout == (
        "choir  t=1..1  2024-05-01 12:00+00:00 until 2024-05-01 12:00+00:00  1 update\n"
    )
    (found,) = json.loads(told("sessions", "--json").stdout)
    assert (found["name"], found["passages"]) == ("story.txt", 3)
    assert "limit" in told("sessions", "--limit", "0").stderr
    none = told("sessions", "--namespace", "bob")
    assert (none.exit_code, none.stdout, none.stderr) == (0, "", "no session\n")


def test_doctor_finds_a_sound_memory_sound(told: Run, tmp_path: Path) -> None:
    before = (tmp_path / "recallm.db").read_bytes()
    done = told("doctor")
    assert done.exit_code == 0, done.output
    assert "pipeline: finds names and nouns" in done.stdout
    assert "namespace default: 3 updates, 4 statements" in done.stdout
    assert "error" not in done.stdout
    assert (tmp_path / "recallm.db").read_bytes() == before
    found = json.loads(told("doctor", "--json").stdout)
    assert {each["state"] for each in found} <= {"ok", "note"}


def test_doctor_without_a_memory_examines_the_installation(run: Run, tmp_path: Path) -> None:
    done = run("doctor")
    assert done.exit_code == 1, "a memory that is not where it was looked for is a fault"
    assert "ok     pipeline" in done.stdout
    assert "error  memory: there is no memory at recallm.db" in done.stdout
    assert not list(tmp_path.iterdir())


def test_doctor_finds_damage(told: Run, tmp_path: Path) -> None:
    path = tmp_path / "recallm.db"
    content = path.read_bytes()
    assert b"looking forward" in content
    path.write_bytes(content.replace(b"looking forward", b"looking upwards"))
    done = told("doctor")
    assert done.exit_code == 1
    assert "error  namespace default" in done.stdout
    assert "damaged" in done.stdout
    path.write_bytes(b"not a database" * 100)
    done = told("doctor")
    assert done.exit_code == 1
    assert "error  memory" in done.stdout


def test_doctor_counts_what_waits(told: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "vector of" not in told("doctor").stdout
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("recallm.vectors.minilm.mini_lm", lambda: words)
        done = told("doctor", "--embeddings", "default")
    assert "4 statements without a vector of words; run memory.embed()" in done.stdout
    with RecallM("recallm.db", embeddings=words) as memory:
        memory.update("Ann sings.", expires_at=datetime(2024, 1, 1, tzinfo=UTC))
        memory.graph.upsert(entities=[NewEntity(id="Ann", label="Ann")])
    done = told("doctor")
    assert "4 statements without a vector of words; run memory.embed()" in done.stdout
    assert "1 update expired" in done.stdout
    monkeypatch.setattr("recallm.vectors.minilm.mini_lm", lambda: words)
    done = told("doctor", "--embeddings", "default")
    assert done.exit_code == 0
    assert "4 statements without a vector of words" in done.stdout
    assert "no entity has a vector of words" in done.stdout
    monkeypatch.setattr("recallm.vectors.minilm.mini_lm", lambda: replace(words, name="other"))
    done = told("doctor", "--embeddings", "default")
    assert done.exit_code == 1
    assert "its vectors are of words, not of other" in done.stdout


# ---- whole documents --------------------------------------------------------------------------


def test_a_whole_file_is_one_knowledge_update(run: Run, tmp_path: Path) -> None:
    (tmp_path / "story.txt").write_text(STORY, encoding="utf-8")
    done = run("update", "--whole", "story.txt", "--id", "s", "--speaker", "Ann")
    assert done.stdout == "1 knowledge update, 4 statements\n"
    assert run("update", "--whole", "story.txt", "--id", "s").stdout.endswith("1 known already\n")
    with RecallM("recallm.db") as memory:
        (passage,) = memory.passages()
    assert (passage.text, passage.source, passage.speaker) == (STORY, "story.txt", "Ann")


def test_what_cannot_be_read_whole(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    Path("story.txt").write_text("Ann sings.")
    Path("table.csv").write_text("name\nAnn\n")
    for code, arguments in (
        (2, ("nowhere.txt",)),
        (2, ("table.csv",)),
        (2, ("story.txt", "Ann sings.", "--id", "s")),
        (1, ("http://localhost:1/page",)),
        (1, ("https://",)),
    ):
        done = run("update", "--whole", *arguments)
        assert done.exit_code == code, (arguments, done.output)
        assert "Traceback" not in done.output, arguments
        assert done.stderr, arguments
    assert not caplog.records  # such as a line for each time that an address is tried again


# ---- language models --------------------------------------------------------------------------


def test_ask_asks_a_server(told: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with OpenAIServer("Brazil", "Brazil") as server:
        options = ("ask", QUESTION, "--llm", server.base_url, "--model", MODEL)
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        done = told(*options)
        assert done.stdout == "Brazil\n", done.output
        monkeypatch.setenv("OPENAI_API_KEY", "s3cret")
        refused = told(*options)
    assert "planning on going to Brazil" in server.requests[0].messages[0]["content"]
    assert refused.exit_code == 1
    assert refused.stderr.startswith(f"recallm: the model {MODEL} at {server.base_url} failed:")
    assert "s3cret" not in refused.output


def test_a_model_must_be_named(told: Run) -> None:
    both = ("--llm", "x", "--llm-command", "cat")
    for options in ((), ("--llm", "http://a.b"), ("--model", "m"), both):
        for command in (("ask", "Who?"), ("chat",)):
            done = told(*command, *options, input="")
            assert done.exit_code == 2, (command, options)
            assert "--llm" in done.stderr, (command, options)


def test_a_chat_remembers_what_was_said(run: Run) -> None:
    said: list[list[dict[str, str]]] = []

    def script(body: dict[str, Any]) -> str:
        said.append(body["messages"])
        return f"Answer {len(said)}"

    with OpenAIServer(script=script) as server:
        options = ("chat", "--llm", server.base_url, "--model", MODEL, "--speaker", "Ann")
        first = run(*options, input="I moved to Lisbon.\n\n/why\nIs it warm?\n/quit\nUnsaid.\n")
        assert first.stdout == "Answer 1\nnothing was recalled\nAnswer 2\n", first.output
        second = run(*options, "--session", "later", input="Where do I live?\n/why\n")
    assert second.stdout.startswith("Answer 3\n")
    assert "Lisbon" in second.stdout
    # Within a conversation the model sees its words; what was said before is recalled.
    assert "Lisbon" not in said[1][0]["content"]
    assert "talk with Ann" in said[1][0]["content"]
    assert [(message["role"], message["content"]) for message in said[1][1:]] == [
        ("user", "I moved to Lisbon."),
        ("assistant", "Answer 1"),
        ("user", "Is it warm?"),
    ]
    system, *lines = said[2]
    assert system["role"] == "system"
    assert "I moved to Lisbon." in system["content"]
    assert lines == [{"role": "user", "content": "Where do I live?"}]
    with RecallM("recallm.db") as memory:
        held = [(passage.speaker, passage.text) for passage in memory.passages()]
        assert held[:2] == [("Ann", "I moved to Lisbon."), ("Assistant", "Answer 1")]
        assert [session.passages for session in memory.sessions()] == [2, 4]
        assert memory.sessions()[0].name == "later"


def test_no_command_of_a_chat_is_remembered(run: Run) -> None:
    commands = ("/help", "/HELP me", "/why", "/forget all", "/exit", "/", "/?", "/quit now")
    lines = "\n".join(["/etc/hosts is mine.", *commands, "Unsaid."])
    done = run("chat", "--llm-command", "cat", input=lines)
    assert done.stdout.count("/why: what was recalled") == 2
    for unknown in ("/forget", "/exit", "/", "/?"):
        assert f"recallm: there is no command {unknown}; /why" in done.stderr
    with RecallM("recallm.db") as memory:
        asked, answer = memory.passages()
    assert asked.text == "/etc/hosts is mine."
    # A command reads the messages as a text.
    assert answer.text.startswith("You talk with User.")
    assert answer.text.endswith("\nUser: /etc/hosts is mine.\nAssistant:")


def test_a_chat_goes_on_after_a_failure(run: Run) -> None:
    done = run("chat", "--llm-command", "exit 3", input="I moved to Lisbon.\nHello?\n")
    assert done.exit_code == 0
    assert done.stderr.count("exit code 3") == 2
    assert stats(run)["passages"] == 2
