"""What ranks statements for a question: recallm's rankings and their peers, behind one face.

recallm's rankings read one memory; the paper ranks concepts, not statements (see ``uncut``). EMENT
hands over the nearest, then its entities' sentences. Peers fill tokens with the best that fit,
under the same first line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest
from typing import Any, Protocol

from benchmarks.peers import Index
from recallm import RecalledContext, RecalledStatement, RecallM
from recallm.recall.results import PREFIX

DEEP = 400
"""Statements recalled to find the first 50 distinct turns."""

_CHARACTERS = 4
"""Of a token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A statement that was recalled, and the item that it comes from. ``line``: the text with the
    head that a model gets to see; the text where there is none."""

    item: str
    text: str
    line: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandedOver:
    """The whole text of a context, as a model gets it, its statements, and its lines: the text of
    each with its head, and the statements on it."""

    text: str
    lines: Sequence[tuple[str, Sequence[Found]]]

    @property
    def statements(self) -> list[Found]:
        """The statements of all lines."""
        return [found for _, statements in self.lines for found in statements]


class Ranker(Protocol):
    """One row."""

    name: str

    def best(self, question: str) -> list[Found]:
        """The best statements for ``question``, best first."""
        ...

    def context(
        self, question: str, *, limit: int | None = None, tokens: int | None = None
    ) -> list[Found]:
        """The context of at most ``limit`` statements or ``tokens``, in the order of its text."""
        ...

    def handed_over(self, question: str, *, tokens: int) -> HandedOver:
        """The context of at most ``tokens`` tokens, and its text."""
        ...


class Memory:
    """A ranking of recallm that gives each statement a score. ``asks``: further arguments of each
    recall."""

    def __init__(self, name: str, memory: RecallM, **asks: Any) -> None:
        self.name = name
        self._memory = memory
        self._asks = asks

    def best(self, question: str) -> list[Found]:
        """The best statements for ``question``, best first."""
        return _found(self._best(self._recall(question, limit=DEEP)))

    def context(
        self, question: str, *, limit: int | None = None, tokens: int | None = None
    ) -> list[Found]:
        """The context, in the order in which it is handed over."""
        return _found(self._recall(question, limit=limit, max_tokens=tokens).statements)

    def handed_over(self, question: str, *, tokens: int | None = None) -> HandedOver:
        """The context, of at most ``tokens`` tokens if they are given, and its text."""
        recalled = self._recall(question, max_tokens=tokens)
        return HandedOver(text=recalled.text, lines=self._lines(recalled))

    def _recall(self, question: str, **bounds: Any) -> RecalledContext:
        return self._memory.recall(question, **self._asks, **bounds)

    @staticmethod
    def _lines(context: RecalledContext) -> list[tuple[str, Sequence[Found]]]:
        lines = context.text.removeprefix(f"{PREFIX}\n").splitlines()
        passages = groupby(context.statements, lambda each: each.passage if each.span else each.id)
        found = [_found(list(statements)) for _, statements in passages]
        # A line behind the statements says how much matches beside them.
        found += [[]] * (len(lines) - len(found))
        return list(zip(lines, found, strict=True))

    def _best(self, context: RecalledContext) -> list[RecalledStatement]:
        return sorted(context.statements, key=lambda each: (-(each.score or 0.0), -each.t_index))


class Paper(Memory):
    """The paper's: its limit counts contexts of concepts, and no statement is the best."""

    @staticmethod
    def _lines(context: RecalledContext) -> list[tuple[str, Sequence[Found]]]:
        return _a_line_each(context)  # its text is one paragraph


class Ement(Memory):
    """EMENT: the nearest and its entities' sentences take turns."""

    def context(
        self, question: str, *, limit: int | None = None, tokens: int | None = None
    ) -> list[Found]:
        """The context, in the order in which it is handed over."""
        recalled = self._recall(question, limit=limit, max_tokens=tokens)
        near, told = self._parts(recalled)
        return _found([*near, *told])

    @staticmethod
    def _lines(context: RecalledContext) -> list[tuple[str, Sequence[Found]]]:
        return _a_line_each(context)  # its text has two parts

    def _best(self, context: RecalledContext) -> list[RecalledStatement]:
        near, told = self._parts(context)
        essential = {concept.name for concept in context.concepts}
        told.sort(key=lambda each: (-len(essential.intersection(each.concepts)), -each.t_index))
        return [each for pair in zip_longest(near, told) for each in pair if each is not None]

    @staticmethod
    def _parts(
        context: RecalledContext,
    ) -> tuple[list[RecalledStatement], list[RecalledStatement]]:
        """The nearest, nearest first, and the others as they stand."""
        near = [each for each in context.statements if "cosine" in each.contributions]
        near.sort(key=lambda each: -each.contributions["cosine"])
        return near, [each for each in context.statements if "cosine" not in each.contributions]


class Turns:
    """Whole turns, in the order in which ``ranker`` finds their statements."""

    def __init__(self, name: str, ranker: Ranker, turns: Peer) -> None:
        self.name = name
        self._ranker = ranker
        self._turns = turns

    def best(self, question: str) -> list[Found]:
        """The turns of the best statements, best first."""
        places = {each.item: place for place, each in enumerate(self._turns.found)}
        items = dict.fromkeys(each.item for each in self._ranker.best(question))
        return [self._turns.found[places[item]] for item in items if item in places]

    def context(
        self, question: str, *, limit: int | None = None, tokens: int | None = None
    ) -> list[Found]:
        """The context, in order of time."""
        places = {each.item: place for place, each in enumerate(self._turns.found)}
        best = [places[each.item] for each in self.best(question)][:limit]
        return self._turns.of_places(best, tokens)

    def handed_over(self, question: str, *, tokens: int) -> HandedOver:
        """The context of at most ``tokens`` tokens, and its text."""
        return _as_lines(self.context(question, tokens=tokens))


class Peer:
    """An order of texts that somebody else makes. ``in_time``: handed over in time order."""

    def __init__(self, name: str, index: Index, *, in_time: bool = True) -> None:
        self.name = name
        self.index = index
        self.found: list[Found] = []
        self._in_time = in_time

    def best(self, question: str) -> list[Found]:
        """The best statements for ``question``, best first."""
        return [self.found[place] for place in self.index.order(question)]

    def context(
        self, question: str, *, limit: int | None = None, tokens: int | None = None
    ) -> list[Found]:
        """The context, in the order in which it is handed over."""
        return self.of_places(self.index.order(question)[:limit], tokens)

    def handed_over(self, question: str, *, tokens: int) -> HandedOver:
        """The context of at most ``tokens`` tokens, and its text."""
        return _as_lines(self.context(question, tokens=tokens))

    def of_places(self, places: Sequence[int], tokens: int | None) -> list[Found]:
        """The texts at ``places`` (the best first), those that fit where ``tokens`` are given, in
        the order in which they are handed over."""
        chosen = places if tokens is None else self._fitting(places, tokens)
        return [self.found[place] for place in (sorted(chosen) if self._in_time else chosen)]

    def _fitting(self, places: Sequence[int], tokens: int) -> list[int]:
        """The best that fit, a line each."""
        kept: list[int] = []
        room = tokens * _CHARACTERS
        if len({each.item for each in self.found}) > 1:
            room -= len(PREFIX) + 1
        for place in places:
            cost = len(self.found[place].line or self.found[place].text) + 1
            if cost <= room:
                room -= cost
                kept.append(place)
        return kept


def _found(statements: Sequence[RecalledStatement]) -> list[Found]:
    return [
        Found(item=each.passage or each.id, text=each.text, line=each.line) for each in statements
    ]


def _a_line_each(context: RecalledContext) -> list[tuple[str, Sequence[Found]]]:
    return [(found.text, (found,)) for found in _found(context.statements)]


def _as_lines(found: Sequence[Found]) -> HandedOver:
    """A line each, under the same first line as recallm's."""
    several = len({each.item for each in found}) > 1
    lines = [(each.line or each.text, (each,)) for each in found]
    first = [PREFIX] if several else []
    return HandedOver(text="\n".join([*first, *(line for line, _ in lines)]), lines=lines)
