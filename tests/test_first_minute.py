"""The first minute: ``recallm demo`` and ``recallm init``."""

from __future__ import annotations

import gc
import runpy
import subprocess
import sys
import warnings
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
    assert "Ingrid lives in Malaga. [no longer]" in output
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
def test_a_first_program_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In this process, but for the server."""
    monkeypatch.chdir(tmp_path)
    for framework in ("none", "langchain", "llama-index", "mcp"):
        answers = f"{framework}\n{framework} memory.db\n{'y' if framework == 'none' else 'n'}\n"
        code, output = told("init", f"{framework}_program.py".replace("-", "_"), answers=answers)
        assert code == 0, output
        program = tmp_path / f"{framework}_program.py".replace("-", "_")
        then = "name it to your client" if framework == "mcp" else f"run it: python {program.name}"
        assert f"is written; {then}" in " ".join(output.split())
        assert ('embeddings="default"' in program.read_text("utf-8")) == (framework == "none")
        if framework == "mcp":
            # A client starts it in a folder of its own.
            command = [sys.executable, str(program)]
            done = subprocess.run(
                command, input="", capture_output=True, text=True, cwd=tmp_path.parent
            )
            assert done.returncode == 0, done.stderr
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", (DeprecationWarning, ResourceWarning))
                runpy.run_path(str(program), run_name="__main__")
                gc.collect()
            assert "Now I live in Porto." in capsys.readouterr().out
        assert (tmp_path / f"{framework} memory.db").exists()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["here.py"], "here.py exists, and is left as it is"),
        (["mcp.py"], "mcp.py would hide the package mcp"),
        (["none/new.py"], "there is no folder none"),
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
