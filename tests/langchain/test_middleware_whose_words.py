"""Every message that a person sent in the outermost run is stored once as that person's, every
answer that the outermost run gave as the assistant's, and nothing else is anybody's words."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, TypedDict

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    ModelCallLimitMiddleware,
    ModelResponse,
    ModelRetryMiddleware,
    ToolCallLimitMiddleware,
)
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.runnables.config import ContextThreadPoolExecutor
from langchain_core.tools import BaseTool, InjectedToolCallId, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedState, ToolNode
from langgraph.types import Command, interrupt

from langchain_recallm import RecallMMiddleware
from recallm import RecallM
from tests.langchain.agents import human, thread, weather
from tests.langchain.chat_models import ScriptedModel, call
from tests.written_messages import speakers_and_texts

ASKED = "My name is Zed and I hate pesto."
Made = tuple[Any, Any, list[tuple[str, str]]]
"""What is invoked, with what, and what is remembered then."""


class Agents:
    """Agents with one middleware over one memory."""

    def __init__(self, memory: RecallM, **options: Any) -> None:
        self.ours = RecallMMiddleware(memory=memory, raise_errors=True, **options)

    def agent(self, *lines: Any, tools: Any = (), more: Any = (), **how: Any) -> Any:
        model = ScriptedModel(lines=lines)
        return create_agent(model, list(tools), middleware=[self.ours, *more], **how)

    def plain(self, *lines: Any, tools: Any = (), **how: Any) -> Any:
        return create_agent(ScriptedModel(lines=lines), list(tools), **how)


def graph(**nodes: Any) -> Any:
    """A graph of nodes, one after the other."""
    made: Any = StateGraph(MessagesState)
    before = START
    for name, node in nodes.items():
        made.add_node(name, node)
        made.add_edge(before, name)
        before = name
    return made.compile(checkpointer=InMemorySaver())


def last(result: Any) -> Any:
    return result["messages"][-1]


# -- another model or node speaks before the agent ---------------------------------------------


def router(agents: Agents) -> Made:
    model = ScriptedModel(lines=["To the chef."])
    nodes = {"route": lambda state: {"messages": [model.invoke(state["messages"])]}}
    chef = agents.agent("Avoid pesto.", name="chef")
    return graph(**nodes, chef=chef), ASKED, [
        ("Human", ASKED), ("AI", "To the chef."), ("chef", "Avoid pesto."),
    ]  # fmt: skip


def greeting(agents: Agents) -> Made:
    """By code."""
    made = graph(
        greet=lambda _: {"messages": [AIMessage("Welcome!")]}, tools=agents.agent("Avoid pesto.")
    )
    return made, ASKED, [("Human", ASKED), ("AI", "Avoid pesto.")]


def supervisor(agents: Agents, has_memory: bool = False) -> Made:
    @tool
    def to_chef(
        state: Annotated[Any, InjectedState], tool_call_id: Annotated[str, InjectedToolCallId]
    ) -> Any:
        """Hand over to the chef."""
        handed = [*state["messages"], ToolMessage("Handed over.", tool_call_id=tool_call_id)]
        return Command(goto="chef", graph=Command.PARENT, update={"messages": handed})

    make = agents.agent if has_memory else agents.plain
    boss = make(call("to_chef"), "Enjoy.", tools=[to_chef], name="boss")
    made: Any = StateGraph(MessagesState)
    made.add_node("boss", boss, destinations=("chef", "__end__"))
    made.add_node("chef", agents.agent("Avoid pesto.", name="chef"))
    made.add_edge(START, "boss")
    made.add_node("back", lambda _: {"messages": [AIMessage("Transferring back.")]})
    made.add_edge("chef", "back")
    made.add_edge("back", "boss")
    return made.compile(), ASKED, [("Human", ASKED), ("chef", "Avoid pesto."), ("boss", "Enjoy.")]


def supervisor_with_memory(agents: Agents) -> Made:
    return supervisor(agents, has_memory=True)


def prefill(agents: Agents) -> Made:
    given = [HumanMessage(ASKED), AIMessage("You should")]
    agent = agents.agent("avoid pesto.", checkpointer=InMemorySaver())
    return agent, given, [("Human", ASKED), ("AI", "avoid pesto.")]


def text_of_a_chain(agents: Agents) -> Made:
    agent = agents.agent("Avoid pesto.")
    chain = (
        RunnableLambda(lambda text: {"messages": [("human", text)]})
        | agent
        | RunnableLambda(lambda state: state["messages"][-1].text)
    )
    return chain, {"as it is": ASKED}, [("Human", ASKED), ("AI", "Avoid pesto.")]


def texts_within_an_event(agents: Agents) -> Made:
    """Two questions of one event of an app, each to an agent."""
    agent = agents.agent("Avoid pesto.", "Try soup.")
    questions = [ASKED, "What else?"]

    def ask(event: dict[str, Any]) -> Any:
        return [agent.invoke(human(item["text"])) for item in event["event"]["items"]]

    made = RunnableLambda(ask)
    event = {"event": {"user": "zed", "items": [{"text": question} for question in questions]}}
    return made, {"as it is": event}, [
        ("Human", ASKED), ("Human", "What else?"), ("AI", "Avoid pesto."), ("AI", "Try soup."),
    ]  # fmt: skip


def only_an_instructed_agent(agents: Agents) -> Made:
    """It is not given what the person said; that is remembered all the same."""
    agent = agents.agent("Pesto has basil.")
    made = graph(plan=lambda _: {"messages": [last(agent.invoke(human("INSTRUCTION one")))]})
    return made, ASKED, [("Human", ASKED), ("AI", "Pesto has basil.")]


# -- an agent instructs another ----------------------------------------------------------------


def instructing(agents: Agents, ask: BaseTool, has_memory: bool = True) -> Made:
    make = agents.agent if has_memory else agents.plain
    boss = make(call("ask", question="INSTRUCTION one"), "Enjoy.", tools=[ask])
    return boss, ASKED, [("Human", ASKED), ("AI", "Enjoy.")]


def parallel_agents(agents: Agents, has_memory: bool = True) -> Made:
    @tool
    async def ask(question: str) -> str:
        """Ask two experts."""
        experts = [agents.agent("It snows."), agents.agent("It rains.")]
        given = [human(question), human("INSTRUCTION two")]
        answers = await asyncio.gather(
            experts[0].ainvoke(given[0]), experts[1].ainvoke(given[1], thread("own"))
        )
        return " ".join(last(answer).text for answer in answers)

    return instructing(agents, ask, has_memory)


def parallel_agents_alone(agents: Agents) -> Made:
    return parallel_agents(agents, has_memory=False)


def pool_with_context(agents: Agents) -> Made:
    @tool
    def ask(question: str) -> str:
        """Ask an expert."""
        with ContextThreadPoolExecutor() as pool:
            expert = agents.agent("It snows.")
            return str(last(pool.submit(expert.invoke, human(question), thread("p")).result()).text)

    return instructing(agents, ask)


def thread_with_config(agents: Agents) -> Made:
    @tool
    def ask(question: str, config: RunnableConfig) -> str:
        """Ask an expert."""
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor() as pool:
            done = pool.submit(agents.agent("It snows.").invoke, human(question), config)
            return str(last(done.result()).text)

    return instructing(agents, ask)


def tool_node_of_another_name(agents: Agents) -> Made:
    @tool
    def ask(question: str) -> str:
        """Ask an expert."""
        return str(last(agents.agent("It snows.").invoke(human(question))).text)

    model = ScriptedModel(lines=[call("ask", question="INSTRUCTION one")])
    made = graph(
        think=lambda state: {"messages": [model.invoke(state["messages"])]},
        helpers=ToolNode([ask]),
        answer=agents.agent("Enjoy."),
    )
    return made, ASKED, [("Human", ASKED), ("AI", "Enjoy.")]


def pipeline(agents: Agents) -> Made:
    class Draft(MessagesState, total=False):
        draft: str

    writer, reviewer = agents.agent("DRAFT one"), agents.agent("Use basil.")
    made: Any = StateGraph(Draft)
    made.add_node("write", lambda state: {"draft": last(writer.invoke(state)).text})
    made.add_node(
        "review",
        lambda state: {
            "messages": [last(reviewer.invoke(human(f"Review this: {state['draft']}")))]
        },
    )
    made.add_edge(START, "write")
    made.add_edge("write", "review")
    return made.compile(), ASKED, [("Human", ASKED), ("AI", "Use basil.")]


def pipeline_in_one_state(agents: Agents) -> Made:
    made = graph(
        write=agents.agent("DRAFT one"),
        ask=lambda state: {"messages": [("human", f"Review this: {last(state).text}")]},
        review=agents.agent("Use basil."),
    )
    return made, ASKED, [("Human", ASKED), ("AI", "DRAFT one"), ("AI", "Use basil.")]


def answer_in_another_message(agents: Agents) -> Made:
    """A node gives the agent's text in a message of its own."""
    agent = agents.agent("Avoid pesto.")

    class Question(TypedDict, total=False):
        question: str
        answer: str

    made: Any = StateGraph(Question)
    made.add_node(
        "ask", lambda state: {"answer": last(agent.invoke(human(state["question"]))).text}
    )
    made.add_edge(START, "ask")
    return made.compile(), {"as it is": {"question": ASKED}}, [
        ("Human", ASKED), ("AI", "Avoid pesto."),
    ]  # fmt: skip


# -- what only code wrote ----------------------------------------------------------------------


def failed_model(agents: Agents) -> Made:
    retry = ModelRetryMiddleware(max_retries=1, initial_delay=0.0, jitter=False)
    agent = agents.agent(*[RuntimeError("secret stack trace")] * 2, more=[retry])
    return agent, ASKED, [("Human", ASKED)]


def limited_model(agents: Agents) -> Made:
    limit = ModelCallLimitMiddleware(run_limit=1)
    line = call("weather", says="Let me see.", city="Oslo")
    return (
        agents.agent(line, tools=[weather], more=[limit]),
        ASKED,
        [("Human", ASKED), ("AI", "Let me see.")],
    )


def limited_tools(agents: Agents) -> Made:
    limit = ToolCallLimitMiddleware(run_limit=1, exit_behavior="end")
    lines = [call("weather", "1", city="Oslo"), call("weather", "2", city="Oslo")]
    return agents.agent(*lines, tools=[weather], more=[limit]), ASKED, [("Human", ASKED)]


def rewritten(agents: Agents) -> Made:
    """Middleware puts the model's answer into a message of its own."""

    class Shouting(AgentMiddleware):
        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            return ModelResponse(result=[AIMessage(handler(request).result[0].text.upper())])

        async def awrap_model_call(self, request: Any, handler: Any) -> Any:
            response = await handler(request)
            return ModelResponse(result=[AIMessage(response.result[0].text.upper())])

    return (
        agents.agent("Avoid pesto.", more=[Shouting()]),
        ASKED,
        [("Human", ASKED), ("AI", "AVOID PESTO.")],
    )


CASES = [
    router, greeting, supervisor, supervisor_with_memory, prefill, text_of_a_chain,
    texts_within_an_event,
    only_an_instructed_agent, parallel_agents, parallel_agents_alone, pool_with_context,
    thread_with_config, tool_node_of_another_name, pipeline, pipeline_in_one_state,
    answer_in_another_message, failed_model, limited_model, limited_tools, rewritten,
]  # fmt: skip


@pytest.mark.parametrize("on_a_loop", [True, False])
async def test_whose_words_are_remembered(memory: RecallM, on_a_loop: bool) -> None:
    """Once each, in the run's thread; of a person with a name of the app's."""
    wrong = []
    for make in CASES:
        if not on_a_loop and make in (parallel_agents, parallel_agents_alone):
            continue
        own = memory.in_namespace(make.__name__)
        made, given, expected = make(Agents(own, human_prefix="Ann" if on_a_loop else None))
        messages = [HumanMessage(given)] if isinstance(given, str) else given
        entry = given["as it is"] if isinstance(given, dict) else {"messages": messages}
        if on_a_loop:
            await made.ainvoke(entry, thread("1"))
            expected = [("Ann" if who == "Human" else who, text) for who, text in expected]
        else:
            made.invoke(entry, thread("1"))
        found = speakers_and_texts(own)
        if found != expected or len(speakers_and_texts(own, "1")) != len(found):
            wrong.append((make.__name__, found))
    assert wrong == []


# -- what a person answers to an interrupt -----------------------------------------------------


@pytest.mark.parametrize("is_nested", [False, True])
@pytest.mark.parametrize("remember", [False, True])
def test_answers_to_interrupts(memory: RecallM, remember: bool, is_nested: bool) -> None:
    @tool
    def ask_person(question: str) -> str:
        """Ask the person."""
        return str(interrupt(question))

    agents = Agents(memory, remember_interrupts=remember)
    lines = [call("ask_person", says="One question.", question="How hot?"), "Noted."]
    saver = None if is_nested else InMemorySaver()
    agent = agents.agent(*lines, tools=[ask_person], checkpointer=saver)
    made = graph(agent=agent) if is_nested else agent
    made.invoke(human(ASKED), thread("1"))
    made.invoke(Command(resume="As hot as it gets."), thread("1"))
    answered = [("Human", "As hot as it gets.")] if remember else []
    found = speakers_and_texts(memory)
    assert sorted(found) == sorted(
        [("Human", ASKED), ("AI", "One question."), *answered, ("AI", "Noted.")]
    )
    if not is_nested:
        assert found[1:-1] == [("AI", "One question."), *answered]


def test_what_a_run_was_not_given_is_named(
    memory: RecallM, caplog: pytest.LogCaptureFixture
) -> None:
    agent = Agents(memory).agent("Hi.", "Hello.")

    def ask(_: str) -> Any:
        return [agent.invoke(human(text)) for text in ("One.", "Two.")]

    RunnableLambda(ask).invoke("")
    assert [record.message[:33] for record in caplog.records] == [
        "what the agent was asked is not r"
    ]
