"""From what a user names as ``vector_index`` to the index."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Any

from recallm import checks
from recallm.errors import InvalidInputError, MissingDependencyError
from recallm.stores.base import GraphStore
from recallm.vectors.chroma import ChromaIndex
from recallm.vectors.exact import ExactIndex
from recallm.vectors.index import VectorIndex

__all__ = ["checked_index", "open_index"]

_CHOICES = "'exact', 'chroma', a folder (as a Path, or a str with a separator) or a chromadb client"


def checked_index(given: object, store: object) -> Path | Any | None:
    """Where Chroma is to be: a folder, or a client; None for the exact search. ``store`` is what
    the user named as a store: beside a file, "chroma" makes a folder ``FILE.chroma``.

    Raises:
        InvalidInputError: it is none of these.
        MissingDependencyError: chromadb is needed and not installed.

    """
    if given is None or (isinstance(given, str) and given == "exact"):
        return None
    where = _chroma(given, store)
    if importlib.util.find_spec("chromadb") is None:
        raise MissingDependencyError("chromadb", extra="vectors")
    return where


def _chroma(given: object, store: object) -> Path | Any:
    if isinstance(given, str) and given == "chroma":
        is_file = isinstance(store, os.PathLike) or (
            isinstance(store, str) and store != ":memory:" and "://" not in store
        )
        if not is_file:
            raise InvalidInputError(
                "vector_index='chroma' stands beside an SQLite file; for another store give a "
                "folder or a chromadb client",
                argument="vector_index",
            )
        return Path(f"{os.fspath(store)}.chroma")  # type: ignore[call-overload]
    if isinstance(given, os.PathLike) or (
        isinstance(given, str) and (os.sep in given or "/" in given)
    ):
        return checks.file_path(given, "vector_index")
    if callable(getattr(given, "get_or_create_collection", None)):
        return given
    raise InvalidInputError(
        f"vector_index must be {_CHOICES}, not {checks.shown(given)}", argument="vector_index"
    )


def open_index(where: Path | Any | None, store: GraphStore) -> VectorIndex:
    """The index that ``checked_index`` told of."""
    return ExactIndex() if where is None else ChromaIndex(store, where)
