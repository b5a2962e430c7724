"""What only a server can get wrong: writers in several processes, addresses, users, failures."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path
from typing import LiteralString
from urllib.parse import urlsplit

import pytest
from neo4j import Driver, GraphDatabase
from neo4j.exceptions import AuthError, ServiceUnavailable, SessionExpired

from recallm.errors import (
    InvalidInputError,
    SchemaVersionError,
    StoreCredentialsError,
    StoreUnavailableError,
)
from recallm.model import Filter, Horizon, PreparedUpdate, Relation
from recallm.stores.cypher import schema
from recallm.stores.neo4j import Neo4jStore
from tests.neo4j import guard as guard_module
from tests.neo4j.fixtures import RunningServer
from tests.neo4j.proxy import Proxy
from tests.store_suite.marked_text import prepared
from tests.stores.rich import rich, snapshot_of


def _write_many(uri: str, auth: tuple[str, str], namespace: str, writer: int) -> list[int]:
    """In a process of its own: updates one by one, and the t that each took."""
    with closing(Neo4jStore(uri, auth=auth)) as store:
        return [
            store.apply(
                namespace,
                [prepared(f"{writer}-{n}", f"[Ann] met [Bo] and [Cy{writer}]", session="s")],
            )[0].t_index
            for n in range(30)
        ]


def _open_at(uri: str, auth: tuple[str, str], moment: float) -> None:
    """In a process of its own: open a store at a moment, together with others."""
    time.sleep(max(0.0, moment - time.time()))
    Neo4jStore(uri, auth=auth).close()


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
    assert sorted(t for ts in taken for t in ts) == list(range(1, 91))
    assert all(ts == sorted(ts) for ts in taken)
    with store.reader(namespace, Horizon()) as reader:
        assert reader.state.t_index == 90
        assert reader.relations(["ann"], limit=9) == [
            Relation(a="ann", b="bo", strength=90, t_index=90)
        ]
        [ann] = reader.concepts(["ann"])
        assert (ann.updates, ann.statements, ann.merges) == (90, 90, 89)
        assert reader.sizes().corpus.statements == 90
        assert reader.sizes(["=s"]).sessions["=s"].statements == 90
        assert reader.postings(["met"], limit=1, where=Filter())["met"].documents == 90


def test_opened_by_several_processes_at_once(neo4j_server: RunningServer) -> None:
    """Constraints and indexes are there once, whoever comes first; then every store finds them."""
    server = neo4j_server.started_by_the_tests()
    with GraphDatabase.driver(server.uri, auth=server.auth) as driver:
        for kind in ("CONSTRAINT", "INDEX"):
            for name in _schema(driver, kind):
                driver.execute_query(f"DROP {kind} {name} IF EXISTS")
        driver.execute_query("MATCH (n:RecallMSchema) DELETE n")
        assert _schema(driver, "INDEX") == []
        with ProcessPoolExecutor(3, mp_context=get_context("spawn")) as pool:
            moment = time.time() + 4
            for job in [pool.submit(_open_at, server.uri, server.auth, moment) for _ in range(3)]:
                job.result()
        assert len(_schema(driver, "CONSTRAINT")) == 17
        assert len(_schema(driver, "INDEX")) == 39
        versions, _, _ = driver.execute_query("MATCH (n:RecallMSchema) RETURN n.version AS v")
        assert [row["v"] for row in versions] == [schema.VERSION]


def _schema(driver: Driver, kind: str) -> list[str]:
    shown, _, _ = driver.execute_query(f"SHOW {kind} YIELD name")
    return [row["name"] for row in shown if row["name"].startswith("recallm_")]


@pytest.mark.parametrize("scheme", ["bolt", "neo4j"])
def test_addresses(neo4j_server: RunningServer, namespace: str, scheme: str) -> None:
    """With routing and without; the default database and a named one are the same here."""
    address = urlsplit(neo4j_server.uri)._replace(scheme=scheme).geturl()
    with closing(Neo4jStore(address, auth=neo4j_server.auth)) as store:
        store.apply(namespace, [prepared("1", "[Ann] sings")])
    with closing(Neo4jStore(address, auth=neo4j_server.auth, database="neo4j")) as store:
        with store.reader(namespace, Horizon()) as reader:
            assert reader.state.t_index == 1


def test_a_given_driver_stays_open(driver: Driver, namespace: str) -> None:
    """Who made the driver closes it."""
    store = Neo4jStore(driver)
    store.apply(namespace, [prepared("1", "[Ann] sings")])
    store.close()
    driver.verify_connectivity()
    with pytest.raises(InvalidInputError, match="driver"):
        Neo4jStore(driver, auth=("neo4j", "x"))


def test_wrong_password(neo4j_server: RunningServer) -> None:
    with pytest.raises(StoreCredentialsError, match="auth=") as caught:
        Neo4jStore(neo4j_server.uri, auth=("neo4j", "wrong"))
    assert isinstance(caught.value.__cause__, AuthError)


def test_no_password(neo4j_server: RunningServer) -> None:
    with pytest.raises(StoreCredentialsError, match="auth="):
        Neo4jStore(neo4j_server.uri)


def test_no_such_database(neo4j_server: RunningServer) -> None:
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


@pytest.mark.parametrize("uri", ["neo4j://host:port", "neo5j://host", "bolt://host:99999"])
def test_no_uri(uri: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        Neo4jStore(uri, auth=("neo4j", "neo4j"))
    assert caught.value.argument == "store"


@pytest.mark.parametrize(
    ("version", "advice"), [(schema.VERSION + 1, "upgrade recallm"), (3, "export it")]
)
def test_another_schema(driver: Driver, version: int, advice: str) -> None:
    """Refused, with what to do; nothing is touched."""
    Neo4jStore(driver).close()
    other: LiteralString = "MATCH (n:RecallMSchema) SET n.version = $version"
    driver.execute_query(other, version=version)
    try:
        with pytest.raises(SchemaVersionError, match=advice):
            Neo4jStore(driver)
    finally:
        driver.execute_query(other, version=schema.VERSION)


@pytest.mark.parametrize("messages", range(1, 10))
def test_dropped_in_the_middle(
    neo4j_server: RunningServer, store: Neo4jStore, proxy: Proxy, namespace: str, messages: int
) -> None:
    """A connection lost at any point of an update: all of it is there or nothing."""
    first, second = rich("1"), rich("2")
    with closing(Neo4jStore(proxy.uri, auth=neo4j_server.auth, retry_time=0)) as dropped:
        dropped.apply(namespace, [first])
        before = snapshot_of(store, namespace)
        proxy.cut_after(messages, accept=False)
        error = _failure(dropped, namespace, second)
        if error is not None and "whether it was is unknown" not in str(error):
            assert isinstance(error.__cause__, ServiceUnavailable | SessionExpired)
            assert snapshot_of(store, namespace) == before
        proxy.heal()
        result = dropped.apply(namespace, [second])[0]
        assert result.t_index == 2
    with store.reader(namespace, Horizon()) as reader:
        assert reader.relations(["ann", "bo"], among=True)[0].strength == 2
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


def test_a_server_that_dies_and_comes_back(neo4j_server: RunningServer, namespace: str) -> None:
    """What was written is there after a crash; until then, an error that says what to do."""
    server = neo4j_server.started_by_the_tests()
    with closing(Neo4jStore(server.uri, auth=server.auth, retry_time=0)) as store:
        store.apply(namespace, [rich("1")])
        before = snapshot_of(store, namespace)
        server.stop(kill=True)
        try:
            with pytest.raises(StoreUnavailableError):
                store.apply(namespace, [rich("2")])
            with pytest.raises(StoreUnavailableError):
                store.reader(namespace, Horizon()).__enter__()
        finally:
            server.start()
        assert snapshot_of(store, namespace) == before
        assert store.apply(namespace, [rich("2")])[0].t_index == 2


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
