r"""The text API of a memory of facts: the calls that a language model writes, read and printed.

RET-LLM (section 3.2) defines two calls. A model writes a fact, or asks for facts and goes on behind
the results::

    [MEM_WRITE{Cyrus Alfred>>customer of>>Pfizer}]
    [MEM_READ{>>employed by>>Pfizer}:{Dorothea Altemus>>employed by>>Pfizer}]

**Printing.** Values without special characters are printed as the paper prints them. A backslash
stands before each of ``\ > » ≫ { } [ ] ;``, before a quotation mark or ``?`` that begins a value,
and before a blank at its edge; control characters and line breaks are ``\n``, ``\r``, ``\t`` or
``\uXXXX``. So no value closes a call or opens one, and each is read as it was printed.

**Reading** is tolerant: ``»`` and ``≫`` for ``>>``, blanks around every part, quotation marks
around values, any case, ``_``, ``*``, ``?`` and ``?name`` for a term that is not given, and no
closing bracket at the end of the text. What is not a call is text, and so is a call behind a
backslash.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
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

    def with_values(self, changed: Callable[[str], str]) -> Call:
        """The call with each value as ``changed`` gives it."""
        subject, relation, object = (None if term is None else changed(term) for term in self.terms)
        return replace(self, terms=(subject, relation, object))

    @property
    def opening(self) -> str:
        """The call up to where its results begin: ``[MEM_READ{>>employed by>>Pfizer}:``."""
        terms = ">>".join("" if term is None else _value_text(term) for term in self.terms)
        return f"[{self.name}{{{terms}}}:"

    def __str__(self) -> str:
        if self.rows is None:
            return f"{self.opening[:-1]}]"
        return f"{self.opening}{results_text(self.rows, self.more)}]"


def write_call(subject: str, relation: str, object: str) -> Call:
    """The call that writes a fact."""
    return Call(name="MEM_WRITE", terms=(subject, relation, object))


def read_call(
    subject: str | None = None, relation: str | None = None, object: str | None = None
) -> Call:
    """The call that reads the facts with the given terms."""
    return Call(name="MEM_READ", terms=(subject, relation, object))


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
_ROW = re.compile(r"\{((?:[^\\{}]|\\.)*)\}", re.DOTALL)
_MORE = re.compile(r"(?:\A|;)\s*(\d{1,18}) more\s*(?:;|\Z)")


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
    if len(token) == 1 or token[0] != "\\":
        return token
    if token in _CHARACTER_OF:
        return _CHARACTER_OF[token]
    if len(token) > 2:
        return chr(int(token.removeprefix("\\u"), 16))
    # A backslash that no printer wrote, as in C:\work.
    return token if token[1].isalnum() else token[1]


def _call_of(name: CallName, arguments: str) -> Call | None:
    """The call, or None where the arguments are not those of such a call."""
    terms = _terms(_TOKEN.findall(arguments))
    if name == "MEM_READ":
        terms += [None] * (3 - len(terms))
    if len(terms) != 3 or (name == "MEM_WRITE" and None in terms):
        return None
    subject, relation, object = terms
    return Call(name=name, terms=(subject, relation, object))


def _with_results(call: Call, text: str) -> Call:
    """``call`` with the results of ``text``, which stands between its colon and its bracket."""
    rows = tuple(
        tuple(term or "" for term in _terms(_TOKEN.findall(row))) for row in _ROW.findall(text)
    )
    left_out = _MORE.search(_ROW.sub("", text))
    return replace(call, rows=rows, more=int(left_out[1]) if left_out else 0)


# Calls in a text that comes in pieces, such as the stream of a language model.

_LONGEST_HEAD = 41
_LONGEST_PART = 10_000
"""Characters of arguments or results; longer ones make no call, so that a stream goes on."""

_NAMES: dict[str, CallName] = {f"[{name}{{": name for name in get_args(CallName)}
_BLANKS_IN_HEAD = r"[ \t\\]*"
"""Language models put blanks anywhere, and a backslash before ``_``."""
_HEAD = re.compile(
    "|".join(_BLANKS_IN_HEAD.join(map(re.escape, head)) for head in _NAMES), re.IGNORECASE
)
_LINE = r"(?:[^\\{}\n\r]+|\\[^\n\r])*+"
_ARGUMENTS = re.compile(_LINE)
_RESULTS = re.compile(rf"(?:[^\\\[\]{{]+|\\.|\{{{_LINE}\}})*+", re.DOTALL)
_ESCAPED = re.compile(r"\\.", re.DOTALL)
_WHITE_SPACE = re.compile(r"\s*")


class BrokenCall(str):
    """Text that begins like a call and is not one: cut off, or with other arguments."""

    __slots__ = ()


_Step: TypeAlias = tuple[str | Call | None, int] | None
"""What was found, and where the text goes on; None where that depends on what follows."""


class CallScanner:
    """Finds the calls in a text that comes in pieces.

    However the text is cut into pieces, the calls are those of the whole text, and so is the text
    between them. Text is held back only while it may be the beginning of a call. A call ends at its
    colon: there a controller stops the model. Where ``has_results`` is true of a call, the results
    behind the colon belong to it.
    """

    def __init__(self, *, has_results: Callable[[Call], bool] | None = None) -> None:
        self._has_results = has_results or (lambda _call: False)
        self._held = ""
        self._asking: Call | None = None  # its results follow
        self._is_after_backslash = False

    def feed(self, piece: str) -> Iterator[str | Call]:
        """The calls that end in ``piece`` and the text between them, in order."""
        yield from self._scan(piece, is_last=False)

    def close(self) -> Iterator[str | Call]:
        """What was held back when the text ended."""
        yield from self._scan("", is_last=True)
        if self._asking is not None:
            yield self._asking
        self._asking = None
        self._is_after_backslash = False

    def _scan(self, piece: str, *, is_last: bool) -> Iterator[str | Call]:
        text, self._held = self._held + piece, ""
        place = 0
        while place < len(text):
            if self._asking is not None:
                step = self._results(self._asking, text, place, is_last=is_last)
            else:
                bracket = text.find("[", place)
                end = len(text) if bracket < 0 else bracket
                if end > place:
                    self._is_after_backslash = text[end - 1] == "\\"
                    yield text[place:end]
                if bracket < 0:
                    return
                place = bracket
                if self._is_after_backslash:
                    step = "[", place + 1
                else:
                    step = self._call(text, place, is_last=is_last)
            if step is None:
                self._held = text[place:]
                return
            event, place = step
            self._is_after_backslash = False
            if event is not None:
                yield event

    def _call(self, text: str, start: int, *, is_last: bool) -> _Step:
        """What begins with the bracket at ``start``."""
        head = _HEAD.match(text, start, start + _LONGEST_HEAD)
        if head is None:
            return _part_of_head(text, start, is_last=is_last)
        begin = head.end()
        end = _end(_ARGUMENTS, text, begin)
        if end - begin >= _LONGEST_PART:
            return _broken(text, start, begin + _LONGEST_PART)
        if _is_cut_off(text, end):
            return _broken(text, start, len(text)) if is_last else None
        if text[end] == "{":  # perhaps another call begins inside the arguments
            bracket = _ESCAPED.sub("  ", text[begin:end]).rfind("[")
            return _broken(text, start, end if bracket < 0 else begin + bracket)
        if text[end] != "}":  # a line break, perhaps behind a backslash
            return _broken(text, start, end + (text[end] == "\\"))
        call = _call_of(_NAMES[_without_blanks(head[0])], text[begin:end])
        mark_at = _end(_WHITE_SPACE, text, end + 1, begin + 2 * _LONGEST_PART)
        mark = text[mark_at : mark_at + 1]
        if not mark and not is_last:
            return None
        if call is not None and mark in ("", "]"):
            return call, mark_at + len(mark)
        if call is not None and mark == ":" and call.name != "MEM_WRITE":
            if not self._has_results(call):
                return call, mark_at + 1
            self._asking = call
            return None, mark_at + 1
        return _broken(text, start, mark_at + (mark in (":", "]")))

    def _results(self, call: Call, text: str, start: int, *, is_last: bool) -> _Step:
        """``call`` with the results from ``start`` on. If they are none, what stands there is
        text."""
        end = _end(_RESULTS, text, start)
        if end - start <= _LONGEST_PART and text[end : end + 1] == "]":
            self._asking = None
            return _with_results(call, text[start:end]), end + 1
        if text[end : end + 1] == "{":
            end = _end(_ARGUMENTS, text, end + 1)
        if not is_last and _is_cut_off(text, end) and end - start <= _LONGEST_PART:
            return None
        self._asking = None
        return call, start


def _part_of_head(text: str, start: int, *, is_last: bool) -> _Step:
    """What begins with a bracket and is not, or not yet, the head of a call."""
    known = _without_blanks(text[start : start + _LONGEST_HEAD])
    is_short = len(text) - start < _LONGEST_HEAD
    if not (is_short and any(head.startswith(known) for head in _NAMES)):
        return "[", start + 1
    if not is_last:
        return None
    return _broken(text, start, len(text)) if len(known) > len("[MEM") else ("[", start + 1)


def _broken(text: str, start: int, end: int) -> _Step:
    return BrokenCall(text[start:end]), end


def _end(pattern: re.Pattern[str], text: str, start: int, end: int | None = None) -> int:
    """Where the longest match ends; ``pattern`` also matches nothing."""
    found = pattern.match(text, start, len(text) if end is None else end)
    return start if found is None else found.end()


def _is_cut_off(text: str, end: int) -> bool:
    """Whether the text ends here, or with a backslash."""
    return len(text) - end < 2 and text[end:] in ("", "\\")


def _without_blanks(head: str) -> str:
    return re.sub(_BLANKS_IN_HEAD, "", head).upper()


def parse_calls(text: str) -> list[str | Call]:
    """The calls of ``text``, with their results, and the text between them, in order."""
    scanner = CallScanner(has_results=lambda _call: True)
    events: list[str | Call] = []
    for event in (*scanner.feed(text), *scanner.close()):
        if events and type(event) is str and type(events[-1]) is str:
            events[-1] = f"{events[-1]}{event}"
        else:
            events.append(event)
    return events
