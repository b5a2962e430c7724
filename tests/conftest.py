"""What all tests share: the Neo4j server, and how hard Hypothesis tries."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

pytest.register_assert_rewrite("recallm.testing")

from tests.neo4j.fixtures import neo4j_server  # noqa: E402

__all__ = ["neo4j_server"]

settings.register_profile("default", deadline=None, print_blob=True)
settings.register_profile("ci", parent=settings.get_profile("default"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")
