"""The training of the default embedding's graph of integers."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
from chromadb.utils.embedding_functions import ONNXMiniLM_L6_V2

from recallm.vectors.minilm import mini_lm, model_in
from training.minilm.__main__ import write_checksums
from training.minilm.fitting import Inputs, fitted
from training.minilm.graph import KINDS, Rounding, products, quantised, rounded, weights_of

PUBLISHED = ONNXMiniLM_L6_V2.DOWNLOAD_PATH / ONNXMiniLM_L6_V2.EXTRACTED_FOLDER_NAME


def test_a_column_far_beyond_the_others_is_left_out() -> None:
    chance = np.random.default_rng(0)
    sample = chance.normal(size=(200, 64)).astype(np.float32)
    matrix = chance.normal(size=(64, 16)).astype(np.float32)
    sample[:, 7] *= 30
    matrix[7] *= 10
    inputs = Inputs(sample.min(axis=0), sample.max(axis=0), sample)
    rounding, error = fitted(inputs, matrix, may_be_exact=True)
    assert rounding.exact == (7,)
    assert rounding.factors[7] == 0
    assert error < 0.001
    rounding, _ = fitted(inputs, matrix, may_be_exact=False)
    assert rounding.exact == ()
    assert rounding.factors.min() > 0


def test_rounded_weights_keep_their_scale() -> None:
    matrix = np.array([[1.0, -200.0], [0.5, 100.0]], np.float32)
    steps, scales = rounded(matrix, axis=0)
    assert steps.tolist() == [[127, -127], [64, 64]]
    assert (np.abs(steps * scales - matrix) <= scales * 0.501).all()


@pytest.mark.slow
@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="Chroma has not fetched the published model")
def test_the_published_model_in_integers_means_nearly_the_same(tmp_path: Path) -> None:
    """With a coarse rounding, the same for all products: fitted roundings are nearer."""
    published = onnx.load(PUBLISHED / "model.onnx")
    weights = weights_of(published)
    found = products(published)
    assert [len(names) for _, names in found.values()] == [len(KINDS[kind]) for _, kind in found]
    roundings = {
        product: Rounding(np.ones(len(weights[names[0]]), np.float16), 0.05, 128, (3,))
        for product, (_, names) in found.items()
    }
    model = quantised(published, roundings)
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    shutil.copy(PUBLISHED / "tokenizer.json", tmp_path)
    write_checksums(tmp_path)
    texts = ["Ann sings in the opera.", "Where does Ingrid live now?"]
    assert (model_in(tmp_path).texts(texts) * mini_lm().texts(texts)).sum(axis=1).min() > 0.9
