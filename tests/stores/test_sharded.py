"""A store for each namespace: ``store=`` as a function."""

from __future__ import annotations

import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from neo4j import Driver, GraphDatabase

from langchain_recallm import RecallMChatMessageHistory, RecallMRetriever
from recallm import NewEntity, RecallM
from recallm.errors import ClosedError, InvalidInputError, StoreError
from recallm.model import AddVectors, ContextVersion, Selection, WriteSummary
from recallm.stores import opening
from recallm.stores.base import Applied, GraphStore
from recallm.stores.neo4j import Neo4jStore
from recallm.stores.sharded import ShardedStore
from recallm.stores.sqlite import SQLiteStore
from tests.neo4j.fixtures import RunningServer
from tests.neo4j.proxy import Proxy
from tests.store_suite.marked_text import prepared
from tests.store_suite.snapshots import snapshot
from tests.store_suite.topics.base import at, snapshot_of, summary


def _open(target: Any, bookmark: str | None) -> tuple[GraphStore, bool]:
    return SQLiteStore(target), True


def test_each_operation_reaches_the_store_of_its_namespace(tmp_path: Path) -> None:
    """It answers what that store answers; the other store hears nothing."""
    files = {name: tmp_path / f"{name}.db" for name in ("one", "two")}
    update = prepared("1", "[Ann] met [Bo]", expires_at=at(1))
    version = ContextVersion(t_index=1, statements=1, summary_t=None)
    with closing(ShardedStore(files.__getitem__, _open)) as store:
        for name in files:
            assert store.apply(name, [update]) == [Applied(t_index=1)]
        written = WriteSummary(summary=summary("ann", 1), expected=version)
        assert store.amend("one", written) == 1
        assert store.amend("one", AddVectors(model="m", vectors={1 << 20: b"four"})) == 1
        with store.reader("one") as reader, closing(SQLiteStore(files["one"])) as file:
            assert snapshot(reader) == snapshot_of(file, "one")
            assert reader.stats().summaries == reader.stats().vectors == 1
            records = list(reader.dump())
        assert store.forget("one", Selection(kind="expired", value=at(1), limit=1)).passages == 1
        assert snapshot_of(store, "two")["stats"].passages == 1
        assert not store.forget("one", Selection(kind="everything", value=True))
        assert store.forget("two", Selection(kind="everything", value=True)).summaries == 0
        with pytest.raises(InvalidInputError):
            store.restore("one", 1, records)
        assert store.namespaces() == ["one", "two"]
    with pytest.raises(ClosedError):
        store.apply("one", [update])
    with closing(ShardedStore(lambda name: tmp_path / f"{name}.db", _open)) as store:
        assert store.restore("three", 1, records) == 1
        assert snapshot_of(store, "three")["stats"].summaries == 1


class _Stores:
    """Namespaces to files by their first letter; counts which stores are opened."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        self.opened: list[str] = []
        monkeypatch.setattr(opening, "open_store", self._open)
        self._real = _REAL

    def __call__(self, namespace: str) -> Path:
        return self._folder / f"{namespace[0]}.db"

    def _open(self, target: Any, **options: Any) -> tuple[GraphStore, bool]:
        self.opened.append(Path(target).name)
        return self._real(target, **options)


_REAL = opening.open_store


@pytest.fixture
def stores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> _Stores:
    return _Stores(tmp_path, monkeypatch)


def test_each_namespace_lives_in_its_file(stores: _Stores, tmp_path: Path) -> None:
    """A file is opened once, when a namespace there is first used; nothing is in the other file."""
    with RecallM(stores, namespace="ann") as memory:
        assert stores.opened == ["a.db"]
        bob, abe = memory.in_namespace("bob"), memory.in_namespace("abe")
        assert stores.opened == ["a.db"]
        memory.update("Ann loves tea.")
        bob.update("Bob loves coffee.")
        abe.update("Abe loves cocoa.")
        bob.graph.upsert(entities=[NewEntity(id="bob", type="person")])
        assert [statement.text for statement in bob.recall("Who loves what?").statements] == [
            "Bob loves coffee."
        ]
        assert memory.namespaces() == ("abe", "ann", "bob")
        assert stores.opened == ["a.db", "b.db"]
        assert bob.problems() == abe.problems() == []
        assert memory.bookmark is None
    with RecallM(tmp_path / "a.db") as file:
        assert file.namespaces() == ("abe", "ann")
    with RecallM(tmp_path / "b.db") as file:
        assert file.namespaces() == ("bob",)
        assert file.in_namespace("bob").stats().entities == 1
    with pytest.raises(ClosedError):
        bob.update("Bob is late.")


def test_between_shards(stores: _Stores, tmp_path: Path) -> None:
    """Copies, archives and erasure find the shard of the namespace that they name."""
    with RecallM(stores, namespace="ann") as memory:
        memory.update("Ann loves tea.")
        bob, cy = memory.in_namespace("bob"), memory.in_namespace("cy")
        assert memory.copy_to(bob) == 1
        assert bob.stats() == memory.stats()
        memory.export_namespace("bob", tmp_path / "bob.jsonl")
        assert cy.load(tmp_path / "bob.jsonl") == 1
        memory.erase_namespace("bob")
        assert (bob.stats().passages, cy.stats().passages, memory.stats().passages) == (0, 1, 1)
    with RecallM(tmp_path / "c.db", namespace="cy") as file:
        assert file.stats().passages == 1


def test_an_adapter_with_a_template(stores: _Stores, tmp_path: Path) -> None:
    """What an adapter writes and reads for a user is in the shard of that user."""
    with RecallM(stores, namespace="ann") as memory:
        history = RecallMChatMessageHistory(memory=memory.in_namespace("bob"), session="monday")
        history.add_user_message("I live in Porto.")
        retriever = RecallMRetriever(memory=memory, namespace="{user_id}")
        found = retriever.invoke("Where do I live?", {"configurable": {"user_id": "bob"}})
        assert "Porto" in found[0].page_content
        assert memory.stats().passages == 0
    with RecallM(tmp_path / "b.db", namespace="bob") as file:
        assert file.stats().passages == 1


def test_a_name_that_lives_elsewhere_is_not_listed(stores: _Stores, tmp_path: Path) -> None:
    with RecallM(tmp_path / "a.db", namespace="bob") as file:
        file.update("Bob loves coffee.")
    with RecallM(stores, namespace="ann") as memory:
        assert memory.namespaces() == ()


def test_equal_targets_are_one_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However the path is written; a store of the user's own is shared, and stays open."""
    monkeypatch.chdir(tmp_path)
    written: dict[str, Any] = {"a": "x.db", "b": tmp_path / "x.db", "c": "./x.db"}
    with closing(ShardedStore(written.__getitem__, _open)) as store:
        assert store.shard("a") is store.shard("b") is store.shard("c")
    with closing(SQLiteStore()) as own:
        with RecallM(lambda _: own, namespace="ann") as memory:
            memory.update("Ann loves tea.")
        assert own.namespaces() == ["ann"]


def test_a_shard_is_opened_once(tmp_path: Path) -> None:
    """Also where many threads come at the same moment."""
    opened: list[object] = []
    start = threading.Barrier(8)

    def open_(target: Any, bookmark: str | None) -> tuple[GraphStore, bool]:
        opened.append(target)
        return SQLiteStore(target), True

    with closing(ShardedStore(lambda _: tmp_path / "a.db", open_)) as store:

        def use() -> None:
            start.wait()
            store.namespaces()
            store.shard("ann")

        threads = [threading.Thread(target=use) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(opened) == 1


def test_a_shard_that_cannot_be_opened(tmp_path: Path) -> None:
    """The other shards go on; later it is tried again."""
    folder = tmp_path / "later"
    with RecallM(
        lambda name: (folder if name == "bob" else tmp_path) / "a.db", namespace="ann"
    ) as memory:
        bob = memory.in_namespace("bob")
        with pytest.raises(StoreError):
            bob.update("Bob loves coffee.")
        memory.update("Ann loves tea.")
        folder.mkdir()
        bob.update("Bob loves coffee.")
        assert memory.namespaces() == ("ann", "bob")


def test_no_target() -> None:
    for given in (3, ["a.db"], lambda name: "a.db"):
        with pytest.raises(InvalidInputError) as caught:
            RecallM(lambda name, given=given: given)  # type: ignore[misc]
        assert caught.value.argument == "store", given


def test_a_function_that_fails(tmp_path: Path) -> None:
    """The error says so, and repeats nothing of the function's own text."""
    places = {"ann": tmp_path / "a.db"}
    with RecallM(lambda name: places[name], namespace="ann") as memory:
        with pytest.raises(InvalidInputError, match="failed with KeyError") as caught:
            memory.in_namespace("bob").update("Bob loves coffee.")
        assert "bob" not in str(caught.value)
        memory.update("Ann loves tea.")


def test_two_servers(neo4j_server: RunningServer, proxy: Proxy, namespace: str) -> None:
    """A namespace is read and written at its own address alone, also where a copy reads another;
    here both addresses lead to one server."""
    first, second, third = (f"{namespace}-{n}" for n in ("1", "2", "22"))

    def place(name: str) -> str:
        return proxy.uri if name in (second, third) else neo4j_server.uri

    with RecallM(place, auth=neo4j_server.auth, namespace=first) as memory:
        memory.update("Ann loves tea.")
        assert proxy.trips == 0
        memory.in_namespace(second).update("Bob loves coffee.")
        assert memory.in_namespace(second).copy_to(memory.in_namespace(third)) == 1
        found = memory.in_namespace(third).recall("Who loves what?").statements
        assert [statement.text for statement in found] == ["Bob loves coffee."]
        assert set(memory.namespaces()) >= {first, second, third}
        trips = proxy.trips
        assert trips > 0
        memory.update("Ann loves cocoa.")
        assert memory.copy_to(memory.in_namespace(f"{namespace}-3")) == 2
        assert memory.bookmark != memory.in_namespace(second).bookmark
        assert proxy.trips == trips


def test_a_database_a_shard(neo4j_server: RunningServer, namespace: str) -> None:
    """Stores of one driver share its connections; whoever made them closes them."""
    with GraphDatabase.driver(neo4j_server.uri, auth=neo4j_server.auth) as driver:
        stores = {name: Neo4jStore(driver, database="neo4j") for name in ("a", "b")}
        with RecallM(lambda name: stores[name[-1]], namespace=f"{namespace}-a") as memory:
            memory.update("Ann loves tea.")
            memory.in_namespace(f"{namespace}-b").update("Bob loves coffee.")
            assert memory.stats().passages == 1
        assert isinstance(driver, Driver)
        assert f"{namespace}-b" in stores["b"].namespaces()
