"""The rows of the recall benchmarks: everything that is measured, made in one place.

recallm's rankings read the same statements in one embedded store: with embeddings and without, as
in the paper, and EMENT. Peers rank whole turns (``speaker: text``), or the sentences of a plot.
Where nothing of a question is known they give anything; recallm gives nothing. Chroma is what it
finds with its default embedding, the nearest by cosine, exactly; the vectors are recallm's default,
which are the same without the padding. BM25 and the newest stand in time order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

from benchmarks.corpora import Conversation
from benchmarks.minilm import KeptVectors
from benchmarks.peers import BM25, Newest, Vectors
from benchmarks.rankers import Ement, Found, Memory, Paper, Peer, Ranker, Turns
from recallm import RecallConfig, RecallM, RecallMError
from recallm.english.extractor import Extractor
from recallm.ground.untrusted_text import statement_line
from recallm.stores import open_store
from recallm.vectors import Embedding
from recallm.vectors.statements import checked_embedding

WEIGHTS_HELP = "a file of weights, or a folder with NAME.toml fitted without NAME, for each"
"""Of the option ``--weights`` (see ``weights_in``)."""

PAPER_ROW = "recallm, as in the paper"
STATEMENTS_ROW = "recallm, statements"
VECTORS_ROW = "recallm, statements + vectors"
EMENT_ROW = "recallm, EMENT"
TURNS_ROW = "whole turns in recallm's order"
CHROMA_ROW = "Chroma"
TIME_ROW = "Chroma, in time order"
SIMILARITY_ROW = "Chroma, in similarity order"
BM25_ROW = "BM25, content-word stems"
NEWEST_ROW = "newest that name the subject"

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
        self._writer.update_many(map(asdict, items))
        found = [
            Found(item=item.id, text=text, line=_headed(item, text))
            for item in items
            for text in ([_spoken(item)] if whole else self._sentences(item.text))
        ]
        peers = [ranker for ranker in self.rankers if isinstance(ranker, Peer)]
        for index in {id(peer.index): peer.index for peer in peers}.values():
            index.add([each.text for each in found])
        for peer in peers:
            peer.found += found


def items_of(talk: Conversation) -> list[Item]:
    """The turns of a conversation that say something."""
    return [
        Item(
            id=turn.id,
            text=turn.text,
            speaker=turn.speaker,
            timestamp=turn.timestamp,
            session=turn.session,
        )
        for turn in talk.turns
        if turn.text.strip()
    ]


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
        embedding = checked_embedding("default")
        if embedding is not None:
            embedding.question("Is it there?")
    except RecallMError as error:
        print(f"the rows with vectors are left out: {error}")
        return None
    if embedding is None:
        return None
    return Embedding(name=embedding.name, embed=KeptVectors(embedding.texts))


@contextmanager
def opened_rows(
    embedding: Embedding | None,
    *,
    similarity_order: bool = False,
    whole_turns: bool = False,
    weights_for: WeightsFor | None = None,
) -> Iterator[Callable[[str], Rows]]:
    """From the name of a conversation or film to rows that know nothing yet; those that need
    embeddings only with one. With ``similarity_order`` Chroma's best are measured in that order
    too, beside the order of time. ``whole_turns`` adds the row of whole turns in recallm's order.
    With ``weights_for`` recallm's default ranking uses the weights for that name."""
    extractor = Extractor(RecallConfig())
    question = lru_cache(maxsize=4096)(extractor.question)
    paper = RecallConfig(ranking="paper")
    ement = RecallConfig(ranking="ement")

    def sentences(text: str) -> list[str]:
        return [text[each.start : each.end] for each in extractor.extract(text).statements]

    with closing(open_store(None)[0]) as store:

        def rows(unit: str) -> Rows:
            weights = None if weights_for is None else weights_for(unit)
            # What is measured is an order: nothing of it is left out.
            config = RecallConfig(weights=weights, fill=True)
            writer = RecallM(store, namespace=unit, config=config)
            rankers: list[Ranker] = [
                Paper(PAPER_ROW, RecallM(store, namespace=unit, config=paper)),
                Memory(STATEMENTS_ROW, writer),
            ]
            if embedding is not None:

                def embedded(config: RecallConfig) -> RecallM:
                    return RecallM(store, namespace=unit, config=config, embeddings=embedding)

                writer = embedded(config)
                vectors = Vectors(embedding)
                rankers += [Memory(VECTORS_ROW, writer), Ement(EMENT_ROW, embedded(ement))]
                if similarity_order:
                    rankers.append(Peer(SIMILARITY_ROW, vectors, in_time=False))
                rankers.append(Peer(TIME_ROW if similarity_order else CHROMA_ROW, vectors))
            bm25 = Peer(BM25_ROW, BM25(extractor.extract_many, question))
            if whole_turns:
                rankers.append(Turns(TURNS_ROW, Memory(TURNS_ROW, writer), bm25))
            rankers.append(bm25)
            rankers.append(Peer(NEWEST_ROW, Newest(question)))
            return Rows(writer, rankers, sentences)

        yield rows


def _spoken(item: Item) -> str:
    return f"{item.speaker}: {item.text}" if item.speaker else item.text


def _headed(item: Item, text: str) -> str:
    """The line of a text with the head of recallm's lines."""
    spoken = item.text if text == _spoken(item) else text
    return statement_line(spoken, speaker=item.speaker, timestamp=item.timestamp)
