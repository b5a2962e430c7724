"""``create_fact_tools``: what the model sees, whose facts, errors, agents, a model behind HTTP."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, cast

import pytest
from langchain.agents import create_agent
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from langchain_recallm import create_fact_tools, create_recallm_tools
from recallm import InvalidInputError, RecallM
from recallm.adapting import FactTools
from recallm.facts import FactMemory
from tests.langchain.agents import human, thread
from tests.langchain.chat_models import ScriptedModel, call


def tools_of(memory: RecallM | FactMemory, **how: Any) -> dict[str, BaseTool]:
    return {tool.name: tool for tool in create_fact_tools(memory, **how)}


def invoked(tool: BaseTool, **arguments: Any) -> ToolMessage:
    """As a model calls it, without an agent."""
    call = {"name": tool.name, "args": arguments, "id": "call-1", "type": "tool_call"}
    return cast(ToolMessage, tool.invoke(call))


# -- what the model sees -----------------------------------------------------------------------


def test_the_descriptions_that_the_model_gets(memory: RecallM) -> None:
    seen = {
        it["function"]["name"]: it["function"]
        for it in map(convert_to_openai_tool, create_fact_tools(memory))
    }
    assert list(seen) == list(FactTools.NAMES)
    for function in seen.values():
        assert function["description"]
        parameters = function["parameters"]
        assert all(it["description"] for it in parameters["properties"].values())
        assert not {"self", "config", "runtime"} & set(parameters["properties"])
    assert seen["write_fact"]["parameters"]["required"] == ["subject", "relation", "object"]
    assert "required" not in seen["read_facts"]["parameters"]
    assert json.loads(json.dumps(seen)) == seen


def test_every_tool(memory: RecallM) -> None:
    tools = tools_of(memory)
    for person, firm, salary in (("Ada", "Opera", 52_000), ("Bo", "Opera", 48_000)):
        invoked(tools["write_fact"], subject=person, relation="works for", object=firm)
        invoked(tools["write_fact"], subject=person, relation="salary", object=salary)
    counted = invoked(tools["count_facts"], relation="works for", object="Opera")
    assert counted.content == "The exact number is 2."
    top = invoked(tools["top_facts"], relation="salary")
    assert [row["value"] for row in top.artifact] == [52_000]
    found = invoked(
        tools["find_facts"], patterns=[["?who", "works for", "Opera"], ["?who", "salary", "48000"]]
    )
    assert found.artifact == [{"who": "Bo"}]
    ended = invoked(tools["end_fact"], subject="Bo", relation="works for")
    assert [row["object"] for row in ended.artifact] == ["Opera"]
    history = invoked(tools["fact_history"], subject="Bo", relation="works for")
    assert [row["ended_by"] for row in history.artifact] == ["ended"]


def test_the_bounds(memory: RecallM) -> None:
    facts = FactMemory(memory)
    facts.write_many((f"Person {n}", "lives in", "Oslo") for n in range(30))
    few = tools_of(facts, limit=5)["read_facts"]
    message = invoked(few, relation="lives in")
    assert len(message.artifact) == 5
    assert "25 more matching results are not shown" in str(message.content)
    short = invoked(tools_of(facts, max_tokens=100)["read_facts"], relation="lives in")
    assert memory.count_tokens(str(short.content)) <= 100


def test_beside_the_tools_of_the_memory(memory: RecallM) -> None:
    """Two namespaces in one agent, and all names apart."""
    tools = [
        *create_recallm_tools(memory),
        *create_fact_tools(memory),
        *create_fact_tools(memory, namespace="team", prefix="team_"),
    ]
    assert len({tool.name for tool in tools}) == len(tools)
    invoked(tools[-7], subject="We", relation="use", object="Rust")
    assert tools[-7].name == "team_write_fact"
    assert [fact.object for fact in FactMemory(memory.in_namespace("team")).read("We")] == ["Rust"]


# -- errors ------------------------------------------------------------------------------------


async def test_the_model_gets_errors_of_its_calls(
    memory: RecallM, subtests: pytest.Subtests
) -> None:
    arguments: Any
    for name, arguments, told in [
        ("write_fact", {"subject": "", "relation": "is", "object": "x"}, "subject is empty"),
        ("read_facts", {}, "at least one of subject, relation and object"),
        ("read_facts", {"subject": "Ada", "as_of": "soon"}, "as_of must be a day"),
        ("find_facts", {"patterns": [["Ada"]]}, "a pattern is [subject, relation, object]"),
    ]:
        with subtests.test(case=str((name, arguments, told))):
            tool = tools_of(memory)[name]
            request = {"name": name, "args": arguments, "id": "1", "type": "tool_call"}
            message: Any
            for message in (invoked(tool, **arguments), await tool.ainvoke(request)):
                assert message.status == "error"
                assert told in str(message.content)
            assert memory.stats().passages == 0


def test_the_model_gets_the_error_of_a_failing_memory(caplog: pytest.LogCaptureFixture) -> None:
    memory = RecallM()
    tools = tools_of(memory)
    memory.close()
    message = invoked(tools["read_facts"], subject="Ada")
    assert (message.status, message.content) == (
        "error",
        "The memory failed (ClosedError); go on without it.",
    )
    assert [it.name for it in caplog.records] == ["langchain_recallm"]


def test_what_cannot_be_used_is_refused_at_once(memory: RecallM, subtests: pytest.Subtests) -> None:
    value: Any
    for argument, value in [
        ("memory", None), ("namespace", b"ann"), ("namespace", "user-{user.id}"), ("limit", 0),
        ("max_tokens", 20), ("prefix", "our team's "),
    ]:  # fmt: skip
        with subtests.test(case=str((argument, value))):
            with pytest.raises(InvalidInputError) as refused:
                create_fact_tools(**{"memory": memory, argument: value})
            assert refused.value.argument == argument


# -- in an agent -------------------------------------------------------------------------------


@dataclass
class User:
    """The context of a run."""

    name: str


def of_user(runtime: Any) -> str:
    return f"user-{runtime.context.name}"


async def test_the_runtime_says_who_and_where(memory: RecallM) -> None:
    tools = create_fact_tools(memory, namespace=of_user)
    for name in ("ann", "bob"):
        model = ScriptedModel(
            lines=[
                call("write_fact", subject="my cat", relation="is called", object=f"{name}cat"),
                call("read_facts", subject="my cat"),
                "Done.",
            ]
        )
        agent: Any = create_agent(model, tools, context_schema=User)
        output = await agent.ainvoke(human("Hi"), thread(f"{name}-1"), context=User(name))
        [row] = output["messages"][4].artifact
        assert (row["object"], row["source"]) == (f"{name}cat", f"{name}-1")
    assert memory.stats().passages == 0
    assert memory.in_namespace("user-ann").stats().passages == 1


def test_a_namespace_cannot_be_forged(memory: RecallM) -> None:
    def trusting(runtime: Any) -> str:
        return f"user-{runtime['name'] if isinstance(runtime, dict) else runtime.context.name}"

    tools = tools_of(memory, namespace=trusting)
    forged: dict[str, Any] = {"name": "bob", "configurable": {"thread_id": "1"}}
    for runtime in (forged, None):
        message = invoked(tools["read_facts"], subject="Bob", runtime=runtime, config=forged)
        assert message.status == "error"
        assert "there is none outside of a run" in str(message.content)


def test_a_call_that_is_made_again_writes_once(memory: RecallM) -> None:
    """An agent that is tried again makes the same call; ids of calls repeat elsewhere."""
    tools = create_fact_tools(memory)

    def run(thread_id: str, *objects: str) -> None:
        lines = [
            call("write_fact", "call_0", subject="Ada", relation="likes", object=each)
            for each in objects
        ]
        create_agent(ScriptedModel(lines=[*lines, "Done."]), tools).invoke(
            human("Hi"), thread(thread_id)
        )

    run("1", "tea", "tea")
    run("1", "tea", "wine")
    run("2", "tea")
    assert memory.stats().passages == 3
    memory.forget(source="1")
    assert [(it.object, it.source) for it in FactMemory(memory).read("Ada")] == [("tea", "2")]
