"""A memory to look at, and texts that are hostile to a page."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from starlette.testclient import TestClient

from recallm import RecallM
from recallm.facts import FactMemory

from .web import client

START = datetime(2026, 1, 5, tzinfo=UTC)

HOSTILE = (
    "<script>window.hacked = 1</script>",
    "</script><script>window.hacked = 1</script>",
    "javascript:window.hacked=1",
    '"><img src=x onerror="window.hacked=1">',
    "\u202egnihton ekil skool",
    "x" * 20_000,
)


def told() -> RecallM:
    """Ingrid moves, and changes her employer; Brandon travels."""
    memory = RecallM()
    texts = [
        "Ingrid lives in Malaga.",
        "Brandon wants to go to Paris.",
        "Brandon still wants to go to Paris.",
        "Ingrid met Carter in Berlin.",
        "Ingrid moved to Porto.",
        "Carter visited Ingrid in Porto.",
    ]
    memory.update_many(
        {"text": text, "id": f"p{place}", "timestamp": START + timedelta(days=place)}
        for place, text in enumerate(texts)
    )
    facts = FactMemory(memory)
    facts.write("Ingrid", "works for", "Siemens")
    facts.write("Ingrid", "works for", "BMW")
    return memory


@pytest.fixture
def memory() -> Iterator[RecallM]:
    """A memory that a test may change."""
    with told() as memory:
        yield memory


@pytest.fixture(scope="module")
def shared() -> Iterator[RecallM]:
    """A memory that the tests of a file only read."""
    with told() as memory:
        yield memory


@pytest.fixture
def web(request: pytest.FixtureRequest, shared: RecallM) -> TestClient:
    """A client of the memory that a test has for itself, or else of the one that all read."""
    own = "memory" in request.fixturenames
    return client(request.getfixturevalue("memory") if own else shared)
