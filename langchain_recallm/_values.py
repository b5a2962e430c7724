"""The values of a store's items: what of one is read by recall, and which meet a filter."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from langgraph.store.base import get_text_at_path

from recallm import InvalidInputError

__all__ = ["meets", "text_of"]

_WORDS_THAT_SPEAK = 3
"""A string of so many words speaks for itself; a shorter one, or a number, needs its field's name
("age: 33")."""

_TEXTS = frozenset(
    {"text", "content", "page_content", "memory", "message", "body", "data", "value"}
)
"""Fields whose name says nothing of what they hold: their strings stand without it."""

_BOOKKEEPING = frozenset({
    "id", "ids", "uuid", "encoding", "charset", "mime_type", "media_type", "content_type",
    "created_at", "updated_at", "modified_at", "accessed_at", "last_accessed_at", "deleted_at",
    "expires_at", "timestamp", "hash", "digest", "checksum", "etag", "embedding", "embeddings",
    "vector", "response_metadata", "usage_metadata", "additional_kwargs",
})  # fmt: skip
"""Fields that programs keep for themselves, wherever they stand; so are those whose name ends with
"_id", "_ids" or "_hash"."""

_DESCRIPTIVE = frozenset({"kind", "type", "role", "source", "format", "metadata"})
"""Fields that describe the text beside them; where there is none, they are what the value says
("type: dog")."""

_LONGEST_WORD = 100
"""ASCII characters without white space; more of them are an encoded file or a token."""

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

_ORDERED: Mapping[str, Callable[[Any, Any], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}


def text_of(value: Mapping[str, Any], fields: Sequence[str] | None) -> str:
    """What recall reads of a value, a line for each leaf: all of it but what is metadata, or the
    texts at ``fields`` (paths as LangGraph spells them: ``"a.b"``, ``"list[*].c"``; ``"$"``: all of
    it).

    Metadata are: fields that programs keep (``_BOOKKEEPING``); fields that describe the text beside
    them (``_DESCRIPTIVE``); strings that are no words: encoded ones.
    """
    if fields is None:
        return "\n".join(_leaves(value, "", everything=False))
    lines: list[str] = []
    for field in fields:
        if field in ("$", ""):
            lines += _leaves(value, "", everything=True)
        else:
            lines += get_text_at_path(dict(value), field)
    return "\n".join(line for line in lines if line.strip())


def _leaves(value: Any, name: str, *, everything: bool) -> Iterator[str]:
    if isinstance(value, Mapping):
        left_out = frozenset() if everything else _metadata(value)
        for key, inner in value.items():
            if key not in left_out:
                yield from _leaves(inner, str(key), everything=everything)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _leaves(inner, name, everything=everything)
    elif isinstance(value, str):
        if value.strip() and (everything or not _is_encoded(value)):
            speaks = name in _TEXTS or len(value.split()) >= _WORDS_THAT_SPEAK
            yield value if speaks else f"{name}: {value}"
    elif value is not None:
        yield f"{name}: {str(value).lower() if isinstance(value, bool) else value}"


def _metadata(value: Mapping[str, Any]) -> frozenset[str]:
    """The fields of a mapping that hold metadata."""
    names = {key: _HUMP.sub("_", str(key)).lower() for key in value}
    kept = {
        key
        for key, name in names.items()
        if name in _BOOKKEEPING or name.endswith(("_id", "_ids", "_hash"))
    }
    described = any(
        names[key] in _TEXTS and isinstance(inner, str | list | Mapping)
        for key, inner in value.items()
    ) or any(
        isinstance(inner, str) and len(inner.split()) >= _WORDS_THAT_SPEAK
        for key, inner in value.items()
        if key not in kept and names[key] not in _DESCRIPTIVE
    )
    if described:
        kept |= {key for key, name in names.items() if name in _DESCRIPTIVE}
    if value.get("encoding") == "base64":
        kept |= {key for key, name in names.items() if name in _TEXTS}
    return frozenset(kept)


def _is_encoded(text: str) -> bool:
    return len(text) > _LONGEST_WORD and text.isascii() and not any(map(str.isspace, text))


def meets(value: Mapping[str, Any], condition: Mapping[str, Any] | None) -> bool:
    """Whether every field of ``condition`` is met: equal (objects: in the fields that are named),
    or as its operators say. A field that is missing is like null.

    Raises:
        InvalidInputError: an operator is unknown, or the condition too deep.

    """
    try:
        return _meets(value, condition or {})
    except RecursionError:
        raise InvalidInputError("filter is nested too deeply", argument="filter") from None


def _meets(value: Mapping[str, Any], condition: Mapping[str, Any]) -> bool:
    return all(_matches(value.get(name), wanted) for name, wanted in condition.items())


def _matches(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        if any(isinstance(name, str) and name.startswith("$") for name in wanted):
            return all(_applies(found, name, operand) for name, operand in wanted.items())
        return isinstance(found, Mapping) and _meets(found, wanted)
    if isinstance(wanted, list | tuple):
        return (
            isinstance(found, list | tuple)
            and len(found) == len(wanted)
            and all(map(_matches, found, wanted))
        )
    return _equal(found, wanted)


def _applies(found: Any, name: str, operand: Any) -> bool:
    if name == "$eq":
        return _equal(found, operand)
    if name == "$ne":
        return not _equal(found, operand)
    if name not in _ORDERED:
        raise InvalidInputError(
            f"{name!r} is no operator of a filter; there are $eq, $ne, {', '.join(_ORDERED)}",
            argument="filter",
        )
    if _is_number(found) and _is_number(operand):
        return _ORDERED[name](found, operand)
    if isinstance(found, str) and isinstance(operand, str):
        return _ORDERED[name](found, operand)
    return False


def _equal(found: Any, wanted: Any) -> bool:
    """Equal as JSON: true is not 1."""
    if isinstance(found, bool) or isinstance(wanted, bool):
        return found is wanted
    return bool(found == wanted)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
