"""``fact_chat``: a chat with a memory of facts as a runnable."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from langchain_core.messages import convert_to_messages
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda

from langchain_recallm._conversation import role_of, text_of
from langchain_recallm._runs import ConfigRun, checked_namespace, facts_of_run, thread_of_run
from langchain_recallm.chain import question_inputs
from langchain_recallm.llm import as_llm
from recallm import RecallM
from recallm.adapting import checked_facts
from recallm.facts import FactChat, FactMemory


def fact_chat(
    memory: RecallM | FactMemory,
    chat_model: Runnable[Any, Any],
    *,
    namespace: str | Callable[[RunnableConfig], str] | None = None,
    **settings: Any,
) -> Runnable[str | dict[str, Any], dict[str, Any]]:
    """A runnable that replies with ``chat_model``, which reads and writes facts as it goes on
    (``FactChat``).

    The chat takes a message, or a dict with a message under ``question`` and earlier messages, of
    any kind that LangChain converts, under ``history``. The result is a dict: ``question``;
    ``answer``, the reply without calls; ``facts``, those that the model read; ``written``, those
    that the model stored; ``calls``, all calls with their results; ``complete``, false where a
    bound was met. It does not stream: a reply is shown without its calls. The model needs no tools.

    ``memory``: a memory, or a ``FactMemory`` with its own single-valued relations. ``namespace`` is
    that of ``RecallMRetriever``. Facts are written with the run's thread as source, when the reply
    has ended. ``settings`` are those of ``FactChat``: ``rounds``, ``limit``
    and ``redact``.

    >>> from langchain_core.language_models import FakeListChatModel
    >>> from recallm import RecallM
    >>> script = ["[MEM_WRITE{Ada>>works for>>BMW}] Noted.", "[MEM_READ{Ada>>works for>>}:", "BMW."]
    >>> chat = fact_chat(RecallM(), FakeListChatModel(responses=script))
    >>> chat.invoke("Ada works for BMW.")["answer"]
    'Noted.'
    >>> result = chat.invoke("Whom does Ada work for?")
    >>> result["answer"], [fact.object for fact in result["facts"]]
    ('BMW.', ['BMW'])

    Raises:
        InvalidInputError: an argument cannot be used; in a run, the message cannot.
        LLMError: in a run, where the model failed or wrote a fact that cannot be stored. Nothing
            was stored.
        StoreError: in a run, where the store failed.

    """
    facts = checked_facts(memory)
    namespace = checked_namespace(namespace)
    llm = as_llm(chat_model)
    FactChat(facts, llm, **settings)  # checks the arguments

    def reply(given: str | dict[str, Any], config: RunnableConfig) -> dict[str, Any]:
        inputs = question_inputs(given)
        owned = facts_of_run(facts, namespace, ConfigRun(config))
        answer = FactChat(owned, llm, **settings).answer(
            inputs["question"],
            history=_turns(inputs.get("history", ())),
            said=owned.memory.now(),
            source=thread_of_run(config),
        )
        return {
            **inputs,
            "answer": str(answer),
            "facts": answer.facts,
            "written": answer.written,
            "calls": answer.calls,
            "complete": answer.complete,
        }

    return RunnableLambda(reply, name="chat_with_facts")


def _turns(history: Iterable[Any]) -> list[tuple[str, str]]:
    """Earlier messages as pairs of what the user said and what the model replied."""
    turns: list[tuple[list[str], list[str]]] = []
    for message in convert_to_messages(list(history)):
        role = role_of(message)
        if role == "human" and (not turns or turns[-1][1]):
            turns.append(([], []))
        if turns and role in ("human", "ai"):
            turns[-1][role == "ai"].append(text_of(message))
    return [("\n".join(asked), "\n".join(replied)) for asked, replied in turns]
