"""What is recalled for a question asked within a run: by the retriever and the answer chain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import get_runtime

from langchain_recallm._conversation import Conversation, memory_of, thread_of
from recallm import RecalledContext, RecallM
from recallm.adapting import Scope

__all__ = ["recalled"]


class _Run(dict[str, Any]):
    """The config of a run; in a graph also with the attributes of the graph's ``Runtime``, so that
    one callable says for an agent's middleware, its tools and its retrievers whose memory it is."""

    def __getattr__(self, name: str) -> Any:
        try:
            return getattr(get_runtime(), name)
        except (RuntimeError, KeyError, AttributeError):
            raise AttributeError(
                f"this run has no {name!r}: it is no graph's, or the graph knows none; ask its "
                "config, as in config['configurable']['user_id']"
            ) from None


def recalled(
    memory: RecallM,
    question: str,
    config: RunnableConfig,
    *,
    namespace: str | Callable[[RunnableConfig], str] | None,
    session: str | None,
    scope: Scope,
    **how: Any,
) -> RecalledContext:
    """What helps to answer ``question``, for whoever the run of ``config`` is; ``how`` are further
    arguments of ``RecallM.recall``.

    ``session`` is the only one that is recalled from; with ``scope="session"`` and none given it is
    the run's thread.

    Raises:
        InvalidInputError: an argument cannot be used, or the scope is the session and there is
            none.
        ClosedError: the memory is closed.
        StoreError: the store failed.

    """
    owner = memory_of(memory, namespace, _Run(config))
    if session is None and scope == "session":
        session = thread_of(config)
    conversation = Conversation(memory=owner, session=session, scope=scope)
    return conversation.recall(question, session=session, **how)
