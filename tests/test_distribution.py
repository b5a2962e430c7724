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


def error_of(code: str, site: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=site, env=environment, capture_output=True, text=True)
    return done.stderr.splitlines()[-1] if done.returncode else ""


@pytest.mark.parametrize("was_replaced", [False, True])
def test_the_error_says_what_to_uninstall(site: Path, *, was_replaced: bool) -> None:
    """Where the other was installed last, its ``__init__.py`` stands in the place of ours."""
    imports = ["recallm.cli", "langchain_recallm", "llama_index_recallm", "recallm.facts"]
    if was_replaced:
        (site / "recallm" / "__init__.py").unlink()
        (site / "recallm" / "__init__.py").write_text("SemanticCache = None\n")
    else:
        imports.append("recallm")
    for name in imports:
        error = error_of(f"import {name}", site)
        assert error.startswith("ImportError: the project 'recallm'"), name
        assert "pip uninstall --yes recallm && pip install" in error


def test_a_mere_folder_of_source_is_no_other_project(site: Path) -> None:
    (site / "recallm-0.2.0.dist-info").rename(site / "recallm_memory-0.1.0.dist-info")
    assert error_of("import recallm, recallm.cli", site) == ""


def test_the_citation_has_the_version() -> None:
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
