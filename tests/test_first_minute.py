"""The first minute: ``recallm demo`` and ``recallm init``."""

from __future__ import annotations

import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest
from typer.testing import CliRunner

from recallm.cli import app


def told(*arguments: str, answers: str = "") -> tuple[int, str]:
    done = CliRunner().invoke(app, arguments, input=answers)
    return done.exit_code, done.output


def test_the_demo_recalls_every_answer() -> None:
    code, output = told("demo")
    assert code == 0
    assert "10 of 10 answers recalled" in output
    _, _, earlier = output.partition("As it stood when Brandon had no job")
    assert "unemployed" in earlier
    assert "Cisco" not in earlier


def test_the_text_of_the_demo_names_its_authors_and_licence() -> None:
    folder = files("recallm.cli").joinpath("travel")
    attribution = folder.joinpath("README.md").read_text("utf-8")
    guides = [each for each in folder.iterdir() if each.name.endswith(".txt")]
    assert all(f"`{guide.name}`" in attribution for guide in guides)
    assert "ShareAlike 3.0" in folder.joinpath("LICENSE").read_text("utf-8")
    assert sum(len(guide.read_text("utf-8").split()) for guide in guides) > 4000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("framework", "embeddings", "shown"),
    [
        ("none", True, "Now I live in Porto."),
        ("langchain", False, "Now I live in Porto."),
        ("llama-index", False, "Now I live in Porto."),
        ("mcp", False, ""),
    ],
)
def test_a_first_program_runs(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    framework: str,
    embeddings: bool,
    shown: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    answers = f"{framework}\nmy memory.db\n{'y' if embeddings else 'n'}\n"
    code, output = told("init", answers=answers)
    assert (code, output.splitlines()[-1][-38:]) == (0, "is written; run it: python remember.py")
    program = (tmp_path / "remember.py").read_text("utf-8")
    assert ('embeddings="default"' in program) == embeddings
    done = subprocess.run(
        [sys.executable, "remember.py"], input="", capture_output=True, text=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    assert shown in done.stdout
    assert (tmp_path / "my memory.db").exists()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["here.py"], "here.py exists, and is left as it is"),
        (["mcp.py"], "mcp.py would hide the package mcp"),
        (["new.py", "--store", "neo4j://"], "neo4j://"),
    ],
)
def test_what_init_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], problem: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here.py").write_text("mine")
    code, output = told("init", *arguments, answers="none\n\nn\n")
    assert code in (1, 2)
    assert problem in output
    assert [path.read_text() for path in tmp_path.iterdir()] == ["mine"]
