"""The training of the default embedding's graph of integers."""

from __future__ import annotations

import numpy as np
import pytest

from recallm.vectors.minilm import load_session, verified_file
from tests.vectors.default_model import why_absent
from training.minilm.fitting import Inputs, fitted
from training.minilm.graph import KINDS, LAYERS, products
from training.minilm.onnx_format import GraphWriter, Weight, read_model


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


def test_the_products_of_the_published_model_are_found() -> None:
    if (why := why_absent()) is not None:
        pytest.skip(why)
    nodes, weights = read_model(verified_file("model.onnx").read_bytes())
    found = products(nodes)
    assert len(found) == LAYERS * len(KINDS)
    for (_, kind), (_, matrices) in found.items():
        assert len(matrices) == len(KINDS[kind])
    assert weights[found[0, "expansion"][1][0]].shape == (384, 1536)


def test_a_written_graph_reads_its_weights_from_the_file() -> None:
    if (why := why_absent()) is not None:
        pytest.skip(why)
    content = verified_file("model.onnx").read_bytes()
    name = "m.embeddings.word_embeddings.weight"
    weight = read_model(content)[1][name]
    graph = GraphWriter("model.onnx", {name: weight})
    graph.node("Gather", graph.weight(name), "ids", output="rows", axis=0)
    session = load_session(graph.content(("ids",), "rows", width=384))
    ids = np.array([[101, 2000, 102]])
    table = np.frombuffer(content, "<f4", 30522 * 384, weight.start).reshape(weight.shape)
    assert isinstance(weight, Weight)
    assert np.array_equal(session.run(None, {"ids": ids})[0], table[ids])
