"""What an agent hears: LangChain's callbacks say in which outermost run it runs."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.outputs import ChatGeneration, LLMResult
from langchain_core.tracers.context import register_configure_hook
from langgraph.config import get_config

from langchain_recallm._whose_words import OutermostRun, UnknownRun

_NODE_TAG = "graph:step:"
"""LangGraph tags the run of each node with it."""
_MOST_PLACES = 100_000


@dataclass(slots=True)
class _Place:
    """Where a run stands: in which outermost run, how deep, and in which run; whether it is a
    node's, and whether a chat model answered in it."""

    run: OutermostRun
    depth: int = 0
    parent: _Place | None = None
    is_node: bool = False
    was_answered: bool = False
    ids: list[UUID] = field(default_factory=list)


class _Listener(BaseCallbackHandler):
    """Hears of all runs of LangChain in the process, and knows those that have not ended."""

    run_inline = True
    raise_error = True  # of a middleware with ``raise_errors``

    def __init__(self) -> None:
        self.places: dict[UUID, _Place] = {}

    def _put(self, run_id: UUID, place: _Place) -> None:
        while len(self.places) >= _MOST_PLACES:  # of runs whose end nobody reported
            self.places.pop(next(iter(self.places)), None)
        self.places[run_id] = place

    def on_chain_start(
        self,
        serialized: dict[str, Any],  # noqa: ARG002
        inputs: Any,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,  # noqa: ARG002
    ) -> None:
        """A run begins."""
        parent = self.places.get(parent_run_id) if parent_run_id else None
        if parent is None:
            run = OutermostRun(run_id, inputs, (metadata or {}).get("thread_id"))
            self._put(run_id, _Place(run, ids=[run_id]))
            return
        is_node = any(tag.startswith(_NODE_TAG) for tag in tags or ())
        place = _Place(parent.run, parent.depth + 1, parent, is_node, ids=parent.ids)
        self._put(run_id, place)
        place.ids.append(run_id)
        if place.depth == 1 or place.run.at_start is None:
            place.run.see(inputs)

    def on_tool_start(
        self,
        serialized: dict[str, Any],
        input_str: str,
        *,
        inputs: dict[str, Any] | None = None,
        **more: Any,
    ) -> None:
        """A tool begins."""
        self.on_chain_start(serialized, inputs or input_str, **more)

    def on_llm_end(
        self, response: LLMResult, *, parent_run_id: UUID | None = None, **_: Any
    ) -> None:
        """A model has answered."""
        place = self.places.get(parent_run_id) if parent_run_id else None
        if place is None:
            return
        for generations in response.generations:
            for generation in generations:
                if isinstance(generation, ChatGeneration):
                    place.run.speak(generation.message)
        node: _Place | None = place
        while node is not None and not node.is_node:
            node = node.parent
        if node is not None:
            node.was_answered = True

    def _ended(self, result: Any, *, run_id: UUID, **_: Any) -> None:
        run, result = self._leave(run_id, result)
        if run is not None:
            run.end(result)

    async def _aended(self, result: Any, *, run_id: UUID, **_: Any) -> None:
        run, result = self._leave(run_id, result)
        if run is not None and (run.recorders or run.fallback):
            await asyncio.to_thread(run.end, result)

    def _leave(self, run_id: UUID, result: object) -> tuple[OutermostRun | None, object]:
        """Note the end of a run; returns the outermost run, where it is that one, and its result:
        the latest messages of a run that failed."""
        place = self.places.pop(run_id, None)
        if place is None:
            return None, result
        if isinstance(result, BaseException):
            result = {"messages": place.run.latest}
        if place.was_answered:
            place.run.rewrite(result)
        if place.parent is not None:
            return None, result
        for id in place.ids:  # of runs whose end nobody reported
            self.places.pop(id, None)
        return place.run, result

    @property
    def on_chain_end(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """A run has ended, or failed. LangChain awaits a coroutine function and calls any other
        function on the event loop, and what a run answered is written off it."""
        return self._aended if _is_in_event_loop() else self._ended

    on_tool_end = on_chain_end  # pyright: ignore[reportAssignmentType]
    on_chain_error = on_chain_end  # pyright: ignore[reportAssignmentType]
    on_tool_error = on_chain_end  # pyright: ignore[reportAssignmentType]


_listener = _Listener()
_listening: ContextVar[Any] = ContextVar("recallm_listener", default=_listener)


@cache
def listen() -> None:
    """Hear of all runs from now on."""
    register_configure_hook(_listening, inheritable=True)


def run_of_agent() -> tuple[OutermostRun, bool]:
    """The outermost run in which the calling hook's agent runs, and whether the agent is that run
    itself: otherwise it is a part of it."""
    try:
        callbacks = get_config().get("callbacks")
    except RuntimeError:  # outside of a run
        callbacks = None
    place = _listener.places.get(getattr(callbacks, "parent_run_id", None))  # type: ignore[arg-type]
    if place is None:
        return UnknownRun(), True
    return place.run, place.depth <= 1


def _is_in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
