"""``RecallMRetriever``: what a memory recalls, as LangChain's documents and in its traces."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Self

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config
from pydantic import AfterValidator, ConfigDict, Field, model_validator
from pydantic.json_schema import SkipJsonSchema

from langchain_recallm._conversation import MessageConversation
from langchain_recallm._runs import ConfigRun, checked_namespace, conversation_of_run
from recallm import InvalidInputError, RecalledStatement, RecallM
from recallm.adapting import (
    Conversation,
    Moment,
    Order,
    RecallOptions,
    RetrieverArguments,
    Scope,
    checked_memory,
    statement_metadata,
    sync_in_thread,
    unknown_argument,
)

_Moment = Moment | datetime
"""Where pydantic is strict, a datetime is no date."""


class RecallMRetriever(BaseRetriever):
    """Recalls statements of a memory, the oldest first, one document each.

    ``memory``: the memory; ``namespace``: whose, where it is not the memory's own: a name, a
    template that the run's context or ``configurable`` fills, "user-{user_id}", or a callable from
    the run (its config, in a graph also with the attributes of the ``Runtime``) to a name. All
    other arguments may also be given for one call: ``retriever.invoke(question, k=3)``.

    ``k``: the most statements; None: as many as ``max_tokens`` allows, or else the memory's own
    ``limit``. ``where`` is the ``metadata`` of ``RecallM.recall``, compared for equality
    (``metadata=`` of a LangChain retriever is for tracers); ``max_tokens``, ``as_of``, ``since``,
    ``until``, ``speaker``, ``session``, ``path``, ``min_score``, ``asker`` bear the same name
    there. With ``scope="session"`` recall stays inside the run's thread.

    ``order``: "time", as things became true, or "score", the most helpful first, as a rank fusion
    such as ``EnsembleRetriever`` needs; "score" and ``min_score`` need the default ranking.
    Documents have no delimiters: whoever writes them into a prompt says that they are data
    (``answer_chain`` does).

    A document's ``id`` is the statement's. Its ``metadata`` holds ``t_index``, ``timestamp`` (ISO
    8601), ``speaker``, ``source``, ``session``, ``score``, ``concepts`` and ``passage``, None where
    unknown, and the statement's own metadata; own keys with the name of a field stand under
    ``own``.

    >>> from recallm import RecallM
    >>> memory = RecallM()
    >>> _ = memory.update("Brandon loves coffee", speaker="Anna", metadata={"channel": "general"})
    >>> _ = memory.update("Brandon drinks tea now")
    >>> retriever = RecallMRetriever(memory=memory, k=5)
    >>> [document.page_content for document in retriever.invoke("What does Brandon drink?")]
    ['Brandon loves coffee', 'Brandon drinks tea now']
    >>> [first] = retriever.invoke("What does Brandon love?", speaker="Anna")
    >>> first.metadata["t_index"], first.metadata["channel"]
    (1, 'general')

    Raises:
        ValidationError: a field cannot be used (pydantic's; a ``ValueError``).
        InvalidInputError: in a call, where an argument or the question cannot be used.
        ClosedError: in a call, where the memory is closed.
        StoreError: in a call, where the store failed.

    """

    model_config = ConfigDict(extra="forbid", strict=True)

    memory: SkipJsonSchema[RecallM] = Field(exclude=True)
    namespace: Annotated[
        str | Callable[[RunnableConfig], str] | None, AfterValidator(checked_namespace)
    ] = None
    k: Annotated[int, Field(ge=1)] | None = None
    max_tokens: int | None = None
    as_of: _Moment | None = None
    since: _Moment | None = None
    until: _Moment | None = None
    speaker: str | None = None
    session: str | None = None
    scope: Scope = "namespace"
    where: Mapping[str, Any] | None = None
    path: Sequence[str] | None = None
    min_score: float | None = None
    asker: str | None = None
    order: Order = "time"

    @model_validator(mode="after")
    def _check_fields_together(self) -> Self:
        self._options().check(checked_memory(self.memory))
        return self

    def invoke(
        self, input: str, config: RunnableConfig | None = None, **kwargs: Any
    ) -> list[Document]:
        """Recall for the question ``input``; ``kwargs`` replace fields in this call."""
        # BaseRetriever drops the config, from which ``namespace`` tells whose memory it is.
        return super().invoke(input, config, **kwargs, runtime=ensure_config(config))

    async def ainvoke(
        self, input: str, config: RunnableConfig | None = None, **kwargs: Any
    ) -> list[Document]:
        """``invoke``, off the event loop."""
        return await super().ainvoke(input, config, **kwargs, runtime=ensure_config(config))

    def _get_relevant_documents(
        self, query: str, *, runtime: RunnableConfig | None = None, **changes: Any
    ) -> list[Document]:
        retriever = self._with(changes)
        options = retriever._options()
        settings = MessageConversation(
            memory=retriever.memory,
            scope=retriever.scope if retriever.session is None else "namespace",
        )
        conversation = conversation_of_run(
            settings, retriever.namespace, ConfigRun(ensure_config(runtime))
        )
        context = conversation.recall(query, **options.arguments())
        return [statement_document(statement) for statement in options.ordered(context)]

    _aget_relevant_documents = sync_in_thread(BaseRetriever._aget_relevant_documents)

    def _options(self) -> RecallOptions:
        arguments: RetrieverArguments = {"limit": self.k}
        for name in RetrieverArguments.__annotations__.keys() - {"limit"}:
            arguments[name] = getattr(self, name)  # type: ignore[literal-required]
        return RecallOptions(order=self.order, **arguments)

    def _with(self, changes: Mapping[str, Any]) -> RecallMRetriever:
        """This retriever with other fields for one call, checked like its own."""
        # LangChain passes its own argument ``verbose`` to every retriever.
        changes = {name: value for name, value in changes.items() if name != "verbose"}
        if not changes:
            return self
        for name in changes:
            if name not in _CHANGED_IN_A_CALL:
                raise unknown_argument("a call", name, sorted(_CHANGED_IN_A_CALL))
        fields = {name: getattr(self, name) for name in _CHANGED_IN_A_CALL}
        try:
            return RecallMRetriever(memory=self.memory, **{**fields, **changes})
        except ValueError as error:
            raise InvalidInputError(str(error), argument=", ".join(changes)) from None


_CHANGED_IN_A_CALL = (
    RecallMRetriever.model_fields.keys() - BaseRetriever.model_fields.keys() - {"memory"}
)


def statement_document(statement: RecalledStatement) -> Document:
    """One statement."""
    return Document(
        id=statement.id, page_content=statement.text, metadata=statement_metadata(statement)
    )


_Recalled = tuple[str, Sequence[RecalledStatement]]
"""A text, and the statements in it."""


def traced(recall: Callable[[], _Recalled], question: str, conversation: Conversation) -> _Recalled:
    """What ``recall`` returns. Callbacks and tracers of the run around it see a retriever run: the
    question, a document for each statement, and the namespace as a tag."""
    namespace = conversation.memory.namespace
    run = _RecallRun(
        recall=recall,
        tags=["recallm", f"namespace:{namespace}"],
        metadata={"namespace": namespace, "session": conversation.session},
    )
    run.invoke(question, {"run_name": "recall_memory"})
    return run.recalled


class _RecallRun(BaseRetriever):
    """One recall. BaseRetriever calls the callbacks of the run that it is invoked in."""

    recall: Callable[[], _Recalled]
    recalled: _Recalled = ("", ())

    def _get_relevant_documents(self, query: str, **_: Any) -> list[Document]:  # noqa: ARG002
        self.recalled = self.recall()
        return [statement_document(statement) for statement in self.recalled[1]]
