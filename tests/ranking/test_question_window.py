"""The temporal window of the paper's ranking, chosen by the question."""

from __future__ import annotations

from datetime import UTC, datetime

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


def test_the_window_is_the_time_that_the_question_asks_about() -> None:
    """Cities were last mentioned more than 15 updates before Ada."""
    with memory_of("question") as memory, memory_of("fixed") as fixed:
        for question in ("Where did Ada live in 2022?", "Where did Ada live by 2022?"):
            shown = texts(memory, question)
            assert "Porto" in shown, question
            assert "Oslo" not in shown, question
            assert "Oslo" in texts(fixed, question), question
        # A view of the caller that ends earlier stays.
        end = datetime(2021, 12, 31, tzinfo=UTC)
        early = texts(memory, "Where did Ada live in 2022?", as_of=end)
        assert "Malaga" in early
        assert "Porto" not in early
        for question, sees in (
            ("Where did Ada live at first?", {"malaga", "porto", "oslo"}),
            ("Where does Ada live now?", set()),
            ("Where has Ada lived since 2024?", {"oslo"}),
            ("Where did Ada live in 2022?", {"porto"}),
        ):
            names = {each.name for each in memory.recall(question, limit=400).concepts}
            assert names & {"malaga", "porto", "oslo"} == sees, question


def test_without_times_a_named_date_bounds_nothing() -> None:
    with memory_of("question", dated=False) as memory:
        assert "Malaga" in texts(memory, "Where did Ada live in 2022?")
