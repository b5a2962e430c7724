"""A memory's namespace as a dict, or in a file on any file system of fsspec.

Both are one JSON object in the form of LlamaIndex's own stores, which a ``StorageContext`` reads
whatever store wrote the file. One more member of the object, which these stores ignore, holds the
namespace itself: the records of an archive.
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

from recallm import ArchiveError, InvalidInputError, RecallM
from recallm.adapting import checked_memory, checks

_RECORDS = "recallm"
"""The member that holds the records of the archive."""

_GRAPH_MEMBERS = ({"nodes", "relations", "triplets"}, {"graph_dict"})
"""The members of what LlamaIndex's ``SimplePropertyGraphStore`` and ``SimpleGraphStore`` write."""


def persist_memory(
    memory: RecallM, graph: Mapping[str, Any], path: str, fs: fsspec.AbstractFileSystem | None
) -> None:
    """Write the memory's namespace to a file, beside ``graph``, the graph in the form of
    LlamaIndex's own store. Missing folders are created. A local file is replaced once the new one
    is complete."""
    text = _json_text(memory, graph)
    try:
        with _replacement(path) if fs is None else _overwritten(path, fs) as stream:
            stream.write(text)
    except OSError as error:
        raise ArchiveError(f"{path} cannot be written: {error.strerror or error}") from error


def memory_as_dict(memory: RecallM, graph: Mapping[str, Any]) -> dict[str, Any]:
    """What ``persist_memory`` writes, as JSON values."""
    content: dict[str, Any] = json.loads(_json_text(memory, graph))
    return content


def memory_from_dict(memory: RecallM | None, content: object) -> RecallM:
    """Read what ``memory_as_dict`` returned into ``memory``, as ``load_memory`` does."""
    records = checks.mapping(content, "data").get(_RECORDS)
    if not isinstance(records, list):
        raise InvalidInputError(
            f"data has no list {_RECORDS!r}: to_dict of this store did not return it; the nodes "
            "and relations of another store are written with upsert_nodes and upsert_relations",
            argument="data",
        )
    memory = RecallM() if memory is None else checked_memory(memory)
    memory.load(io.StringIO(_archive_of(records)))
    return memory


def load_memory(memory: RecallM | None, path: str, fs: fsspec.AbstractFileSystem | None) -> RecallM:
    """Read what ``persist_memory`` wrote, or an archive, into ``memory``, whose namespace must be
    empty (None: into a new memory, embedded and without a file)."""
    memory = RecallM() if memory is None else checked_memory(memory)
    try:
        with (fs or fsspec.filesystem("file")).open(path, "r", encoding="utf-8") as stream:
            text = cast("IO[str]", stream).read()
    except (OSError, UnicodeDecodeError) as error:
        raise ArchiveError(f"{path} cannot be read: {error}") from error
    memory.load(io.StringIO(_archive_in(text, path)))
    return memory


def _json_text(memory: RecallM, graph: Mapping[str, Any]) -> str:
    """The JSON object, with a line for each record."""
    archive = io.StringIO()
    memory.export(archive)
    records = archive.getvalue().rstrip("\n").replace("\n", ",\n")
    graph_text = json.dumps(to_jsonable_python(graph, bytes_mode="base64"), ensure_ascii=False)
    return f'{graph_text.removesuffix("}")}, "{_RECORDS}": [\n{records}\n]}}\n'


def _archive_of(records: list[Any]) -> str:
    return "\n".join(json.dumps(record, ensure_ascii=False) for record in records)


def _archive_in(text: str, path: str) -> str:
    """The lines of the archive in what ``persist_memory`` wrote; any other text as it is."""
    try:
        content = json.loads(text)
        if not isinstance(content, dict) or "format" in content:
            return text
        if isinstance(records := content.get(_RECORDS), list):
            return _archive_of(records)
    except RecursionError:
        raise ArchiveError(f"{path} is nested too deeply: persist wrote no such file") from None
    except ValueError:
        return text
    raise ArchiveError(
        f"{path} was not written by the persist method of this store; where LlamaIndex's own store "
        "wrote the file, that store reads it"
    )


@contextmanager
def _replacement(path: str) -> Iterator[IO[str]]:
    """A new file, which replaces the one at ``path`` once it is complete."""
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
def _overwritten(path: str, fs: fsspec.AbstractFileSystem) -> Iterator[IO[str]]:
    """The file at ``path`` of another file system, opened to be overwritten."""
    folder = os.path.dirname(path)  # noqa: PTH120 (a path of another file system)
    if fs.isfile(path):
        _refuse_foreign(fs.cat_file(path), path)
    elif folder and not fs.exists(folder):
        fs.makedirs(folder, exist_ok=True)
    with fs.open(path, "w", encoding="utf-8") as stream:
        yield cast("IO[str]", stream)


def _refuse_foreign(content: str | bytes, path: str) -> None:
    """Refuse to write over a file of another program, unless it is empty."""
    if not content:
        return
    try:
        members = json.loads(content)
    except (ValueError, RecursionError):
        members = None
    if not isinstance(members, dict) or members.keys() - {_RECORDS} not in _GRAPH_MEMBERS:
        raise ArchiveError(f"{path} holds something else than a graph; give another path")
