"""``RecallMFactToolSpec``: its tools, agents that use them, whose facts."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from llama_index.core.agent import FunctionAgent
from llama_index.core.tools import FunctionTool

from llama_index_recallm import RecallMFactToolSpec
from recallm import InvalidInputError, RecallM
from recallm.adapting import CLOSING, FactTools
from recallm.facts import FactMemory
from tests.llama_index.scripted_model import ScriptedLLM, call


def tools_of(memory: RecallM | FactMemory, **how: Any) -> dict[str, FunctionTool]:
    tools = RecallMFactToolSpec(memory, **how).to_tool_list()
    return {tool.metadata.get_name(): tool for tool in tools}


def test_the_descriptions_that_the_model_gets(memory: RecallM) -> None:
    tools = tools_of(memory)
    assert list(tools) == list(FactTools.NAMES)
    for tool in tools.values():
        seen = tool.metadata.to_openai_tool()["function"]
        assert "Annotated" not in seen["description"]
        assert seen["description"]
        assert all(it["description"] for it in seen["parameters"]["properties"].values())
        assert json.loads(json.dumps(seen)) == seen
    written = tools["write_fact"].metadata.get_parameters_dict()
    assert written["required"] == ["subject", "relation", "object"]
    assert "required" not in tools["read_facts"].metadata.get_parameters_dict()


async def test_facts_are_written_and_read(memory: RecallM) -> None:
    tools = tools_of(memory, source="chat-1")
    written = tools["write_fact"].call(subject="Ada", relation="salary", object=52_000)
    assert written.content == "Written."
    await tools["write_fact"].acall(subject="Bo", relation="salary", object="48,000")
    output = tools["read_facts"].call(relation="salary")
    assert output.content.count(CLOSING) == 1
    assert [row["value"] for row in output.raw_output.rows] == [48_000, 52_000]
    assert {row["source"] for row in output.raw_output.rows} == {"chat-1"}
    assert (await tools["top_facts"].acall(relation="salary")).raw_output.rows[0]["value"] == 52_000
    assert tools["count_facts"].call(relation="salary").content == "The exact number is 2."


async def test_tools_leave_the_event_loop(memory: RecallM, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[threading.Thread] = []
    read = FactMemory.read

    def watched(self: FactMemory, *given: Any, **how: Any) -> Any:
        threads.append(threading.current_thread())
        return read(self, *given, **how)

    monkeypatch.setattr(FactMemory, "read", watched)
    await tools_of(memory)["read_facts"].acall(subject="Ada")
    assert threads
    assert threading.current_thread() not in threads


# LlamaIndex's workflows use what pydantic and they themselves have deprecated.
@pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")
@pytest.mark.filterwarnings("ignore:is_running called from within a step:DeprecationWarning")
async def test_an_agent(memory: RecallM) -> None:
    """It writes a fact, makes a wrong call, is shown the error, and reads."""
    llm = ScriptedLLM(
        call("write_fact", subject="Ada", relation="works for", object="BMW"),
        call("read_facts"),
        call("read_facts", relation="employed by", object="BMW"),
        "Ada does.",
    )
    tools: list[Any] = [*RecallMFactToolSpec(memory).to_tool_list()]
    agent = FunctionAgent(tools=tools, llm=llm, streaming=False)
    assert str(await agent.run("Ada works for BMW. Who works there?")) == "Ada does."
    assert "at least one of subject, relation and object" in llm.prompt(2)
    assert "Ada — works for → BMW" in llm.prompt(3)


def test_whose_facts(memory: RecallM) -> None:
    facts = FactMemory(memory, single_valued=["drives"])
    tools = tools_of(facts, namespace="ann")
    for car in ("a Volvo", "a Tesla"):
        tools["write_fact"].call(subject="Ann", relation="drives", object=car)
    [row] = tools["read_facts"].call(subject="Ann").raw_output.rows
    assert row["object"] == "a Tesla"
    assert memory.stats().passages == 0
    assert tools_of(memory, namespace="bob")["count_facts"].call(subject="Ann").content == (
        "The exact number is 0."
    )


@pytest.mark.parametrize(
    ("argument", "value"),
    [("memory", None), ("namespace", "user-{id}"), ("limit", 0), ("max_tokens", 20)],
)
def test_arguments_are_checked_at_once(memory: RecallM, argument: str, value: Any) -> None:
    with pytest.raises(InvalidInputError) as refused:
        RecallMFactToolSpec(**{"memory": memory, argument: value})
    assert refused.value.argument == argument
