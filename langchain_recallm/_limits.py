"""``k`` and ``limit``: two names of one argument, the most statements.

LangChain's retrievers call it ``k``, stores and the core ``limit``; whoever knows one of them need
not look up which class has which.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from recallm import InvalidInputError

_P = ParamSpec("_P")
_T = TypeVar("_T")


def takes_k(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """Decorate a function with the parameters ``limit`` and ``k``: calls give it ``limit`` alone.

    A call raises:
        TypeError: it has an argument that the function does not know.
        InvalidInputError: it has both with different values.

    """
    parameters = inspect.signature(function).parameters
    takes_more = any(it.kind is it.VAR_KEYWORD for it in parameters.values())
    known = [name for name in parameters if name != "self"]
    shown = function.__qualname__.removesuffix(".__init__")

    @wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        if not takes_more:
            try:
                check_names(kwargs, known, shown)
            except InvalidInputError as error:
                raise TypeError(error.message) from None
        arguments: Any = with_one_limit(kwargs, "limit")
        # ``arguments`` are those of the call under other names.
        return function(*args, **arguments)  # pyright: ignore[reportCallIssue]

    return call


def with_one_limit(arguments: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The arguments, with ``k`` or ``limit`` under ``name`` ("k" or "limit") alone."""
    given = {it: arguments[it] for it in ("k", "limit") if it in arguments}
    if not given:
        return dict(arguments)
    values = [value for value in given.values() if value is not None]
    if len(values) == 2 and values[0] != values[1]:
        raise InvalidInputError(
            f"k={given['k']!r} and limit={given['limit']!r} are two names of one argument: give "
            "one of them",
            argument="k",
        )
    others = {it: value for it, value in arguments.items() if it not in given}
    return {**others, name: values[0] if values else None}


def check_names(given: Mapping[str, Any], known: list[str], owner: str) -> None:
    """Refuse arguments that ``owner`` does not know."""
    for name in given:
        if name not in known:
            close = get_close_matches(name, known, n=1)
            meant = f"did you mean {close[0]}? " if close else ""
            if name in ("top_k", "n_results", "similarity_top_k"):
                meant = "did you mean k? "
            raise InvalidInputError(
                f"{owner} takes no {name}; {meant}it takes {', '.join(sorted(known))}",
                argument=name,
            )
