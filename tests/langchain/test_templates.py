"""A template names the user's namespace, in every class that runs; it never merges two users."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.runnables import RunnableConfig

from langchain_recallm import (
    RecallMMiddleware,
    RecallMRetriever,
    answer_chain,
    create_fact_tools,
    create_recallm_tools,
    fact_chat,
    hybrid_chain,
)
from langchain_recallm._runs import NamespaceTemplate
from recallm import InvalidInputError, RecallM
from tests.langchain.agents import Talk, human
from tests.langchain.chat_models import call

QUESTION = "What is the secret word?"
TEMPLATE = "user-{user_id}"


@dataclass
class User:
    """The context of a run."""

    user_id: Any = None


@pytest.fixture
def memory() -> Iterator[RecallM]:
    with RecallM() as memory:
        for user in ("ann", "bob"):
            own = memory.in_namespace(f"user-{user}")
            own.update(f"The secret word is {user}{user}.")
        yield memory


def of(user: Any) -> RunnableConfig:
    return {"configurable": {"user_id": user}}


# -- every class that runs -------------------------------------------------------------------------


async def test_chains_retrievers_and_tools_outside_of_an_agent(memory: RecallM) -> None:
    model = FakeListChatModel(responses=["Noted."])
    retriever = RecallMRetriever(memory=memory, namespace=TEMPLATE)
    assert "annann" in retriever.invoke(QUESTION, of("ann"))[0].page_content
    assert "bobbob" in (await retriever.ainvoke(QUESTION, of("bob")))[0].page_content
    chain = answer_chain(memory, model, namespace=TEMPLATE)
    assert "annann" in chain.invoke(QUESTION, of("ann"))["context"]
    hybrid = hybrid_chain(memory, model, vectors=lambda _: "", namespace=TEMPLATE)
    assert "bobbob" in hybrid.invoke(QUESTION, of("bob"))["answers"]["recallm"].context.text
    for runnable in (retriever, chain, hybrid, fact_chat(memory, model, namespace=TEMPLATE)):
        with pytest.raises(InvalidInputError, match="needs 'user_id', which this run does not"):
            runnable.invoke(QUESTION)
    recall = create_recallm_tools(memory, namespace=TEMPLATE)[0]
    assert "annann" in recall.invoke({"query": QUESTION}, of("ann"))
    assert "needs 'user_id'" in recall.invoke({"query": QUESTION})
    tools = {tool.name: tool for tool in create_fact_tools(memory, namespace=TEMPLATE)}
    fact = {"subject": "Ann", "relation": "is a", "object": "nurse"}
    assert tools["write_fact"].invoke(fact, of("ann")) == "Written."
    assert "nurse" in tools["read_facts"].invoke({"relation": "is a"}, of("ann"))
    assert "nurse" not in tools["read_facts"].invoke({"relation": "is a"}, of("bob"))


async def test_an_agent(memory: RecallM) -> None:
    tools = create_recallm_tools(memory, namespace=TEMPLATE)
    text = "The cat is called Kim."
    lines = [call("save_memory", "1", text=text), "Noted."]
    lines += [call("save_memory", "2", text=text), "Noted."]
    own = memory.in_namespace("user-ann")
    runs: list[dict[str, Any]] = [{"context": User("ann")}, {"config": of("ann")}]
    for given in runs:
        talk = Talk(memory, *lines, tools=tools, context_schema=User, namespace=TEMPLATE)
        talk.agent.invoke(human("Hello, who am I?"), **given)
        await talk.agent.ainvoke(human("Hello, who am I?"), **given)
        texts = [passage.text for passage in own.passages()]
        said = ["Hello, who am I?", text, "Noted."]
        assert texts[1:] == said * 2
        for passage in own.passages()[1:]:
            own.forget(id=passage.id)
    with pytest.raises(InvalidInputError, match="needs 'user_id'"):
        Talk(memory, "Hi!", namespace=TEMPLATE, raise_errors=False).say("I live in Oslo.")
    assert memory.stats().passages == 0
    assert memory.in_namespace("user-bob").stats().passages == 1


# -- the template ----------------------------------------------------------------------------------


def filled(template: str, context: Any = None, **configurable: Any) -> str:
    run = SimpleNamespace(context=context, config={"configurable": configurable})
    return NamespaceTemplate(template)(run)


def test_values_come_from_the_context_and_from_configurable() -> None:
    id = UUID(int=7)
    assert filled("user-{user_id}", User("ann")) == "user-ann"
    assert filled("user-{user_id}", {"user_id": 7}) == "user-7"
    assert filled("{user_id}", None, user_id=id) == str(id)
    assert filled("{org}/{user}", {"org": "acme"}, user="ann-b") == "acme/ann-b"
    assert filled("{user_id}", User("ann"), user_id="ann") == "ann"
    assert filled("team-{name}-", None, name="a-b c") == "team-a-b c-"


def test_a_value_that_cannot_be_used_is_refused() -> None:
    """Also one that could merge two users."""
    configurable: Any
    for context, configurable, fault in [
        (None, {}, "needs 'user_id'"), (User(), {"user_id": None}, "needs 'user_id'"),
        (User(""), {}, "blank"), (User(" \n"), {}, "blank"),
        (User("{user_id}"), {}, "itself a template"), (User(True), {}, "not bool"),
        (User(1.5), {}, "not float"), (User(["ann"]), {}, "not list"),
        (User("ann"), {"user_id": "bob"}, "two values"),
    ]:  # fmt: skip
        with pytest.raises(InvalidInputError, match=fault) as caught:
            filled("user-{user_id}", context, **configurable)
        assert caught.value.argument == "namespace"
    for org, user in [("a-b", "c"), ("a", "b-c"), ("-", "a")]:
        with pytest.raises(InvalidInputError, match="two users could share one memory"):
            filled("{org}-{user}", None, org=org, user=user)
        assert filled("{org}/{user}", None, org=org, user=user) == f"{org}/{user}"


def test_a_template_that_cannot_be_used_is_refused_when_it_is_set(memory: RecallM) -> None:
    for template in [
        "user-{user_id", "user_id}", "{}", "{0}", "{user.id}", "{user[id]}", "{user!r}",
        "{user:>9}", "{{user_id}}", "{{x}}-{user}", "{org}{user}",
    ]:  # fmt: skip
        with pytest.raises(InvalidInputError, match="template"):
            RecallMMiddleware(memory=memory, namespace=template)
        with pytest.raises(ValueError, match="template"):
            RecallMRetriever(memory=memory, namespace=template)
