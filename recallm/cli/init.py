"""``recallm init``: a first program, written for the answers to three questions."""

from __future__ import annotations

import importlib.util
import json
import sys
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Annotated, Literal

import typer

from recallm import distribution
from recallm.cli.app import app, errors_in_one_line
from recallm.cli.output import console, printable
from recallm.stores.addresses import checked_uri, is_server

_PACKAGES = {
    "langchain": "langchain",
    "llama-index": "llama_index",
    "mcp": "mcp",
    "embeddings": "recallm_minilm",
    "neo4j": "neo4j",
}
"""A package that each extra brings."""

_PASSWORD = "NEO4J_PASSWORD"  # noqa: S105 (the name of a variable)

_Framework = Literal["none", "langchain", "llama-index", "mcp"]


def _new_program(file: Path) -> Path:
    if file.exists():
        raise typer.BadParameter(f"{file} exists, and is left as it is; name another file")
    if importlib.util.find_spec(file.stem.partition(".")[0]) is not None:
        raise typer.BadParameter(f"{file} would hide the package {file.stem}; name another file")
    if not file.parent.is_dir():
        raise typer.BadParameter(f"there is no folder {file.parent}; create it first")
    return file


@app.command()
def init(
    *,
    file: Annotated[
        Path,
        # Eager: a name that cannot be used is said before the questions are asked.
        typer.Argument(help="The program, a new file.", callback=_new_program, is_eager=True),
    ] = Path("remember.py"),
    framework: Annotated[
        _Framework,
        typer.Option(prompt="Which framework", help="Who uses the memory; none: your own code."),
    ] = "none",
    store: Annotated[
        str,
        typer.Option(
            prompt="Where to store (a file, or neo4j://…)",
            help="A SQLite file, or the neo4j:// or bolt:// address of a server.",
        ),
    ] = "memory.db",
    embeddings: Annotated[
        bool,
        typer.Option(
            prompt="With embeddings (they find more; 40 MB to install)",
            help="Whether statements get vectors (all-MiniLM-L6-v2).",
        ),
    ] = False,
) -> None:
    """Write a first program with comments. Asks what no option says."""
    with errors_in_one_line():
        if is_server(store):
            checked_uri(store)
        elif framework == "mcp":  # its clients start programs in folders of their own
            store = str(Path(store).absolute())
        extras = [framework] * (framework != "none") + ["embeddings"] * embeddings
        extras += ["neo4j"] * is_server(store)
        file.write_text(_program(framework, store, file, embeddings=embeddings), "utf-8")
        then = (
            "name it to your client, as it says" if framework == "mcp" else f"run it: python {file}"
        )
        console().print(printable(f"{file} is written; {then}"), soft_wrap=True)
        missing = [each for each in extras if importlib.util.find_spec(_PACKAGES[each]) is None]
        if missing:
            console().print(f"first: {distribution.install(','.join(missing))}", soft_wrap=True)
        if is_server(store):
            console().print(f"first: set {_PASSWORD} to the server's password", soft_wrap=True)


def _program(framework: _Framework, store: str, file: Path, *, embeddings: bool) -> str:
    arguments = [json.dumps(store, ensure_ascii=False)]
    imports, where = "", "One SQLite file; several processes may have it open."
    if is_server(store):
        imports, where = "import os\n\n", "A Neo4j server; its password is read from a variable."
        arguments.append(f'auth=("neo4j", os.environ["{_PASSWORD}"])')
    if embeddings:
        arguments.append('embeddings="default"')
        where += " all-MiniLM-L6-v2 runs on this machine."
    text = files("recallm.cli").joinpath("templates", f"{framework}.txt").read_text("utf-8")
    return Template(text).substitute(
        file=file.name,
        path=json.dumps(str(file.absolute()), ensure_ascii=False),
        python=json.dumps(sys.executable, ensure_ascii=False),
        imports=imports,
        where=where,
        arguments=", ".join(arguments),
    )
