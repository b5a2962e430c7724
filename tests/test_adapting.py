"""What both adapters check and decide by one rule."""

from __future__ import annotations

import logging
from datetime import datetime
from typing import Any

import pytest

from recallm import InvalidInputError, RecallConfig, RecallM
from recallm.adapting import (
    FailureGuard,
    Message,
    MessageFilter,
    RecallOptions,
    checked_memory,
    checked_namespace,
    checked_session,
    latest_question,
)


def _said(text: str, role: str = "human") -> Message:
    return Message(text=text, speaker="Ann", role=role, id="m1")


class TestMessageFilter:
    def test_without_functions_everything_is_admitted_as_it_is(self) -> None:
        spoken = [_said("My PIN is 4711."), _said("Noted.", "ai")]
        assert MessageFilter().accepted(spoken) == spoken

    def test_accept_sees_the_redacted_text_and_whose_it_is(self) -> None:
        seen: list[Message] = []

        def accept(message: Message) -> bool:
            seen.append(message)
            return message.role == "human"

        admission = MessageFilter(redact=lambda text: text.replace("4711", "[PIN]"), accept=accept)
        admitted = admission.accepted([_said("My PIN is 4711."), _said("4711, noted.", "ai")])
        assert admitted == [_said("My PIN is [PIN].")]
        assert seen == [_said("My PIN is [PIN]."), _said("[PIN], noted.", "ai")]

    def test_the_name_of_a_speaker_is_redacted(self) -> None:
        seen: list[str] = []

        def redact(text: str) -> str:
            seen.append(text)
            return text.replace("ann@example.com", "[MAIL]").replace("4711", "")

        spoken = [
            Message(text="I am ann@example.com", speaker="ann@example.com", role="human"),
            Message(text="Hello", speaker="4711", role="human"),
            Message(text="Hi", speaker="AI", role="ai"),
        ]
        admitted = MessageFilter(redact=redact).accepted(spoken)
        assert [said.speaker for said in admitted] == ["[MAIL]", "Human", "AI"]
        assert "AI" not in seen  # the adapters' own name for the role

    def test_a_redacted_text_can_be_stored(self) -> None:
        admission = MessageFilter(redact=lambda text: text + "\ud800")
        assert admission.redacted("Hello") == "Hello?"


class TestNamespaces:
    def test_a_template_is_refused(self, subtests: pytest.Subtests) -> None:
        for template in ["user-{user_id}", "{}", "{0}", "{context.user!r}", "user-{user_id", "a}"]:
            with subtests.test(case=str(template)):
                with pytest.raises(InvalidInputError, match="template") as caught:
                    checked_namespace(template)
                assert caught.value.argument == "namespace"

    def test_a_template_as_the_memorys_own_namespace_is_refused(self) -> None:
        with RecallM(namespace="user-{user_id}") as memory:
            with pytest.raises(InvalidInputError, match="template") as caught:
                checked_memory(memory)
            assert caught.value.argument == "namespace"
            assert checked_memory(memory.in_namespace("user-42")).namespace == "user-42"

    def test_a_template_as_a_session_is_refused(self) -> None:
        with pytest.raises(InvalidInputError, match="template") as caught:
            checked_session("thread-{id}")
        assert caught.value.argument == "session"
        assert checked_session("thread-42") == "thread-42"


class TestRecallOptions:
    def test_scores_need_a_ranking_with_probabilities(self, subtests: pytest.Subtests) -> None:
        asked: Any
        for asked in [{"min_score": 0.5}, {"min_score": 0.0}, {"order": "score"}]:
            with subtests.test(case=str(asked)):
                paper = RecallM(config=RecallConfig(ranking="paper"))
                options = RecallOptions(**asked)
                with pytest.raises(InvalidInputError, match="ranking='statements'") as caught:
                    options.check(paper)
                assert [caught.value.argument] == list(asked)
                options.check(paper.with_ranking("statements"))
                with pytest.raises(InvalidInputError, match="ranking='statements'"):
                    options.check(RecallM().with_ranking("paper"))

    def test_the_order_of_time_needs_none(self) -> None:
        RecallOptions(order="time").check(RecallM(config=RecallConfig(ranking="paper")))

    def test_a_wrong_argument_is_named(self, subtests: pytest.Subtests) -> None:
        wrong: Any
        for wrong in [
            {"limit": 0},
            {"limit": True},
            {"max_tokens": 1.5},
            {"as_of": -1},
            {"since": "yesterday"},
            {"until": datetime(2026, 1, 1)},  # noqa: DTZ001
            {"speaker": ""},
            {"session": 7},
            {"where": ["channel"]},
            {"where": {"channel": object}},
            {"where": {"stars": {"$gt": 3}}},
            {"path": "docs"},
            {"min_score": 2},
            {"order": "best"},
        ]:
            with subtests.test(case=str(wrong)):
                [argument] = wrong
                with pytest.raises(InvalidInputError, match=argument) as caught:
                    RecallOptions(**wrong).check(RecallM())
                assert caught.value.argument == argument

    def test_the_order_of_scores_puts_the_best_first(self) -> None:
        with RecallM() as memory:
            memory.update_many(["Ann likes tea.", "Ann lives in Oslo.", "Bo lives in Rome."])
            context = memory.recall("Where does Ann live?")
        by_time = RecallOptions().ordered(context)
        by_score = RecallOptions(order="score").ordered(context)
        assert by_time == list(context.statements)
        assert by_score[0].text == "Ann lives in Oslo."
        assert by_score != by_time


class TestLatestQuestion:
    def test_it_is_what_the_user_said_since_the_model_spoke(
        self, subtests: pytest.Subtests
    ) -> None:
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
            with subtests.test(case=str((roles, expected))):
                assert latest_question(roles) == expected


def fail() -> None:
    raise IndexError("no such place")


class TestFailureGuard:
    def test_a_failure_is_logged_with_its_loss(self, caplog: pytest.LogCaptureFixture) -> None:
        guard = FailureGuard(log=logging.getLogger("test"), raise_errors=False)
        assert guard.run(lambda: 7, "nothing is lost") == 7
        assert caplog.messages == []
        assert guard.run(fail, "one message was not remembered") is None
        assert "one message was not remembered" in caplog.messages[0]

    def test_it_raises_on_request(self) -> None:
        guard = FailureGuard(log=logging.getLogger("test"), raise_errors=True)
        with pytest.raises(IndexError):
            guard.run(fail, "one message was not remembered")


def test_an_unknown_argument_of_a_retriever_is_refused_with_the_known_ones() -> None:
    arguments: dict[str, Any] = {"limt": 5}
    with pytest.raises(TypeError, match=r"no argument .limt.; did you mean limit="):
        RecallOptions(**arguments)
