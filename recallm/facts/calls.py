r"""The text API of a memory of facts: the calls that a language model writes, read and printed.

RET-LLM (section 3.2) defines two calls. A model writes a fact, or asks for facts and goes on behind
the results::

    [MEM_WRITE{Cyrus Alfred>>customer of>>Pfizer}]
    [MEM_READ{>>employed by>>Pfizer}:{Dorothea Altemus>>employed by>>Pfizer}]

**Printing.** Values without special characters are printed as the paper prints them. A backslash
stands before each of ``\ > » ≫ { } [ ] ;``, before a quotation mark or ``?`` that begins a value,
and before a blank at its edge; a line break is a blank. So no value closes a call or opens one, and
each is read as it was printed.

**Reading** is tolerant: ``»`` and ``≫`` for ``>>``, blanks around every part, quotation marks
around values, any case, ``_``, ``*``, ``?`` and ``?name`` for a term that is not given, and no
closing bracket at the end of the text. What is not a call is text, and so is a call behind a
backslash.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from recallm.facts.fact import Terms

CallName: TypeAlias = Literal["MEM_WRITE", "MEM_READ"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call, with its results where it has some. ``str(call)`` is its text."""

    name: CallName
    terms: Terms
    """Subject, relation and object; None where a term is not given."""
    rows: tuple[tuple[str, ...], ...] | None = None
    """The results, triplets; None where the call has no results yet."""
    more: int = 0
    """The number of results that are left out of ``rows``."""

    def __str__(self) -> str:
        terms = ">>".join("" if term is None else _value_text(term) for term in self.terms)
        results = "" if self.rows is None else f":{results_text(self.rows, self.more)}"
        return f"[{self.name}{{{terms}}}{results}]"


def results_text(rows: Sequence[Sequence[str]], more: int = 0) -> str:
    """Results as they stand in a call: ``{a>>r>>b};{c>>r>>d};12 more``."""
    parts = [f"{{{'>>'.join(map(_value_text, row))}}}" for row in rows]
    return ";".join(parts + ([f"{more} more"] if more else []))


# Printing of values.

_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’"}
_ANY_VALUE = frozenset("_*")
_UNSAFE = re.compile(rf"[\\>»≫{{}}\[\];]|\A[?{''.join(_QUOTES)}\s]|\s\Z")
"""What means something in a call; at the edges of a value also quotation marks, ``?`` and white
space."""


def _value_text(value: str) -> str:
    line = " ".join(value.splitlines())
    return f"\\{line}" if line in _ANY_VALUE else _UNSAFE.sub(r"\\\g<0>", line)


# Reading of terms.

_SEPARATOR = re.compile(r"(\\.)|>>|»|≫")
_TERM = re.compile(r"\s*+((?:\s*+(?:\\.|[^\\\s]))*+)\s*+")
_QUOTED = re.compile(rf"([{''.join(_QUOTES)}])((?:\\.|[^\\])*)(.)")
_VARIABLE = re.compile(r"\?\w*")


def _terms(arguments: str) -> list[str | None]:
    """The terms between separators; arguments have no line breaks."""
    parted = _SEPARATOR.sub(lambda found: found[1] or "\n", arguments)
    return [_term(part) for part in parted.split("\n")]


def _term(text: str) -> str | None:
    """A value, or None for a term that is not given."""
    stripped = _TERM.fullmatch(text)
    text = text if stripped is None else stripped[1]
    quoted = _QUOTED.fullmatch(text)
    if quoted and _QUOTES[quoted[1]] == quoted[3]:
        text = quoted[2]
    elif text in _ANY_VALUE or _VARIABLE.fullmatch(text):
        return None
    # A backslash before a letter is one that no printer wrote, as in C:\work.
    return re.sub(r"\\([\W_])", r"\1", text) or None


def _call_of(name: CallName, arguments: str) -> Call | None:
    """The call, or None where the arguments are not those of such a call."""
    terms = _terms(arguments)
    if name == "MEM_READ":
        terms += [None] * (3 - len(terms))
    if len(terms) != 3 or (name == "MEM_WRITE" and None in terms):
        return None
    subject, relation, object = terms
    return Call(name=name, terms=(subject, relation, object))


# Calls in a text.

_NAMES: dict[str, CallName] = {f"[{name}{{": name for name in get_args(CallName)}
_BLANKS_IN_HEAD = r"[ \t\\]*"
"""Language models put blanks anywhere, and a backslash before ``_``."""
_HEADS = "|".join(_BLANKS_IN_HEAD.join(map(re.escape, head)) for head in _NAMES)
_HEAD = re.compile(rf"(?<!\\)(?:{_HEADS})", re.IGNORECASE)
_LINE = r"(?:[^\\{}\n\r]+|\\[^\n\r])*+"
_ARGUMENTS = re.compile(_LINE)
_RESULTS = re.compile(rf"(?:[^\\\[\]{{]+|\\.|\{{{_LINE}\}})*+\]", re.DOTALL)
_ESCAPED = re.compile(r"\\.", re.DOTALL)
_END = re.compile(r"\}\s*([:\]]?)")


class BrokenCall(str):
    """Text that begins as a call and is none: without an end, or with other arguments."""

    __slots__ = ()


def parse_calls(text: str) -> list[str | Call]:
    """The calls of ``text``, without their results, and the text between them, in order."""
    events: list[str | Call] = []
    place = 0
    while head := _HEAD.search(text, place):
        events.append(text[place : head.start()])
        call, place = _call(text, head)
        if isinstance(call, Call) and text[place - 1] == ":":
            results = _RESULTS.match(text, place)
            place = place if results is None else results.end()
        events.append(call)
    events.append(text[place:])
    return [event for event in events if event != ""]


def _call(text: str, head: re.Match[str]) -> tuple[str | Call, int]:
    """What begins with this head, and where the text goes on."""
    start, begin = head.span()
    arguments = _ARGUMENTS.match(text, begin)
    end = begin if arguments is None else arguments.end()
    if text[end : end + 1] == "{":  # perhaps another call begins inside the arguments
        bracket = _ESCAPED.sub("  ", text[begin:end]).rfind("[")
        return _broken(text, start, end if bracket < 0 else begin + bracket)
    closed = _END.match(text, end)
    if closed is None:  # a line break, perhaps behind a backslash, or the end of the text
        return _broken(text, start, end + (text[end : end + 1] == "\\"))
    name = _NAMES[re.sub(_BLANKS_IN_HEAD, "", head[0]).upper()]
    call = _call_of(name, text[begin:end])
    mark, end = closed[1], closed.end()
    is_ended = end == len(text) if not mark else mark == "]" or (call and call.name == "MEM_READ")
    return (call, end) if call is not None and is_ended else _broken(text, start, end)


def _broken(text: str, start: int, end: int) -> tuple[str, int]:
    return BrokenCall(text[start:end]), end
