"""A memory with a Chroma index: its recalls, what leaves Chroma, where the index lies."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest

from recallm import InvalidInputError, MissingDependencyError, RecallConfig, RecallM
from recallm.vectors import Embedding
from recallm.vectors.arguments import checked_index
from recallm.vectors.chroma import ChromaIndex
from tests.vectors.fakes import bag_of_words, words
from tests.vectors.random_vectors import collection_sizes

NEAREST = RecallConfig(ranking="vectors")


def open_memory(path: Path, **arguments: Any) -> RecallM:
    return RecallM(path, embeddings=words, config=NEAREST, vector_index="chroma", **arguments)


def recalled_texts(memory: RecallM, question: str) -> list[str]:
    return [statement.text for statement in memory.recall(question, limit=99).statements]


def chroma_index(memory: RecallM) -> ChromaIndex:
    assert memory._opened.vectors is not None
    index = memory._opened.vectors._index
    assert isinstance(index, ChromaIndex)
    return index


def test_forgotten_vectors_leave_chroma_at_once(path: Path) -> None:
    with open_memory(path) as memory:
        memory.update("Ann sings songs.", id="a")
        memory.update("Bo reads books.")
        other = memory.in_namespace("other")
        other.update("Cy cooks.")
        assert recalled_texts(memory, "Ann sings") == ["Ann sings songs.", "Bo reads books."]
        assert recalled_texts(other, "Ann") == ["Cy cooks."]
        index = chroma_index(memory)
        assert sorted(collection_sizes(index)) == [1, 2]
        memory.forget(id="a")
        assert collection_sizes(index) == [1, 1]
        memory.forget(everything=True)
        assert collection_sizes(index) == [1]
        assert recalled_texts(memory, "Ann sings") == []
        memory.update("Di swims.")
        assert recalled_texts(memory, "Ann sings") == ["Di swims."]


def test_a_deleted_folder_is_made_anew_without_forgotten_vectors(path: Path) -> None:
    """Deleted while no index has it open; the new files hold no text."""
    with open_memory(path) as memory:
        memory.update("Ann sings songs.", id="a")
        memory.update("Bo reads books.")
        recalled_texts(memory, "Ann")
        memory.forget(id="a")
    folder = Path(f"{path}.chroma")
    shutil.rmtree(folder)
    with open_memory(path) as memory:
        assert recalled_texts(memory, "Ann sings") == ["Bo reads books."]
        assert collection_sizes(chroma_index(memory)) == [1]
    files = {file.name: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    assert files
    said = re.compile(rb".{0,40}(?:Ann sings|Bo reads).{0,40}", re.DOTALL)
    assert {name: said.findall(held) for name, held in files.items() if said.search(held)} == {}


def test_vectors_that_another_process_forgot_leave_at_the_next_recall(path: Path) -> None:
    with open_memory(path) as memory, RecallM(path) as plain:
        memory.update("Ann sings songs.", id="a")
        memory.update("Bo reads books.")
        recalled_texts(memory, "Ann")
        index = chroma_index(memory)
        plain.forget(id="a")
        assert recalled_texts(memory, "Ann sings") == ["Bo reads books."]
        assert collection_sizes(index) == [1]
        plain.forget(everything=True)
        assert recalled_texts(memory, "Ann sings") == []
        assert collection_sizes(index) == []


def test_another_model_after_everything_was_forgotten(path: Path) -> None:
    with open_memory(path) as memory:
        memory.update("Ann sings songs.")
        recalled_texts(memory, "Ann")
    with RecallM(path) as plain:
        plain.forget(everything=True)
    short = Embedding(name="short", embed=lambda given: bag_of_words(given)[:, :16])
    with RecallM(path, embeddings=short, config=NEAREST, vector_index="chroma") as memory:
        memory.update("Bo reads books.")
        assert recalled_texts(memory, "Ann") == ["Bo reads books."]
        assert collection_sizes(chroma_index(memory)) == [1]


@pytest.mark.slow
def test_two_processes_on_one_file(path: Path) -> None:
    """The second one searches exactly; the first one sees what it writes and forgets."""
    script = (
        "import sys; from pathlib import Path\n"
        "from tests.vectors.fakes import words; from recallm import RecallM, RecallConfig\n"
        "with RecallM(Path(sys.argv[1]), embeddings=words, vector_index='chroma',\n"
        "             config=RecallConfig(ranking='vectors')) as memory:\n"
        "    memory.update('Cy cooks rice.')\n"
        "    memory.forget(id='a')\n"
        "    found = memory.recall('Cy', limit=9).statements\n"
        "    print([it.text for it in found], memory._opened.vectors._index._is_off)\n"
    )
    with open_memory(path) as memory:
        memory.update("Ann sings songs.", id="a")
        memory.update("Bo reads books.")
        recalled_texts(memory, "Ann")
        done = subprocess.run(
            [sys.executable, "-c", script, str(path)],
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == "['Bo reads books.', 'Cy cooks rice.'] True\n"
        assert recalled_texts(memory, "Ann") == ["Bo reads books.", "Cy cooks rice."]
        assert collection_sizes(chroma_index(memory)) == [2]
        assert not chroma_index(memory)._is_off
    with open_memory(path) as memory:
        assert recalled_texts(memory, "Ann") == ["Bo reads books.", "Cy cooks rice."]
        assert not chroma_index(memory)._is_off


def test_in_any_folder(tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    with RecallM(embeddings=words, config=NEAREST, vector_index=folder) as memory:
        memory.update("Ann sings songs.")
        assert recalled_texts(memory, "Ann") == ["Ann sings songs."]
    assert (folder / "chroma" / "chroma.sqlite3").exists()


def test_with_a_client(client: Any) -> None:
    name = f"n{uuid.uuid4()}"
    with RecallM(embeddings=words, config=NEAREST, vector_index=client, namespace=name) as memory:
        memory.update("Ann sings songs.")
        assert recalled_texts(memory, "Ann") == ["Ann sings songs."]
        before = client.count_collections()
        memory.forget(everything=True)
        assert client.count_collections() == before - 1


def test_the_places_of_an_index(tmp_path: Path, client: Any) -> None:
    assert checked_index(None, None) is None
    assert checked_index("exact", None) is None
    assert checked_index("chroma", "a.db") == Path("a.db.chroma")
    assert checked_index("chroma", tmp_path / "a.db") == tmp_path / "a.db.chroma"
    assert checked_index(tmp_path, None) == tmp_path
    assert checked_index("./vectors", None) == Path("vectors")
    assert checked_index(client, None) is client


def test_what_is_refused(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    bad: Any
    for bad in ("Exact", "", 7, [], True):
        with pytest.raises(InvalidInputError, match="vector_index must be"):
            RecallM(embeddings=words, vector_index=bad)
    for store in (None, ":memory:", "neo4j://localhost"):
        with pytest.raises(InvalidInputError, match="beside an SQLite file"):
            RecallM(store, embeddings=words, vector_index="chroma")
    with pytest.raises(InvalidInputError, match="needs embeddings"):
        RecallM(vector_index="exact")
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(MissingDependencyError, match=r"recallm-memory\[chroma\]"):
        RecallM(path, embeddings=words, vector_index="chroma")
    assert not path.exists()
