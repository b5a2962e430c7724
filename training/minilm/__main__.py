"""Write the default embedding's model, which computes in eight-bit integers.

``python -m training.minilm MODEL HISTORIES``: the folder of the published model, and a folder of
LongMemEval's histories (a gzipped JSON file each). Every second one is read, so that the others can
judge. The output is ``model.onnx`` of the package ``recallm-minilm``, and its checksum.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import random
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
from onnx import helper

from recallm import RecallConfig
from recallm.english.extractor import Extractor
from recallm.model import Turn
from recallm.vectors.embedding import statement_text
from recallm.vectors.minilm import load_session, load_tokenizer, token_ids
from training.minilm.fitting import Inputs, all_fitted
from training.minilm.graph import Product, products, quantised, weights_of

_OUTPUT = Path(__file__).parents[2] / "packaging" / "recallm-minilm" / "recallm_minilm"

_TEXTS = 1_600
_MESSAGES = 400

_BATCH = 32
_SAMPLED_ROWS = 24
"""Rows of each batch that stand for its tokens."""


def main() -> None:
    """Read texts, fit how they are rounded, and write the model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path, help="has model.onnx and tokenizer.json")
    parser.add_argument("histories", type=Path)
    parser.add_argument("--output", type=Path, default=_OUTPUT, help="a folder")
    given = parser.parse_args()
    texts = _texts(given.histories)
    published = onnx.load(given.model / "model.onnx")
    weights, places = weights_of(published), products(published)
    matrices = {
        product: np.concatenate([weights[name] for name in names], axis=1)
        for product, (_, names) in places.items()
    }
    inputs = _inputs(given.model, {product: name for product, (name, _) in places.items()}, texts)
    model = quantised(published, all_fitted(inputs, matrices))
    given.output.mkdir(exist_ok=True)
    (given.output / "model.onnx").write_bytes(model.SerializeToString(deterministic=True))
    (given.output / "tokenizer.json").write_bytes((given.model / "tokenizer.json").read_bytes())
    write_checksums(given.output)


def write_checksums(folder: Path) -> None:
    """Write ``SHA256SUMS`` of the model in ``folder``."""
    names = ("model.onnx", "tokenizer.json")
    sums = [f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}" for name in names]
    (folder / "SHA256SUMS").write_text("\n".join(sums) + "\n", encoding="ascii")


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
    read = extractor.extract_many((Turn(text) for _, text in messages), triplets=False)
    for (speaker, text), extraction in zip(messages, read, strict=True):
        for statement in extraction.statements:
            yield statement_text(statement.text_in(text), speaker)


def _inputs(folder: Path, names: dict[Product, str], texts: list[str]) -> dict[Product, Inputs]:
    """What the published model multiplies where it embeds ``texts``."""
    outputs = list(dict.fromkeys(names.values()))
    model = onnx.load(folder / "model.onnx")
    model.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in outputs)
    session = load_session(model.SerializeToString())
    tokenizer = load_tokenizer(folder)
    tokens = sorted((encoded.ids for encoded in tokenizer.encode_batch(texts)), key=len)
    chance = np.random.default_rng(0)
    found = defaultdict(list)
    for start in range(0, len(tokens), _BATCH):
        feed = token_ids(tokens[start : start + _BATCH])
        mask = feed["attention_mask"].astype(bool)
        for name, states in zip(outputs, session.run(outputs, feed), strict=True):
            rows = states[mask]
            sample = rows[chance.integers(0, len(rows), _SAMPLED_ROWS)]
            found[name].append((rows.min(axis=0), rows.max(axis=0), sample))
    return {product: Inputs.of(found[name]) for product, name in names.items()}


if __name__ == "__main__":
    main()
