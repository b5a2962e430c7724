"""The table of related words: what is made of a model, here of one by hand."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from recallm.recall.ranking import meaning
from recallm.recall.ranking.meaning import relatedness
from training.words import __main__ as command

SUBJECTS = {
    "live": 0,
    "lived": 0,
    "reside": 0,
    "bicycle": 1,
    "bicycles": 1,
    "tricycle": 1,
    "sings": 2,
    "opera": 2,
}
"""What each word is about; of all others nothing is known."""


class HandMade:
    """A model with a direction for each of three subjects, and one for all that there is.

    ``hidden`` cuts each word in two pieces, with a mark before the first and padding at the end.
    """

    def vocabulary(self) -> list[str]:
        return sorted([*SUBJECTS, "##ing", "[PAD]", "ab", "café", "zebra"])

    def embed(self, texts: list[str]) -> NDArray[np.float32]:
        return np.array([self._of(text) for text in texts], dtype=np.float32)

    def hidden(
        self, texts: list[str]
    ) -> list[tuple[NDArray[np.float32], list[tuple[int | None, tuple[int, int]]]]]:
        longest = max(len(text.split()) for text in texts)
        found = []
        for text in texts:
            states = [self._of("")]
            spans: list[tuple[int | None, tuple[int, int]]] = [(None, (0, 0))]
            start = 0
            for number, word in enumerate(text.split()):
                half, end = start + (len(word) + 1) // 2, start + len(word)
                spans += [(number, (start, half)), (number, (half, end))]
                states += [self._of(word)] * 2
                start = end + 1
            while len(spans) < 2 * longest + 1:
                spans.append((None, (0, 0)))
                states.append(np.full(4, 9.0))
            found.append((np.array(states, dtype=np.float32), spans))
        return found

    def _of(self, word: str) -> NDArray[np.float64]:
        vector = np.array([0.0, 0.0, 0.0, 1.0])
        if word in SUBJECTS:
            vector[SUBJECTS[word]] = 2.0
        vector /= np.linalg.norm(vector)
        return vector


def write_treebank(folder: Path) -> Path:
    """Three sentences twice each, in both corpora; one that is too short, one of the test part."""
    (folder / "ewt").mkdir(parents=True)
    (folder / "gum").mkdir()
    sentences = ["live reside bicycle tricycle", "bicycle opera sings 1234", "opera live tricycle"]
    text = "".join(f"# text = {one}\n1\t_\n\n" for one in [*sentences, "too short"])
    (folder / "ewt" / "en-train.conllu").write_text(text, encoding="utf-8")
    (folder / "ewt" / "en-test.conllu").write_text("# text = unseen " + "x" * 40, encoding="utf-8")
    (folder / "gum" / "some.conllu").write_text(
        "# text = opera live tricycle\n# text = reside bicycle reside bicycle\n", encoding="utf-8"
    )
    return folder


@pytest.fixture
def output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A table built of the model by hand, read in place of the one that ships."""
    path = tmp_path / "words.npz"
    data = write_treebank(tmp_path / "data")
    monkeypatch.setattr(command, "MiniLM", lambda folder: HandMade())
    monkeypatch.setattr(sys, "argv", ["training.words", "model", str(data), "--output", str(path)])
    monkeypatch.setattr(meaning, "DATA", path)
    command.main()
    meaning._table.cache_clear()
    yield path
    meaning._table.cache_clear()


def test_words_of_one_subject_come_out_related(output: Path) -> None:
    assert relatedness(["resid"], ["live"])[0, 0] > 0.5
    assert relatedness(["tricycl"], ["bicycl"])[0, 0] > 0.5
    assert relatedness(["opera", "bicycl", "resid"], ["live", "sing"])[:2].tolist() == [
        [0, pytest.approx(0.9, abs=0.45)],
        [0, 0],
    ]


def test_the_same_model_and_sentences_give_the_same_bytes(
    output: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = tmp_path / "again.npz"
    monkeypatch.setattr(sys, "argv", ["_", "model", str(tmp_path / "data"), "--output", str(again)])
    command.main()
    assert again.read_bytes() == output.read_bytes()


def test_a_folder_without_treebanks_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "MiniLM", lambda folder: HandMade())
    monkeypatch.setattr(
        sys, "argv", ["_", "model", str(tmp_path), "--output", str(tmp_path / "words.npz")]
    )
    with pytest.raises(SystemExit, match=r"holds no \*\.conllu files"):
        command.main()
    assert not (tmp_path / "words.npz").exists()
