"""``RecallMMiddleware`` for many at once: users, threads, agents within agents, one event loop."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

from langchain_recallm import RecallMMiddleware
from recallm import RecallM
from tests.langchain.agents import Talk, human, system, thread, weather
from tests.langchain.chat_models import ScriptedModel, call
from tests.written_messages import speakers_and_texts


@dataclass
class User:
    """The context of a run."""

    name: str


def of_user(runtime: Any) -> str:
    return f"user-{runtime.context.name}"


USERS = ("ann", "bob")
TALKS = [(user, number) for user in USERS for number in range(2)]
TURNS = 3  # in each


def seen(user: str, number: int) -> list[str]:
    """What a user says in one conversation: no two sentences are the same."""
    return [f"{user} saw bird {n}." for n in range(number * TURNS, (number + 1) * TURNS)]


@pytest.mark.parametrize("on_threads", [True, False])
async def test_two_users_at_once(memory: RecallM, on_threads: bool) -> None:
    """Two users, two conversations each, all at once, on threads or on one event loop: nothing
    crosses, nothing is lost."""
    talk = Talk(
        memory,
        reply=lambda messages: f"You said: {messages[-1].text}",
        checkpointer=InMemorySaver(),
        context_schema=User,
        namespace=of_user,
    )

    async def asay_all(user: str, number: int) -> None:
        for text in seen(user, number):
            await talk.agent.ainvoke(human(text), thread(f"{user}-{number}"), context=User(user))

    def say_all(user: str, number: int) -> None:
        for text in seen(user, number):
            talk.agent.invoke(human(text), thread(f"{user}-{number}"), context=User(user))

    if on_threads:
        with ThreadPoolExecutor(len(TALKS)) as threads:
            for done in [threads.submit(say_all, *arguments) for arguments in TALKS]:
                done.result()
    else:
        await asyncio.gather(*(asay_all(*arguments) for arguments in TALKS))
    assert talk.written == []
    for user, number in TALKS:
        own = memory.in_namespace(f"user-{user}")
        assert own.stats().passages == 2 * TURNS * 2
        assert speakers_and_texts(own, session=f"{user}-{number}") == [
            line
            for text in seen(user, number)
            for line in (("Human", text), ("AI", f"You said: {text}"))
        ]
    without = 0
    for messages in talk.model.sent:
        user, other = USERS if messages[-1].text.startswith(USERS[0]) else USERS[::-1]
        assert other not in str(messages)
        without += f"{user} saw bird" not in system(messages)
    assert without <= len(TALKS)  # what is said first has nothing before it


def test_without_a_namespace_nothing_is_written(
    memory: RecallM, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing is recalled from, and nothing written into, the memory's own namespace."""
    memory.update("Ann lives in Oslo.")
    namespaces: list[Any] = [of_user, lambda _: None, lambda _: "", lambda _: 42, "user-{user_id}"]
    for namespace in namespaces:
        talk = Talk(memory, "I do not know.", namespace=namespace, on_missing="skip")
        caplog.clear()
        with caplog.at_level(logging.WARNING, "langchain_recallm"):
            output = talk.say("Where does Ann live?")  # without a context
        assert output["messages"][-1].text == "I do not know."
        assert len(talk.model.sent[0]) == 1
        [record] = caplog.records
        assert record.getMessage().startswith("nothing is recalled or remembered: ")
        assert record.exc_info is None
        assert talk.written == [(None, "Ann lives in Oslo.")]
        with pytest.raises((AttributeError, TypeError, ValueError)):
            Talk(memory, "?", namespace=namespace).say("Hi")
    memory.in_namespace("team").update("Bo lives in Rome.")
    talk = Talk(memory, "Rome.", namespace="team")
    talk.say("Where does Bo live?")
    assert "Bo lives in Rome." in talk.told()
    assert talk.written == [(None, "Ann lives in Oslo.")]
    assert len(speakers_and_texts(memory.in_namespace("team"))) == 3


# -- agents within agents ----------------------------------------------------------------------


def test_an_agent_that_is_a_tool_of_another(memory: RecallM) -> None:
    """Each recalls from the memory that it was given; nobody said a word to the second."""
    expert = Talk(memory, "It snows in Oslo.", namespace="expert")

    @tool
    def ask_expert(question: str) -> str:
        """Ask the expert."""
        return str(expert.say(question)["messages"][-1].text)

    memory.in_namespace("expert").update("Oslo is cold in winter.")
    memory.update("Ann lives in Oslo.")
    asking = call("ask_expert", question="How is Oslo in winter?")
    talk = Talk(memory, asking, "Snow.", tools=[ask_expert], checkpointer=InMemorySaver())
    talk.say("How is winter where Ann lives?", "1")
    assert "Oslo is cold in winter." in expert.told()
    assert "Ann lives" not in str(expert.model.sent)
    assert "Ann lives in Oslo." in talk.told(1)
    assert talk.written[1:] == [("Human", "How is winter where Ann lives?"), ("AI", "Snow.")]
    assert speakers_and_texts(memory.in_namespace("expert"), "1") == []


@pytest.mark.parametrize("checkpoints", [True, False])
def test_agents_one_after_the_other_in_a_graph(
    memory: RecallM, recalls: list[str], checkpoints: bool
) -> None:
    """The second has the user's question and the first one's answer: it is told what the memory
    knows, and nothing is written twice."""
    memory.update("Ann lives in Oslo.")
    first = Talk(memory, "She lives up north.", name="first")
    lines = [call("weather", city="Oslo"), "Sunny."]
    second = Talk(memory, *lines, tools=[weather], name="second")
    graph = StateGraph(MessagesState)
    graph.add_node("first", first.agent)
    graph.add_node("second", second.agent)
    graph.add_edge(START, "first")
    graph.add_edge("first", "second")
    compiled: Any = graph.compile(checkpointer=InMemorySaver() if checkpoints else None)
    output = compiled.invoke(human("How is it where Ann lives?"), thread("1"))
    assert set(output) == {"messages"}
    for talk in (first, second):
        assert all("Ann lives in Oslo." in system(messages) for messages in talk.model.sent)
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
    first_call = call("weather", "1", says="Let me look.", city="Oslo")
    model = ScriptedModel(lines=[first_call, call("weather", "2", city="Oslo"), "Both."])

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
        create_agent(model, middleware=[RecallMMiddleware(memory=memory) for memory in (own, team)])
