"""The calls in a text that comes in pieces, such as the stream of a language model."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, get_args

from recallm.facts.calls import Call, CallName, call_of, with_results

__all__ = ["BrokenCall", "CallScanner", "parse_calls"]

_HEADS: dict[str, CallName] = {f"[{name}{{": name for name in get_args(CallName)}
_LONGEST_HEAD = 40
_LONGEST_PART = 10_000
"""Characters of arguments or results; longer ones make no call, so that a stream goes on."""


class BrokenCall(str):
    """Text that begins like a call and is not one: cut off, or with other arguments."""

    __slots__ = ()


class CallScanner:
    """Finds the calls in a text that comes in pieces.

    However the text is cut into pieces, the calls are those of the whole text, and so is the text
    between them. Text is held back only while it may be the beginning of a call. A call ends at its
    colon: there a controller stops the model. Where ``has_results`` is true of a call, the results
    behind the colon belong to it.
    """

    def __init__(self, *, has_results: Callable[[Call], bool] | None = None) -> None:
        self._has_results = has_results or (lambda _call: False)
        self._state: Literal["text", "head", "arguments", "after", "results"] = "text"
        self._forget()

    def feed(self, piece: str) -> Iterator[str | Call]:
        """The calls that end in ``piece`` and the text between them, in order."""
        place = 0
        while place < len(piece):
            if self._state == "text":
                bracket = piece.find("[", place)
                end = len(piece) if bracket < 0 else bracket
                if end > place:
                    yield piece[place:end]
                    self._after_backslash = piece[end - 1] == "\\"
                if bracket < 0:
                    return
                if self._after_backslash:
                    yield "["
                    self._after_backslash = False
                else:
                    self._held.append("[")
                    self._state = "head"
                place = end + 1
                continue
            yield from self._step(piece[place])
            place += 1

    def close(self) -> Iterator[str | Call]:
        """What was held back when the text ended."""
        held, state, call = "".join(self._held), self._state, self._call
        self._forget()
        if state == "after" and call is not None:
            yield call
        elif state == "results" and call is not None:
            yield call
            yield from self.feed(held)
            yield from self.close()
        elif state in ("arguments", "after") or len(_head_text(held)) > len("[MEM"):
            yield BrokenCall(held)
        elif held:
            yield held

    def _forget(self) -> None:
        self._state = "text"
        self._held: list[str] = []
        self._start = 0  # of the arguments among what is held
        self._bracket = 0  # the last bracket among what is held that could open another call
        self._escaped = False
        self._after_backslash = False  # the latest character of the text
        self._in_row = False
        self._name: CallName = "MEM_READ"
        self._call: Call | None = None

    def _step(self, character: str) -> Iterator[str | Call]:
        match self._state:
            case "head":
                yield from self._step_in_head(character)
            case "arguments":
                yield from self._step_in_arguments(character)
            case "after":
                yield from self._step_after(character)
            case _:
                yield from self._step_in_results(character)

    def _step_in_head(self, character: str) -> Iterator[str | Call]:
        text = _head_text([*self._held, character])
        if text in _HEADS:
            self._held.append(character)
            self._name = _HEADS[text]
            self._start = len(self._held)
            self._state = "arguments"
        elif len(self._held) < _LONGEST_HEAD and any(head.startswith(text) for head in _HEADS):
            self._held.append(character)
        else:
            yield from self._release(str, character)

    def _step_in_arguments(self, character: str) -> Iterator[str | Call]:
        if character in "\n\r" or len(self._held) - self._start >= _LONGEST_PART:
            yield from self._release(BrokenCall, character)
            return
        if self._escaped:
            self._escaped = False
        elif character == "{":
            yield from self._reopen()
            return
        elif character == "[":
            self._bracket = len(self._held)
        elif character == "\\":
            self._escaped = True
        elif character == "}":
            self._call = call_of(self._name, "".join(self._held[self._start :]))
            self._state = "after"
        self._held.append(character)

    def _reopen(self) -> Iterator[str | Call]:
        """A brace opens inside the arguments: perhaps those of another call."""
        broken, head = self._held[: self._bracket], self._held[self._bracket :]
        if not broken:
            yield from self._release(BrokenCall, "{")
            return
        self._forget()
        yield BrokenCall("".join(broken))
        yield from self.feed("".join((*head, "{")))

    def _step_after(self, character: str) -> Iterator[str | Call]:
        call = self._call
        asks = call is not None and call.name != "MEM_WRITE"
        if character.isspace() and len(self._held) - self._start < 2 * _LONGEST_PART:
            self._held.append(character)
        elif call is not None and character == "]":
            self._forget()
            yield call
        elif call is not None and character == ":" and asks and self._has_results(call):
            self._held = []
            self._state = "results"
        elif call is not None and character == ":" and asks:
            self._forget()
            yield call
        elif character in ":]":
            self._held.append(character)
            yield from self._release(BrokenCall, "")
        else:
            yield from self._release(BrokenCall, character)

    def _step_in_results(self, character: str) -> Iterator[str | Call]:
        closes = character == "]" and not self._in_row and not self._escaped
        if closes and self._call is not None:
            call = with_results(self._call, "".join(self._held))
            self._forget()
            yield call
            return
        self._held.append(character)
        unreadable = character == ("{" if self._in_row else "[")
        if self._in_row and character in "\n\r":
            unreadable, self._escaped = True, False
        if self._escaped:
            self._escaped = False
        elif unreadable or len(self._held) > _LONGEST_PART:
            yield from self._without_results()
        elif character == "\\":
            self._escaped = True
        elif character in "{}":
            self._in_row = character == "{"

    def _without_results(self) -> Iterator[str | Call]:
        """What stands behind the colon is text."""
        call, text = self._call, "".join(self._held)
        self._forget()
        if call is not None:
            yield call
        yield from self.feed(text)

    def _release(self, kind: type[str], character: str) -> Iterator[str | Call]:
        """What is held is no call; ``character``, which showed it, may begin one."""
        held = kind("".join(self._held))
        self._forget()
        yield held
        yield from self.feed(character)


def _head_text(held: Sequence[str]) -> str:
    """The beginning of a call without blanks; language models put a backslash before ``_``."""
    return re.sub(r"[ \t\\]", "", "".join(held)).upper()


def parse_calls(text: str) -> list[str | Call]:
    """The calls of ``text``, with their results, and the text between them, in order."""
    scanner = CallScanner(has_results=lambda _call: True)
    events: list[str | Call] = []
    for event in (*scanner.feed(text), *scanner.close()):
        joins = bool(events) and type(event) is str and type(events[-1]) is str
        if joins:
            events[-1] = f"{events[-1]}{event}"
        else:
            events.append(event)
    return events
