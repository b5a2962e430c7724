"""``RecallMToolSpec``: tools by which an agent uses a memory itself."""

from __future__ import annotations

from llama_index.core.tools.tool_spec.base import SPEC_FUNCTION_TYPE

from llama_index_recallm._tool_spec import DescribedToolSpec
from recallm import RecallM
from recallm.adapting import MemoryTools, Redact, Scope, checked_memory, checked_namespace

__all__ = ["RecallMToolSpec"]


class RecallMToolSpec(MemoryTools, DescribedToolSpec):
    """The tools ``remember``, ``recall``, ``history`` and ``forget``.

    ``memory``: the core. ``namespace``: whose memory it is, where it is not the memory's own: a
    name, never a template, since nothing that a model writes may choose it. What is remembered
    belongs to ``session``, with the speaker "AI"; ``scope="session"`` keeps all tools inside it. A
    result shows at most ``limit`` statements, each with its id, delimited as data, and takes at
    most ``max_tokens``, by the memory's counter. What a tool returns is a ``str``; its ``rows`` are
    the shown statements in plain values. LlamaIndex runs the tools off the event loop.
    ``redact``, text → text, changes what the agent writes or asks with, and ``session``.

    Beside a ``RecallMMemoryBlock``, which recalls without being asked, an agent needs
    ``to_tool_list(spec_functions=["history", "forget"])`` at most.

    >>> from recallm import RecallM
    >>> memory = RecallM()
    >>> remember, recall, history, forget = RecallMToolSpec(memory).to_tool_list()
    >>> _ = remember.call(text="Ann's flight leaves on Friday.")
    >>> "Ann's flight leaves on Friday." in recall.call(query="When does it leave?").content
    True
    >>> forget.call(about="Ann").content
    "Forgot 1 statement that mentions 'Ann'."
    >>> history.call(about="Ann").content
    'Nothing is remembered about that.'

    Raises:
        InvalidInputError: an argument cannot be used; in a call, the agent is shown it.

    """

    spec_functions: list[SPEC_FUNCTION_TYPE] = [*MemoryTools.NAMES]  # noqa: RUF012

    def __init__(
        self,
        memory: RecallM,
        *,
        namespace: str | None = None,
        session: str | None = None,
        scope: Scope = "namespace",
        limit: int = 10,
        max_tokens: int | None = 1000,
        redact: Redact | None = None,
    ) -> None:
        memory = checked_memory(memory)
        if namespace is not None:
            memory = memory.in_namespace(checked_namespace(namespace))
        super().__init__(
            memory,
            session=session,
            scope=scope,
            limit=limit,
            max_tokens=max_tokens,
            redact=redact,
        )
