"""What is recalled, and as which nodes: for the retriever and the sub-retriever."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from llama_index.core.schema import (
    NodeRelationship,
    NodeWithScore,
    QueryBundle,
    RelatedNodeInfo,
    TextNode,
)
from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from llama_index_recallm._values import decoded, encoded
from recallm import InvalidInputError, RecalledStatement, RecallM
from recallm.adapting import (
    as_content,
    checked_memory,
    checked_namespace,
    checked_scores,
    checked_where,
    shown_beside,
    shown_name,
)

__all__ = ["Order", "Recalling", "recalling"]

Order = Literal["time", "score"]
"""As things became true, or the best first."""

_Count = Annotated[int, Field(ge=1, strict=True)]
_Name = Annotated[str, Field(min_length=1, strict=True)]
_Moment = Annotated[int, Field(ge=0, strict=True)] | Annotated[AwareDatetime, Field(strict=True)]

_MUST: Mapping[str, str] = {
    "limit": "an int of at least 1",
    "max_tokens": "an int of at least 1",
    "as_of": "a t_index or an aware datetime",
    "since": "a t_index or an aware datetime",
    "until": "a t_index or an aware datetime",
    "speaker": "a name",
    "session": "a name",
    "where": "a mapping of JSON values",
    "path": "a list of names",
    "min_score": "a number from 0 to 1",
    "order": "'time' or 'score'",
}
"""What each argument of a recall has to be."""

_SHOWN = ("timestamp", "speaker")
"""What a language model is shown beside a statement, where it is known."""


def _where(metadata: Mapping[str, Any]) -> dict[str, Any]:
    checked_where(metadata)
    return encoded(metadata, of="where")


class Recalling(BaseModel):
    """How a memory is asked: the arguments of ``RecallM.recall``, checked when they are set."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    memory: RecallM
    limit: _Count | None = None
    max_tokens: _Count | None = None
    as_of: _Moment | None = None
    since: _Moment | None = None
    until: _Moment | None = None
    speaker: _Name | None = None
    session: _Name | None = None
    where: Annotated[Mapping[str, Any], AfterValidator(_where)] | None = None
    path: Sequence[str] | None = None
    min_score: Annotated[float, Field(ge=0, le=1, strict=True)] | None = None
    order: Order = "time"

    def nodes(self, query: QueryBundle) -> list[NodeWithScore]:
        """What is recalled for the query's text, a node each statement.

        Raises:
            InvalidInputError: the question, or an argument, cannot be used.
            ClosedError: the memory is closed.
            StoreError: the store failed.

        """
        context = self.memory.recall(
            query.query_str,
            limit=self.limit,
            max_tokens=self.max_tokens,
            as_of=self.as_of,
            since=self.since,
            until=self.until,
            speaker=self.speaker,
            session=self.session,
            metadata=self.where,
            path=self.path,
            min_score=self.min_score,
        )
        statements = list(context.statements)
        if self.order == "score":
            statements.sort(key=lambda it: -(it.score or 0.0))
        return [NodeWithScore(node=_node(it), score=it.score) for it in statements]


def recalling(memory: RecallM, namespace: str | None, **how: Any) -> Recalling:
    """How to ask ``memory``, or another namespace of its store.

    Raises:
        InvalidInputError: an argument cannot be used.

    """
    memory = checked_memory(memory)
    if namespace is not None:
        memory = memory.in_namespace(namespace)
        checked_namespace(namespace)
    try:
        asked = Recalling(memory=memory, **how)
    except ValidationError as error:
        wrong = error.errors()[0]
        argument = str(wrong["loc"][0])
        cause = wrong.get("ctx", {}).get("error")
        if isinstance(cause, InvalidInputError) and cause.argument == argument:
            raise cause from None
        raise InvalidInputError(
            f"{argument} must be {_MUST[argument]}, not {how[argument]!r}", argument=argument
        ) from None
    checked_scores(memory, min_score=asked.min_score, order=asked.order)
    return asked


def _node(statement: RecalledStatement) -> TextNode:
    metadata = decoded(shown_beside(statement))
    # The node's hash, by which a fusion knows it again, must not depend on the question.
    del metadata["score"]
    if statement.timestamp is not None:
        metadata["timestamp"] = statement.timestamp.isoformat(timespec="seconds")
    if statement.speaker is not None:
        metadata["speaker"] = shown_name(statement.speaker)
    shown = [name for name in _SHOWN if metadata[name] is not None]
    return TextNode(
        id_=statement.id,
        text=as_content(statement.text),
        metadata=metadata,
        excluded_llm_metadata_keys=[name for name in metadata if name not in shown],
        excluded_embed_metadata_keys=[
            name for name in metadata if name != "speaker" or name not in shown
        ],
        relationships=(
            {}
            if statement.passage is None
            else {NodeRelationship.SOURCE: RelatedNodeInfo(node_id=statement.passage)}
        ),
        metadata_separator=", ",
        text_template="[{metadata_str}] {content}",
    )
