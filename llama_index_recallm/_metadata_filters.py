"""LlamaIndex's ``MetadataFilters``, with the meaning that its ``SimpleVectorStore`` gives them; a
nested group is one condition of the group around it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llama_index.core.vector_stores.types import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
)
from llama_index.core.vector_stores.utils import build_metadata_filter_fn

from recallm import InvalidInputError, Passage, RecallM

_DOCUMENT_KEYS = ("ref_doc_id", "doc_id", "document_id")
"""The keys under which LlamaIndex's stores keep the id of a node's document."""


def checked_filters(filters: object) -> MetadataFilters | None:
    """``filters``; None where there are none."""
    if filters is None:
        return None
    if not isinstance(filters, MetadataFilters):
        raise _unusable(f"must be MetadataFilters, not {type(filters).__name__}")
    if filters.condition is not None and filters.condition not in list(FilterCondition):
        raise _unusable(f"have the condition {filters.condition!r}, which is unknown")
    for each in filters.filters:
        if isinstance(each, MetadataFilters):
            checked_filters(each)
        elif each.operator not in list(FilterOperator):
            raise _unusable(f"have the operator {each.operator!r}, which is unknown")
    return filters if filters.filters else None


def passages_meeting(
    memory: RecallM, filters: MetadataFilters, arguments: Mapping[str, Any]
) -> tuple[list[Passage], list[Passage]]:
    """The passages that pass ``filters``, and those that do not, among those that the conditions
    of ``arguments``, which are of ``RecallM.recall``, allow."""
    conditions = {"as_of", "since", "until", "speaker", "session", "metadata", "path"}
    allowed = memory.passages(
        **{name: value for name, value in arguments.items() if name in conditions}
    )
    meeting = [passage for passage in allowed if passes(filters, _searched(passage))]
    ids = {passage.id for passage in meeting}
    return meeting, [passage for passage in allowed if passage.id not in ids]


def _searched(passage: Passage) -> dict[str, Any]:
    """What filters see of a passage: its own metadata, what a recalled node says of the passage,
    and the keys that LlamaIndex adds to nodes."""
    timestamp = passage.timestamp
    return dict(passage.metadata) | {
        "t_index": passage.t_index,
        "timestamp": None if timestamp is None else timestamp.isoformat(timespec="seconds"),
        "speaker": passage.speaker,
        "source": passage.source,
        "session": passage.session or passage.source,
        "passage": passage.id,
        **dict.fromkeys(_DOCUMENT_KEYS, passage.source or "None"),
    }


def passes(filters: MetadataFilters, metadata: dict[str, Any]) -> bool:
    """Whether JSON values pass; a group without filters lets everything pass."""
    results = [
        passes(each, metadata) if isinstance(each, MetadataFilters) else _meets(each, metadata)
        for each in filters.filters
    ]
    match filters.condition or FilterCondition.AND:
        case _ if not results:
            return True
        case FilterCondition.AND:
            return all(results)
        case FilterCondition.OR:
            return any(results)
        case FilterCondition.NOT:
            return not any(results)


def _meets(each: MetadataFilter, metadata: dict[str, Any]) -> bool:
    test = build_metadata_filter_fn(lambda _: metadata, MetadataFilters(filters=[each]))
    try:
        return test("")
    except (TypeError, ValueError) as error:
        raise _unusable(
            f"compare {each.key!r}, which is {metadata.get(each.key)!r}, with {each.value!r} by "
            f"{each.operator.value!r}: {error}"
        ) from error


def _unusable(problem: str) -> InvalidInputError:
    return InvalidInputError(f"filters {problem}", argument="filters")
