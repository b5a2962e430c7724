"""What both adapters check and decide by one rule."""

from __future__ import annotations

import logging
from datetime import datetime
from functools import partial
from typing import Any

import pytest

from recallm import InvalidInputError, RecallConfig, RecallM
from recallm.adapting import (
    FailureGuard,
    Message,
    MessageFilter,
    RecallOptions,
    checked_session,
    latest_question,
)


def _said(text: str, role: str = "human", speaker: str = "Ann") -> Message:
    return Message(text=text, speaker=speaker, role=role, id="m1")


def test_what_may_be_written_and_in_which_words() -> None:
    """``accept`` sees the redacted text, and whose it is; names of speakers are redacted, but for
    those that the adapters give."""
    spoken = [_said("My PIN is 4711."), _said("4711, noted.", "ai")]
    assert MessageFilter().accepted(spoken) == spoken
    seen: list[Message] = []
    redacted: list[str] = []

    def redact(text: str) -> str:
        redacted.append(text)
        return text.replace("4711", "[PIN]").replace("ann@example.com", "[MAIL]")

    def accept(message: Message) -> bool:
        seen.append(message)
        return message.role == "human"

    both = MessageFilter(redact=redact, accept=accept)
    assert both.accepted(spoken) == [_said("My PIN is [PIN].")]
    assert seen == [_said("My PIN is [PIN]."), _said("[PIN], noted.", "ai")]
    names = [("ann@example.com", "human", "[MAIL]"), ("", "human", "Human"), ("AI", "ai", "AI")]
    for speaker, role, expected in names:
        [said] = MessageFilter(redact=redact).accepted([_said("Hi", role, speaker)])
        assert said.speaker == expected
    assert "AI" not in redacted
    nothing = MessageFilter(redact=lambda _: "").accepted([_said("Hi", speaker="4711")])
    assert nothing[0].speaker == "Human"
    assert MessageFilter(redact=lambda text: text + "\ud800").redacted("Hello") == "Hello?"


def test_a_template_that_nothing_fills_is_refused() -> None:
    with RecallM() as memory:
        for template in ["user-{user_id}", "{}", "{0}", "{context.user!r}", "a{b}{c}"]:
            opened = partial(RecallM, namespace=template)
            for call in (opened, partial(memory.in_namespace, template)):
                with pytest.raises(InvalidInputError, match="template") as caught:
                    call()
                assert caught.value.argument == "namespace"
            with pytest.raises(InvalidInputError, match="template") as caught:
                checked_session(template)
            assert caught.value.argument == "session"
        assert memory.in_namespace("user-42}{").namespace == "user-42}{"
    assert checked_session("thread-42") == "thread-42"


def test_what_recall_is_asked_by(subtests: pytest.Subtests) -> None:
    wrong: Any
    asked: Any
    memory = RecallM()
    for wrong in [
        {"limit": 0}, {"limit": True}, {"max_tokens": 1.5}, {"as_of": -1}, {"since": "yesterday"},
        {"until": datetime(2026, 1, 1)},  # noqa: DTZ001
        {"speaker": ""}, {"session": 7}, {"where": ["channel"]}, {"where": {"channel": object}},
        {"where": {"stars": {"$gt": 3}}}, {"path": "docs"}, {"min_score": 2}, {"order": "best"},
    ]:  # fmt: skip
        with subtests.test(case=str(wrong)):
            [argument] = wrong
            with pytest.raises(InvalidInputError, match=argument) as caught:
                RecallOptions(**wrong).check(memory)
            assert caught.value.argument == argument
    paper = RecallM(config=RecallConfig(ranking="paper"))
    for asked in [{"min_score": 0.5}, {"min_score": 0.0}, {"order": "score"}]:
        options = RecallOptions(**asked)
        for other in (paper, memory.with_ranking("paper")):
            with pytest.raises(InvalidInputError, match="ranking='statements'") as caught:
                options.check(other)
            assert [caught.value.argument] == list(asked)
        options.check(paper.with_ranking("statements"))
    RecallOptions(order="time").check(paper)
    unknown: dict[str, Any] = {"limt": 5}
    with pytest.raises(TypeError, match=r"no argument .limt.; did you mean limit="):
        RecallOptions(**unknown)


def test_the_latest_question_is_what_the_user_said_since_the_model_spoke() -> None:
    expected: Any
    roles: Any
    for roles, expected in [
        ([], ([], False)),
        (["human"], ([0], False)),
        (["human", "ai"], ([0], True)),
        (["human", "ai", "human", "human"], ([2, 3], False)),
        (["human", "ai", "human", None, "human", "tool", "ai"], ([2, 4], True)),
        (["ai", "tool"], ([], True)),
    ]:
        assert latest_question(roles) == expected, roles


def test_a_failure_is_logged_with_its_loss_or_raised(caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> None:
        raise IndexError("no such place")

    guard = FailureGuard(log=logging.getLogger("test"), raise_errors=False)
    assert guard.run(lambda: 7, "nothing is lost") == 7
    assert caplog.messages == []
    assert guard.run(fail, "one message was not remembered") is None
    assert "one message was not remembered" in caplog.messages[0]
    guard = FailureGuard(log=logging.getLogger("test"), raise_errors=True)
    with pytest.raises(IndexError):
        guard.run(fail, "one message was not remembered")
