"""Tools by which a model uses a memory of facts: write, end, look up, count, compare.

Errors go to the model, as those of ``create_recallm_tools``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool

from langchain_recallm._limits import takes_k
from langchain_recallm._runs import checked_namespace, facts_of_run, thread_of_run
from langchain_recallm._tool_building import check_prefix, new_tools
from recallm import RecallM
from recallm.adapting import FactTools, Redact, checked_facts
from recallm.facts import FactMemory


@takes_k
def create_fact_tools(
    memory: RecallM | FactMemory,
    *,
    namespace: str | Callable[[Any], str] | None = None,
    limit: int = 20,
    k: int | None = None,  # noqa: ARG001
    max_tokens: int | None = 1000,
    prefix: str = "",
    redact: Redact | None = None,
) -> list[BaseTool]:
    """The tools ``write_fact``, ``end_fact``, ``read_facts``, ``fact_history``, ``count_facts``,
    ``top_facts`` and ``find_facts``.

    ``memory``: a memory, or a ``FactMemory`` with its own single-valued relations. ``namespace``:
    whose facts: the memory's own by default, a name, or for many users a template that the run's
    context or ``configurable`` fills, "user-{user_id}", or a callable over the agent's
    runtime, as in ``lambda runtime: runtime.context.user_id``. A result shows at most ``limit``
    (or ``k``) facts and takes at most ``max_tokens``, by the memory's counter, and says how many
    more there are; ``count_facts`` is exact in any case. ``prefix`` begins the tools' names
    (letters, digits, "_" and "-"). ``redact``, text → text, changes every term that the model
    gives, and the thread's name.

    * ``write_fact`` writes with the thread as source, so that ``memory.forget(source=thread_id)``
      forgets what an agent wrote there. The same tool call writes its fact once.
    * ``read_facts`` finds what holds, exactly first, else by similar names and relations; facts
      are delimited as data. ``fact_history`` has the former values of a relation.
    * Artifacts are lists of dicts in plain values: of a fact ``subject``, ``relation``,
      ``object``, ``value`` (a number or date), ``t_index``, ``said``, ``source``, ``passage``,
      ``statement``, ``match``, ``score`` and ``properties``.

    >>> from recallm import RecallM
    >>> memory = RecallM()
    >>> tools = {tool.name: tool for tool in create_fact_tools(memory)}
    >>> write, read = tools["write_fact"], tools["read_facts"]
    >>> write.invoke({"subject": "Ada", "relation": "works for", "object": "BMW"})
    'Written.'
    >>> print(read.invoke({"relation": "works for", "object": "BMW"}))
    <recalled_memory>
    ...
    [...] Ada — works for → BMW
    </recalled_memory>

    Raises:
        InvalidInputError: an argument cannot be used.

    """
    facts = checked_facts(memory)
    namespace = checked_namespace(namespace)
    check_prefix(prefix)
    FactTools(facts, limit=limit, max_tokens=max_tokens, redact=redact)  # checks the arguments

    def bind(run: Any, config: RunnableConfig) -> FactTools:
        return FactTools(
            facts_of_run(facts, namespace, run, config),
            limit=limit,
            max_tokens=max_tokens,
            source=thread_of_run(run or config),
            call=None if run is None else run.tool_call_id,
            redact=redact,
        )

    return new_tools(FactTools, FactTools.NAMES, prefix, bind)
