"""Nearness by embeddings, in the ranking: what has no vector, what stands before, what is shown."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from recallm import RecallConfig, RecallM
from recallm.model import PreparedUpdate
from recallm.recall.ranking.candidates import Candidates
from recallm.recall.ranking.meaning import meaning_signals
from recallm.recall.retrieval.nearest import EmbeddedQuestion
from tests.retrieval.talk import asked, best, candidates, embedded, recall, store_of, under_model
from tests.retrieval.talk import turn as words

NEAR = under_model(1.0, 0.0)


def turn(*sentences: str, session: str = "talk", by: Sequence[float] | None) -> PreparedUpdate:
    """An update of which each statement has the vector ``by``."""
    return embedded(words(*sentences, session=session), *[by] * len(sentences))


def gathered(*updates: PreparedUpdate, under: EmbeddedQuestion | None = NEAR) -> Candidates:
    found = candidates(store_of(*updates), asked("heron"), under=under)
    assert found is not None
    return found


def nearness(
    *updates: PreparedUpdate, under: EmbeddedQuestion | None = NEAR
) -> dict[str, tuple[float, float]]:
    """``similar`` and ``similar window`` of each statement by its text."""
    found = gathered(*updates, under=under)
    values, _ = meaning_signals(found)
    pairs = zip(values["similar"].tolist(), values["similar window"].tolist(), strict=True)
    return {one.text: pair for one, pair in zip(found.statements, pairs, strict=True)}


def test_a_statement_is_as_near_as_its_vector() -> None:
    """Without a statement before it, so is its window."""
    found = nearness(
        turn("heron one", session="a", by=(2, 0)),
        turn("heron two", session="b", by=(3, 4)),
        turn("heron three", session="c", by=(0, 1)),
        turn("heron four", session="d", by=(-1, 0)),
    )
    assert [similar for similar, _ in found.values()] == pytest.approx([1, 0.6, 0, -1], abs=1e-3)
    for similar, window in found.values():
        assert similar == pytest.approx(window, abs=1e-6)


def test_the_window_is_the_mean_of_a_statement_and_the_one_before() -> None:
    """Also where that one is no candidate by its words; without a vector it changes nothing."""
    found = nearness(turn("heron one", by=(1, 0)), turn("heron two", by=(0, 1)))
    assert found["heron one"] == pytest.approx((1, 1), abs=1e-3)
    assert found["heron two"] == pytest.approx((0, np.sqrt(0.5)), abs=1e-3)
    found = nearness(turn("An owl", by=(1, 0)), turn("heron two", by=(0, 1)))
    assert found["heron two"] == pytest.approx((0, np.sqrt(0.5)), abs=1e-3)
    found = nearness(turn("heron one", by=None), turn("heron two", by=(3, 4)))
    assert found["heron two"] == pytest.approx((0.6, 0.6), abs=1e-3)


def test_the_greatest_similarity_of_the_passages_around() -> None:
    """At most 3 updates away, in one session or not."""
    turns = [turn(f"heron {n}", by=(1, 0) if n == 0 else (3, 4)) for n in range(5)]
    values, _ = meaning_signals(gathered(*turns))
    assert values["near similar"] == pytest.approx([1, 1, 1, 1, 0.6], abs=1e-3)


def test_without_a_vector_words_tell_how_near_it_is_beside_the_others() -> None:
    """On the scale of the others, whatever came before it."""
    found = nearness(
        turn("heron", session="a", by=(1, 0)),
        turn("heron boat wall red oven", session="b", by=(3, 4)),
        turn("heron boat", session="c", by=None),
        turn("heron boat wall", session="a", by=None),
    )
    near, far = found["heron boat"], found["heron boat wall"]
    assert 1 > near[0] == near[1] > far[0] == far[1] > 0.6


def test_the_vectors_of_candidates() -> None:
    """A row of unit length for each; without a model word vectors stand for them, and where no
    candidate has a vector words alone tell what is similar."""
    values, vectors = meaning_signals(gathered(words("heron"), words("boat")))
    assert values["similar"][0] > 0.9 > values["similar"][1]
    assert vectors.tolist() == [[0, 0], [0, 0]]
    _, vectors = meaning_signals(gathered(turn("heron one", by=(3, 4)), turn("heron two", by=None)))
    assert vectors == pytest.approx(np.array([[0.6, 0.8], [0, 0]]), abs=1e-3)
    found = nearness(turn("heron", by=(-1, 0)), under=None)
    assert found["heron"] == pytest.approx((1, 0), abs=1e-3)


WEIGHTS = """
[words]
intercept = -2
meaning = 3
[vectors]
intercept = -2
meaning = 1
similar = 3
"similar window" = 1
"""


@pytest.fixture
def config(tmp_path_factory: pytest.TempPathFactory) -> RecallConfig:
    path = tmp_path_factory.mktemp("weights") / "weights.toml"
    path.write_text(WEIGHTS, encoding="utf-8")
    return RecallConfig(weights=str(path), fill=True)


def test_of_statements_with_the_same_words_the_nearer_stands_first(config: RecallConfig) -> None:
    """A missing vector takes nothing away: the better match stands first all the same."""
    store = store_of(
        turn("heron one", session="a", by=(1, 0)),
        turn("heron two", session="b", by=(0, 1)),
        turn("heron three", session="c", by=None),
    )
    context = recall(store, asked("heron"), config=config, under=NEAR)
    scores = {one.text: one.score or 0.0 for one in context.statements}
    assert scores["heron one"] > scores["heron three"] > scores["heron two"]
    store = store_of(
        words("heron sleeps", session="a"),
        turn("heron and an owl", session="b", by=(0, 1)),
        turn("owl two", session="c", by=(1, 0)),
    )
    among = {"heron sleeps", "heron and an owl"}
    for under in (NEAR, None):
        context = recall(store, asked("heron sleeps"), config=config, under=under)
        assert best(context, among) == "heron sleeps"


SUBJECTS = (("boat", "kayak", "sail"), ("bread", "bake", "oven"), ("piano", "music", "tune"))


def subjects(texts: list[str]) -> list[list[float]]:
    """Which of three subjects a text is about: equal for "kayak" and "boat"."""
    return [
        [0.1, *(float(any(word in text.lower() for word in words)) for words in SUBJECTS)]
        for text in texts
    ]


def test_a_memory_with_embeddings_shows_what_is_similar(config: RecallConfig) -> None:
    """What another namespace holds moves no score."""
    with RecallM(embeddings=subjects, config=config) as memory:
        memory.update("Ingrid has a fast boat.", session="a")
        memory.update("Ingrid has a warm oven.", session="b")
        memory.update("Olga is out of tune.", session="c")
        context = memory.recall("Does Ingrid go by kayak?")
        other = memory.in_namespace("other")
        other.update_many([{"text": f"Ingrid has {n} boats and a kayak."} for n in range(20)])
        assert memory.recall("Does Ingrid go by kayak?") == context
        memory.update("She will sail on Sunday.")
        alone = memory.recall("What about the kayak?", limit=9)
    assert "She will sail on Sunday." in [one.text for one in alone.statements], "no common word"
    found = {one.text: one for one in context.statements}
    boat = found["Ingrid has a fast boat."]
    assert boat.contributions["similar"] == pytest.approx(3, abs=0.05)
    assert boat.contributions["similar window"] == pytest.approx(1, abs=0.05)
    oven = found["Ingrid has a warm oven."]
    assert 0 <= oven.contributions["similar"] < 0.1
    assert (boat.score or 0) > (oven.score or 0)
    assert "similar+3.0" in context.explain()
    assert "similar window+1.0" in context.explain()


def test_statements_from_before_the_embeddings_are_recalled_with_the_others(
    config: RecallConfig, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = str(tmp_path_factory.mktemp("memory") / "memory.db")
    with RecallM(path, config=config) as memory:
        memory.update("Ingrid paints the kayak red.", session="a")
    with RecallM(path, embeddings=subjects, config=config) as memory:
        memory.update("Ingrid has a fast boat.", session="b")
        memory.update("Ingrid has a warm oven.", session="c")
        context = memory.recall("Does Ingrid paint the kayak?")
    found = {one.text: one for one in context.statements}
    assert len(found) == 3
    similar = [found[text].contributions["similar"] for text in found]
    assert similar[0] >= max(similar[1:])
    assert best(context, [text for text in found if "boat" not in text]).endswith("kayak red.")
