"""The graph of all-MiniLM-L6-v2 whose matrix products are of eight-bit integers.

A product's input is divided by a factor for each of its columns, rounded to unsigned bytes on one
fixed scale, and multiplied by weights that were multiplied by the same factors and rounded. The
table of word pieces, half of the published file, is rounded row by row; ONNX Runtime makes floats
of it again while the graph is loaded, as part of folding constants.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

LAYERS, HEADS, WIDTH = 6, 12, 384

MAX_WEIGHT = 127
"""Weights are rounded to -127 … 127."""

MIN_FACTOR = 1e-3
"""Factors are at least this where they divide: that of a column which is left out is 0."""

Floats = NDArray[np.float32]

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


def products(model: onnx.ModelProto) -> dict[Product, tuple[str, list[str]]]:
    """For each product of the published model the name of its input and those of its matrices."""
    by_output = {
        node.output[0]: node.input for node in model.graph.node if node.op_type == "MatMul"
    }
    found = {}
    for layer in range(LAYERS):
        for kind, names in KINDS.items():
            pairs = [
                by_output[f"/m/encoder/layer.{layer}/{name}/MatMul_output_0"] for name in names
            ]
            found[layer, kind] = pairs[0][0], [matrix for _, matrix in pairs]
    return found


def weights_of(model: onnx.ModelProto) -> dict[str, NDArray[Any]]:
    """The weights of a model by name."""
    return {each.name: numpy_helper.to_array(each) for each in model.graph.initializer}


def rounded(matrix: Floats, *, axis: int) -> tuple[NDArray[np.int8], Floats]:
    """The integers of a matrix and their scales: one scale for all numbers along ``axis``, which
    has the size 1 in the scales."""
    scales = np.abs(matrix).max(axis=axis, keepdims=True) / np.float32(MAX_WEIGHT)
    return np.round(matrix / scales).astype(np.int8), scales


class _Graph:
    """Operations and constants, in the order in which they are added."""

    def __init__(self) -> None:
        self._nodes: list[onnx.NodeProto] = []
        self._constants: dict[str, onnx.TensorProto] = {}

    def constant(self, name: str, value: NDArray[Any]) -> str:
        """A constant of the graph, under its name."""
        self._constants[name] = numpy_helper.from_array(value, name)
        return name

    def node(
        self,
        operation: str,
        *inputs: str,
        output: str | None = None,
        outputs: int = 1,
        microsoft: bool = False,
        **attributes: int | float,
    ) -> str:
        """Add an operation; the name of its first output. ``microsoft``: the operation is not of
        ONNX, but of ONNX Runtime."""
        name = output or f"{operation}_{len(self._nodes)}"
        names = [name, *(f"{name}_{place}" for place in range(1, outputs))]
        domain = "com.microsoft" if microsoft else ""
        node = helper.make_node(operation, inputs, names, domain=domain)
        node.attribute.extend(helper.make_attribute(*each) for each in attributes.items())
        self._nodes.append(node)
        return name

    def model(self, inputs: tuple[str, ...], output: str) -> onnx.ModelProto:
        """The model. Its inputs are matrices of int64, of shape (texts, tokens)."""
        shape = ["texts", "tokens"]
        graph = helper.make_graph(
            self._nodes,
            "graph",
            [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in inputs],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, [*shape, WIDTH])],
            list(self._constants.values()),
        )
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def quantised(published: onnx.ModelProto, roundings: Mapping[Product, Rounding]) -> onnx.ModelProto:
    """The model in integers. It takes ``input_ids`` and ``attention_mask``, and gives
    ``last_hidden_state``."""
    graph = _Graph()
    weights = weights_of(published)
    matrices = {product: names for product, (_, names) in products(published).items()}

    def weight(name: str) -> str:
        return graph.constant(name, weights[name])

    def multiplied(layer: int, kind: Kind, rows: str) -> list[str]:
        """The products of ``rows`` and the matrices of a kind, with their biases."""
        rounding, name = roundings[layer, kind], f"{layer}.{kind}"
        factors = np.maximum(rounding.factors.astype(np.float32), np.float32(MIN_FACTOR))
        inverse = graph.constant(f"{name}.inverse", 1 / factors)
        scale = graph.constant(f"{name}.scale", np.array(rounding.scale, np.float32))
        zero = graph.constant(f"{name}.zero", np.array(rounding.zero, np.uint8))
        integers = graph.node("QuantizeLinear", graph.node("Mul", rows, inverse), scale, zero)
        found = []
        for matrix, part in zip(matrices[layer, kind], KINDS[kind], strict=True):
            smooth = weights[matrix] * rounding.factors.astype(np.float32)[:, None]
            steps, scales = rounded(smooth, axis=0)
            zeros = graph.constant(f"zeros.{scales.size}", np.zeros(scales.size, np.int8))
            product = graph.node(
                "MatMulIntegerToFloat",
                *(integers, graph.constant(matrix, steps), scale),
                *(graph.constant(f"{matrix}.scales", scales[0]), zero, zeros),
                weight(f"m.encoder.layer.{layer}.{part.replace('/', '.')}.bias"),
                microsoft=True,
            )
            if rounding.exact:
                places = graph.constant(f"{name}.exact", np.array(rounding.exact, np.int64))
                exact = graph.node("Gather", rows, places, axis=-1)
                their_rows = graph.constant(
                    f"{matrix}.exact", weights[matrix][list(rounding.exact)]
                )
                product = graph.node("Sum", product, graph.node("MatMul", exact, their_rows))
            found.append(product)
        return found

    def normalised(one: str, other: str, name: str, output: str | None = None) -> str:
        # Sum, not Add: ONNX Runtime makes an Add before this one operation, which is slower.
        gain, shift = weight(f"{name}.weight"), weight(f"{name}.bias")
        total = graph.node("Sum", one, other)
        return graph.node(
            "LayerNormalization", total, gain, shift, output=output, axis=-1, epsilon=1e-12
        )

    ids = graph.node("Cast", "input_ids", to=TensorProto.INT32)
    mask = graph.node("Cast", "attention_mask", to=TensorProto.INT32)
    steps, scales = rounded(weights["m.embeddings.word_embeddings.weight"], axis=1)
    words = graph.node("Cast", graph.constant("words", steps), to=TensorProto.FLOAT)
    rows = graph.node(
        "EmbedLayerNormalization",
        *(ids, graph.node("Sub", ids, ids)),
        graph.node("Mul", words, graph.constant("words.scales", scales)),
        *(
            weight(f"m.embeddings.{table}_embeddings.weight")
            for table in ("position", "token_type")
        ),
        *(weight(f"m.embeddings.LayerNorm.{part}") for part in ("weight", "bias")),
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
    return graph.model(("input_ids", "attention_mask"), rows)
