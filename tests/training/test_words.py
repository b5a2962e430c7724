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


def test_stems_stand_once_and_in_order(output: Path) -> None:
    stems = list(meaning._table().places)
    assert stems == sorted(set(stems))
    assert {"live", "resid", "bicycl", "tricycl", "opera", "sing", "zebra"} == set(stems)


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


def test_sentences_of_the_training_parts_that_are_neither_short_nor_long(tmp_path: Path) -> None:
    folder = write_treebank(tmp_path / "data")
    with (folder / "gum" / "some.conllu").open("a", encoding="utf-8") as file:
        file.write(f"# text = {'long ' * 60}\n")
    assert sorted(set(command._sentences(folder))) == [
        "bicycle opera sings 1234",
        "live reside bicycle tricycle",
        "reside bicycle reside bicycle",
    ]


def test_words_of_one_stem_share_a_vector() -> None:
    alone = command._word_vectors(HandMade())  # type: ignore[arg-type]
    assert set(alone) == {"live", "resid", "bicycl", "tricycl", "sing", "opera", "zebra"}
    one = HandMade().embed(["bicycle"])[0]
    assert alone["bicycl"] == pytest.approx(one)


def test_a_word_is_read_from_its_pieces_and_once_is_not_enough() -> None:
    """Marks and padding belong to no word; what is no word of letters is not read."""
    sentences = ["live bicycle", "live bicycles zebra", "opera 1234 1234"]
    read, counts = command._sentence_vectors(HandMade(), sentences)  # type: ignore[arg-type]
    assert dict(counts) == {"live": 2, "bicycl": 2}
    assert counts["opera"] == 0
    assert read["live"] == pytest.approx(HandMade().embed(["live"])[0])


def test_centred_vectors_stand_about_the_mean_of_those_that_there_are() -> None:
    found = command._centred([np.array([3.0, 4.0]), None, np.array([-4.0, 3.0])])
    assert np.linalg.norm(found, axis=1) == pytest.approx([1, 0, 1])
    assert found[0] == pytest.approx(-found[2])


def test_the_first_components_keep_the_cosines_of_what_lies_in_few_directions() -> None:
    random = np.random.default_rng(3)
    low = random.normal(size=(200, 5)) @ random.normal(size=(5, 100))
    low -= low.mean(axis=0)
    unit = low / np.linalg.norm(low, axis=1, keepdims=True)
    found = command._principal(low)
    assert found.shape == (200, 64)
    assert found @ found.T == pytest.approx(unit @ unit.T, abs=1e-6)
