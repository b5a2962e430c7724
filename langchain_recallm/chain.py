"""Chains: a question goes in, a model's answer from what is recalled comes out; or a message, and a
reply of a model that reads and writes facts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from functools import partial
from typing import Any, Unpack

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage, convert_to_messages
from langchain_core.prompts import BasePromptTemplate, ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import (
    Runnable,
    RunnableConfig,
    RunnableGenerator,
    RunnableLambda,
    RunnablePassthrough,
)
from pydantic import BaseModel

from langchain_recallm._conversation import MessageConversation, role_of, text_of
from langchain_recallm._runs import (
    ConfigRun,
    checked_namespace,
    conversation_of_run,
    facts_of_run,
    thread_of_run,
)
from langchain_recallm.llm import as_llm, checked_model, text_of_reply
from langchain_recallm.retriever import traced
from recallm import HybridRecallM, InvalidInputError, RecallM
from recallm.adapting import (
    RecallOptions,
    RetrieverArguments,
    Scope,
    check_budget,
    checked_facts,
    checked_memory,
    checked_scope,
)
from recallm.facts import FactChat, FactMemory
from recallm.hybrid import Collection, Discriminator

# The second sentence is the paper's (Questioning the System).
_TASK = (
    "Using the following statements when necessary, answer the question that follows. Each "
    "sentence in the following statements is true when read in chronological order: where two "
    "contradict each other, the later one replaces the earlier one. Where they do not say what is "
    "asked, do not make it up."
)
_PROMPT = ChatPromptTemplate([("system", _TASK), ("human", "{context}\n\nQuestion: {question}")])
_NOTHING_KNOWN = "(Nothing about this is remembered.)"


class _Asked(BaseModel):
    question: str


_INPUT: Any = str | _Asked
"""What a chain's schema says that it takes."""


def answer_chain(
    memory: RecallM,
    chat_model: Runnable[Any, Any],
    *,
    prompt: BasePromptTemplate[Any] | None = None,
    namespace: str | Callable[[RunnableConfig], str] | None = None,
    scope: Scope = "namespace",
    **arguments: Unpack[RetrieverArguments],
) -> Runnable[str | dict[str, Any], dict[str, Any]]:
    """A runnable that answers questions with ``chat_model`` from what ``memory`` recalls.

    The chain takes a question, or a dict with a question under ``question`` (the other values go to
    the prompt), and returns a dict: ``question``; ``context``, the recalled text that the model
    got, '' where nothing is known; ``statements``, the tuple of ``RecalledStatement`` in the
    context; ``answer``. ``stream`` yields these as they come, the answer in the model's own chunks.
    The chain writes nothing.

    ``prompt``: any prompt with the variables ``context`` and ``question``; what stands in the
    messages of its ``MessagesPlaceholder`` is not recalled again. ``namespace``, ``scope`` and
    ``arguments`` are those of ``RecallMRetriever``, with ``limit`` for ``k``; ``max_tokens`` is
    1000, delimiters included.

    >>> from langchain_core.language_models import FakeListChatModel
    >>> from recallm import RecallM
    >>> memory = RecallM()
    >>> _ = memory.update("Brandon loves coffee")
    >>> chain = answer_chain(memory, FakeListChatModel(responses=["Coffee."]))
    >>> result = chain.invoke("What does Brandon love?")
    >>> result["answer"], [statement.text for statement in result["statements"]]
    ('Coffee.', ['Brandon loves coffee'])

    Raises:
        InvalidInputError: an argument cannot be used; in a run, the question cannot.
        ClosedError: in a run, where the memory is closed.
        StoreError: in a run, where the store failed.
        LLMError: in a run, where the model returns neither a message nor a text. What the model
            itself raises comes through.

    """
    settings = _settings(memory, scope, arguments.get("session"))
    namespace = checked_namespace(namespace)
    arguments.setdefault("limit", None)
    check_budget(memory, arguments.setdefault("max_tokens", 1000))
    options = RecallOptions(**arguments)
    options.check(memory)
    model = checked_model(chat_model)
    template = _checked_prompt(prompt)

    def recall(given: str | dict[str, Any], config: RunnableConfig) -> dict[str, Any]:
        inputs = question_inputs(given)
        question, how = inputs["question"], options.arguments()
        conversation = conversation_of_run(settings, namespace, ConfigRun(config))
        beside = partial(conversation.data_beside, question, _history(template, inputs), **how)
        text, statements = traced(beside, question, conversation)
        return {**inputs, "context": text, "statements": statements}

    answer = (
        RunnablePassthrough.assign(context=lambda state: state["context"] or _NOTHING_KNOWN)
        | template
        | model
        | RunnableGenerator(_texts, _atexts, name="answer_text")
    )
    steps: Runnable[str | dict[str, Any], dict[str, Any]] = RunnableLambda(
        recall, name="recall_memory"
    ) | RunnablePassthrough.assign(answer=answer)
    return steps.with_types(input_type=_INPUT).with_config(run_name="answer_from_memory")


def hybrid_chain(
    memory: RecallM,
    chat_model: Runnable[Any, Any],
    *,
    vectors: RecallM | Runnable[str, Any] | Collection | Callable[[str], str] | None = None,
    discriminator: Discriminator | None = None,
    namespace: str | Callable[[RunnableConfig], str] | None = None,
    scope: Scope = "namespace",
    **arguments: Unpack[RetrieverArguments],
) -> Runnable[str | dict[str, Any], dict[str, Any]]:
    """Hybrid-RecallM as a runnable: ``memory`` and a vector retriever answer in parallel with
    ``chat_model``, and a discriminator chooses the better answer.

    The chain takes what ``answer_chain`` takes, and returns a dict: ``question``; ``answer``, the
    chosen text; ``choice``, with the ``name`` of the chosen branch ("recallm" or "vectors"), the
    ``probability`` that its answer is the better one, and a ``reason``; ``answers``, by branch,
    each a text with the ``context`` that its model was given; ``errors`` of branches that failed;
    ``context`` and ``statements`` of the chosen answer. ``stream`` yields the result in one piece,
    for the discriminator needs both answers. The chain writes nothing.

    ``vectors``: None (the same memory, ranked by embeddings, which it must have), another
    ``RecallM`` (asked in the same namespace), a LangChain retriever, a collection of chromadb, or
    any callable question → context text. ``discriminator``: None means a ``TrainedDiscriminator``,
    which needs no model. ``namespace``, ``scope`` and ``arguments`` are those of ``answer_chain``;
    ``max_tokens`` counts each branch's recalled text.

    >>> from langchain_core.language_models import FakeListChatModel
    >>> from recallm import RecallM
    >>> memory = RecallM()
    >>> _ = memory.update("Brandon lives in Paris")
    >>> model = FakeListChatModel(responses=["Brandon lives in Paris."])
    >>> chain = hybrid_chain(memory, model, vectors=lambda question: "Brandon loves coffee.")
    >>> result = chain.invoke("Where does Brandon live?")
    >>> result["answer"], sorted(result["answers"])
    ('Brandon lives in Paris.', ['recallm', 'vectors'])

    Raises:
        InvalidInputError: an argument cannot be used, or the memory has no embeddings and
            ``vectors`` is None; in a run, the question cannot be used.
        HybridError: in a run, where both branches failed.

    """
    settings = _settings(memory, scope, arguments.get("session"))
    namespace = checked_namespace(namespace)
    options = RecallOptions(**arguments)
    options.check(memory)
    llm = as_llm(chat_model)
    branch = _document_text(vectors) if isinstance(vectors, Runnable) else vectors

    def hybrid_of(owned_memory: RecallM) -> HybridRecallM:
        owned_branch = branch
        if isinstance(branch, RecallM) and namespace is not None:
            owned_branch = branch.in_namespace(owned_memory.namespace)
        return HybridRecallM(
            owned_memory, llm=llm, vectors=owned_branch, discriminator=discriminator
        )

    hybrid_of(memory)  # checks the arguments

    def answer(given: str | dict[str, Any], config: RunnableConfig) -> dict[str, Any]:
        inputs = question_inputs(given)
        how = options.arguments()
        conversation = conversation_of_run(settings, namespace, ConfigRun(config))
        how["session"] = how.get("session") or conversation.only_session()
        chosen = hybrid_of(conversation.memory).ask(inputs["question"], **how)
        for branch_answer in chosen.answers.values():
            found = branch_answer.context.statements
            if found:  # a retriever as a branch reports its own run
                traced(partial(lambda value: value, ("", found)), inputs["question"], conversation)
        return {
            **inputs,
            "answer": str(chosen),
            "choice": chosen.choice,
            "answers": dict(chosen.answers),
            "errors": dict(chosen.errors),
            "context": chosen.context.text,
            "statements": chosen.context.statements,
        }

    return RunnableLambda(answer, name="hybrid_answer").with_types(input_type=_INPUT)


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


def _settings(memory: RecallM, scope: object, session: str | None) -> MessageConversation:
    """The settings of a chain's conversations. Where recall names a ``session``, the scope is not
    the run's thread."""
    checked = checked_scope(scope)
    return MessageConversation(
        memory=checked_memory(memory), scope=checked if session is None else "namespace"
    )


def _document_text(retriever: Runnable[str, Any]) -> Callable[[str], str]:
    """The texts of the documents that a LangChain retriever finds for a question, a paragraph
    each."""

    def text(question: str) -> Any:
        found = retriever.invoke(question)
        if isinstance(found, list) and all(isinstance(each, Document) for each in found):
            return "\n\n".join(each.page_content for each in found)
        return found  # a str, or what HybridRecallM refuses

    return text


def _checked_prompt(prompt: object) -> BasePromptTemplate[Any]:
    if prompt is None:
        return _PROMPT
    if not isinstance(prompt, BasePromptTemplate):
        raise InvalidInputError(
            f"prompt must be a prompt template, not {type(prompt).__name__}; make one with "
            "ChatPromptTemplate.from_template('…')",
            argument="prompt",
        )
    missing = {"context", "question"} - set(prompt.input_variables)
    if missing:
        raise InvalidInputError(
            f"prompt has no variable {' and no '.join(sorted(missing))}; it needs {{context}}, "
            "the recalled text, and {question}",
            argument="prompt",
        )
    return prompt


def _history(template: BasePromptTemplate[Any], inputs: dict[str, Any]) -> list[BaseMessage]:
    """The messages among the inputs that the prompt has a place for."""
    parts = template.messages if isinstance(template, ChatPromptTemplate) else []
    places = [part.variable_name for part in parts if isinstance(part, MessagesPlaceholder)]
    return [message for name in places for message in convert_to_messages(inputs.get(name) or [])]


def question_inputs(given: object) -> dict[str, Any]:
    """The inputs of a chain: a dict with the question, which may be given alone."""
    inputs = {"question": given} if isinstance(given, str) else given
    if not isinstance(inputs, dict) or not isinstance(inputs.get("question"), str):
        raise InvalidInputError(
            "give a question, or a dict with one under 'question', a str", argument="question"
        )
    return inputs


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


def _texts(replies: Iterator[Any]) -> Iterator[str]:
    """The texts of a model's replies, or of the chunks of a reply."""
    for reply in replies:
        yield text_of_reply(reply)


async def _atexts(replies: AsyncIterator[Any]) -> AsyncIterator[str]:
    async for reply in replies:
        yield text_of_reply(reply)
