"""``recallm init``: a first program, written for the answers to three questions."""

from __future__ import annotations

import importlib.util
import json
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

_Framework = Literal["none", "langchain", "llama-index", "mcp"]


@app.command()
def init(
    *,
    file: Annotated[Path, typer.Argument(help="The program, a new file.")] = Path("remember.py"),
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
    if file.exists():
        raise typer.BadParameter(f"{file} exists, and is left as it is; name another file")
    if importlib.util.find_spec(file.stem.partition(".")[0]) is not None:
        raise typer.BadParameter(f"{file} would hide the package {file.stem}; name another file")
    with errors_in_one_line():
        if is_server(store):
            checked_uri(store)
        extras = [framework] * (framework != "none") + ["embeddings"] * embeddings
        extras += ["neo4j"] * is_server(store)
        file.write_text(_program(framework, store, file.name, embeddings=embeddings), "utf-8")
        console().print(printable(f"{file} is written; run it: python {file}"), soft_wrap=True)
        missing = [each for each in extras if importlib.util.find_spec(_PACKAGES[each]) is None]
        if missing:
            console().print(f"first: {distribution.install(','.join(missing))}", soft_wrap=True)


def _program(framework: _Framework, store: str, file: str, *, embeddings: bool) -> str:
    arguments = [json.dumps(store, ensure_ascii=False)]
    imports, where = "", "One SQLite file; several processes may have it open."
    if is_server(store):
        imports, where = "import os\n\n", "A Neo4j server; its password is read from a variable."
        arguments.append('auth=("neo4j", os.environ["NEO4J_PASSWORD"])')
    if embeddings:
        arguments.append('embeddings="default"')
        where += " all-MiniLM-L6-v2 runs on this machine."
    text = files("recallm.cli").joinpath("templates", f"{framework}.txt").read_text("utf-8")
    return Template(text).substitute(
        file=file, imports=imports, where=where, arguments=", ".join(arguments)
    )
