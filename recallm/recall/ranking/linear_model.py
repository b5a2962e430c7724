"""``ranking="statements"``, the default: a linear model over signals orders single statements.

The paper returns complete contexts of concepts; they repeat sentences and bury the answer. Here
each candidate gets a probability that it helps to answer. The best are chosen within the budget and
put in order of time.

Where a question asks for every answer ("Which bands has Dave enjoyed?"), different answers come
before paraphrases, as in maximal marginal relevance: a statement is worth less each time that
earlier statements gave all its names, or all its concepts if it names nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from logging import DEBUG
from typing import Any

import numpy as np

from recallm.ground.untrusted_text import one_line
from recallm.model import StoredStatement, Trait, readable_term
from recallm.recall.antecedents import RecalledReference, named_references
from recallm.recall.ranking.budget import (
    Budget,
    fit_by_worth,
    limit_of,
    wanted_statements,
)
from recallm.recall.ranking.candidates import Candidates
from recallm.recall.ranking.choosing import (
    LEAST_CONFIDENCE,
    OF_MATTER,
    OF_TIME,
    AskedNames,
    Odds,
    chosen,
    confidence,
)
from recallm.recall.ranking.completing import (
    completed,
    superseded_candidates,
    without_bare_headings,
    without_echoes,
)
from recallm.recall.ranking.concepts import NAME_KINDS, of_other_speakers, spelled
from recallm.recall.ranking.dates import lies_in, within_dates
from recallm.recall.ranking.matches import Matches
from recallm.recall.ranking.replies import of_best_answers, placed
from recallm.recall.ranking.signals import SIGNALS, Weights, load_tables, measure
from recallm.recall.ranking.stem_counts import Floats
from recallm.recall.ranking.succession import places_of_states
from recallm.recall.ranking.tracing import Trace, log
from recallm.recall.request import RecallRequest
from recallm.recall.results import RankedConcept, RecalledContext, RecalledStatement, chronological

_REPETITION_WORTH = 0.7
"""Factor on a statement's worth for each time that earlier statements gave all its names."""

_GREATEST_LEVEL, _ENOUGH = 1.5, 30
"""A level is at most 1.5, up or down, and counts in part where there are fewer than 30 candidates:
the sum of all says little of a memory of two facts."""

_BEHIND_SUCCESSOR = 0.1
"""By how much the log-odds of a former state stay behind those of the latest, at least."""

_SUPERSEDED = [*SIGNALS].index("superseded")

_MOST_DIVERSIFIED = 30
"""Only the first 30 statements are reordered for diversity; the others keep their places."""


# The linear model.


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedStatements:
    """Statements, the probability that each helps to answer (``scores``), and ``order``: the
    places of those that may be recalled, best first, the newest of equals first.

    ``worth`` is what each adds to a context; tokens are spent by it. ``added[i, j]`` is what
    signal j added to the log-odds of statement i, beside ``intercept`` and, in ``scores`` alone,
    ``level``.
    """

    statements: tuple[StoredStatement, ...]
    scores: Floats
    added: Floats
    order: tuple[int, ...]
    worth: Floats
    intercept: float = 0.0
    level: float = 0.0

    def odds(self) -> Odds:
        """The log-odds of each statement, whole and in parts."""
        added = dict(zip(SIGNALS, self.added.T, strict=True))
        whole = self.added.sum(axis=1) + self.intercept
        return Odds(
            whole=whole,
            superseded=added["superseded"],
            matter=np.sum([added[name] for name in OF_MATTER], axis=0),
            timeless=whole - np.sum([added[name] for name in OF_TIME], axis=0),
        )

    def contributions(self, place: int) -> Mapping[str, float]:
        """What each signal added for one statement: with the intercept and the level they make its
        score."""
        return dict(zip(SIGNALS, self.added[place].tolist(), strict=True))


def rank(
    candidates: Candidates, request: RecallRequest, *, repeats: bool = False
) -> RankedStatements:
    """The candidates, ordered with the weights of the settings.

    Left out of the order are statements under the request's ``min_score``, those of the passages
    that it calls known, what others say of themselves where the asker asks about "me", and, unless
    ``repeats``, questions that stand in this question word for word: they say nothing that it does
    not.
    """
    tables = load_tables(request.config.weights)
    weights = tables.words if candidates.question_vector is None else tables.vectors
    values = measure(candidates, weights.signals)
    added = values * np.array([weights.signals.get(name, 0.0) for name in SIGNALS])
    added[:, _SUPERSEDED] -= _above_successors(candidates, added.sum(axis=1))
    odds = added.sum(axis=1) + weights.intercept
    level = _level(odds, weights)
    scores = _probabilities(odds + level)
    order = np.lexsort((-candidates.keys, -scores))
    if request.min_score is not None:
        order = order[scores[order] >= request.min_score]
    left_out = {
        place
        for place, statement in enumerate(candidates.statements)
        if statement.passage_id in request.known
    }
    left_out |= _of_others(candidates)
    if not repeats:
        left_out |= _repeating(candidates)
    return RankedStatements(
        statements=candidates.statements,
        scores=scores,
        worth=_probabilities(odds),
        added=added,
        order=tuple(place for place in order.tolist() if place not in left_out),
        intercept=weights.intercept,
        level=level,
    )


def _probabilities(odds: Floats) -> Floats:
    found: Floats = np.exp(-np.logaddexp(0.0, -odds))
    return found


def _level(odds: Floats, weights: Weights) -> float:
    """What is added to the log-odds of all candidates of a question: less where many are about as
    good as the best of them, since few can be evidence, and more where the best stands alone."""
    if not len(odds):
        return 0.0
    level = float(np.dot(weights.level, (1.0, odds.max(), np.logaddexp.reduce(odds))))
    return min(max(level, -_GREATEST_LEVEL), _GREATEST_LEVEL) * min(1.0, len(odds) / _ENOUGH)


def _above_successors(candidates: Candidates, odds: Floats) -> Floats:
    """By how much the log-odds of each statement of a former state must fall to those of the
    latest statement of that state, where the question asks for the present; 0 for all others."""
    above = np.zeros(len(odds))
    moments = candidates.moments if candidates.states else above
    for places in places_of_states(candidates.states).values():
        latest = max(places, key=moments.__getitem__)
        former = [place for place in places if moments[place] < moments[latest]]
        excess = odds[former] + _BEHIND_SUCCESSOR - odds[latest]
        above[former] = np.maximum(above[former], excess)
    return above


def _repeating(candidates: Candidates) -> set[int]:
    """The places of the questions that stand in this question word for word."""
    asked = one_line(candidates.question.text).casefold()
    questions = np.flatnonzero(candidates.traits & Trait.QUESTION.value).tolist()
    return {
        place
        for place in questions
        if one_line(candidates.statements[place].text).casefold() in asked
    }


def _of_others(candidates: Candidates) -> set[int]:
    """The places of the statements in which a speaker speaks of himself or herself, where the
    question is about the asker: Bob's "I live in Rome" does not say where Ann lives. Whoever asks
    for a person, or names the speaker, may mean others too."""
    asker = candidates.question.asker
    if asker is None or candidates.question.asks & Trait.PERSON:
        return set()
    return of_other_speakers(candidates, {asker, *candidates.speakers})


# Diversity.


def diversified(ranked: RankedStatements, candidates: Candidates) -> RankedStatements:
    """The same statements, those with new names or concepts first. ``worth`` is what each adds to
    the statements before it; the scores do not change."""
    asked = {*candidates.leads.essential, *candidates.speakers}
    left = list(ranked.order[:_MOST_DIVERSIFIED])
    concepts = {
        place: {mention.name for mention in spelled(ranked.statements[place])} - asked
        for place in left
    }
    all_names = {
        mention.name
        for place in left
        for mention in ranked.statements[place].concepts
        if mention.kind in NAME_KINDS
    }
    new = {place: own & all_names or own for place, own in concepts.items()}
    worth = ranked.worth.copy()
    gains = {place: float(worth[place]) for place in left}
    order: list[int] = []
    given: Counter[str] = Counter()
    while left:
        best = max(left, key=gains.__getitem__)
        left.remove(best)
        order.append(best)
        given.update(concepts[best])
        for place in left:
            if not concepts[best].isdisjoint(new[place]):
                times = min(map(given.__getitem__, new[place]))
                gains[place] = float(worth[place]) * _REPETITION_WORTH**times
    worth[order] = [gains[place] for place in order]
    return replace(ranked, order=(*order, *ranked.order[_MOST_DIVERSIFIED:]), worth=worth)


# The context.


def context_of_statements(
    candidates: Candidates, request: RecallRequest, trace: Trace | None = None
) -> RecalledContext:
    """The statements that help most to answer, in order of time; empty where none may be
    recalled. ``trace`` keeps what each rule leaves."""
    question = candidates.question
    # "in 2022 → within 2022-01-01..2022-12-31"
    time = replace(question.time, rules=(*question.time.rules, *map(str, candidates.dates)))
    ranked = rank(candidates, request)
    if question.time.spread:
        ranked = diversified(ranked, candidates)
    if candidates.facts or candidates.stated:
        ranked = _with_endings(_matches_first(ranked, candidates.matches), candidates)
    trace = trace or Trace(candidates)
    trace.scores = ranked.scores
    trace.keep(ranked.order, "under min_score, known, another's, or the question itself")
    superseded = superseded_candidates(candidates)
    budget = Budget.of(request, limit_of(request), superseded)
    wanted = wanted_statements(request)
    order: Sequence[int]
    questions: Mapping[int, int]
    order, questions = placed(ranked.order, candidates, wanted=wanted)
    trace.keep(order, "small talk, or a question without its answer")
    names = AskedNames.of(candidates)
    odds = ranked.odds()
    sure = confidence(order, odds, candidates, names)
    if not request.config.fill:
        order = within_dates(order, candidates)
        trace.keep(order, "of another time than the question asks for")
        order = chosen(order, odds, candidates, sure, names)
        trace.keep(order, _nothing_known(names) if not order else _too_unlikely(sure))
        order = without_echoes(order, candidates)
        trace.keep(order, "an echo of what was said")
    questions = of_best_answers(questions, order, wanted)
    companions: Mapping[int, Sequence[int]] = {place: (questions[place],) for place in questions}
    if not request.config.fill:
        order, companions = completed(
            order,
            candidates,
            ranked.scores,
            superseded,
            companions,
            allowed=ranked.order,
            wanted=wanted,
        )
        trace.keep(order, "a heading without its items")
    places = fit_by_worth(ranked.statements, order, ranked.worth, budget, question.time, companions)
    if not request.config.fill:
        places = without_bare_headings(places, candidates)
    places, text, more = _with_matches(ranked, places, candidates, request, budget)
    trace.keep(places, "over the limit or the tokens")
    if log.isEnabledFor(DEBUG):
        trace.write()
    context = RecalledContext(
        question=question.text,
        time=time,
        complete=candidates.matches is not None and not more,
        more=more,
        confidence=sure,
        unknown=names.unknown,
    )
    if not places:
        return context
    place_of = {ranked.statements[place].key: place for place in places}
    statements = chronological(ranked.statements[place] for place in places)
    named = named_references(statements)
    return replace(
        context,
        text=text,
        statements=tuple(
            _recalled(
                statement,
                candidates,
                named,
                score=float(ranked.scores[place_of[statement.key]]),
                contributions=ranked.contributions(place_of[statement.key]),
                superseded_by=trace.id_of_key(superseded.get(statement.key)),
            )
            for statement in statements
        ),
        concepts=tuple(_concepts(candidates, statements)),
        tokens=request.count_tokens(text),
        intercept=ranked.intercept + ranked.level,
    )


def _too_unlikely(sure: float) -> str:
    return "too unlikely" + ("" if sure >= LEAST_CONFIDENCE else ", or one of many as unlikely")


def _nothing_known(names: AskedNames) -> str:
    unknown = f": nobody and nothing is called {', '.join(names.unknown)}" if names.unknown else ""
    return f"nothing known{unknown}"


def _matches_first(ranked: RankedStatements, matches: Matches | None) -> RankedStatements:
    """The same statements, those of the facts that match the question first: they are answers."""
    keys = set() if matches is None else {match.key for match in matches.facts}
    places = {place for place in ranked.order if ranked.statements[place].key in keys}
    worth = ranked.worth.copy()
    worth[list(places)] += 1.0
    order = tuple(sorted(ranked.order, key=lambda place: place not in places))
    return replace(ranked, order=order, worth=worth)


def _with_endings(ranked: RankedStatements, candidates: Candidates) -> RankedStatements:
    """The same statements, each fact that ended behind what ended it: a context that holds the one
    holds the other, and the reader sees last what is true last."""
    place_of = {ranked.statements[place].key: place for place in ranked.order}
    worth = ranked.worth.copy()
    order: dict[int, None] = {}
    for place in ranked.order:
        fact = candidates.facts.get(ranked.statements[place].key)
        ending = place_of.get(fact.ended_by) if fact is not None and fact.ended_by else None
        if ending is not None:
            worth[ending] = max(worth[ending], worth[place])
            order.setdefault(ending)
        order.setdefault(place)
    return replace(ranked, order=tuple(order), worth=worth)


def _with_matches(
    ranked: RankedStatements,
    places: list[int],
    candidates: Candidates,
    request: RecallRequest,
    budget: Budget,
) -> tuple[list[int], str, int]:
    """The places whose statements are recalled, the text that they make, and how many matches are
    not among them. The last of ``places`` give way to the line about these."""
    matches = candidates.matches
    while True:
        chosen = chronological(ranked.statements[place] for place in places)
        text = budget.text(chosen)
        if matches is None:
            return places, text, 0
        left = matches.left_out({statement.key for statement in chosen}, request.known)
        line = matches.line(left, text, budget) if places else ""
        if line is not None:
            return places, "\n".join(filter(None, (text, line))), len(left)
        places = places[:-1]


def _recalled(
    statement: StoredStatement,
    candidates: Candidates,
    named: Mapping[int, tuple[RecalledReference, ...]],
    **given: Any,
) -> RecalledStatement:
    """A chosen statement with how the graph led to it; ``named`` are the references that the
    context names, ``given`` are further fields."""
    summary = candidates.summaries.get(statement.passage_id)
    if summary is not None and statement.key not in candidates.context:
        recalled = RecalledStatement.of_summary(summary)
        return replace(recalled, timestamp=statement.timestamp, **given)
    path = tuple(_path(statement, candidates))
    fact = candidates.facts.get(statement.key)
    if fact is not None:
        recalled = RecalledStatement.of_fact(statement, fact.triplet, fact.passage)
        return replace(recalled, path=(*fact.path, *path), **given)
    if statement.key in named:
        given["references"] = named[statement.key]
    return RecalledStatement.of(statement, path=path, **given)


def _path(statement: StoredStatement, candidates: Candidates) -> Iterator[str]:
    """How the graph led from the question to ``statement``."""
    if statement.key in candidates.stated:
        yield f"states the fact {candidates.stated[statement.key]}"
    held = [term for term in candidates.terms if term in statement.terms]
    if held:
        yield f"holds: {', '.join(dict.fromkeys(map(readable_term, held)))}"
    for mention in statement.concepts:
        if mention.name in candidates.speakers:
            said = statement.speaker is not None and mention is statement.concepts[0]
            yield f"said by {mention.label}" if said else f"mentions {mention.label}"
        elif mention.name in candidates.leads.essential:
            yield f"mentions essential concept {mention.label}"
        elif mention.name in candidates.leads.activation:
            through = candidates.leads.activation[mention.name].through
            label = candidates.leads.essential[through].label
            yield f"neighbour of {label}: {mention.label}"
    for asked in candidates.dates:
        if statement.timestamp is not None and lies_in(statement.timestamp.date(), asked):
            yield f"said at the time asked for: {asked.name}"
    for beside, place in ((statement.previous, "follows"), (statement.next, "stands before")):
        other = candidates.context.get(beside) if beside is not None else None
        shared = [term for term in candidates.terms if term in other.terms] if other else []
        if other is not None and shared:
            what = "question" if Trait.QUESTION in other.traits else "statement"
            yield f"{place} a matching {what}: {', '.join(shared)}"


def _concepts(candidates: Candidates, chosen: Sequence[StoredStatement]) -> list[RankedConcept]:
    """The question's concepts in its order, then the neighbours that led to what was chosen."""
    named = (
        candidates.leads.essential.get(concept.name) for concept in candidates.question.concepts
    )
    essential = [RankedConcept.of(row) for row in named if row is not None]
    mentioned = {mention.name for statement in chosen for mention in statement.concepts}
    activated = (
        candidates.leads.activation[name] for name in mentioned & candidates.leads.activation.keys()
    )
    return essential + [
        RankedConcept.of(
            neighbour.concept, score=neighbour.value, essential=False, through=neighbour.through
        )
        for neighbour in sorted(activated, key=lambda found: (-found.value, found.concept.name))
    ]
