"""The two tool specs: their tools, agents that use them, whose memory and facts."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from llama_index.core.agent import FunctionAgent
from llama_index.core.tools import FunctionTool

from llama_index_recallm import RecallMFactToolSpec, RecallMToolSpec
from recallm import InvalidInputError, RecallM
from recallm.adapting import CLOSING, FactTools
from recallm.facts import FactMemory
from tests.llama_index.scripted_model import ScriptedLLM, call


def tools_of(memory: RecallM, **how: Any) -> dict[str, FunctionTool]:
    tools = RecallMToolSpec(memory, **how).to_tool_list()
    return {tool.metadata.get_name(): tool for tool in tools}


def fact_tools_of(memory: RecallM | FactMemory, **how: Any) -> dict[str, FunctionTool]:
    tools = RecallMFactToolSpec(memory, **how).to_tool_list()
    return {tool.metadata.get_name(): tool for tool in tools}


def test_the_descriptions_that_the_model_gets(memory: RecallM) -> None:
    tools, fact_tools = tools_of(memory), fact_tools_of(memory)
    assert list(tools) == ["remember", "recall", "history", "forget"]
    assert list(fact_tools) == list(FactTools.NAMES)
    for tool in (*tools.values(), *fact_tools.values()):
        seen = tool.metadata.to_openai_tool()["function"]
        assert "Annotated" not in seen["description"]
        assert seen["description"]
        assert all(
            property_["description"] for property_ in seen["parameters"]["properties"].values()
        )
        assert json.loads(json.dumps(seen)) == seen
    assert tools["recall"].metadata.get_parameters_dict()["required"] == ["query"]
    assert "required" not in tools["forget"].metadata.get_parameters_dict()
    written = fact_tools["write_fact"].metadata.get_parameters_dict()
    assert written["required"] == ["subject", "relation", "object"]
    assert "required" not in fact_tools["read_facts"].metadata.get_parameters_dict()


async def test_remembered_recalled_and_forgotten(memory: RecallM) -> None:
    tools = tools_of(memory, session="monday")
    memory.update("I lived in Malaga.", speaker="Human")
    written = await tools["remember"].acall(text="Ann moved to Porto. Ann has a cat.")
    [statement, other] = memory.history("Ann")
    first = statement.id
    assert written.content == f"Saved as {first}, {other.id}."
    assert (statement.speaker, statement.session) == ("AI", "monday")
    assert statement.timestamp is not None
    found = await tools["recall"].acall(query="Where does Ann live?")
    assert f"[{first}]" in found.content
    assert "AI: Ann moved to Porto." in found.content
    assert found.content.count(CLOSING) == 1
    assert "I lived in Malaga." in tools["recall"].call(query="Where did I live?").content
    assert tools["forget"].call(id=f' "{first}"').content == f"Forgot the statement {first}."
    history = tools["history"].call(concept="Ann").content
    assert "Ann has a cat." in history
    assert "Ann moved" not in history
    assert tools["forget"].call(about="Ann").content == "Forgot 1 statement that mentions 'Ann'."
    assert "nothing was forgotten" in tools["forget"].call(about="Ann").content
    for output in (
        tools["history"].call(concept="Ann"),
        tools["recall"].call(query="Where is Zed?"),
    ):
        assert (output.content, output.is_error) == ("Nothing is remembered about that.", False)


def test_whose_memory(memory: RecallM) -> None:
    ann = memory.in_namespace("ann")
    tools_of(memory, namespace="ann")["remember"].call(text="Ann has a cat.")
    assert (memory.stats().passages, ann.stats().passages) == (0, 1)
    ann.update("Ann has a dog.", session="old")
    inside = tools_of(ann, session="new", scope="session")
    inside["remember"].call(text="Ann has a bird.")
    for output in (inside["recall"].call(query="Ann?"), inside["history"].call(concept="Ann")):
        assert "Ann has a bird." in output.content
        assert "Ann has a dog." not in output.content
    [dog] = [passage.id for passage in ann.history("dog")]
    with pytest.raises(InvalidInputError, match="nothing was forgotten"):
        inside["forget"].call(id=dog)
    inside["forget"].call(about="Ann")
    assert sorted(passage.text for passage in ann.history("Ann")) == [
        "Ann has a cat.",
        "Ann has a dog.",
    ]


async def test_tools_leave_the_event_loop(memory: RecallM, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[threading.Thread] = []

    def watch(of: type, method: str) -> None:
        called = getattr(of, method)

        def watched(*given: Any, **how: Any) -> Any:
            threads.append(threading.current_thread())
            return called(*given, **how)

        monkeypatch.setattr(of, method, watched)

    watch(RecallM, "recall")
    watch(FactMemory, "read")
    await tools_of(memory)["recall"].acall(query="Ada?")
    await fact_tools_of(memory)["read_facts"].acall(subject="Ada")
    assert len(threads) == 2
    assert threading.current_thread() not in threads


# LlamaIndex's workflows use what pydantic and they themselves have deprecated.
@pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")
@pytest.mark.filterwarnings("ignore:is_running called from within a step:DeprecationWarning")
async def test_an_agent(memory: RecallM) -> None:
    """It remembers, writes a fact, makes wrong calls, is shown the errors, recalls and reads."""
    llm = ScriptedLLM(
        call("remember", text="The user moved to Porto."),
        call("forget"),
        call("recall", query="Where did the user move to?"),
        call("write_fact", subject="Ada", relation="works for", object="BMW"),
        call("read_facts"),
        call("read_facts", relation="employed by", object="BMW"),
        "To Porto.",
    )
    tools: list[Any] = [*RecallMToolSpec(memory).to_tool_list()]
    tools += RecallMFactToolSpec(memory).to_tool_list()
    agent = FunctionAgent(tools=tools, llm=llm, streaming=False)
    assert str(await agent.run("I moved to Porto. Where did I move to?")) == "To Porto."
    assert "Give exactly one of id and about" in llm.prompt(2)
    assert "AI: The user moved to Porto." in llm.prompt(3)
    assert "at least one of subject, relation and object" in llm.prompt(5)
    assert "Ada — works for → BMW" in llm.prompt(6)


def test_wrong_calls_change_nothing(memory: RecallM) -> None:
    memory.update("Ann ran.")
    wrong: list[tuple[str, dict[str, str]]] = [
        ("remember", {"text": "  "}),
        ("recall", {"query": ""}),
        ("history", {"concept": "\n"}),
        ("forget", {}),
        ("forget", {"id": "x#0"}),
        ("forget", {"id": "x#0", "about": "Ann"}),
    ]
    for name, arguments in wrong:
        with pytest.raises(InvalidInputError, match="nothing was"):
            tools_of(memory)[name].call(**arguments)
    assert memory.stats().passages == 1


def test_arguments_are_checked_at_once(memory: RecallM) -> None:
    of_both = [("memory", None), ("namespace", "user-{id}"), ("limit", 0), ("max_tokens", 20)]
    own = [("session", "{thread}"), ("scope", "all"), ("scope", "session")]
    cases: list[tuple[Any, str, Any]] = [
        *((RecallMToolSpec, argument, value) for argument, value in (*of_both, *own)),
        *((RecallMFactToolSpec, argument, value) for argument, value in of_both),
    ]
    for spec, argument, value in cases:
        with pytest.raises(InvalidInputError) as refused:
            spec(**{"memory": memory, argument: value})
        assert refused.value.argument == argument


def test_whose_facts(memory: RecallM) -> None:
    facts = FactMemory(memory, single_valued=["drives"])
    tools = fact_tools_of(facts, namespace="ann")
    for car in ("a Volvo", "a Tesla"):
        tools["write_fact"].call(subject="Ann", relation="drives", object=car)
    assert "→ a Tesla" in tools["read_facts"].call(subject="Ann").content
    assert "a Volvo" not in tools["read_facts"].call(subject="Ann").content
    assert memory.stats().passages == 0
    assert fact_tools_of(memory, namespace="bob")["count_facts"].call(subject="Ann").content == (
        "The exact number is 0."
    )
