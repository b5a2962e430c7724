"""README and the documentation: every code block runs, every page is built without a warning."""

from __future__ import annotations

import doctest
import gc
import inspect
import json
import os
import re
import runpy
import shlex
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
from langchain_core._api.deprecation import LangChainDeprecationWarning
from pydantic.warnings import PydanticDeprecationWarning
from typer.testing import CliRunner

from recallm import RecallM
from recallm.cli import app
from tests.command_line import enter
from tests.neo4j.fixtures import RunningServer

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = ["README.md", *sorted(page.relative_to(ROOT).as_posix() for page in DOCS.rglob("*.md"))]

_BLOCK = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?!https?://)([^)#\s]+)")
_GO_ON = frozenset({"init", "mcp", "view"})
"""Commands of recallm that ask, or end when the user ends them; tests of their own run them."""
_SHELL = ("recallm ", "printf ")
_NOT_RUN = ("pip install ", "docker compose ", "python -m ", "make ", "openssl ")
"""Commands of other programs, and long ones of the project."""


_PRINTED = {
    "README.md": (
        "Paris", "Brazil", "In Porto.",
        "['Dorothea Altemus', 'Ada']", "Cisco",
    ),
    "docs/quickstart.md": ("Brazil", "To Brazil.", "Lisbon"),
    "docs/concepts.md": ("She [Ingrid] moved to Porto.", "Ingrid move to Porto", "capital of"),
    "docs/embeddings.md": ("Porto", "In Porto."),
    "docs/llama_index.md": ("Human: I live in Porto.", "Ingrid moved to Malaga"),
    "docs/langchain.md": ("In Porto.", "My PIN is [PIN]", "Now I live in Porto."),
}  # fmt: skip
"""What the blocks of a page print, in order, among other lines."""


def blocks(page: str) -> list[tuple[str, str]]:
    """The language and the text of each code block, in order."""
    text = (ROOT / page).read_text("utf-8")
    return [
        (language, "\n".join(line.removeprefix(indent) for line in body.splitlines()))
        for indent, language, body in _BLOCK.findall(text)
    ]


def pages_with(language: str) -> list[str]:
    """The pages that have a block of a language."""
    return [page for page in PAGES if language in dict(blocks(page))]


@pytest.mark.parametrize("page", pages_with("python"))
def test_python_blocks_run_one_after_the_other(
    page: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "page"}
    for language, text in blocks(page):
        if language != "python":
            continue
        if page == "docs/neo4j.md":
            server: RunningServer = request.getfixturevalue("neo4j_server")
            text = text.replace("neo4j://localhost:7687", server.uri)
            text = text.replace('("neo4j", "a-long-password")', repr(server.auth))
        if text.startswith(">>> "):
            examples = doctest.DocTestParser().get_doctest(text, names, page, page, 0)
            flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
            runner = doctest.DocTestRunner(optionflags=flags)
            runner.run(examples, clear_globs=False)
            names.update(examples.globs)
            assert runner.summarize().failed == 0
        else:
            with warnings.catch_warnings():
                # The classic classes, from which the page on migration starts, say so.
                warnings.simplefilter("ignore", LangChainDeprecationWarning)
                # LlamaIndex's workflows look at each attribute of an agent, also at pydantic's old
                # ones; and its Memory leaves the connection of its queue to the interpreter.
                warnings.simplefilter("ignore", PydanticDeprecationWarning)
                warnings.filterwarnings("ignore", "<aiosqlite", ResourceWarning)
                exec(compile(text, page, "exec", dont_inherit=True), names)
                if page == "docs/llama_index.md":
                    gc.collect()  # the connection goes here, not in a later test
    printed = capsys.readouterr().out
    place = -1
    for text_ in _PRINTED.get(page, ()):
        place = printed.find(text_, place + 1)
        assert place >= 0, text_


@pytest.mark.parametrize("page", pages_with("sh"))
def test_commands_run_one_after_the_other(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this process where no shell is needed: a new process takes two seconds to start."""
    enter(tmp_path, monkeypatch)
    shells = [text for language, text in blocks(page) if language == "sh"]
    commands = "\n".join(shells).splitlines()
    for command in commands:
        if not command or command.startswith(_NOT_RUN):
            continue
        assert command.startswith(_SHELL), command
        if command.split()[1] in _GO_ON:
            continue
        program, *arguments = shlex.split(command, comments=True)
        if program == "recallm" and not {"|", ">", "<"} & set(arguments):
            result = CliRunner().invoke(app, arguments)
            assert result.exit_code == 0, f"{command}\n{result.output}"
        else:
            _run_in_shell(command, tmp_path)


def _run_in_shell(command: str, folder: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{command}\n{done.stderr}"


def test_every_command_of_the_command_line_is_shown() -> None:
    shown = {
        line.split()[1]
        for page in ("docs/command_line.md", "docs/embeddings.md", "docs/mcp.md", "docs/viewer.md")
        for line in (ROOT / page).read_text("utf-8").replace("`", "\n").splitlines()
        if line.startswith("recallm ")
    }
    assert shown >= {each.callback.__name__ for each in app.registered_commands if each.callback}


def test_the_front_page_is_short() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 180


def test_every_block_has_a_language_that_is_checked() -> None:
    for language, text in (block for page in PAGES for block in blocks(page)):
        assert language in {"python", "sh", "json", "text", "mermaid", "toml", "cypher"}, text
        if language == "json":
            json.loads(text)


def test_every_page_begins_with_whom_it_is_for() -> None:
    for page in PAGES:
        if page.startswith("docs/") and not page.startswith(("docs/api/", "docs/index")):
            _, _, text = (ROOT / page).read_text("utf-8").partition("\n\n")
            assert text.startswith("For whoever "), page
            assert "Afterwards" in text.partition("\n\n")[0], page


def test_links_to_files_lead_somewhere() -> None:
    """Those outside of docs/, which the build of the pages does not see."""
    outside = ["README.md", "CONTRIBUTING.md", "examples/README.md", "training/README.md"]
    for page in (ROOT / name for name in outside):
        for target in _LINK.findall(page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_picture_is_that_of_the_memory() -> None:
    drawn = runpy.run_path(str(DOCS / "pictures.py"))["memory_svg"]()
    assert drawn == (DOCS / "memory.svg").read_text("utf-8")
    assert all(
        f'<text x="12" y="40">Ingrid {verb}' in drawn for verb in ("lives", "works", "moved")
    )


def test_pages_are_built_without_a_warning(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    home = (tmp_path / "site" / "index.html").read_text("utf-8")
    assert "fonts.googleapis" not in home
    reference = (tmp_path / "site" / "api" / "recallm" / "index.html").read_text("utf-8")
    for name, _ in inspect.getmembers(RecallM, inspect.iscoroutinefunction):
        assert name.startswith("_") or name in reference, name
