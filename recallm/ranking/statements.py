"""``ranking="statements"``, the default: a linear model over signals orders single statements.

The paper returns the whole contexts of concepts; they repeat sentences and bury the one that
answers. Here each candidate gets a probability that it helps to answer, the best are chosen within
the budget, and they stand in order of time.

Where a question asks for all that there is ("Which bands has Dave enjoyed?"), different answers
come before paraphrases of one, as in maximal marginal relevance: a statement is worth less each
time that all its names were given by those before it, or all its concepts where it names nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from recallm.model import Passage, StoredStatement, Trait, readable_term
from recallm.ranking.budget import SHORTEST_LINE, Budget, context_text, fit_by_worth
from recallm.ranking.candidates import Candidates
from recallm.ranking.concepts import NAME_KINDS
from recallm.ranking.signals import SIGNALS, Weights, load_tables, measure
from recallm.ranking.stem_counts import Floats
from recallm.ranking.time import dated
from recallm.recall_request import RecallRequest
from recallm.results import RankedConcept, RecalledContext, RecalledStatement, chronological
from recallm.untrusted_text import one_line

__all__ = [
    "RankedStatements",
    "context_of_statements",
    "passage_scores",
    "rank",
    "rank_measured",
    "statement_budget",
    "wanted_statements",
]

_REPETITION_WORTH = 0.1
"""What is left of a statement's worth for each time that what it gives was given before it."""

_COVERED = 30
"""How many of the best are ordered anew; those after them keep their places."""


# The linear model.


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedStatements:
    """Statements, the probability that each helps to answer (``scores``), and ``order``: the
    places of those that may be recalled, best first, the newest of equals first.

    ``worth`` is what each adds to a context; tokens are spent by it. ``added[i, j]`` is what
    signal j added to the log-odds of statement i, beside ``intercept``.
    """

    statements: tuple[StoredStatement, ...]
    scores: Floats
    added: Floats
    order: tuple[int, ...]
    worth: Floats
    intercept: float = 0.0

    def contributions(self, place: int) -> Mapping[str, float]:
        """What each signal added for one statement: with the intercept they make its score."""
        return dict(zip(SIGNALS, self.added[place].tolist(), strict=True))


def rank(
    candidates: Candidates, request: RecallRequest, *, repeats: bool = False
) -> RankedStatements:
    """The candidates, ordered with the weights of the settings (``rank_measured``)."""
    tables = load_tables(request.config.weights)
    weights = tables.words if candidates.question_vector is None else tables.vectors
    values = measure(candidates, weights.signals)
    return rank_measured(
        candidates,
        values,
        weights,
        min_score=request.min_score,
        known=request.known,
        repeats=repeats,
    )


def rank_measured(
    candidates: Candidates,
    values: Floats,
    weights: Weights,
    *,
    min_score: float | None = None,
    known: Collection[str] = (),
    repeats: bool = False,
) -> RankedStatements:
    """Order candidates by their signals (``values``, as ``measure`` gives them).

    Left out of the order are statements under ``min_score``, those of the passages ``known`` and,
    unless ``repeats``, questions that stand in this question word for word: they say nothing that
    it does not.
    """
    statements = candidates.statements
    added = values * np.array([weights.signals.get(name, 0.0) for name in SIGNALS])
    odds = added.sum(axis=1) + weights.intercept
    scores: Floats = np.exp(-np.logaddexp(0.0, -odds))
    order = np.lexsort((-candidates.keys, -scores))
    if min_score is not None:
        order = order[scores[order] >= min_score]
    asked = one_line(candidates.question.text).casefold()
    return RankedStatements(
        statements=statements,
        scores=scores,
        worth=scores,
        added=added,
        order=tuple(
            place
            for place in order.tolist()
            if statements[place].passage_id not in known
            and (repeats or not _repeats(statements[place], asked))
        ),
        intercept=weights.intercept,
    )


def _repeats(statement: StoredStatement, asked: str) -> bool:
    """Whether a statement is a question that stands in ``asked`` word for word."""
    is_question = bool(statement.traits & Trait.QUESTION)
    return is_question and one_line(statement.text).casefold() in asked


# All that there is.


def cover(ranked: RankedStatements, candidates: Candidates) -> RankedStatements:
    """The order with statements that give something new first; ``worth`` says what each adds to
    those before it. The scores stay."""
    asked = {*candidates.essential, *candidates.speakers}
    left = list(ranked.order[:_COVERED])
    concepts = {place: _own_concepts(ranked.statements[place], asked) for place in left}
    all_names = {
        mention.name
        for place in left
        for mention in ranked.statements[place].concepts
        if mention.kind in NAME_KINDS
    }
    worth = ranked.worth.copy()
    order: list[int] = []
    given: Counter[str] = Counter()
    while left:
        gains = {
            place: worth[place]
            * _REPETITION_WORTH
            ** min(
                (given[name] for name in concepts[place] & all_names or concepts[place]), default=0
            )
            for place in left
        }
        best = max(left, key=gains.__getitem__)
        worth[best] = gains[best]
        given.update(concepts[best])
        order.append(best)
        left.remove(best)
    return replace(ranked, order=(*order, *ranked.order[_COVERED:]), worth=worth)


def _own_concepts(statement: StoredStatement, asked: set[str]) -> frozenset[str]:
    """What a statement mentions beside its speaker and what the question names."""
    return frozenset(
        mention.name
        for mention in statement.concepts
        if mention.name not in asked and mention.name != statement.speaker_concept
    )


# The context.


def statement_budget(request: RecallRequest) -> Budget:
    """The budget of a request: ``config.limit`` statements where it names no budget."""
    limit = request.limit
    if limit is None and request.max_tokens is None:
        limit = request.config.limit
    return Budget(limit=limit, max_tokens=request.max_tokens, count_tokens=request.count_tokens)


def wanted_statements(request: RecallRequest) -> int:
    """How many statements the budget may hold, and those of known passages beside them."""
    budget = statement_budget(request)
    most = budget.limit if budget.limit is not None else (budget.max_tokens or 0) // SHORTEST_LINE
    return most + len(request.known)


def context_of_statements(candidates: Candidates, request: RecallRequest) -> RecalledContext:
    """The statements that help most to answer, in order of time; empty where none may be
    recalled."""
    question = candidates.question
    time = dated(question.time, candidates.dates)
    ranked = rank(candidates, request)
    if question.time.spread:
        ranked = cover(ranked, candidates)
    places = fit_by_worth(
        ranked.statements, ranked.order, ranked.worth, statement_budget(request), question.time
    )
    if not places:
        return RecalledContext(question=question.text, time=time)
    place_of = {ranked.statements[place].key: place for place in places}
    chosen = chronological(ranked.statements[place] for place in places)
    text = context_text(chosen)
    return RecalledContext(
        question=question.text,
        text=text,
        statements=tuple(
            _recalled(statement, candidates, ranked, place_of[statement.key])
            for statement in chosen
        ),
        concepts=tuple(_concepts(candidates, chosen)),
        tokens=request.count_tokens(text),
        intercept=ranked.intercept,
        time=time,
    )


def _recalled(
    statement: StoredStatement, candidates: Candidates, ranked: RankedStatements, place: int
) -> RecalledStatement:
    score = float(ranked.scores[place])
    contributions = ranked.contributions(place)
    summary = candidates.summaries.get(statement.passage_id)
    if summary is not None and statement.key not in candidates.context:
        revised = RecalledStatement.of_summary(summary, score=score, contributions=contributions)
        return replace(revised, timestamp=statement.timestamp)
    return RecalledStatement.of(
        statement,
        score=score,
        contributions=contributions,
        path=tuple(_path(statement, candidates)),
    )


def _path(statement: StoredStatement, candidates: Candidates) -> Iterator[str]:
    """How the graph led from the question to ``statement``."""
    held = [term for term in candidates.terms if term in statement.terms]
    if held:
        yield f"holds: {', '.join(dict.fromkeys(map(readable_term, held)))}"
    for mention in statement.concepts:
        if mention.name in candidates.speakers:
            said = statement.speaker is not None and mention is statement.concepts[0]
            yield f"said by {mention.label}" if said else f"mentions {mention.label}"
        elif mention.name in candidates.essential:
            yield f"mentions essential concept {mention.label}"
        elif mention.name in candidates.activation:
            through = candidates.activation[mention.name].through
            label = candidates.essential[through].label
            yield f"neighbour of {label}: {mention.label}"
    for beside, place in ((statement.previous, "follows"), (statement.next, "stands before")):
        other = candidates.context.get(beside) if beside is not None else None
        shared = [term for term in candidates.terms if term in other.terms] if other else []
        if other is not None and shared:
            what = "question" if other.traits & Trait.QUESTION else "statement"
            yield f"{place} a matching {what}: {', '.join(shared)}"


def _concepts(candidates: Candidates, chosen: Sequence[StoredStatement]) -> list[RankedConcept]:
    """The question's concepts in its order, then the neighbours that led to what was chosen."""
    named = (candidates.essential.get(one.name) for one in candidates.question.concepts)
    essential = [
        RankedConcept(
            name=row.name, label=row.label, t_index=row.t_index, score=1.0, essential=True
        )
        for row in named
        if row is not None
    ]
    mentioned = {mention.name for statement in chosen for mention in statement.concepts}
    activated = (candidates.activation[name] for name in mentioned & candidates.activation.keys())
    return essential + [
        RankedConcept(
            name=one.concept.name,
            label=one.concept.label,
            t_index=one.concept.t_index,
            score=one.value,
            essential=False,
        )
        for one in sorted(activated, key=lambda one: (-one.value, one.concept.name))
    ]


# Whole passages.


def passage_scores(
    ranked: RankedStatements, question: str, first_passages: Mapping[str, Passage]
) -> dict[str, float]:
    """The ids of the passages, best first, each with the probability of its best statement.

    Before them, with 1, stand those that say the very text of ``question``: as a whole, as a
    statement, or after a label ("team: IT"). ``first_passages`` are those of ``may_say``.
    """
    asked = _folded(question)
    statements = [ranked.statements[place] for place in ranked.order]
    best = {
        one.passage_id: 1.0
        for one in statements
        if asked and (_is(one.text, asked) or _passage_is(one, asked, first_passages))
    }
    for place, one in zip(ranked.order, statements, strict=True):
        best.setdefault(one.passage_id, float(ranked.scores[place]))
    return best


def may_say(ranked: RankedStatements, question: str) -> list[str]:
    """The ids of the passages whose whole text may be that of ``question``: their first statement
    stands in it, and is not the whole of it."""
    asked = _folded(question)
    return [
        one.passage_id
        for one in map(ranked.statements.__getitem__, ranked.order)
        if asked and _begins(one, asked) and not _is(one.text, asked)
    ]


def _begins(one: StoredStatement, asked: str) -> bool:
    return not one.position and _folded(one.text).rpartition(": ")[2] in asked


def _passage_is(one: StoredStatement, asked: str, passages: Mapping[str, Passage]) -> bool:
    passage = passages.get(one.passage_id) if _begins(one, asked) else None
    return passage is not None and _is(passage.text, asked)


def _is(text: str, asked: str) -> bool:
    """Whether a text, or what stands after its label, is ``asked``."""
    said = _folded(text)
    return asked in (said, said.partition(": ")[2])


def _folded(text: str) -> str:
    return one_line(text).casefold()
