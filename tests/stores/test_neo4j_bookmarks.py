"""Bookmarks: what one process wrote, another one waits for."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from neo4j import Driver

from recallm import RecallM
from recallm.errors import ClosedError, InvalidInputError, StoreBusyError
from recallm.model import Horizon
from recallm.stores.neo4j import Neo4jStore
from tests.neo4j.fixtures import RunningServer
from tests.store_suite.marked_text import prepared
from tests.stores.neo4j_tools import bookmark_of, parts_of


def test_each_write_moves_the_bookmark(
    neo4j_server: RunningServer, store: Neo4jStore, namespace: str
) -> None:
    """A second store, opened with the bookmark, starts where the first one was."""
    database, before = parts_of(store.bookmark)
    store.apply(namespace, [prepared("1", "[Ann] sings")])
    same, after = parts_of(store.bookmark)
    assert same == database
    assert after > before
    bookmark = store.bookmark
    with closing(Neo4jStore(neo4j_server.uri, auth=neo4j_server.auth, bookmark=bookmark)) as second:
        assert parts_of(second.bookmark)[1] >= after
        with second.reader(namespace, Horizon()) as reader:
            assert reader.state.t_index == 1


def test_a_memory_hands_its_bookmark_on(driver: Driver, namespace: str) -> None:
    with RecallM(driver, namespace=namespace) as first:
        first.update("Ann moved to Lisbon.")
        bookmark = first.in_namespace(f"{namespace}-2").bookmark
        with RecallM(driver, namespace=namespace, bookmark=bookmark) as second:
            assert second.stats().passages == 1
    with pytest.raises(ClosedError):
        _ = first.bookmark


def test_a_bookmark_of_the_future(neo4j_server: RunningServer, store: Neo4jStore) -> None:
    """The store waits for what the server has not got, and gives up in time."""
    database, number = parts_of(store.bookmark)
    future = bookmark_of(database, number + 1_000_000)
    with pytest.raises(StoreBusyError, match="writes of the bookmark after 3 s"):
        Neo4jStore(neo4j_server.uri, auth=neo4j_server.auth, retry_time=1, bookmark=future)


def test_a_bookmark_of_another_database(
    neo4j_server: RunningServer, store: Neo4jStore, namespace: str
) -> None:
    """Of a database that was dropped there is nothing to wait for."""
    store.apply(namespace, [prepared("1", "[Ann] sings")])
    dropped = bookmark_of(bytes(range(16)), 1_000_000)
    auth = neo4j_server.auth
    with closing(Neo4jStore(neo4j_server.uri, auth=auth, bookmark=dropped)) as second:
        with second.reader(namespace, Horizon()) as reader:
            assert reader.state.t_index == 1


def test_no_bookmark(driver: Driver) -> None:
    for text in ("", " ", "garbage", "FB:!!!!", "FB:kcwQAAAA", "FB:é", "FB:\x00"):
        with pytest.raises(InvalidInputError, match=r"memory\.bookmark as it is") as caught:
            Neo4jStore(driver, bookmark=text)
        assert caught.value.argument == "bookmark", text


def test_a_file_has_no_bookmark(tmp_path: Path) -> None:
    """None, which may be handed on; a bookmark of a server is refused with advice."""
    with RecallM(tmp_path / "a.db") as memory:
        memory.update("Ann moved to Lisbon.")
        assert memory.bookmark is None
    RecallM(tmp_path / "a.db", bookmark=None).close()
    for wrong in ("FB:kcwQ", 3):
        with pytest.raises(InvalidInputError) as caught:
            RecallM(tmp_path / "a.db", bookmark=wrong)  # type: ignore[arg-type]
        assert caught.value.argument == "bookmark"
