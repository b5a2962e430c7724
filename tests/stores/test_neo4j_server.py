"""What only a server can get wrong: writers in several processes, addresses, users, failures."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
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
    DimensionError,
    InvalidInputError,
    SchemaVersionError,
    StoreCredentialsError,
    StoreUnavailableError,
)
from recallm.model import Filter, Horizon, PreparedUpdate, Relation, Selection, statement_key
from recallm.stores.base import SCHEMA_VERSION
from recallm.stores.neo4j import Neo4jStore, upgrading
from recallm.testing.marked_text import entity, prepared, triplet, vector
from tests.neo4j import guard as guard_module
from tests.neo4j.fixtures import RunningServer
from tests.neo4j.proxy import Proxy
from tests.stores.rich import rich, seen


@pytest.fixture
def proxy(neo4j_server: RunningServer) -> Iterator[Proxy]:
    address = urlsplit(neo4j_server.uri)
    with Proxy((address.hostname or "localhost", address.port or 7687)) as proxy:
        yield proxy


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
        assert reader.t_index == 90
        assert reader.relations(["ann"], limit=9) == [
            Relation(a="ann", b="bo", strength=90, t_index=90)
        ]
        [ann] = reader.concepts(["ann"])
        assert (ann.updates, ann.statements, ann.merges) == (90, 90, 89)
        assert reader.corpus().statements == 90
        assert reader.sessions(["=s"])["=s"].statements == 90
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
        assert len(_schema(driver, "CONSTRAINT")) == 15
        assert len(_schema(driver, "INDEX")) == 28
        versions, _, _ = driver.execute_query("MATCH (n:RecallMSchema) RETURN n.version AS v")
        assert [row["v"] for row in versions] == [SCHEMA_VERSION]


def test_a_database_of_version_1(neo4j_server: RunningServer, namespace: str) -> None:
    """Brought up by whoever opens it, several at once too: an item that an archive brought is
    found, listed and replaced; what has no key stays as it is."""
    server = neo4j_server.started_by_the_tests()
    records = [
        prepared("1", "[Ann] met [Bo]", path=("p", "q"), key="k", t_index=1),
        prepared("2", "[Ann] met [Cy]", path=("p", "q"), t_index=2),
        prepared("3", "[Ann] met [Dee]", path=("p",), key="k" * 5000, t_index=3),
    ]
    with GraphDatabase.driver(server.uri, auth=server.auth) as driver:
        with closing(Neo4jStore(driver)) as store:
            store.restore(namespace, 3, records)
            before = seen(store, namespace)
        as_version_1: list[LiteralString] = [
            "DROP INDEX recallm_update_item",
            "DROP INDEX recallm_under",
            "MATCH ()-[under:UNDER]->() DELETE under",
            "MATCH (u:RecallMUpdate) REMOVE u.item_key, u.paths",
            "MATCH (s:RecallMStatement) REMOVE s.paths",
            *_AS_VERSION_2,
            "MATCH (n:RecallMSchema) SET n.version = 1",
        ]
        for query in as_version_1:
            driver.execute_query(query)
        with ProcessPoolExecutor(3, mp_context=get_context("spawn")) as pool:
            moment = time.time() + 4
            for job in [pool.submit(_open_at, server.uri, server.auth, moment) for _ in range(3)]:
                job.result()
        assert len(_schema(driver, "INDEX")) == 28
        versions, _, _ = driver.execute_query("MATCH (n:RecallMSchema) RETURN n.version AS v")
        assert [row["v"] for row in versions] == [SCHEMA_VERSION]
        loops, _, _ = driver.execute_query(
            "MATCH (u {namespace: $rows})-[under:UNDER]->(u) RETURN u.id AS id, count(*) AS count",
            rows=_rows_of(driver, namespace),
        )
        assert {row["id"]: row["count"] for row in loops} == {"1": 3, "3": 2}
        with closing(Neo4jStore(driver)) as store:
            assert seen(store, namespace) == before
            with store.reader(namespace, Horizon()) as reader:
                for path, key, id in [(["p", "q"], "k", "1"), (["p"], "k" * 5000, "3")]:
                    found = reader.item(path, key)
                    assert found is not None
                    assert found.id == id
                where = Filter(path=("p", "q"))
                assert [it.id for it in reader.passages(where)] == ["1"]
                mentions = reader.mentions(["ann"], limit=None, where=where)["ann"]
                assert mentions.keys == (statement_key(1, 0),)
            store.apply(namespace, [prepared("4", "[Eve]", path=("p", "q"), key="k")])
            with store.reader(namespace, Horizon()) as reader:
                assert [it.id for it in reader.passages(Filter(path=()))] == ["4", "3"]


def test_a_database_of_version_2(
    neo4j_server: RunningServer, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Brought up by whoever opens it, several at once too: entities say on which concept they
    stand, the first vector under a model is the size of those to come, and what was told of an
    entity or a triplet stands at its latest evidence."""
    server = neo4j_server.started_by_the_tests()
    monkeypatch.setattr(upgrading, "_AT_ONCE", 2)
    updates = [
        prepared("1", "[Ann] ran", vectors=(vector(0, b"four"),)),
        PreparedUpdate(
            id="",
            text=None,
            entities=tuple(entity(f"e{n}", f"Eve {n % 2}", f"eve {n % 2}") for n in range(5)),
            triplets=(triplet("e0", "met", "e4"),),
        ),
        PreparedUpdate(
            id="1",
            text=None,
            entities=tuple(entity(f"e{n}", f"Eve {n % 2}", f"eve {n % 2}") for n in range(5)),
            triplets=(triplet("e0", "met", "e4"),),
        ),
        prepared(
            "2",
            "[Ann] sat",
            entities=tuple(
                entity(f"e{n}", f"Eve {n % 2}", f"eve {n % 2}", properties={"n": n})
                for n in range(1, 5)
            ),
            triplets=tuple(
                triplet(f"e{n % 2}", "met", f"e{n}", properties={"n": n}) for n in range(5)
            ),
        ),
    ]
    with GraphDatabase.driver(server.uri, auth=server.auth) as driver:
        with closing(Neo4jStore(driver)) as store:
            store.apply(namespace, updates)
            before = seen(store, namespace)
        for query in (*_AS_VERSION_2, "MATCH (n:RecallMSchema) SET n.version = 2"):
            driver.execute_query(query)
        # Of two sizes or models, as version 2 let them be, the earlier one is taken.
        later: LiteralString = """CREATE (:RecallMVector {
            namespace: $rows, key: 9437184, model: 'm', blob: $blob})"""
        driver.execute_query(later, rows=_rows_of(driver, namespace), blob=b"longer")
        others: LiteralString = """UNWIND range(1, 5) AS t CREATE (:RecallMVector {
            namespace: $rows, key: t * 1048576, model: 'z', blob: $blob})"""
        driver.execute_query(others, rows=_rows_of(driver, namespace), blob=b"four")
        with ProcessPoolExecutor(3, mp_context=get_context("spawn")) as pool:
            moment = time.time() + 4
            for job in [pool.submit(_open_at, server.uri, server.auth, moment) for _ in range(3)]:
                job.result()
        for query in (*_AS_VERSION_2, "MATCH (n:RecallMSchema) SET n.version = 2"):
            driver.execute_query(query)
        with closing(Neo4jStore(driver)) as store:
            assert seen(store, namespace) == before
            with store.reader(namespace, Horizon()) as reader:
                assert reader.vector_keys() == [statement_key(1, 0)]
                assert [reader.vector_size(model) for model in "mn"] == [4, None]
                state = reader.vector_state()
                assert state is not None
                assert (state.model, state.size, state.revision) == ("m", 4, 0)
                assert [e.concept for e in reader.entities()] == [f"eve {n % 2}" for n in range(5)]
                kept = [it.properties.get("n") for it in reader.entities()]
                assert kept == [None, 1, 2, 3, 4]
                kept = [it.properties["n"] for it in reader.triplets()]
                assert kept == [0, 2, 4, 1, 3]
            store.forget(namespace, Selection(kind="id", value="2"))
            with store.reader(namespace, Horizon()) as reader:
                assert [it.properties for it in reader.entities()] == [{}] * 5
                assert [it.properties for it in reader.triplets()] == [{}]
            with pytest.raises(DimensionError):
                store.apply(namespace, [prepared("3", "[Bo]", vectors=(vector(0, b"no"),))])
            store.apply(namespace, [prepared("3", "[Bo]", vectors=(vector(0, b"also"),))])
        versions, _, _ = driver.execute_query("MATCH (n:RecallMSchema) RETURN n.version AS v")
        assert [row["v"] for row in versions] == [SCHEMA_VERSION]


_AS_VERSION_2: tuple[LiteralString, ...] = (
    "DROP CONSTRAINT recallm_entity_vector",
    "DROP CONSTRAINT recallm_vector_size",
    "MATCH (v:RecallMEntityVector) DETACH DELETE v",
    "MATCH (z:RecallMVectorSize) DELETE z",
    "MATCH (e:RecallMEntity) REMOVE e.concept",
    "MATCH (x:RecallMEntity|RecallMTriplet) REMOVE x.told_at",
    "MATCH ()-[shown:SHOWN]->() REMOVE shown.properties",
    "MATCH (n:RecallMNamespace) REMOVE n.model, n.vector_size, n.origin, n.revision",
)


def _rows_of(driver: Driver, namespace: str) -> str:
    """The namespace of the rows of ``namespace``."""
    found, _, _ = driver.execute_query(
        "MATCH (n:RecallMNamespace {key: $key}) RETURN n.rows AS rows", key=namespace
    )
    rows: str = found[0]["rows"]
    return rows


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
            assert reader.t_index == 1


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


def test_a_newer_schema(driver: Driver) -> None:
    """Refused, with what to do; nothing is touched."""
    Neo4jStore(driver).close()
    newer: LiteralString = "MATCH (n:RecallMSchema) SET n.version = $version"
    driver.execute_query(newer, version=SCHEMA_VERSION + 1)
    try:
        with pytest.raises(SchemaVersionError, match="upgrade recallm"):
            Neo4jStore(driver)
    finally:
        driver.execute_query(newer, version=SCHEMA_VERSION)


@pytest.mark.parametrize("messages", range(1, 10))
def test_dropped_in_the_middle(
    neo4j_server: RunningServer, store: Neo4jStore, proxy: Proxy, namespace: str, messages: int
) -> None:
    """A connection lost at any point of an update: all of it is there or nothing."""
    first, second = rich("1"), rich("2")
    with closing(Neo4jStore(proxy.uri, auth=neo4j_server.auth, retry_time=0)) as dropped:
        dropped.apply(namespace, [first])
        before = seen(store, namespace)
        proxy.cut_after(messages, accept=False)
        error = _failure(dropped, namespace, second)
        if error is not None and "whether it was is unknown" not in str(error):
            assert isinstance(error.__cause__, ServiceUnavailable | SessionExpired)
            assert seen(store, namespace) == before
        proxy.heal()
        result = dropped.apply(namespace, [second])[0]
        assert result.t_index == 2
    with store.reader(namespace, Horizon()) as reader:
        assert reader.relations_among(["ann", "bo"])[0].strength == 2
        assert reader.t_index == reader.entities()[0].updates == 2


def test_a_lost_connection_is_tried_again(
    neo4j_server: RunningServer, store: Neo4jStore, proxy: Proxy, namespace: str
) -> None:
    """Where the server comes back in time, the caller sees nothing of it."""
    with closing(Neo4jStore(proxy.uri, auth=neo4j_server.auth)) as dropped:
        proxy.cut_after(2, accept=True)
        assert dropped.apply(namespace, [rich("1")])[0].t_index == 1
        proxy.cut_after(1, accept=True)
        with dropped.reader(namespace, Horizon()) as reader:
            assert reader.t_index == 1
    with store.reader(namespace, Horizon()) as reader:
        assert reader.relations_among(["ann", "bo"])[0].strength == 1


def test_a_server_that_dies_and_comes_back(neo4j_server: RunningServer, namespace: str) -> None:
    """What was written is there after a crash; until then, an error that says what to do."""
    server = neo4j_server.started_by_the_tests()
    with closing(Neo4jStore(server.uri, auth=server.auth, retry_time=0)) as store:
        store.apply(namespace, [rich("1")])
        before = seen(store, namespace)
        server.stop(kill=True)
        try:
            with pytest.raises(StoreUnavailableError):
                store.apply(namespace, [rich("2")])
            with pytest.raises(StoreUnavailableError):
                store.reader(namespace, Horizon()).__enter__()
        finally:
            server.start()
        assert seen(store, namespace) == before
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
