"""``python -m training.words DATA_DIR``: which words mean alike, as a table of small vectors.

Distilled from all-MiniLM-L6-v2 (Apache-2.0), as Chroma's default embedding ships it. A word has
two faces: itself as a text of its own, and its place in sentences, the mean of the last hidden
states of its tokens over the sentences of the Universal Dependencies treebanks in ``DATA_DIR``
(the folders ``ewt`` and ``gum`` of the pipeline's data). Words of one stem share a vector. Both
faces are centred, added (the second weighs more the oftener the word was read), cut to the first
principal components and rounded to whole numbers of eight bits.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from recallm.extraction import stem
from recallm.ranking.meaning import DATA, write_table
from training.words.model import MiniLM

__all__ = ["main"]

_DIMENSION = 64
_BATCH = 64
_SHORTEST, _LONGEST = 20, 220
"""Characters of a sentence that is read."""
_RARE = 5
"""So many readings of a word in sentences count half of what many do."""
_IN_SENTENCES = 2.0
"""What the place in sentences weighs beside the word alone."""

Floats = NDArray[np.float32]


def main() -> None:
    """Build the table and write it into the package."""
    parser = argparse.ArgumentParser(description="The table of related words")
    parser.add_argument("data", type=Path, help="the folder of the pipeline's training data")
    parser.add_argument("--output", type=Path, default=DATA)
    options = parser.parse_args()
    sentences = sorted(set(_sentences(options.data)), key=lambda text: (len(text), text))
    if not sentences:
        raise SystemExit(f"{options.data} holds no *.conllu files in ewt or gum")
    model = MiniLM()
    alone = _alone(model)
    read, counts = _in_sentences(model, sentences)
    stems = sorted(alone.keys() | read.keys())
    vectors = _centred([alone.get(one) for one in stems])
    shares = np.array([np.sqrt(counts[one] / (counts[one] + _RARE)) for one in stems])
    vectors += _IN_SENTENCES * shares[:, None] * _centred([read.get(one) for one in stems])
    write_table(options.output, stems, _principal(_unit(vectors)))
    print(f"{len(stems)} stems, {options.output.stat().st_size / 1e6:.2f} MB")


def _sentences(folder: Path) -> Iterator[str]:
    files = [*folder.glob("ewt/*train*.conllu"), *folder.glob("gum/*.conllu")]
    for path in sorted(files):
        for line in path.read_text(encoding="utf-8").splitlines():
            text = line.removeprefix("# text = ").strip()
            if text != line.strip() and _SHORTEST < len(text) < _LONGEST:
                yield text


def _alone(model: MiniLM) -> dict[str, Floats]:
    """The mean vector of the words of each stem, of the words that the model knows whole."""
    words = [word for word in model.vocabulary() if word.isalpha() and word.isascii()]
    words = sorted(word for word in words if len(word) > 2)
    found: dict[str, list[Floats]] = defaultdict(list)
    for start in tqdm(range(0, len(words), 1024), desc="words", leave=False):
        some = words[start : start + 1024]
        for word, vector in zip(some, model.embed(some), strict=True):
            found[stem(word)].append(vector)
    return {one: np.mean(vectors, axis=0) for one, vectors in found.items()}


def _in_sentences(model: MiniLM, sentences: list[str]) -> tuple[dict[str, Floats], dict[str, int]]:
    """The mean hidden state of each stem that is read at least twice, and how often it is."""
    sums: dict[str, Any] = {}
    counts: dict[str, int] = defaultdict(int)
    for start in tqdm(range(0, len(sentences), _BATCH), desc="sentences", leave=False):
        some = sentences[start : start + _BATCH]
        for text, (states, spans) in zip(some, model.hidden(some), strict=True):
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
    kept = {one: total / counts[one] for one, total in sums.items() if counts[one] > 1}
    return kept, defaultdict(int, {one: counts[one] for one in kept})


def _centred(vectors: list[Floats | None]) -> Any:
    """Unit vectors about the mean of those that there are; zeros for the others."""
    there = np.array([vector is not None for vector in vectors])
    size = next(len(vector) for vector in vectors if vector is not None)
    filled = _unit(np.array([np.zeros(size) if it is None else it for it in vectors]))
    filled[there] -= filled[there].mean(axis=0)
    return _unit(filled)


def _principal(vectors: Any) -> Any:
    left, sizes, _ = np.linalg.svd(vectors - vectors.mean(axis=0), full_matrices=False)
    return _unit(left[:, :_DIMENSION] * sizes[:_DIMENSION])


def _unit(vectors: Any) -> Any:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-9)


if __name__ == "__main__":
    main()
