"""The tools that are given on request, to list, update, and forget everything; those over facts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool

from langchain_recallm import create_fact_tools, create_recallm_tools
from langchain_recallm._memory_tools import ToolName
from recallm import NewItem, RecallM
from recallm.adapting import CLOSING, OPENING, FactTools
from recallm.facts import FactMemory
from tests.langchain.agents import Talk, thread
from tests.langchain.chat_models import call

ALL: tuple[ToolName, ...] = (
    "recall_memory",
    "save_memory",
    "forget_memory",
    "list_memories",
    "update_memory",
    "forget_me",
)


def tools_of(memory: RecallM, **arguments: Any) -> dict[str, Any]:
    return {it.name: it for it in create_recallm_tools(memory, tools=ALL, **arguments)}


def answer(tool: Any, config: Any = None, **arguments: Any) -> ToolMessage:
    given = {"type": "tool_call", "id": "1", "name": tool.name, "args": arguments}
    message = tool.invoke(given, config)
    assert isinstance(message, ToolMessage)
    return message


def texts(memory: RecallM) -> list[str]:
    return [passage.text for passage in memory.passages()]


def test_the_names_and_descriptions_that_the_model_gets(memory: RecallM) -> None:
    assert [it.name for it in create_recallm_tools(memory)] == list(ALL[:3])
    chosen = create_recallm_tools(memory, tools=["forget_me", "list_memories"], prefix="my_")
    assert [it.name for it in chosen] == ["my_forget_me", "my_list_memories"]
    assert create_recallm_tools(memory, tools=()) == []
    tools = [*create_recallm_tools(memory, tools=ALL), *create_fact_tools(memory)]
    seen = {it["function"]["name"]: it["function"] for it in map(convert_to_openai_tool, tools)}
    assert list(seen) == [*ALL, *FactTools.NAMES]
    for function in seen.values():
        assert function["description"]
        properties = function["parameters"]["properties"]
        assert all(it["description"] for it in properties.values())
        assert not {"self", "config", "runtime"} & set(properties)
    assert seen["write_fact"]["parameters"]["required"] == ["subject", "relation", "object"]
    assert "required" not in seen["read_facts"]["parameters"]
    assert json.loads(json.dumps(seen)) == seen


# -- listing, updating, forgetting everything ------------------------------------------------------


def test_a_list_has_the_latest_first_in_pages(stored: RecallM) -> None:
    stored.update_many({"text": f"Number {n}.\n{CLOSING}", "id": f"n{n}"} for n in range(5))
    listing = tools_of(stored, limit=2)["list_memories"]
    message = answer(listing)
    lines = str(message.content).splitlines()
    assert (lines[0], lines[-1]) == (OPENING, CLOSING)
    assert lines[-3:-1] == [
        "[n4] Number 4. ‹/recalled memory›",
        "[n3] Number 3. ‹/recalled memory›",
    ]
    assert [it["id"] for it in message.artifact] == ["n4", "n3"]
    assert [it["id"] for it in answer(listing, before="n3").artifact] == ["n2", "n1"]
    last = answer(listing, before=stored.passages()[0].id)
    assert last.content == "Nothing older is remembered."
    assert answer(listing, before="none").status == "error"


def test_a_list_is_bounded_and_stays_in_its_scope(memory: RecallM) -> None:
    """It leaves out what the model reads anyway."""
    listing = tools_of(memory)["list_memories"]
    assert answer(listing).content == "Nothing is remembered yet."
    memory.update("Said on Monday.", session="monday")
    memory.update("Said on Tuesday.", session="tuesday")
    narrow = tools_of(memory, scope="session")["list_memories"]
    message = answer(narrow, thread("monday"))
    assert [it["text"] for it in message.artifact] == ["Said on Monday."]
    talk = Talk(memory, call("list_memories"), "Done.", tools=[listing])
    listed = talk.say("What do you know of me?", "1")["messages"][2]
    assert [it["text"] for it in listed.artifact] == ["Said on Tuesday.", "Said on Monday."]
    memory.update_many(f"Number {n} is a number." for n in range(50))
    short = tools_of(memory, limit=None, max_tokens=80)["list_memories"]
    message = answer(short)
    assert memory.count_tokens(str(message.content)) <= 80
    assert 0 < len(message.artifact) < 50


def test_an_update_replaces_a_statement_or_a_memory_and_nothing_else(memory: RecallM) -> None:
    memory.update("Ann lives in Oslo. Ann has a cat.", id="a", session="monday")
    memory.update("Bo has a dog.", id="b")
    tools = tools_of(memory)
    update = tools["update_memory"]
    assert "Replaced a#1 by " in str(answer(update, id="a#1", text="Ann has a parrot.").content)
    assert answer(update, id='"b"', text="Bo has a horse.").status == "success"
    assert sorted(texts(memory)) == ["Ann has a parrot.", "Ann lives in Oslo.", "Bo has a horse."]
    new = memory.passages()[-1]
    assert (new.speaker, new.metadata) == ("AI", {"tool": "update_memory", "replaces": "b"})
    memory.items.put([NewItem(path=("p",), key="k", text="Ann has a cat.")])
    FactMemory(memory).write("Ann", "works for", "BMW")
    before = texts(memory)
    item = memory.items.below()[0]
    fact = next(it for it in memory.passages() if not it.text)
    for id in ("none", "none#0", "", item.id, f"{item.id}#0", fact.id):
        assert answer(update, id=id, text="Ann has a dog.").status == "error"
    assert answer(update, id="a", text="  ").status == "error"
    narrow = tools_of(memory, scope="session")["update_memory"]
    assert answer(narrow, thread("tuesday"), id="a", text="Ann has a dog.").status == "error"
    assert texts(memory) == before
    assert answer(tools["forget_memory"], id="a").content == "Forgot the memory a."
    assert "Ann lives in Oslo." not in texts(memory)


def test_forget_me_needs_a_confirmation_and_keeps_its_scope(stored: RecallM) -> None:
    forget = tools_of(stored)["forget_me"]
    before = texts(stored)
    assert answer(forget, confirm=False).status == "error"
    with pytest.raises(ValueError, match="confirm"):
        forget.invoke({})
    assert texts(stored) == before
    other = stored.in_namespace("other")
    other.update("Said on Monday.", session="monday")
    other.update("Said on Tuesday.", session="tuesday")
    assert answer(forget, confirm=True).content == "Forgot everything: 2 memories."
    assert texts(stored) == []
    assert len(texts(other)) == 2
    narrow = tools_of(other, scope="session")["forget_me"]
    assert answer(narrow, thread("monday"), confirm=True).status == "success"
    assert texts(other) == ["Said on Tuesday."]
    assert answer(narrow, confirm=True).status == "error"  # no thread


# -- over facts ------------------------------------------------------------------------------------


def test_every_tool_over_facts(memory: RecallM) -> None:
    tools = {tool.name: tool for tool in create_fact_tools(memory)}
    for person, firm, salary in (("Ada", "Opera", 52_000), ("Bo", "Opera", 48_000)):
        answer(tools["write_fact"], subject=person, relation="works for", object=firm)
        answer(tools["write_fact"], subject=person, relation="salary", object=salary)
    counted = answer(tools["count_facts"], relation="works for", object="Opera")
    assert counted.content == "The exact number is 2."
    top = answer(tools["top_facts"], relation="salary")
    assert [row["value"] for row in top.artifact] == [52_000]
    patterns = [["?who", "works for", "Opera"], ["?who", "salary", "48000"]]
    assert answer(tools["find_facts"], patterns=patterns).artifact == [{"who": "Bo"}]
    ended = answer(tools["end_fact"], subject="Bo", relation="works for")
    assert [row["object"] for row in ended.artifact] == ["Opera"]
    history = answer(tools["fact_history"], subject="Bo", relation="works for")
    assert [row["ended_by"] for row in history.artifact] == ["ended"]


def test_the_bounds_of_facts_and_two_namespaces_in_one_agent(memory: RecallM) -> None:
    facts = FactMemory(memory)
    facts.write_many((f"Person {n}", "lives in", "Oslo") for n in range(30))
    message = answer(create_fact_tools(facts, limit=5)[2], relation="lives in")
    assert len(message.artifact) == 5
    assert "25 more matching results are not shown" in str(message.content)
    short = answer(create_fact_tools(facts, max_tokens=100)[2], relation="lives in")
    assert memory.count_tokens(str(short.content)) <= 100
    write, *_ = create_fact_tools(memory, namespace="team", prefix="team_")
    answer(write, subject="We", relation="use", object="Rust")
    assert write.name == "team_write_fact"
    assert [fact.object for fact in FactMemory(memory.in_namespace("team")).read("We")] == ["Rust"]
