"""The rows of the recall benchmarks: everything that is measured, behind one face.

recallm's rankings read the same statements in one embedded store: with embeddings and without, as
in the paper, and EMENT. Peers rank whole turns (``speaker: text``), or the sentences of a plot, and
fill tokens with the best that fit, under the same first line. Where nothing of a question is known
they give anything; recallm gives nothing. The paper ranks concepts, not statements: its contexts
are read concept by concept, best first, the newest statement of each first.

Chroma is what it finds with its default embedding, the nearest by cosine, exactly; the vectors are
recallm's default, which are the same without the padding. EMENT hands over the nearest, then its
entities' sentences; BM25 and the newest stand in time order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from benchmarks.peers import BM25, Index, Newest, Vectors
from recallm import RecallConfig, RecalledContext, RecalledStatement, RecallM, RecallMError
from recallm.extraction import Extractor
from recallm.retrieval.lines import PREFIX
from recallm.stores.opening import open_store
from recallm.vectors import Embedding
from recallm.vectors.embedding import embedding_of

__all__ = [
    "BM25_ROW",
    "CHROMA_ROW",
    "EMENT_ROW",
    "NEWEST_ROW",
    "PAPER_ROW",
    "SIMILARITY_ROW",
    "STATEMENTS_ROW",
    "TIME_ROW",
    "VECTORS_ROW",
    "Found",
    "Item",
    "Ranker",
    "Rows",
    "WeightsFor",
    "default_embedding",
    "opened_rows",
    "weights_in",
]

PAPER_ROW = "recallm, as in the paper"
STATEMENTS_ROW = "recallm, statements"
VECTORS_ROW = "recallm, statements + vectors"
EMENT_ROW = "recallm, EMENT"
CHROMA_ROW = "Chroma"
TIME_ROW = "Chroma, in time order"
SIMILARITY_ROW = "Chroma, in similarity order"
BM25_ROW = "BM25, content-word stems"
NEWEST_ROW = "newest that name the subject"

_DEEP = 400
"""Statements recalled to find the first 50 distinct turns."""

_CHARACTERS = 4
"""Of a token."""

WeightsFor: TypeAlias = Callable[[str], str | None]
"""From the name of a conversation or film to the file of weights (``training/ranking`` writes it)
that it is measured with; None: those that ship."""


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

    def __init__(
        self, writer: RecallM, rankers: Sequence[Ranker], sentences: Callable[[str], list[str]]
    ) -> None:
        self.rankers = tuple(rankers)
        self._writer = writer
        self._sentences = sentences

    def write(self, items: Sequence[Item], *, whole: bool = True) -> None:
        """Add ``items``: each one knowledge update of the memory; for the peers a text (of its
        speaker), or its sentences where not ``whole``."""
        self._writer.update_many(
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
        peers = [ranker for ranker in self.rankers if isinstance(ranker, _Peer)]
        for index in {id(peer.index): peer.index for peer in peers}.values():
            index.add([each.text for each in found])
        for peer in peers:
            peer.found += found


def weights_in(path: Path | None) -> WeightsFor:
    """The weights in a file for all, or of a folder ``NAME.toml`` for each: what was fitted without
    it. None: those that ship.

    Raises:
        SystemExit: (of what is returned, too) there is no such file.

    """
    if path is not None and not path.exists():
        raise SystemExit(f"there are no weights at {path}")

    def weights_for(unit: str) -> str | None:
        if path is None or path.is_file():
            return None if path is None else str(path)
        own = path / f"{unit}.toml"
        if not own.is_file():
            raise SystemExit(f"{path} has no weights that were fitted without {unit}: {own.name}")
        return str(own)

    return weights_for


def default_embedding() -> Embedding | None:
    """Recallm's default embedding, which keeps the vectors of what it was given; None, and why on
    the terminal, where it cannot be used."""
    try:
        embedding = embedding_of("default")
        if embedding is not None:
            embedding.question("Is it there?")
    except RecallMError as error:
        print(f"the rows with vectors are left out: {error}")
        return None
    return None if embedding is None else _keeping(embedding)


def _keeping(embedding: Embedding) -> Embedding:
    kept: dict[str, npt.NDArray[np.float32]] = {}

    def embed(texts: list[str]) -> npt.NDArray[np.float32]:
        unknown = [text for text in dict.fromkeys(texts) if text not in kept]
        kept.update(zip(unknown, embedding.texts(unknown), strict=True))
        return np.stack([kept[text] for text in texts])

    return Embedding(name=embedding.name, embed=embed)


@contextmanager
def opened_rows(
    embedding: Embedding | None,
    *,
    similarity_order: bool = False,
    weights_for: WeightsFor | None = None,
) -> Iterator[Callable[[str], Rows]]:
    """From the name of a conversation or film to rows that know nothing yet; those that need
    embeddings only with one. With ``similarity_order`` Chroma's best are measured in that order
    too, beside the order of time. With ``weights_for`` recallm's default ranking uses the weights
    for that name."""
    extractor = Extractor(RecallConfig())
    question = lru_cache(maxsize=4096)(extractor.question)
    paper = RecallConfig(ranking="paper", max_concepts=_DEEP)
    ement = RecallConfig(ranking="ement")

    def sentences(text: str) -> list[str]:
        return [text[each.start : each.end] for each in extractor.extract(text).statements]

    with closing(open_store(None, auth=None, database=None)[0]) as store:

        def rows(unit: str) -> Rows:
            weights = None if weights_for is None else weights_for(unit)
            config = RecallConfig(weights=weights)
            writer = RecallM(store, namespace=unit, config=config)
            rankers: list[Ranker] = [
                _Paper(PAPER_ROW, RecallM(store, namespace=unit, config=paper)),
                _Memory(STATEMENTS_ROW, writer),
            ]
            if embedding is not None:

                def embedded(config: RecallConfig) -> RecallM:
                    return RecallM(store, namespace=unit, config=config, embeddings=embedding)

                writer = embedded(config)
                vectors = Vectors(embedding)
                rankers += [_Memory(VECTORS_ROW, writer), _Ement(EMENT_ROW, embedded(ement))]
                if similarity_order:
                    rankers.append(_Peer(SIMILARITY_ROW, vectors, in_time=False))
                rankers.append(_Peer(TIME_ROW if similarity_order else CHROMA_ROW, vectors))
            rankers.append(_Peer(BM25_ROW, BM25(extractor.extract_many, question)))
            rankers.append(_Peer(NEWEST_ROW, Newest(question)))
            return Rows(writer, rankers, sentences)

        yield rows


class _Memory:
    """A ranking of recallm that gives each statement a score."""

    def __init__(self, name: str, memory: RecallM) -> None:
        self.name = name
        self._memory = memory

    def best(self, question: str) -> list[Found]:
        return _found(self._best(self._memory.recall(question, limit=_DEEP)))

    def context(
        self, question: str, *, limit: int | None = None, tokens: int | None = None
    ) -> list[Found]:
        return _found(self._memory.recall(question, limit=limit, max_tokens=tokens).statements)

    def _best(self, context: RecalledContext) -> list[RecalledStatement]:
        return sorted(context.statements, key=lambda each: (-(each.score or 0.0), -each.t_index))


class _Paper(_Memory):
    """The paper's, whose limit counts contexts of concepts: of these so many statements are cut."""

    def context(
        self, question: str, *, limit: int | None = None, tokens: int | None = None
    ) -> list[Found]:
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
                min((places[name] for name in each.concepts if name in places), default=_DEEP),
                -each.t_index,
            ),
        )


class _Ement(_Memory):
    """EMENT: the nearest and its entities' sentences take turns."""

    def context(
        self, question: str, *, limit: int | None = None, tokens: int | None = None
    ) -> list[Found]:
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


class _Peer:
    """An order of texts that somebody else makes. ``in_time``: handed over in time order."""

    def __init__(self, name: str, index: Index, *, in_time: bool = True) -> None:
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
        room = tokens * _CHARACTERS - len(PREFIX) - 1
        for place in places:
            if len(self.found[place].text) + 1 <= room:
                room -= len(self.found[place].text) + 1
                kept.append(place)
        return kept


def _found(statements: Sequence[RecalledStatement]) -> list[Found]:
    return [Found(item=each.passage or each.id, text=each.text) for each in statements]


def _spoken(item: Item) -> str:
    return f"{item.speaker}: {item.text}" if item.speaker else item.text
