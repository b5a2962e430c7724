"""``python packaging/check.py DIST README``: what was built works without a clone.

Each distribution is installed from the folder ``DIST`` into a clean environment, what else is
needed from the package index. There the commands and the programs of README run, in a folder of
their own and without a network.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path

_BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

_SKIPPED = ("recallm init", "recallm view")
"""Commands that ask or serve."""

_NO_NETWORK = {"HTTPS_PROXY": "http://127.0.0.1:9", "HTTP_PROXY": "http://127.0.0.1:9"}

_EMBEDDED = """
from recallm import RecallM
with RecallM(embeddings="default") as memory:
    memory.update("Ingrid settled down in Malaga.")
    assert memory.recall("In which city is her home?").text
"""

_LLAMA_INDEX = ["--framework", "llama-index", "--store", "agents.db", "--no-embeddings"]


def main() -> None:
    """Check everything; an exit code other than 0 where something does not work."""
    dist, readme = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).read_text("utf-8")
    commands, programs = [], []
    for language, text in _BLOCK.findall(readme):
        if language == "python":
            programs.append(text)
        else:
            commands += [line for line in text.splitlines() if line.startswith("recallm ")]
    with tempfile.TemporaryDirectory() as folder:
        core = Environment(Path(folder, "core"), dist, "recallm-memory")
        for command in commands:
            if not command.startswith(_SKIPPED):
                core.run(*shlex.split(command, comments=True))
        core.run("recallm", "init", "--framework", "none", "--store", "a.db", "--no-embeddings")
        core.run("python", "remember.py")
        core.install("recallm-memory[embeddings]")
        core.run("python", "-c", _EMBEDDED)
        langchain = Environment(Path(folder, "langchain"), dist, "langchain-recallm")
        langchain.run("python", "-c", "\n".join(programs))
        llama = Environment(Path(folder, "llama"), dist, "llama-index-memory-recallm")
        llama.run("recallm", "init", *_LLAMA_INDEX)
        llama.run("python", "remember.py")


class Environment:
    """A virtual environment in ``folder`` with ``requirement``, and a folder to work in."""

    def __init__(self, folder: Path, dist: Path, requirement: str) -> None:
        venv.create(folder, with_pip=True)
        self._bin = folder / ("Scripts" if os.name == "nt" else "bin")
        self._work = folder / "work"
        self._work.mkdir()
        self._dist = dist
        self.install(requirement)

    def install(self, requirement: str) -> None:
        """Install from the folder, or the index."""
        pip = ("python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        self._run([*pip, "--find-links", str(self._dist), requirement], {})

    def run(self, *command: str) -> None:
        """Run a program of the environment for a user who has nothing and no network. The process
        ends with the program's exit code if that is not 0."""
        self._run(command, {**_NO_NETWORK, "HOME": str(self._work)})

    def _run(self, command: Sequence[str], variables: Mapping[str, str]) -> None:
        began = time.perf_counter()
        path = f"{self._bin}{os.pathsep}{os.environ['PATH']}"
        inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        program = shutil.which(command[0], path=str(self._bin))  # Windows: with its ending
        assert program is not None, command[0]
        done = subprocess.run(
            [program, *command[1:]],
            cwd=self._work,
            env={**inherited, **variables, "PATH": path},
            capture_output=True,
            check=False,
            text=True,
            encoding="utf-8",
        )
        shown = " ".join(command)[:70].replace("\n", " ")
        print(f"{time.perf_counter() - began:6.1f} s  {shown}", flush=True)
        if done.returncode:
            print(done.stdout, done.stderr, file=sys.stderr)
            sys.exit(done.returncode)


if __name__ == "__main__":
    main()
