"""The text that recall reads of a store item's value: facts, without a program's bookkeeping.

Bookkeeping are ids, times, hashes and encodings in fields that programs write, fields that describe
the text beside them ("kind", "role"), the "metadata" beside a text, and encoded strings. A field's
name alone does not decide: its value must look like bookkeeping too ("student_id: S-1" is a fact).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from langgraph.store.base import get_text_at_path

_MIN_WORDS_OF_TEXT = 3
"""A string of so many words is understood by itself; a shorter one, or a number, needs its field's
name ("age: 33")."""

_TEXT_FIELDS = frozenset(
    {"text", "content", "page_content", "memory", "message", "body", "data", "value"}
)
"""Fields whose names say nothing about their strings, which stand without them."""

_ID = re.compile(r"\S+")
_LONG_ID = re.compile(r"(?=\S*\d)[\w-]{16,}")
_TIME = re.compile(r"[\d:.,+/TZ -]*\d[\d:.,+/TZ -]*|(?:\w{3}, )?\d{1,2} \w{3} \d{4} [\d:]+ \S+")
_HASH = re.compile(r"(?:W/)?\"?(?:\w+[:-])?(?:[0-9a-fA-F]{2,}|[\w+/=-]{16,})\"?")
_ENCODING = re.compile(
    r"(?:utf|iso|latin|windows|cp)[-_]?\d[\w-]*|(?:us-)?ascii|base64|hex|gzip|identity"
    r"|(?:application|audio|font|image|model|multipart|text|video)/\S+(?:;.*)?",
    re.IGNORECASE,
)

_NUMBERED_THINGS = (
    "agent|assistant|chat|checkpoint|chunk|conversation|doc|document|file|item|memory|message"
    "|namespace|node|org|parent|record|ref_doc|request|run|session|source|task|tenant|thread"
    "|tool_call|trace|user|workspace"
)
"""What programs number, with ids of any form: "user_id"."""

_BOOKKEEPING: Sequence[tuple[re.Pattern[str], re.Pattern[str]]] = [
    (re.compile(names), values)
    for names, values in (
        (r"ids?|uuid|embeddings?|vector", _ID),
        (rf"(?:{_NUMBERED_THINGS})_ids?", _ID),
        (r"\w+_ids?", _LONG_ID),
        (
            r"(?:created|updated|modified|accessed|last_accessed|deleted|expires)_at|timestamp",
            _TIME,
        ),
        (r"(?:\w+_)?hash|digest|checksum|etag", _HASH),
        (r"encoding|charset|(?:mime|media|content)_type", _ENCODING),
    )
]
"""Names of fields that programs write for themselves, and the values that they write there; any
other value of such a field is a fact ("student_id: S-1")."""

_MAX_BOOKKEEPING = 200
"""Characters of a string that can be bookkeeping."""

_MAY_BE_NUMBERS = frozenset((_ID, _TIME))
"""The values that may also be numbers."""

_MESSAGE_METADATA = frozenset({"response_metadata", "usage_metadata", "additional_kwargs"})
"""Objects that frameworks keep with a model's message."""

_DESCRIPTIVE = frozenset({"kind", "type", "role", "source", "format"})
"""Fields that describe the text beside them where their value is one of ``_DESCRIPTIONS``;
otherwise they are facts ("type: dog")."""

_DESCRIPTIONS = frozenset((
    *("ai", "aimessage", "aimessagechunk", "api", "assistant", "audio", "chat", "constructor"),
    *("conversation", "developer", "document", "file", "form", "function", "html", "human"),
    *("humanmessage", "image", "image_url", "input_text", "json", "markdown", "md", "memory"),
    *("message", "output_text", "pdf", "plain", "plaintext", "reasoning", "string", "system"),
    *("systemmessage", "text", "tool", "tool_call", "tool_result", "tool_use", "toolmessage"),
    *("txt", "user", "video", "xml", "yaml"),
))  # fmt: skip
"""Words of frameworks for kinds of texts and messages."""

_CLASS_NAME = re.compile(r"[A-Z]\w*")

_MAX_WORD = 100
"""Characters of a word; a longer one without white space is an encoded file or a token, unless it
is a URL."""

_ENCODED = re.compile(r"(?:data:[^,\s]*,)?[\w+/=.%~-]+", re.ASCII)

_CAMEL_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def recalled_text(value: Mapping[str, Any], fields: Sequence[str] | None) -> str:
    """The text that recall reads of a value, a line for each leaf: its facts, or the texts at
    ``fields`` (paths as LangGraph spells them: ``"a.b"``, ``"list[*].c"``; ``"$"``: the whole
    value)."""
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
        left_out = frozenset() if everything else _bookkeeping_keys(value)
        for key, inner in value.items():
            if key not in left_out:
                yield from _leaves(inner, str(key), everything=everything)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _leaves(inner, name, everything=everything)
    elif isinstance(value, str):
        if value.strip() and (everything or not _is_encoded(value)):
            stands_alone = name in _TEXT_FIELDS or len(value.split()) >= _MIN_WORDS_OF_TEXT
            yield value if stands_alone else f"{name}: {value}"
    elif value is not None:
        yield f"{name}: {str(value).lower() if isinstance(value, bool) else value}"


def _bookkeeping_keys(value: Mapping[str, Any]) -> frozenset[str]:
    """The keys of a mapping whose values are bookkeeping."""
    names = {key: _plain_name(key) for key in value}
    keys = {key for key, name in names.items() if _is_bookkeeping(name, value[key])}
    has_text = any(
        names[key] in _TEXT_FIELDS and isinstance(inner, str | list | Mapping)
        for key, inner in value.items()
    ) or any(
        isinstance(inner, str) and len(inner.split()) >= _MIN_WORDS_OF_TEXT
        for key, inner in value.items()
        if key not in keys and names[key] not in _DESCRIPTIVE
    )
    if has_text:
        keys |= {key for key, name in names.items() if _describes_text(name, value[key])}
    if isinstance(value.get("content"), Mapping) and _CLASS_NAME.fullmatch(str(value.get("kind"))):
        keys.add("kind")  # langmem: the name of the schema
    if value.get("encoding") == "base64":
        keys |= {key for key, name in names.items() if name in _TEXT_FIELDS}
    return frozenset(keys)


def _plain_name(key: object) -> str:
    """A key in lower case with underscores: "userId" → "user_id"."""
    return _CAMEL_CASE.sub("_", str(key)).lower()


def _is_bookkeeping(name: str, value: Any) -> bool:
    if name in _MESSAGE_METADATA:
        return isinstance(value, Mapping)
    return any(
        names.fullmatch(name) and _looks_like(values, value) for names, values in _BOOKKEEPING
    )


def _looks_like(values: re.Pattern[str], value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(_looks_like(values, inner) for inner in value)
    if isinstance(value, str):
        return len(value) <= _MAX_BOOKKEEPING and values.fullmatch(value.strip()) is not None
    return is_number(value) and values in _MAY_BE_NUMBERS


def _describes_text(name: str, value: Any) -> bool:
    if name == "metadata":
        return isinstance(value, Mapping)
    return (
        name in _DESCRIPTIVE
        and isinstance(value, str)
        and (value.lower() in _DESCRIPTIONS or _ENCODING.fullmatch(value) is not None)
    )


def _is_encoded(text: str) -> bool:
    return len(text) > _MAX_WORD and _ENCODED.fullmatch(text) is not None


def is_number(value: Any) -> bool:
    """Whether a value is a number: a bool is none."""
    return isinstance(value, int | float) and not isinstance(value, bool)
