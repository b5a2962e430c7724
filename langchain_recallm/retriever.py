"""``RecallMRetriever``: what a memory recalls, as LangChain documents."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, Self

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config
from pydantic import AfterValidator, AwareDatetime, ConfigDict, Field, model_validator

from langchain_recallm._limits import Count, Name, checked_namespace
from langchain_recallm._recall import recalled
from recallm import InvalidInputError, RecalledContext, RecalledStatement, RecallM
from recallm.adapting import Scope, checked_memory, checked_scores, checked_where, shown_beside

__all__ = ["RecallMRetriever"]

_Moment = Annotated[int, Field(ge=0, strict=True)] | Annotated[AwareDatetime, Field(strict=True)]


class RecallMRetriever(BaseRetriever):
    """Recalls statements of a memory, the oldest first, one document each.

    ``memory``: the memory; ``namespace``: whose, where it is not the memory's own: a name, or a
    callable that says it of the run: its ``RunnableConfig``, in a graph also with the attributes of
    the graph's ``Runtime`` (``context``). All that follows may be given here, and
    for one call: ``retriever.invoke(question, k=3)``.

    ``k``: at most so many statements (with ``ranking="paper"`` concepts' contexts); None: as many
    as ``max_tokens`` allows, or else the memory's own ``limit``, 10: a statement is a sentence, so
    that is no more text than the four chunks of other retrievers. ``max_tokens``, ``as_of``,
    ``since``, ``until``, ``speaker``, ``session``, ``path``, ``min_score`` are those of
    ``RecallM.recall``; ``where`` is its ``metadata`` (``metadata=`` of a LangChain retriever is
    what tracers are told): values that are compared for equality, no operators such as ``$gt``.
    ``scope="session"`` keeps recall inside the run's conversation, its thread id, where no
    ``session`` is given.

    ``order``: "time", as things became true, or "score", the best first: what a rank fusion such
    as ``EnsembleRetriever`` needs. "score" and ``min_score`` need the default ranking, the only one
    that gives probabilities. ``mode="context"`` gives one document with the whole text as it
    is ready for a prompt, or none where nothing is known. Documents carry no delimiters: whoever
    writes them into a prompt says that they are data (``answer_chain`` does).

    A document's ``id`` is the statement's, its ``page_content`` the statement as it was given.
    ``metadata`` holds ``t_index``, ``timestamp`` (ISO 8601 text, which JSON and vector stores can
    hold), ``speaker``, ``source``, ``session``, ``score``, ``concepts`` (names) and ``passage``
    (an id), None where unknown, and the statement's own metadata beside them. What is named like
    one of these stands under ``own``, so that nothing is lost. Of a whole context it holds the ids
    of its ``statements``, the latest ``t_index``, ``concepts`` and ``tokens``.

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

    memory: RecallM = Field(exclude=True)
    namespace: Annotated[
        Name | Callable[[RunnableConfig], str] | None, AfterValidator(checked_namespace)
    ] = None
    k: Count | None = None
    max_tokens: Count | None = None
    as_of: _Moment | None = None
    since: _Moment | None = None
    until: _Moment | None = None
    speaker: Name | None = None
    session: Name | None = None
    scope: Scope = "namespace"
    where: Annotated[Mapping[str, Any] | None, AfterValidator(checked_where)] = None
    path: Sequence[str] | None = None
    min_score: Annotated[float, Field(ge=0, le=1, strict=True)] | None = None
    order: Literal["time", "score"] = "time"
    mode: Literal["statements", "context"] = "statements"

    @model_validator(mode="after")
    def _can_work(self) -> Self:
        checked_memory(self.memory)
        checked_scores(self.memory, min_score=self.min_score, order=self.order)
        return self

    def invoke(
        self, input: str, config: RunnableConfig | None = None, **kwargs: Any
    ) -> list[Document]:
        """Recall for the question ``input``; ``kwargs`` take the place of fields in this call."""
        # BaseRetriever does not hand the config on, which says whose memory it is.
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
        **given: Any,
    ) -> list[Document]:
        return self._documents(query, runtime, given)

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,  # noqa: ARG002
        runtime: RunnableConfig | None = None,
        **given: Any,
    ) -> list[Document]:
        return await asyncio.to_thread(self._documents, query, runtime, given)

    def _documents(
        self, query: str, runtime: RunnableConfig | None, given: Mapping[str, Any]
    ) -> list[Document]:
        asked = self._with(given)
        context = recalled(
            asked.memory,
            query,
            ensure_config(runtime),
            namespace=asked.namespace,
            session=asked.session,
            scope=asked.scope,
            limit=asked.k,
            max_tokens=asked.max_tokens,
            as_of=asked.as_of,
            since=asked.since,
            until=asked.until,
            speaker=asked.speaker,
            metadata=asked.where,
            path=asked.path,
            min_score=asked.min_score,
        )
        if asked.mode == "context":
            return [_whole(context)] if context else []
        statements = list(context.statements)
        if asked.order == "score":
            statements.sort(key=lambda it: -(it.score or 0.0))
        return [_document(statement) for statement in statements]

    def _with(self, given: Mapping[str, Any]) -> RecallMRetriever:
        """This retriever with other arguments for one call, as strictly checked as its own."""
        # LangChain takes `verbose` of every retriever's call for its own and passes it on.
        given = {name: value for name, value in given.items() if name != "verbose"}
        if not given:
            return self
        unknown = sorted(given.keys() - _GIVEN_IN_A_CALL)
        if unknown:
            raise InvalidInputError(
                f"a call takes no {', '.join(unknown)}; it takes "
                f"{', '.join(sorted(_GIVEN_IN_A_CALL))} (where= filters by metadata)",
                argument=unknown[0],
            )
        try:
            return RecallMRetriever.model_validate(
                {**{name: getattr(self, name) for name in _OWN}, **given}
            )
        except ValueError as error:
            raise InvalidInputError(str(error), argument=", ".join(given)) from None


_OWN = frozenset(RecallMRetriever.model_fields) - frozenset(BaseRetriever.model_fields)
_GIVEN_IN_A_CALL = _OWN - {"memory"}


def _document(statement: RecalledStatement) -> Document:
    return Document(id=statement.id, page_content=statement.text, metadata=shown_beside(statement))


def _whole(context: RecalledContext) -> Document:
    return Document(
        page_content=context.text,
        metadata={
            "statements": [statement.id for statement in context.statements],
            "t_index": max(statement.t_index for statement in context.statements),
            "concepts": [concept.name for concept in context.concepts],
            "tokens": context.tokens,
        },
    )
