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

_ID = re.compile(r"\S+")
_LONG_ID = re.compile(r"(?=\S*\d)[\w-]{16,}")
_TIME = re.compile(r"[\d:.,+/TZ -]*\d[\d:.,+/TZ -]*|(?:\w{3}, )?\d{1,2} \w{3} \d{4} [\d:]+ \S+")
_HASH = re.compile(r"(?:W/)?\"?(?:\w+[:-])?(?:[0-9a-fA-F]{2,}|[\w+/=-]{16,})\"?")
_ENCODING = re.compile(
    r"(?:utf|iso|latin|windows|cp)[-_]?\d[\w-]*|(?:us-)?ascii|base64|hex|gzip|identity"
    r"|(?:application|audio|font|image|model|multipart|text|video)/\S+(?:;.*)?",
    re.IGNORECASE,
)
_VECTOR = re.compile(r"[\w+/=-]{16,}")

_WHOSE_IDS = (
    *(
        "agent",
        "assistant",
        "chat",
        "checkpoint",
        "chunk",
        "conversation",
        "doc",
        "document",
        "file",
    ),
    *("item", "memory", "message", "namespace", "node", "org", "parent", "record", "ref_doc"),
    *("request", "run", "session", "source", "task", "tenant", "thread", "tool_call", "trace"),
    *("user", "workspace"),
)
"""What programs number, in ids of any form."""

_BOOKKEEPING: Sequence[tuple[re.Pattern[str], re.Pattern[str]]] = [
    (re.compile(names), values)
    for names, values in (
        (r"ids?|uuid", _ID),
        (
            rf"(?:{'|'.join(_WHOSE_IDS)})_ids?",
            _ID,
        ),
        (r"\w+_ids?", _LONG_ID),
        (
            r"(?:created|updated|modified|accessed|last_accessed|deleted|expires)_at|timestamp",
            _TIME,
        ),
        (r"(?:\w+_)?hash|digest|checksum|etag", _HASH),
        (r"encoding|charset|(?:mime|media|content)_type", _ENCODING),
        (r"embeddings?|vector", _VECTOR),
    )
]
"""Fields that programs keep for themselves, wherever they stand, and what they hold there; any
other value of such a field is a fact ("student_id: S-1")."""

_LONGEST_ID = 200
"""Characters."""

_NUMBERS = frozenset((_ID, _TIME, _VECTOR))
"""What may be a number, too."""

_OF_MODELS = frozenset({"response_metadata", "usage_metadata", "additional_kwargs"})
"""Objects that frameworks keep with a message of a model."""

_DESCRIPTIVE = frozenset({"kind", "type", "role", "source", "format"})
"""Fields that describe the text beside them where they hold a word of ``_DESCRIPTIONS``; else they
are what the value says ("type: dog")."""

_DESCRIPTIONS = frozenset((
    *("ai", "aimessage", "aimessagechunk", "api", "assistant", "audio", "chat", "constructor"),
    *("conversation", "developer", "document", "file", "form", "function", "html", "human"),
    *("humanmessage", "image", "image_url", "input_text", "json", "markdown", "md", "memory"),
    *("message", "output_text", "pdf", "plain", "plaintext", "reasoning", "string", "system"),
    *("systemmessage", "text", "tool", "tool_call", "tool_result", "tool_use", "toolmessage"),
    *("txt", "user", "video", "xml", "yaml"),
))  # fmt: skip
"""Words of frameworks."""

_CLASS = re.compile(r"[A-Z]\w*")

_LONGEST_WORD = 100
"""Letters and digits without white space; more of them are an encoded file or a token, but no
URL."""

_ENCODED = re.compile(r"(?:data:[^,\s]*,)?[\w+/=.%~-]+", re.ASCII)

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

    Metadata are, where they hold what programs write there: ids, times, hashes and encodings
    (``_BOOKKEEPING``) and fields that describe the text beside them (``_DESCRIPTIVE``); "metadata"
    beside a text; strings that are no words: encoded ones. Of a value of metadata alone that has no
    field for a text, all is read.
    """
    if fields is None:
        read = _leaves(value, "", everything=False)
        return "\n".join(list(read) or _leaves_of_metadata(value, ""))
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


def _leaves_of_metadata(value: Any, name: str) -> Iterator[str]:
    """Of a value of metadata alone, what could be a fact: neither what stands beside a text that
    is empty or encoded, nor numbers of vectors."""
    if isinstance(value, Mapping):
        if not any(_plain(key) in _TEXTS for key in value):
            for key, inner in value.items():
                yield from _leaves_of_metadata(inner, str(key))
    elif isinstance(value, list | tuple):
        for inner in value:
            if not _is_number(inner):
                yield from _leaves_of_metadata(inner, name)
    elif not _is_encoded(str(value)):
        yield from _leaves(value, name, everything=True)


def _metadata(value: Mapping[str, Any]) -> frozenset[str]:
    """The fields of a mapping that hold metadata."""
    names = {key: _plain(key) for key in value}
    kept = {key for key, name in names.items() if _is_bookkeeping(name, value[key])}
    described = any(
        names[key] in _TEXTS and isinstance(inner, str | list | Mapping)
        for key, inner in value.items()
    ) or any(
        isinstance(inner, str) and len(inner.split()) >= _WORDS_THAT_SPEAK
        for key, inner in value.items()
        if key not in kept and names[key] not in _DESCRIPTIVE
    )
    if described:
        kept |= {key for key, name in names.items() if _describes(name, value[key])}
    if isinstance(value.get("content"), Mapping) and _CLASS.fullmatch(str(value.get("kind"))):
        kept.add("kind")  # langmem: the name of the schema
    if value.get("encoding") == "base64":
        kept |= {key for key, name in names.items() if name in _TEXTS}
    return frozenset(kept)


def _plain(key: object) -> str:
    return _HUMP.sub("_", str(key)).lower()


def _is_bookkeeping(name: str, value: Any) -> bool:
    if name in _OF_MODELS:
        return isinstance(value, Mapping)
    return any(
        names.fullmatch(name) and _looks_like(values, value) for names, values in _BOOKKEEPING
    )


def _looks_like(values: re.Pattern[str], value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(_looks_like(values, inner) for inner in value)
    if isinstance(value, str):
        return len(value) <= _LONGEST_ID and values.fullmatch(value.strip()) is not None
    return _is_number(value) and values in _NUMBERS


def _describes(name: str, value: Any) -> bool:
    if name == "metadata":
        return isinstance(value, Mapping)
    return (
        name in _DESCRIPTIVE
        and isinstance(value, str)
        and (value.lower() in _DESCRIPTIONS or _ENCODING.fullmatch(value) is not None)
    )


def _is_encoded(text: str) -> bool:
    return len(text) > _LONGEST_WORD and _ENCODED.fullmatch(text) is not None


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
