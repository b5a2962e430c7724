"""The rows of the recall benchmarks: everything that is measured, behind one face.

recallm's rankings stand over two embedded memories, one without embeddings and one with them.
Peers rank whole turns (``speaker: text``), or the sentences of a plot, and fill tokens with the
best that fit, under the same first line. Where nothing of a question is known they give anything;
recallm gives nothing. The paper ranks concepts, not statements: its contexts are read concept by
concept, best first, the newest statement of each first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from inspect import signature
from typing import Any, Protocol

from benchmarks.peers import BM25, Index, MiniLM, Newest
from recallm import RecallConfig, RecalledContext, RecalledStatement, RecallM
from recallm.extraction import Extractor
from recallm.retrieval.lines import PREFIX
from recallm.stores.opening import open_store

__all__ = [
    "BM25_ROW",
    "CHROMA_ROW",
    "EMENT_ROW",
    "NEWEST_ROW",
    "PAPER_ROW",
    "STATEMENTS_ROW",
    "VECTORS_ROW",
    "Found",
    "Item",
    "Ranker",
    "Rows",
    "rows",
]

PAPER_ROW = "recallm, as in the paper"
STATEMENTS_ROW = "recallm, statements"
VECTORS_ROW = "recallm, statements + vectors"
EMENT_ROW = "recallm, EMENT"
CHROMA_ROW = "Chroma"
BM25_ROW = "BM25, content-word stems"
NEWEST_ROW = "newest that name the subject"

IN_TIME = ", in time order"
IN_SIMILARITY = ", in similarity order"

DEEP = 400
"""Statements recalled to find the first 50 distinct turns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One knowledge update."""

    id: str
    text: str
    speaker: str | None = None
    timestamp: datetime | None = None
    session: str | None = None


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


class Rows:
    """All rows over the same items."""

    def __init__(self, memories: Sequence[RecallM], rankers: Sequence[Ranker]) -> None:
        self._memories = memories
        self.rankers = tuple(rankers)
        self._extractor = Extractor(RecallConfig())

    def write(self, items: Sequence[Item], *, whole: bool = True) -> None:
        """Add ``items``: each one knowledge update of the memories; for the peers a text (of its
        speaker), or its sentences where not ``whole``."""
        for memory in self._memories:
            memory.update_many(
                {
                    "id": item.id,
                    "text": item.text,
                    "speaker": item.speaker,
                    "timestamp": item.timestamp,
                    "session": item.session,
                }
                for item in items
            )
        found = [
            Found(item=item.id, text=text)
            for item in items
            for text in ([_spoken(item)] if whole else self._sentences(item.text))
        ]
        indexes = {id(each.index): each.index for each in self.rankers if isinstance(each, _Peer)}
        for index in indexes.values():
            index.add([each.text for each in found])
        for each in self.rankers:
            if isinstance(each, _Peer):
                each.found += found

    def _sentences(self, text: str) -> list[str]:
        return [text[each.start : each.end] for each in self._extractor.extract(text).statements]


def why_no_vectors() -> str | None:
    """Why there are no rows of recallm with vectors; None where there are."""
    if "embeddings" not in signature(RecallM.__init__).parameters:
        return "this version of recallm takes no embeddings"
    return None


@contextmanager
def rows(*, embeddings: bool, similarity_order: bool = False) -> Iterator[Rows]:
    """The rows; those that need embeddings only with ``embeddings``.

    With ``similarity_order`` Chroma stands there twice: in that order, and in time order.
    """
    with ExitStack() as opened:
        store = open_store(None, auth=None, database=None)[0]
        opened.callback(store.close)
        plain = RecallM(store)
        paper = RecallM(store, config=RecallConfig(ranking="paper"))
        memories = [plain]
        rankers: list[Ranker] = [
            _Memory(PAPER_ROW, paper, cut=True),
            _Memory(STATEMENTS_ROW, plain),
        ]
        peers: list[Ranker] = [_Peer(BM25_ROW, BM25(), in_time=True)]
        if embeddings and why_no_vectors() is None:
            with_vectors = open_store(None, auth=None, database=None)[0]
            opened.callback(with_vectors.close)
            made: dict[str, Any] = {"embeddings": "default"}
            memories.append(RecallM(with_vectors, **made))
            rankers.append(_Memory(VECTORS_ROW, memories[-1]))
            ement = RecallM(with_vectors, config=RecallConfig(ranking="ement"), **made)
            rankers.append(_Memory(EMENT_ROW, ement))
        if embeddings:
            nearest = MiniLM()
            if similarity_order:
                peers.append(_Peer(CHROMA_ROW + IN_SIMILARITY, nearest, in_time=False))
            peers.append(
                _Peer(
                    CHROMA_ROW + IN_TIME if similarity_order else CHROMA_ROW, nearest, in_time=True
                )
            )
        peers.append(_Peer(NEWEST_ROW, Newest(), in_time=True))
        yield Rows(memories, [*rankers, *peers])


class _Memory:
    """A ranking of recallm. ``cut``: its limit counts no statements, so the best are cut off."""

    def __init__(self, name: str, memory: RecallM, *, cut: bool = False) -> None:
        self.name = name
        self._memory = memory
        self._cut = cut

    def best(self, question: str) -> list[Found]:
        return [_found(each) for each in _ordered(self._memory.recall(question, limit=DEEP))]

    def context(
        self, question: str, *, limit: int | None = None, tokens: int | None = None
    ) -> list[Found]:
        recalled = self._memory.recall(
            question, limit=None if self._cut else limit, max_tokens=tokens
        )
        kept = recalled.statements
        if self._cut and limit is not None:
            kept = tuple(sorted(_ordered(recalled)[:limit], key=lambda each: each.t_index))
        return [_found(each) for each in kept]


class _Peer:
    """An order of texts that somebody else makes. ``in_time``: handed over in time order."""

    def __init__(self, name: str, index: Index, *, in_time: bool) -> None:
        self.name = name
        self.index = index
        self.found: list[Found] = []
        self._in_time = in_time

    def best(self, question: str) -> list[Found]:
        return [self.found[place] for place in self.index.order(question)]

    def context(
        self, question: str, *, limit: int | None = None, tokens: int | None = None
    ) -> list[Found]:
        places = self.index.order(question)[:limit]
        if tokens is not None:
            places = self._fitting(places, tokens)
        return [self.found[place] for place in (sorted(places) if self._in_time else places)]

    def _fitting(self, places: Sequence[int], tokens: int) -> list[int]:
        """The best that fit, a line each."""
        kept: list[int] = []
        room = tokens * 4 - len(PREFIX) - 1
        for place in places:
            if len(self.found[place].text) + 1 <= room:
                room -= len(self.found[place].text) + 1
                kept.append(place)
        return kept


def _ordered(context: RecalledContext) -> list[RecalledStatement]:
    """Best first: by score, or by the paper's order, that is by concept, and the newest statement
    of a concept first."""
    places = {concept.name: place for place, concept in enumerate(context.concepts)}
    last = len(places)

    def rank(statement: RecalledStatement) -> tuple[float, int]:
        if statement.score is not None:
            return -statement.score, -statement.t_index
        best = min((places.get(name, last) for name in statement.concepts), default=last)
        return best, -statement.t_index

    distinct = {statement.id: statement for statement in context.statements}
    return sorted(distinct.values(), key=rank)


def _found(statement: RecalledStatement) -> Found:
    return Found(item=statement.passage or statement.id, text=statement.text)


def _spoken(item: Item) -> str:
    return f"{item.speaker}: {item.text}" if item.speaker else item.text
