"""The thread of a run with a checkpointer: its messages, and which of its checkpoints are on other
branches."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.config import get_config

_SAVER = "__pregel_checkpointer"
"""Where LangGraph's config has the checkpointer of a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadState:
    """The messages of a run whose thread has a checkpointer."""

    messages: Sequence[BaseMessage]
    thread: str
    checkpoint: str
    saver: BaseCheckpointSaver[Any]

    def has_branch(self, checkpoint: str) -> bool:
        """Whether the thread has this checkpoint, on another branch than that of the run."""
        at = self.checkpoint
        while at > checkpoint:  # ids ascend in time
            found = self._checkpoint(at)
            if found is None:
                return False
            if found.parent_config is None:
                break
            at = found.parent_config["configurable"]["checkpoint_id"]
        return at != checkpoint and self._saved(checkpoint) is not None

    def _checkpoint(self, id: str) -> Any:
        for _ in range(10):  # the latest checkpoint is written while the run goes on
            found = self._saved(id)
            if found is not None:
                return found
            time.sleep(0.05)
        return None

    def _saved(self, id: str) -> Any:
        configurable = {"thread_id": self.thread, "checkpoint_ns": "", "checkpoint_id": id}
        return self.saver.get_tuple(cast(RunnableConfig, {"configurable": configurable}))


def thread_state(run: Any, messages: Sequence[BaseMessage]) -> ThreadState | None:
    """The thread of a run; None where it has no checkpointer, or is inside another graph."""
    info = getattr(run, "execution_info", None)
    saver: object = None
    with suppress(RuntimeError):  # outside of a run
        saver = get_config().get("configurable", {}).get(_SAVER)
    if info is None or not info.thread_id or "|" in (info.checkpoint_ns or ""):
        return None
    if not isinstance(saver, BaseCheckpointSaver):
        return None
    return ThreadState(
        messages=messages, thread=info.thread_id, checkpoint=info.checkpoint_id, saver=saver
    )
