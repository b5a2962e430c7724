"""``ranking="ement"`` and ``ranking="vectors"``: nearness by embedding, with entities and without.

EMENT (Embeddings + Entity Extraction) combines two things, since each finds what the other misses:
the k statements nearest to the question by embedding, and the raw sentences of the question's
entities. Its text holds the nearest first, the very nearest at the top, on its line with those
of its passage; then, after an empty line, the entities' sentences in order of time. Where a limit
cuts, the two take turns. No sentence stands there twice: of equal ones of a speaker the latest.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Any

from recallm.model import ConceptRow, Question, StoredStatement
from recallm.recall.antecedents import RecalledReference, named_references
from recallm.recall.ranking.budget import (
    Budget,
    EqualSentences,
    SentenceKey,
    fit_in_order,
    wanted_statements,
)
from recallm.recall.request import RecallRequest
from recallm.recall.results import (
    RankedConcept,
    RecalledContext,
    RecalledStatement,
    chronological,
    context_lines,
)

_EQUALS = EqualSentences()


@dataclass(frozen=True, slots=True)
class NearStatement:
    """A statement with its cosine where it is one of the nearest, else None."""

    statement: StoredStatement
    cosine: float | None = None


def ement_context(
    question: Question,
    nearest: Sequence[NearStatement],
    of_entities: Sequence[StoredStatement],
    entities: Mapping[str, ConceptRow],
    request: RecallRequest,
) -> RecalledContext:
    """EMENT's context, of the nearest statements and those that mention ``entities``, the
    stored rows of the question's concepts, by name.

    Scores are None: they would be no probabilities. ``contributions["cosine"]`` says how near a
    statement is, where it is one of the nearest.
    """
    sentences = {_EQUALS.key(near.statement) for near in nearest}
    others = _most_mentioning_first(of_entities, entities.keys(), besides=sentences)
    pairs = zip_longest(nearest, map(NearStatement, others))
    turns = [near for pair in pairs for near in pair if near is not None]
    chosen = fit_in_order(turns, _ement_text, Budget.of(request, request.limit))
    names = dict.fromkeys(concept.name for concept in question.concepts)
    rows = [row for row in map(entities.get, names) if row is not None]
    essential = tuple(map(RankedConcept.of, rows))
    return _context(request, _ement_text(chosen), chosen, nearest, essential)


def nearest_context(nearest: Sequence[NearStatement], request: RecallRequest) -> RecalledContext:
    """The nearest statements that the budget holds, in order of time.

    Scores are None: a cosine is no probability. ``contributions["cosine"]`` holds each cosine.
    """
    budget = Budget.of(request, wanted_statements(request))

    def text_of(chosen: Sequence[NearStatement]) -> str:
        return budget.text(chronological(near.statement for near in chosen))

    chosen = fit_in_order(nearest, text_of, budget)
    named = named_references([near.statement for near in chosen])
    return _context(request, text_of(chosen), chosen, nearest, (), named)


def _most_mentioning_first(
    statements: Iterable[StoredStatement],
    entities: AbstractSet[str],
    *,
    besides: Collection[SentenceKey],
) -> list[StoredStatement]:
    """Each sentence once and none of ``besides``: those that mention most of the entities first, of
    these the newest."""
    latest = _EQUALS.distinct(statements)
    newest = chronological(row for key, row in latest.items() if key not in besides)[::-1]
    return sorted(newest, key=lambda row: -len(entities & {each.name for each in row.concepts}))


def _ement_text(chosen: Sequence[NearStatement]) -> str:
    nearest: dict[str, list[StoredStatement]] = defaultdict(list)
    for near in chosen:
        if near.cosine is not None:
            nearest[near.statement.passage_id].append(near.statement)
    of_entities = chronological(near.statement for near in chosen if near.cosine is None)
    parts = (chain.from_iterable(map(chronological, nearest.values())), of_entities)
    texts = ("\n".join(context_lines(part, lambda each: each.text)) for part in parts)
    return "\n\n".join(filter(None, texts))


def _context(
    request: RecallRequest,
    text: str,
    chosen: Sequence[NearStatement],
    nearest: Sequence[NearStatement],
    essential: tuple[RankedConcept, ...],
    named: Mapping[int, tuple[RecalledReference, ...]] | None = None,
) -> RecalledContext:
    """The context of the chosen statements. ``named`` are the references that the text names, by
    the key of the statement; None: as each statement has them."""
    if not chosen:
        return RecalledContext(question=request.question)
    names = {concept.name for concept in essential}
    places = {near.statement.key: number for number, near in enumerate(nearest, start=1)}
    statements: list[RecalledStatement] = []
    for near in chosen:
        row = near.statement
        path = [f"nearest by embedding: number {places[row.key]}"] if row.key in places else []
        path += [
            f"mentions essential concept {mention.label}"
            for mention in row.concepts
            if mention.name in names
        ]
        given: dict[str, Any] = {"path": tuple(path)}
        if near.cosine is not None:
            given["contributions"] = {"cosine": near.cosine}
        if named and row.key in named:
            given["references"] = named[row.key]
        statements.append(RecalledStatement.of(row, **given))
    return RecalledContext(
        question=request.question,
        text=text,
        statements=tuple(chronological(statements)),
        concepts=essential,
        tokens=request.count_tokens(text),
    )
