"""What the tools of this package share: how they are made, their runtime, their errors."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Annotated, Any

from langchain_core.tools import BaseTool, InjectedToolArg, StructuredTool, ToolException
from langchain_core.tools.base import ArgsSchema
from langgraph.prebuilt import ToolRuntime

from recallm import InvalidInputError
from recallm.adapting import storable

__all__ = ["InjectedRuntime", "check_prefix", "checked_text", "errors_for_the_model", "new_tool"]

_log = logging.getLogger("langchain_recallm")

_PREFIX = re.compile("[A-Za-z0-9_-]{0,40}")

InjectedRuntime = Annotated[ToolRuntime[Any, Any] | None, InjectedToolArg]
"""Injected in an agent, None outside; not in the schema that the model sees."""


def check_prefix(prefix: object) -> None:
    """Refuse a prefix that models cannot take in the name of a tool.

    Raises:
        InvalidInputError: it is no such prefix.

    """
    if not isinstance(prefix, str) or not _PREFIX.fullmatch(prefix):
        raise InvalidInputError(
            "prefix must be up to 40 letters, digits, '_' and '-', as models take them in names, "
            f"not {prefix!r}",
            argument="prefix",
        )


def new_tool(
    work: Callable[..., Any], name: str, description: str, schema: ArgsSchema, **more: Any
) -> BaseTool:
    """A tool that runs ``work``, in async runs off the event loop."""

    @wraps(work)
    async def off_the_loop(*args: Any, **kwargs: Any) -> Any:
        return await asyncio.to_thread(work, *args, **kwargs)

    return StructuredTool.from_function(
        func=work,
        coroutine=off_the_loop,
        name=name,
        description=description,
        args_schema=schema,
        handle_tool_error=True,
        **more,
    )


def checked_text(text: str, argument: str) -> str:
    """The model's text, refused where it is blank. Lone surrogates, which no store can hold, become
    question marks."""
    if not text.strip():
        raise ToolException(f"{argument} is empty; nothing was done.")
    return storable(text)


@contextmanager
def errors_for_the_model() -> Iterator[None]:
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
