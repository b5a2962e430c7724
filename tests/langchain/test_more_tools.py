"""The tools that are given on request: what is listed, updated, and forgotten as a whole."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import ToolMessage

from langchain_recallm import create_recallm_tools
from langchain_recallm._memory_tools import ToolName
from recallm import InvalidInputError, NewItem, RecallM
from recallm.adapting import CLOSING, OPENING
from recallm.facts import FactMemory
from tests.langchain.agents import human, remembering, thread
from tests.langchain.chat_models import ScriptedModel, call

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


def test_the_tools_are_those_that_are_asked_for(memory: RecallM) -> None:
    assert [it.name for it in create_recallm_tools(memory)] == list(ALL[:3])
    chosen = create_recallm_tools(memory, tools=["forget_me", "list_memories"], prefix="my_")
    assert [it.name for it in chosen] == ["my_forget_me", "my_list_memories"]
    assert create_recallm_tools(memory, tools=()) == []
    for tool in create_recallm_tools(memory, tools=ALL):
        schema = tool.tool_call_schema.model_json_schema()  # type: ignore[union-attr]
        assert all(it["description"] for it in schema["properties"].values())
        assert not {"runtime", "config"} & set(schema["properties"])


def test_a_tool_that_is_none_is_refused(memory: RecallM, subtests: pytest.Subtests) -> None:
    wrong: Any
    for wrong in ["recall_memory", ["drop_memory"], [3], None]:
        with subtests.test(case=str(wrong)):
            with pytest.raises(InvalidInputError, match="tools"):
                create_recallm_tools(memory, tools=wrong)


# -- listing ---------------------------------------------------------------------------------------


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
    older = answer(listing, before="n3")
    assert [it["id"] for it in older.artifact] == ["n2", "n1"]
    last = answer(listing, before=stored.passages()[0].id)
    assert last.content == "Nothing older is remembered."
    unknown = answer(listing, before="none")
    assert unknown.status == "error"


def test_a_list_is_bounded_and_stays_in_its_scope(memory: RecallM) -> None:
    listing = tools_of(memory)["list_memories"]
    assert answer(listing).content == "Nothing is remembered yet."
    memory.update("Said on Monday.", session="monday")
    memory.update("Said on Tuesday.", session="tuesday")
    narrow = tools_of(memory, scope="session")["list_memories"]
    message = answer(narrow, thread("monday"))
    assert [it["text"] for it in message.artifact] == ["Said on Monday."]
    memory.update_many(f"Number {n} is a number." for n in range(50))
    short = tools_of(memory, limit=None, max_tokens=80)["list_memories"]
    message = answer(short)
    assert memory.count_tokens(str(message.content)) <= 80
    assert 0 < len(message.artifact) < 50


# -- updating --------------------------------------------------------------------------------------


def test_an_update_replaces_a_statement_or_a_memory(stored: RecallM) -> None:
    stored.forget(everything=True)
    stored.update("Ann lives in Oslo. Ann has a cat.", id="a")
    stored.update("Bo has a dog.", id="b")
    update = tools_of(stored)["update_memory"]
    assert "Replaced a#1 by " in str(answer(update, id="a#1", text="Ann has a parrot.").content)
    assert answer(update, id='"b"', text="Bo has a horse.").status == "success"
    assert sorted(texts(stored)) == ["Ann has a parrot.", "Ann lives in Oslo.", "Bo has a horse."]
    new = stored.passages()[-1]
    assert (new.speaker, new.metadata) == ("AI", {"tool": "update_memory", "replaces": "b"})


def test_what_is_not_updated_stays_as_it_is(memory: RecallM) -> None:
    memory.update("Ann lives in Oslo.", id="a", session="monday")
    memory.items.put([NewItem(path=("p",), key="k", text="Ann has a cat.")])
    FactMemory(memory).write("Ann", "works for", "BMW")
    before = texts(memory)
    update = tools_of(memory)["update_memory"]
    item = memory.items.below()[0]
    fact = next(it for it in memory.passages() if not it.text)
    for id in ("none", "none#0", "", item.id, f"{item.id}#0", fact.id):
        assert answer(update, id=id, text="Ann has a dog.").status == "error"
    assert answer(update, id="a", text="  ").status == "error"
    narrow = tools_of(memory, scope="session")["update_memory"]
    assert answer(narrow, thread("tuesday"), id="a", text="Ann has a dog.").status == "error"
    assert texts(memory) == before


def test_a_memory_is_forgotten_by_the_id_that_a_list_shows(memory: RecallM) -> None:
    memory.update("Ann lives in Oslo. Ann has a cat.", id="a")
    forget = tools_of(memory)["forget_memory"]
    assert answer(forget, id="a").content == "Forgot the memory a."
    assert texts(memory) == []


# -- forgetting everything -------------------------------------------------------------------------


def test_forget_me_needs_a_confirmation(stored: RecallM) -> None:
    forget = tools_of(stored)["forget_me"]
    before = texts(stored)
    assert answer(forget, confirm=False).status == "error"
    with pytest.raises(ValueError, match="confirm"):
        forget.invoke({})
    assert texts(stored) == before
    other = stored.in_namespace(f"{stored.namespace}-other")
    other.update("Cy lives in Rome.")
    assert answer(forget, confirm=True).content == "Forgot everything: 2 memories."
    assert texts(stored) == []
    assert texts(other) == ["Cy lives in Rome."]
    other.forget(everything=True)


def test_in_the_scope_of_a_session_the_thread_alone_is_forgotten(memory: RecallM) -> None:
    memory.update("Said on Monday.", session="monday")
    memory.update("Said on Tuesday.", session="tuesday")
    forget = tools_of(memory, scope="session")["forget_me"]
    assert answer(forget, thread("monday"), confirm=True).status == "success"
    assert texts(memory) == ["Said on Tuesday."]
    assert answer(forget, confirm=True).status == "error"  # no thread


def test_a_list_leaves_out_what_the_model_reads_anyway(memory: RecallM) -> None:
    memory.update("Ann lives in Oslo.")
    model = ScriptedModel(lines=[call("list_memories"), "Done."])
    agent = remembering(memory, model, create_recallm_tools(memory, tools=["list_memories"]))
    state = agent.invoke(human("What do you know of me?"), thread("1"))
    [listed] = [it for it in state["messages"] if isinstance(it, ToolMessage)]
    assert [it["text"] for it in listed.artifact] == ["Ann lives in Oslo."]
