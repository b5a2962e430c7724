"""A small talk for the tests of the default ranking, its stems and concepts given by hand."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise

import numpy as np

from recallm.english.questions import time_terms
from recallm.ground.config import RecallConfig
from recallm.model import (
    ConceptMention,
    ExtractedStatement,
    Filter,
    Neighbours,
    PreparedUpdate,
    Question,
    StatementVector,
    TemporalIntent,
    TemporalReading,
    Trait,
)
from recallm.recall.ranking.candidates import Candidates
from recallm.recall.recalling import RANKINGS, OpenQuestion
from recallm.recall.request import RecallRequest
from recallm.recall.results import RecalledContext
from recallm.recall.retrieval.candidates import read_candidates
from recallm.recall.retrieval.nearest import EmbeddedQuestion
from recallm.vectors import encode
from tests.store_suite import DictStore

NO_FILTER = Filter()
NOTHING = Trait(0)
MODEL = "hand"
"""The embedding model of ``embedded`` and ``under_model``."""

_RECENCY: dict[TemporalIntent, float] = {"current": 1.0, "neutral": 0.0, "historical": 0.0}


def mention(name: str) -> ConceptMention:
    return ConceptMention(name=name, label=name.title(), kind="noun")


def turn(
    *sentences: str,
    id: str | None = None,
    speaker: str | None = None,
    day: int | None = None,
    session: str | None = "talk",
    traits: Trait = NOTHING,
) -> PreparedUpdate:
    """An update whose words are its stems, and whose words with a capital are concepts too.

    A sentence that ends in a question mark has the trait QUESTION beside ``traits``.
    """
    said_by = () if speaker is None else (mention(speaker.lower()),)
    text = " ".join(sentences)
    statements: list[ExtractedStatement] = []
    pairs: list[Neighbours] = []
    start = 0
    for position, sentence in enumerate(sentences):
        words = [word.strip(".,?!") for word in sentence.split()]
        named = tuple(mention(word.lower()) for word in words if word[:1].isupper())
        pairs += (
            Neighbours(
                a=min(one.name, other.name),
                b=max(one.name, other.name),
                earlier=position,
                later=position,
            )
            for one, other in pairwise(named)
        )
        asks = Trait.QUESTION if sentence.endswith("?") else Trait(0)
        statements.append(
            ExtractedStatement(
                position=position,
                start=start,
                end=start + len(sentence),
                terms=tuple(word.lower() for word in words if word),
                concepts=tuple(dict.fromkeys((*said_by, *named))),
                traits=traits | asks,
            )
        )
        start += len(sentence) + 1
    return PreparedUpdate(
        id=id or f"{session}/{speaker}: {text}",
        text=text,
        statements=tuple(statements),
        neighbours=tuple(pairs),
        speaker=speaker,
        speaker_concept=speaker.lower() if speaker else None,
        timestamp=datetime(2024, 3, day, tzinfo=UTC) if day else None,
        session=session,
    )


def embedded(update: PreparedUpdate, *vectors: Sequence[float] | None) -> PreparedUpdate:
    """The update with a vector for each of its statements; None: with none."""
    blobs = enumerate(None if vector is None else encode(vector) for vector in vectors)
    return replace(
        update,
        vectors=tuple(
            StatementVector(position=position, model=MODEL, blob=blob)
            for position, blob in blobs
            if blob is not None
        ),
    )


def under_model(*vector: float) -> EmbeddedQuestion:
    """A question's vector, to which nothing is found that its words do not find."""
    found = np.array(vector)
    return EmbeddedQuestion(
        model=MODEL, vector=found / np.linalg.norm(found), nearest=lambda *_: ()
    )


def asked(
    text: str,
    *concepts: str,
    asks: Trait = NOTHING,
    intent: TemporalIntent = "neutral",
    time: TemporalReading | None = None,
) -> Question:
    """A question whose words are its stems; ``time`` takes the place of what ``intent`` says."""
    words = (word.strip(".,?!").lower() for word in text.split())
    reading = time or TemporalReading(
        intent=intent,
        recency=_RECENCY[intent],
        order="latest" if intent == "current" else "any",
    )
    return Question(
        text=text,
        terms=tuple(dict.fromkeys(words)),
        concepts=tuple(map(mention, concepts)),
        asks=asks,
        time=reading,
        time_terms=time_terms(reading),
    )


def store_of(*updates: PreparedUpdate) -> DictStore:
    store = DictStore()
    store.apply("n", updates)
    return store


def candidates(
    store: DictStore,
    question: Question,
    *,
    where: Filter = NO_FILTER,
    under: EmbeddedQuestion | None = None,
    namespace: str = "n",
) -> Candidates | None:
    with store.reader(namespace) as reader:
        request = RecallRequest(question=question.text, where=where)
        return read_candidates(reader, question, under, request)


FILL = RecallConfig(fill=True)
"""Settings with which a recall shows its whole order."""


def recall(
    store: DictStore,
    question: Question,
    *,
    limit: int | None = None,
    max_tokens: int | None = None,
    where: Filter = NO_FILTER,
    min_score: float | None = None,
    as_of: int | None = None,
    config: RecallConfig | None = None,
    under: EmbeddedQuestion | None = None,
    namespace: str = "n",
) -> RecalledContext:
    """Recall all that the budget holds, with a token for each four characters."""
    request = RecallRequest(
        question=question.text,
        config=config or FILL,
        where=where,
        limit=limit,
        max_tokens=max_tokens,
        min_score=min_score,
        as_of=as_of,
    )
    with store.reader(namespace, request.horizon) as reader:
        return RANKINGS["statements"].recall(OpenQuestion(question, reader, under), request)


def texts(context: RecalledContext) -> list[str]:
    return [statement.text for statement in context.statements]


def best(context: RecalledContext, among: Collection[str] | None = None) -> str:
    """The text of the statement with the best score."""
    kept = [
        statement for statement in context.statements if among is None or statement.text in among
    ]
    return max(kept, key=lambda statement: statement.score or 0.0).text
