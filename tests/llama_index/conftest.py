"""What the tests of the LlamaIndex adapter share: memories, and that no default model is asked."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from llama_index.core import Settings

from recallm import RecallM
from tests.neo4j.fixtures import RunningServer

pytest.register_assert_rewrite("tests.llama_index.store_suite")


@pytest.fixture
def memory() -> Iterator[RecallM]:
    """A memory in memory."""
    with RecallM() as memory:
        yield memory


@pytest.fixture(params=["sqlite", "neo4j"])
def stored(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RecallM]:
    """A memory in a file, or in a namespace of its own on the shared server."""
    if request.param == "sqlite":
        with RecallM(tmp_path / "memory.db") as memory:
            yield memory
        return
    server: RunningServer = request.getfixturevalue("neo4j_server")
    with RecallM(server.uri, auth=server.auth, namespace=f"test-{uuid.uuid4()}") as memory:
        yield memory


@pytest.fixture(autouse=True)
def _no_default_model() -> Iterator[None]:
    """Nothing here may ask LlamaIndex for its default models."""
    yield
    assert Settings._llm is None
    assert Settings._embed_model is None
