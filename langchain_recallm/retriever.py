"""``RecallMRetriever``: what a memory recalls, as LangChain documents."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Self

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config
from pydantic import AfterValidator, AwareDatetime, ConfigDict, Field, model_validator
from pydantic.json_schema import SkipJsonSchema

from langchain_recallm._documents import statement_document
from langchain_recallm._filter import check_filter, equal_texts, passes_filter
from langchain_recallm._runs import checked_namespace, conversation_of_run
from recallm import InvalidInputError, RecalledContext, RecalledStatement, RecallM
from recallm.adapting import (
    Order,
    RecallOptions,
    RetrieverArguments,
    Scope,
    checked_memory,
    statement_metadata,
    unknown_argument,
)

_Count = Annotated[int, Field(ge=1, strict=True)]
_Name = Annotated[str, Field(min_length=1, strict=True)]
_Moment = (
    Annotated[int, Field(ge=0, strict=True)]
    | Annotated[AwareDatetime, Field(strict=True)]
    | Annotated[str, Field(strict=True)]
)


class RecallMRetriever(BaseRetriever):
    """Recalls statements of a memory, the oldest first, one document each.

    ``memory``: the memory; ``namespace``: whose, where it is not the memory's own: a name, a
    template that the run's context or ``configurable`` fills, "user-{user_id}", or a callable from
    the run (its config, in a graph also with the attributes of the ``Runtime``) to a name. All
    other arguments may also be given for one call: ``retriever.invoke(question, k=3)``.

    ``k``: the most statements; None: as many as ``max_tokens`` allows, or else the
    memory's own ``limit``. ``max_tokens``, ``as_of``, ``since``, ``until``, ``speaker``,
    ``session``, ``path``, ``min_score``, ``asker`` are those of ``RecallM.recall``; ``where`` is
    its ``metadata``: values that are compared for equality (``metadata=`` of a LangChain retriever
    is for tracers). With ``scope="session"`` recall stays inside the run's thread.

    ``filter`` has conditions on the metadata of the documents: equality, or LangGraph's ``$eq``,
    ``$ne``, ``$gt``, ``$gte``, ``$lt``, ``$lte``, as in ``filter={"stars": {"$gte": 3}}``; a
    missing field is like null. Recall looks further until enough statements pass.

    ``order``: "time", as things became true, or "score", the most helpful first, as a rank fusion
    such as ``EnsembleRetriever`` needs; "score" and ``min_score`` need the default ranking.
    Documents have no delimiters: whoever writes them into a prompt says that they are data
    (``answer_chain`` does).

    A document's ``id`` is the statement's. Its ``metadata`` holds ``t_index``, ``timestamp`` (ISO
    8601), ``speaker``, ``source``, ``session``, ``score``, ``concepts`` and ``passage``, None where
    unknown, and the statement's own metadata; own keys that are also one of these stand under
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

    model_config = ConfigDict(extra="forbid")

    memory: SkipJsonSchema[RecallM] = Field(exclude=True)
    namespace: Annotated[
        _Name | Callable[[RunnableConfig], str] | None, AfterValidator(checked_namespace)
    ] = None
    k: _Count | None = None
    max_tokens: _Count | None = None
    as_of: _Moment | None = None
    since: _Moment | None = None
    until: _Moment | None = None
    speaker: _Name | None = None
    session: _Name | None = None
    scope: Scope = "namespace"
    where: Mapping[str, Any] | None = None
    filter: Mapping[str, Any] | None = None
    path: Sequence[str] | None = None
    min_score: Annotated[float, Field(ge=0, le=1, strict=True)] | None = None
    asker: _Name | None = None
    order: Order = "time"

    @model_validator(mode="after")
    def _check_fields_together(self) -> Self:
        self._options().check(checked_memory(self.memory))
        check_filter(self.filter)
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
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002
        runtime: RunnableConfig | None = None,
        **changes: Any,
    ) -> list[Document]:
        retriever = self._with(changes)
        options = retriever._options()
        arguments = options.arguments()

        conversation = conversation_of_run(
            retriever.memory,
            ensure_config(runtime),
            namespace=retriever.namespace,
            scope=retriever.scope,
            session=retriever.session,
        )

        def recall(**more: Any) -> RecalledContext:
            return conversation.recall(query, **{**arguments, **more})

        if retriever.filter:
            arguments = _filtered(arguments, retriever.filter)
            context = _recalled_until_all_pass(recall, retriever._passes)
        else:
            context = recall()
        found = filter(retriever._passes, options.ordered(context))
        return [statement_document(statement) for statement in found]

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        **changes: Any,
    ) -> list[Document]:
        recall = partial(self._get_relevant_documents, run_manager=run_manager.get_sync())
        return await asyncio.to_thread(recall, query, **changes)

    def _passes(self, statement: RecalledStatement) -> bool:
        return not self.filter or passes_filter(statement_metadata(statement), self.filter)

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
        if "metadata" in changes:
            raise InvalidInputError(
                "a call takes no metadata, which is for tracers; where= filters by metadata, "
                "filter= with operators",
                argument="metadata",
            )
        for name in changes:
            if name not in _CHANGED_IN_A_CALL:
                raise unknown_argument("a call", name, sorted(_CHANGED_IN_A_CALL))
        fields = {name: getattr(self, name) for name in _OWN_FIELDS}
        try:
            return RecallMRetriever.model_validate({**fields, **changes})
        except ValueError as error:
            raise InvalidInputError(str(error), argument=", ".join(changes)) from None


_OWN_FIELDS = frozenset(RecallMRetriever.model_fields) - frozenset(BaseRetriever.model_fields)
_CHANGED_IN_A_CALL = _OWN_FIELDS - {"memory"}


def _filtered(arguments: Mapping[str, Any], conditions: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a recall whose results can pass ``conditions``."""
    metadata = dict(arguments.get("metadata") or {})
    for name, value in equal_texts(conditions).items():
        if name not in RecalledStatement.__dataclass_fields__:  # a document's metadata shows both
            metadata.setdefault(name, value)
    filtered = {**arguments, "metadata": metadata}
    if filtered.get("since") is None:
        filtered["since"] = 0  # with any filter, no summary takes the place of statements
    return filtered


def _recalled_until_all_pass(
    recall: Callable[..., RecalledContext], passes: Callable[[RecalledStatement], bool]
) -> RecalledContext:
    """What ``recall`` finds without the passages of statements that do not pass. Where some do not,
    it looks four times as far as before, so that few recalls find many of these."""
    failed: set[str] = set()
    width = 0

    def has_failures(context: RecalledContext) -> bool:
        known = len(failed)
        # A fact without a passage is left out by its own id.
        failed.update(
            statement.passage or statement.id
            for statement in context.statements
            if not passes(statement)
        )
        return len(failed) > known

    while has_failures(context := recall(known=sorted(failed))):
        width = 4 * max(width, len(context.statements))
        has_failures(recall(known=sorted(failed), limit=width, max_tokens=None))
    return context
