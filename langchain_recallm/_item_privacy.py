"""``redact`` and ``accept`` for the items of a store: which are written, and in which words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langgraph.store.base import GetOp, ListNamespacesOp, Op, PutOp, SearchOp

from recallm import InvalidInputError, NewItem
from recallm.adapting import Message, MessageFilter

__all__ = ["accepted_items", "redacted_names", "redacted_value"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _ItemMessage(Message):
    """An item as ``accept`` sees it: the text that recall reads, the key as ``id``, the path."""

    path: tuple[str, ...]


def redacted_names(op: Op, filter: MessageFilter) -> Op:
    """An operation with its key and the parts of its paths redacted: what is read is named as what
    is written."""

    def redacted(path: Sequence[str]) -> tuple[str, ...]:
        return tuple(
            part if part == "*" else filter.redacted_name(part, "label of a path") for part in path
        )

    if filter.redact is None:
        return op
    if isinstance(op, SearchOp):
        op = op._replace(namespace_prefix=redacted(op.namespace_prefix))
    elif isinstance(op, ListNamespacesOp):
        conditions = op.match_conditions or ()
        op = op._replace(
            match_conditions=tuple(it._replace(path=redacted(it.path)) for it in conditions)
        )
    elif isinstance(op, GetOp | PutOp):
        key = filter.redacted_name(op.key, "key")
        op = op._replace(namespace=redacted(op.namespace), key=key)
    return op


def redacted_value(value: Any, filter: MessageFilter) -> Any:
    """A value with all its texts redacted, the names of its fields too."""
    if isinstance(value, str):
        return filter.redacted(value)
    if isinstance(value, dict):
        redacted = {
            filter.redacted(name): redacted_value(inner, filter) for name, inner in value.items()
        }
        if len(redacted) < len(value):
            raise InvalidInputError(
                "redact gives two fields of a value one name; nothing was written",
                argument="redact",
            )
        return redacted
    if isinstance(value, list):
        return [redacted_value(inner, filter) for inner in value]
    return value


def accepted_items(items: Sequence[NewItem], filter: MessageFilter) -> list[NewItem]:
    """The items, redacted already, that ``accept`` does not refuse."""
    messages = [
        _ItemMessage(text=item.text, speaker="", role="item", id=item.key, path=tuple(item.path))
        for item in items
    ]
    # The texts are redacted already.
    accepted = set(map(id, MessageFilter(accept=filter.accept).written(messages)))
    return [item for item, message in zip(items, messages, strict=True) if id(message) in accepted]
