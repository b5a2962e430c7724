"""The temporal window of the paper's ranking, chosen by the question."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from recallm import RecallConfig, RecallM

NOW = datetime(2025, 6, 1, tzinfo=UTC)


def memory_of(window: str, *, dated: bool = True) -> RecallM:
    """Homes of Ada in 2021, 2022 and 2024, and twenty updates about her work after each."""
    config = RecallConfig(ranking="paper", window=window)  # type: ignore[arg-type]
    memory = RecallM(config=config, clock=lambda: NOW)
    for year, city in ((2021, "Malaga"), (2022, "Porto"), (2024, "Oslo")):
        texts = [f"Ada lives in {city}, near the {city} harbour."]
        texts += [f"{city} has quarter {place}." for place in range(3)]
        texts += [f"Ada wrote report {place}." for place in range(20)]
        for month, text in enumerate(texts):
            moment = datetime(year, 1 + month % 12, 1 + month // 12, tzinfo=UTC)
            memory.update(text, timestamp=moment if dated else None)
    return memory


def texts(memory: RecallM, question: str, *, as_of: datetime | None = None) -> str:
    return memory.recall(question, as_of=as_of).text


@pytest.mark.parametrize("question", ["Where did Ada live in 2022?", "Where did Ada live by 2022?"])
def test_a_named_time_is_a_view_of_its_end(question: str) -> None:
    with memory_of("question") as memory:
        shown = texts(memory, question)
        assert "Porto" in shown
        assert "Oslo" not in shown
    with memory_of("fixed") as memory:
        assert "Oslo" in texts(memory, question)


def test_a_view_of_the_caller_that_ends_earlier_stays() -> None:
    with memory_of("question") as memory:
        early = texts(
            memory, "Where did Ada live in 2022?", as_of=datetime(2021, 12, 31, tzinfo=UTC)
        )
        assert "Malaga" in early
        assert "Porto" not in early


@pytest.mark.parametrize(
    ("question", "sees"),
    [
        ("Where did Ada live at first?", {"malaga", "porto", "oslo"}),
        ("Where does Ada live now?", set()),
        ("Where has Ada lived since 2024?", {"oslo"}),
        ("Where did Ada live in 2022?", {"porto"}),
    ],
)
def test_the_window_reaches_as_far_back_as_the_question_asks(question: str, sees: set[str]) -> None:
    """Cities were last mentioned more than 15 updates before Ada."""
    config = RecallConfig(max_concepts=400)
    with memory_of("question") as memory:
        names = {it.name for it in memory.recall(question, limit=config.max_concepts).concepts}
        assert names & {"malaga", "porto", "oslo"} == sees


def test_without_times_a_named_date_bounds_nothing() -> None:
    with memory_of("question", dated=False) as memory:
        assert "Malaga" in texts(memory, "Where did Ada live in 2022?")
