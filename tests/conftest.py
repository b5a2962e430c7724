"""What all tests share: the Neo4j server, and how hard Hypothesis tries."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

pytest.register_assert_rewrite("tests.store_suite")

from tests.neo4j.fixtures import neo4j_server  # noqa: E402

__all__ = ["neo4j_server"]


_SLOW = frozenset(
    {
        *("benchmarks", "langchain", "llama_index", "mcp_server", "training", "vectors", "viewer"),
        *("test_cli_hostile.py", "test_documentation.py", "test_examples.py"),
        "test_pipeline_training.py",
    }
)
"""Folders and files whose tests need frameworks, processes, servers or a browser."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Without slow tests, do not even import what the slow folders need."""
    is_slow = collection_path.parent == Path(__file__).parent and collection_path.name in _SLOW
    return True if is_slow and "not slow" in config.option.markexpr else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests on Neo4j as slow: its server takes longer to start than the fast tests run."""
    for item in items:
        if isinstance(item, pytest.Function) and (
            {"neo4j_server", "own_server"} & set(item.fixturenames)
        ):
            item.add_marker(pytest.mark.slow)


settings.register_profile("default", deadline=None, print_blob=True, max_examples=50)
settings.register_profile("ci", parent=settings.get_profile("default"), derandomize=True)
settings.register_profile("fast", parent=settings.get_profile("default"), max_examples=10)
settings.register_profile("nightly", parent=settings.get_profile("default"), max_examples=1000)
# .ci/run asks for all tools, whoever runs it.
on_ci = "CI" in os.environ or os.environ.get("RECALLM_REQUIRE_ALL") == "1"
settings.load_profile("ci" if on_ci else "default")
