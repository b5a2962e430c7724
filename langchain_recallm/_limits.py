"""What a user sets once, checked when it is set: a later failure would only be logged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import iscoroutinefunction
from typing import Annotated, Any

from pydantic import Field

from langchain_recallm._conversation import NAMES
from langchain_recallm._data import overhead
from langchain_recallm._messages import Role
from recallm import InvalidInputError, RecallM

__all__ = [
    "Count",
    "Name",
    "checked_limits",
    "checked_memory",
    "checked_names",
    "checked_namespace",
    "checked_room",
]


Count = Annotated[int, Field(ge=1, strict=True)]
"""A field that counts, of a class that pydantic builds."""

Name = Annotated[str, Field(min_length=1, strict=True)]
"""A field that names something."""


def checked_memory(memory: object) -> RecallM:
    """The memory, refused where it is none.

    Raises:
        InvalidInputError: it is not a ``RecallM``.

    """
    if isinstance(memory, RecallM):
        return memory
    raise InvalidInputError(
        f"memory must be a RecallM, as in memory=RecallM('memory.db'), not {memory!r}",
        argument="memory",
    )


def checked_names(human_prefix: str, ai_prefix: str) -> Mapping[Role, str]:
    """How speakers are called whose message has no name.

    Raises:
        InvalidInputError: a name is no text, or empty.

    """
    given: dict[str, object] = {"human_prefix": human_prefix, "ai_prefix": ai_prefix}
    for argument, name in given.items():
        if not isinstance(name, str) or not name.strip():
            raise InvalidInputError(f"{argument} must be a name, not {name!r}", argument=argument)
    return {**NAMES, "human": human_prefix, "ai": ai_prefix}


def checked_namespace(
    namespace: str | Callable[[Any], str] | None,
) -> str | Callable[[Any], str] | None:
    """Whose memory it is, refused where that cannot be told: a name, a callable or None.

    Raises:
        InvalidInputError: it is none of these, empty, or an async function.

    """
    given: object = namespace
    if iscoroutinefunction(given):
        raise InvalidInputError(
            "namespace must be a plain function; what it needs to await belongs in the run's "
            "context",
            argument="namespace",
        )
    if given is None or callable(given) or (isinstance(given, str) and given):
        return namespace
    raise InvalidInputError(
        f"namespace must be a name, a callable over the runtime, or None, not {given!r}",
        argument="namespace",
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


def _is(kind: type | tuple[type, ...], value: object) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)
