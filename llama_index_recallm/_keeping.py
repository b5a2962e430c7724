"""A memory in a file of LlamaIndex's file system.

The file is one JSON object in the form of LlamaIndex's own stores, which a ``StorageContext`` reads
whatever store wrote the file. A member of the object that these stores pass over holds all that is
in the memory's namespace: the records of an archive.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

import fsspec
from pydantic_core import to_jsonable_python

from recallm import ArchiveError, RecallM
from recallm.adapting import checked_memory

__all__ = ["persisted", "read_again"]

_RECORDS = "recallm"
"""The member that holds the records of the archive."""

_GRAPHS = ({"nodes", "relations", "triplets"}, {"graph_dict"})
"""The members of what LlamaIndex's ``SimplePropertyGraphStore`` and ``SimpleGraphStore`` write."""


def persisted(
    memory: RecallM, shown: Mapping[str, Any], path: str, fs: fsspec.AbstractFileSystem | None
) -> None:
    """Write all that the memory's namespace holds to a file, beside ``shown``, which is the graph
    in the form of LlamaIndex's own store. Folders that are missing are made. A local file is
    replaced when all of it was written.

    Raises:
        ArchiveError: the file cannot be written, or holds something else than a graph that this
            function or one of LlamaIndex's own stores wrote.

    """
    archive = io.StringIO()
    memory.export(archive)
    records = archive.getvalue().rstrip("\n").replace("\n", ",\n")
    graph = json.dumps(to_jsonable_python(shown, bytes_mode="base64"), ensure_ascii=False)
    try:
        with _replacing(path) if fs is None else _over(path, fs) as stream:
            stream.write(f'{graph.removesuffix("}")}, "{_RECORDS}": [\n{records}\n]}}\n')
    except OSError as error:
        raise ArchiveError(f"{path} cannot be written: {error.strerror or error}") from error


def read_again(memory: RecallM | None, path: str, fs: fsspec.AbstractFileSystem | None) -> RecallM:
    """``memory``, whose namespace must be empty (a new one, embedded and in memory, if None), with
    what ``persisted`` wrote, or with an archive.

    Raises:
        ArchiveError: the file cannot be read.
        InvalidInputError: the namespace is not empty.

    """
    memory = RecallM() if memory is None else checked_memory(memory)
    try:
        with (fs or fsspec.filesystem("file")).open(path, "r", encoding="utf-8") as stream:
            text = cast("IO[str]", stream).read()
    except (OSError, UnicodeDecodeError) as error:
        raise ArchiveError(f"{path} cannot be read: {error}") from error
    memory.load(io.StringIO(_archive_in(text, path)))
    return memory


def _archive_in(text: str, path: str) -> str:
    """The lines of the archive in what ``persisted`` wrote; any other text as it is."""
    try:
        held = json.loads(text)
        if not isinstance(held, dict) or "format" in held:
            return text
        if isinstance(records := held.get(_RECORDS), list):
            return "\n".join(json.dumps(record, ensure_ascii=False) for record in records)
    except RecursionError:
        raise ArchiveError(f"{path} is nested too deeply: persist wrote no such file") from None
    except ValueError:
        return text
    raise ArchiveError(
        f"{path} was not written by the persist method of this store; where LlamaIndex's own store "
        "wrote the file, that store reads it"
    )


@contextmanager
def _replacing(path: str) -> Iterator[IO[str]]:
    """A new file, which takes the place of the one at ``path`` when all of it was written."""
    target = Path(os.path.realpath(path))
    if target.is_file():
        _refuse_foreign(target.read_bytes(), path)
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f"{target.name}.{uuid.uuid4().hex}")
    try:
        with draft.open("x", encoding="utf-8", newline="\n") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if target.exists():
            shutil.copymode(target, draft)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def _over(path: str, fs: fsspec.AbstractFileSystem) -> Iterator[IO[str]]:
    """The file at ``path`` of a file system, opened to be written anew."""
    folder = os.path.dirname(path)  # noqa: PTH120 (a path of another file system)
    if fs.isfile(path):
        _refuse_foreign(fs.cat_file(path), path)
    elif folder and not fs.exists(folder):
        fs.makedirs(folder, exist_ok=True)
    with fs.open(path, "w", encoding="utf-8") as stream:
        yield cast("IO[str]", stream)


def _refuse_foreign(content: str | bytes, path: str) -> None:
    """Refuse to write over what is neither empty nor a graph of ours or of LlamaIndex's stores.

    Raises:
        ArchiveError: it is something else.

    """
    if not content:
        return
    try:
        held = json.loads(content)
    except (ValueError, RecursionError):
        held = None
    if not isinstance(held, dict) or held.keys() - {_RECORDS} not in _GRAPHS:
        raise ArchiveError(f"{path} holds something else than a graph; give another path")
