"""The graph of all-MiniLM-L6-v2 whose matrix products are of eight-bit integers.

A product's input is divided by a factor for each of its columns, rounded to unsigned bytes on one
fixed scale, and multiplied by weights that were multiplied by the same factors and rounded. The
graph holds the factors and the scales alone. The weights stay in the file ``model.onnx``, and ONNX
Runtime rounds them while the graph is loaded, as part of folding constants.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from training.minilm.onnx_format import FLOAT, INT32, GraphWriter, Node, Weight

LAYERS, HEADS, WIDTH = 6, 12, 384

MAX_WEIGHT = 127
"""Weights are rounded to -127 … 127."""

MIN_FACTOR = 1e-3
"""Factors are at least this where they divide: that of a column which is left out is 0."""

Kind = Literal["projections", "attention", "expansion", "contraction"]
"""The matrix products of a layer: query, key and value; what attention gives; into the wide layer
and out of it."""

KINDS: Mapping[Kind, tuple[str, ...]] = {
    "projections": ("attention/self/query", "attention/self/key", "attention/self/value"),
    "attention": ("attention/output/dense",),
    "expansion": ("intermediate/dense",),
    "contraction": ("output/dense",),
}
"""The names of their weights in the published model."""

Product = tuple[int, Kind]


@dataclass(frozen=True, slots=True)
class Rounding:
    """How the input of a product is rounded: ``factors`` by column, of shape (columns,), the
    ``scale`` of a step and the byte that means ``zero``. The columns ``exact`` are left out, with
    the factor 0, and multiplied as floats."""

    factors: NDArray[np.float16]
    scale: float
    zero: int
    exact: tuple[int, ...]


def products(nodes: list[Node]) -> dict[Product, tuple[str, list[str]]]:
    """For each product the name of its input and those of its matrices."""
    by_output = {node.outputs[0]: node.inputs for node in nodes if node.operation == "MatMul"}
    found = {}
    for layer in range(LAYERS):
        for kind, names in KINDS.items():
            pairs = [
                by_output[f"/m/encoder/layer.{layer}/{name}/MatMul_output_0"] for name in names
            ]
            found[layer, kind] = pairs[0][0], [matrix for _, matrix in pairs]
    return found


def quantised(
    nodes: list[Node], weights: Mapping[str, Weight], roundings: Mapping[Product, Rounding]
) -> bytes:
    """The ONNX file of the graph. It takes ``input_ids`` and ``attention_mask``, and gives
    ``last_hidden_state``."""
    graph = GraphWriter("model.onnx", weights)
    matrices = {product: names for product, (_, names) in products(nodes).items()}

    def multiplied(layer: int, kind: Kind, rows: str) -> list[str]:
        """The products of ``rows`` and the matrices of a kind, with their biases."""
        rounding, name = roundings[layer, kind], f"{layer}.{kind}"
        factors = graph.node("Cast", graph.constant(f"{name}.factors", rounding.factors), to=FLOAT)
        least = graph.constant("least", np.array(MIN_FACTOR, np.float32))
        inverse = graph.node("Reciprocal", graph.node("Max", factors, least))
        scale = graph.constant(f"{name}.scale", np.array(rounding.scale, np.float32))
        zero = graph.constant(f"{name}.zero", np.array(rounding.zero, np.uint8))
        integers = graph.node("QuantizeLinear", graph.node("Mul", rows, inverse), scale, zero)
        column = graph.node(
            "Unsqueeze", factors, graph.constant("columns", np.array([1], np.int64))
        )
        found = []
        for matrix, part in zip(matrices[layer, kind], KINDS[kind], strict=True):
            smooth = graph.node("Mul", graph.weight(matrix), column)
            greatest = graph.node("ReduceMax", graph.node("Abs", smooth), axes=[0], keepdims=0)
            steps = graph.constant("steps", np.array(MAX_WEIGHT, np.float32))
            scales = graph.node("Div", greatest, steps)
            width = weights[matrix].shape[1]
            zeros = graph.constant(f"zeros.{width}", np.zeros(width, np.int8))
            rounded = graph.node("QuantizeLinear", smooth, scales, zeros, axis=1)
            bias = graph.weight(f"m.encoder.layer.{layer}.{part.replace('/', '.')}.bias")
            product = graph.node(
                "MatMulIntegerToFloat",
                *(integers, rounded, scale, scales, zero, zeros, bias),
                microsoft=True,
            )
            if rounding.exact:
                places = graph.constant(f"{name}.exact", np.array(rounding.exact, np.int64))
                exact = graph.node("Gather", rows, places, axis=-1)
                their_rows = graph.node("Gather", graph.weight(matrix), places, axis=0)
                product = graph.node("Sum", product, graph.node("MatMul", exact, their_rows))
            found.append(product)
        return found

    def normalised(one: str, other: str, name: str, output: str | None = None) -> str:
        # Sum, not Add: ONNX Runtime makes an Add before this one operation, which is slower.
        gain, shift = graph.weight(f"{name}.weight"), graph.weight(f"{name}.bias")
        total = graph.node("Sum", one, other)
        return graph.node(
            "LayerNormalization", total, gain, shift, output=output, axis=-1, epsilon=1e-12
        )

    ids = graph.node("Cast", "input_ids", to=INT32)
    mask = graph.node("Cast", "attention_mask", to=INT32)
    tables = ("word_embeddings", "position_embeddings", "token_type_embeddings")
    rows = graph.node(
        "EmbedLayerNormalization",
        *(ids, graph.node("Sub", ids, ids)),
        *(graph.weight(f"m.embeddings.{table}.weight") for table in tables),
        *(graph.weight(f"m.embeddings.LayerNorm.{part}") for part in ("weight", "bias")),
        outputs=2,
        microsoft=True,
        epsilon=1e-12,
    )
    for layer in range(LAYERS):
        name = f"m.encoder.layer.{layer}"
        attended = graph.node(
            "MultiHeadAttention",
            *(*multiplied(layer, "projections", rows), "", mask),
            microsoft=True,
            num_heads=HEADS,
        )
        (states,) = multiplied(layer, "attention", attended)
        rows = normalised(states, rows, f"{name}.attention.output.LayerNorm")
        (wide,) = multiplied(layer, "expansion", rows)
        (states,) = multiplied(layer, "contraction", graph.node("Gelu", wide, microsoft=True))
        output = "last_hidden_state" if layer == LAYERS - 1 else None
        rows = normalised(states, rows, f"{name}.output.LayerNorm", output)
    return graph.content(("input_ids", "attention_mask"), rows, width=WIDTH)
