"""Write the graph by which the default embedding computes in eight-bit integers.

``python -m training.minilm HISTORIES``, a folder of LongMemEval's histories (a gzipped JSON file
each). Every second one is read, so that the others can judge. The output is
``recallm/vectors/data/minilm_int8.onnx``.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from recallm import RecallConfig
from recallm.english.extractor import Extractor
from recallm.vectors.embedding import statement_text
from recallm.vectors.minilm import load_session, load_tokenizer, verified_file
from training.minilm.fitting import Floats, Inputs, all_fitted
from training.minilm.graph import Product, products, quantised
from training.minilm.onnx_format import Weight, added_outputs, read_model

_OUTPUT = Path(__file__).parents[2] / "recallm" / "vectors" / "data" / "minilm_int8.onnx"

_TEXTS = 1_600
_MESSAGES = 400

_BATCH = 32
_SAMPLED_ROWS = 24
"""Rows of each batch that stand for its tokens."""


def main() -> None:
    """Read texts, fit how they are rounded, and write the graph."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("histories", type=Path)
    parser.add_argument("--output", type=Path, default=_OUTPUT)
    given = parser.parse_args()
    texts = _texts(given.histories)
    content = verified_file("model.onnx").read_bytes()
    nodes, weights = read_model(content)
    places = products(nodes)
    matrices = {
        product: np.concatenate([_matrix(content, weights[name]) for name in names], axis=1)
        for product, (_, names) in places.items()
    }
    inputs = _inputs(content, {product: name for product, (name, _) in places.items()}, texts)
    given.output.parent.mkdir(exist_ok=True)
    given.output.write_bytes(quantised(nodes, weights, all_fitted(inputs, matrices)))


def _texts(folder: Path) -> list[str]:
    """Statements as they are embedded, with their speakers, and the questions."""
    chance = random.Random(0)
    messages: list[tuple[str, str]] = []
    questions: list[str] = []
    for path in sorted(folder.glob("*.json.gz"))[::2]:
        history = json.loads(gzip.decompress(path.read_bytes()))
        questions.append(history["question"])
        turns = [turn for session in history["haystack_sessions"] for turn in session]
        messages += [(turn["role"], turn["content"]) for turn in chance.sample(turns, 4)]
    texts = list(_statements(chance.sample(messages, _MESSAGES)))
    chance.shuffle(texts)
    return texts[: _TEXTS - len(questions)] + questions


def _statements(messages: list[tuple[str, str]]) -> Iterator[str]:
    extractor = Extractor(RecallConfig())
    read = extractor.extract_many(((text, None) for _, text in messages), triplets=False)
    for (speaker, text), extraction in zip(messages, read, strict=True):
        for statement in extraction.statements:
            yield statement_text(statement.text_in(text), speaker)


def _matrix(content: bytes, weight: Weight) -> Floats:
    count = weight.size // 4
    return np.frombuffer(content, "<f4", count, weight.start).reshape(weight.shape)


def _inputs(content: bytes, names: dict[Product, str], texts: list[str]) -> dict[Product, Inputs]:
    """What the published model multiplies where it embeds ``texts``."""
    outputs = list(dict.fromkeys(names.values()))
    session = load_session(content + added_outputs(outputs))
    tokenizer = load_tokenizer()
    tokens = sorted((encoded.ids for encoded in tokenizer.encode_batch(texts)), key=len)
    chance = np.random.default_rng(0)
    found = defaultdict(list)
    for start in range(0, len(tokens), _BATCH):
        batch = tokens[start : start + _BATCH]
        lengths = np.array([len(ids) for ids in batch])
        mask = np.arange(lengths.max())[None, :] < lengths[:, None]
        padded = np.zeros(mask.shape, np.int64)
        padded[mask] = np.concatenate(batch)
        feed = {
            "input_ids": padded,
            "attention_mask": mask.astype(np.int64),
            "token_type_ids": np.zeros_like(padded),
        }
        for name, states in zip(outputs, session.run(outputs, feed), strict=True):
            rows = states[mask]
            sample = rows[chance.integers(0, len(rows), _SAMPLED_ROWS)]
            found[name].append((rows.min(axis=0), rows.max(axis=0), sample))
    return {product: Inputs.of(found[name]) for product, name in names.items()}


if __name__ == "__main__":
    main()
