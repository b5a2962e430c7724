"""The names and descriptions of all tools; ``create_fact_tools``."""

from __future__ import annotations

import json
import re
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool

from langchain_recallm import create_fact_tools, create_recallm_tools
from recallm import RecallM
from recallm.adapting import FactTools
from recallm.facts import FactMemory


def answer(tool: Any, **arguments: Any) -> ToolMessage:
    given = {"type": "tool_call", "id": "1", "name": tool.name, "args": arguments}
    message = tool.invoke(given)
    assert isinstance(message, ToolMessage)
    return message


def test_the_names_and_descriptions_that_the_model_gets(memory: RecallM) -> None:
    tools = [*create_recallm_tools(memory), *create_fact_tools(memory)]
    seen = {
        tool["function"]["name"]: tool["function"] for tool in map(convert_to_openai_tool, tools)
    }
    assert list(seen) == ["recall_memory", "save_memory", "forget_memory", *FactTools.NAMES]
    for function in seen.values():
        assert function["description"]
        properties = function["parameters"]["properties"]
        assert all(property_["description"] for property_ in properties.values())
        assert not {"self", "config", "runtime"} & set(properties)
    assert seen["write_fact"]["parameters"]["required"] == ["subject", "relation", "object"]
    assert "required" not in seen["read_facts"]["parameters"]
    assert json.loads(json.dumps(seen)) == seen


def test_every_tool_over_facts(memory: RecallM) -> None:
    tools = {tool.name: tool for tool in create_fact_tools(memory)}
    for person, firm, salary in (("Ada", "Opera", 52_000), ("Bo", "Opera", 48_000)):
        answer(tools["write_fact"], subject=person, relation="works for", object=firm)
        answer(tools["write_fact"], subject=person, relation="salary", object=salary)
    counted = answer(tools["count_facts"], relation="works for", object="Opera")
    assert counted.content == "The exact number is 2."
    paid = answer(tools["read_facts"], relation="salary")
    assert re.findall(r"→ (\d+)", str(paid.content)) == ["48000", "52000"]
    ended = answer(tools["end_fact"], subject="Bo", relation="works for")
    assert "Bo — works for → Opera" in str(ended.content)
    history = answer(tools["fact_history"], subject="Bo", relation="works for")
    assert ", until " in str(history.content)


def test_the_bounds_of_facts_and_two_namespaces_in_one_agent(memory: RecallM) -> None:
    facts = FactMemory(memory)
    facts.write_many((f"Person {n}", "lives in", "Oslo") for n in range(30))
    message = answer(create_fact_tools(facts, limit=5)[2], relation="lives in")
    assert str(message.content).count("— lives in → Oslo") == 5
    assert "25 more matching results are not shown" in str(message.content)
    short = answer(create_fact_tools(facts, max_tokens=100)[2], relation="lives in")
    assert memory.count_tokens(str(short.content)) <= 100
    write, *_ = create_fact_tools(memory, namespace="team")
    answer(write, subject="We", relation="use", object="Rust")
    assert [fact.object for fact in FactMemory(memory.in_namespace("team")).read("We")] == ["Rust"]
