"""The default model: nearly Chroma's vectors, of integers and without its padding."""

from __future__ import annotations

import io
import os
import shutil
import socket
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from chromadb.utils.embedding_functions import ONNXMiniLM_L6_V2

from recallm import EmbeddingError, RecallConfig, RecallM
from recallm.vectors import minilm
from recallm.vectors.embedding import Embedding
from recallm.vectors.minilm import NAME, mini_lm, model_folder
from tests.test_forks import exit_status, in_child
from tests.tools import skip_for_want_of_a_tool
from tests.vectors.default_model import why_absent

TEXTS = [
    "Ann sings.",
    "",
    " ",
    "ünïcode \U0001f600 \x00 漢字",
    "a long one " * 100,
    "Where does Ingrid live now?",
    *(f"Day {n}: " + "word " * n for n in range(0, 100, 20)),
]


@pytest.fixture(scope="module")
def model() -> Embedding:
    """The model; skips the test if it is not here and cannot be fetched."""
    if (why := why_absent()) is not None:
        pytest.skip(why)
    return mini_lm()


def test_the_vectors_are_nearly_those_of_chroma(model: Embedding) -> None:
    """Texts of words: the cosine of an empty text, or of the same words a hundred times, is .98."""
    ours = model.texts(TEXTS)
    assert model.name == NAME
    assert ours.shape == (len(TEXTS), 384)
    some = [0, 3, 5, 7, 8, 9, 10]
    theirs = np.array(ONNXMiniLM_L6_V2()([TEXTS[place] for place in some]))
    assert (ours[some] * theirs).sum(axis=1).min() > 0.99
    assert ours[5] @ model.question(TEXTS[5]) > 0.999


def test_it_may_be_used_by_several_threads(model: Embedding) -> None:
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(model.texts, [TEXTS[:6]] * 4))
    assert all(np.abs(each - found[0]).max() < 1e-6 for each in found)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_loads_its_own(model: Embedding) -> None:
    """The threads of the parent's session are not in the child."""
    expected = model.texts(TEXTS[:6])

    def work() -> None:
        assert np.abs(model.texts(TEXTS[:6]) - expected).max() < 1e-6

    assert exit_status(in_child(work)) == 0


def test_a_statement_of_the_same_meaning_is_found(model: Embedding) -> None:
    with RecallM(embeddings=model, config=RecallConfig(ranking="vectors")) as memory:
        memory.update_many(["Ingrid settled down in Malaga.", "Bo bought a guitar.", "It rained."])
        found = memory.recall("In which city is her home?", limit=1)
    assert [statement.text for statement in found.statements] == ["Ingrid settled down in Malaga."]


class TestFilesOfTheModel:
    """Only the files that were published are loaded."""

    @pytest.fixture
    def folder(
        self, model: Embedding, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> Iterator[Path]:
        """A copy of the model's folder; the model is loaded from it next."""
        copy = tmp_path / "onnx"
        copy.mkdir()
        for file in minilm.model_folder().iterdir():
            (copy / file.name).symlink_to(file)
        monkeypatch.setattr(minilm, "model_folder", lambda: copy)
        minilm._model_of_process.cache_clear()
        yield copy
        minilm._model_of_process.cache_clear()

    def test_a_damaged_file_is_refused(self, folder: Path) -> None:
        """And the same memory works after the file is restored."""
        file = folder / "tokenizer.json"
        published, content = file.readlink(), file.read_bytes()
        middle = len(content) // 2
        with RecallM(embeddings="default") as memory:
            for damaged in (
                b"",
                content[:middle],
                content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :],
                b"{}",
                content + b"\n",
            ):
                file.unlink()
                file.write_bytes(damaged)
                with pytest.raises(EmbeddingError) as refused:
                    memory.update("Ann sings.")
                assert str(refused.value).startswith(f"{file} ({len(damaged):,} bytes) is damaged")
                assert "delete the file" in str(refused.value)
                assert memory.stats().passages == 0
            file.unlink()
            file.symlink_to(published)
            (folder / "model.onnx").unlink()
            (folder / "model.onnx").write_bytes(b"{}")
            with pytest.raises(EmbeddingError, match=r"model\.onnx \(2 bytes\) is damaged"):
                memory.update("Ann sings.")
            (folder / "model.onnx").unlink()
            (folder / "model.onnx").symlink_to(published.with_name("model.onnx"))
            memory.update("Ann sings.")
            assert "Ann sings." in memory.recall("Who sings?").text

    def test_a_file_that_cannot_be_read_is_named(self, folder: Path) -> None:
        (folder / "model.onnx").unlink()
        (folder / "model.onnx").mkdir()
        with pytest.raises(EmbeddingError, match=r"cannot be read: .*model\.onnx"):
            mini_lm().question("Who sings?")


class TestFetching:
    """The model's archive is fetched if its files are missing."""

    FILES: ClassVar = {"model.onnx": b"model" * 1000, "tokenizer.json": b"{}", "vocab.txt": b"a"}

    @pytest.fixture
    def folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """The model's folder of a user who has none; an archive of small files is published."""
        archive = tmp_path / "published.tar.gz"
        with tarfile.open(archive, "w:gz") as tar:
            for name, content in self.FILES.items():
                member = tarfile.TarInfo(f"onnx/{name}")
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
        loaded = ("model.onnx", "tokenizer.json")
        digests = {name: sha256(self.FILES[name]).hexdigest() for name in loaded}
        monkeypatch.setattr(minilm, "_FILE_SHA256", digests)
        monkeypatch.setattr(minilm, "_ARCHIVE_SHA256", sha256(archive.read_bytes()).hexdigest())
        monkeypatch.setattr(minilm, "_ARCHIVE_URL", archive.as_uri())
        home = tmp_path / "home"
        monkeypatch.setattr(Path, "home", lambda: home)
        return model_folder()

    def test_the_files_are_stored_where_chroma_looks_for_them(self, folder: Path) -> None:
        chroma_folder = ONNXMiniLM_L6_V2.DOWNLOAD_PATH / ONNXMiniLM_L6_V2.EXTRACTED_FOLDER_NAME
        assert folder.parts[-5:] == chroma_folder.parts[-5:]
        assert minilm.verified_file("model.onnx") == folder / "model.onnx"
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == self.FILES
        assert [path.name for path in folder.parent.iterdir()] == ["onnx"]

    def test_existing_files_stay_and_are_not_fetched(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder.mkdir(parents=True)
        (folder / "vocab.txt").write_bytes(b"other")
        minilm.verified_file("tokenizer.json")
        assert (folder / "vocab.txt").read_bytes() == b"other"
        assert (folder / "model.onnx").read_bytes() == self.FILES["model.onnx"]
        monkeypatch.setattr(minilm, "_ARCHIVE_URL", "http://127.0.0.1:9/nowhere")
        minilm.verified_file("model.onnx")

    def test_another_archive_is_refused(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(minilm, "_ARCHIVE_SHA256", "0" * 64)
        with pytest.raises(EmbeddingError, match="is not the archive of the model"):
            minilm.verified_file("model.onnx")
        assert not list(folder.iterdir())
        assert [path.name for path in folder.parent.iterdir()] == ["onnx"]

    def test_without_a_connection_the_error_says_what_to_do(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(minilm, "_ARCHIVE_URL", "http://127.0.0.1:9/nowhere")
        minilm._model_of_process.cache_clear()
        with pytest.raises(EmbeddingError, match="cannot be fetched") as refused:
            mini_lm().question("Who sings?")
        assert str(folder) in str(refused.value)
        assert "copy model.onnx and tokenizer.json into that folder" in str(refused.value)

    def test_a_connection_that_breaks_off_stores_nothing(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            monkeypatch.setattr(minilm, "_ARCHIVE_URL", f"http://127.0.0.1:{port}/onnx.tar.gz")

            def answer() -> None:
                connection, _ = server.accept()
                with connection:
                    connection.recv(4096)
                    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf")

            with ThreadPoolExecutor(1) as pool:
                pool.submit(answer)
                with pytest.raises(EmbeddingError, match=str(port)):
                    minilm.verified_file("model.onnx")
        assert not list(folder.iterdir())


RUN = """
import sys, time
from recallm import RecallM

with RecallM("plain.db", embeddings="default") as memory:
    memory.update("Ann sings.")
    assert memory.recall("Who is a singer?").text == "Ann sings."
assert "onnxruntime" in sys.modules and "chromadb" not in sys.modules
with RecallM("memory.db", embeddings="default", vector_index="chroma") as memory:
    memory.update("Ann sings.")
    assert memory.recall("Who is a singer?").text == "Ann sings."
    time.sleep(float(sys.argv[1]))
"""


@pytest.mark.slow
class TestTelemetry:
    """The model reports to nobody, and imports no Chroma by itself."""

    @pytest.fixture
    def home(self, model: Embedding, tmp_path: Path) -> Path:
        """A user's folder that holds the model and nothing else."""
        copy = tmp_path / model_folder().relative_to(Path.home())
        copy.parent.mkdir(parents=True)
        copy.symlink_to(model_folder())
        return tmp_path

    def run(self, home: Path, *, under: tuple[str, ...] = (), seconds: float = 0) -> None:
        # ONNX Runtime reports nothing where it sees the variables of a CI: none of ours is passed.
        here = Path(__file__).parents[2]
        environment = {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": str(here)}
        command = [*under, sys.executable, "-c", RUN, str(seconds)]
        done = subprocess.run(
            command, cwd=home, env=environment, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr

    def test_no_device_id_is_written(self, home: Path) -> None:
        self.run(home)
        assert [path.name for path in (home / ".cache").iterdir()] == ["chroma"]

    @pytest.mark.nightly
    def test_nothing_is_sent(self, home: Path) -> None:
        """ONNX Runtime asks for Microsoft's address 8 seconds after the model is loaded."""
        strace = shutil.which("strace")
        if strace is None:
            skip_for_want_of_a_tool("strace is not installed: apt-get install strace")
        calls = home / "calls"
        traced = "trace=connect,sendto,sendmsg,sendmmsg"
        self.run(home, under=(strace, "-f", "-qq", "-e", traced, "-o", str(calls)), seconds=12)
        sent = [line for line in calls.read_text().splitlines() if "AF_INET" in line]
        assert sent == []
