"""``RecallMMiddleware``: what stands in a request already, who wrote it, and what is long."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ModelRequest, wrap_model_call
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from langchain_recallm import RecallMMiddleware, RecallMStore, create_recallm_tools
from recallm import RecallM
from recallm.adapting import postponing
from tests.langchain.agents import human, remembering, system, thread, weather
from tests.langchain.chat_models import ScriptedModel, call
from tests.written_messages import speakers_and_texts

BIRDS = [f"I saw bird {n} in the garden." for n in range(8)]


# -- what stands in the request ----------------------------------------------------------------


@pytest.mark.parametrize("position", ["system", "user"])
def test_nothing_of_the_thread_is_recalled_beside_it(
    memory: RecallM, recalls: list[str], position: Any
) -> None:
    """The model has its messages before it; what was said elsewhere is recalled."""
    memory.update("Bob saw a bird in the garden of the neighbours.", session="elsewhere")
    model = ScriptedModel(reply=lambda messages: f"Bird seen, number {len(messages)}.")
    agent = remembering(
        memory, model, checkpointer=InMemorySaver(), position=position, raise_errors=True
    )
    for text in BIRDS:
        agent.invoke(human(text), thread("1"))
    for messages in model.sent:
        whole = "\n".join(str(it.text) for it in messages)
        assert "Bob saw a bird" in whole
        assert all(whole.count(text) <= 1 for text in BIRDS)
        assert "Human: I saw" not in whole
        assert "AI: Bird seen" not in whole
    assert recalls == BIRDS  # once a turn


def test_a_message_that_was_edited_is_not_recalled_beside_itself(memory: RecallM) -> None:
    model = ScriptedModel(lines=["Noted."] * 3)
    agent = remembering(memory, model, checkpointer=InMemorySaver(), raise_errors=True)
    for text, id in (("I live in Oslo.", "h"), ("I live in Rome.", "h"), ("Where do I live?", "q")):
        agent.invoke(human(text, id=id), thread("1"))
    assert "I live in Rome." in [it.text for it in model.sent[2]]
    assert "I live in Rome." not in system(model.sent[2])
    assert "I live in Rome." in memory.recall("Where do I live?").text


@pytest.mark.parametrize("session", ["1", None])
def test_nothing_of_a_history_that_is_handed_in_is_recalled(
    memory: RecallM, session: str | None
) -> None:
    """Without a checkpointer, and with other ids each time."""
    memory.update("Bob saw a bird in the garden of the neighbours.", session="elsewhere")
    model = ScriptedModel(reply=lambda messages: f"Bird seen, number {len(messages)}.")
    agent = remembering(memory, model, raise_errors=True)
    history: list[Any] = []
    for text in BIRDS:
        history.append(("human", text))
        config: Any = thread(session) if session else None
        answer = agent.invoke({"messages": history}, config)["messages"][-1]
        history.append(("ai", str(answer.text)))
    for messages in model.sent:
        assert "Bob saw a bird" in system(messages)
        assert "Human: I saw" not in system(messages)
        assert "AI: Bird seen" not in system(messages)
    assert len(speakers_and_texts(memory)) == 1 + 2 * len(BIRDS)


def test_what_was_trimmed_from_the_request_is_recalled(memory: RecallM) -> None:
    @wrap_model_call
    def trim(request: ModelRequest[Any], handler: Any) -> Any:
        return handler(request.override(messages=request.messages[-1:]))

    model = ScriptedModel(lines=["Noted.", "Blue."])
    agent = create_agent(
        model,
        checkpointer=InMemorySaver(),
        middleware=[trim, RecallMMiddleware(memory=memory, raise_errors=True)],
    )
    agent.invoke(human("The shed of Ann is blue."), thread("1"))
    agent.invoke(human("What colour is the shed of Ann?"), thread("1"))
    assert "Human: The shed of Ann is blue." in system(model.sent[1])


def test_the_same_words_of_other_speakers_are_recalled(memory: RecallM) -> None:
    """In another conversation."""
    memory.update("The shed is blue.", session="elsewhere", speaker="Bob")
    model = ScriptedModel(lines=["Noted.", "Bob did."])
    agent = remembering(memory, model, checkpointer=InMemorySaver(), raise_errors=True)
    agent.invoke(human("The shed is blue."), thread("1"))
    agent.invoke(human("Who else said that the shed is blue?"), thread("1"))
    assert "Bob: The shed is blue." in system(model.sent[1])
    assert "Human: The shed is blue." not in system(model.sent[1])


def test_a_turn_reads_no_more_in_a_long_thread(
    memory: RecallM, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the thread's messages, it looks the new ones up alone."""
    read: list[int] = []
    get_many = RecallM.get_many

    def counted(self: RecallM, ids: Any, **options: Any) -> Any:
        read[-1] += len(set(ids))
        return get_many(self, ids, **options)

    monkeypatch.setattr(RecallM, "get_many", counted)
    model = ScriptedModel(reply=lambda messages: f"Bird seen, number {len(messages)}.")
    agent = remembering(memory, model, checkpointer=InMemorySaver(), raise_errors=True)
    for text in BIRDS:
        read.append(0)
        agent.invoke(human(text), thread("1"))
    # A look at the branch reads the latest eight messages.
    assert read[5:] == [read[5]] * len(read[5:])


# -- who wrote it ------------------------------------------------------------------------------


# -- what is long ------------------------------------------------------------------------------

LONG = "".join(f"Note {n}: bird {n} sat on the fence. " for n in range(640))
QUESTION = "Which colour has the shed of Ann?"


def test_a_long_message_is_on_disk_before_the_call_and_extracted_after_it(
    memory: RecallM, recalls: list[str]
) -> None:
    memory.update("The shed of Ann is blue.")
    before = memory.stats()

    def reply(messages: list[Any]) -> AIMessage | str:
        assert ("Human", LONG + QUESTION) in speakers_and_texts(memory)
        assert memory.stats().statements == before.statements
        calls = [it for it in messages if isinstance(it, AIMessage)]
        return "Blue." if calls else call("weather", says="Let me look.", city="Oslo")

    model = ScriptedModel(reply=reply)
    agent = remembering(memory, model, [weather], raise_errors=True)
    output = agent.invoke(human(LONG + QUESTION, id="long"), thread("1"))
    assert "The shed of Ann is blue." in system(model.sent[0])
    assert [(len(it), it.endswith(QUESTION)) for it in recalls] == [(4001, True)]
    assert output["messages"][0].text == LONG + QUESTION
    assert speakers_and_texts(memory, "1") == [
        ("Human", LONG + QUESTION),
        ("AI", "Let me look."),
        ("AI", "Blue."),
    ]
    assert memory.items.paths() == ()
    kept = memory.get("long")
    assert kept is not None
    assert kept.metadata["role"] == "human"
    found = memory.recall("Where did bird 234 sit?", session="1").text
    assert "bird 234 sat on the fence" in found


@pytest.mark.parametrize("again", ["another thread", "resumed"])
def test_a_long_message_survives_the_end_of_the_process(tmp_path: Path, again: str) -> None:
    saver = InMemorySaver()

    def agent_of(memory: RecallM, *lines: Any) -> Any:
        return remembering(
            memory, ScriptedModel(lines=lines), checkpointer=saver, raise_errors=True
        )

    with RecallM(tmp_path / "memory.db") as memory:
        dying = agent_of(memory, RuntimeError("killed"))
        with pytest.raises(RuntimeError, match="killed"):
            dying.invoke(human(LONG, id="long", name="Ann"), thread("1"))
        [(speaker, text)] = speakers_and_texts(memory)
        said_at = memory.passages()[0].timestamp
        assert (speaker, text) == ("Ann", LONG)
    with RecallM(tmp_path / "memory.db") as memory:
        given, config = (None, thread("1")) if again == "resumed" else (human("Hi!"), thread("2"))
        agent_of(memory, "Hello.").invoke(given, config)
        kept = memory.get("long")
        assert kept is not None
        assert (kept.text, kept.session, kept.speaker) == (LONG, "1", "Ann")
        assert kept.timestamp == said_at
        assert [text for _, text in speakers_and_texts(memory)].count(LONG) == 1
        assert "bird 77 sat" in memory.recall("Where did bird 77 sit?").text


def leave_waiting(memory: RecallM, *texts: str) -> None:
    """Long messages of runs that failed, each in a thread of its own."""
    for number, text in enumerate(texts):
        model = ScriptedModel(lines=[RuntimeError("down")])
        agent = remembering(memory, model)
        with pytest.raises(RuntimeError, match="down"):
            agent.invoke(human(text, id=f"left-{number}"), thread(f"left-{number}"))


def test_a_run_extracts_its_own_long_messages_and_a_bounded_part_of_the_others(
    memory: RecallM, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postponing, "_MAX_OF_OTHER_SESSIONS", len(LONG) + 1)
    leave_waiting(memory, LONG, LONG, LONG)

    def extracted() -> list[int]:
        return [number for number in range(3) if memory.get(f"left-{number}") is not None]

    def run(text: str, session: str) -> None:
        agent = remembering(memory, ScriptedModel(lines=["Hello."]), raise_errors=True)
        agent.invoke(human(text), thread(session))

    run("Hi!", "left-2")
    assert extracted() == [2]
    run("Hi!", "new")
    assert extracted() == [0, 2]
    run("Hi!", "new")
    assert extracted() == [0, 1, 2]


def test_the_store_does_not_show_what_waits(memory: RecallM) -> None:
    leave_waiting(memory, LONG)
    store = RecallMStore(memory=memory)
    store.put(("users", "ann"), "food", {"memory": "Ann loves pizza"})
    assert store.list_namespaces() == [("users", "ann")]
    for query in (None, "pizza", "bird"):
        assert [it.key for it in store.search((), query=query, limit=1)] == ["food"]
    assert store.search(("langchain_recallm",)) == []


def test_what_waits_can_be_forgotten_by_the_tool(memory: RecallM) -> None:
    leave_waiting(memory, f"Ann lives in Oslo. {LONG}")
    forget = create_recallm_tools(memory)[2]
    assert forget.invoke({"about": "Ann"}) == "Forgot 1 statement that mentions 'Ann'."
    remembering(memory, ScriptedModel(lines=["Hello."]), raise_errors=True).invoke(human("Hi!"))
    assert not memory.history("Ann")
    assert not any("Ann" in text for _, text in speakers_and_texts(memory))


def test_a_long_message_that_is_forgotten_while_it_waits_stays_forgotten(memory: RecallM) -> None:
    def reply(messages: list[Any]) -> str:
        memory.forget(session="1")
        return "Blue."

    agent = remembering(memory, ScriptedModel(reply=reply), raise_errors=True)
    agent.invoke(human(LONG), thread("1"))
    assert speakers_and_texts(memory) == [("AI", "Blue.")]


def test_a_long_reply_and_what_a_tool_gave_do_not_delay_the_next_call(memory: RecallM) -> None:
    @tool
    def notes() -> str:
        """All notes."""
        return LONG

    lines = [call("notes"), call("notes", "2", says="Once more."), "Many."]

    def reply(messages: list[Any]) -> Any:
        assert memory.stats().statements <= 1  # the question's
        return lines[sum(isinstance(it, AIMessage) for it in messages)]

    agent = remembering(
        memory,
        ScriptedModel(reply=reply),
        [notes],
        roles={"human", "ai", "tool"},
        raise_errors=True,
    )
    agent.invoke(human("Which birds sat there?"), thread("1"))
    assert [(who, len(text)) for who, text in speakers_and_texts(memory)] == [
        ("Human", 22), ("notes", len(LONG)), ("AI", 10), ("notes", len(LONG)), ("AI", 5),
    ]  # fmt: skip
