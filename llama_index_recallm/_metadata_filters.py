"""LlamaIndex's ``MetadataFilters``, with the meaning that its ``SimpleVectorStore`` gives them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from llama_index.core.vector_stores.types import MetadataFilters
from llama_index.core.vector_stores.utils import build_metadata_filter_fn

from recallm import InvalidInputError, Passage, RecallM

_DOCUMENT_KEYS = ("ref_doc_id", "doc_id", "document_id")
"""The keys under which LlamaIndex's stores keep the id of a node's document."""


def checked_filters(filters: object) -> MetadataFilters | None:
    """``filters``; None where there are none."""
    if filters is None:
        return None
    if not isinstance(filters, MetadataFilters):
        raise InvalidInputError(
            f"filters must be MetadataFilters, not {type(filters).__name__}", argument="filters"
        )
    passes(filters, {})  # refuses what LlamaIndex does not know
    return filters if filters.filters else None


def passes(filters: MetadataFilters, metadata: dict[str, Any]) -> bool:
    """Whether JSON values pass."""
    try:
        return build_metadata_filter_fn(lambda _: metadata, filters)("")
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"filters cannot be used: {error}", argument="filters") from error


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
