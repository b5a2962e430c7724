"""Arguments of adapters, checked when they are set: a later failure would only be logged."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime
from typing import Any, Literal, TypedDict, Unpack, cast, get_args

from recallm.adapting.conversation import Scope, delimiter_tokens
from recallm.errors import InvalidInputError, LLMError
from recallm.facts.values import value_of
from recallm.ground import checks
from recallm.ground.methods import unknown_argument
from recallm.ground.untrusted_text import storable
from recallm.memory import RecallM
from recallm.memory.spoken import Role
from recallm.model import Moment
from recallm.recall.recalling import check_probabilities, checked_request
from recallm.recall.results import RecalledContext, RecalledStatement

Order = Literal["time", "score"]
"""Of recalled statements: as things became true, or the most helpful first."""


class RetrieverArguments(TypedDict, total=False):
    """The arguments of ``RecallM.recall`` that a retriever is given once. ``where`` is the
    ``metadata`` of ``RecallM.recall``."""

    limit: int | None
    max_tokens: int | None
    as_of: Moment | None
    since: Moment | None
    until: Moment | None
    speaker: str | None
    session: str | None
    where: Mapping[str, Any] | None
    path: Sequence[str] | None
    min_score: float | None
    asker: str | None


class RecallOptions:
    """The arguments that a retriever recalls with, and the ``order`` of its results."""

    def __init__(self, *, order: Order = "time", **arguments: Unpack[RetrieverArguments]) -> None:
        known = RetrieverArguments.__annotations__
        for unknown in sorted(arguments.keys() - known.keys()):
            raise unknown_argument("this retriever", unknown, known)
        self._order = order
        self._arguments = arguments

    def check(self, memory: RecallM) -> None:
        """Refuse what ``memory`` cannot recall by."""
        checks.choice(get_args(Order), self._order, "order")
        where = self._arguments.get("where")
        if where is not None:
            _refuse_operators(checks.properties(where, "where"))
        checked_request(
            "",
            self.arguments(),
            now=memory.now(),
            config=memory.config,
            count_tokens=memory.count_tokens,
        )
        if self._order == "score":
            check_probabilities(memory.config.ranking, "order")

    def arguments(self) -> dict[str, Any]:
        """The keyword arguments of ``RecallM.recall``."""
        arguments: dict[str, Any] = {**self._arguments}
        if (where := arguments.pop("where", None)) is not None:
            arguments["metadata"] = where
        return arguments

    def ordered(self, context: RecalledContext) -> list[RecalledStatement]:
        """The statements of a recalled context in the order that was asked for."""
        if self._order == "time":
            return list(context.statements)
        return sorted(context.statements, key=lambda statement: -(statement.score or 0.0))


def checked_session(session: str) -> str:
    """The name of a conversation, refused where it is a template: nothing would fill it, and all
    conversations would be one."""
    if "{" in session or "}" in session:
        raise InvalidInputError(
            f"session={session!r} is a template, which nothing fills: all conversations would be "
            "one. Fill it yourself, as in session=f'thread-{thread_id}'",
            argument="session",
        )
    return session


def checked_scope(scope: object) -> Scope:
    """The scope."""
    checked: Scope = checks.choice(get_args(Scope), scope, "scope")
    return checked


def checked_roles(roles: Collection[str]) -> frozenset[Role]:
    """The roles whose messages are remembered."""
    given: object = roles
    names = {roles} if isinstance(roles, str) else set(roles if given else ())
    if not names or not names <= set(get_args(Role)):
        raise InvalidInputError(
            f"roles must be one or more of {', '.join(map(repr, get_args(Role)))}, not "
            f"{sorted(map(str, names))!r}",
            argument="roles",
        )
    return cast("frozenset[Role]", frozenset(names))


def not_a_model(given: Any, argument: str, expected: str) -> InvalidInputError:
    """The error for a value that is no model of the framework; ``expected`` says what is."""
    hint = (
        "; a callable prompt → text is given to RecallM(llm=…) as it is"
        if callable(given) and not isinstance(given, type)
        else ""
    )
    kind = f"the class {given.__name__}" if isinstance(given, type) else type(given).__name__
    return InvalidInputError(f"{argument} must be {expected}, not {kind}{hint}", argument=argument)


def answer_without_text() -> LLMError:
    """The error for an answer that holds something, but no text."""
    return LLMError(
        "the model answered without text (a tool call, an image or reasoning alone); give a model "
        "without tools that answers in text"
    )


def named_moment(given: object, argument: str) -> datetime:
    """The moment that a model names in an argument of a tool: as ``checks.iso_moment`` reads it,
    also of a day in words ("1 May 2024")."""
    text = storable(str(given).strip())
    value = value_of(text)
    return checks.iso_moment(value.isoformat() if isinstance(value, date) else text, argument)


def time_of_writing(memory: RecallM, day: str | None) -> datetime:
    """When what a tool writes was said: at the beginning of the ``day`` that a model names; now,
    where that is today or nothing, so that it is later than what was written before."""
    now = memory.now()
    if day is None or not day.strip():
        return now
    moment = named_moment(day, "date")
    return now if moment.date() == now.astimezone(moment.tzinfo).date() else moment


def check_budget(memory: RecallM, max_tokens: int | None) -> None:
    """Refuse a budget that the delimiters alone use up: nothing would ever be recalled."""
    least = delimiter_tokens(memory)
    if (checks.count(max_tokens, "max_tokens") or least + 1) <= least:
        raise InvalidInputError(
            f"max_tokens must be more than {least}, which the delimiters around recalled text "
            f"take, not {max_tokens}",
            argument="max_tokens",
        )


def _refuse_operators(where: object) -> None:
    """Recall compares metadata for equality alone: with an operator it would find nothing."""
    if isinstance(where, list):
        for each in where:
            _refuse_operators(each)
    elif isinstance(where, dict):
        for key, value in where.items():
            if key.startswith("$"):
                raise InvalidInputError(
                    f"where compares for equality and knows no operator {key!r}: give the value "
                    "that the metadata must have, as in where={'channel': 'general'}, or filter "
                    "what is found",
                    argument="where",
                )
            _refuse_operators(value)
