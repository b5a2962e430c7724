"""What ranks statements for a question: recallm's rankings and their peers, behind one face.

recallm's rankings read one memory; the paper ranks concepts, not statements: its contexts are read
concept by concept, best first, the newest statement of each first. EMENT hands over the nearest,
then its entities' sentences. Peers fill tokens with the best that fit, under the same first line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Protocol

from benchmarks.peers import Index
from recallm import RecallConfig, RecalledContext, RecalledStatement, RecallM
from recallm.ranking.budget import PREFIX

__all__ = ["DEEP", "Ement", "Found", "Memory", "Paper", "Peer", "Ranker"]

DEEP = 400
"""Statements recalled to find the first 50 distinct turns."""

_CHARACTERS = 4
"""Of a token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A statement that was recalled, and the item that it comes from."""

    item: str
    text: str


class Ranker(Protocol):
    """One row."""

    name: str

    def best(self, question: str) -> list[Found]:
        """The best statements for ``question``, best first."""
        ...

    def context(
        self, question: str, *, limit: int | None = None, tokens: int | None = None
    ) -> list[Found]:
        """The context of so many statements, or tokens, in the order in which it is handed over."""
        ...


class Memory:
    """A ranking of recallm that gives each statement a score."""

    def __init__(self, name: str, memory: RecallM) -> None:
        self.name = name
        self._memory = memory

    def best(self, question: str) -> list[Found]:
        """The best statements for ``question``, best first."""
        return _found(self._best(self._memory.recall(question, limit=DEEP)))

    def context(
        self, question: str, *, limit: int | None = None, tokens: int | None = None
    ) -> list[Found]:
        """The context, in the order in which it is handed over."""
        return _found(self._memory.recall(question, limit=limit, max_tokens=tokens).statements)

    def _best(self, context: RecalledContext) -> list[RecalledStatement]:
        return sorted(context.statements, key=lambda each: (-(each.score or 0.0), -each.t_index))


class Paper(Memory):
    """The paper's, whose limit counts contexts of concepts: of these so many statements are cut."""

    def context(
        self, question: str, *, limit: int | None = None, tokens: int | None = None
    ) -> list[Found]:
        """The context, in the order in which it is handed over."""
        if limit is None:
            return super().context(question, tokens=tokens)
        recalled = self._memory.recall(question, limit=RecallConfig().max_concepts)
        return _found(sorted(self._best(recalled)[:limit], key=lambda each: each.t_index))

    def _best(self, context: RecalledContext) -> list[RecalledStatement]:
        places = {concept.name: place for place, concept in enumerate(context.concepts)}
        distinct = {statement.id: statement for statement in context.statements}
        return sorted(
            distinct.values(),
            key=lambda each: (
                min((places[name] for name in each.concepts if name in places), default=DEEP),
                -each.t_index,
            ),
        )


class Ement(Memory):
    """EMENT: the nearest and its entities' sentences take turns."""

    def context(
        self, question: str, *, limit: int | None = None, tokens: int | None = None
    ) -> list[Found]:
        """The context, in the order in which it is handed over."""
        recalled = self._memory.recall(question, limit=limit, max_tokens=tokens)
        near, told = self._parts(recalled)
        return _found([*near, *told])

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
        places = self.index.order(question)[:limit]
        if tokens is not None:
            places = self._fitting(places, tokens)
        return [self.found[place] for place in (sorted(places) if self._in_time else places)]

    def _fitting(self, places: Sequence[int], tokens: int) -> list[int]:
        """The best that fit, a line each."""
        kept: list[int] = []
        room = tokens * _CHARACTERS
        if len({each.item for each in self.found}) > 1:
            room -= len(PREFIX) + 1
        for place in places:
            if len(self.found[place].text) + 1 <= room:
                room -= len(self.found[place].text) + 1
                kept.append(place)
        return kept


def _found(statements: Sequence[RecalledStatement]) -> list[Found]:
    return [Found(item=each.passage or each.id, text=each.text) for each in statements]
