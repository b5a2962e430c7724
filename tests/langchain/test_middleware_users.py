"""``RecallMMiddleware`` for many at once: users, threads, agents within agents, one event loop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import BaseMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph

from langchain_recallm import RecallMMiddleware
from recallm import RecallM
from tests.langchain.agents import human, remembering, system, thread, weather
from tests.langchain.chat_models import ScriptedModel, call
from tests.written_messages import speakers_and_texts


@dataclass
class User:
    """The context of a run."""

    name: str


def of_user(runtime: Any) -> str:
    return f"user-{runtime.context.name}"


def echo(messages: Sequence[BaseMessage]) -> str:
    return f"You said: {messages[-1].text}"


def users_agent(memory: RecallM, model: ScriptedModel, **how: Any) -> Any:
    return remembering(
        memory,
        model,
        checkpointer=InMemorySaver(),
        context_schema=User,
        namespace=of_user,
        raise_errors=True,
        **how,
    )


USERS = ("ann", "bob")
TALKS = [(user, number) for user in USERS for number in range(3)]
TURNS = 4  # in each


def seen(user: str, number: int) -> list[str]:
    """What a user says in one conversation: no two sentences are the same."""
    return [f"{user} saw bird {n}." for n in range(number * TURNS, (number + 1) * TURNS)]


def check_nothing_crossed(memory: RecallM, model: ScriptedModel) -> None:
    assert speakers_and_texts(memory) == []
    for user, number in TALKS:
        own = memory.in_namespace(f"user-{user}")
        assert own.stats().passages == 3 * TURNS * 2
        assert speakers_and_texts(own, session=f"{user}-{number}") == [
            line
            for text in seen(user, number)
            for line in (("Human", text), ("AI", f"You said: {text}"))
        ]
    without = 0
    for messages in model.sent:
        user, other = USERS if messages[-1].text.startswith(USERS[0]) else USERS[::-1]
        assert other not in str(messages)
        without += f"{user} saw bird" not in system(messages)
    assert without <= len(TALKS)  # what is said first has nothing before it


def test_two_users_on_threads(memory: RecallM) -> None:
    """Two users, three conversations each, all at once: nothing crosses, nothing is lost."""
    model = ScriptedModel(reply=echo)
    agent = users_agent(memory, model)

    def talk(user: str, number: int) -> None:
        for text in seen(user, number):
            agent.invoke(human(text), thread(f"{user}-{number}"), context=User(user))

    with ThreadPoolExecutor(len(TALKS)) as threads:
        for done in [threads.submit(talk, *it) for it in TALKS]:
            done.result()
    check_nothing_crossed(memory, model)


async def test_two_users_on_one_event_loop(memory: RecallM) -> None:
    model = ScriptedModel(reply=echo)
    agent = users_agent(memory, model)

    async def talk(user: str, number: int) -> None:
        for text in seen(user, number):
            await agent.ainvoke(human(text), thread(f"{user}-{number}"), context=User(user))

    await asyncio.gather(*(talk(*it) for it in TALKS))
    check_nothing_crossed(memory, model)


def test_without_a_namespace_nothing_is_written(
    memory: RecallM, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing is recalled from, and nothing written into, the memory's own namespace."""
    memory.update("Ann lives in Oslo.")
    for namespace in (of_user, lambda _: None, lambda _: "", lambda _: 42):
        model = ScriptedModel(lines=["I do not know."])
        middleware = RecallMMiddleware(
            memory=memory,
            namespace=namespace,  # type: ignore[arg-type]
            on_missing="skip",
        )
        agent = create_agent(model, middleware=[middleware])
        caplog.clear()
        with caplog.at_level(logging.WARNING, "langchain_recallm"):
            output = agent.invoke(human("Where does Ann live?"))  # without a context
        assert output["messages"][-1].text == "I do not know."
        assert len(model.sent[0]) == 1
        assert len(caplog.records) == 1
        assert speakers_and_texts(memory) == [(None, "Ann lives in Oslo.")]
    with pytest.raises(AttributeError):
        users_agent(memory, ScriptedModel(lines=["?"])).invoke(human("Hi"), thread("1"))


def test_a_namespace_by_name(memory: RecallM) -> None:
    memory.in_namespace("team").update("Ann lives in Oslo.")
    model = ScriptedModel(lines=["Oslo."])
    agent = remembering(memory, model, namespace="team")
    agent.invoke(human("Where does Ann live?"))
    assert "Ann lives in Oslo." in system(model.sent[0])
    assert speakers_and_texts(memory) == []
    assert len(speakers_and_texts(memory.in_namespace("team"))) == 3


# -- agents within agents ----------------------------------------------------------------------


def test_an_agent_that_is_a_tool_of_another(memory: RecallM) -> None:
    """Each recalls from the memory that it was given; nobody said a word to the second."""
    expert_model = ScriptedModel(lines=["It snows in Oslo."])
    expert = remembering(memory, expert_model, namespace="expert", raise_errors=True)

    @tool
    def ask_expert(question: str) -> str:
        """Ask the expert."""
        return str(expert.invoke(human(question))["messages"][-1].text)

    memory.in_namespace("expert").update("Oslo is cold in winter.")
    memory.update("Ann lives in Oslo.")
    model = ScriptedModel(lines=[call("ask_expert", question="How is Oslo in winter?"), "Snow."])
    agent = remembering(
        memory, model, [ask_expert], checkpointer=InMemorySaver(), raise_errors=True
    )
    agent.invoke(human("What should Ann wear?"), thread("1"))
    assert "Oslo is cold in winter." in system(expert_model.sent[0])
    assert "Ann lives" not in str(expert_model.sent)
    assert "Ann lives in Oslo." in system(model.sent[1])
    assert speakers_and_texts(memory, "1") == [("Human", "What should Ann wear?"), ("AI", "Snow.")]
    assert speakers_and_texts(memory.in_namespace("expert"), "1") == []


@pytest.mark.parametrize("checkpoints", [True, False])
def test_agents_one_after_the_other_in_a_graph(
    memory: RecallM, recalls: list[str], checkpoints: bool
) -> None:
    """The second has the user's question and the first one's answer: it is told what the memory
    knows, and nothing is written twice."""
    memory.update("Ann lives in Oslo.")
    first = ScriptedModel(lines=["She lives up north."])
    second = ScriptedModel(lines=[call("weather", city="Oslo"), "Sunny."])
    graph = StateGraph(MessagesState)
    for name, model in (("first", first), ("second", second)):
        graph.add_node(name, remembering(memory, model, [weather], name=name, raise_errors=True))
    graph.add_edge(START, "first")
    graph.add_edge("first", "second")
    graph.add_edge("second", END)
    compiled: Any = graph.compile(checkpointer=InMemorySaver() if checkpoints else None)
    output = compiled.invoke(human("How is it where Ann lives?"), thread("1"))
    assert set(output) == {"messages"}
    for model in (first, second):
        assert all("Ann lives in Oslo." in system(messages) for messages in model.sent)
    assert len(recalls) == 2
    assert speakers_and_texts(memory, "1") == [
        ("Human", "How is it where Ann lives?"),
        ("first", "She lives up north."),
        ("second", "Sunny."),
    ]


def test_a_users_memory_and_a_teams_in_one_agent(memory: RecallM) -> None:
    """Each recalls and remembers its own, also after an interrupt, here and elsewhere."""
    own, team = memory.in_namespace("ann"), memory.in_namespace("team")
    own.update("Ann likes herring.")
    team.update("The team likes pizza.")
    saver = InMemorySaver()
    model = ScriptedModel(
        lines=[
            call("weather", "1", says="Let me look.", city="Oslo"),
            call("weather", "2", city="Oslo"),
            "Both.",
        ]
    )

    def agents() -> Any:
        return create_agent(
            model,
            [weather],
            checkpointer=saver,
            middleware=[
                RecallMMiddleware(memory=own, roles={"human"}, raise_errors=True),
                RecallMMiddleware(memory=team, roles={"ai"}, name="TeamMemory", raise_errors=True),
            ],
            interrupt_before=["tools"],
        )

    first = agents()
    first.invoke(human("What does everybody like?"), thread("1"))
    first.invoke(None, thread("1"))
    agents().invoke(None, thread("1"))
    assert len(model.sent) == 3
    for messages in model.sent:
        assert system(messages).count("Ann likes herring.") == 1
        assert system(messages).count("The team likes pizza.") == 1
    assert speakers_and_texts(own, "1") == [("Human", "What does everybody like?")]
    assert speakers_and_texts(team, "1") == [("AI", "Let me look."), ("AI", "Both.")]
    with pytest.raises(AssertionError, match="duplicate"):
        create_agent(model, middleware=[RecallMMiddleware(memory=it) for it in (own, team)])
