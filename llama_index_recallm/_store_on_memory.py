"""What both graph stores have of the memory under them: structured queries, dicts and files.

A dict or a file is one JSON object in the form of LlamaIndex's own stores, which a
``StorageContext`` reads whatever store wrote the file. One more member of the object, which these
stores ignore, holds the memory's namespace itself: the records of an archive.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any, ClassVar, Self, cast

import fsspec
from llama_index.core.graph_stores.types import DEFAULT_PERSIST_DIR
from pydantic_core import to_jsonable_python

from recallm import ArchiveError, InvalidInputError, RecallM
from recallm.adapting import checked_memory, checks

_RECORDS = "recallm"
"""The member that holds the records of the archive."""

_GRAPH_MEMBERS = ({"nodes", "relations", "triplets"}, {"graph_dict"})
"""The members of what LlamaIndex's ``SimplePropertyGraphStore`` and ``SimpleGraphStore`` write."""


class StoreOnMemory:
    """A graph store whose constructor takes ``memory`` and further settings."""

    _file_name: ClassVar[str]
    """What a ``StorageContext`` calls the file of such a store."""

    def __init__(self, memory: RecallM, *, structured_queries: bool) -> None:
        self._memory = checked_memory(memory)
        if structured_queries and memory.graph.cypher_schema is None:
            raise InvalidInputError(
                "structured_queries=True needs a memory on Neo4j, as in RecallM('neo4j://…')",
                argument="structured_queries",
            )
        self.supports_structured_queries = structured_queries

    @property
    def memory(self) -> RecallM:
        """The memory whose graph this is."""
        return self._memory

    client = memory

    def structured_query(self, query: str, param_map: dict[str, Any] | None = None) -> Any:
        """The rows of a Cypher query, in a session that can only read.

        Raises:
            NotImplementedError: ``structured_queries=True`` was not given.
            InvalidInputError: the query cannot be run, would write, or would read other namespaces.

        """
        if not self.supports_structured_queries:
            raise NotImplementedError(
                "structured queries are off: a model writes them, and a Neo4j server runs them; "
                f"{type(self).__name__}(memory=…, structured_queries=True) allows them"
            )
        return self._memory.graph.cypher(query, param_map)

    def persist(self, persist_path: str, fs: fsspec.AbstractFileSystem | None = None) -> None:
        """Write the memory's namespace to a file, which ``from_persist_path`` reads. A memory in a
        file or on a server does not need it. ``StorageContext.from_defaults(persist_dir=…)`` opens
        LlamaIndex's own store for any such file, unless a store is given; that store has the graph,
        and does not recall. Where that store is persisted to the same folder, the file keeps the
        graph alone and everything else is lost.

        A missing folder is created. A local file is replaced once the new one is complete.

        Raises:
            ArchiveError: the file cannot be written, or another program wrote it.

        """
        text = _json_text(self._memory, self._llama_graph())
        opened = _replacement(persist_path) if fs is None else _overwritten(persist_path, fs)
        try:
            with opened as stream:
                stream.write(text)
        except OSError as error:
            raise ArchiveError(
                f"{persist_path} cannot be written: {error.strerror or error}"
            ) from error

    @classmethod
    def from_persist_path(
        cls,
        persist_path: str,
        fs: fsspec.AbstractFileSystem | None = None,
        *,
        memory: RecallM | None = None,
        **settings: Any,
    ) -> Self:
        """A store with what ``persist`` wrote, in ``memory``, whose namespace must be empty (None:
        in a new memory, embedded and without a file). ``settings`` are the constructor's.

        Raises:
            ArchiveError: the file cannot be read.
            InvalidInputError: the namespace is not empty.

        """
        try:
            with (fs or fsspec.filesystem("file")).open(
                persist_path, "r", encoding="utf-8"
            ) as file:
                text = cast("IO[str]", file).read()
        except (OSError, UnicodeDecodeError) as error:
            raise ArchiveError(f"{persist_path} cannot be read: {error}") from error
        return cls(_loaded(memory, _archive_in(text, persist_path)), **settings)

    @classmethod
    def from_persist_dir(
        cls,
        persist_dir: str = DEFAULT_PERSIST_DIR,
        fs: fsspec.AbstractFileSystem | None = None,
        *,
        memory: RecallM | None = None,
        **settings: Any,
    ) -> Self:
        """``from_persist_path`` for the file that a ``StorageContext`` writes into a directory. A
        ``StorageContext.from_defaults(persist_dir=…)`` that is given this store then reads the rest
        of the directory."""
        path = str(PurePosixPath(persist_dir) / cls._file_name)
        return cls.from_persist_path(path, fs, memory=memory, **settings)

    def to_dict(self) -> dict[str, Any]:
        """The memory's namespace as JSON values, as ``persist`` writes them and ``from_dict`` reads
        them; LlamaIndex's own store reads the graph in them."""
        content: dict[str, Any] = json.loads(_json_text(self._memory, self._llama_graph()))
        return content

    @classmethod
    def from_dict(
        cls, data: dict[str, Any], *, memory: RecallM | None = None, **settings: Any
    ) -> Self:
        """A store with what ``to_dict`` returned, as ``from_persist_path`` reads a file.

        Raises:
            InvalidInputError: ``data`` is something else, or the namespace is not empty.
            ArchiveError: the records in ``data`` cannot be read.

        """
        records = checks.mapping(data, "data").get(_RECORDS)
        if not isinstance(records, list):
            raise InvalidInputError(
                f"data has no list {_RECORDS!r}: to_dict of this store did not return it; the "
                "nodes and relations of another store are written with upsert_nodes and "
                "upsert_relations",
                argument="data",
            )
        return cls(_loaded(memory, _archive_of(records)), **settings)

    def _llama_graph(self) -> Mapping[str, Any]:
        """The graph in the form of LlamaIndex's own store."""
        raise NotImplementedError


def _loaded(memory: RecallM | None, archive: str) -> RecallM:
    """``memory`` (None: a new one, embedded and without a file) with what the archive holds."""
    memory = RecallM() if memory is None else checked_memory(memory)
    memory.load(io.StringIO(archive))
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
