"""What both graph stores have of the memory under them: structured queries, and files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any, ClassVar, Self

import fsspec
from llama_index.core.graph_stores.types import DEFAULT_PERSIST_DIR

from llama_index_recallm._persistence import load_memory, persist_memory
from recallm import InvalidInputError, RecallM
from recallm.adapting import checked_memory


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

        Raises:
            ArchiveError: the file cannot be written, or another program wrote it.

        """
        persist_memory(self._memory, self._llama_graph(), persist_path, fs)

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
        return cls(load_memory(memory, persist_path, fs), **settings)

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

    def _llama_graph(self) -> Mapping[str, Any]:
        """The graph in the form of LlamaIndex's own store."""
        raise NotImplementedError
