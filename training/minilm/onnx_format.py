"""The little of the ONNX format that is needed here, without the package ``onnx``.

An ONNX file is a message of Protocol Buffers: fields, each a number with an integer or with bytes,
which may be a message again. The numbers are those of ``onnx.proto``. Messages that stand behind
each other in a file are merged, so that outputs are added to a model by bytes at its end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_VARINT, _BYTES = 0, 2
"""The kinds of fields that are written. Those that are read are of the same two kinds, save in
messages that ``fields`` is not asked for."""

_GRAPH, _OPSET = 7, 8
_NODE, _INITIALIZER, _INPUT, _OUTPUT = 1, 5, 11, 12

_TYPES = {np.float32: 1, np.uint8: 2, np.int8: 3, np.int64: 7, np.float16: 10}
FLOAT, INT32 = 1, 6
"""The numbers of the types that ``Cast`` converts to."""

_INTEGER, _LIST, _NUMBER = 2, 7, 1
"""Types of attributes."""


@dataclass(frozen=True, slots=True)
class Weight:
    """Where the numbers of a float tensor of ``shape`` stand in a file: bytes from ``start``."""

    shape: tuple[int, ...]
    start: int
    size: int


@dataclass(frozen=True, slots=True)
class Node:
    """An operation, with the names of its inputs and outputs."""

    operation: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def fields(content: bytes, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """The fields of the message between two places: its number, and where its bytes begin and end.
    For an integer these are the integer and -1."""
    while start < end:
        key, start = _read_varint(content, start)
        value, start = _read_varint(content, start)
        if key & 7 == _VARINT:
            yield key >> 3, value, -1
        else:
            yield key >> 3, start, start + value
            start += value


def read_model(content: bytes) -> tuple[list[Node], dict[str, Weight]]:
    """The nodes of a model's graph, and its initializers by name."""
    (graph,) = [place for number, *place in fields(content, 0, len(content)) if number == _GRAPH]
    nodes, weights = [], {}
    for number, start, end in fields(content, graph[0], graph[1]):
        if number == _NODE:
            nodes.append(_read_node(content, start, end))
        elif number == _INITIALIZER:
            name, weight = _read_weight(content, start, end)
            weights[name] = weight
    return nodes, weights


def _read_node(content: bytes, start: int, end: int) -> Node:
    texts: dict[int, list[str]] = {1: [], 2: [], 4: []}
    for number, begin, stop in fields(content, start, end):
        if number in texts:
            texts[number].append(content[begin:stop].decode())
    return Node(texts[4][0], tuple(texts[1]), tuple(texts[2]))


def _read_weight(content: bytes, start: int, end: int) -> tuple[str, Weight]:
    shape: list[int] = []
    name, place = "", (0, 0)
    for number, begin, stop in fields(content, start, end):
        if number == 1:
            shape.append(begin)
        elif number == 8:
            name = content[begin:stop].decode()
        elif number == 9:
            place = begin, stop
    return name, Weight(tuple(shape), place[0], place[1] - place[0])


def added_outputs(names: Sequence[str]) -> bytes:
    """Bytes that add outputs to the model that they stand behind."""
    return _message(_GRAPH, *(_message(_OUTPUT, _field(1, name)) for name in names))


class GraphWriter:
    """A graph of ONNX whose weights stand in the file ``weights_file``.

    Inputs are matrices of int64, of shape (texts, tokens); the output is named ``output``.
    """

    def __init__(self, weights_file: str, weights: Mapping[str, Weight]) -> None:
        self._file = weights_file
        self._weights = weights
        self._nodes: list[bytes] = []
        self._initializers: dict[str, bytes] = {}

    def weight(self, name: str) -> str:
        """A weight of the file, under its name there."""
        weight = self._weights[name]
        entries = {"location": self._file, "offset": weight.start, "length": weight.size}
        self._initializers[name] = b"".join(
            (
                *(_field(1, size) for size in weight.shape),
                _field(2, FLOAT),
                _field(8, name),
                *(_message(13, _field(1, k), _field(2, str(v))) for k, v in entries.items()),
                _field(14, 1),  # the data stands in a file
            )
        )
        return name

    def constant(self, name: str, value: NDArray[Any]) -> str:
        """A constant of the graph itself."""
        self._initializers[name] = b"".join(
            (
                *(_field(1, size) for size in value.shape),
                _field(2, _TYPES[value.dtype.type]),
                _field(8, name),
                _field(9, value.tobytes()),
            )
        )
        return name

    def node(
        self,
        operation: str,
        *inputs: str,
        output: str | None = None,
        outputs: int = 1,
        microsoft: bool = False,
        **attributes: int | float | Sequence[int],
    ) -> str:
        """Add an operation; the name of its first output. ``microsoft``: the operation is not of
        ONNX, but of ONNX Runtime."""
        name = output or f"{operation}_{len(self._nodes)}"
        names = [name, *(f"{name}_{place}" for place in range(1, outputs))]
        domain = [_field(7, "com.microsoft")] if microsoft else []
        self._nodes.append(
            b"".join(
                (
                    *(_field(1, each) for each in inputs),
                    *(_field(2, each) for each in names),
                    _field(4, operation),
                    *(_message(5, *_attribute(*each)) for each in attributes.items()),
                    *domain,
                )
            )
        )
        return name

    def content(self, inputs: Sequence[str], output: str, *, width: int) -> bytes:
        """The ONNX file, of version 17 of the operations. The output is of shape (texts, tokens,
        ``width``)."""
        graph = (
            *(_message(_NODE, node) for node in self._nodes),
            _field(2, "graph"),
            *(_message(_INITIALIZER, each) for each in self._initializers.values()),
            *(_message(_INPUT, _field(1, name), _tensor_type(7, "b", "s")) for name in inputs),
            _message(_OUTPUT, _field(1, output), _tensor_type(FLOAT, "b", "s", width)),
        )
        opsets = (
            _message(_OPSET, _field(1, ""), _field(2, 17)),
            _message(_OPSET, _field(1, "com.microsoft"), _field(2, 1)),
        )
        return b"".join((_field(1, 8), _message(_GRAPH, *graph), *opsets))


def _tensor_type(kind: int, *sizes: int | str) -> bytes:
    dimensions = (_message(1, _field(2 if isinstance(size, str) else 1, size)) for size in sizes)
    return _message(2, _message(1, _field(1, kind), _message(2, *dimensions)))


def _attribute(name: str, value: int | float | Sequence[int]) -> tuple[bytes, ...]:
    if isinstance(value, float):
        number = _varint(2 << 3 | 5) + np.float32(value).tobytes()
        return _field(1, name), number, _field(20, _NUMBER)
    if isinstance(value, int):
        return _field(1, name), _field(3, value), _field(20, _INTEGER)
    return _field(1, name), *(_field(8, each) for each in value), _field(20, _LIST)


def _message(number: int, *parts: bytes) -> bytes:
    return _field(number, b"".join(parts))


def _field(number: int, value: int | str | bytes) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3 | _VARINT) + _varint(value)
    content = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | _BYTES) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1  # negative integers take ten bytes
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)


def _read_varint(content: bytes, start: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = content[start]
        start += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, start
        shift += 7
