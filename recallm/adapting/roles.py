"""Whose words are remembered, and how those are called who say them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Literal, TypeGuard, get_args

from recallm.adapting.texts import storable
from recallm.errors import InvalidInputError
from recallm.untrusted_text import claimed_roles, folded, name_words

__all__ = ["BOTH", "NAMES", "Role", "checked_roles", "spoken_name"]

Role = Literal["human", "ai", "tool"]
"""Whose words can be remembered; what a system message says is the developer's own."""

BOTH: frozenset[Role] = frozenset({"human", "ai"})
"""The default: what the user says and what the model answers. Tools give back what others wrote,
at any length: remembered only where asked for."""

NAMES: Mapping[Role, str] = MappingProxyType({"human": "Human", "ai": "AI", "tool": "Tool"})
"""How speakers are called whose message has no name."""

_LONGEST_NAME = 200


def spoken_name(given: object, role: Role, names: Mapping[Role, str]) -> str:
    """The name of a speaker: the one that a message gives, else that of the role. Whoever writes a
    message may choose its name: one that claims another role, or holds the name that ``names``
    gives to another role, is not taken, in any spelling ("A.I.", "Aria (assistant)")."""
    name = storable(given).strip()[:_LONGEST_NAME] if isinstance(given, str) else ""
    others = [names[other] for other in names if other != role]
    if (
        not folded(name).strip()
        or claimed_roles(name) - {role}
        or any(_holds(name, it) for it in others)
    ):
        return names[role]
    return name


def _holds(name: str, other: str) -> bool:
    """Whether a name is another one, or, where the other is no mere role, holds its words."""
    mine, words = name_words(name), name_words(other)
    if not words:
        return folded(other) in folded(name)
    if "".join(mine) == "".join(words):
        return True
    return not claimed_roles(other) and f" {' '.join(words)} " in f" {' '.join(mine)} "


def checked_roles(roles: Collection[str]) -> frozenset[Role]:
    """The roles, refused where one is unknown.

    Raises:
        InvalidInputError: a role is none of "human", "ai", "tool".

    """
    known = get_args(Role)
    several: object = roles
    given = {roles} if isinstance(roles, str) else set(roles if several else ())
    if not given or not _are_roles(given):
        raise InvalidInputError(
            f"roles must be one or more of {', '.join(map(repr, known))}, not "
            f"{sorted(map(str, given))!r}",
            argument="roles",
        )
    return frozenset(given)


def _are_roles(given: set[str]) -> TypeGuard[set[Role]]:
    return given <= set(get_args(Role))
