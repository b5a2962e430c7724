"""What a user sets once, checked when it is set: a later failure would only be logged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast, get_args

from recallm.adapting.conversation import Scope
from recallm.adapting.data import overhead
from recallm.errors import InvalidInputError
from recallm.memory import RecallM
from recallm.recalling import check_probabilities

__all__ = [
    "checked_limits",
    "checked_memory",
    "checked_namespace",
    "checked_room",
    "checked_scope",
    "checked_scores",
    "checked_session",
    "checked_where",
    "checked_within",
]


def checked_memory(memory: object) -> RecallM:
    """The memory, refused where it is none, or where its namespace is a template.

    Raises:
        InvalidInputError: it is not a ``RecallM``, or its namespace holds a brace.

    """
    if isinstance(memory, RecallM):
        checked_namespace(memory.namespace)
        return memory
    raise InvalidInputError(
        f"memory must be a RecallM, as in memory=RecallM('memory.db'), not {memory!r}",
        argument="memory",
    )


def checked_namespace(namespace: str) -> str:
    """The name of a namespace, refused where it is a template: nothing would fill it, and all
    users would share one memory. A name that a callable gives in a run is not checked here: it may
    hold any character.

    Raises:
        InvalidInputError: it holds a brace.

    """
    if _is_template(namespace):
        raise InvalidInputError(
            f"namespace={namespace!r} is a template, which nothing fills: all users would share "
            "one memory. Fill it yourself, as in memory.in_namespace(f'user-{user_id}'), or, where "
            "an adapter takes a callable, give one over the run",
            argument="namespace",
        )
    return namespace


def checked_session(session: str) -> str:
    """The name of a conversation, refused where it is a template: nothing would fill it, and all
    conversations would be one.

    Raises:
        InvalidInputError: it holds a brace.

    """
    if _is_template(session):
        raise InvalidInputError(
            f"session={session!r} is a template, which nothing fills: all conversations would be "
            "one. Fill it yourself, as in session=f'thread-{thread_id}'",
            argument="session",
        )
    return session


def _is_template(name: str) -> bool:
    return "{" in name or "}" in name


def checked_scope(scope: str) -> Scope:
    """The scope, refused where it is unknown.

    Raises:
        InvalidInputError: it is neither "namespace" nor "session".

    """
    if scope in get_args(Scope):
        return cast(Scope, scope)
    raise InvalidInputError(
        f"scope must be 'namespace' or 'session', not {scope!r}", argument="scope"
    )


def checked_within(scope: Scope, session: str | None) -> None:
    """Refuse a scope of one session where none is named.

    Raises:
        InvalidInputError: the scope is the session and there is none.

    """
    if scope == "session" and session is None:
        raise InvalidInputError(
            "scope='session' needs a conversation: give a session", argument="session"
        )


def checked_limits(
    *, limit: int | None, max_tokens: int | None, min_score: float | None = None
) -> None:
    """Refuse limits that no recall could keep.

    Raises:
        InvalidInputError: a count is not a whole number from 1 on, or ``min_score`` no probability.

    """
    for argument, value in (("limit", limit), ("max_tokens", max_tokens)):
        if value is not None and (not _is(int, value) or value < 1):
            raise InvalidInputError(
                f"{argument} must be an int of at least 1, or None, not {value!r}",
                argument=argument,
            )
    if min_score is not None and not (_is((int, float), min_score) and 0 <= min_score <= 1):
        raise InvalidInputError(
            f"min_score must be a number from 0 to 1, not {min_score!r}", argument="min_score"
        )


def checked_scores(
    memory: RecallM, *, min_score: float | None = None, order: str | None = None
) -> None:
    """Refuse a ``min_score``, or the order "score", where the memory's ranking gives statements no
    probabilities.

    Raises:
        InvalidInputError: the ranking gives none.

    """
    if min_score is not None:
        check_probabilities(memory.config.ranking, "min_score")
    if order == "score":
        check_probabilities(memory.config.ranking, "order")


def checked_room(memory: RecallM, max_tokens: int | None) -> None:
    """Refuse a budget that the delimiters alone use up: nothing would ever be recalled.

    Raises:
        InvalidInputError: ``max_tokens`` leaves no room.

    """
    taken = overhead(memory)
    if max_tokens is not None and max_tokens <= taken:
        raise InvalidInputError(
            f"max_tokens must be more than {taken}, which the delimiters around what is recalled "
            f"take, not {max_tokens}",
            argument="max_tokens",
        )


def checked_where(where: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The values that metadata must have, refused where operators stand among them: recall compares
    for equality alone, and would find nothing.

    Raises:
        InvalidInputError: a key begins with "$".

    """
    operator = _operator_in(where)
    if operator is not None:
        raise InvalidInputError(
            f"where compares for equality and knows no operator {operator!r}: give the value that "
            "the metadata must have, as in where={'channel': 'general'}, or filter what is found",
            argument="where",
        )
    return where


def _operator_in(value: object) -> str | None:
    """The first key in ``value``, at any depth, that is an operator."""
    waiting = [value]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, Mapping):
            for key in inner:
                if isinstance(key, str) and key.startswith("$"):
                    return key
            waiting += inner.values()
        elif isinstance(inner, list | tuple):
            waiting += inner
    return None


def _is(kind: type | tuple[type, ...], value: object) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)
