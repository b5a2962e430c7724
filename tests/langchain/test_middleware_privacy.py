"""``RecallMMiddleware`` beside LangChain's ``PIIMiddleware``, and with ``redact`` and ``accept``:
what must not be written is written nowhere, and no model is given it."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, PIIMiddleware
from langchain.agents.middleware.pii import PIIDetectionError
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from langchain_recallm import RecallMMiddleware
from recallm import RecallM
from recallm.adapting import Message
from tests.langchain.agents import human, remembering, system, thread, weather
from tests.langchain.chat_models import ScriptedModel, call
from tests.written_messages import speakers_and_texts

SECRET = "ann@secret.example"
ASKED = f"My mail is {SECRET}. What is the mail of Ann?"

Strategy = Literal["redact", "mask", "hash"]
STRATEGIES: tuple[Strategy, ...] = ("redact", "mask", "hash")


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[RecallM]:
    """A memory in a file, so that its bytes can be read."""
    with RecallM(tmp_path / "kept.db") as memory:
        yield memory


def is_kept(memory: RecallM, folder: Path, secret: str = SECRET) -> bool:
    """Whether ``secret`` stands anywhere: in a file of the store, or in what the memory says."""
    archive = io.StringIO()
    memory.export(archive)
    files = b"".join(path.read_bytes() for path in folder.iterdir())
    return secret.encode() in files or secret in archive.getvalue()


@tool
def look_up(name: str) -> str:
    """The mail of somebody."""
    return f"The mail of {name} is {SECRET}."


async def run(agent: Any, asynchronous: bool, given: Any, config: Any) -> Any:
    return await agent.ainvoke(given, config) if asynchronous else agent.invoke(given, config)


def agent_of(
    model: ScriptedModel, pii: PIIMiddleware, ours: RecallMMiddleware, order: str, **more: Any
) -> Any:
    middleware = [pii, ours] if order == "after" else [ours, pii]
    return create_agent(model, middleware=middleware, **more)


# The order of the two, and whether the agent runs on an event loop.
both_orders = pytest.mark.parametrize(
    ("order", "asynchronous"), [("before", False), ("after", True)]
)


@both_orders
async def test_what_the_user_says_is_redacted(
    kept: RecallM, tmp_path: Path, order: str, asynchronous: bool
) -> None:
    """In two turns, wherever the middleware stands."""
    for n, strategy in enumerate(STRATEGIES):
        model = ScriptedModel(lines=[call("weather", city="Oslo"), "Noted.", "I do not know."])
        own = kept.in_namespace(strategy)
        agent = agent_of(
            model,
            PIIMiddleware("email", strategy=strategy),
            RecallMMiddleware(
                memory=own, position=("system", "user", "user")[n], raise_errors=True
            ),
            order,
            tools=[weather],
            checkpointer=InMemorySaver() if n else None,
        )
        await run(agent, asynchronous, human(ASKED), thread("1"))
        await run(agent, asynchronous, human("What is my mail?"), thread("2"))
        written = speakers_and_texts(own)
        assert [who for who, _ in written] == ["Human", "AI", "Human", "AI"]
        assert written[0][1].startswith("My mail is ")
        assert SECRET not in repr(model.sent)
        assert "My mail is" in repr(model.sent[2])  # recalled, as it was redacted
        assert "recalled_memory" not in repr(model.sent[:2])  # not what this turn wrote
    assert not is_kept(kept, tmp_path)


@both_orders
async def test_what_the_model_and_tools_say_is_redacted(
    kept: RecallM, tmp_path: Path, order: str, asynchronous: bool
) -> None:
    model = ScriptedModel(
        lines=[call("look_up", name="Ann"), f"It is {SECRET}.", "As I said.", "Hm."]
    )
    agent = agent_of(
        model,
        PIIMiddleware("email", apply_to_output=True, apply_to_tool_results=True),
        RecallMMiddleware(memory=kept, roles={"human", "ai", "tool"}, raise_errors=True),
        order,
        tools=[look_up],
        checkpointer=InMemorySaver(),
    )
    for text, session in (("What is the mail of Ann?", "1"), ("Again?", "1"), ("Ann's mail?", "2")):
        await run(agent, asynchronous, human(text), thread(session))
    assert [who for who, _ in speakers_and_texts(kept)] == [
        "Human", "look_up", "AI", "Human", "AI", "Human", "AI",
    ]  # fmt: skip
    assert SECRET not in repr(model.sent)
    assert "The mail of Ann is" in system(model.sent[3])
    assert not is_kept(kept, tmp_path)


@both_orders
async def test_words_beside_tool_calls_are_redacted(
    kept: RecallM, tmp_path: Path, order: str, asynchronous: bool
) -> None:
    """And written once, before the tools run, of which there are several."""
    before_tools: list[list[tuple[str | None, str]]] = []

    @tool
    def look(city: str) -> str:
        """Look at a city."""
        before_tools.append(speakers_and_texts(kept))
        return city

    calls = [
        {"name": "look", "args": {"city": city}, "id": city} for city in ("Oslo", "Bergen", "Bodo")
    ]
    spoken = AIMessage(f"I will mail {SECRET}.", tool_calls=calls)
    agent = agent_of(
        ScriptedModel(lines=[spoken, "Done."]),
        PIIMiddleware("email", apply_to_output=True),
        RecallMMiddleware(memory=kept, raise_errors=True),
        order,
        tools=[look],
    )
    await run(agent, asynchronous, human("How is Oslo?"), None)
    words = [("Human", "How is Oslo?"), ("AI", "I will mail [REDACTED_EMAIL].")]
    assert before_tools == [words] * 3
    assert speakers_and_texts(kept) == [*words, ("AI", "Done.")]
    assert not is_kept(kept, tmp_path)


@both_orders
async def test_a_blocked_message_is_written_nowhere(
    kept: RecallM, tmp_path: Path, order: str, asynchronous: bool
) -> None:
    """Nor in the turns of the thread that follow, in which its checkpoint still holds it."""
    model = ScriptedModel(lines=["Hello!", "I do not know."])
    agent = agent_of(
        model,
        PIIMiddleware("email", strategy="block"),
        RecallMMiddleware(memory=kept, raise_errors=True),
        order,
        checkpointer=InMemorySaver() if asynchronous else None,
    )
    for _ in range(2):
        with pytest.raises(PIIDetectionError):
            await run(agent, asynchronous, human(ASKED), thread("1"))
    await run(agent, asynchronous, human("Hello."), thread("1"))
    await run(agent, asynchronous, human("What is my mail?"), thread("2"))
    assert speakers_and_texts(kept) == [
        ("Human", "Hello."),
        ("AI", "Hello!"),
        ("Human", "What is my mail?"),
        ("AI", "I do not know."),
    ]
    assert all(SECRET not in system(messages) for messages in model.sent)
    assert not is_kept(kept, tmp_path)


@both_orders
async def test_a_blocked_reply_is_written_nowhere(
    kept: RecallM, tmp_path: Path, order: str, asynchronous: bool
) -> None:
    for what in ("reply", "tool result"):
        own = kept.in_namespace(what)
        first = f"It is {SECRET}." if what == "reply" else call("look_up", name="Ann")
        model = ScriptedModel(lines=[first, "Hm.", "Hm."])
        agent = agent_of(
            model,
            PIIMiddleware(
                "email", strategy="block", apply_to_output=True, apply_to_tool_results=True
            ),
            RecallMMiddleware(memory=own, roles={"human", "ai", "tool"}, raise_errors=True),
            order,
            tools=[look_up],
            checkpointer=InMemorySaver(),
        )
        with pytest.raises(PIIDetectionError):
            await run(agent, asynchronous, human("What is the mail of Ann?"), thread("1"))
        await run(agent, asynchronous, human("Ann's mail?"), thread("2"))
        # The question was let through.
        assert ("Human", "What is the mail of Ann?") in speakers_and_texts(own)
        assert SECRET not in repr(model.sent)
        if what == "reply":
            await run(agent, asynchronous, human("Never mind."), thread("1"))
        assert not is_kept(kept, tmp_path)


def test_a_message_that_is_tried_again_is_written(memory: RecallM) -> None:
    """What stopped the first run was no judgement of the message."""

    class Failing(AgentMiddleware):
        tries = 0

        def before_model(self, state: Any, runtime: Any) -> None:
            self.tries += 1
            if self.tries == 1:
                raise ConnectionError("down")

    model = ScriptedModel(lines=["Noted."])
    agent: Any = create_agent(
        model,
        checkpointer=InMemorySaver(),
        middleware=[RecallMMiddleware(memory=memory, raise_errors=True), Failing()],
    )
    asked = {"messages": [HumanMessage("I moved to Oslo.", id="1")]}
    with pytest.raises(ConnectionError):
        agent.invoke(asked, thread("1"))
    assert speakers_and_texts(memory) == []
    agent.invoke(asked, thread("1"))
    assert speakers_and_texts(memory) == [("Human", "I moved to Oslo."), ("AI", "Noted.")]


def test_a_message_that_another_middleware_replaces(kept: RecallM, tmp_path: Path) -> None:
    """By one with another id."""

    class Replacing(AgentMiddleware):
        def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
            [*_, last] = state["messages"]
            if SECRET not in last.text:
                return None
            clean = HumanMessage(last.text.replace(SECRET, "[MAIL]"), id="clean")
            return {"messages": [RemoveMessage(last.id), clean]}

    model = ScriptedModel(lines=["Noted."])
    ours = RecallMMiddleware(memory=kept, raise_errors=True)
    agent = create_agent(model, middleware=[ours, Replacing()], checkpointer=InMemorySaver())
    agent.invoke(human(ASKED), thread("1"))
    assert speakers_and_texts(kept) == [
        ("Human", ASKED.replace(SECRET, "[MAIL]")),
        ("AI", "Noted."),
    ]
    assert "recalled_memory" not in repr(model.sent)
    assert not is_kept(kept, tmp_path)


# -- redact and accept -------------------------------------------------------------------------


def without_secret(text: str) -> str:
    return text.replace(SECRET, "[MAIL]")


def test_redact_comes_before_all_that_is_written(kept: RecallM, tmp_path: Path) -> None:
    """Of the user, the model, tools, a long message; the thread's messages stay as they are."""
    padding = "I saw a bird. " * 1500
    model = ScriptedModel(
        lines=[call("look_up", says=f"I ask for {SECRET}.", name="Ann"), f"It is {SECRET}.", "Hm."]
    )
    agent = remembering(
        kept,
        model,
        [look_up],
        checkpointer=InMemorySaver(),
        roles={"human", "ai", "tool"},
        redact=without_secret,
        raise_errors=True,
    )
    output = agent.invoke(human(f"{ASKED} {padding}"), thread("1"))
    assert SECRET in output["messages"][0].text
    agent.invoke(human(f"Is it {SECRET}?"), thread("2"))
    assert [text.replace(padding, "").strip() for _, text in speakers_and_texts(kept)] == [
        without_secret(ASKED),
        "I ask for [MAIL].",
        "The mail of Ann is [MAIL].",
        "It is [MAIL].",
        "Is it [MAIL]?",
        "Hm.",
    ]
    assert "[MAIL]" in system(model.sent[2])
    assert not is_kept(kept, tmp_path)


def test_accept_decides_by_text_and_by_whose_it_is(memory: RecallM) -> None:
    seen: list[Message] = []

    def accept(spoken: Message) -> bool:
        seen.append(spoken)
        return spoken.role == "human" and "[MAIL]" not in spoken.text

    model = ScriptedModel(lines=[call("weather", says="Let me look.", city="Oslo"), "Sunny.", "Hm"])
    agent = remembering(
        memory, model, [weather], accept=accept, redact=without_secret, raise_errors=True
    )
    agent.invoke(human("How is Oslo?", name="Ann"), thread("1"))
    agent.invoke(human(ASKED), thread("2"))
    assert speakers_and_texts(memory) == [("Ann", "How is Oslo?")]
    assert {(it.speaker, it.role, it.text) for it in seen} >= {
        ("Ann", "human", "How is Oslo?"),
        ("AI", "ai", "Let me look."),
        ("AI", "ai", "Sunny."),
        ("Human", "human", without_secret(ASKED)),
    }


def fail(_: object) -> Any:
    raise ValueError("the detector is down")


def test_where_they_fail_the_agent_answers(
    kept: RecallM, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing is written, and no log shows the text."""
    hooks: list[dict[str, Any]] = [{"redact": fail}, {"accept": fail}, {"accept": lambda _: None}]
    for hook in hooks:
        model = ScriptedModel(lines=["Noted."])
        agent = remembering(kept, model, **hook)
        with caplog.at_level(logging.WARNING, "langchain_recallm"):
            assert agent.invoke(human(ASKED))["messages"][-1].text == "Noted."
        assert speakers_and_texts(kept) == []
        assert not is_kept(kept, tmp_path)
        assert any("not remembered" in it.message for it in caplog.records)
        assert SECRET not in caplog.text
