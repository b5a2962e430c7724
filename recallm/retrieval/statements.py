"""Recall, the default: rank the statements themselves (the paper returns whole contexts)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from recallm.config import RecallConfig
from recallm.exact import spelt
from recallm.model import Filter, Question, StoredStatement, Trait
from recallm.results import RankedConcept, RecalledContext, RecalledStatement, chronological
from recallm.retrieval.budget import fit
from recallm.retrieval.candidates import Candidates, gather
from recallm.retrieval.coverage import cover
from recallm.retrieval.dates import dated
from recallm.retrieval.lines import SHORTEST_LINE, render
from recallm.retrieval.ranking import Ranking, rank
from recallm.retrieval.similarity import AskedVector
from recallm.retrieval.weights import load_tables
from recallm.stores.base import GraphReader
from recallm.untrusted_text import one_line

__all__ = ["rank_passages", "recall_statements"]


def recall_statements(
    reader: GraphReader,
    question: Question,
    *,
    config: RecallConfig,
    where: Filter,
    limit: int | None,
    max_tokens: int | None,
    count_tokens: Callable[[str], int],
    min_score: float | None,
    known: Collection[str] = (),
    asked: AskedVector | None = None,
    now: datetime | None = None,
) -> RecalledContext:
    """The statements that help most to answer ``question``, in the order in which they were said.

    ``limit`` counts statements; None: as many as ``max_tokens`` allows, or ``config.limit`` where
    that is None too. ``max_tokens`` counts the whole text by ``count_tokens``. Statements with a
    probability under ``min_score``, and those of the passages ``known``, are left out. ``asked`` is
    the question under the memory's embedding model, where it has one; ``now`` is when it is asked.
    Empty where nothing of the question is known.
    """
    if limit is None and max_tokens is None:
        limit = config.limit
    wanted = limit if limit is not None else (max_tokens or 0) // SHORTEST_LINE
    candidates = gather(
        reader,
        question,
        config=config,
        where=where,
        wanted=wanted + len(known),
        asked=asked,
        now=now,
    )
    if candidates is None:
        return RecalledContext(question=question.text, time=question.time)
    time = dated(question.time, candidates.dates)
    tables = load_tables(config.weights)
    ranking = rank(candidates, tables, min_score=min_score, known=known)
    if question.time.spread:
        ranking = cover(ranking, candidates)
    places = fit(
        ranking,
        limit=limit,
        max_tokens=max_tokens,
        count_tokens=count_tokens,
        time=question.time,
    )
    if not places:
        return RecalledContext(question=question.text, time=time)
    by_key = {ranking.statements[place].key: place for place in places}
    chosen = chronological(ranking.statements[place] for place in places)
    text = render(chosen)
    return RecalledContext(
        question=question.text,
        text=text,
        statements=tuple(
            _recalled(statement, candidates, ranking, by_key[statement.key]) for statement in chosen
        ),
        concepts=tuple(_concepts(candidates, chosen)),
        tokens=count_tokens(text),
        intercept=ranking.intercept,
        time=time,
    )


def rank_passages(
    reader: GraphReader,
    question: Question,
    *,
    config: RecallConfig,
    where: Filter,
    asked: AskedVector | None = None,
    now: datetime | None = None,
) -> dict[str, float]:
    """The ids of the passages that help to answer ``question``, best first, with the probability
    of their best statement; before them, with 1, those that say the very text of ``question``:
    as a whole, as a statement, or after a label ("team: IT"). Equal ones count each.

    As many are looked at as for one word, whatever is made of them: pages add up to the whole.
    """
    candidates = gather(
        reader,
        question,
        config=config,
        where=where,
        wanted=config.candidate_limit,
        asked=asked,
        now=now,
    )
    if candidates is None:
        return {}
    ranking = rank(candidates, load_tables(config.weights), min_score=None, repeats=True)
    ranked = [ranking.statements[place] for place in ranking.order]
    wanted = _folded(question.text)
    best = {one.passage_id: 1.0 for one in ranked if wanted and _says(one, wanted, reader)}
    for place, one in zip(ranking.order, ranked, strict=True):
        best.setdefault(one.passage_id, float(ranking.scores[place]))
    return best


def _says(one: StoredStatement, asked: str, reader: GraphReader) -> bool:
    if _is(one.text, asked):
        return True
    if one.position or _folded(one.text).rpartition(": ")[2] not in asked:
        return False
    return any(_is(it.text, asked) for it in reader.passages(ids=[one.passage_id]))


def _is(text: str, asked: str) -> bool:
    """Whether a text, or what stands after its label, is ``asked``."""
    said = _folded(text)
    return asked in (said, said.partition(": ")[2])


def _folded(text: str) -> str:
    return one_line(text).casefold()


def _recalled(
    statement: StoredStatement, candidates: Candidates, ranking: Ranking, place: int
) -> RecalledStatement:
    score = float(ranking.scores[place])
    contributions = ranking.contributions(place)
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
        yield f"holds: {', '.join(dict.fromkeys(map(spelt, held)))}"
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
    mentioned = {
        mention.name for statement in chosen for mention in statement.concepts
    } & candidates.activation.keys()
    near = (candidates.activation[name] for name in mentioned)
    return essential + [
        RankedConcept(
            name=one.concept.name,
            label=one.concept.label,
            t_index=one.concept.t_index,
            score=one.value,
            essential=False,
        )
        for one in sorted(near, key=lambda one: (-one.value, one.concept.name))
    ]
