"""A network and clients that fail: lost replies, connections that are half open, dead writers."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from multiprocessing import get_context
from typing import Any

import pytest
from neo4j import Driver

from recallm.errors import StoreBusyError, StoreUnavailableError
from recallm.model import (
    AddVectors,
    Filter,
    Horizon,
    PreparedUpdate,
    Selection,
    SetExpiry,
    Summary,
    Trait,
    WriteSummary,
    statement_key,
)
from recallm.stores.base import Applied
from recallm.stores.neo4j import Neo4jStore, connection
from recallm.stores.neo4j.connection import NeedsLockError, Tx
from recallm.stores.neo4j.rows import Neo4jRows
from recallm.stores.semantics import applying
from tests.neo4j.fixtures import RunningServer
from tests.neo4j.proxy import Proxy
from tests.store_suite.marked_text import entity, prepared, triplet, vector
from tests.store_suite.topics.base import delete_graph
from tests.stores.neo4j_tools import rich

_BOUND = 100
"""Seconds after which a test fails: what hangs does so for longer."""


@pytest.fixture
def unsteady(neo4j_server: RunningServer, proxy: Proxy) -> Iterator[Neo4jStore]:
    """A store behind the proxy."""
    with closing(Neo4jStore(proxy.uri, auth=neo4j_server.auth, retry_time=8)) as store:
        yield store


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    executor = ThreadPoolExecutor(4)
    yield executor
    # A thread that hangs is not waited for.
    executor.shutdown(wait=False)


@pytest.fixture
def short_work_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server ends transactions early."""
    monkeypatch.setattr(connection, "_WORK_LIMIT", 6.0)  # longer than the shortest wait


_WRITES: dict[str, Callable[[Neo4jStore, str], object]] = {
    "a passage": lambda store, name: store.apply(name, [prepared("3", "[Ann] ran", session="s")]),
    "a passage that is there": lambda store, name: store.apply(name, [rich("1")]),
    "a graph alone": lambda store, name: store.apply(
        name,
        [
            PreparedUpdate(
                id="",
                text=None,
                entities=(entity("g", "Gil"),),
                triplets=(triplet("e", "knows", "g"),),
            )
        ],
    ),
    "what joins a passage": lambda store, name: store.apply(
        name, [PreparedUpdate(id="1", text=None, entities=(entity("g", "Gil"),))]
    ),
    "what replaces a passage": lambda store, name: store.apply(
        name, [prepared("1", "[Dee] sat", replaces=True)]
    ),
    "an item": lambda store, name: store.apply(name, [prepared("3", "[Bo]", path=("p",), key="k")]),
    "forget": lambda store, name: store.forget(name, Selection(kind="id", value="1")),
    "forget everything": lambda store, name: store.forget(
        name, Selection(kind="everything", value=True)
    ),
    "delete_graph": lambda store, name: delete_graph(store, name, entities=["e"]),
    "revise": lambda store, name: store.amend(
        name,
        WriteSummary(
            summary=Summary(concept="ann", t_index=2, text="Ann.", terms=("ann",), traits=Trait(0)),
            statements=2,
        ),
    ),
    "embed": lambda store, name: store.amend(
        name, AddVectors(model="m", vectors={statement_key(1, 0): b"four"})
    ),
    "expire": lambda store, name: store.amend(
        name, SetExpiry(expires_at={"1": datetime(2030, 1, 1, tzinfo=UTC)})
    ),
}


@pytest.mark.parametrize("reply", [True, False], ids=["reply lost", "commit lost"])
def test_a_lost_commit(
    store: Neo4jStore, unsteady: Neo4jStore, proxy: Proxy, namespace: str, reply: bool
) -> None:
    """A write is done once, and says what it would have said, whatever of its commit was lost."""
    for what, write in _WRITES.items():
        names = f"{namespace} {what}", f"{namespace} {what}, steady"
        for name in names:
            store.apply(name, [rich("1"), prepared("2", "[Ann] sat", path=("p",), key="k")])
        lost = proxy.commits_lost
        proxy.lose_commits(1, reply=reply)
        assert write(unsteady, names[0]) == write(store, names[1]), what
        # What changes nothing commits nothing.
        assert proxy.commits_lost - lost == (what != "a passage that is there"), what
        proxy.lose_commits(0, reply=reply)
        assert _dumped(store, names[0]) == _dumped(store, names[1]), what
        assert write(unsteady, names[0]) == write(store, names[1]), what
        assert _dumped(store, names[0]) == _dumped(store, names[1]), what


def test_the_lost_reply_of_a_restore(
    store: Neo4jStore,
    unsteady: Neo4jStore,
    proxy: Proxy,
    namespace: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An archive is there once and whole, in however many queries it is written."""
    monkeypatch.setattr(applying, "_PORTION", 400)
    records = [
        prepared(str(t), "[Ann] met [Bo]", t_index=t, vectors=(vector(0, b"four"),))
        for t in range(1, 600)
    ]
    proxy.lose_commits(1, reply=True)
    assert unsteady.restore(namespace, 599, records) == 599
    assert proxy.commits_lost == 1
    assert _dumped(store, namespace) == records


def test_another_write_between(
    store: Neo4jStore,
    unsteady: Neo4jStore,
    proxy: Proxy,
    namespace: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What others wrote before it is looked for again does not hide that it is done."""

    def write_meanwhile(_: float) -> None:
        for n in range(20):
            store.apply(namespace, [prepared(f"other-{n}", "[Bo] sat")])
            with closing(Neo4jStore(store.driver)) as other:
                other.apply(namespace, [prepared(f"another-{n}", "[Bo] sat")])

    store.apply(namespace, [prepared("1", "[Gil] sat")])
    monkeypatch.setattr("recallm.stores.neo4j.connection.time.sleep", write_meanwhile)
    proxy.lose_commits(1, reply=True)
    # What replaces a passage sends a commit of its own, which the server does before it replies.
    replacing = prepared("1", "[Gil] ran", replaces=True)
    assert unsteady.apply(namespace, [replacing]) == [Applied(t_index=2)]
    with store.reader(namespace, Horizon()) as reader:
        assert reader.state.t_index == 42
        assert [concept.updates for concept in reader.concepts(["gil"])] == [1]


def test_a_commit_of_which_nothing_is_learnt(neo4j_server: RunningServer, proxy: Proxy) -> None:
    """Where the server does not come back, the error says that it may be written."""
    with closing(Neo4jStore(proxy.uri, auth=neo4j_server.auth, retry_time=1)) as unsteady:
        proxy.lose_commits(1000, reply=True)
        with pytest.raises(StoreUnavailableError, match="whether it was is unknown"):
            unsteady._connection.write(_writes_without_a_mark)


def _writes_without_a_mark(tx: Tx) -> None:
    if tx.raw is None:
        raise NeedsLockError
    tx.rows("RETURN 1", {})


def test_an_interrupt_in_the_middle_of_a_reply(store: Neo4jStore) -> None:
    """The rest of the reply is nobody's answer: the connection is cut, and the next one serves."""
    cut: list[Any] = []

    def interrupted(tx: Tx) -> None:
        if tx.raw is None:
            raise NeedsLockError
        answer = tx.raw.run("UNWIND range(1, 9) AS n RETURN n", {})
        next(iter(answer))
        cut.append(tx.raw._connection)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store._connection.write(interrupted)
    assert all(connection.closed() or connection.defunct() for connection in cut)
    assert store._connection.rows("RETURN 1 AS row", {}) == [1]


def test_writers_leave_little(store: Neo4jStore, driver: Driver, namespace: str) -> None:
    """The names of the latest hundred writes."""
    for n in range(103):
        store.apply(namespace, [prepared(str(n), "[Ann]")])
    found, _, _ = driver.execute_query(
        "MATCH (n:RecallMNamespace {key: $key}) RETURN size(n.writes) AS size", key=namespace
    )
    assert [row["size"] for row in found] == [100]


@pytest.mark.usefixtures("short_work_limit")
def test_a_writer_that_vanished(
    neo4j_server: RunningServer,
    store: Neo4jStore,
    unsteady: Neo4jStore,
    proxy: Proxy,
    pool: ThreadPoolExecutor,
    namespace: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its lock goes in a bounded time; until then others are told that they wait in vain."""
    store.apply(namespace, [rich("1")])

    def vanish(locked: Neo4jRows, **given: Any) -> Any:
        state = lock(locked, **given)
        if locked._tx.raw is None:
            return state
        monkeypatch.setattr(Neo4jRows, "open", lock)
        proxy.freeze(later_ones=True)
        holds.set_result(None)
        return state

    holds: Future[None] = Future()
    lock = Neo4jRows.open
    monkeypatch.setattr(Neo4jRows, "open", vanish)
    # What replaces a passage holds the lock between its queries.
    replacing = prepared("1", "[Dee] sat", replaces=True)
    vanished = pool.submit(unsteady.apply, namespace, [replacing])
    holds.result(_BOUND)
    with closing(Neo4jStore(neo4j_server.uri, auth=neo4j_server.auth, retry_time=1)) as hasty:
        refused = pool.submit(hasty.apply, namespace, [rich("3")])
        with pytest.raises(StoreBusyError, match="another writer"):
            refused.result(_BOUND)
    with closing(Neo4jStore(neo4j_server.uri, auth=neo4j_server.auth, retry_time=60)) as patient:
        written = pool.submit(patient.apply, namespace, [rich("4")])
        assert written.result(_BOUND) == [Applied(t_index=2)]
    proxy.thaw()
    assert vanished.exception(_BOUND) is None or isinstance(
        vanished.exception(), StoreUnavailableError | StoreBusyError
    )


def _stop_with_the_lock(uri: str, auth: tuple[str, str], namespace: str) -> None:
    """In a process of its own, which stops when it has the lock."""

    lock = Neo4jRows.open

    def stop(locked: Neo4jRows, **given: Any) -> Any:
        state = lock(locked, **given)
        if locked._tx.raw is None:
            return state
        setattr(Neo4jRows, "open", lock)  # noqa: B010 - mypy takes no assignment
        os.kill(os.getpid(), signal.SIGSTOP)
        return state

    setattr(connection, "_WORK_LIMIT", 6.0)  # noqa: B010
    setattr(Neo4jRows, "open", stop)  # noqa: B010
    with (
        closing(Neo4jStore(uri, auth=auth, retry_time=1)) as store,
        pytest.raises(StoreBusyError, match="took too long"),
    ):
        store.apply(namespace, [rich("stopped"), prepared("stopped", "[Dee] sat", replaces=True)])


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals")
@pytest.mark.parametrize("goes_on", [True, pytest.param(False, marks=pytest.mark.nightly)])
def test_a_process_that_stops_with_the_lock(
    neo4j_server: RunningServer,
    store: Neo4jStore,
    pool: ThreadPoolExecutor,
    namespace: str,
    goes_on: bool,
) -> None:
    """Others write after a bounded time. Gone on with, it fails and has written nothing."""
    stopping = get_context("spawn").Process(
        target=_stop_with_the_lock, args=(neo4j_server.uri, neo4j_server.auth, namespace)
    )
    stopping.start()
    assert stopping.pid is not None
    try:
        os.waitpid(stopping.pid, os.WUNTRACED)
        with closing(Neo4jStore(neo4j_server.uri, auth=neo4j_server.auth, retry_time=60)) as other:
            written = pool.submit(other.apply, namespace, [rich("1")])
            assert written.result(_BOUND) == [Applied(t_index=1)]
        if goes_on:
            os.kill(stopping.pid, signal.SIGCONT)
            assert os.waitpid(stopping.pid, 0)[1] == 0
    finally:
        stopping.kill()
    with store.reader(namespace, Horizon()) as reader:
        assert [passage.id for passage in reader.passages(Filter())] == ["1"]


@pytest.mark.parametrize("call", ["write", pytest.param("read", marks=pytest.mark.nightly)])
def test_connections_that_are_half_open(
    store: Neo4jStore,
    unsteady: Neo4jStore,
    proxy: Proxy,
    pool: ThreadPoolExecutor,
    namespace: str,
    call: str,
) -> None:
    """Where new connections are answered, the call comes through by one."""
    unsteady.apply(namespace, [rich("1")])
    time.sleep(connection._LIVENESS_CHECK_AFTER + 0.1)
    proxy.freeze(later_ones=False)
    if call == "read":
        assert pool.submit(_t_index, unsteady, namespace).result(_BOUND) == 1
    else:
        written = pool.submit(unsteady.apply, namespace, [rich("2")])
        assert written.result(_BOUND) == [Applied(t_index=2)]


@pytest.mark.parametrize("scheme", ["neo4j", pytest.param("bolt", marks=pytest.mark.nightly)])
def test_a_network_that_is_silent(
    neo4j_server: RunningServer,
    proxy: Proxy,
    pool: ThreadPoolExecutor,
    namespace: str,
    scheme: str,
) -> None:
    """A call fails in a bounded time, and works when the network does."""
    with closing(Neo4jStore(proxy.uri, auth=neo4j_server.auth, retry_time=1)) as unsteady:
        unsteady.apply(namespace, [rich("1")])
        time.sleep(connection._LIVENESS_CHECK_AFTER + 0.1)
        proxy.freeze(later_ones=True)
        with pytest.raises(StoreUnavailableError, match="timed out"):
            pool.submit(_t_index, unsteady, namespace).result(_BOUND)
        opening = pool.submit(
            Neo4jStore, f"{scheme}{proxy.uri[4:]}", auth=neo4j_server.auth, retry_time=1
        )
        with pytest.raises(StoreUnavailableError, match="timed out"):
            opening.result(_BOUND)
        proxy.thaw()
        assert pool.submit(_t_index, unsteady, namespace).result(_BOUND) == 1


def test_what_a_vector_costs(store: Neo4jStore, namespace: str) -> None:
    """No call for each byte of a vector."""
    assert _calls_to_fetch(store, namespace, 4000) < _calls_to_fetch(store, namespace, 4) + 500


def _calls_to_fetch(store: Neo4jStore, namespace: str, size: int) -> int:
    name = f"{namespace}-{size}"
    store.apply(name, [prepared("1", "[Ann] ran", vectors=(vector(0, b"x" * size),))])
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    with store.reader(name, Horizon()) as reader:
        reader.vectors([statement_key(1, 0)], model="m")
        sys.setprofile(count)
        try:
            found = reader.vectors([statement_key(1, 0)], model="m")
        finally:
            sys.setprofile(None)
    assert found == {statement_key(1, 0): b"x" * size}
    return calls


def _t_index(store: Neo4jStore, namespace: str) -> int:
    with store.reader(namespace, Horizon()) as reader:
        return reader.state.t_index


def _dumped(store: Neo4jStore, namespace: str) -> list[PreparedUpdate | Summary]:
    with store.reader(namespace, Horizon()) as reader:
        records: Iterable[PreparedUpdate | Summary] = reader.dump()
        return list(records)
