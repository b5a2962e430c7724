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
from collections.abc import Callable, Iterator, Sequence
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

_TOKEN = re.compile(r"\\.|>>|.", re.DOTALL)
_SEPARATORS = frozenset((">>", "»", "≫"))
_VARIABLE = re.compile(r"\?\w*")


def _terms(tokens: Sequence[str]) -> list[str | None]:
    """The terms between separators."""
    parts: list[list[str]] = [[]]
    for token in tokens:
        if token in _SEPARATORS:
            parts.append([])
        else:
            parts[-1].append(token)
    return [_term(part) for part in parts]


def _stripped(tokens: list[str]) -> list[str]:
    filled = [place for place, token in enumerate(tokens) if not token.isspace()]
    return tokens[filled[0] : filled[-1] + 1] if filled else []


def _term(tokens: list[str]) -> str | None:
    """A value, or None for a term that is not given."""
    tokens = _stripped(tokens)
    if len(tokens) > 1 and _QUOTES.get(tokens[0]) == tokens[-1]:
        tokens = tokens[1:-1]
    elif "".join(tokens) in _ANY_VALUE or _VARIABLE.fullmatch("".join(tokens)):
        return None
    return "".join(map(_character, tokens)) or None


def _character(token: str) -> str:
    # A backslash before a letter is one that no printer wrote, as in C:\work.
    return token if len(token) == 1 or token[1].isalnum() else token[-1]


def _call_of(name: CallName, arguments: str) -> Call | None:
    """The call, or None where the arguments are not those of such a call."""
    terms = _terms(_TOKEN.findall(arguments))
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
_HEAD = re.compile(
    "|".join(_BLANKS_IN_HEAD.join(map(re.escape, head)) for head in _NAMES), re.IGNORECASE
)
_LINE = r"(?:[^\\{}\n\r]+|\\[^\n\r])*+"
_ARGUMENTS = re.compile(_LINE)
_RESULTS = re.compile(rf"(?:[^\\\[\]{{]+|\\.|\{{{_LINE}\}})*+\]", re.DOTALL)
_ESCAPED = re.compile(r"\\.", re.DOTALL)
_END = re.compile(r"\}\s*([:\]]?)")


class BrokenCall(str):
    """Text that begins as a call and is none: without an end, or with other arguments."""

    __slots__ = ()


def parse_calls(
    text: str, *, has_results: Callable[[Call], bool] = lambda _: True
) -> list[str | Call]:
    """The calls of ``text``, without their results, and the text between them, in order. Where
    ``has_results`` is true of a call that reads, the results behind its colon are passed over; else
    the call ends at its colon: there a controller stops the model."""
    events: list[str | Call] = []
    for event in _events(text, has_results):
        if events and type(event) is str and type(events[-1]) is str:
            events[-1] = f"{events[-1]}{event}"
        elif event != "":
            events.append(event)
    return events


def _events(text: str, has_results: Callable[[Call], bool]) -> Iterator[str | Call]:
    found: str | Call
    place = 0
    while (bracket := text.find("[", place)) >= 0:
        yield text[place:bracket]
        if bracket > place and text[bracket - 1] == "\\":
            found, place = "[", bracket + 1
        else:
            found, place = _call(text, bracket)
        if isinstance(found, Call) and text[place - 1] == ":" and has_results(found):
            results = _RESULTS.match(text, place)
            place = place if results is None else results.end()
        yield found
    yield text[place:]


def _call(text: str, start: int) -> tuple[str | Call, int]:
    """What begins with the bracket at ``start``, and where the text goes on."""
    head = _HEAD.match(text, start)
    if head is None:
        return "[", start + 1
    begin = head.end()
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
