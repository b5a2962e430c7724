"""How the methods of a memory are called: by the names of their arguments, and in an event loop.

Each method with an ``a`` before its name runs the method of that name in a worker thread. A memory
reads and writes files, and computes. In the thread of an event loop that would block everything
else. A call that is cancelled goes on in its thread to the end: what it writes is written whole.
A call without the ``a`` that holds up an event loop logs, once for each method, what to await.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import sys
from collections.abc import Callable, Collection, Coroutine
from difflib import get_close_matches
from functools import cache, wraps
from time import perf_counter
from typing import Any, ParamSpec, TypeVar, cast, get_args, get_type_hints

from recallm.errors import InvalidInputError, UnknownArgumentError

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C", bound=type[Any])

_log = logging.getLogger(__name__)

_LONG = 0.1
"""Seconds for which a call may hold up an event loop."""

_NAMES_ELSEWHERE = {
    **dict.fromkeys(
        ("k", "top_k", "similarity_top_k", "n", "n_results", "num_results", "max_results", "size"),
        "limit",
    ),
    **dict.fromkeys(("user_id", "user", "agent_id", "tenant", "tenant_id", "owner"), "namespace"),
    **dict.fromkeys(("session_id", "thread_id", "conversation_id", "run_id"), "session"),
    **dict.fromkeys(("filter", "filters", "where", "tags"), "metadata"),
    **dict.fromkeys(("threshold", "score_threshold", "similarity_threshold"), "min_score"),
    **dict.fromkeys(("role", "author", "name"), "speaker"),
    **dict.fromkeys(("created_at", "date", "time", "said"), "timestamp"),
    **dict.fromkeys(("query", "input"), "question"),
    **dict.fromkeys(("content", "message", "memory"), "text"),
    **dict.fromkeys(("db", "path", "uri", "url"), "store"),
    **dict.fromkeys(("start", "after"), "since"),
    **dict.fromkeys(("end", "before"), "until"),
}
"""What other memories and retrievers call an argument."""


def unknown_argument(of: str, given: str, known: Collection[str]) -> UnknownArgumentError:
    """The error for an argument that ``of`` does not have. It names the one that is meant."""
    meant = _NAMES_ELSEWHERE.get(given, given)
    close = [meant] if meant in known else get_close_matches(given, known, 1)
    if meant == "namespace" and meant not in known:
        hint = "whose memory it is, its namespace says: memory.in_namespace(…)"
    elif close:
        hint = f"did you mean {close[0]}=?"
    else:
        hint = f"known are {', '.join(known)}"
    return UnknownArgumentError(f"{of} has no argument {given!r}; {hint}", argument=given)


def knows_its_arguments(kind: C) -> C:
    """A class whose public methods, and the call that makes an instance, refuse keyword arguments
    that they do not have with an error that names the one that is meant."""
    kind.__init__ = _checked(kind.__init__, kind.__name__)
    for name, function in _public_methods(kind):
        setattr(kind, name, _checked(function, name))
    return kind


def _public_methods(kind: type[Any]) -> list[tuple[str, Callable[..., Any]]]:
    methods = [(name, inspect.getattr_static(kind, name)) for name in dir(kind)]
    return [each for each in methods if inspect.isfunction(each[1]) and each[0][0] != "_"]


def _checked(function: Callable[..., Any], called: str) -> Callable[..., Any]:
    signature = _whole_signature(function)
    parameters = list(signature.parameters.values())[1:]
    takes_any = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters)
    if takes_any or inspect.iscoroutinefunction(function):
        return function  # the method that gets them checks them
    known = {each.name: None for each in parameters}
    takes_names_alone = all(each.kind is inspect.Parameter.KEYWORD_ONLY for each in parameters)

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        if takes_names_alone and known and len(args) > 1:  # the first is the instance
            names = ", ".join(f"{name}=" for name in known)
            raise InvalidInputError(
                f"{called} takes its arguments by name: one of {names}", argument=next(iter(known))
            )
        for name in kwargs:
            if name not in known:
                raise unknown_argument(called, name, known)
        return function(*args, **kwargs)

    run.__signature__ = signature  # type: ignore[attr-defined]
    return run


def _whole_signature(function: Callable[..., Any]) -> inspect.Signature:
    """The signature of a function, with each key of a ``**arguments: Unpack[SomeTypedDict]`` as a
    parameter of its own."""
    signature = inspect.signature(function)
    parameters: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        if "Unpack[" not in str(parameter.annotation):
            parameters.append(parameter)
            continue
        (of,) = get_args(get_type_hints(inspect.unwrap(function))[parameter.name])
        parameters += [
            parameter.replace(
                name=name,
                kind=inspect.Parameter.KEYWORD_ONLY,
                default=None,
                annotation=kind.__forward_arg__,
            )
            for name, kind in of.__annotations__.items()
        ]
    return signature.replace(parameters=parameters)


def warns_in_event_loops(kind: C) -> C:
    """A class whose public methods log what to await, once each, where they hold up an event
    loop."""
    for name, function in _public_methods(kind):
        if not inspect.iscoroutinefunction(function):
            setattr(kind, name, _timed(function))
    return kind


def _timed(function: Callable[P, R]) -> Callable[P, R]:
    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        begun = perf_counter()
        try:
            return function(*args, **kwargs)
        finally:
            if perf_counter() - begun > _LONG and _is_in_event_loop():
                name = function.__name__
                _warn_of_event_loop(name, hasattr(args[0], f"a{name}"))

    return run


def _is_in_event_loop() -> bool:
    """Whether this thread runs an event loop, and not that of a notebook, which is always there."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return "IPython" not in sys.modules


@cache  # once for each method
def _warn_of_event_loop(method: str, can_be_awaited: bool) -> None:
    """Log what an event loop should await in place of ``method``."""
    own = f"memory.a{method}(…)"
    write = own if can_be_awaited else f"asyncio.to_thread(memory.{method}, …)"
    _log.warning("%s held up the event loop; write there: await %s", method, write)


def in_thread(method: Callable[P, R]) -> Callable[P, Coroutine[Any, Any, R]]:
    """``method`` as a coroutine that runs it in a worker thread, with the caller's context
    variables."""

    @wraps(method)
    async def run(self: object, /, *args: Any, **kwargs: Any) -> Any:
        return await asyncio.to_thread(getattr(self, method.__name__), *args, **kwargs)

    run.__doc__ = f"``{method.__name__}`` in a worker thread."
    run.__signature__ = _whole_signature(method)  # type: ignore[attr-defined]
    return cast("Callable[P, Coroutine[Any, Any, R]]", run)


def sync_in_thread(async_method: Callable[P, R]) -> Callable[P, R]:
    """An async method of a framework's class that runs the sync method of its name in a worker
    thread: the framework's own may hold up the event loop."""
    sync_name = async_method.__name__.replace("a", "", 1)

    @wraps(async_method, updated=())  # not the mark of an abstract method
    async def run(self: object, /, *args: Any, **kwargs: Any) -> Any:
        return await asyncio.to_thread(getattr(self, sync_name), *args, **kwargs)

    return cast("Callable[P, R]", run)
