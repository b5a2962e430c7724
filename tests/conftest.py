"""What all tests share: the Neo4j server, how hard Hypothesis tries, which worker runs a test."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

pytest.register_assert_rewrite("recallm.testing")

from tests.neo4j.fixtures import neo4j_server  # noqa: E402

__all__ = ["neo4j_server"]

settings.register_profile("default", deadline=None, print_blob=True)
settings.register_profile("ci", parent=settings.get_profile("default"), derandomize=True)
# .ci/run asks for all tools, whoever runs it.
on_ci = "CI" in os.environ or os.environ.get("RECALLM_REQUIRE_ALL") == "1"
settings.load_profile("ci" if on_ci else "default")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With several workers (``-n 2 --dist loadgroup``) all tests that need Neo4j run on one worker,
    since there is one server; other modules stay whole, with their fixtures."""
    if not hasattr(config, "workerinput"):  # no worker
        return
    for item in items:
        if isinstance(item, pytest.Function):
            values = item.callspec.params.values() if hasattr(item, "callspec") else ()
            stores = [value for value in values if isinstance(value, str)]
            needs_neo4j = "neo4j_server" in item.fixturenames or "neo4j" in stores
            item.add_marker(pytest.mark.xdist_group("neo4j" if needs_neo4j else str(item.path)))
