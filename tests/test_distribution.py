"""Another project on the package index is called recallm, and its wheel has a folder recallm."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from recallm import __version__

ROOT = Path(__file__).parents[1]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder into which both projects are installed, the other one first."""
    (tmp_path / "recallm-0.2.0.dist-info").mkdir()
    (tmp_path / "recallm").mkdir()
    for folder in ("recallm", "langchain_recallm", "llama_index_recallm"):
        (tmp_path / folder).mkdir(exist_ok=True)
        for file in (ROOT / folder).iterdir():
            (tmp_path / folder / file.name).symlink_to(file)
    return tmp_path


IMPORTS = """
import importlib, sys

for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except ImportError as error:
        print(f"{name}: {error}")
"""


def errors_of(site: Path, *names: str) -> list[str]:
    """What a new process says of importing each of these, in a line each; nothing where that
    goes well."""
    environment = {**os.environ, "PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", IMPORTS, *names]
    done = subprocess.run(command, cwd=site, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_error_says_what_to_uninstall(site: Path) -> None:
    """Also where the other was installed last: its ``__init__.py`` stands in the place of ours."""
    names = ["recallm.cli", "langchain_recallm", "llama_index_recallm", "recallm.facts"]
    first = errors_of(site, *names, "recallm")
    (site / "recallm" / "__init__.py").unlink()
    (site / "recallm" / "__init__.py").write_text("SemanticCache = None\n")
    last = errors_of(site, *names)
    for name, error in zip([*names, "recallm", *names], [*first, *last], strict=True):
        assert error.startswith(f"{name}: the project 'recallm'")
        assert "pip uninstall --yes recallm && pip install" in error


def test_a_mere_folder_of_source_is_no_other_project(site: Path) -> None:
    (site / "recallm-0.2.0.dist-info").rename(site / "recallm_memory-0.1.0.dist-info")
    assert errors_of(site, "recallm", "recallm.cli") == []


def test_the_citation_has_the_version() -> None:
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
