"""What no server that other tests use may undergo: stops, another schema, a look at all that is
there.

The server of this file is its own, and is started once."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import replace
from itertools import chain, combinations
from multiprocessing import get_context
from typing import Any, LiteralString

import pytest
from neo4j import Driver

from recallm.errors import ArchiveError, SchemaVersionError, StoreUnavailableError
from recallm.model import Horizon, PreparedUpdate, Summary
from recallm.stores.neo4j import Neo4jStore, changes, queries, reader_queries, rows, schema
from recallm.stores.semantics.reading import with_parts
from tests.neo4j.fixtures import RunningServer
from tests.neo4j.server import Neo4jServer, ServerToolMissing
from tests.store_suite.topics.base import at
from tests.stores.neo4j_tools import rich
from tests.tools import skip_for_want_of_a_tool


@pytest.fixture(scope="module")
def own_server() -> Iterator[Neo4jServer]:
    """A server of this file's own, in place of the one that other files share."""
    try:
        server = Neo4jServer()
    except ServerToolMissing as missing:
        skip_for_want_of_a_tool(str(missing))
    with server:
        yield server


@pytest.fixture(scope="module")
def neo4j_server(own_server: Neo4jServer) -> RunningServer:
    return RunningServer(uri=own_server.uri, auth=own_server.auth)


def _open_at(uri: str, auth: tuple[str, str], moment: float) -> None:
    """In a process of its own: open a store at a moment, together with others."""
    time.sleep(max(0.0, moment - time.time()))
    Neo4jStore(uri, auth=auth).close()


def test_opened_by_several_processes_at_once(neo4j_server: RunningServer, driver: Driver) -> None:
    """Constraints and indexes are there once, whoever comes first; then every store finds them."""
    for kind in ("CONSTRAINT", "INDEX"):
        for name in _schema(driver, kind):
            driver.execute_query(f"DROP {kind} {name} IF EXISTS")
    driver.execute_query("MATCH (n:RecallMSchema) DELETE n")
    assert _schema(driver, "INDEX") == []
    with ProcessPoolExecutor(3, mp_context=get_context("spawn")) as pool:
        moment = time.time() + 4
        address = neo4j_server.uri, neo4j_server.auth
        for job in [pool.submit(_open_at, *address, moment) for _ in range(3)]:
            job.result()
    assert len(_schema(driver, "CONSTRAINT")) == 14
    assert len(_schema(driver, "INDEX")) == 29
    versions, _, _ = driver.execute_query("MATCH (n:RecallMSchema) RETURN n.version AS v")
    assert [row["v"] for row in versions] == [schema.VERSION]


def _schema(driver: Driver, kind: str) -> list[str]:
    shown, _, _ = driver.execute_query(f"SHOW {kind} YIELD name")
    return [row["name"] for row in shown if row["name"].startswith("recallm_")]


def test_another_schema(driver: Driver) -> None:
    """Refused, with what to do; nothing is touched."""
    Neo4jStore(driver).close()
    other: LiteralString = "MATCH (n:RecallMSchema) SET n.version = $version"
    for version, advice in ((schema.VERSION + 1, "upgrade recallm"), (0, "export it")):
        driver.execute_query(other, version=version)
        with pytest.raises(SchemaVersionError, match=advice):
            Neo4jStore(driver)
    driver.execute_query(other, version=schema.VERSION)


def test_opening_is_one_query(driver: Driver, store: Neo4jStore, queries: list[str]) -> None:
    """Where the graph is there."""
    Neo4jStore(driver).close()
    assert queries == [schema.READ_VERSION]


def test_a_failed_restore_leaves_no_rows(driver: Driver, store: Neo4jStore, namespace: str) -> None:
    """Written in portions of one transaction."""
    store.apply(f"{namespace}-source", [rich(f"{n}") for n in range(3)])
    with store.reader(f"{namespace}-source", Horizon()) as reader:
        records = list(reader.dump())

    def broken() -> Iterator[PreparedUpdate | Summary]:
        for copy in range(400):
            for t, record in enumerate(records, start=1 + 3 * copy):
                assert isinstance(record, PreparedUpdate)
                yield replace(record, id=f"{t}", t_index=t)
        raise ArchiveError("cut short")

    before = _all_nodes(driver)
    with pytest.raises(ArchiveError, match="cut short"):
        store.restore(namespace, 9999, broken())
    assert namespace not in store.namespaces()
    # The node of the namespace itself may stay.
    assert _all_nodes(driver) - before <= 1
    assert store.restore(namespace, 3, records) == 3


def test_every_query_enters_by_an_index(driver: Driver, store: Neo4jStore, namespace: str) -> None:
    """No tenant waits for the rows of others: the whole of a label is read to list the namespaces
    alone."""
    # The server scans an index that holds nothing: each holds something, and the server knows.
    full: dict[str, Any] = {"source": "s", "timestamp": at(0), "expires_at": at(1), "path": ("p",)}
    store.apply(namespace, [replace(rich(f"{n}"), key=f"{n}", **full) for n in range(60)])
    driver.execute_query("CALL db.prepareForReplanning(60)")
    scanning: set[str] = set()
    found = {
        f"{module.__name__}.{name}": getattr(module, name)
        for module in (changes, rows, reader_queries, queries)
        for name in vars(module)
        if name.isupper() and not name.startswith("_") and name not in _NO_QUERIES
    }
    for name, query in found.items():
        several = query.values() if isinstance(query, dict) else query
        for text in chain.from_iterable(
            map(_forms, [query] if isinstance(query, str) else several)
        ):
            with driver.session(notifications_min_severity="OFF") as session:
                plan = session.run(f"EXPLAIN {text}").consume().plan
            assert plan is not None
            if any("Scan" in operator for operator in _operators(plan)):
                scanning.add(name)
    assert len(found) > 25
    assert scanning == {"recallm.stores.neo4j.reader_queries.NAMESPACES"}


def _forms(query: str) -> Iterator[str]:
    """A query with some of its parts."""
    names = sorted(set(re.findall(r"\{\?(\w+):", query)))
    for size in range(len(names) + 1):
        for given in map(frozenset, combinations(names, size)):
            if len(given & {"ids", "concepts", "passages"}) < 2:
                yield with_parts(query, given)


_NO_QUERIES = {
    *("COUNTED", "LARGEST_NUMBER", "NO_TOTALS", "TOTALS", "UNIQUE"),
}
"""Other names of the modules that have queries."""


def _operators(plan: dict[str, Any]) -> Iterator[str]:
    yield plan["operatorType"]
    for child in plan.get("children", []):
        yield from _operators(child)


def test_a_server_that_dies_and_comes_back(own_server: Neo4jServer, namespace: str) -> None:
    """What was written is there after a crash; until then, an error that says what to do."""
    server = own_server
    with closing(Neo4jStore(server.uri, auth=server.auth, retry_time=0)) as store:
        store.apply(namespace, [rich("1")])
        before = _dumped(store, namespace)
        server.stop(kill=True)
        try:
            with pytest.raises(StoreUnavailableError):
                store.apply(namespace, [rich("2")])
            with pytest.raises(StoreUnavailableError):
                store.reader(namespace, Horizon()).__enter__()
        finally:
            server.start()
        assert _dumped(store, namespace) == before
        # A server that has just started plans a write for seconds: not all have such patience.
        with closing(Neo4jStore(server.uri, auth=server.auth, retry_time=60)) as patient:
            patient.apply(f"{namespace}-other", [rich("1")])
        assert store.apply(namespace, [rich("2")])[0].t_index == 2


def _dumped(store: Neo4jStore, namespace: str) -> list[PreparedUpdate | Summary]:
    """All that was written; a server that has just started plans the few queries of a dump sooner
    than those of a snapshot."""
    with store.reader(namespace, Horizon()) as reader:
        return list(reader.dump())


def _all_nodes(driver: Driver) -> int:
    counted, _, _ = driver.execute_query("MATCH (n) RETURN count(n) AS count")
    found: int = counted[0]["count"]
    return found
