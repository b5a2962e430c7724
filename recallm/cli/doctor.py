"""``recallm doctor``: what is wrong with an installation or a memory, and what mends it."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from typing import TypeAlias

import typer
from rich.text import Text

from recallm import (
    EmbeddingModelError,
    MissingDependencyError,
    RecallM,
    RecallMError,
    Stats,
    __version__,
)
from recallm.cli.app import Opener, command
from recallm.cli.output import console, counted, printable

_STYLES = {"ok": "green", "note": "cyan", "error": "bold red"}

_Finding: TypeAlias = tuple[str, str]
"""What was found: "ok", "note" (nothing wrong) or "error", and of what."""


@command()
def doctor(open_memory: Opener) -> None:
    """Examine the installation, and the memory: its file, its version, its vectors.

    Reads all that the memory holds, and writes nothing. Exit code 1 where something is wrong.
    """
    is_sound = True
    for state, found in (*_installation(), *_memory(open_memory)):
        line = Text(f"{state:5}  ", style=_STYLES[state])
        line.append(printable(found), style="default")
        console().print(line, soft_wrap=True)
        is_sound = is_sound and state != "error"
    if not is_sound:
        raise typer.Exit(1)


def _installation() -> Iterator[_Finding]:
    yield "ok", f"recallm: {__version__}, Python {platform.python_version()}"
    try:
        known = RecallM().extract(["Brandon loves coffee."])[0].statements[0].concepts
        if [mention.name for mention in known] != ["brandon", "coffe"]:
            raise RecallMError(
                "does not find the concepts of a simple sentence: install recallm again"
            )
        yield "ok", "pipeline: finds names and nouns"
    except RecallMError as error:
        yield "error", f"pipeline: {error}"
    try:
        RecallM(embeddings="default").close()
        yield "ok", "default embedding: is installed"
    except MissingDependencyError as error:
        yield "note", f"default embedding: {error}"


def _memory(open_memory: Opener) -> Iterator[_Finding]:
    """What the store holds: its file, and each namespace."""
    try:
        memory = open_memory()
    except (RecallMError, OSError) as error:
        yield "error", f"memory: {error}"
        return
    with memory:
        yield "ok", f"memory: opened {memory!r}"
        is_first = True
        for name in memory.namespaces() or (memory.namespace,):
            owner = memory.in_namespace(name)
            faults = owner.problems(structure=is_first)
            is_first = False
            found = [("error", fault) for fault in faults] or _contents(owner)
            yield from ((state, f"namespace {name}: {detail}") for state, detail in found)


def _contents(memory: RecallM) -> Iterator[_Finding]:
    held = memory.stats()
    counts = (
        (held.passages, "update"),
        (held.statements, "statement"),
        (held.concepts, "concept"),
        (held.vectors, "vector"),
    )
    yield "ok", ", ".join(counted(count, noun) for count, noun in counts)
    yield from _vectors(memory, held)
    if expired := held.passages - len(memory.passages(withdrawn=True)):
        what = f"{counted(expired, 'update')} expired"
        yield "note", f"{what}; 'recallm forget --expired' forgets them"


def _vectors(memory: RecallM, held: Stats) -> Iterator[_Finding]:
    """Vectors that are missing, or are of another model than the one that was given."""
    with memory.graph.reader() as reader:
        state = reader.state.vectors
    given = None if memory.embedding is None else memory.embedding.name
    if state is not None and given is not None and state.model != given:
        yield "error", str(EmbeddingModelError(stored=state.model, given=given))
        return
    without = held.statements - held.vectors
    if without and (state is not None or given is not None):
        model = given if state is None else state.model
        found = (
            f"{counted(without, 'statement')} without a vector of {model}; run memory.embed(), or "
            "'recallm embed --embeddings default' where that is the model"
        )
        yield "note", found
