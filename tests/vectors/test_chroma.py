"""The Chroma index follows the store, whatever happened to either."""

from __future__ import annotations

import logging
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
import pytest
from chromadb.config import Settings

from recallm import InvalidInputError, MissingDependencyError, RecallConfig, RecallM
from recallm.model import AddVectors, Horizon, Selection, statement_key
from recallm.stores.base import GraphStore
from recallm.stores.sqlite import SQLiteStore
from recallm.testing.marked_text import prepared
from recallm.vectors import Embedding, chroma_folder, encode
from recallm.vectors.arguments import checked_index
from recallm.vectors.chroma import ChromaIndex
from recallm.vectors.chroma_collection import ChromaCollection
from tests.vectors.fakes import bag_of_words, words
from tests.vectors.test_index import RANDOM, expected, keys, unit, write

NEAREST = RecallConfig(ranking="vectors")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def store(path: Path) -> Iterator[GraphStore]:
    store = SQLiteStore(path)
    yield store
    store.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "index"


@pytest.fixture
def client() -> Any:
    """Chroma in memory: all such clients share what they hold."""
    return chromadb.EphemeralClient()


def collections(index: ChromaIndex) -> list[Any]:
    return sorted(index._client.list_collections(), key=lambda it: str(it.name))


def counts(index: ChromaIndex) -> list[int]:
    return [each.count() for each in collections(index)]


def check_searches(index: ChromaIndex, store: GraphStore, namespace: str = "n") -> None:
    """Searches find what the store has, however many vectors are in Chroma by now."""
    for _ in range(2):
        wanted = unit()
        order = expected(store, wanted, namespace)
        assert keys(index, store, wanted, 10, namespace=namespace) == order[:10]
        assert keys(index, store, wanted, 9_999, namespace=namespace) == order
        some = [key >> 20 for key in order[5::3]]
        assert keys(index, store, wanted, 7, some, namespace=namespace) == order[5::3][:7]
        assert index.wait_until_flushed()
    assert not index._is_off


class TestFollowing:
    def test_it_follows_the_store(self, store: GraphStore, folder: Path) -> None:
        with closing(ChromaIndex(store, folder)) as index:
            write(store, 0, 600)
            check_searches(index, store)
            assert counts(index) == [600]
            write(store, 600, 30)
            store.apply("n", [prepared("bare", "[Bo]")])
            write(store, 700, 5)
            check_searches(index, store)
            assert counts(index) == [635]
            for id in ("0", "704", "300"):
                store.forget("n", Selection(kind="id", value=id))
            store.amend(
                "n",
                AddVectors(
                    model="m", vectors={statement_key(631, 0): encode(RANDOM.normal(size=8))}
                ),
            )
            check_searches(index, store)
            assert counts(index) == [633]
            store.forget("n", Selection(kind="before", value=500))
            check_searches(index, store)

    def test_a_filter_that_many_statements_meet(self, store: GraphStore, folder: Path) -> None:
        """Chroma's nearest are filtered; few statements are compared one by one."""
        for first in range(0, 5_000, 1_000):
            write(store, first, 1_000)
        with closing(ChromaIndex(store, folder)) as index:
            wanted = unit()
            keys(index, store, wanted, 1)
            assert index.wait_until_flushed()
            order = expected(store, wanted)
            most = [key for key in order if (key >> 20) % 10]
            found = keys(index, store, wanted, 10, [key >> 20 for key in most])
            assert len(set(found) & set(most[:10])) >= 9  # Chroma's search is approximate
            assert set(found) <= set(most)
            farthest = order[-300:]
            assert keys(index, store, wanted, 5, [key >> 20 for key in farthest]) == farthest[:5]

    def test_it_catches_up_when_it_is_opened_again(
        self, store: GraphStore, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write(store, 0, 50)
        with closing(ChromaIndex(store, folder)) as index:
            check_searches(index, store)
        write(store, 50, 20)
        store.forget("n", Selection(kind="id", value="7"))
        with closing(ChromaIndex(store, folder)) as index:
            check_searches(index, store)
            assert counts(index) == [69]
        with closing(ChromaIndex(store, folder)) as index:
            monkeypatch.setattr(
                ChromaCollection, "flush", lambda _: pytest.fail("the collection was filled again")
            )
            check_searches(index, store)
            assert counts(index) == [69]

    def test_an_older_reader_brings_back_nothing(self, store: GraphStore, folder: Path) -> None:
        write(store, 0, 5)
        with closing(ChromaIndex(store, folder)) as index:
            check_searches(index, store)
            write(store, 5, 1)
            with store.reader("n", Horizon()) as older:
                state = older.state.vectors
                assert state is not None
                for id in ("5", "2"):
                    store.forget("n", Selection(kind="id", value=id))
                check_searches(index, store)
                view = index.catch_up("n", state, older)
            wanted = unit()
            assert [key for key, _ in view.nearest(wanted, 99)] == expected(store, wanted)
            assert index.wait_until_flushed()
            assert counts(index) == [4]
            check_searches(index, store)
            assert counts(index) == [4]

    def test_a_vector_is_forgotten_while_it_is_moved(self, store: GraphStore, client: Any) -> None:
        """It is written to Chroma after it was forgotten, and deleted again."""
        write(store, 0, 5)

        class Slow:
            def __init__(self, collection: Any) -> None:
                self.collection = collection

            def __getattr__(self, name: str) -> Any:
                return getattr(self.collection, name)

            def upsert(self, **arguments: Any) -> None:
                store.forget("n", Selection(kind="id", value="2"))
                with store.reader("n", Horizon()) as reader:
                    state = reader.state.vectors
                    assert state is not None
                    moved.catch_up(state, reader)
                self.collection.upsert(**arguments)

        collection = client.create_collection(f"slow-{uuid.uuid4()}", embedding_function=None)
        with store.reader("n", Horizon()) as reader:
            state = reader.state.vectors
            assert state is not None
            moved = ChromaCollection(Slow(collection), np.empty(0, np.int64), state)
            moved.catch_up(state, reader)
        moved.flush()
        assert not moved.in_memory
        left = {str(statement_key(t, 0)) for t in (1, 2, 4, 5)}
        assert set(collection.get(include=[])["ids"]) == left
        client.delete_collection(collection.name)

    def test_few_collections_stay_open(
        self, store: GraphStore, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Those used last, and those with vectors to be moved into Chroma."""
        monkeypatch.setattr("recallm.vectors.chroma._MAX_OPEN_COLLECTIONS", 2)
        names = [f"n{place}" for place in range(5)]
        with closing(ChromaIndex(store, folder)) as index:
            for place, name in enumerate(names):
                write(store, 0, 2 + place, name)
                check_searches(index, store, name)
            assert list(index._open) == names[-2:]
            for name in names:
                write(store, 10, 1, name)
                check_searches(index, store, name)
            assert list(index._open) == names[-2:]
            assert sorted(counts(index)) == [3, 4, 5, 6, 7]
            with monkeypatch.context() as patched:
                patched.setattr(index, "_write_later", lambda *_: None)
                for name in names:
                    write(store, 20, 1, name)
                    wanted = unit()
                    assert keys(index, store, wanted, 99, namespace=name) == expected(
                        store, wanted, name
                    )
                assert list(index._open) == names

    def test_namespaces_are_apart(self, store: GraphStore, folder: Path) -> None:
        with closing(ChromaIndex(store, folder)) as index:
            for place, name in enumerate(("n", "it's \x00\"", "ä" * 3_000)):
                write(store, 0, 5 + place, name)
                check_searches(index, store, name)
            assert sorted(counts(index)) == [5, 6, 7]


class TestAfterACrash:
    def cut_short(self, store: GraphStore, folder: Path, where: str) -> None:
        """A process was killed while it moved 30 vectors into a collection of 20."""
        write(store, 0, 20)
        with closing(ChromaIndex(store, folder)) as index:
            check_searches(index, store)
        write(store, 20, 30)
        client: Any = chromadb.PersistentClient(
            str(folder / "chroma"), settings=Settings(anonymized_telemetry=False)
        )
        [collection] = client.list_collections()
        if where == "after upsert":
            with store.reader("n", Horizon()) as reader:
                found = list(
                    reader.vectors(model="m", after=statement_key(20, 0), limit=99).items()
                )
            from recallm.vectors import decode

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
        elif where == "wild":
            collection.modify(metadata={**collection.metadata, "watermark": 1 << 50})
        client.close()

    @pytest.mark.parametrize(
        "where",
        ["before upsert", "after upsert", "before delete", "after delete", "lost", "alien", "wild"],
    )
    def test_it_recovers(self, store: GraphStore, folder: Path, where: str) -> None:
        self.cut_short(store, folder, where)
        with closing(ChromaIndex(store, folder)) as index:
            check_searches(index, store)
            assert counts(index) == [49 if "delete" in where else 50]

    def test_the_folder_was_deleted(self, store: GraphStore, folder: Path) -> None:
        self.cut_short(store, folder, "before upsert")
        shutil.rmtree(folder)
        with closing(ChromaIndex(store, folder)) as index:
            check_searches(index, store)
            assert counts(index) == [50]

    @pytest.mark.parametrize("damage", ["overwritten", "cut off"])
    def test_the_folder_is_damaged(self, store: GraphStore, folder: Path, damage: str) -> None:
        """Chroma's files are deleted and made anew."""
        self.cut_short(store, folder, "before upsert")
        file = folder / "chroma" / "chroma.sqlite3"
        file.write_bytes(b"damaged" * 1000 if damage == "overwritten" else file.read_bytes()[:5000])
        with closing(ChromaIndex(store, folder)) as index:
            check_searches(index, store)
            assert counts(index) == [50]

    @pytest.mark.parametrize("is_damaged", [False, True])
    def test_files_of_the_user_stay(
        self, store: GraphStore, folder: Path, is_damaged: bool
    ) -> None:
        """Another Chroma's among them, also when the index is damaged and made anew."""
        self.cut_short(store, folder, "before upsert")
        own = [folder / "mine.txt", folder / str(uuid.uuid4()) / "mine.txt"]
        own.append(folder / "chroma.sqlite3")
        for file in own:
            file.parent.mkdir(exist_ok=True)
            file.write_text("x")
        if is_damaged:
            (folder / "chroma" / "chroma.sqlite3").write_bytes(b"damaged" * 1000)
        with closing(ChromaIndex(store, folder)) as index:
            check_searches(index, store)
            assert counts(index) == [50]
        assert [file.read_text() for file in own] == ["x", "x", "x"]

    def test_an_index_that_cannot_be_opened_is_made_anew_later(
        self,
        store: GraphStore,
        folder: Path,
        monkeypatch: pytest.MonkeyPatch,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        self.cut_short(store, folder, "before upsert")

        def fails(_: str) -> Any:
            raise OSError(24, "Too many open files")

        with monkeypatch.context() as patched, caplog.at_level(logging.WARNING):
            patched.setattr("recallm.vectors.chroma_folder._client", fails)
            with closing(ChromaIndex(store, folder)) as index:
                wanted = unit()
                assert keys(index, store, wanted, 99) == expected(store, wanted)
                assert index._is_off
        assert "Too many open files" in caplog.text
        assert "searching exactly" in caplog.text
        with closing(ChromaIndex(store, folder)) as index:
            check_searches(index, store)

    def test_another_collection_of_a_client_stays(self, store: GraphStore, folder: Path) -> None:
        client: Any = chromadb.PersistentClient(
            str(folder), settings=Settings(anonymized_telemetry=False)
        )
        client.create_collection("mine").add(ids=["1"], embeddings=[[1.0]])
        write(store, 0, 5)
        with closing(ChromaIndex(store, client)) as index:
            check_searches(index, store)
            index.drop("n", None)
            assert [it.name for it in collections(index)] == ["mine"]
        client.close()

    def test_another_store_s_index_in_the_folder_stays(
        self, store: GraphStore, folder: Path
    ) -> None:
        """Whatever becomes of a namespace with the same name; one that never had vectors does not
        open Chroma at all."""
        write(store, 0, 5)
        with closing(ChromaIndex(store, folder)) as index:
            check_searches(index, store)
            [name] = [it.name for it in collections(index)]
        with closing(SQLiteStore()) as other, closing(ChromaIndex(other, folder)) as index:
            index.drop("n", None)
            assert index._client is None
            write(other, 0, 3)
            check_searches(index, other)
            other.forget("n", Selection(kind="everything", value=True))
            index.drop("n", None)
            assert [it.name for it in collections(index)] == [name]
            assert counts(index) == [5]
            assert not index._is_off

    def test_the_index_of_another_store_is_made_anew(self, tmp_path: Path, folder: Path) -> None:
        """A file that replaced another one, and a copy of the file, both written to since."""
        for _ in range(2):
            path = tmp_path / "memory.db"
            path.unlink(missing_ok=True)
            with closing(SQLiteStore(path)) as store, closing(ChromaIndex(store, folder)) as index:
                write(store, 0, 20)
                check_searches(index, store)
        copy = tmp_path / "copy.db"
        with closing(sqlite3.connect(path)) as one, closing(sqlite3.connect(copy)) as two:
            one.backup(two)
        for each in (path, copy):
            with closing(SQLiteStore(each)) as store, closing(ChromaIndex(store, folder)) as index:
                write(store, 20, 20)
                check_searches(index, store)


class TestClients:
    def test_stores_with_equal_namespaces_share_a_client(self, client: Any) -> None:
        """Clients in memory share their collections; each store has its own."""
        for count in (5, 7):
            with closing(SQLiteStore()) as store, closing(ChromaIndex(store, client)) as index:
                name = "shared"
                write(store, 0, count, name)
                check_searches(index, store, name)
                assert client.heartbeat()

    def test_after_failures_the_search_is_exact(
        self, store: GraphStore, client: Any, caplog: pytest.LogCaptureFixture
    ) -> None:
        write(store, 0, 20)

        class Failing:
            def __getattr__(self, name: str) -> Any:
                raise ConnectionError("nobody answers")

        wanted = unit()
        with caplog.at_level(logging.WARNING):
            index = ChromaIndex(store, Failing())
            assert keys(index, store, wanted, 99) == expected(store, wanted)
            assert index._is_off
        assert caplog.text.count("nobody answers") == 3
        index.close()
        with closing(ChromaIndex(store, client)) as index:
            check_searches(index, store)
            [name] = [it.name for it in collections(index) if it.count() == 20]
            client.delete_collection(name)
            # The one that was open is gone in the middle of it.
            wanted = unit()
            assert keys(index, store, wanted, 99) == expected(store, wanted)
            check_searches(index, store)


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


def test_a_server(store: GraphStore, server: tuple[Any, subprocess.Popen[bytes]]) -> None:
    """The index follows the store on a server; after the server is gone it searches exactly."""
    client, process = server
    write(store, 0, 700)
    with closing(ChromaIndex(store, client)) as index:
        check_searches(index, store)
        store.forget("n", Selection(kind="id", value="3"))
        check_searches(index, store)
        assert counts(index) == [699]
        process.terminate()
        process.wait()
        write(store, 700, 5)
        wanted = unit()
        assert keys(index, store, wanted, 9_999) == expected(store, wanted)
        assert keys(index, store, wanted, 9) == expected(store, wanted)[:9]


class TestMemories:
    def memory(self, path: Path, **arguments: Any) -> RecallM:
        return RecallM(path, embeddings=words, config=NEAREST, vector_index="chroma", **arguments)

    def found(self, memory: RecallM, question: str) -> list[str]:
        return [it.text for it in memory.recall(question, limit=99).statements]

    def index(self, memory: RecallM) -> ChromaIndex:
        assert memory._vectors is not None
        index = memory._vectors._index
        assert isinstance(index, ChromaIndex)
        return index

    def test_forgotten_vectors_leave_chroma_at_once(self, path: Path) -> None:
        with self.memory(path) as memory:
            memory.update("Ann sings songs.", id="a")
            memory.update("Bo reads books.")
            other = memory.in_namespace("other")
            other.update("Cy cooks.")
            assert self.found(memory, "Ann sings") == ["Ann sings songs.", "Bo reads books."]
            assert self.found(other, "Ann") == ["Cy cooks."]
            index = self.index(memory)
            assert index.wait_until_flushed()
            assert sorted(counts(index)) == [1, 2]
            memory.forget(id="a")
            assert counts(index) == [1, 1]
            memory.forget(everything=True)
            assert counts(index) == [1]
            assert self.found(memory, "Ann sings") == []
            memory.update("Di swims.")
            assert self.found(memory, "Ann sings") == ["Di swims."]

    def test_a_deleted_folder_is_made_anew_without_forgotten_vectors(self, path: Path) -> None:
        """Deleted while no index has it open; the new files hold no text."""
        with self.memory(path) as memory:
            memory.update("Ann sings songs.", id="a")
            memory.update("Bo reads books.")
            self.found(memory, "Ann")
            assert self.index(memory).wait_until_flushed()
            memory.forget(id="a")
        folder = Path(f"{path}.chroma")
        shutil.rmtree(folder)
        with self.memory(path) as memory:
            assert self.found(memory, "Ann sings") == ["Bo reads books."]
            assert self.index(memory).wait_until_flushed()
            assert counts(self.index(memory)) == [1]
        files = [file.read_bytes() for file in folder.rglob("*") if file.is_file()]
        assert files
        assert not any(word in content for content in files for word in (b"Ann sings", b"Bo reads"))

    def test_vectors_that_another_process_forgot_leave_at_the_next_recall(self, path: Path) -> None:
        with self.memory(path) as memory, RecallM(path) as plain:
            memory.update("Ann sings songs.", id="a")
            memory.update("Bo reads books.")
            self.found(memory, "Ann")
            index = self.index(memory)
            assert index.wait_until_flushed()
            plain.forget(id="a")
            assert self.found(memory, "Ann sings") == ["Bo reads books."]
            assert counts(index) == [1]
            plain.forget(everything=True)
            assert self.found(memory, "Ann sings") == []
            assert counts(index) == []

    def test_another_model_after_everything_was_forgotten(self, path: Path) -> None:
        with self.memory(path) as memory:
            memory.update("Ann sings songs.")
            self.found(memory, "Ann")
            assert self.index(memory).wait_until_flushed()
        with RecallM(path) as plain:
            plain.forget(everything=True)
        short = Embedding(name="short", embed=lambda given: bag_of_words(given)[:, :16])
        with RecallM(path, embeddings=short, config=NEAREST, vector_index="chroma") as memory:
            memory.update("Bo reads books.")
            assert self.found(memory, "Ann") == ["Bo reads books."]
            assert self.index(memory).wait_until_flushed()
            assert counts(self.index(memory)) == [1]

    def test_two_processes_on_one_file(self, path: Path) -> None:
        """The second one searches exactly; the first one sees what it writes and forgets."""
        script = (
            "import sys; from pathlib import Path\n"
            "from tests.vectors.fakes import words; from recallm import RecallM, RecallConfig\n"
            "with RecallM(Path(sys.argv[1]), embeddings=words, vector_index='chroma',\n"
            "             config=RecallConfig(ranking='vectors')) as memory:\n"
            "    memory.update('Cy cooks rice.')\n"
            "    memory.forget(id='a')\n"
            "    found = memory.recall('Cy', limit=9).statements\n"
            "    print([it.text for it in found], memory._vectors._index._is_off)\n"
        )
        with self.memory(path) as memory:
            memory.update("Ann sings songs.", id="a")
            memory.update("Bo reads books.")
            self.found(memory, "Ann")
            assert self.index(memory).wait_until_flushed()
            done = subprocess.run(
                [sys.executable, "-c", script, str(path)],
                capture_output=True,
                text=True,
                check=True,
            )
            assert done.stdout == "['Bo reads books.', 'Cy cooks rice.'] True\n"
            assert self.found(memory, "Ann") == ["Bo reads books.", "Cy cooks rice."]
            assert self.index(memory).wait_until_flushed()
            assert counts(self.index(memory)) == [2]
            assert not self.index(memory)._is_off
        done = subprocess.run(
            [sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True
        )
        assert done.stdout.endswith("False\n")

    def test_in_any_folder(self, tmp_path: Path) -> None:
        folder = tmp_path / "elsewhere"
        with RecallM(embeddings=words, config=NEAREST, vector_index=folder) as memory:
            memory.update("Ann sings songs.")
            assert self.found(memory, "Ann") == ["Ann sings songs."]
            assert self.index(memory).wait_until_flushed()
        assert (folder / "chroma" / "chroma.sqlite3").exists()

    def test_with_a_client(self, client: Any) -> None:
        name = f"n{uuid.uuid4()}"
        with RecallM(
            embeddings=words, config=NEAREST, vector_index=client, namespace=name
        ) as memory:
            memory.update("Ann sings songs.")
            assert self.found(memory, "Ann") == ["Ann sings songs."]
            assert self.index(memory).wait_until_flushed()
            before = client.count_collections()
            memory.forget(everything=True)
            assert client.count_collections() == before - 1

    def test_a_memory_that_is_not_closed(self, path: Path) -> None:
        """Its process can end."""
        script = (
            "import sys; from pathlib import Path\n"
            "from tests.vectors.fakes import words; from recallm import RecallM\n"
            "memory = RecallM(Path(sys.argv[1]), embeddings=words, vector_index='chroma')\n"
            "memory.update_many([f'Ann sings {n}' for n in range(2000)])\n"
            "print(len(memory.recall('Ann').statements))\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, str(path)], capture_output=True, text=True, timeout=120
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "10\n", "")
        with self.memory(path) as memory:
            assert len(self.found(memory, "Ann")) == 99
            assert self.index(memory).wait_until_flushed()
            assert counts(self.index(memory)) == [2000]


class TestArguments:
    def test_the_places_of_an_index(self, tmp_path: Path, client: Any) -> None:
        assert checked_index(None, None) is None
        assert checked_index("exact", None) is None
        assert checked_index("chroma", "a.db") == Path("a.db.chroma")
        assert checked_index("chroma", tmp_path / "a.db") == tmp_path / "a.db.chroma"
        assert checked_index(tmp_path, None) == tmp_path
        assert checked_index("./vectors", None) == Path("vectors")
        assert checked_index(client, None) is client

    @pytest.mark.parametrize("bad", ["Exact", "", 7, [], True], ids=str)
    def test_other_values_are_refused(self, bad: Any) -> None:
        with pytest.raises(InvalidInputError, match="vector_index must be"):
            RecallM(embeddings=words, vector_index=bad)

    @pytest.mark.parametrize("store", [None, ":memory:", "neo4j://localhost"], ids=str)
    def test_chroma_needs_a_file_to_stand_beside(self, store: Any) -> None:
        with pytest.raises(InvalidInputError, match="beside an SQLite file"):
            RecallM(store, embeddings=words, vector_index="chroma")

    def test_it_needs_embeddings(self) -> None:
        with pytest.raises(InvalidInputError, match="needs embeddings"):
            RecallM(vector_index="exact")

    def test_it_needs_chromadb(self, monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
        monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
        with pytest.raises(MissingDependencyError, match=r"recallm\[chroma\]"):
            RecallM(path, embeddings=words, vector_index="chroma")
        assert not path.exists()


class TestWhatChromaRaises:
    def test_an_interrupt_reaches_the_caller(self) -> None:
        class TimeOut(BaseException):
            """As a signal handler may raise."""

        def interrupted() -> None:
            raise TimeOut

        with pytest.raises(TimeOut):
            chroma_folder.call_chroma(interrupted)

    def test_a_panic_of_its_native_code_is_a_failure(self) -> None:
        panic = type("PanicException", (BaseException,), {"__module__": "pyo3_runtime"})

        def panicking() -> None:
            raise panic("index out of bounds")

        with pytest.raises(chroma_folder.ChromaError, match="index out of bounds"):
            chroma_folder.call_chroma(panicking)
