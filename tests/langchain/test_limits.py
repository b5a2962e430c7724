"""``k`` and ``limit`` mean the same wherever one of them is understood."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import HumanMessage

from langchain_recallm import (
    RecallMChatMessageHistory,
    RecallMMemory,
    RecallMMiddleware,
    RecallMRetriever,
    answer_chain,
    create_fact_tools,
    create_recallm_tools,
    fact_chat,
    hybrid_chain,
)
from recallm import InvalidInputError, RecallM

pytestmark = pytest.mark.filterwarnings(
    "ignore:The class `BaseMemory`:langchain_core._api.deprecation.LangChainDeprecationWarning"
)

MODEL = FakeListChatModel(responses=["Noted."])
QUESTION = "What does Ann love?"


@pytest.fixture
def memory() -> Iterator[RecallM]:
    with RecallM() as memory:
        memory.update_many(f"Ann loves {it}." for it in ("tea", "rain", "chess", "Oslo"))
        yield memory


def retrieved(memory: RecallM, **limit: Any) -> int:
    return len(RecallMRetriever(memory=memory, **limit).invoke(QUESTION))


def retrieved_in_a_call(memory: RecallM, **limit: Any) -> int:
    return len(RecallMRetriever(memory=memory, k=1).invoke(QUESTION, **limit))


def by_tool(memory: RecallM, **limit: Any) -> int:
    recall = create_recallm_tools(memory, **limit)[0]
    return str(recall.invoke({"query": QUESTION})).count("Ann loves")


def by_fact_tool(memory: RecallM, **limit: Any) -> int:
    tools = {tool.name: tool for tool in create_fact_tools(memory, **limit)}
    for city in ("Oslo", "Porto", "Lima"):
        tools["write_fact"].invoke({"subject": city, "relation": "is a", "object": "city"})
    return str(tools["read_facts"].invoke({"relation": "is a"})).count("→ city")


def by_middleware(memory: RecallM, **limit: Any) -> int:
    middleware = RecallMMiddleware(memory=memory, **limit)
    return middleware._agent_memory.limit or 0


def by_memory(memory: RecallM, **limit: Any) -> int:
    found = RecallMMemory(memory=memory, **limit).load_memory_variables({"input": QUESTION})
    return str(found["history"]).count("Ann loves")


def by_history(memory: RecallM, **limit: Any) -> int:
    history = RecallMChatMessageHistory(memory=memory, session="s", **limit)
    history.add_messages([HumanMessage(f"Number {n}.") for n in range(4)])
    return len(history.messages)


def by_chain(memory: RecallM, **limit: Any) -> int:
    return len(answer_chain(memory, MODEL, **limit).invoke(QUESTION)["statements"])


def by_hybrid_chain(memory: RecallM, **limit: Any) -> int:
    chain = hybrid_chain(memory, MODEL, vectors=lambda _: "", **limit)
    return len(chain.invoke(QUESTION)["statements"])


EVERYWHERE = (
    retrieved,
    retrieved_in_a_call,
    by_tool,
    by_fact_tool,
    by_middleware,
    by_memory,
    by_history,
    by_chain,
    by_hybrid_chain,
)


def test_both_names_are_understood(memory: RecallM, subtests: pytest.Subtests) -> None:
    for count in EVERYWHERE:
        with subtests.test(count.__name__):
            assert count(memory, k=2) == 2
            assert count(memory, limit=2) == 2
            assert count(memory, k=2, limit=2) == 2
            assert count(memory, k=None, limit=2) == 2


def test_what_cannot_be_a_limit_is_refused(memory: RecallM, subtests: pytest.Subtests) -> None:
    for count in EVERYWHERE:
        with subtests.test(count.__name__):
            with pytest.raises(ValueError, match="k=2 and limit=3 are two names of one argument"):
                count(memory, k=2, limit=3)
            with pytest.raises(ValueError, match=r"limit|k\n"):
                count(memory, k=0)
            with pytest.raises((TypeError, ValueError), match="top_k") as caught:
                count(memory, top_k=2)
            assert "limit" in str(caught.value)


def test_a_chat_with_facts_takes_both(memory: RecallM) -> None:
    fact_chat(memory, MODEL, k=3)
    with pytest.raises(InvalidInputError, match="two names"):
        fact_chat(memory, MODEL, k=3, limit=4)


def test_a_misspelt_name_is_guessed(memory: RecallM) -> None:
    with pytest.raises(TypeError, match="takes no max_token; did you mean max_tokens"):
        RecallMMiddleware(memory=memory, max_token=3)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="takes no sesion; did you mean session"):
        RecallMRetriever(memory=memory, sesion="a")  # type: ignore[call-arg]
