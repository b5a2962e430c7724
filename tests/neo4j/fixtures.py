"""The fixture `neo4j_server`: import it in a conftest."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.tools import skip_for_want_of_a_tool

from .server import Neo4jServer, ServerToolMissing

__all__ = ["RunningServer", "neo4j_server"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningServer:
    """A server that answers.

    Attributes:
        uri: a ``neo4j://`` address, or what NEO4J_URI says.
        auth: user name and password.
        own: the process behind it, where the tests started it; ``None`` for a user's server.
    """

    uri: str
    auth: tuple[str, str]
    own: Neo4jServer | None

    def started_by_the_tests(self) -> Neo4jServer:
        """The server's process; skips the test where the server is not ours to stop."""
        if self.own is None:
            pytest.skip("the server of NEO4J_URI is not ours to stop")
        return self.own


@pytest.fixture(scope="session")
def neo4j_server() -> Iterator[RunningServer]:
    """A Neo4j server for the whole run: a user's own (NEO4J_URI …), or one started here."""
    if uri := os.environ.get("NEO4J_URI"):
        user = os.environ.get("NEO4J_USERNAME", "neo4j")
        yield RunningServer(uri=uri, auth=(user, os.environ.get("NEO4J_PASSWORD", "")), own=None)
        return
    try:
        server = Neo4jServer()
    except ServerToolMissing as missing:
        skip_for_want_of_a_tool(str(missing))
    with server:
        yield RunningServer(uri=server.uri, auth=server.auth, own=server)
