"""What both adapters check and decide by one rule."""

from __future__ import annotations

from typing import Any

import pytest

from recallm import InvalidInputError, RecallConfig, RecallM
from recallm.adapting import (
    Admission,
    Said,
    checked_memory,
    checked_namespace,
    checked_scores,
    checked_session,
)


def _said(text: str, role: str = "human") -> Said:
    return Said(text=text, speaker="Ann", role=role, id="m1")


class TestAdmission:
    def test_without_functions_everything_is_admitted_as_it_is(self) -> None:
        spoken = [_said("My PIN is 4711."), _said("Noted.", "ai")]
        assert Admission().admitted(spoken) == spoken

    def test_accept_sees_the_redacted_text_and_whose_it_is(self) -> None:
        seen: list[Said] = []

        def accept(said: Said) -> bool:
            seen.append(said)
            return said.role == "human"

        admission = Admission(redact=lambda text: text.replace("4711", "[PIN]"), accept=accept)
        admitted = admission.admitted([_said("My PIN is 4711."), _said("4711, noted.", "ai")])
        assert admitted == [_said("My PIN is [PIN].")]
        assert seen == [_said("My PIN is [PIN]."), _said("[PIN], noted.", "ai")]

    def test_the_name_of_a_speaker_is_redacted(self) -> None:
        seen: list[str] = []

        def redact(text: str) -> str:
            seen.append(text)
            return text.replace("ann@example.com", "[MAIL]").replace("4711", "")

        spoken = [
            Said(text="I am ann@example.com", speaker="ann@example.com", role="human"),
            Said(text="Hello", speaker="4711", role="human"),
            Said(text="Hi", speaker="AI", role="ai"),
        ]
        admitted = Admission(redact=redact).admitted(spoken)
        assert [said.speaker for said in admitted] == ["[MAIL]", "Human", "AI"]
        assert "AI" not in seen  # the adapters' own name for the role

    def test_a_redacted_text_can_be_stored(self) -> None:
        admission = Admission(redact=lambda text: text + "\ud800")
        assert admission.redacted("Hello") == "Hello?"

    @pytest.mark.parametrize(
        "functions",
        [
            {"redact": lambda _: None},
            {"redact": lambda text: text.encode()},
            {"accept": lambda _: None},
            {"accept": lambda _: "yes"},
        ],
    )
    def test_what_cannot_be_used_admits_nothing(self, functions: dict[str, Any]) -> None:
        with pytest.raises(InvalidInputError, match="must return"):
            Admission(**functions).admitted([_said("My PIN is 4711.")])

    @pytest.mark.parametrize("argument", ["redact", "accept"])
    def test_what_is_no_plain_function_is_refused(self, argument: str) -> None:
        async def later(_: object) -> str:
            return ""

        for given in ("[PIN]", later):
            with pytest.raises(InvalidInputError, match="plain function") as caught:
                Admission(**{argument: given})  # type: ignore[arg-type]
            assert caught.value.argument == argument


class TestNamespaces:
    @pytest.mark.parametrize(
        "template", ["user-{user_id}", "{}", "{0}", "{context.user!r}", "user-{user_id", "a}"]
    )
    def test_a_template_is_refused(self, template: str) -> None:
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

    @pytest.mark.parametrize("name", ["user-42", "a/b", "%(user)s", "$user", "用户"])
    def test_other_names_are_taken(self, name: str) -> None:
        assert checked_namespace(name) == name


class TestScores:
    @pytest.mark.parametrize("asked", [{"min_score": 0.5}, {"min_score": 0.0}, {"order": "score"}])
    def test_they_need_a_ranking_with_probabilities(self, asked: dict[str, Any]) -> None:
        paper = RecallM(config=RecallConfig(ranking="paper"))
        with pytest.raises(InvalidInputError, match="ranking='statements'") as caught:
            checked_scores(paper, **asked)
        assert [caught.value.argument] == list(asked)
        checked_scores(paper.with_ranking("statements"), **asked)
        with pytest.raises(InvalidInputError, match="ranking='statements'"):
            checked_scores(RecallM().with_ranking("paper"), **asked)

    def test_other_orders_need_none(self) -> None:
        checked_scores(RecallM(config=RecallConfig(ranking="paper")), order="time")
