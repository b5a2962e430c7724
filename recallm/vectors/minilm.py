"""Embedding models as files, on ``tokenizers`` and ONNX Runtime: the default one, which the package
``recallm-minilm`` holds, and models in folders of the user. Nothing is fetched.

Texts of similar length form a batch, which is padded to its longest text only. A text is cut off
after 256 tokens.

ONNX Runtime reports to Microsoft from its import on: it writes a device id and a database into the
user's cache folder, and connects some seconds later. Only the environment variable, set before the
import, prevents both; ``disable_telemetry_events`` is called after it, and comes too late.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from recallm.errors import EmbeddingError, InvalidInputError, MissingDependencyError
from recallm.ground.forking import keep_for_good, new_loading_lock
from recallm.vectors.arrays import Rows
from recallm.vectors.embedding import Embedding

NAME = "all-MiniLM-L6-v2"

_FILES = ("model.onnx", "tokenizer.json")
_MAX_TOKENS = 256
_BATCH_SIZE = 64


def mini_lm() -> Embedding:
    """The default model. It is loaded when it is first used; an ``EmbeddingError`` tells then if
    its files are damaged.

    Raises:
        MissingDependencyError: recallm-minilm, tokenizers or onnxruntime is not installed.

    """
    _check_installed("recallm-minilm", "tokenizers", "onnxruntime")
    import recallm_minilm

    return Embedding(name=NAME, embed=partial(_embed, recallm_minilm.FOLDER))


def model_in(folder: Path) -> Embedding:
    """The model in a folder that has ``model.onnx`` and ``tokenizer.json``. The vector of a text is
    the mean of what the model gives for its tokens, as in most models of Sentence Transformers. The
    name of the model has the SHA-256 of its file, so that two models in one place differ.

    Raises:
        InvalidInputError: the folder lacks one of the files.
        MissingDependencyError: tokenizers or onnxruntime is not installed.

    """
    for name in _FILES:
        if not (folder / name).is_file():
            raise InvalidInputError(
                f"there is no embedding model in {folder}: it must hold {' and '.join(_FILES)}; "
                "the model that comes with the extra 'embeddings' is embeddings='default'",
                argument="embeddings",
            )
    _check_installed("tokenizers", "onnxruntime")
    digest = _sha256(folder / "model.onnx")[:16]
    return Embedding(name=f"{folder.name}#{digest}", embed=partial(_embed, folder))


def _check_installed(*packages: str) -> None:
    for package in packages:
        if importlib.util.find_spec(package.replace("-", "_")) is None:
            raise MissingDependencyError(package, extra="embeddings")


def load_tokenizer(folder: Path) -> Any:
    """The ``tokenizers.Tokenizer`` in a folder: no padding, texts cut off after 256 tokens."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(max_length=_MAX_TOKENS)
    tokenizer.no_padding()
    return tokenizer


def load_session(model: Path | bytes) -> Any:
    """A model, a file or its content, as an ``onnxruntime.InferenceSession``."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    onnxruntime.disable_telemetry_events()  # the application may have imported it earlier
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # errors only
    # Threads that wait for work would take whole cores from extraction, which runs beside them.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def token_ids(tokens: list[list[int]]) -> dict[str, np.ndarray[Any, np.dtype[np.int64]]]:
    """The tokens of each text as the inputs of a model, of shape (texts, longest text)."""
    lengths = np.array([len(ids) for ids in tokens])
    mask = np.arange(lengths.max())[None, :] < lengths[:, None]
    padded = np.zeros(mask.shape, np.int64)
    padded[mask] = np.concatenate(tokens)
    return {
        "input_ids": padded,
        "attention_mask": mask.astype(np.int64),
        "token_type_ids": np.zeros_like(padded),
    }


class _Model:
    """A loaded model. Safe for threads."""

    def __init__(self, folder: Path) -> None:
        self._tokenizer = load_tokenizer(folder)
        self._session = load_session(folder / "model.onnx")
        self._inputs = [each.name for each in self._session.get_inputs()]

    def __call__(self, texts: list[str]) -> Rows:
        """Unit vectors, a row for each text."""
        tokens = [encoded.ids for encoded in self._tokenizer.encode_batch(texts)]
        by_length = sorted(range(len(tokens)), key=lambda place: len(tokens[place]))
        batches = [by_length[i : i + _BATCH_SIZE] for i in range(0, len(tokens), _BATCH_SIZE)]
        rows = [self._embed_batch([tokens[place] for place in batch]) for batch in batches]
        return np.asarray(np.concatenate(rows)[np.argsort(by_length)])

    def _embed_batch(self, tokens: list[list[int]]) -> Rows:
        """The mean of the hidden states of each text's tokens, as a unit vector."""
        given = token_ids(tokens)
        mask = given["attention_mask"]
        hidden: Rows = self._session.run(None, {name: given[name] for name in self._inputs})[0]
        sums = np.einsum("ntd,nt->nd", hidden, mask.astype(np.float32))
        means = sums / mask.sum(axis=1)[:, None]
        return np.asarray(means / np.linalg.norm(means, axis=1, keepdims=True), np.float32)


_load_lock = new_loading_lock()


def _embed(folder: Path, texts: list[str]) -> Rows:
    with _load_lock:
        model = _model_of_process(os.getpid(), folder)
    return model(texts)


@cache
def _model_of_process(process: int, folder: Path) -> _Model:
    """Each process loads its own model: ONNX Runtime's threads do not exist in a forked child,
    which would wait for them for ever, in the destructor of the parent's model too."""
    del process
    _verify(folder)
    model = _Model(folder)
    keep_for_good(model)
    return model


def _verify(folder: Path) -> None:
    """Compare the files of ``folder`` with its ``SHA256SUMS``, where it has that file.

    Raises:
        EmbeddingError: a file is damaged, or cannot be read.

    """
    sums = folder / "SHA256SUMS"
    for line in sums.read_text(encoding="ascii").splitlines() if sums.is_file() else ():
        expected, name = line.split()
        path = folder / name
        try:
            found, size = _sha256(path), path.stat().st_size
        except OSError as error:
            raise EmbeddingError(f"a file of the model cannot be read: {error}") from error
        if found != expected:
            raise EmbeddingError(
                f"{path} ({size:,} bytes) is damaged or was replaced: its SHA-256 is {found}, not "
                f"{expected}; put the original file there (of {NAME}: "
                "pip install --force-reinstall --no-deps recallm-minilm)"
            )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
