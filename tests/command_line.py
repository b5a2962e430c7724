"""The command line in a folder of its own, for tests."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from recallm.cli import app

Run = Callable[..., Result]

STORY = """Brandon wants to go to Paris for his next vacation.
He has never been there.

Brandon is still looking forward to his vacation in Paris.

\t
Brandon cancelled his Paris trip, and is now planning on going to Brazil instead.
"""


def enter(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder, without the settings of who runs the tests."""
    monkeypatch.chdir(folder)
    for name in [name for name in os.environ if name.startswith("RECALLM_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run recallm in a folder of its own."""
    enter(tmp_path, monkeypatch)

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
