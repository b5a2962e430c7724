"""The default model, and a user's own: files of this machine, and no network."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import recallm_minilm
from chromadb.utils.embedding_functions import ONNXMiniLM_L6_V2

from recallm import EmbeddingError, InvalidInputError, RecallConfig, RecallM
from recallm.vectors import minilm
from recallm.vectors.embedding import Embedding
from recallm.vectors.minilm import NAME, mini_lm
from tests.test_forks import exit_status
from tests.tools import in_child, skip_for_want_of_a_tool

TEXTS = [
    "Ann sings.",
    "",
    " ",
    "ünïcode \U0001f600 \x00 漢字",
    "a long one " * 100,
    "Where does Ingrid live now?",
    *(f"Day {n}: " + "word " * n for n in range(0, 100, 20)),
]


PUBLISHED = ONNXMiniLM_L6_V2.DOWNLOAD_PATH / ONNXMiniLM_L6_V2.EXTRACTED_FOLDER_NAME
"""Where Chroma keeps the model as published, if Chroma has fetched it."""


@pytest.fixture
def model() -> Embedding:
    return mini_lm()


@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="Chroma has not fetched its model")
def test_the_vectors_are_nearly_those_of_chroma(model: Embedding) -> None:
    """Texts of words: the cosine of an empty text, or of the same words a hundred times, is .98. A
    processor without VNNI cuts off some sums of bytes: .989."""
    ours = model.texts(TEXTS)
    assert model.name == NAME
    assert ours.shape == (len(TEXTS), 384)
    some = [0, 3, 5, 7, 8, 9, 10]
    theirs = np.array(ONNXMiniLM_L6_V2()([TEXTS[place] for place in some]))
    assert (ours[some] * theirs).sum(axis=1).min() > 0.985
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
    @pytest.fixture
    def folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
        """A copy of the model's folder; the default model is loaded from it next."""
        copy = shutil.copytree(recallm_minilm.FOLDER, tmp_path / "model")
        monkeypatch.setattr(recallm_minilm, "FOLDER", copy)
        yield copy
        minilm._model_of_process.cache_clear()

    def test_a_damaged_file_is_refused(self, folder: Path) -> None:
        """And the same memory works after the file is restored."""
        file = folder / "tokenizer.json"
        content = file.read_bytes()
        changed = bytes([content[0] ^ 1]) + content[1:]
        with RecallM(embeddings="default") as memory:
            for damaged in (b"", changed, content + b"\n"):
                file.write_bytes(damaged)
                with pytest.raises(EmbeddingError) as refused:
                    memory.update("Ann sings.")
                assert str(refused.value).startswith(f"{file} ({len(damaged):,} bytes) is damaged")
                assert "--no-deps recallm-minilm" in str(refused.value)
                assert memory.stats().passages == 0
            file.unlink()
            with pytest.raises(EmbeddingError, match=r"cannot be read: .*tokenizer\.json"):
                memory.update("Ann sings.")
            file.write_bytes(content)
            memory.update("Ann sings.")
            assert "Ann sings." in memory.recall("Who sings?").text

    def test_a_folder_of_a_user_is_a_model(self, model: Embedding, folder: Path) -> None:
        """Under the name of its file, so that the vectors of two models are never compared."""
        memory = RecallM(embeddings=str(folder))
        memory.update("Ann sings.")
        assert memory.embedding is not None
        assert memory.embedding.name == f"model#{(folder / 'SHA256SUMS').read_text()[:16]}"
        assert np.array_equal(memory.embedding.texts(TEXTS), model.texts(TEXTS))
        (folder / "model.onnx").unlink()
        with pytest.raises(InvalidInputError, match=r"must hold model\.onnx and tokenizer\.json"):
            RecallM(embeddings=folder)


RUN = """
import socket, sys, time
from recallm import RecallM

def refuse(*arguments):
    raise AssertionError(f"asks the network: {arguments}")

socket.socket.connect = socket.getaddrinfo = refuse

with RecallM("plain.db", embeddings="default") as memory:
    memory.update("Ann sings.")
    assert memory.recall("Who is a singer?").text == "Ann sings."
assert "onnxruntime" in sys.modules and "chromadb" not in sys.modules
time.sleep(float(sys.argv[1]))
"""


@pytest.mark.slow
class TestNetwork:
    """The model fetches nothing and reports to nobody, and imports no Chroma."""

    def run(self, home: Path, *, under: tuple[str, ...] = (), seconds: float = 0) -> None:
        # ONNX Runtime reports nothing where it sees the variables of a CI: none of ours is passed.
        here = Path(__file__).parents[2]
        environment = {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": str(here)}
        command = [*under, sys.executable, "-c", RUN, str(seconds)]
        done = subprocess.run(
            command, cwd=home, env=environment, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr

    def test_nothing_is_fetched_or_written_beside_the_memory(self, tmp_path: Path) -> None:
        self.run(tmp_path)
        assert {path.name.split(".")[0] for path in tmp_path.iterdir()} == {"plain"}

    @pytest.mark.nightly
    def test_nothing_is_sent(self, tmp_path: Path) -> None:
        """ONNX Runtime asks for Microsoft's address 8 seconds after the model is loaded."""
        strace = shutil.which("strace")
        if strace is None:
            skip_for_want_of_a_tool("strace is not installed: apt-get install strace")
        calls = tmp_path / "calls"
        traced = "trace=connect,sendto,sendmsg,sendmmsg"
        self.run(tmp_path, under=(strace, "-f", "-qq", "-e", traced, "-o", str(calls)), seconds=12)
        sent = [line for line in calls.read_text().splitlines() if "AF_INET" in line]
        assert sent == []
