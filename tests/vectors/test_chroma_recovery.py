"""The Chroma index after a crash, with damaged files, beside other stores, without its server."""

from __future__ import annotations

import logging
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
import pytest
from chromadb.config import Settings

from recallm.model import Horizon, Selection, statement_key
from recallm.stores.base import GraphStore
from recallm.stores.sqlite import SQLiteStore
from recallm.vectors import decode, encode
from recallm.vectors.chroma import ChromaError, ChromaIndex, call_chroma
from tests.store_suite.marked_text import prepared, vector
from tests.vectors.random_vectors import (
    check_nearest,
    check_searches,
    collection_sizes,
    collections,
    exact_cosines,
    nearest_keys,
    random_unit_vector,
    write_vectors,
)


def leave_half_written(store: GraphStore, folder: Path, where: str) -> None:
    """A process was killed while it moved 30 vectors into a collection of 20."""
    write_vectors(store, 0, 20)
    with closing(ChromaIndex(store, folder)) as index:
        check_searches(index, store)
    write_vectors(store, 20, 30)
    client: Any = chromadb.PersistentClient(
        str(folder / "chroma"), settings=Settings(anonymized_telemetry=False)
    )
    [collection] = client.list_collections()
    if where == "after upsert":
        with store.reader("n", Horizon()) as reader:
            found = list(reader.vectors(model="m", after=statement_key(20, 0), limit=99).items())
        rows = np.stack([decode(blob) for _, blob in found])
        collection.upsert(ids=[str(key) for key, _ in found], embeddings=rows)
    elif where == "after delete":
        store.forget("n", Selection(kind="id", value="3"))
        collection.delete(ids=[str(statement_key(4, 0))])
    elif where == "before delete":
        store.forget("n", Selection(kind="id", value="3"))
    elif where == "lost":
        collection.delete(ids=[str(statement_key(4, 0))])
    elif where == "alien":
        collection.upsert(ids=[str(statement_key(20, 0))], embeddings=[[1.0] * 8])
    client.close()


@pytest.mark.slow
def test_a_half_written_collection_is_filled_anew(tmp_path: Path) -> None:
    for where in (
        "before upsert",
        "after upsert",
        "before delete",
        "after delete",
        "lost",
        "alien",
    ):
        folder = tmp_path / where
        with closing(SQLiteStore()) as store:
            leave_half_written(store, folder, where)
            with closing(ChromaIndex(store, folder)) as index:
                check_searches(index, store)
                expected = [49 if "delete" in where else 50]
                assert collection_sizes(index) == expected, where


@pytest.mark.parametrize("damage", ["deleted", "overwritten", "cut off"])
def test_the_folder_is_damaged(
    store: GraphStore, folder: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The search is exact until somebody deletes the folder, which is then made anew."""
    leave_half_written(store, folder, "before upsert")
    if damage != "deleted":
        file = folder / "chroma" / "chroma.sqlite3"
        file.write_bytes(b"damaged" * 1000 if damage == "overwritten" else file.read_bytes()[:5000])
        with closing(ChromaIndex(store, folder)) as index, caplog.at_level(logging.WARNING):
            wanted = random_unit_vector()
            check_nearest(nearest_keys(index, store, wanted, 99), exact_cosines(store, wanted))
            assert index._is_off
        assert f"where {folder} is damaged, delete it" in caplog.text
    shutil.rmtree(folder)
    # Chroma remembers a failure under the path as it was spelled.
    other = folder.with_name("another") if damage != "deleted" else folder
    with closing(ChromaIndex(store, other)) as index:
        check_searches(index, store)
        assert collection_sizes(index) == [50]


def test_another_collection_of_a_client_stays(store: GraphStore, folder: Path) -> None:
    client: Any = chromadb.PersistentClient(
        str(folder), settings=Settings(anonymized_telemetry=False)
    )
    client.create_collection("mine").add(ids=["1"], embeddings=[[1.0]])
    write_vectors(store, 0, 5)
    with closing(ChromaIndex(store, client)) as index:
        check_searches(index, store)
        index.drop("n", None)
        assert [collection.name for collection in collections(index)] == ["mine"]
    client.close()


def test_another_store_s_index_in_the_folder_stays(store: GraphStore, folder: Path) -> None:
    """Whatever becomes of a namespace with the same name; one that never had vectors does not
    open Chroma at all."""
    write_vectors(store, 0, 5)
    with closing(ChromaIndex(store, folder)) as index:
        check_searches(index, store)
        [name] = [collection.name for collection in collections(index)]
    with closing(SQLiteStore()) as other, closing(ChromaIndex(other, folder)) as index:
        index.drop("n", None)
        assert index._client is None
        write_vectors(other, 0, 3)
        check_searches(index, other)
        other.forget("n", Selection(kind="everything", value=True))
        index.drop("n", None)
        assert [collection.name for collection in collections(index)] == [name]
        assert collection_sizes(index) == [5]
        assert not index._is_off


def test_the_index_of_another_store_is_made_anew(tmp_path: Path, folder: Path) -> None:
    """A file that replaced another one, and a copy of the file, both written to since: one vector
    of each differs."""
    for _ in range(2):
        path = tmp_path / "memory.db"
        path.unlink(missing_ok=True)
        with closing(SQLiteStore(path)) as store, closing(ChromaIndex(store, folder)) as index:
            write_vectors(store, 0, 38)
            check_searches(index, store)
    copy = tmp_path / "copy.db"
    with closing(sqlite3.connect(path)) as one, closing(sqlite3.connect(copy)) as two:
        one.backup(two)
    for each in (path, copy):
        with closing(SQLiteStore(each)) as store, closing(ChromaIndex(store, folder)) as index:
            write_vectors(store, 38, 1)
            same = vector(0, encode(np.arange(8.0)))
            store.apply("n", [prepared("39", "[Ann] 39", vectors=(same,))])
            check_searches(index, store)


def test_stores_with_equal_namespaces_share_a_client(client: Any) -> None:
    """Clients in memory share their collections; each store has its own."""
    for count in (5, 7):
        with closing(SQLiteStore()) as store, closing(ChromaIndex(store, client)) as index:
            name = "shared"
            write_vectors(store, 0, count, name)
            check_searches(index, store, name)
            assert client.heartbeat()


def test_after_failures_the_search_is_exact(
    store: GraphStore, client: Any, caplog: pytest.LogCaptureFixture
) -> None:
    write_vectors(store, 0, 20)

    class Failing:
        def __getattr__(self, name: str) -> Any:
            raise ConnectionError("nobody answers")

    wanted = random_unit_vector()
    with caplog.at_level(logging.WARNING):
        index = ChromaIndex(store, Failing())
        check_nearest(nearest_keys(index, store, wanted, 99), exact_cosines(store, wanted))
        assert index._is_off
    assert caplog.text.count("nobody answers") == 1
    index.close()
    with closing(ChromaIndex(store, client)) as index:
        check_searches(index, store)
        [name] = [collection.name for collection in collections(index) if collection.count() == 20]
        client.delete_collection(name)
        # The one that was open is gone in the middle of it.
        wanted = random_unit_vector()
        check_nearest(nearest_keys(index, store, wanted, 99), exact_cosines(store, wanted))
        assert index._is_off


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[Any, subprocess.Popen[bytes]]]:
    """A client of a Chroma server, and its process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(Path(sys.executable).with_name("chroma")), "run", "--host", "127.0.0.1"]
    with subprocess.Popen(
        [*command, "--port", str(port), "--path", str(tmp_path / "server")],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            yield _client_of(port), process
        finally:
            process.terminate()


def _client_of(port: int) -> Any:
    deadline = time.monotonic() + 60
    while True:
        try:
            return chromadb.HttpClient(
                "127.0.0.1", port, settings=Settings(anonymized_telemetry=False)
            )
        except Exception:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


@pytest.mark.slow
def test_a_server(store: GraphStore, server: tuple[Any, subprocess.Popen[bytes]]) -> None:
    """The index follows the store on a server; after the server is gone it searches exactly."""
    client, process = server
    write_vectors(store, 0, 70)
    with closing(ChromaIndex(store, client)) as index:
        check_searches(index, store)
        store.forget("n", Selection(kind="id", value="3"))
        check_searches(index, store)
        assert collection_sizes(index) == [69]
        process.terminate()
        process.wait()
        write_vectors(store, 700, 5)
        wanted = random_unit_vector()
        check_nearest(nearest_keys(index, store, wanted, 9_999), exact_cosines(store, wanted))
        check_nearest(nearest_keys(index, store, wanted, 9), exact_cosines(store, wanted), 9)


def test_an_interrupt_reaches_the_caller_and_a_panic_is_a_failure() -> None:
    class TimeOut(BaseException):
        """As a signal handler may raise."""

    panic = type("PanicException", (BaseException,), {"__module__": "pyo3_runtime"})

    def fails(error: type[BaseException]) -> None:
        raise error("index out of bounds")

    with pytest.raises(TimeOut):
        call_chroma(lambda: fails(TimeOut))
    with pytest.raises(ChromaError, match="index out of bounds"):
        call_chroma(lambda: fails(panic))
