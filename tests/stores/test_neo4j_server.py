"""What only a server can get wrong: writers in several processes, addresses, users, failures."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import threading
import time
import traceback
import uuid
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from neo4j import Driver
from neo4j.exceptions import AuthError, ServiceUnavailable, SessionExpired

from recallm.errors import (
    InvalidInputError,
    StoreCredentialsError,
    StoreUnavailableError,
)
from recallm.model import Filter, Horizon, PreparedUpdate, Relation
from recallm.stores.neo4j import Neo4jStore
from tests.neo4j import guard as guard_module
from tests.neo4j.fixtures import RunningServer
from tests.neo4j.proxy import Proxy
from tests.store_suite.marked_text import prepared
from tests.store_suite.topics.base import snapshot_of
from tests.stores.neo4j_tools import rich


def _write_many(uri: str, auth: tuple[str, str], namespace: str, writer: int) -> list[int]:
    """In a process of its own: updates one by one, and the t that each took."""
    with closing(Neo4jStore(uri, auth=auth, retry_time=60)) as store:  # on a busy machine too
        return [
            store.apply(
                namespace,
                [prepared(f"{writer}-{n}", f"[Ann] met [Bo] and [Cy{writer}]", session="s")],
            )[0].t_index
            for n in range(10)
        ]


def test_writers_in_several_processes(
    neo4j_server: RunningServer, store: Neo4jStore, namespace: str
) -> None:
    """No update is lost, no t is taken twice, all totals are exact."""
    with ProcessPoolExecutor(3, mp_context=get_context("spawn")) as pool:
        jobs = [
            pool.submit(_write_many, neo4j_server.uri, neo4j_server.auth, namespace, writer)
            for writer in range(3)
        ]
        taken = [job.result() for job in jobs]
    assert sorted(t for ts in taken for t in ts) == list(range(1, 31))
    assert all(ts == sorted(ts) for ts in taken)
    with store.reader(namespace, Horizon()) as reader:
        assert reader.state.t_index == 30
        assert reader.relations(["ann"], limit=9) == [
            Relation(a="ann", b="bo", strength=30, t_index=30)
        ]
        [ann] = reader.concepts(["ann"])
        assert (ann.updates, ann.statements, ann.merges) == (30, 30, 29)
        assert reader.sizes().corpus.statements == 30
        assert reader.sizes(["=s"]).sessions["=s"].statements == 30
        assert reader.postings(["met"], limit=1, where=Filter())["met"].statements == 30


def test_addresses(neo4j_server: RunningServer, namespace: str) -> None:
    """With routing and without; the default database and a named one are the same here."""
    for written, scheme in enumerate(("bolt", "neo4j"), 1):
        address = urlsplit(neo4j_server.uri)._replace(scheme=scheme).geturl()
        with closing(Neo4jStore(address, auth=neo4j_server.auth)) as store:
            store.apply(namespace, [prepared(scheme, "[Ann] sings")])
        with closing(Neo4jStore(address, auth=neo4j_server.auth, database="neo4j")) as store:
            with store.reader(namespace) as reader:
                assert reader.state.t_index == written


def test_a_given_driver_stays_open(driver: Driver, namespace: str) -> None:
    """Who made the driver closes it."""
    store = Neo4jStore(driver)
    store.apply(namespace, [prepared("1", "[Ann] sings")])
    store.close()
    driver.verify_connectivity()
    with pytest.raises(InvalidInputError, match="driver"):
        Neo4jStore(driver, auth=("neo4j", "x"))


def test_who_is_not_let_in(neo4j_server: RunningServer) -> None:
    with pytest.raises(StoreCredentialsError, match="auth=") as caught:
        Neo4jStore(neo4j_server.uri, auth=("neo4j", "wrong"))
    assert isinstance(caught.value.__cause__, AuthError)
    with pytest.raises(StoreCredentialsError, match="auth="):
        Neo4jStore(neo4j_server.uri)
    with pytest.raises(StoreUnavailableError, match="'nowhere'"):
        Neo4jStore(neo4j_server.uri, auth=neo4j_server.auth, database="nowhere")


def test_no_server(proxy: Proxy) -> None:
    """Nobody listens: said at once, not after many tries."""
    nowhere = proxy.uri
    proxy.__exit__(None, None, None)
    started = time.monotonic()
    with pytest.raises(StoreUnavailableError, match="check that the server runs") as caught:
        Neo4jStore(nowhere, auth=("neo4j", "neo4j"))
    assert isinstance(caught.value.__cause__, ServiceUnavailable)
    assert time.monotonic() - started < 5


def test_no_uri() -> None:
    for uri in ("neo4j://host:port", "neo5j://host", "bolt://host:99999"):
        with pytest.raises(InvalidInputError) as caught:
            Neo4jStore(uri, auth=("neo4j", "neo4j"))
        assert caught.value.argument == "store", uri


def test_dropped_in_the_middle(
    neo4j_server: RunningServer, store: Neo4jStore, proxy: Proxy, namespace: str
) -> None:
    """A connection lost at any point of an update: all of it is there or nothing."""
    first, second = rich("1"), rich("2")
    for messages in range(1, 10):
        name = f"{namespace}-{messages}"
        with closing(Neo4jStore(proxy.uri, auth=neo4j_server.auth, retry_time=0)) as dropped:
            dropped.apply(name, [first])
            before = snapshot_of(store, name)
            proxy.cut_after(messages, accept=False)
            error = _failure(dropped, name, second)
            if error is not None and "whether it was is unknown" not in str(error):
                assert isinstance(error.__cause__, ServiceUnavailable | SessionExpired)
                assert snapshot_of(store, name) == before, messages
            proxy.heal()
            assert dropped.apply(name, [second])[0].t_index == 2
        with store.reader(name) as reader:
            assert reader.relations(["ann", "bo"], among=True)[0].strength == 2, messages
            assert reader.state.t_index == reader.entities()[0].updates == 2


def test_a_lost_connection_is_tried_again(
    neo4j_server: RunningServer, store: Neo4jStore, proxy: Proxy, namespace: str
) -> None:
    """Where the server comes back in time, the caller sees nothing of it."""
    with closing(Neo4jStore(proxy.uri, auth=neo4j_server.auth)) as dropped:
        proxy.cut_after(2, accept=True)
        assert dropped.apply(namespace, [rich("1")])[0].t_index == 1
        proxy.cut_after(1, accept=True)
        with dropped.reader(namespace, Horizon()) as reader:
            assert reader.state.t_index == 1
    with store.reader(namespace, Horizon()) as reader:
        assert reader.relations(["ann", "bo"], among=True)[0].strength == 1


@pytest.mark.slow
@pytest.mark.parametrize(("order", "kept"), [("", False), ("stop\n", True), ("kill\n", True)])
def test_the_guard_of_a_server(tmp_path: Path, order: str, kept: bool) -> None:
    """A test run that ends without an order, however it ends, leaves no server and no files."""
    home = tmp_path / "home"
    home.mkdir()
    sleeper = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"
    guard = subprocess.Popen(
        [sys.executable, guard_module.__file__, str(home), sys.executable, "-c", sleeper],
        stdin=subprocess.PIPE,
        text=True,
    )
    output = home / "output.txt"
    while not (output.exists() and output.read_text().endswith("\n")):
        time.sleep(0.02)
    server = int(output.read_text())
    guard.communicate(order)
    with pytest.raises(ProcessLookupError):
        os.kill(server, 0)
    assert home.exists() == kept


def _failure(
    store: Neo4jStore, namespace: str, update: PreparedUpdate
) -> StoreUnavailableError | None:
    """What became of an update that may fail."""
    try:
        store.apply(namespace, [update])
    except StoreUnavailableError as error:
        return error
    return None


def _speak_http(listener: socket.socket) -> None:
    """Answer whoever connects as a web server does."""
    with contextlib.suppress(OSError):
        while True:
            client, _ = listener.accept()
            with client:
                client.recv(100)
                client.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


@pytest.fixture
def web() -> Iterator[str]:
    """The address of a web server."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=_speak_http, args=(listener,), daemon=True)
        thread.start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize("scheme", ["bolt", "neo4j"])
def test_why_a_server_cannot_be_reached(
    neo4j_server: RunningServer, proxy: Proxy, web: str, scheme: str
) -> None:
    """The reason is said, with and without routing, and no password."""
    proxy.__exit__(None, None, None)
    refused = urlsplit(proxy.uri).netloc
    secret = uuid.uuid4().hex
    for address, reason in (
        (f"{scheme}://{refused}", "Connection refused"),
        (f"{scheme}://no-such-host.invalid", "no-such-host"),
        (f"{scheme}+s://{urlsplit(neo4j_server.uri).netloc}", "SSL"),
        (f"{scheme}://{web}", "looks like HTTP"),
    ):
        with pytest.raises(StoreUnavailableError, match=reason) as caught:
            Neo4jStore(address, auth=("neo4j", secret))
        assert secret not in str(caught.value)
    with pytest.raises(StoreUnavailableError) as caught:
        Neo4jStore(f"neo4j://{refused}?token={secret}", auth=("neo4j", secret))
    assert secret not in "".join(traceback.format_exception(caught.value))
