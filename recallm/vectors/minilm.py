"""The default embedding: all-MiniLM-L6-v2 on ``tokenizers`` and ONNX Runtime.

The files are those that Chroma publishes for its own default embedding, kept in the folder where
Chroma keeps them, so that either finds what the other fetched. The vectors are nearly Chroma's
(cosines of about 0.999), but computed faster: the matrix products are of eight-bit integers, and
texts of similar length form a batch, which is padded to its longest text only; Chroma pads every
text to 256 tokens. Both cut a text off after 256 tokens.

ONNX Runtime reports to Microsoft from its import on: it writes a device id and a database into the
user's cache folder, and connects some seconds later. Only the environment variable, set before the
import, prevents both; ``disable_telemetry_events`` is called after it, and comes too late.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import tempfile
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from recallm.errors import EmbeddingError, MissingDependencyError
from recallm.ground.forking import keep_for_good, new_loading_lock
from recallm.vectors.arrays import Rows
from recallm.vectors.embedding import Embedding

NAME = "all-MiniLM-L6-v2"

DIMENSION = 384

_ARCHIVE_URL = "https://chroma-onnx-models.s3.amazonaws.com/all-MiniLM-L6-v2/onnx.tar.gz"
_ARCHIVE_SHA256 = "913d7300ceae3b2dbc2c50d1de4baacab4be7b9380491c27fab7418616a16ec3"

_FILE_SHA256: Mapping[str, str] = {
    "model.onnx": "4735daca5ef8871b8ab40e0367556cfe417a3936dbc9cdb629232d3f86eeb706",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
"""The files that are loaded. They are verified at each load: Chroma verifies its archive only."""

_INTEGER_GRAPH = files("recallm.vectors").joinpath("data", "minilm_int8.onnx")
"""The model's graph with matrix products of integers, made by ``training.minilm``. Its weights are
those of ``model.onnx``, which ONNX Runtime reads and rounds when it loads the graph."""

_TIMEOUT = 30.0
"""Seconds without a byte after which a download has failed."""

_MAX_TOKENS = 256
_BATCH_SIZE = 64


def mini_lm() -> Embedding:
    """The default model. It is loaded, and fetched if this machine does not have it (80 MB), when
    it is first used; an ``EmbeddingError`` tells then if it cannot be fetched or is damaged.

    Raises:
        MissingDependencyError: tokenizers or onnxruntime is not installed.

    """
    for package in ("tokenizers", "onnxruntime"):
        if importlib.util.find_spec(package) is None:
            raise MissingDependencyError(package, extra="embeddings")
    return Embedding(name=NAME, embed=_embed)


def _embed(texts: list[str]) -> Rows:
    return _load()(texts)


def model_folder() -> Path:
    """The folder of the model's files: the one that Chroma uses."""
    return Path.home() / ".cache" / "chroma" / "onnx_models" / NAME / "onnx"


def load_tokenizer() -> Any:
    """The model's ``tokenizers.Tokenizer``: no padding, texts cut off after 256 tokens.

    Raises:
        EmbeddingError: the file is not here and cannot be fetched, or it is damaged.

    """
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(verified_file("tokenizer.json")))
    tokenizer.enable_truncation(max_length=_MAX_TOKENS)
    tokenizer.no_padding()
    return tokenizer


def load_session(model: bytes | None = None) -> Any:
    """The model as an ``onnxruntime.InferenceSession``: its graph with integers, or the ONNX file
    ``model`` in place of that.

    Raises:
        EmbeddingError: the file is not here and cannot be fetched, or it is damaged.

    """
    # ONNX Runtime reads no weights through a link out of the folder that it is given.
    weights = verified_file("model.onnx").resolve()
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    onnxruntime.disable_telemetry_events()  # the application may have imported it earlier
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # errors only
    # Threads that wait for work would take whole cores from extraction, which runs beside them.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry(
        "session.model_external_initializers_file_folder_path", str(weights.parent)
    )
    return onnxruntime.InferenceSession(
        model or _INTEGER_GRAPH.read_bytes(), options, providers=["CPUExecutionProvider"]
    )


class _MiniLM:
    """The loaded model. Safe for threads."""

    def __init__(self) -> None:
        self._tokenizer = load_tokenizer()
        self._session = load_session()

    def __call__(self, texts: list[str]) -> Rows:
        """Unit vectors, of shape (number of texts, 384)."""
        tokens = [encoded.ids for encoded in self._tokenizer.encode_batch(texts)]
        by_length = sorted(range(len(tokens)), key=lambda place: len(tokens[place]))
        vectors = np.empty((len(texts), DIMENSION), np.float32)
        for start in range(0, len(by_length), _BATCH_SIZE):
            places = by_length[start : start + _BATCH_SIZE]
            vectors[places] = self._embed_batch([tokens[place] for place in places])
        return vectors

    def _embed_batch(self, tokens: list[list[int]]) -> Rows:
        """The mean of the hidden states of each text's tokens, as a unit vector."""
        lengths = np.array([len(ids) for ids in tokens])
        mask = np.arange(lengths.max())[None, :] < lengths[:, None]
        padded = np.zeros(mask.shape, np.int64)
        padded[mask] = np.concatenate(tokens)
        hidden: Rows = self._session.run(
            None,
            {
                "input_ids": padded,
                "attention_mask": mask.astype(np.int64),
            },
        )[0]
        means = np.einsum("ntd,nt->nd", hidden, mask.astype(np.float32)) / lengths[:, None]
        return np.asarray(means / np.linalg.norm(means, axis=1, keepdims=True))


_load_lock = new_loading_lock()


def _load() -> _MiniLM:
    with _load_lock:
        return _model_of_process(os.getpid())


@cache
def _model_of_process(process: int) -> _MiniLM:
    """Each process loads its own model: ONNX Runtime's threads do not exist in a forked child,
    which would wait for them for ever, in the destructor of the parent's model too."""
    del process
    model = _MiniLM()
    keep_for_good(model)
    return model


def verified_file(name: str) -> Path:
    """A file of the model, fetched if it is missing; its SHA-256 is verified.

    Raises:
        EmbeddingError: the file is not here and cannot be fetched, or it is damaged.

    """
    path = model_folder() / name
    if not path.exists():
        _fetch(path.parent)
    expected = _FILE_SHA256[name]
    try:
        found, size = _sha256(path), path.stat().st_size
    except OSError as error:
        raise EmbeddingError(f"a file of the model {NAME} cannot be read: {error}") from error
    if found != expected:
        raise EmbeddingError(
            f"{path} ({size:,} bytes) is damaged or was replaced: its SHA-256 is {found}, that of "
            f"the model {NAME} is {expected}; delete the file, and the model is fetched anew when "
            "it is next used"
        )
    return path


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _fetch(folder: Path) -> None:
    """Download the archive and put the files that ``folder`` lacks into it. Each appears there
    complete or not at all, so that several processes may fetch at once."""
    # Imported for a download only: they are many modules.
    import http.client
    import tarfile

    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".fetching-") as temporary:
            archive = Path(temporary, "onnx.tar.gz")
            _download(archive)
            with tarfile.open(archive) as tar:
                for member in tar:
                    # Only the name's last part counts: no member can leave the folder.
                    target = folder / Path(member.name).name
                    content = tar.extractfile(member)  # None for a folder
                    if content is not None and not target.exists():
                        partial = Path(temporary, target.name)
                        partial.write_bytes(content.read())
                        partial.replace(target)
    except (OSError, http.client.HTTPException) as error:
        raise EmbeddingError(
            f"the model {NAME} is not in {folder} and cannot be fetched from {_ARCHIVE_URL}: "
            f"{error}; try again with a connection, copy {' and '.join(_FILE_SHA256)} into that "
            "folder from a machine that has them, or give another embedding model"
        ) from error


def _download(archive: Path) -> None:
    import urllib.request

    with urllib.request.urlopen(_ARCHIVE_URL, timeout=_TIMEOUT) as response:
        size = int(response.headers.get("Content-Length") or 0) or None
        # disable=None: the bar is shown on terminals only.
        with (
            tqdm.wrapattr(
                response, "read", total=size, desc=f"fetching {NAME}", disable=None
            ) as stream,
            archive.open("wb") as file,
        ):
            shutil.copyfileobj(stream, file)
    found = _sha256(archive)
    if found != _ARCHIVE_SHA256:
        raise EmbeddingError(
            f"what {_ARCHIVE_URL} gave ({archive.stat().st_size:,} bytes) is not the archive of "
            f"the model {NAME}: its SHA-256 is {found}, not {_ARCHIVE_SHA256}; nothing was stored"
        )
