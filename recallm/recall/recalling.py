"""The road of a question to its context: a checked request, a reader, a ranking from the table.

text ─ checked_request ─▶ RecallRequest ─ extraction, embedding ─▶ Question, EmbeddedQuestion
─ RANKINGS[name]: retrieval reads candidates, ranking orders them ─▶ RecalledContext
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from recallm.errors import InvalidInputError
from recallm.ground import checks
from recallm.ground.config import RankingName, RecallConfig
from recallm.ground.untrusted_text import one_line
from recallm.model import Question, StoredStatement, parse_statement_id, statement_key
from recallm.recall.contexts import concept_contexts
from recallm.recall.prompts import ement_prompt, question_prompt
from recallm.recall.ranking.budget import wanted_statements
from recallm.recall.ranking.candidates import Candidates
from recallm.recall.ranking.ement import ement_context, nearest_context
from recallm.recall.ranking.linear_model import context_of_statements, rank
from recallm.recall.ranking.paper import (
    context_of_concepts,
    ranked_concepts,
    symbolically_revised,
)
from recallm.recall.ranking.tracing import Trace
from recallm.recall.request import ROLES_OF_PERSONS, RecallRequest
from recallm.recall.results import RecalledContext
from recallm.recall.retrieval.candidates import read_candidates
from recallm.recall.retrieval.nearest import (
    EmbeddedQuestion,
    meets,
    read_entity_statements,
    read_nearest,
)
from recallm.recall.retrieval.relations import RelationIndex, RelationIndexes
from recallm.recall.retrieval.subgraph import read_subgraph
from recallm.recall.retrieval.superseded import outdated_statements
from recallm.stores.base import GraphReader, GraphStore
from recallm.vectors.arrays import Vector
from recallm.vectors.statements import StatementVectors

if TYPE_CHECKING:
    from recallm.english.extractor import Extractor


class OpenQuestion(NamedTuple):
    """A question as extraction reads it, the reader that it is answered from, its vector under the
    embedding model (None where there is no model or no vector yet), and the relations of the
    namespace's triplets (None where it has no triplet)."""

    question: Question
    reader: GraphReader
    vector: EmbeddedQuestion | None
    relations: RelationIndex | None = None


# Rankings.


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """How a ranking recalls, and what it needs.

    ``recall`` reads candidates and orders them. ``embeddings`` says whether the memory's embeddings
    are required, used where there are any, or unused. ``has_probabilities``: its scores are
    probabilities, so that ``min_score`` and an order by score mean something. ``prompt`` makes the
    prompt of ``ask`` from a question and a context.
    """

    recall: Callable[[OpenQuestion, RecallRequest], RecalledContext]
    embeddings: Literal["required", "optional", "unused"]
    has_probabilities: bool = False
    prompt: Callable[[str, str], str] = question_prompt


def _recall_statements(asked: OpenQuestion, request: RecallRequest) -> RecalledContext:
    candidates = _candidates(asked, request)
    if candidates is None:
        return RecalledContext(question=request.question, time=asked.question.time, confidence=0.0)
    return context_of_statements(candidates, request)


def _candidates(asked: OpenQuestion, request: RecallRequest) -> Candidates | None:
    return read_candidates(asked.reader, asked.question, asked.vector, request, asked.relations)


def _recall_paper(asked: OpenQuestion, request: RecallRequest) -> RecalledContext:
    question, reader, _, index = asked
    config = request.config
    nodes, relations, essential = read_subgraph(reader, question, config)
    ranked = ranked_concepts(nodes.values(), relations, essential, config.temporal_weight)
    ranked = ranked[: request.limit or config.max_concepts]
    rows = [nodes[concept.name] for concept in ranked]
    is_symbolic = config.revision == "symbolic"
    contexts = concept_contexts(
        reader, rows, where=request.where, known=request.known, with_summaries=not is_symbolic
    )
    if is_symbolic:
        lines = chain.from_iterable(contexts.values())
        stated = {row.key: row for row in lines if isinstance(row, StoredStatement)}
        outdated = outdated_statements(reader, index, stated.values())
        contexts = symbolically_revised(contexts, outdated)
    return context_of_concepts(ranked, contexts, request)


def _recall_ement(asked: OpenQuestion, request: RecallRequest) -> RecalledContext:
    question, reader, vector, *_ = asked
    nearest = read_nearest(reader, vector, request, wanted=request.config.neighbours)
    of_entities, entities = read_entity_statements(reader, question, request)
    return ement_context(question, nearest, of_entities, entities, request)


def _recall_nearest(asked: OpenQuestion, request: RecallRequest) -> RecalledContext:
    _, reader, vector, *_ = asked
    nearest = read_nearest(reader, vector, request, wanted=wanted_statements(request))
    return nearest_context(nearest, request)


RANKINGS: Mapping[RankingName, Ranking] = MappingProxyType(
    {
        "statements": Ranking(
            recall=_recall_statements, embeddings="optional", has_probabilities=True
        ),
        "paper": Ranking(recall=_recall_paper, embeddings="unused"),
        "ement": Ranking(recall=_recall_ement, embeddings="required", prompt=ement_prompt),
        "vectors": Ranking(recall=_recall_nearest, embeddings="required"),
    }
)
"""Every ranking by its name in ``RecallConfig.ranking``."""


# The door.


def check_ranking(name: RankingName, *, embedded: bool) -> None:
    """Refuse (``InvalidInputError``) a ranking that needs embeddings where the memory has none."""
    if RANKINGS[name].embeddings == "required" and not embedded:
        raise InvalidInputError(
            f"ranking={name!r} needs embeddings: give RecallM(embeddings=…), "
            "'default' or an embedding model",
            argument="embeddings",
        )


def check_probabilities(name: RankingName, argument: str) -> None:
    """Refuse (``InvalidInputError``) ``argument``, which needs probabilities, where the ranking
    gives none."""
    if RANKINGS[name].has_probabilities:
        return
    shown = {"order": "order='score'"}.get(argument, argument)
    able = " or ".join(
        repr(each) for each, ranking in RANKINGS.items() if ranking.has_probabilities
    )
    raise InvalidInputError(
        f"{shown} needs ranking={able}: ranking={name!r} gives statements no "
        f"probabilities; memory.with_ranking({able}) is the same memory ranked so",
        argument=argument,
    )


def checked_request(
    question: object,
    given: Mapping[str, object],
    *,
    now: datetime,
    config: RecallConfig,
    count_tokens: Callable[[str], int],
) -> RecallRequest:
    """The arguments of ``RecallM.recall``, checked, with the settings of the memory. ``given`` are
    those beside the question, whose names are known.

    Raises:
        InvalidInputError: an argument cannot be used, or not with this ranking.

    """
    request = RecallRequest(
        question=checks.string(question, "question"),
        limit=checks.count(given.get("limit"), "limit"),
        max_tokens=checks.count(given.get("max_tokens"), "max_tokens"),
        as_of=checks.moment(given.get("as_of"), "as_of"),
        where=checks.statement_filter(given),
        min_score=checks.probability(given.get("min_score"), "min_score"),
        known=frozenset(checks.strings(given.get("known", ()), "known")),
        asker=checks.optional_name(given.get("asker"), "asker"),
        now=now,
        config=config,
        count_tokens=count_tokens,
    )
    if request.min_score is not None:
        check_probabilities(config.ranking, "min_score")
    return request


# Recalling.


class Recaller:
    """Recalls from one namespace. ``vectors`` is None where the memory has no embeddings.
    ``indexes`` are those of the relations of the store's triplets."""

    def __init__(
        self,
        store: GraphStore,
        namespace: str,
        extractor: Extractor,
        vectors: StatementVectors | None,
        indexes: RelationIndexes,
    ) -> None:
        self._store = store
        self._namespace = namespace
        self._extractor = extractor
        self._vectors = vectors
        self._indexes = indexes

    def recall(self, request: RecallRequest) -> RecalledContext:
        """What the ranking of the settings finds.

        Raises:
            EmbeddingModelError: the namespace's vectors are of another model.
            EmbeddingError: the model failed.
            StoreError: the store failed.

        """
        with self.opened(request) as asked:
            return RANKINGS[request.config.ranking].recall(asked, request)

    def explain(self, request: RecallRequest, id: str) -> str:
        """Why the context of the default ranking has the statement with this id, or has not.

        Raises:
            EmbeddingError: the model failed.
            StoreError: the store failed.

        """
        with self.opened(request) as asked:
            candidates = _candidates(asked, request)
            if candidates is not None:
                trace = Trace(candidates)
                context = context_of_statements(candidates, request, trace)
                shown = tuple(each for each in context.statements if each.id == id)
                if shown:
                    return f"handed over\n{replace(context, statements=shown).explain()}"
                if reason := trace.reason(id):
                    return f"left out: {reason}"
            passage, position = parse_statement_id(id) or (id, 0)
            found = asked.reader.passages(ids=[passage])
            rows = asked.reader.statements(
                [statement_key(each.t_index, position) for each in found]
            )
            if not rows:
                return "not found: this view of the memory holds no statement with that id"
            if not meets(rows[0], request.where):
                return "left out: the filter excludes it"
            return "not found: none of the question's words, names and neighbours leads to it"

    @contextmanager
    def opened(self, request: RecallRequest) -> Iterator[OpenQuestion]:
        """The question, to be answered from what its horizon shows for as long as the context
        lasts."""
        question = self._extractor.question(request.question, asker=request.asker)
        uses_vectors = RANKINGS[request.config.ranking].embeddings != "unused"
        with self._store.reader(self._namespace, request.horizon) as reader:
            question = self._asked_by_a_role(question, reader)
            vector = self._embedded(question, reader, request) if uses_vectors else None
            relations = self._indexes.of(self._namespace, reader)
            yield OpenQuestion(question, reader, vector, relations)

    def passages(self, reader: GraphReader, request: RecallRequest) -> Mapping[str, float]:
        """The ids of the visible passages that match the question, best first, each with the
        probability of its best statement, by the default ranking without facts. Before them stand,
        with 1, those that equal the question or have a statement that does, with or without a label
        ("team: IT"). Equal passages all stay. ``candidate_limit`` candidates are read, so that
        pages follow one order."""
        question = self._extractor.question(request.question, asker=request.asker)
        question = self._asked_by_a_role(question, reader)
        vector = self._embedded(question, reader, request)
        wide = replace(request, limit=request.config.candidate_limit)
        candidates = read_candidates(reader, question, vector, wide)
        if candidates is None:
            return {}
        ranked = rank(candidates, request, repeats=True)
        rows = [ranked.statements[place] for place in ranked.order]
        asked = _folded(request.question)
        # The first statement may be a part of the text alone.
        begun = {
            row.passage_id
            for row in rows
            if not row.position and _folded(row.text).rpartition(": ")[2] in asked
        }
        texts = {each.id: each.text for each in reader.passages(ids=begun)} if begun else {}
        best = {
            row.passage_id: 1.0
            for row in rows
            if asked
            and (
                _equals(row.text, asked)
                or (not row.position and _equals(texts.get(row.passage_id, ""), asked))
            )
        }
        for place, row in zip(ranked.order, rows, strict=True):
            best.setdefault(row.passage_id, float(ranked.scores[place]))
        return best

    def _asked_by_a_role(self, question: Question, reader: GraphReader) -> Question:
        """The question; where it says "I" and nobody says who asks, as a speaker with the role of
        a person asks it, if the memory has one."""
        if not question.asks_of_asker or question.asker is not None:
            return question
        # A text about "a human" makes a concept, too: whoever speaks is mentioned most.
        known = sorted(reader.concepts(ROLES_OF_PERSONS), key=lambda row: -row.statements)
        return self._extractor.asked_by(question, known[0].label) if known else question

    def _embedded(
        self, question: Question, reader: GraphReader, request: RecallRequest
    ) -> EmbeddedQuestion | None:
        """The question under the memory's model; None where there are no vectors."""
        vector = self._vector_of(question.text, reader)
        if self._vectors is None or vector is None:
            return None
        asked = None
        if question.when is not None:
            asked = self._vector_of(f"{question.when.asked}?", reader)
        past = request.as_of is not None
        return EmbeddedQuestion(
            model=self._vectors.model,
            vector=vector.astype(np.float64),
            nearest=self._vectors.finder(self._namespace, vector, reader, request.where, past=past),
            asked=None if asked is None else asked.astype(np.float64),
        )

    def _vector_of(self, text: str, reader: GraphReader) -> Vector | None:
        if self._vectors is None:
            return None
        return self._vectors.embed_question(self._namespace, text, reader)


def _equals(text: str, asked: str) -> bool:
    """Whether a text equals ``asked``, with or without its label ("team: ")."""
    folded = _folded(text)
    return asked in (folded, folded.partition(": ")[2])


def _folded(text: str) -> str:
    return one_line(text).casefold()
