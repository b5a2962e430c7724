"""What README.md shows runs as it stands there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.vectors.default_model import why_absent
from tests.vectors.fakes import words

README = Path(__file__).parents[1] / "README.md"


def blocks(language: str) -> list[str]:
    """The code blocks of a language, in order."""
    return re.findall(
        rf"^```{language}\n(.*?)^```$", README.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )


def commands() -> list[str]:
    return [
        line for block in blocks("sh") for line in block.splitlines() if line.startswith("recallm ")
    ]


def test_python_blocks_run_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(blocks("python")) >= 3
    monkeypatch.chdir(tmp_path)
    if why_absent() is not None:  # the blocks run all the same, on vectors that mean less
        monkeypatch.setattr("recallm.vectors.minilm.mini_lm", lambda: words)
    names: dict[str, Any] = {"__name__": "readme"}
    for block in blocks("python"):
        exec(compile(block, str(README), "exec", dont_inherit=True), names)
    printed = capsys.readouterr().out
    assert "Brazil" in printed
    assert printed.index("Paris") < printed.index("Brazil")
    assert printed.index("I used to live in Malaga.") < printed.index("Now I live in Porto.")
    assert printed.index("In Porto.") > printed.index("Brazil")
    assert "She [Ingrid] moved to Porto." in printed
    assert "Ingrid work for Siemens" in printed
    assert "Ingrid move to Malaga 1\nIngrid work for bakery 1\n" in printed
    assert "Ingrid work for hospital 1\n1 Ingrid moved to Malaga" in printed


GO_ON = frozenset({"chat", "mcp", "view"})
"""Commands that end when the user ends them; tests of their own run them."""


def test_commands_run_one_after_the_other(tmp_path: Path) -> None:
    assert len(commands()) >= 5
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("RECALLM_")},
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    absent = why_absent() is not None
    for command in commands():
        if (absent and "--embeddings" in command) or command.split()[1] in GO_ON:
            continue
        done = subprocess.run(
            command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        assert done.stdout.strip() or "exported" in done.stderr, command


def test_every_command_of_the_command_line_is_shown() -> None:
    from recallm.cli import app

    shown = {command.split()[1] for command in commands()}
    assert shown == {each.callback.__name__ for each in app.registered_commands if each.callback}
