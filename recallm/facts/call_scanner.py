"""The calls in a text that comes in pieces, such as the stream of a language model."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TypeAlias, get_args

from recallm.facts.calls import Call, CallName, call_of, with_results

_LONGEST_HEAD = 41
_LONGEST_PART = 10_000
"""Characters of arguments or results; longer ones make no call, so that a stream goes on."""

_NAMES: dict[str, CallName] = {f"[{name}{{": name for name in get_args(CallName)}
_BLANKS_IN_HEAD = r"[ \t\\]*"
"""Language models put blanks anywhere, and a backslash before ``_``."""
_HEAD = re.compile(
    "|".join(_BLANKS_IN_HEAD.join(map(re.escape, head)) for head in _NAMES), re.IGNORECASE
)
_ROW = r"(?:[^\\{}\n\r]+|\\[^\n\r])*+"
_ARGUMENTS = re.compile(_ROW)
_RESULTS = re.compile(rf"(?:[^\\\[\]{{]+|\\.|\{{{_ROW}\}})*+", re.DOTALL)
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
        call = call_of(_NAMES[_without_blanks(head[0])], text[begin:end])
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
            return with_results(call, text[start:end]), end + 1
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
