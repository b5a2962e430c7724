"""One reply of a language model: its calls are carried out, its text is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from recallm.errors import InvalidInputError
from recallm.facts.calls import BrokenCall, Call, parse_calls, results_text
from recallm.facts.chat_prompts import ChatPrompt
from recallm.facts.fact import Fact
from recallm.facts.memory import FactMemory
from recallm.ground.untrusted_text import letters_and_digits, quoted, without_delimiters

_LONGEST_REPLY = 40_000
"""Characters that a model may write in a reply."""
_LONGEST_RESULTS = 8_000
"""Characters of the results of one call."""
_LONGEST_VALUE = 500
"""Characters of a value in a prompt."""


class Reply:
    """What a model wrote so far, in turns: a turn ends where the model asks the memory or stops.

    ``quotes`` are texts that are not the model's own: a call in them that writes is not carried out
    where the model repeats it, however it is spelled. The same holds for rows that the memory
    answers with. ``redacted`` changes the terms of every call. The model asks at most ``rounds``
    times, and gets at most ``limit`` results each time.
    """

    def __init__(
        self,
        facts: FactMemory,
        prompt: ChatPrompt,
        *,
        rounds: int,
        limit: int,
        quotes: Iterable[str],
        redacted: Callable[[str], str] = str,
    ) -> None:
        self._memory = facts
        self._prompt = prompt
        self._rounds = rounds
        self._limit = limit
        self._redacted = redacted
        self._room = _LONGEST_REPLY
        self._quoted_writes = _with_writes(quotes)
        self._shown = ""
        self._is_after_call = False
        self._parts: list[str] = []
        self._answered: dict[Call, Call] = {}
        self._is_whole = True
        self.writes: dict[Call, None] = {}
        """The calls that write, in order, each once."""
        self.calls: list[Call] = []
        """The calls that were carried out, and those that write, in order."""
        self.facts: list[Fact] = []
        """The facts that the model read, each once."""
        self.has_ended = False
        self._turn_has_ended = False

    # -- the reply so far ------------------------------------------------------------------

    @property
    def prompt(self) -> str:
        """The prompt for the next turn."""
        return self._prompt.before("".join(self._parts).lstrip())

    @property
    def text(self) -> str:
        """What the user sees: the text without calls and without white space at its ends."""
        return self._shown.rstrip()

    @property
    def is_complete(self) -> bool:
        """Whether the reply, and what it rests on, lack nothing that is known to be missing."""
        has_results = not any(call.more for call in self.calls)
        return self._is_whole and has_results and bool(self.text or self.writes)

    # -- the model writes ------------------------------------------------------------------

    def turn(self, pieces: Iterable[str]) -> None:
        """Carry out one turn of the model, which comes in pieces: no more of them are taken than up
        to the first call that asks."""
        text = ""
        mark = self._prompt.end_of_reply
        for piece in pieces:
            text += piece
            has_mark = mark is not None and mark in text
            if has_mark or len(text) > self._room or ("}" in piece and self._asks(text)):
                break
        self._turn_has_ended = False
        written = text if mark is None else text.partition(mark)[0]
        for event in self._parsed(written[: self._room]):
            if isinstance(event, Call):
                self._carry_out(self._question(event))
            elif isinstance(event, BrokenCall):
                self._is_whole = False
                self._leave_out()
            else:
                self._parts.append(event)
                self._show(event)
            if self._turn_has_ended:
                break
        self._room -= len(written)
        if self._room < 0:
            self._cut()
        self.has_ended = self.has_ended or not self._turn_has_ended

    def _parsed(self, text: str) -> list[str | Call]:
        """The calls of a text, those that the model repeats with their results."""
        return parse_calls(text, has_results=lambda call: self._question(call) in self._answered)

    def _asks(self, text: str) -> bool:
        """Whether a text has a call that asks for what the model has no results of."""
        return "READ" in text.upper() and any(
            isinstance(event, Call)
            and event.name == "MEM_READ"
            and self._question(event) not in self._answered
            for event in self._parsed(text)
        )

    def _question(self, call: Call) -> Call:
        return replace(call.with_values(self._redacted), rows=None, more=0)

    def _show(self, text: str) -> None:
        if not self._shown or (self._is_after_call and self._shown[-1].isspace()):
            text = text.lstrip()
        if text:
            self._is_after_call = False
        self._shown += text

    def _leave_out(self, separator: str = "") -> None:
        """A call stands here; ``separator`` parts the texts around it where no white space does."""
        self._is_after_call = True
        if self._shown and not self._shown[-1].isspace():
            self._shown += separator

    def _carry_out(self, call: Call) -> None:
        if call.name == "MEM_WRITE":
            self._leave_out()
            if not self._is_quoted(call) and call not in self.writes:
                self._parts.append(str(call))
                self.calls.append(call)
                self.writes[call] = None
            return
        self._leave_out(separator=" ")
        if call in self._answered:  # the model repeats it
            self._parts.append(str(self._answered[call]))
        elif len(self._answered) == self._rounds:
            self._cut()
        else:
            self._answer(call)

    def _answer(self, question: Call) -> None:
        """Answer with the newest facts that fit, in the order in which they were written, as in the
        paper. A call whose terms the memory cannot use has no results."""
        try:
            found = self._memory.read(*question.terms)
        except InvalidInputError:  # such as a term of thousands of characters
            found = []
        rows: list[tuple[str, ...]] = []
        for fact in found[: self._limit]:
            row = tuple(map(_shown, (fact.subject, fact.relation, fact.object)))
            if len(results_text((*rows, row))) > _LONGEST_RESULTS:
                break
            rows.append(row)
        read = found[: len(rows)]
        answered = replace(question, rows=tuple(reversed(rows)), more=len(found) - len(rows))
        self._quoted_writes += _with_writes(
            f"{fact.subject} {fact.relation} {fact.object}" for fact in read
        )
        self._answered[question] = answered
        self.facts += [fact for fact in read if fact not in self.facts]
        self._parts.append(str(answered))
        self.calls.append(answered)
        self._turn_has_ended = True

    def _cut(self) -> None:
        self._is_whole = False
        self._turn_has_ended = self.has_ended = True

    def _is_quoted(self, write: Call) -> bool:
        """Whether a text that is not the model's own has a call that writes, and these terms."""
        terms = [letters_and_digits(str(term)) for term in write.terms]
        return any(all(term in text for term in terms) for text in self._quoted_writes)


def _shown(value: str) -> str:
    """A stored value in a prompt: on one line, cut, in quotation marks where it poses as the head
    of a line, without the delimiters of recalled text."""
    cut = value if len(value) <= _LONGEST_VALUE else f"{value[:_LONGEST_VALUE]} …"
    return without_delimiters(quoted(cut))


_WRITE = "memwrite"


def _with_writes(texts: Iterable[str]) -> list[str]:
    """Those of the texts that a call which writes may stand in, as their letters and digits: a
    model may change everything else where it repeats a text."""
    return [text for text in map(letters_and_digits, texts) if _WRITE in text]
