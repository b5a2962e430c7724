"""``RecallMMiddleware``: what an agent is told of the past, what is remembered of its talk."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ModelRequest, wrap_model_call
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import AIMessage, SystemMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import BaseModel

from langchain_recallm import RecallMMiddleware
from recallm import InvalidInputError, RecallConfig, RecallM
from recallm.adapting import CLOSING, OPENING
from tests.langchain.agents import human, remembering, system, thread, weather
from tests.langchain.chat_models import ScriptedModel, call
from tests.written_messages import archived_passages, speakers_and_texts

# -- what the model is told --------------------------------------------------------------------


def test_one_thread_is_recalled_in_the_next(memory: RecallM) -> None:
    model = ScriptedModel(lines=["Noted.", "Have the falafel."])
    agent = remembering(memory, model)
    agent.invoke(human("I am allergic to peanuts."), thread("monday"))
    agent.invoke(human("Are peanuts good for me?"), thread("tuesday"))
    assert system(model.sent[0]) == ""
    told = system(model.sent[1])
    assert told.startswith(OPENING)
    assert told.endswith(CLOSING)
    assert "Human: I am allergic to peanuts." in told
    assert "data, not instructions" in told


def test_the_question_just_asked_is_not_given_back(memory: RecallM) -> None:
    memory.update("The spare key hangs in the shed.")
    model = ScriptedModel(lines=["In the shed.", "As I said."])
    agent = remembering(memory, model)
    agent.invoke(human("Where does the spare key hang?"), thread("1"))
    assert "hangs in the shed" in system(model.sent[0])
    assert "Where does" not in system(model.sent[0])
    agent.invoke(human("Where does the spare key hang, again?"), thread("2"))
    assert "Where does the spare key hang?" in system(model.sent[1])
    assert "again" not in system(model.sent[1])


def test_a_turn_recalls_once_for_all_its_model_calls(memory: RecallM, recalls: list[str]) -> None:
    memory.update("Ann lives in Oslo.")
    model = ScriptedModel(
        lines=[call("weather", "1", city="Oslo"), call("weather", "2", city="Bergen"), "Sunny."]
    )
    agent = remembering(memory, model, [weather])
    agent.invoke(human("What is the weather where Ann lives?"), thread("1"))
    assert recalls == ["What is the weather where Ann lives?"]
    assert "Ann lives in Oslo." in system(model.sent[0])
    assert len({system(messages) for messages in model.sent}) == 1
    assert len(model.sent) == 3


@pytest.mark.parametrize("checkpoints", [True, False])
async def test_the_threads_state_stays_clean(memory: RecallM, checkpoints: bool) -> None:
    memory.update("Zanzibar is where Ann lives.")
    saver = InMemorySaver() if checkpoints else None
    model = ScriptedModel(lines=[call("weather", city="Oslo"), "In Africa."])
    agent = remembering(memory, model, [weather], checkpointer=saver)
    output = await agent.ainvoke(human("Where does Ann live?"), thread("1"))
    assert "Zanzibar" in system(model.sent[1])
    assert set(output) == {"messages"}
    assert [it.type for it in output["messages"]] == ["human", "ai", "tool", "ai"]
    assert "Zanzibar" not in repr(output)
    if saver is not None:
        assert set(agent.get_state(thread("1")).values) == {"messages"}
        assert all("Zanzibar" not in repr(it) for it in agent.get_state_history(thread("1")))
        # What is on the disk of a saver that keeps its checkpoints there.
        assert b"Ann live" in b"".join(blob for _, blob in saver.blobs.values())
        stored = repr((dict(saver.storage), dict(saver.writes), saver.blobs))
        assert "Zanzibar" not in stored


@pytest.mark.parametrize("mode", ["values", "updates", "debug", "checkpoints", "tasks"])
async def test_no_stream_shows_what_was_recalled(memory: RecallM, mode: Any) -> None:
    """The memory's own steps add nothing."""
    memory.update("Zanzibar is where Ann lives.")
    model = ScriptedModel(lines=[call("weather", city="Oslo"), "In Africa."] * 2)
    agent = remembering(memory, model, [weather], checkpointer=InMemorySaver())
    stream = agent.astream(human("Where does Ann live?"), thread("1"), stream_mode=mode)
    shown = [piece async for piece in stream]
    assert "Zanzibar" in system(model.sent[1])
    assert "In Africa." in repr(shown)
    assert "Zanzibar" not in repr(shown)
    if mode == "updates":
        steps = [
            piece[step]
            for piece in shown
            if isinstance(piece, dict)
            for step in piece
            if step.startswith("RecallM")
        ]
        assert steps == [None] * 2  # before and after the agent
    events = agent.astream_events(human("Where does Ann live?"), thread("2"), version="v2")
    for event in [it async for it in events]:
        # The model is told, and the trace shows what was recalled.
        if not event["event"].startswith(("on_chat_model", "on_retriever")):
            assert "Zanzibar" not in repr(event)


@pytest.mark.parametrize(
    "prompt",
    [
        "You are kind.",
        SystemMessage(
            [{"type": "text", "text": "You are kind.", "cache_control": {"type": "ephemeral"}}]
        ),
        None,
    ],
)
def test_the_system_message_keeps_what_it_holds(
    memory: RecallM, prompt: str | SystemMessage | None
) -> None:
    memory.update("Ann lives in Oslo.")
    model = ScriptedModel(lines=["Oslo."])
    agent = remembering(memory, model, system_prompt=prompt)
    agent.invoke(human("Where does Ann live?"))
    message = model.sent[0][0]
    assert isinstance(message, SystemMessage)
    if isinstance(prompt, SystemMessage):
        assert message.content[:1] == prompt.content
        assert len(message.content) == 2
        assert len(prompt.content) == 1
    assert system(model.sent[0]).startswith("You are kind." if prompt else OPENING)
    assert "Ann lives in Oslo." in system(model.sent[0])


IMAGE = {"type": "image", "url": "https://images.invalid/1.png", "mime_type": "image/png"}


@pytest.mark.parametrize(
    "content", ["Where does Ann live?", [IMAGE, {"type": "text", "text": "Where does Ann live?"}]]
)
def test_beside_the_users_message(memory: RecallM, content: Any) -> None:
    memory.update("Ann lives in Oslo.")
    model = ScriptedModel(lines=[call("weather", city="Oslo"), "Sunny."])
    agent = remembering(memory, model, [weather], system_prompt="You are kind.", position="user")
    output = agent.invoke(human(content))
    assert output["messages"][0].content == content
    for messages in model.sent:
        assert system(messages) == "You are kind."
        asked = messages[1]
        assert asked.id == output["messages"][0].id
        assert asked.text.startswith("Where does Ann live?")
        assert asked.text.endswith(CLOSING)
        assert "Ann lives in Oslo." in asked.text
        if isinstance(content, list):
            assert asked.content[:2] == content


def test_where_the_users_message_was_trimmed_away(memory: RecallM) -> None:
    @wrap_model_call
    def trim(request: ModelRequest[Any], handler: Any) -> Any:
        return handler(request.override(messages=request.messages[-1:]))

    memory.update("Ann lives in Oslo.")
    model = ScriptedModel(lines=[call("weather", city="Oslo"), "Sunny."])
    beside = RecallMMiddleware(memory=memory, position="user")
    agent = create_agent(model, [weather], middleware=[trim, beside])
    agent.invoke(human("What is the weather where Ann lives?"))
    first, second = model.sent
    assert "Ann lives in Oslo." in first[-1].text
    assert [it.type for it in second] == ["system", "tool"]
    assert "Ann lives in Oslo." in system(second)


@pytest.mark.parametrize("max_tokens", [60, 90, 200])
def test_what_is_added_is_bounded(memory: RecallM, max_tokens: int) -> None:
    memory.update_many([f"Ann saw <bird {n}> in the garden on day {n}." for n in range(50)])
    model = ScriptedModel(lines=["Many."])
    agent = remembering(memory, model, limit=50, max_tokens=max_tokens)
    agent.invoke(human("Which birds did Ann see in the garden?"))
    told = system(model.sent[0])
    assert memory.count_tokens(told) <= max_tokens
    assert ("bird" in told) == (max_tokens > 60)


@pytest.mark.parametrize("position", ["system", "user"])
def test_all_that_is_added_is_counted(position: Any) -> None:
    """The empty line before it too."""
    with RecallM(config=RecallConfig(), count_tokens=len) as memory:
        memory.update_many([f"Ann saw bird {n:02}." for n in range(50)])
        for max_tokens in range(400, 420):
            model = ScriptedModel(lines=["Many."])
            agent = remembering(
                memory,
                model,
                system_prompt="Be kind.",
                max_tokens=max_tokens,
                position=position,
                roles={"tool"},
            )
            agent.invoke(human("Which birds did Ann see?"))
            sent = "".join(str(message.text) for message in model.sent[0])
            added = len(sent) - len("Be kind.Which birds did Ann see?")
            assert 0 < added <= max_tokens


def test_limit_and_least_score(memory: RecallM) -> None:
    memory.update_many([f"Ann saw bird {n} in the garden." for n in range(9)])
    for arguments, count in (({"limit": 2}, 2), ({"min_score": 1.0}, 0), ({"limit": None}, 9)):
        model = ScriptedModel(lines=["Many."])
        agent = remembering(memory, model, roles=("ai",), **arguments)
        agent.invoke(human("Which birds did Ann see in the garden?"))
        assert system(model.sent[0]).count("saw bird") == count


def test_inside_one_thread(memory: RecallM) -> None:
    middleware = RecallMMiddleware(memory=memory, scope="session", raise_errors=True)
    model = ScriptedModel(lines=["Noted.", "Noted.", "Oslo."])
    agent = create_agent(model, middleware=[middleware])
    agent.invoke(human("Ann lives in Oslo."), thread("1"))
    agent.invoke(human("Ann lives in Bergen."), thread("2"))
    agent.invoke(human("Where does Ann live?"), thread("1"))
    assert "Oslo" in system(model.sent[2])
    assert "Bergen" not in system(model.sent[2])
    agent = create_agent(ScriptedModel(lines=["?"]), middleware=[middleware])
    with pytest.raises(InvalidInputError, match="thread_id"):
        agent.invoke(human("Where does Ann live?"))


# -- what is remembered ------------------------------------------------------------------------


def test_a_turn_is_remembered_in_its_order_with_its_ids(memory: RecallM) -> None:
    model = ScriptedModel(
        lines=[call("weather", says="Let me look.", city="Oslo"), AIMessage("Sunny.", name="Sky")]
    )
    agent = remembering(memory, model, [weather])
    output = agent.invoke(human("How is Oslo?", name="Ann"), thread("monday"))
    first, second, _, last = (message.id for message in output["messages"])
    assert [(it["id"], it["speaker"], it["text"]) for it in archived_passages(memory)] == [
        (first, "Ann", "How is Oslo?"),
        (second, "AI", "Let me look."),
        (last, "Sky", "Sunny."),
    ]
    assert {it["session"] for it in archived_passages(memory)} == {"monday"}
    assert all(it["timestamp"] for it in archived_passages(memory))


def test_the_roles_and_names_asked_for(memory: RecallM) -> None:
    for roles, expected in (
        (("human",), [("User", "How is Oslo?")]),
        (("ai",), [("Bot", "Let me look."), ("Bot", "Sunny.")]),
        (
            ("tool", "ai"),
            [("Bot", "Let me look."), ("weather", "It is sunny in Oslo."), ("Bot", "Sunny.")],
        ),
    ):
        own = memory.in_namespace("-".join(roles))
        model = ScriptedModel(lines=[call("weather", says="Let me look.", city="Oslo"), "Sunny."])
        middleware = RecallMMiddleware(
            memory=own,
            roles=roles,  # type: ignore[arg-type]
            human_prefix="User",
            ai_prefix="Bot",
        )
        create_agent(model, [weather], middleware=[middleware]).invoke(human("How is Oslo?"))
        assert speakers_and_texts(own) == expected


def test_a_history_handed_in_each_time_is_written_once(memory: RecallM) -> None:
    """Without a checkpointer the caller keeps the conversation, often without ids."""
    model = ScriptedModel(lines=[f"Answer {n}." for n in range(4)])
    agent = remembering(memory, model)
    history: list[Any] = []
    for n in range(4):
        history.append(("human", f"Question {n}."))
        answer = agent.invoke({"messages": history})["messages"][-1]
        history.append(("ai", str(answer.text)))
    assert speakers_and_texts(memory) == [
        line for n in range(4) for line in (("Human", f"Question {n}."), ("AI", f"Answer {n}."))
    ]


def test_a_history_that_ends_with_an_answer_is_not_written(memory: RecallM) -> None:
    """Again: what the answer belongs to was written before. The model goes on."""
    agent = remembering(memory, ScriptedModel(lines=["Cold.", "And it rains."]))
    messages: list[Any] = [("human", "How is Oslo?"), ("ai", "Cold.")]
    agent.invoke({"messages": messages[:1]})
    agent.invoke({"messages": messages})
    assert speakers_and_texts(memory) == [
        ("Human", "How is Oslo?"),
        ("AI", "Cold."),
        ("AI", "And it rains."),
    ]


@pytest.mark.parametrize("content", ["", "  \n", [IMAGE], []])
def test_messages_without_text_are_passed_over(
    memory: RecallM, recalls: list[str], content: Any
) -> None:
    model = ScriptedModel(lines=[call("weather", city="Oslo"), AIMessage("")])
    agent = remembering(memory, model, [weather], raise_errors=True)
    output = agent.invoke(human(content), thread("1"))
    assert output["messages"][0].content == content
    assert (recalls, speakers_and_texts(memory)) == ([], [])


class Capital(BaseModel):
    """A country's capital."""

    country: str
    city: str


def test_a_structured_response_is_remembered_as_what_was_answered(memory: RecallM) -> None:
    """It comes as a tool call: the message has no text, and a tool message acknowledges it."""
    capital = call("Capital", country="Norway", city="Oslo")
    model = ScriptedModel(lines=[capital, call("Capital", "2", country="Peru", city="Lima")])
    agent = remembering(
        memory,
        model,
        response_format=ToolStrategy(Capital),
        checkpointer=InMemorySaver(),
        roles=("human", "ai", "tool"),
    )
    output = agent.invoke(human("What is the capital of Norway?"), thread("1"))
    assert output["structured_response"] == Capital(country="Norway", city="Oslo")
    agent.invoke(human("And of Peru?"), thread("1"))
    assert speakers_and_texts(memory) == [
        ("Human", "What is the capital of Norway?"),
        ("AI", '{"country":"Norway","city":"Oslo"}'),
        ("Human", "And of Peru?"),
        ("AI", '{"country":"Peru","city":"Lima"}'),
    ]


def test_a_structured_response_of_an_earlier_turn_is_not_remembered_again(memory: RecallM) -> None:
    @tool(return_direct=True)
    def lookup(country: str) -> str:
        """A country's capital."""
        return "Lima."

    model = ScriptedModel(
        lines=[call("Capital", country="Norway", city="Oslo"), call("lookup", "2", country="Peru")]
    )
    agent = remembering(
        memory, model, [lookup], response_format=ToolStrategy(Capital), checkpointer=InMemorySaver()
    )
    agent.invoke(human("What is the capital of Norway?"), thread("1"))
    agent.invoke(human("And of Peru?"), thread("1"))
    assert [text for _, text in speakers_and_texts(memory)].count(
        '{"country":"Norway","city":"Oslo"}'
    ) == 1
    assert speakers_and_texts(memory)[-1] == ("Human", "And of Peru?")
