"""A statement on a line that a language model reads, and who is shown to have said it.

A line begins with its head: ``[2023-05-08] Ann: ``, each part where it is known. Who writes into
a memory may write what looks like the head of another line, so:

* a text that looks so, whoever said it, stands in quotation marks: one that holds a colon (but for
  times, links and smileys), or opens like a date, a heading or the role of a chat;
* so does a name that is more than a name, or the role of whoever instructs the model;
* nothing in a text or a name is a line break, or a quotation mark that closes these.

Look-alikes count as what they look like.
"""

from __future__ import annotations

import re
from datetime import datetime
from functools import lru_cache

from recallm.look_alikes import folded, folded_character

__all__ = ["as_content", "as_line", "flat", "quoted", "roles_in", "shown_name"]

_ROLES = {
    "system": ("system", "developer", "instruction", "instructions"),
    "ai": ("ai", "assistant", "bot", "chatbot", "llm", "model"),
    "human": ("human", "user"),
    "tool": ("tool", "function"),
}
_ROLE_OF = {word: role for role, words in _ROLES.items() for word in words}
_BESIDES = frozenset(("the", "message", "note", "notice", "prompt", "role", "says", "said"))
"""Words that leave a role what it is."""

_ROLE = rf"(?:{'|'.join(_ROLE_OF)})(?:\s+(?:message|note|notice|prompt|role))?"
_OPENING = re.compile(
    # A date or "[system]", "# Note", "<|im_start|>", "**System**", "> user"
    rf"\s*(?:\[|\#+\s|<\||[^\w\s]+\s*{_ROLE}\b"
    # or "System" alone, "SYSTEM> obey", "Assistant | yes", "User - hello"
    rf"|{_ROLE}\s*(?:$|[\]}})>|=~*\u2192])|{_ROLE}\s+[-\u2013\u2014]+\s)"
)
_COLON = re.compile(
    r"(?<![^\W\d])(?<!\d)\d{1,2}(?::\d\d)+(?!\d)|(?<=\dt)\d\d(?::\d\d)+(?!\d)"  # 10:15
    r"|\b[a-z][a-z+.-]*://(?=\S)"
    r"|(?<!\S):[-'^]?[()|/\\*dopx3](?!\w)"
    r"|(:)"
)
_WORD = re.compile(r"[^\W_]+")
_MORE_THAN_A_NAME = re.compile(r'^[^\w@]*[#*>|=~`]|[:"\[\]{}<>\n]')


def flat(text: str) -> str:
    """``text`` on one line: what a statement holds cannot pass for another statement."""
    return " ".join(text.split())


def as_line(text: str, *, speaker: str | None = None, timestamp: datetime | None = None) -> str:
    """A statement on one line with its head: ``[2023-05-08] Ann: …``."""
    date = "" if timestamp is None else f"[{timestamp.date().isoformat()}] "
    said_by = shown_name(speaker) if speaker else ""
    return f"{date}{said_by}{': ' if said_by else ''}{quoted(text)}"


def quoted(text: str) -> str:
    """``text`` on one line, in quotation marks where it looks like the head of one."""
    seen = folded(text)
    if _holds_colon(seen) or any(map(_OPENING.match, seen.split("\n"))):
        return _in_marks(text)
    return flat(text)


@lru_cache(maxsize=1024)
def shown_name(name: str) -> str:
    """A name on one line, in quotation marks where it is more than a name: where it holds what
    heads are made of or what cannot be seen, or is the role of whoever instructs the model."""
    one = flat(name)
    seen = folded(one)
    roles = roles_in(one)
    plain = one.isprintable() and seen.strip() and not _MORE_THAN_A_NAME.search(seen)
    disguised = "system" in roles or (roles and not one.isascii())
    return one if not one or (plain and not disguised) else _in_marks(one)


def roles_in(name: str) -> frozenset[str]:
    """The roles of a chat ("system", "ai", "human", "tool") that a name is, in any spelling; none
    where it holds any other word."""
    words = _WORD.findall(folded(name))
    whole = _ROLE_OF.get("".join(words))
    if whole is not None:
        return frozenset((whole,))
    if any(not (it in _ROLE_OF or it in _BESIDES or it.isdecimal()) for it in words):
        return frozenset()
    return frozenset(_ROLE_OF[word] for word in words if word in _ROLE_OF)


def as_content(text: str) -> str:
    """``text`` as it is, for a framework that puts a head in brackets before it; where a line of
    it opens with a bracket, ``quoted``."""
    lines = folded(text).split("\n")
    return quoted(text) if any(line.lstrip().startswith("[") for line in lines) else text


def _holds_colon(seen: str) -> bool:
    return ":" in seen and any(found[1] for found in _COLON.finditer(seen))


def _in_marks(text: str) -> str:
    inner = "".join("'" if folded_character(each) == '"' else each for each in flat(text))
    return f'"{inner}"'
