"""From a question that a user asks to a recalled context: its arguments checked, the question read
by extraction and by the embedding model, and handed to the ranking that the settings name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from recallm import checks
from recallm.config import RecallConfig
from recallm.errors import InvalidInputError
from recallm.model import Filter, Horizon, Question
from recallm.results import RecalledContext
from recallm.retrieval import (
    rank_passages,
    recall_ement,
    recall_nearest,
    recall_paper,
    recall_statements,
)
from recallm.retrieval.similarity import AskedVector
from recallm.stores.base import GraphReader, GraphStore
from recallm.vectors.statements import QuestionVector, StatementVectors

if TYPE_CHECKING:
    from recallm.extraction import Extractor

__all__ = [
    "OpenQuestion",
    "RankingName",
    "Recaller",
    "Wanted",
    "check_probabilities",
    "check_ranking",
    "checked_wanted",
]

RankingName: TypeAlias = Literal["statements", "paper", "ement", "vectors"]

_NOTHING_NEAR = AskedVector(model="", vector=np.zeros(0), nearest=lambda _: ())
"""Of a namespace that has no vectors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The arguments of one ``recall``, checked."""

    question: str
    limit: int | None
    max_tokens: int | None
    as_of: int | datetime | None
    where: Filter
    min_score: float | None
    known: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenQuestion:
    """A question as extraction reads it, and under the embedding model where there is one, with
    the reader that it is answered from."""

    question: Question
    reader: GraphReader
    vector: AskedVector | None


def check_ranking(ranking: str, *, embedded: bool) -> None:
    """Refuse a ranking that needs embeddings where there are none.

    Raises:
        InvalidInputError: it does.

    """
    if ranking in ("ement", "vectors") and not embedded:
        raise InvalidInputError(
            f"ranking={ranking!r} needs embeddings: give RecallM(embeddings=…), "
            "'default' or an embedding model",
            argument="embeddings",
        )


def check_probabilities(ranking: str, argument: str) -> None:
    """Refuse what ``argument`` asks for where the scores of a ranking are no probabilities.

    Raises:
        InvalidInputError: they are none.

    """
    if ranking != "statements":
        wanted = {"order": "order='score'"}.get(argument, argument)
        raise InvalidInputError(
            f"{wanted} needs ranking='statements': ranking={ranking!r} gives statements no "
            "probabilities; memory.with_ranking('statements') is the same memory ranked so",
            argument=argument,
        )


def checked_wanted(
    question: object,
    *,
    limit: object,
    max_tokens: object,
    as_of: object,
    since: object,
    until: object,
    speaker: object,
    session: object,
    metadata: object,
    path: object,
    min_score: object,
    known: object,
    ranking: str,
) -> Wanted:
    """The arguments of ``recall`` with this ranking.

    Raises:
        InvalidInputError: one cannot be used.

    """
    asked = checks.string(question, "question")
    limit = checks.count(limit, "limit")
    max_tokens = checks.count(max_tokens, "max_tokens")
    as_of = checks.moment(as_of, "as_of")
    where = checks.statement_filter(
        since=since, until=until, speaker=speaker, session=session, metadata=metadata, path=path
    )
    least = checks.probability(min_score, "min_score")
    if least is not None:
        check_probabilities(ranking, "min_score")
    return Wanted(
        question=asked,
        limit=limit,
        max_tokens=max_tokens,
        as_of=as_of,
        where=where,
        min_score=least,
        known=frozenset(checks.strings(known, "known")),
    )


class Recaller:
    """Recalls from one namespace. ``vectors`` is None where the memory has no embeddings;
    ``clock`` says when a question is asked."""

    def __init__(
        self,
        store: GraphStore,
        namespace: str,
        extractor: Extractor,
        vectors: StatementVectors | None,
        *,
        config: RecallConfig,
        count_tokens: Callable[[str], int],
        clock: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._namespace = namespace
        self._extractor = extractor
        self._vectors = vectors
        self._config = config
        self._count_tokens = count_tokens
        self._clock = clock

    def recall(self, wanted: Wanted) -> RecalledContext:
        """What the ranking of the settings finds.

        Raises:
            EmbeddingModelError: the namespace's vectors are of another model.
            EmbeddingError: the model failed.
            StoreError: the store failed.

        """
        horizon = Horizon(as_of=wanted.as_of, now=self._clock())
        asked_at = wanted.as_of if isinstance(wanted.as_of, datetime) else horizon.now
        with self.opened(wanted.question, where=wanted.where, horizon=horizon) as it:
            ranking = self._config.ranking
            if ranking == "statements":
                return recall_statements(
                    it.reader,
                    it.question,
                    config=self._config,
                    where=wanted.where,
                    limit=wanted.limit,
                    max_tokens=wanted.max_tokens,
                    count_tokens=self._count_tokens,
                    min_score=wanted.min_score,
                    known=wanted.known,
                    asked=it.vector,
                    now=asked_at,
                )
            if ranking == "paper":
                return recall_paper(
                    it.reader,
                    it.question,
                    config=self._config,
                    where=wanted.where,
                    limit=wanted.limit,
                    max_tokens=wanted.max_tokens,
                    count_tokens=self._count_tokens,
                    known=wanted.known,
                )
            nearest = recall_ement if ranking == "ement" else recall_nearest
            return nearest(
                it.reader,
                it.question,
                config=self._config,
                where=wanted.where,
                limit=wanted.limit,
                max_tokens=wanted.max_tokens,
                count_tokens=self._count_tokens,
                known=wanted.known,
                asked=it.vector or _NOTHING_NEAR,
            )

    def passages(self, reader: GraphReader, question: str, where: Filter) -> Mapping[str, float]:
        """The ids of the passages that ``reader`` sees, that meet ``where`` and that have to do
        with ``question``, best first, each with the probability of its best statement."""
        analysed = self._extractor.question(question)
        asked = self._asked(question)
        return rank_passages(
            reader,
            analysed,
            config=self._config,
            where=where,
            asked=self._vector(asked, reader, where, past=False),
            now=self._clock(),
        )

    @contextmanager
    def opened(self, question: str, *, where: Filter, horizon: Horizon) -> Iterator[OpenQuestion]:
        """``question``, to be answered from the statements within ``horizon`` that meet
        ``where``, for as long as the context lasts."""
        analysed = self._extractor.question(question)
        asked = self._asked(question) if self._config.ranking != "paper" else None
        with self._store.reader(self._namespace, horizon) as reader:
            past = horizon.as_of is not None
            vector = self._vector(asked, reader, where, past=past)
            yield OpenQuestion(question=analysed, reader=reader, vector=vector)

    def _asked(self, question: str) -> QuestionVector | None:
        return (
            None
            if self._vectors is None
            else self._vectors.embed_question(self._namespace, question)
        )

    def _vector(
        self, asked: QuestionVector | None, reader: GraphReader, where: Filter, *, past: bool
    ) -> AskedVector | None:
        if self._vectors is None or asked is None:
            return None
        return AskedVector(
            model=self._vectors.model,
            vector=asked.vector.astype(np.float64),
            nearest=self._vectors.finder(self._namespace, asked, reader, where, past=past),
        )
