"""The default model: the same vectors as Chroma's, without its padding."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from chromadb.utils.embedding_functions import ONNXMiniLM_L6_V2

from recallm import RecallConfig, RecallM
from recallm.vectors.embedding import Embedding
from recallm.vectors.minilm import NAME, mini_lm
from tests.vectors.default_model import why_absent

TEXTS = [
    "Ann sings.",
    "",
    " ",
    "ünïcode \U0001f600 \x00 漢字",
    "a long one " * 400,
    "Where does Ingrid live now?",
    *(f"Day {n}: " + "word " * n for n in range(0, 100, 3)),
]


@pytest.fixture(scope="module")
def model() -> Embedding:
    """The model; skips where it is not there and cannot be fetched."""
    if (why := why_absent()) is not None:
        pytest.skip(why)
    return mini_lm()


def test_the_vectors_are_those_of_chroma(model: Embedding) -> None:
    ours = model.texts(TEXTS)
    assert model.name == NAME
    assert ours.shape == (len(TEXTS), 384)
    some = [0, 1, 3, 4, 5, 30]
    theirs = np.array(ONNXMiniLM_L6_V2()([TEXTS[place] for place in some]))
    assert np.abs(ours[some] - theirs).max() < 1e-5
    assert np.abs(model.question(TEXTS[5]) - ours[5]).max() < 1e-5


def test_it_may_be_used_by_several_threads(model: Embedding) -> None:
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(model.texts, [TEXTS[:12]] * 4))
    assert all(np.abs(each - found[0]).max() < 1e-6 for each in found)


def test_what_means_the_same_is_found(model: Embedding) -> None:
    with RecallM(embeddings=model, config=RecallConfig(ranking="vectors")) as memory:
        memory.update_many(["Ingrid settled down in Malaga.", "Bo bought a guitar.", "It rained."])
        found = memory.recall("In which city is her home?", limit=1)
    assert [it.text for it in found.statements] == ["Ingrid settled down in Malaga."]
