"""The command line, on real files: what it recalls, answers, lists and examines."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from recallm import NewEntity, RecallM

from .command_line import Run, run, stats, texts, told
from .vectors.fakes import words

__all__ = ["run", "told"]  # fixtures


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
    assert told("ask", QUESTION).exit_code == 2
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


# ---- owners, an examination -------------------------------------------------------------------


def test_namespaces_are_listed(told: Run) -> None:
    with RecallM("recallm.db", namespace="ann") as memory:
        memory.update("Bob hums.")
    assert told("namespaces").stdout.splitlines() == [
        "ann  t=1  1 update, 1 statement",
        "default  t=3  3 updates, 4 statements",
    ]
    assert json.loads(told("namespaces", "--json").stdout)["ann"]["passages"] == 1


def test_doctor_finds_a_sound_memory_sound(told: Run, tmp_path: Path) -> None:
    before = (tmp_path / "recallm.db").read_bytes()
    done = told("doctor")
    assert done.exit_code == 0, done.output
    assert "pipeline: finds names and nouns" in done.stdout
    assert "namespace default: 3 updates, 4 statements" in done.stdout
    assert "error" not in done.stdout
    assert (tmp_path / "recallm.db").read_bytes() == before


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
    monkeypatch.setattr("recallm.vectors.minilm.mini_lm", lambda: replace(words, name="other"))
    done = told("doctor", "--embeddings", "default")
    assert done.exit_code == 1
    assert "made by 'words', not by 'other'" in done.stdout
