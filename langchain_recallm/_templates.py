"""Templates of namespaces, ``"user-{user_id}"``, filled from the run.

Two users must never share a namespace: a value that is missing is an error, and so is one that
could be taken for another user's values.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from operator import add
from typing import Any
from uuid import UUID

from langgraph.config import get_config

from recallm import InvalidInputError

_FIELD = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class NamespaceTemplate:
    """A callable from a run to a name: the template with the values of the run's context and of
    ``configurable`` in place of its fields."""

    text: str

    def __post_init__(self) -> None:
        texts, fields = self._parts()
        has_braces = any("{" in text or "}" in text for text in texts)
        if has_braces or not fields or not all(map(str.isidentifier, fields)):
            raise _unusable(
                self.text, "must have plain names in single braces, {user_id}, and no other braces"
            )
        if not all(texts[1:-1]):
            raise _unusable(self.text, "needs a text between its fields to keep values apart")

    def __call__(self, run: Any) -> str:
        """The name for whoever ``run`` runs for."""
        texts, fields = self._parts()
        between = set("".join(texts[1:-1]))
        values = [self._checked(field, _value_in(run, field), between) for field in fields]
        return texts[0] + "".join(map(add, values, texts[1:]))

    def _parts(self) -> tuple[list[str], list[str]]:
        """The texts around the fields, and the names of the fields."""
        parts = _FIELD.split(self.text)
        return parts[::2], parts[1::2]

    def __str__(self) -> str:
        return self.text

    def _checked(self, field: str, values: list[object], between: set[str]) -> str:
        if not values:
            raise _unusable(
                self.text,
                f"needs {field!r}, which this run does not have: give it in the run's context, or "
                f"in config={{'configurable': {{{field!r}: …}}}}",
            )
        if any(
            isinstance(value, bool) or not isinstance(value, str | int | UUID) for value in values
        ):
            kinds = " and ".join(sorted({type(value).__name__ for value in values}))
            raise _unusable(self.text, f"needs a str or an int as {field!r}, not {kinds}")
        texts = {str(value) for value in values}
        if len(texts) > 1:
            raise _unusable(
                self.text,
                f"finds two values of {field!r}, in the run's context and in its config: give one",
            )
        text = texts.pop()
        if not text.strip() or "{" in text or "}" in text:
            raise _unusable(self.text, f"gets {text!r} as {field!r}: blank, or itself a template")
        if shared := sorted(between.intersection(text)):
            raise _unusable(
                self.text,
                f"gets {text!r} as {field!r}, which contains {', '.join(map(repr, shared))}, as "
                "the text between the fields does: two users could share one memory. Separate "
                "the fields by other characters",
            )
        return text


def _value_in(run: Any, field: str) -> list[object]:
    """The values of a field in the run's context and in its config; None counts as missing."""
    context = getattr(run, "context", None)
    config = run if isinstance(run, Mapping) else getattr(run, "config", None)
    if config is None:
        with suppress(RuntimeError):  # outside of a graph
            config = get_config()
    configurable = (config or {}).get("configurable") or {}
    found = [
        context.get(field) if isinstance(context, Mapping) else getattr(context, field, None),
        configurable.get(field),
    ]
    return [value for value in found if value is not None]


def _unusable(text: str, fault: str) -> InvalidInputError:
    return InvalidInputError(f"the template namespace={text!r} {fault}", argument="namespace")
