"""Contexts of the paper's ranking, revised without a language model."""

from __future__ import annotations

from recallm import RecallConfig, RecallM

SYMBOLIC = RecallConfig(ranking="paper", revision="symbolic")
CITIES = ("Malaga", "Porto", "Oslo", "Lima", "Bergen", "Lyon", "Turin")


def memory_of(*texts: str, config: RecallConfig = SYMBOLIC) -> RecallM:
    memory = RecallM(config=config, triplets=True)
    memory.update_many({"text": text, "id": str(place)} for place, text in enumerate(texts))
    return memory


def recalled(
    memory: RecallM, question: str = "Where does Ada live?", *, as_of: int | None = None
) -> list[str]:
    return [statement.text for statement in memory.recall(question, as_of=as_of).statements]


def test_the_context_of_many_updates_of_one_attribute_is_bounded() -> None:
    def length(updates: int, config: RecallConfig) -> int:
        texts = [f"Ada lives in {CITIES[place % len(CITIES)]}." for place in range(updates)]
        with memory_of(*texts, "Ada likes tea.", config=config) as memory:
            return memory.recall("Where does Ada live?").tokens

    assert length(60, SYMBOLIC) == length(20, SYMBOLIC) < 60
    assert length(60, RecallConfig(ranking="paper")) > 5 * length(60, SYMBOLIC)


def test_what_was_replaced_leaves_and_what_else_was_said_stays() -> None:
    with memory_of(
        "Ada lives in Malaga.", "Ada likes tea.", "Ada likes jazz.", "Ada lives in Porto."
    ) as memory:
        assert recalled(memory) == ["Ada likes tea.", "Ada likes jazz.", "Ada lives in Porto."]
        assert len(memory.history("Ada")) == 4


def test_of_equal_statements_the_latest_stays_also_without_facts() -> None:
    with RecallM(config=SYMBOLIC) as memory:
        for text in ("Ada sings.", "Ada dances.", "ada sings."):
            memory.update(text)
        assert recalled(memory, "What does Ada do?") == ["Ada dances.", "ada sings."]


def test_a_denial_ends_a_fact_and_stays_until_another_value_is_known() -> None:
    texts = ["Ada works at Cisco.", "Ada no longer works at Cisco.", "Ada works at BMW."]
    with memory_of(*texts[:2]) as memory:
        assert recalled(memory, "Where does Ada work?") == texts[1:2]
        memory.update(texts[2])
        assert recalled(memory, "Where does Ada work?") == texts[2:]


def test_a_statement_stays_while_one_of_its_facts_holds() -> None:
    with memory_of("Ada lives in Malaga and owns a boat.", "Ada lives in Porto.") as memory:
        assert len(recalled(memory)) == 2


def test_a_view_of_the_past_shows_what_held_then() -> None:
    with memory_of("Ada lives in Malaga.", "Ada lives in Porto.") as memory:
        assert recalled(memory) == ["Ada lives in Porto."]
        assert recalled(memory, as_of=1) == ["Ada lives in Malaga."]


def test_what_was_replaced_comes_back_where_its_successor_is_forgotten() -> None:
    with memory_of("Ada lives in Malaga.", "Ada lives in Porto.", "Ada lives in Oslo.") as memory:
        memory.forget(id="2")
        assert recalled(memory) == ["Ada lives in Porto."]
        memory.forget(id="1")
        assert recalled(memory) == ["Ada lives in Malaga."]


def test_no_language_model_is_asked_and_earlier_summaries_are_not_shown() -> None:
    """Both kinds of revision can be used on one memory, one after the other."""

    def refuse(prompt: str) -> str:
        raise AssertionError(prompt)

    texts = ["Ada lives in Malaga.", "Ada likes tea.", "Ada likes jazz.", "Ada lives in Porto."]
    with RecallM(llm=lambda prompt: "Ada is fine.", config=RecallConfig(ranking="paper")) as memory:
        memory.update_many(texts)
        assert "Ada is fine." in recalled(memory)
        with RecallM(memory._opened.store, llm=refuse, config=SYMBOLIC) as other:
            other.update_many(texts[:2] * 3)
            assert "Ada is fine." not in recalled(other)
