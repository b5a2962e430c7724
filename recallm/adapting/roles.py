"""Whose words are remembered, and how those are called who say them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Literal, TypeGuard, get_args

from recallm.adapting.texts import storable
from recallm.errors import InvalidInputError
from recallm.lines import roles_in
from recallm.look_alikes import folded

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
    message may choose its name: one that is another role's, in any spelling, is not taken."""
    name = storable(given).strip()[:_LONGEST_NAME] if isinstance(given, str) else ""
    seen = " ".join(folded(name).split())
    others = {folded(names[other]) for other in names if other != role}
    return names[role] if not seen or seen in others or roles_in(name) - {role} else name


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
