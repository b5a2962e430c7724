"""What the tools of this package share: how they are made, their runtime, their errors."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Annotated, Any, get_type_hints

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, InjectedToolArg, StructuredTool, ToolException
from langchain_core.tools.base import create_schema_from_function
from langgraph.prebuilt import ToolRuntime

from recallm import InvalidInputError
from recallm.adapting import FactReply

_log = logging.getLogger("langchain_recallm")

_PREFIX = re.compile("[A-Za-z0-9_-]{0,40}")

_InjectedRuntime = Annotated[ToolRuntime[Any, Any] | None, InjectedToolArg]
"""Injected in an agent, None outside; not in the schema that the model sees."""


def check_prefix(prefix: object) -> None:
    """Refuse a prefix that models cannot take in the name of a tool."""
    if not isinstance(prefix, str) or not _PREFIX.fullmatch(prefix):
        raise InvalidInputError(
            "prefix must be up to 40 letters, digits, '_' and '-', as models take them in names, "
            f"not {prefix!r}",
            argument="prefix",
        )


def new_tools(
    kind: type,
    names: Iterable[str],
    prefix: str,
    bind: Callable[[ToolRuntime[Any, Any] | None, RunnableConfig], Any],
) -> list[BaseTool]:
    """A tool for each of the named methods of ``kind``, whose docstrings and annotations are what a
    model reads. ``bind`` gives the object of a call, whose method does the work: off the event loop
    in async runs. The ``rows`` of its reply are the artifact."""

    def new_tool(name: str) -> BaseTool:
        method = getattr(kind, name)
        has_rows = get_type_hints(method)["return"] is FactReply

        def call(config: RunnableConfig, runtime: _InjectedRuntime = None, **arguments: Any) -> Any:
            with _errors_for_the_model():
                # Without an agent, a model can write an argument named ``runtime`` itself.
                run = runtime if isinstance(runtime, ToolRuntime) else None
                reply = getattr(bind(run, config), name)(**arguments)
                return (str(reply), reply.rows) if has_rows else reply

        @wraps(call)
        async def off_the_loop(*args: Any, **kwargs: Any) -> Any:
            return await asyncio.to_thread(call, *args, **kwargs)

        paragraphs = (method.__doc__ or "").split("\n\n")
        return StructuredTool.from_function(
            func=call,
            coroutine=off_the_loop,
            name=f"{prefix}{name}",
            description="\n\n".join(" ".join(it.split()) for it in paragraphs),
            args_schema=create_schema_from_function(name, method, filter_args=["self"]),
            handle_tool_error=True,
            response_format="content_and_artifact" if has_rows else "content",
        )

    return [new_tool(name) for name in names]


@contextmanager
def _errors_for_the_model() -> Iterator[None]:
    """Turn errors into those that LangChain shows the model."""
    try:
        yield
    except ToolException:
        raise
    except InvalidInputError as error:
        raise ToolException(error.message) from error
    except Exception as error:
        _log.warning("the memory failed; the model gets the error", exc_info=True)
        raise ToolException(
            f"The memory failed ({type(error).__name__}); go on without it."
        ) from error
