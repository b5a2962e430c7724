"""A store in a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

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
