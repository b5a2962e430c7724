"""``RecallMMiddleware`` beside LangChain's ``PIIMiddleware``, and with ``redact`` and ``accept``:
what must not be written is written nowhere, and no model is given it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from langchain.agents.middleware import AgentMiddleware, PIIMiddleware
from langchain.agents.middleware.pii import PIIDetectionError
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from recallm import RecallM
from tests.langchain.agents import Talk, weather
from tests.langchain.chat_models import call
from tests.written_messages import speakers_and_texts

SECRET = "ann@secret.example"
ASKED = f"My mail is {SECRET}. What is the mail of Ann?"

Strategy = Literal["redact", "mask", "hash"]
STRATEGIES: tuple[Strategy, ...] = ("redact", "mask", "hash")


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[RecallM]:
    """A memory in a file, whose bytes are read when the test ends: nothing holds the secret."""
    with RecallM(tmp_path / "kept.db") as memory:
        yield memory
        archive = io.StringIO()
        memory.export(archive)
        assert SECRET not in archive.getvalue()
        files = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        assert SECRET.encode() not in files


@tool
def look_up(name: str) -> str:
    """The mail of somebody."""
    return f"The mail of {name} is {SECRET}."


# Where the other middleware stands, and whether the agent runs on an event loop.
both_orders = pytest.mark.parametrize(
    ("order", "asynchronous"), [("inner", False), ("outer", True)]
)


class Guarded(Talk):
    """An agent beside a ``PIIMiddleware``, with all roles."""

    def __init__(
        self, memory: RecallM, order: str, asynchronous: bool, pii: Any, *lines: Any, **how: Any
    ) -> None:
        around: Any = {order: [PIIMiddleware("email", **pii)]}
        roles = {"human", "ai", "tool"}
        super().__init__(memory, *lines, **{"roles": roles, **around, **how})
        self._asynchronous = asynchronous

    async def asay(self, content: Any, id: str | None = None, /, **more: Any) -> Any:
        if self._asynchronous:
            return await super().asay(content, id, **more)
        return self.say(content, id, **more)


@both_orders
async def test_what_the_user_says_is_redacted(
    kept: RecallM, order: str, asynchronous: bool
) -> None:
    """In two turns, wherever the middleware stands."""
    for n, strategy in enumerate(STRATEGIES):
        own = kept.in_namespace(strategy)
        how: dict[str, Any] = {
            "position": ("system", "user", "user")[n],
            "checkpointer": InMemorySaver() if n else None,
            "roles": ("human", "ai"),
        }
        lines = [call("weather", city="Oslo"), "Noted.", "I do not know."]
        pii = {"strategy": strategy}
        talk = Guarded(own, order, asynchronous, pii, *lines, tools=[weather], **how)
        await talk.asay(ASKED, "1")
        await talk.asay("What is my mail?", "2")
        assert [who for who, _ in talk.written] == ["Human", "AI", "Human", "AI"]
        assert talk.written[0][1].startswith("My mail is ")
        assert SECRET not in repr(talk.model.sent)
        assert "My mail is" in repr(talk.model.sent[2])  # recalled, as it was redacted
        assert "recalled_memory" not in repr(talk.model.sent[:2])  # not what this turn wrote


@both_orders
async def test_what_the_model_and_tools_say_is_redacted(
    kept: RecallM, order: str, asynchronous: bool
) -> None:
    """Words beside tool calls are written once, before the tools run."""
    outputs = {"apply_to_output": True, "apply_to_tool_results": True}
    lines = [call("look_up", name="Ann"), f"It is {SECRET}.", "As I said.", "Hm."]
    saver = InMemorySaver()
    talk = Guarded(kept, order, asynchronous, outputs, *lines, tools=[look_up], checkpointer=saver)
    for text, session in (("What is the mail of Ann?", "1"), ("Again?", "1"), ("Ann's mail?", "2")):
        await talk.asay(text, session)
    assert [who for who, _ in talk.written] == [
        "Human", "look_up", "AI", "Human", "AI", "Human", "AI",
    ]  # fmt: skip
    assert SECRET not in repr(talk.model.sent)
    assert "The mail of Ann is" in talk.told(3)

    own = kept.in_namespace("beside")
    before_tools: list[list[tuple[str | None, str]]] = []

    @tool
    def look(city: str) -> str:
        """Look at a city."""
        before_tools.append(speakers_and_texts(own))
        return city

    calls = [
        {"name": "look", "args": {"city": city}, "id": city} for city in ("Oslo", "Bergen", "Bodo")
    ]
    spoken = AIMessage(f"I will mail {SECRET}.", tool_calls=calls)
    how: dict[str, Any] = {"tools": [look], "roles": ("human", "ai")}
    talk = Guarded(own, order, asynchronous, outputs, spoken, "Done.", **how)
    await talk.asay("How is Oslo?")
    words = [("Human", "How is Oslo?"), ("AI", "I will mail [REDACTED_EMAIL].")]
    assert before_tools == [words] * 3
    assert talk.written == [*words, ("AI", "Done.")]


@both_orders
async def test_what_is_blocked_is_written_nowhere(
    kept: RecallM, order: str, asynchronous: bool
) -> None:
    """Nor in the turns of the thread that follow, in which its checkpoint still holds it."""
    saver = InMemorySaver() if asynchronous else None
    pii: dict[str, Any] = {"strategy": "block"}
    talk = Guarded(kept, order, asynchronous, pii, "Hello!", "I do not know.", checkpointer=saver)
    for _ in range(2):
        with pytest.raises(PIIDetectionError):
            await talk.asay(ASKED, "1")
    await talk.asay("Hello.", "1")
    await talk.asay("What is my mail?", "2")
    answered = [("Human", "What is my mail?"), ("AI", "I do not know.")]
    assert talk.written == [("Human", "Hello."), ("AI", "Hello!"), *answered]
    assert all(SECRET not in talk.told(n) for n in range(len(talk.model.sent)))

    pii |= {"apply_to_output": True, "apply_to_tool_results": True}
    for first in (f"It is {SECRET}.", call("look_up", name="Ann")):
        own = kept.in_namespace(type(first).__name__)
        how: dict[str, Any] = {"tools": [look_up], "checkpointer": InMemorySaver()}
        talk = Guarded(own, order, asynchronous, pii, first, "Hm.", "Hm.", **how)
        with pytest.raises(PIIDetectionError):
            await talk.asay("What is the mail of Ann?", "1")
        await talk.asay("Ann's mail?", "2")
        # The question was let through.
        assert ("Human", "What is the mail of Ann?") in talk.written
        assert SECRET not in repr(talk.model.sent)
        if isinstance(first, str):
            await talk.asay("Never mind.", "1")


def test_a_message_that_another_middleware_replaces(kept: RecallM) -> None:
    """By one with another id."""

    class Replacing(AgentMiddleware):
        def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
            [*_, last] = state["messages"]
            if SECRET not in last.text:
                return None
            clean = HumanMessage(last.text.replace(SECRET, "[MAIL]"), id="clean")
            return {"messages": [RemoveMessage(last.id), clean]}

    talk = Talk(kept, "Noted.", inner=[Replacing()], checkpointer=InMemorySaver())
    talk.say(ASKED, "1")
    assert talk.written == [("Human", ASKED.replace(SECRET, "[MAIL]")), ("AI", "Noted.")]
    assert "recalled_memory" not in repr(talk.model.sent)


# -- redact and accept -------------------------------------------------------------------------


def without_secret(text: str) -> str:
    return text.replace(SECRET, "[MAIL]")


def test_redact_comes_before_all_that_is_written(kept: RecallM) -> None:
    """Of the user, the model, tools, a long message; the thread's messages stay as they are."""
    padding = "I saw a bird. " * 1500
    words = call("look_up", says=f"I ask for {SECRET}.", name="Ann")
    how: dict[str, Any] = {"roles": {"human", "ai", "tool"}, "redact": without_secret}
    saver = InMemorySaver()
    talk = Talk(kept, words, f"It is {SECRET}.", "Hm.", tools=[look_up], checkpointer=saver, **how)
    output = talk.say(f"{ASKED} {padding}", "1")
    assert SECRET in output["messages"][0].text
    talk.say(f"Is it {SECRET}?", "2")
    assert [text.replace(padding, "").strip() for _, text in talk.written] == [
        without_secret(ASKED),
        "I ask for [MAIL].",
        "The mail of Ann is [MAIL].",
        "It is [MAIL].",
        "Is it [MAIL]?",
        "Hm.",
    ]
    assert "[MAIL]" in talk.told(2)


def test_where_they_fail_the_agent_answers(kept: RecallM, caplog: pytest.LogCaptureFixture) -> None:
    """Nothing is written, and no log shows the text."""

    def fail(_: object) -> Any:
        raise ValueError("the detector is down")

    hooks: list[dict[str, Any]] = [{"redact": fail}, {"accept": fail}, {"accept": lambda _: None}]
    for hook in hooks:
        caplog.clear()
        talk = Talk(kept, "Noted.", raise_errors=False, **hook)
        assert talk.say(ASKED)["messages"][-1].text == "Noted."
        assert talk.written == []
        assert any("not remembered" in record.message for record in caplog.records)
        assert SECRET not in caplog.text
