r"""The text API of a memory of facts: the calls that a language model writes, read and printed.

RET-LLM (section 3.2) defines two calls. A model writes a fact, or asks for facts and goes on behind
the results::

    [MEM_WRITE{Cyrus Alfred>>customer of>>Pfizer}]
    [MEM_READ{>>employed by>>Pfizer}:{Dorothea Altemus>>employed by>>Pfizer}]

Four more calls aggregate facts. ``?`` marks the column that is counted or grouped, ``?name`` is a
variable that several patterns share::

    [MEM_COUNT{>>employed by>>Pfizer}:3]          facts; with {?>>…} different subjects
    [MEM_GROUP{>>employed by>>?}:{BMW>>5};{Pfizer>>3}]           most first; {…;least} least first
    [MEM_TOP{>>salary>>}:{Ada>>salary>>52000}]    the greatest number or date; {…;least}, {…;3}
    [MEM_FIND{?who>>works for>>?firm;?firm>>founded in>>Oslo}:{Ada>>Opera}]

**Printing.** Values without special characters are printed as the paper prints them. A backslash
stands before each of ``\ > » ≫ { } [ ] ;``, before a quotation mark or ``?`` that begins a value,
and before a blank at its edge; control characters and line breaks are ``\n``, ``\r``, ``\t`` or
``\uXXXX``. So no value closes a call or opens one, and each is read as it was printed.

**Reading** is tolerant: ``»`` and ``≫`` for ``>>``, blanks around every part, quotation marks
around values, any case, ``_``, ``*`` and ``?`` for a term that is not given, and no closing bracket
at the end of the text. What is not a call is text, and so is a call behind a backslash.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Literal, TypeAlias, cast

CallName: TypeAlias = Literal[
    "MEM_WRITE", "MEM_READ", "MEM_COUNT", "MEM_GROUP", "MEM_TOP", "MEM_FIND"
]


@dataclass(frozen=True, slots=True)
class Variable:
    """A term that stands for any value; the same name stands for the same value."""

    name: str = ""

    def __str__(self) -> str:
        return f"?{self.name}"


Pattern: TypeAlias = tuple[str | Variable | None, str | Variable | None, str | Variable | None]
"""Subject, relation and object; None where a term is not given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call, with its results where it has some. ``str(call)`` is its text."""

    name: CallName
    patterns: tuple[Pattern, ...]
    """One pattern; of MEM_FIND one or more."""
    least: bool = False
    """MEM_GROUP and MEM_TOP: the least first."""
    limit: int | None = None
    """MEM_GROUP and MEM_TOP: at most this many results."""
    rows: tuple[tuple[str, ...], ...] | None = None
    """The results: triplets; of MEM_COUNT the number; of MEM_GROUP a value and its number; of
    MEM_FIND the values of the variables in their order. None where the call has no results yet."""
    more: int = 0
    """The number of results that are left out of ``rows``."""

    def with_values(self, changed: Callable[[str], str]) -> Call:
        """The call with each value as ``changed`` gives it."""
        patterns = tuple(
            tuple(changed(term) if isinstance(term, str) else term for term in pattern)
            for pattern in self.patterns
        )
        return replace(self, patterns=cast(tuple[Pattern, ...], patterns))

    @property
    def opening(self) -> str:
        """The call up to where its results begin: ``[MEM_READ{>>employed by>>Pfizer}:``."""
        parts = [">>".join(map(_term_text, pattern)) for pattern in self.patterns]
        if self.least:
            parts.append("least")
        if self.limit is not None:
            parts.append(str(self.limit))
        return f"[{self.name}{{{';'.join(parts)}}}:"

    def __str__(self) -> str:
        if self.rows is None:
            return f"{self.opening[:-1]}]"
        if self.name == "MEM_COUNT":
            return f"{self.opening}{';'.join(row[0] for row in self.rows)}]"
        return f"{self.opening}{results_text(self.rows, self.more)}]"


def write_call(subject: str, relation: str, object: str) -> Call:
    """The call that writes a fact."""
    return Call(name="MEM_WRITE", patterns=((subject, relation, object),))


def read_call(
    subject: str | None = None, relation: str | None = None, object: str | None = None
) -> Call:
    """The call that reads the facts with the given terms."""
    return Call(name="MEM_READ", patterns=((subject, relation, object),))


def results_text(rows: Sequence[Sequence[str]], more: int = 0) -> str:
    """Results as they stand in a call: ``{a>>r>>b};{c>>r>>d};12 more``."""
    parts = [f"{{{'>>'.join(map(_value_text, row))}}}" for row in rows]
    return ";".join(parts + ([f"{more} more"] if more else []))


# Printing of values.

_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’"}
_ANY_VALUE = frozenset("_*")
_SHORT_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_CONTROLS = r"\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff"
_UNSAFE = re.compile(rf"[\\>»≫{{}}\[\];{_CONTROLS}]|\A[?{''.join(_QUOTES)}\s]|\s\Z")
"""What means something in a call; at the edges of a value also quotation marks, ``?`` and white
space."""


def _term_text(term: str | Variable | None) -> str:
    if isinstance(term, Variable):
        return str(term)
    return "" if term is None else _value_text(term)


def _value_text(value: str) -> str:
    return f"\\{value}" if value in _ANY_VALUE else _UNSAFE.sub(_escaped, value)


def _escaped(found: re.Match[str]) -> str:
    character = found[0]
    if character in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[character]
    is_seen = character == " " or not (character.isspace() or re.match(f"[{_CONTROLS}]", character))
    return f"\\{character}" if is_seen else f"\\u{ord(character):04x}"


# Reading of terms.

_TOKEN = re.compile(r"\\u[0-9a-fA-F]{4}|\\.|>>|.", re.DOTALL)
_SEPARATORS = frozenset((">>", "»", "≫"))
_CHARACTER_OF = {text: character for character, text in _SHORT_ESCAPES.items()}
_VARIABLE = re.compile(r"\?\w*")
_LISTS_OF_PARTS = frozenset(("MEM_GROUP", "MEM_TOP", "MEM_FIND"))
"""Calls whose arguments have parts with ``;`` between them."""
_MORE = re.compile(r"(\d{1,18}) more")
_LIMIT = re.compile(r"\d{1,9}")


def _split(tokens: Sequence[str], separators: frozenset[str]) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for token in tokens:
        if token in separators:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _stripped(tokens: list[str]) -> list[str]:
    filled = [place for place, token in enumerate(tokens) if not token.isspace()]
    return tokens[filled[0] : filled[-1] + 1] if filled else []


def _term(tokens: list[str]) -> str | Variable | None:
    """A value, a variable, or None for a term that is not given."""
    tokens = _stripped(tokens)
    if len(tokens) > 1 and _QUOTES.get(tokens[0]) == tokens[-1]:
        tokens = tokens[1:-1]
    elif len(tokens) == 1 and tokens[0] in _ANY_VALUE:
        return None
    elif _VARIABLE.fullmatch(text := "".join(tokens)):
        return Variable(text[1:])
    return "".join(map(_character, tokens)) or None


def _character(token: str) -> str:
    if len(token) == 1 or token[0] != "\\":
        return token
    if token in _CHARACTER_OF:
        return _CHARACTER_OF[token]
    if len(token) > 2:
        return chr(int(token.removeprefix("\\u"), 16))
    # A backslash that no printer wrote, as in C:\work.
    return token if token[1].isalnum() else token[1]


def call_of(name: CallName, arguments: str) -> Call | None:
    """The call, or None where the arguments are not those of such a call."""
    tokens = _TOKEN.findall(arguments)
    parts = _split(tokens, frozenset(";")) if name in _LISTS_OF_PARTS else [tokens]
    patterns: list[Pattern] = []
    least, limit = False, None
    for part in parts:
        terms = [_term(term) for term in _split(part, _SEPARATORS)]
        option = "".join(_stripped(part)).lower()
        if patterns and name != "MEM_FIND" and len(terms) == 1:
            if option in ("least", "most", "greatest"):
                least = option == "least"
            elif _LIMIT.fullmatch(option) and int(option) > 0:
                limit = int(option)
            else:
                return None
            continue
        if name == "MEM_READ":
            terms += [None] * (3 - len(terms))
        if len(terms) != 3:
            return None
        patterns.append(cast(Pattern, tuple(terms)))
    call = Call(name=name, patterns=tuple(patterns), least=least, limit=limit)
    return _checked(call)


def _checked(call: Call) -> Call | None:
    """``call`` where its patterns are those of such a call, without variables that mean nothing."""
    name, first = call.name, call.patterns[0]
    if name == "MEM_FIND":
        variables = any(isinstance(it, Variable) and it.name for row in call.patterns for it in row)
        return call if variables else None
    marked = [place for place, term in enumerate(first) if isinstance(term, Variable)]
    if len(call.patterns) > 1:
        return None
    if name == "MEM_WRITE":
        return call if all(isinstance(term, str) for term in first) else None
    if name == "MEM_GROUP":
        return call if len(marked) == 1 else None
    if name == "MEM_COUNT" and len(marked) == 1 and marked != [1]:
        return call
    without = tuple(None if isinstance(term, Variable) else term for term in first)
    if name == "MEM_TOP" and (without[1] is None or without[2] is not None):
        return None
    return replace(call, patterns=(cast(Pattern, without),))


def with_results(call: Call, text: str) -> Call:
    """``call`` with the results of ``text``, which stands between its colon and its bracket."""
    rows: list[tuple[str, ...]] = []
    more = 0
    marks = iter((*_TOKEN.findall(text), ";"))
    bare: list[str] = []  # outside of braces
    for mark in marks:
        if mark == "{":
            row = list(takewhile(lambda inside: inside != "}", marks))
            terms = map(_term, _split(row, _SEPARATORS))
            rows.append(tuple("" if term is None else str(term) for term in terms))
        elif mark != ";":
            bare.append(mark)
        elif found := "".join(_stripped(bare)):
            left_out = _MORE.fullmatch(found)
            if left_out:
                more = int(left_out[1])
            else:
                rows.append((found,))
            bare = []
    return replace(call, rows=tuple(rows), more=more)
