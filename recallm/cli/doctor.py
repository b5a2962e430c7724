"""``recallm doctor``: what is wrong with an installation or a memory, and what mends it."""

from __future__ import annotations

import dataclasses
import platform
import sys
from collections.abc import Iterator
from typing import Literal

import typer
from rich.text import Text

from recallm import MissingDependencyError, RecallM, RecallMError, Stats, __version__
from recallm.cli.app import Opener, command
from recallm.cli.arguments import Json
from recallm.cli.output import console, counted, printable, write_json

_STYLES = {"ok": "green", "note": "cyan", "error": "bold red"}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What an examination found of ``subject``. A note is nothing wrong."""

    state: Literal["ok", "note", "error"]
    subject: str
    detail: str


@command()
def doctor(
    open_memory: Opener,
    *,
    as_json: Json = False,
) -> None:
    """Examine the installation, and the memory: its file, its version, its vectors.

    Reads all that the memory holds, and writes nothing. Exit code 1 where something is wrong.
    """
    found: list[Finding] = []
    for finding in (*_installation(), *_memory(open_memory)):
        found.append(finding)
        if not as_json:
            line = Text(f"{finding.state:5}  ", style=_STYLES[finding.state])
            line.append(printable(f"{finding.subject}: {finding.detail}"), style="default")
            console().print(line, soft_wrap=True)
    if as_json:
        write_json(found)
    if any(finding.state == "error" for finding in found):
        raise typer.Exit(1)


def _installation() -> Iterator[Finding]:
    yield Finding(
        state="ok",
        subject="recallm",
        detail=f"{__version__}, Python {platform.python_version()}",
    )
    try:
        known = RecallM().extract(["Brandon loves coffee."])[0].statements[0].concepts
        if [mention.name for mention in known] != ["brandon", "coffe"]:
            raise RecallMError(
                "does not find the concepts of a simple sentence: install recallm again"
            )
        yield Finding(state="ok", subject="pipeline", detail="finds names and nouns")
    except RecallMError as error:
        yield Finding(state="error", subject="pipeline", detail=str(error))
    try:
        RecallM(embeddings="default").close()
        yield Finding(state="ok", subject="default embedding", detail="is installed")
    except MissingDependencyError as error:
        yield Finding(state="note", subject="default embedding", detail=str(error))


def _memory(open_memory: Opener) -> Iterator[Finding]:
    """What the store holds: its file, and each namespace."""
    try:
        memory = open_memory()
    except (RecallMError, OSError) as error:
        yield Finding(state="error", subject="memory", detail=str(error))
        return
    with memory:
        yield Finding(state="ok", subject="memory", detail=f"opened {memory!r}")
        is_first = True
        for name in memory.namespaces() or (memory.namespace,):
            owner = memory.in_namespace(name)
            found = owner.problems(structure=is_first, progress=sys.stderr.isatty())
            is_first = False
            subject = f"namespace {name}"
            yield from (Finding(state="error", subject=subject, detail=fault) for fault in found)
            if not found:
                yield from _contents(owner, subject)


def _contents(memory: RecallM, subject: str) -> Iterator[Finding]:
    held = memory.stats()
    yield Finding(
        state="ok",
        subject=subject,
        detail=f"{counted(held.passages, 'update')}, {counted(held.statements, 'statement')}, "
        f"{counted(held.concepts, 'concept')}, {counted(held.vectors, 'vector')}",
    )
    yield from _vectors(memory, held, subject)
    expired = held.passages - len(memory.passages(withdrawn=True))
    if expired:
        yield Finding(
            state="note",
            subject=subject,
            detail=f"{counted(expired, 'update')} expired; 'recallm forget --expired' forgets them",
        )


def _vectors(memory: RecallM, held: Stats, subject: str) -> Iterator[Finding]:
    """Vectors that are missing, or are of another model than the one that was given."""
    with memory.graph.reader() as reader:
        state = reader.state.vectors
        given = None if memory.embedding is None else memory.embedding.name
        has_named = given is not None and bool(reader.entity_vectors(model=given))
    if state is not None and given is not None and state.model != given:
        yield Finding(
            state="error",
            subject=subject,
            detail=f"its vectors are of {state.model}, not of {given}: with these embeddings it "
            "refuses updates and questions; name the model of its vectors, or none",
        )
        return
    without = held.statements - held.vectors
    if without and (state is not None or given is not None):
        model = given if state is None else state.model
        yield Finding(
            state="note",
            subject=subject,
            detail=f"{counted(without, 'statement')} without a vector of {model}; run "
            "memory.embed(), or 'recallm embed --embeddings default' where that is the model",
        )
    if given is not None and held.entities and not has_named:
        yield Finding(
            state="note",
            subject=subject,
            detail=f"no entity has a vector of {given}: similar names of facts are found by their "
            "words alone; FactMemory writes vectors with the facts that it writes with embeddings",
        )
