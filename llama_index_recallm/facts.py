"""``RecallMFactToolSpec``: tools by which an agent uses a memory of facts."""

from __future__ import annotations

from llama_index.core.tools.tool_spec.base import SPEC_FUNCTION_TYPE

from llama_index_recallm._tool_spec import DescribedToolSpec
from recallm import RecallM
from recallm.adapting import FactTools, Redact, checked_facts, checked_namespace
from recallm.facts import FactMemory

__all__ = ["RecallMFactToolSpec"]


class RecallMFactToolSpec(FactTools, DescribedToolSpec):
    """The tools ``write_fact``, ``end_fact``, ``read_facts``, ``fact_history``, ``count_facts``,
    ``top_facts`` and ``find_facts``.

    ``memory``: a memory, or a ``FactMemory`` with its own single-valued relations. ``namespace``:
    whose facts, where they are not the memory's own. Facts are written with ``source``, so that
    ``memory.forget(source=…)`` forgets what an agent wrote. A result shows at most ``limit`` facts
    and takes at most ``max_tokens``, by the memory's counter, and says how many more there are;
    ``count_facts`` is exact in any case. Facts are delimited as data. What a tool returns is a
    ``str``; its ``rows`` are the shown facts in plain values. LlamaIndex runs the tools off the
    event loop. ``redact``, text → text, changes every term that the agent gives, and ``source``.

    These are the facts of a ``RecallMPropertyGraphStore`` over the same memory.

    >>> from recallm import RecallM
    >>> memory = RecallM()
    >>> write, *_ = RecallMFactToolSpec(memory, source="chat-1").to_tool_list()
    >>> write.call(subject="Ada", relation="works for", object="BMW").content
    'Written.'
    >>> [fact.object for fact in FactMemory(memory).read("Ada", "works for")]
    ['BMW']

    Raises:
        InvalidInputError: an argument cannot be used; in a call, the agent is shown it.

    """

    spec_functions: list[SPEC_FUNCTION_TYPE] = [*FactTools.NAMES]  # noqa: RUF012

    def __init__(
        self,
        memory: RecallM | FactMemory,
        *,
        namespace: str | None = None,
        source: str | None = None,
        limit: int = 20,
        max_tokens: int | None = 1000,
        redact: Redact | None = None,
    ) -> None:
        facts = checked_facts(memory)
        if namespace is not None:
            facts = facts.in_namespace(checked_namespace(namespace))
        super().__init__(facts, limit=limit, max_tokens=max_tokens, source=source, redact=redact)
