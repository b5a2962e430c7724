"""``python -m training.words MODEL DATA_DIR``: which words mean alike, as small vectors.

The vectors are distilled from all-MiniLM-L6-v2 (Apache-2.0), as published in the folder ``MODEL``.
A word gives two vectors: its embedding as a text by itself, and the mean of the last hidden states
of its tokens over the sentences of the Universal Dependencies treebanks in ``DATA_DIR`` (the
folders ``ewt`` and ``gum`` of the pipeline's data). Words of one stem share their vectors. The two
are centred and added; the second weighs more the more often the word was read. The sums are reduced
to their first principal components and rounded to 8-bit integers.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from recallm.english.words import stem
from recallm.recall.ranking.meaning import DATA
from training.words.model import MiniLM

_DIMENSION = 64
_BATCH = 64
_SHORTEST, _LONGEST = 20, 220
"""Bounds of the sentences that are read, in characters."""
_RARE = 5
"""After this many readings the vector from sentences has 0.7 of its full weight."""
_IN_SENTENCES = 2.0
"""The weight of the vector from sentences beside that of the word alone."""

_SCALE = 127
"""The greatest number of an 8-bit integer."""

Floats = NDArray[np.float32]


def main() -> None:
    """Build the table and write it into the package."""
    parser = argparse.ArgumentParser(description="The table of related words")
    parser.add_argument("model", type=Path, help="has model.onnx and tokenizer.json")
    parser.add_argument("data", type=Path, help="the folder of the pipeline's training data")
    parser.add_argument("--output", type=Path, default=DATA)
    options = parser.parse_args()
    sentences = sorted(set(_sentences(options.data)), key=lambda text: (len(text), text))
    if not sentences:
        raise SystemExit(f"{options.data} holds no *.conllu files in ewt or gum")
    model = MiniLM(options.model)
    by_itself = _word_vectors(model)
    in_sentences, counts = _sentence_vectors(model, sentences)
    stems = sorted(by_itself.keys() | in_sentences.keys())
    vectors = _centred([by_itself.get(key) for key in stems])
    weights = np.array([np.sqrt(counts[key] / (counts[key] + _RARE)) for key in stems])
    vectors += _IN_SENTENCES * weights[:, None] * _centred([in_sentences.get(key) for key in stems])
    write_table(options.output, stems, _principal(_unit(vectors)))
    print(f"{len(stems)} stems, {options.output.stat().st_size / 1e6:.2f} MB")


def write_table(path: Path, stems: Sequence[str], vectors: NDArray[np.float32]) -> None:
    """Write a table of word vectors: unit vectors, a row for each of ``stems``."""
    np.savez_compressed(
        path,
        stems=np.frombuffer("\n".join(stems).encode(), np.uint8),
        vectors=np.round(vectors * _SCALE).astype(np.int8),
    )


def _sentences(folder: Path) -> Iterator[str]:
    files = [*folder.glob("ewt/*train*.conllu"), *folder.glob("gum/*.conllu")]
    for path in sorted(files):
        for line in path.read_text(encoding="utf-8").splitlines():
            text = line.removeprefix("# text = ").strip()
            if text != line.strip() and _SHORTEST < len(text) < _LONGEST:
                yield text


def _word_vectors(model: MiniLM) -> dict[str, Floats]:
    """For each stem the mean embedding of its words that are in the model's vocabulary."""
    words = [word for word in model.vocabulary() if word.isalpha() and word.isascii()]
    words = sorted(word for word in words if len(word) > 2)
    found: dict[str, list[Floats]] = defaultdict(list)
    for start in tqdm(range(0, len(words), 1024), desc="words", leave=False):
        batch = words[start : start + 1024]
        for word, vector in zip(batch, model.embed(batch), strict=True):
            found[stem(word)].append(vector)
    return {key: np.mean(vectors, axis=0) for key, vectors in found.items()}


def _sentence_vectors(
    model: MiniLM, sentences: list[str]
) -> tuple[dict[str, Floats], dict[str, int]]:
    """The mean hidden state of each stem that is read at least twice, and how often it is read."""
    sums: dict[str, Any] = {}
    counts: dict[str, int] = defaultdict(int)
    for start in tqdm(range(0, len(sentences), _BATCH), desc="sentences", leave=False):
        batch = sentences[start : start + _BATCH]
        for text, (states, spans) in zip(batch, model.hidden(batch), strict=True):
            words: dict[int, list[int]] = defaultdict(list)
            for place, (word, _) in enumerate(spans):
                if word is not None:
                    words[word].append(place)
            for places in words.values():
                spelled = text[spans[places[0]][1][0] : spans[places[-1]][1][1]]
                if spelled.isalpha():
                    key = stem(spelled)
                    sums[key] = sums.get(key, 0.0) + states[places].mean(axis=0)
                    counts[key] += 1
    means = {key: total / counts[key] for key, total in sums.items() if counts[key] > 1}
    return means, defaultdict(int, {key: counts[key] for key in means})


def _centred(vectors: list[Floats | None]) -> Any:
    """Unit vectors, centred on the mean of those that are known; zeros for those that are not."""
    known = np.array([vector is not None for vector in vectors])
    size = next(len(vector) for vector in vectors if vector is not None)
    filled = _unit(np.array([np.zeros(size) if vector is None else vector for vector in vectors]))
    filled[known] -= filled[known].mean(axis=0)
    return _unit(filled)


def _principal(vectors: Any) -> Any:
    """The vectors in their first principal components."""
    left, sizes, _ = np.linalg.svd(vectors - vectors.mean(axis=0), full_matrices=False)
    return _unit(left[:, :_DIMENSION] * sizes[:_DIMENSION])


def _unit(vectors: Any) -> Any:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-9)


if __name__ == "__main__":
    main()
