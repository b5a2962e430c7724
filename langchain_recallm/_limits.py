"""What a user sets once, checked when it is set: a later failure would only be logged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import iscoroutinefunction
from typing import Annotated, Any

from pydantic import Field

from recallm import InvalidInputError, adapting
from recallm.adapting import NAMES, Role

__all__ = [
    "Count",
    "Name",
    "checked_names",
    "checked_namespace",
]


Count = Annotated[int, Field(ge=1, strict=True)]
"""A field that counts, of a class that pydantic builds."""

Name = Annotated[str, Field(min_length=1, strict=True)]
"""A field that names something."""


def checked_names(human_prefix: str | None, ai_prefix: str) -> Mapping[Role, str]:
    """How speakers are called whose message has no name; ``human_prefix`` None: "Human".

    Raises:
        InvalidInputError: a name is no text, or empty.

    """
    human = NAMES["human"] if human_prefix is None else human_prefix
    given: dict[str, object] = {"human_prefix": human, "ai_prefix": ai_prefix}
    for argument, name in given.items():
        if not isinstance(name, str) or not name.strip():
            raise InvalidInputError(f"{argument} must be a name, not {name!r}", argument=argument)
    return {**NAMES, "human": human, "ai": ai_prefix}


def checked_namespace(
    namespace: str | Callable[[Any], str] | None,
) -> str | Callable[[Any], str] | None:
    """Whose memory it is, refused where that cannot be told: a name, a callable or None.

    Raises:
        InvalidInputError: it is none of these, empty, a template, or an async function.

    """
    given: object = namespace
    if iscoroutinefunction(given):
        raise InvalidInputError(
            "namespace must be a plain function; what it needs to await belongs in the run's "
            "context",
            argument="namespace",
        )
    if isinstance(given, str) and given:
        return adapting.checked_namespace(given)
    if given is None or callable(given):
        return namespace
    raise InvalidInputError(
        f"namespace must be a name, a callable over the runtime, or None, not {given!r}",
        argument="namespace",
    )
