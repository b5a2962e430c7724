"""Tools by which LlamaIndex's agents use a memory: ``RecallMToolSpec`` for the memory itself,
``RecallMFactToolSpec`` for its facts.

The name of a method is the tool's name, its docstring and annotations are what an agent reads.
"""

# LlamaIndex reads the annotations of the methods: they must not be strings.

from llama_index.core.tools.tool_spec.base import SPEC_FUNCTION_TYPE, BaseToolSpec
from llama_index.core.tools.types import ToolMetadata
from llama_index.core.tools.utils import create_schema_from_function

from recallm import RecallM
from recallm.adapting import (
    Conversation,
    FactTools,
    MemoryTools,
    MessageFilter,
    Redact,
    Scope,
    checked_facts,
    checked_memory,
    checked_scope,
    checked_session,
)
from recallm.facts import FactMemory


class _DescribedToolSpec(BaseToolSpec):
    """A tool spec whose tools are described by their docstrings alone."""

    def get_metadata_from_fn_name(
        self,
        fn_name: str,
        spec_functions: list[SPEC_FUNCTION_TYPE] | None = None,  # noqa: ARG002
    ) -> ToolMetadata:
        """The description of a tool: LlamaIndex's own repeats the signature."""
        method = getattr(self, fn_name)
        return ToolMetadata(
            name=fn_name,
            description=method.__doc__,
            fn_schema=create_schema_from_function(fn_name, method),
        )


class RecallMToolSpec(MemoryTools, _DescribedToolSpec):
    """The tools ``remember``, ``recall``, ``history`` and ``forget``.

    ``memory``: the core. ``namespace``: whose memory it is, where it is not the memory's own: a
    name, never a template, since nothing that a model writes may choose it. What is remembered
    belongs to ``session``, with the speaker "AI"; ``scope="session"`` keeps all tools inside it,
    and ``forget`` then takes ids alone. A result shows at most ``limit`` statements (the agent may
    ask for another number), each with its id, delimited as data, and takes at most ``max_tokens``,
    by the memory's counter. LlamaIndex runs the tools off the event loop. ``redact``, text → text,
    changes what the agent writes or asks with, and ``session``.

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
    >>> history.call(concept="Ann").content
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
            memory = memory.in_namespace(namespace)
        if session is not None:
            redacted = MessageFilter(redact=redact).redacted_name(session, "session")
            session = checked_session(redacted)
        conversation = Conversation(
            memory=memory,
            session=session,
            scope=checked_scope(scope),
        )
        super().__init__(conversation, limit=limit, max_tokens=max_tokens, redact=redact)


class RecallMFactToolSpec(FactTools, _DescribedToolSpec):
    """The tools ``write_fact``, ``end_fact``, ``read_facts``, ``fact_history`` and
    ``count_facts``.

    ``memory``: a memory, or a ``FactMemory`` with its own single-valued relations. ``namespace``:
    whose facts, where they are not the memory's own. Facts are written with ``source``, so that
    ``memory.forget(source=…)`` forgets what an agent wrote. A result shows at most ``limit`` facts
    and takes at most ``max_tokens``, by the memory's counter, and says how many more there are;
    ``count_facts`` is exact in any case. Facts are delimited as data. LlamaIndex runs the tools off
    the event loop. ``redact``, text → text, changes every term that the agent gives, and
    ``source``.

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
            facts = facts.in_namespace(namespace)
        super().__init__(facts, limit=limit, max_tokens=max_tokens, source=source, redact=redact)
