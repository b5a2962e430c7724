"""The fixture `neo4j_server`: import it in a conftest."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pytest
from filelock import FileLock

from tests.tools import skip_for_want_of_a_tool

from .server import Neo4jServer, ServerToolMissing


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningServer:
    """A server that answers. Tests that stop a server start their own.

    Attributes:
        uri: a ``neo4j://`` address, or what NEO4J_URI says.
        auth: user name and password.
    """

    uri: str
    auth: tuple[str, str]


@pytest.fixture(scope="session")
def neo4j_server(
    tmp_path_factory: pytest.TempPathFactory, worker_id: str
) -> Iterator[RunningServer]:
    """A Neo4j server for the whole run: a user's own (NEO4J_URI …), or one started here."""
    if uri := os.environ.get("NEO4J_URI"):
        user = os.environ.get("NEO4J_USERNAME", "neo4j")
        yield RunningServer(uri=uri, auth=(user, os.environ.get("NEO4J_PASSWORD", "")))
        return
    base = tmp_path_factory.getbasetemp()
    # The folder of a worker lies in the folder of the run, which all workers share.
    folder = base if worker_id == "master" else base.parent
    try:
        with _shared_server(folder) as server:
            yield server
    except ServerToolMissing as missing:
        skip_for_want_of_a_tool(str(missing))


@contextmanager
def _shared_server(folder: Path) -> Iterator[RunningServer]:
    """One server for all workers: the first starts the server, and stops it when all have ended.

    Each worker holds a shared lock on one file for as long as it uses the server; a worker that
    dies loses its lock.
    """
    import fcntl

    starting, address = FileLock(folder / "neo4j.lock"), folder / "neo4j.json"
    with ExitStack() as ending:
        with starting:
            users = ending.enter_context((folder / "neo4j.users").open("a"))
            fcntl.flock(users, fcntl.LOCK_SH)
            if address.exists():
                uri, *auth = json.loads(address.read_text())
            else:
                server = ending.enter_context(Neo4jServer())
                ending.callback(_wait_for_the_others, users, starting, address)
                uri, auth = server.uri, server.auth
                address.write_text(json.dumps([uri, *auth]))
        yield RunningServer(uri=uri, auth=(auth[0], auth[1]))


def _wait_for_the_others(users: IO[str], starting: FileLock, address: Path) -> None:
    """Wait until no other worker uses the server; a worker that comes now starts a new server."""
    import fcntl

    with starting:
        address.unlink()
    fcntl.flock(users, fcntl.LOCK_EX)
