"""A store in a file, and the places of a Chroma index."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chromadb
import pytest

from recallm.stores.base import GraphStore
from recallm.stores.sqlite import SQLiteStore


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def store(path: Path) -> Iterator[GraphStore]:
    store = SQLiteStore(path)
    yield store
    store.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "index"


@pytest.fixture
def client() -> Any:
    """Chroma in memory: all such clients share what they hold."""
    return chromadb.EphemeralClient()
