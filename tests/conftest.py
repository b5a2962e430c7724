"""What all tests share: the Neo4j server, and how hard Hypothesis tries."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

pytest.register_assert_rewrite("tests.store_suite")

from tests.neo4j.fixtures import neo4j_server  # noqa: E402

__all__ = ["neo4j_server"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests on Neo4j as slow: its server takes longer to start than the fast tests run."""
    for item in items:
        if isinstance(item, pytest.Function) and "neo4j_server" in item.fixturenames:
            item.add_marker(pytest.mark.slow)


settings.register_profile("default", deadline=None, print_blob=True, max_examples=50)
settings.register_profile("ci", parent=settings.get_profile("default"), derandomize=True)
settings.register_profile("fast", parent=settings.get_profile("default"), max_examples=10)
settings.register_profile("nightly", parent=settings.get_profile("default"), max_examples=1000)
# .ci/run asks for all tools, whoever runs it.
on_ci = "CI" in os.environ or os.environ.get("RECALLM_REQUIRE_ALL") == "1"
settings.load_profile("ci" if on_ci else "default")
