"""Callbacks and tracers see what the middleware recalls, as a retriever run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel

from recallm import RecallM, StoreError
from tests.langchain.agents import human, remembering

QUESTION = "Where does Ann live?"


class Seen(BaseCallbackHandler):
    """The retriever runs, with the ids of their parents."""

    def __init__(self) -> None:
        self.started: list[tuple[str, str, list[str], dict[str, Any], UUID | None]] = []
        self.found: list[list[Document]] = []
        self.failed: list[BaseException] = []

    def on_retriever_start(
        self,
        serialized: dict[str, Any],
        query: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        self.started.append((kwargs["name"], query, tags or [], metadata or {}, parent_run_id))

    def on_retriever_end(self, documents: Sequence[Document], **kwargs: Any) -> None:
        self.found.append(list(documents))

    def on_retriever_error(self, error: BaseException, **kwargs: Any) -> None:
        self.failed.append(error)


def agent_of(memory: RecallM, **arguments: Any) -> Any:
    return remembering(memory, FakeListChatModel(responses=["In Oslo."]), **arguments)


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_recall_is_one_retriever_run_inside_the_agents_run(
    memory: RecallM, asynchronous: bool
) -> None:
    memory.in_namespace("ann").update_many(["Ann lives in Oslo.", "Bo lives in Lima."])
    agent, seen = agent_of(memory, namespace="ann"), Seen()
    config = {"callbacks": [seen], "configurable": {"thread_id": "monday"}, "tags": ["mine"]}
    if asynchronous:
        await agent.ainvoke(human(QUESTION), config)
    else:
        agent.invoke(human(QUESTION), config)
    [(name, query, tags, metadata, parent)] = seen.started
    assert (name, query) == ("recall_memory", QUESTION)
    assert {"recallm", "namespace:ann", "mine"} <= set(tags)
    assert (metadata["namespace"], metadata["session"]) == ("ann", "monday")
    assert parent is not None
    [documents] = seen.found
    assert [it.page_content for it in documents] == ["Ann lives in Oslo.", "Bo lives in Lima."]
    assert documents[0].metadata["t_index"] == 1
    assert seen.failed == []


def test_a_failure_ends_the_run_and_not_the_agents(
    memory: RecallM, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise StoreError("the disk is gone")

    monkeypatch.setattr(RecallM, "recall", fail)
    seen = Seen()
    state = agent_of(memory).invoke(human(QUESTION), {"callbacks": [seen]})
    assert state["messages"][-1].content == "In Oslo."
    assert [str(error) for error in seen.failed] == ["the disk is gone"]
    assert seen.found == []


def test_a_redacted_question_is_all_that_is_traced(memory: RecallM) -> None:
    seen = Seen()
    agent = agent_of(memory, redact=lambda text: text.replace("Ann", "[NAME]"))
    agent.invoke(human(QUESTION), {"callbacks": [seen]})
    assert [query for _, query, *_ in seen.started] == ["Where does [NAME] live?"]
