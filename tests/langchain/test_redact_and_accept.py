"""``redact`` and ``accept`` decide what is written, wherever something is written."""

from __future__ import annotations

import asyncio
import io
from contextlib import suppress
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import ToolException
from langgraph.checkpoint.memory import InMemorySaver
from llama_index.core.base.llms.types import ChatMessage

from langchain_recallm import (
    RecallMChatMessageHistory,
    RecallMMemory,
    RecallMStore,
    create_fact_tools,
    create_recallm_tools,
    fact_chat,
)
from llama_index_recallm import RecallMFactToolSpec, RecallMMemoryBlock, RecallMToolSpec
from recallm import RecallM
from recallm.adapting import FactTools, Message
from recallm.facts import FactMemory
from tests.langchain.agents import human, remembering

pytestmark = pytest.mark.filterwarnings(
    "ignore:The class `BaseMemory`:langchain_core._api.deprecation.LangChainDeprecationWarning"
)

SECRET = "471108154711081547"
SAID = f"My PIN is {SECRET}."


def redact(text: str) -> str:
    return text.replace(SECRET, "[PIN]")


def refuse(message: Message) -> bool:
    return "PIN" not in message.text


def fail(*_: Any) -> Any:
    raise LookupError("the list of names is gone")


# Each writes one text, and raises what fails.


def by_middleware(memory: RecallM, text: str, **hooks: Any) -> None:
    model = FakeListChatModel(responses=["Noted."])
    remembering(memory, model, raise_errors=True, **hooks).invoke(human(text))


def by_memory(memory: RecallM, text: str, **hooks: Any) -> None:
    RecallMMemory(memory=memory, **hooks).save_context({"input": text}, {"output": "Noted."})


def by_history(memory: RecallM, text: str, **hooks: Any) -> None:
    history = RecallMChatMessageHistory(memory=memory, session="s", **hooks)
    history.add_messages([HumanMessage(text), HumanMessage("Noted.")])


def by_store(memory: RecallM, text: str, **hooks: Any) -> None:
    store = RecallMStore(memory=memory, **hooks)
    store.put(("a",), "noted", {"text": "Noted."})
    store.put(("a",), "k", {"text": "Hello.", "deep": [{"note": text}], "n": 1})


def by_tool(memory: RecallM, text: str, **hooks: Any) -> None:
    save = create_recallm_tools(memory, **hooks)[1]
    save.invoke({"text": "Noted."})
    save.handle_tool_error = False
    save.invoke({"text": text})


EVERYWHERE = (by_middleware, by_memory, by_history, by_store, by_tool)


def archive(memory: RecallM) -> str:
    written = io.StringIO()
    memory.export(written)
    return written.getvalue()


def test_what_is_written_is_redacted_and_what_is_refused_is_not_written(
    memory: RecallM, subtests: pytest.Subtests
) -> None:
    for write in EVERYWHERE:
        with subtests.test(write.__name__):
            own = memory.in_namespace(write.__name__)
            write(own, SAID, redact=redact)
            assert SECRET not in archive(own)
            assert "My PIN is [PIN]." in archive(own)
            own.forget(everything=True)
            with suppress(ToolException):  # the model is told so
                write(own, SAID, redact=redact, accept=refuse)
            assert "PIN" not in archive(own)
            assert "Noted." in archive(own)


async def asynchronous(_: Any) -> Any:
    return True


def test_where_a_hook_fails_nothing_is_written(memory: RecallM, subtests: pytest.Subtests) -> None:
    no_result = r"LookupError|names is gone|must return"
    for write in EVERYWHERE:
        for hook, failing in (
            ("redact", fail),
            ("accept", fail),
            ("redact", lambda _: 3),
            ("accept", lambda _: "yes"),
        ):
            with subtests.test(write.__name__, hook=hook):
                with pytest.raises(Exception, match=no_result):
                    write(memory, SAID, **{hook: failing})
                assert memory.stats().passages == 0
        for hook in ("redact", "accept"):
            for wrong in ("text", asynchronous):
                with (
                    subtests.test(write.__name__, hook=hook),
                    pytest.raises(ValueError, match=hook),
                ):
                    write(memory, SAID, **{hook: wrong})


# -- what is particular to one of them -------------------------------------------------------------


def test_a_message_handed_in_again_is_known_by_its_redacted_text(memory: RecallM) -> None:
    history = RecallMChatMessageHistory(memory=memory, session="s", redact=redact)
    for _ in range(2):
        history.add_messages([HumanMessage(SAID, id=f"a-{SECRET}")])
    assert SECRET not in archive(memory)
    assert [message.content for message in history.messages] == ["My PIN is [PIN]."]


def test_recall_asks_in_redacted_words(memory: RecallM, recalls: list[str]) -> None:
    """An embedding model elsewhere is given the question."""
    by_middleware(memory, f"Is {SECRET} mine?", redact=redact)
    chain_memory = RecallMMemory(memory=memory, redact=redact)
    chain_memory.load_memory_variables({"input": f"Is {SECRET} mine?"})
    create_recallm_tools(memory, redact=redact)[0].invoke({"query": f"Is {SECRET} mine?"})
    assert recalls == ["Is [PIN] mine?"] * 3


def test_a_store_shows_accept_the_item_and_keeps_what_it_refuses_to_replace(
    memory: RecallM,
) -> None:
    seen: list[Any] = []

    def accept(message: Any) -> bool:
        seen.append((message.text, message.role, message.id, message.path))
        return refuse(message)

    store = RecallMStore(memory=memory, redact=redact, accept=accept)
    store.put(("users", "ann"), "k", {"text": "Ann has a cat.", "n": 1})
    store.put(("users", "ann"), "k", {"text": SAID})
    assert seen == [
        ("Ann has a cat.\nn: 1", "item", "k", ("users", "ann")),
        ("My PIN is [PIN].", "item", "k", ("users", "ann")),
    ]
    item = store.get(("users", "ann"), "k")
    assert item is not None
    assert item.value == {"text": "Ann has a cat.", "n": 1}
    store.delete(("users", "ann"), "k")
    assert store.get(("users", "ann"), "k") is None


def test_what_is_redacted_is_redacted_wherever_it_could_be_stored(memory: RecallM) -> None:
    store = RecallMStore(memory=memory, redact=redact)
    store.put(("a",), "k", {"deep": [{f"pin {SECRET}": {SECRET: "x"}}]})
    for tools in (
        FactTools(FactMemory(memory), source=SECRET, redact=redact),
        RecallMFactToolSpec(memory, source=SECRET, redact=redact),
    ):
        tools.write_fact("Ann", f"has PIN {SECRET}", int(SECRET))
        tools.write_fact(SECRET, "works for", SECRET)
        tools.end_fact(SECRET, "works for", SECRET)
    for tool in create_fact_tools(memory, redact=redact)[:1]:
        arguments = {"subject": SECRET, "relation": "is", "object": f"{SECRET}."}
        tool.invoke(arguments, {"configurable": {"thread_id": SECRET}})
    spec = RecallMToolSpec(memory, session=SECRET, redact=redact)
    spec.remember(SAID)
    assert "PIN" in spec.recall(f"What about {SECRET}?")
    prompts: list[str] = []

    def model(prompt: Any) -> str:
        prompts.append(str(prompt))
        return f"[MEM_WRITE{{Bob>>has PIN>>{SECRET}}}] Noted."

    chat = fact_chat(memory, RunnableLambda(model), redact=redact)
    asked = {"question": "Bob has a PIN.", "history": [("human", SAID), ("ai", SAID)]}
    [written] = chat.invoke(asked, thread(SECRET))["written"]
    assert (written.object, written.source) == ("[PIN]", "[PIN]")
    assert SECRET not in "".join(prompts)
    assert SECRET not in archive(memory)
    with pytest.raises(ValueError, match="one name"):
        store.put(("a",), "k", {SECRET: 1, "[PIN]": 2})


def thread(id: str) -> Any:
    return {"configurable": {"thread_id": id}}


def test_sessions_are_written_and_looked_up_by_their_redacted_names(memory: RecallM) -> None:
    session = f"thread {SECRET}"
    model = FakeListChatModel(responses=["Noted."])
    agent = remembering(
        memory,
        model,
        checkpointer=InMemorySaver(),
        redact=redact,
        scope="session",
        raise_errors=True,
    )
    for count in range(2):
        said = HumanMessage("Ann sings.", id=f"m-{SECRET}-{count}")
        agent.invoke({"messages": [said]}, thread(session))
    places = [passage.metadata["thread"] for passage in memory.passages()]
    assert [place["message"] for place in places][::2] == ["m-[PIN]-0", "m-[PIN]-1"]
    assert [place["after"] for place in places[1:]] == [place["message"] for place in places[:-1]]
    chain_memory = RecallMMemory(memory=memory, session=session, scope="session", redact=redact)
    chain_memory.save_context({"input": "Ann dances."}, {"output": "Noted."})
    assert "Ann dances." in str(chain_memory.load_memory_variables({"input": "Does Ann dance?"}))
    history = RecallMChatMessageHistory(memory=memory, session=session, redact=redact)
    history.add_messages([HumanMessage("Ann paints.")])
    assert history.messages[-1].content == "Ann paints."
    search, save = create_recallm_tools(memory, scope="session", redact=redact)[:2]
    save.invoke({"text": "Ann skates."}, thread(session))
    assert "Ann skates." in search.invoke({"query": "Does Ann skate?"}, thread(session))
    block = RecallMMemoryBlock(memory=memory, scope="session", redact=redact, raise_errors=True)
    shown = [ChatMessage(role="user", content="Ann skis.")]
    assert "Ann skates." in asyncio.run(block.aget(shown, session_id=session))
    assert SECRET not in archive(memory)
    assert {passage.session for passage in memory.passages()} == {"thread [PIN]"}
    assert "Ann skis." in {passage.text for passage in memory.passages()}
    chain_memory.clear()
    assert not memory.passages()


def test_items_are_found_and_deleted_by_the_names_that_were_given(memory: RecallM) -> None:
    store = RecallMStore(memory=memory, redact=redact)
    path = ("users", f"u{SECRET}")
    store.put(path, SECRET, {"text": "Ann sings."})
    item = store.get(path, SECRET)
    assert item is not None
    assert (item.namespace, item.key) == (("users", "u[PIN]"), "[PIN]")
    assert [item.key for item in store.search(path, query="Who sings?")] == ["[PIN]"]
    assert [item.key for item in store.search(path[:1])] == ["[PIN]"]
    for prefix in (path, ("*", path[1])):
        assert store.list_namespaces(prefix=prefix) == [("users", "u[PIN]")]
    assert SECRET not in archive(memory)
    store.delete(path, SECRET)
    assert store.get(path, SECRET) is None
    with pytest.raises(ValueError, match="leaves nothing of the"):
        RecallMStore(memory=memory, redact=lambda _: "").put(("a",), "k", {"n": 1})
