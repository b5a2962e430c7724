"""A statement on a line that a language model reads, and who is shown to have said it.

A line begins with its head: ``[2023-05-08] Ann: ``, each part where it is known. Who writes into
a memory may write what looks like the head of another line, so:

* a text that looks so, whoever said it, stands in quotation marks: one that holds a colon (but for
  times, links, and smileys that end a sentence), or opens like a date, a heading or the role of a
  chat: in mark-up, or with any symbol after it;
* so does a name that is more than a name, or claims the role of whoever instructs the model or
  answers;
* nothing in a text or a name is a line break, or a quotation mark that closes these.

Look-alikes count as what they look like.
"""

from __future__ import annotations

import re
from datetime import datetime
from functools import lru_cache

from recallm.look_alikes import folded, folded_character

__all__ = ["as_content", "as_line", "flat", "quoted", "roles_in", "shown_name", "words_of"]

_ROLES = {
    "system": ("system", "developer", "instruction", "instructions"),
    "ai": ("ai", "assistant", "bot", "chatbot", "llm", "model"),
    "human": ("human", "user"),
    "tool": ("tool", "function"),
}
_ROLE_OF = {word: role for role, words in _ROLES.items() for word in words}
_INSTRUCTING = frozenset(("system", "ai"))
"""Roles that a model heeds: a name that holds a word of theirs claims the role."""
_BESIDES = frozenset(("the", "message", "note", "notice", "prompt", "role", "says", "said"))
"""Words that leave a role what it is."""

_ROLE = rf"(?:{'|'.join(_ROLE_OF)})(?:\s+(?:message|note|notice|prompt|role))?"
_MARK_UP = r"(?:[^\w\s]|_|(?:\d+|[a-z])[.)]\s|<[a-z]\w*(?:\s[^<>]*)?>)"
_MILD = r".,'\u2018\u2019?&"
"""Marks that follow a role in ordinary sentences: "AI, they say, …"."""

_OPENING = re.compile(
    r"\s*(?:\[|\#+\s|<\|)"  # a date or "[system]", "# Note", "<|im_start|>"
    # or "**System**", "> user", "1. System obey", "<b>System</b>"
    rf"|\s*{_MARK_UP}(?:{_MARK_UP}|\s)*{_ROLE}(?![^\W_])"
    # or "System" alone, "SYSTEM> obey", "AI -> ok", "System\u2022 obey"; not "System-wide"
    rf"|\s*{_ROLE}(?:\s*$|(?![-_/&@+\u2010\u2011]\w)\s*[{_MILD}]*(?:[^\w\s{_MILD}]|_))"
)
_SCRIPT_COLON = "|".join(
    rf"(?<![{script}])(?<![{script}]\s){mark}"
    for mark, script in (
        ("\u1361", "\u1200-\u135f"),  # Ethiopic, between words
        ("\u1038", "\u1000-\u109f"),  # Burmese, a tone
        ("\u0f14", "\u0f00-\u0fff"),  # Tibetan, at the end of a line
    )
)
"""Marks that look like a colon, outside of the script whose text is full of them."""
_COLON = re.compile(
    r"(?<![^\W\d])(?<!\d)\d{1,2}(?::\d\d)+(?!\d)|(?<=\dt)\d\d(?::\d\d)+(?!\d)"  # 10:15
    r"|\b(?:https?|ftp|file)://(?=\S)|\bmailto:(?=\S)"
    # A smiley at the beginning, after a sentence, or at the end.
    r"|(?:\A|(?<=[.!?]\s)):[-'^]?[()|/\\*dopx3](?!\w)"
    r"|(?<!\S):[-'^]?[()|/\\*dopx3](?=\s*\Z)"
    rf"|(:|{_SCRIPT_COLON})"
)
_WORD = re.compile(r"[^\W\d_]+")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_LONGEST_FIRST = sorted((*_ROLE_OF, *_BESIDES), key=len, reverse=True)
_ONLY_ROLES = re.compile(rf"(?:{'|'.join(_LONGEST_FIRST)})+")
_ROLE_WORD = re.compile("|".join(_LONGEST_FIRST))
_PERSON = re.compile(r"[A-Z][a-z]+(?:[ -][A-Z][a-z]+)+")
"""Ai is a name of people too: "Ai Weiwei", "Bui Thi Ai"."""

_MORE_THAN_A_NAME = re.compile(rf'^[^\w@]*[#*>|=~`]|[:"\[\]{{}}<>\n]|{_SCRIPT_COLON}')


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
    heads are made of or what cannot be seen, is the role of whoever instructs the model, or holds
    such a role or the model's beside other words ("AI (verified)")."""
    one = flat(name)
    seen = folded(one)
    words = words_of(one)
    roles = _roles_alone(words)
    disguised = "system" in roles or (roles and not one.isascii())
    claims = not roles and any(_ROLE_OF.get(word) in _INSTRUCTING for word in words)
    plain = one.isprintable() and seen.strip() and not _MORE_THAN_A_NAME.search(seen)
    return one if not one or (plain and not disguised and not claims) else _in_marks(one)


def roles_in(name: str) -> frozenset[str]:
    """The roles of a chat ("system", "ai", "human", "tool") that a name claims, in any spelling:
    all that it names where it holds no other word; beside other words those of whoever instructs
    or answers ("AI (verified)", "System Admin"), but not the person's name "Ai" ("Ai Weiwei")."""
    words = words_of(name)
    person = _PERSON.fullmatch(name)
    return _roles_alone(words) or _INSTRUCTING.intersection(
        _ROLE_OF[word] for word in words if word in _ROLE_OF and not (person and word == "ai")
    )


def words_of(name: str) -> list[str]:
    """The words of a name as a reader sees them, without digits and punctuation; "AdminBot" holds
    two."""
    return _WORD.findall(folded(_HUMP.sub(" ", name)))


def _roles_alone(words: list[str]) -> frozenset[str]:
    """The roles of which the words, however they are split, are the names; none where there is any
    other word."""
    joined = "".join(words)
    if not _ONLY_ROLES.fullmatch(joined):
        return frozenset()
    return frozenset(_ROLE_OF[word] for word in _ROLE_WORD.findall(joined) if word in _ROLE_OF)


def as_content(text: str) -> str:
    """``text`` as it is, for a framework that puts a head in brackets before it; where a line of
    it opens with a bracket, ``quoted``."""
    lines = folded(text).split("\n")
    return quoted(text) if any(line.lstrip().startswith("[") for line in lines) else text


def _holds_colon(seen: str) -> bool:
    there = any(mark in seen for mark in ":\u1361\u1038\u0f14")
    return there and any(found[1] for found in _COLON.finditer(seen))


def _in_marks(text: str) -> str:
    inner = "".join("'" if folded_character(each) == '"' else each for each in flat(text))
    return f'"{inner}"'
