"""``ranking="ement"`` and ``ranking="vectors"``: what embeddings say, with entities and without.

EMENT (Embeddings + Entity Extraction) puts two things together, since each finds what the other
misses: the k statements nearest to the question by embedding, and the raw sentences of the
question's entities. Its text holds the nearest first, nearest of all at the top, then, after an
empty line, the entities' sentences in the order in which they became true. Where a limit cuts, the
two take turns. No sentence stands there twice: of equal ones of a speaker the latest.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from recallm.config import RecallConfig
from recallm.model import Filter, Question, StoredStatement
from recallm.results import RankedConcept, RecalledContext, RecalledStatement, chronological
from recallm.retrieval.conditions import meets
from recallm.retrieval.lines import SHORTEST_LINE, line, render
from recallm.retrieval.sentences import is_later, sentence
from recallm.retrieval.similarity import AskedVector
from recallm.stores.base import GraphReader

__all__ = ["recall_ement", "recall_nearest"]

_SPARE_TRIALS = 32
"""How many more statements are tried after the first that a budget has no room for."""

_FETCHED = 32
"""Nearest statements asked for at first, at least; four times as many while too few may be
recalled."""


@dataclass(frozen=True, slots=True)
class _Found:
    """A statement, with its cosine where it is one of the nearest."""

    statement: StoredStatement
    cosine: float | None = None


def recall_ement(
    reader: GraphReader,
    question: Question,
    *,
    config: RecallConfig,
    where: Filter,
    limit: int | None,
    max_tokens: int | None,
    count_tokens: Callable[[str], int],
    known: Collection[str] = (),
    asked: AskedVector,
) -> RecalledContext:
    """Recall as EMENT does: the ``config.neighbours`` nearest statements, and those that mention
    the question's essential concepts (of each its newest ``config.candidate_limit``).

    ``limit`` counts statements (None: all, as in the paper), ``max_tokens`` the whole text.
    Statements of the passages ``known`` are left out. ``contributions["cosine"]`` says how near a
    statement is, where it is one of the nearest; scores are None, they are no probabilities.
    """
    near = _nearest(reader, asked, where=where, known=known, wanted=config.neighbours)
    names = {concept.name: concept.label for concept in question.concepts}
    rows = {row.name: row for row in reader.concepts(names)} if names else {}
    taken = {sentence(found.statement) for found in near}
    told = _of_entities(reader, names, config=config, where=where, known=known, besides=taken)
    turns = [one for pair in zip_longest(near, map(_Found, told)) for one in pair if one]
    chosen = _fitting(turns, _ement_text, limit, max_tokens, count_tokens)
    if not chosen:
        return RecalledContext(question=question.text)
    text = _ement_text(chosen)
    place = {found.statement.key: number for number, found in enumerate(near, start=1)}
    return RecalledContext(
        question=question.text,
        text=text,
        statements=_recalled(chosen, place, names),
        concepts=tuple(
            RankedConcept(
                name=rows[name].name,
                label=rows[name].label,
                t_index=rows[name].t_index,
                score=1.0,
                essential=True,
            )
            for name in names
            if name in rows
        ),
        tokens=count_tokens(text),
    )


def recall_nearest(
    reader: GraphReader,
    question: Question,
    *,
    config: RecallConfig,
    where: Filter,
    limit: int | None,
    max_tokens: int | None,
    count_tokens: Callable[[str], int],
    known: Collection[str] = (),
    asked: AskedVector,
) -> RecalledContext:
    """The statements nearest to ``question`` by embedding, in the order in which they became true.

    ``limit`` counts statements (None: as many as ``max_tokens`` allows, or ``config.limit`` where
    that is None too), ``max_tokens`` the whole text. Statements of the passages ``known`` are left
    out. ``contributions["cosine"]`` holds each statement's cosine; scores are None, a cosine is no
    probability.
    """
    if limit is None:
        limit = config.limit if max_tokens is None else max(1, max_tokens // SHORTEST_LINE)
    near = _nearest(reader, asked, where=where, known=known, wanted=limit)
    chosen = _fitting(near, _chronological_text, limit, max_tokens, count_tokens)
    if not chosen:
        return RecalledContext(question=question.text)
    text = _chronological_text(chosen)
    place = {found.statement.key: number for number, found in enumerate(near, start=1)}
    return RecalledContext(
        question=question.text,
        text=text,
        statements=_recalled(chosen, place, {}),
        tokens=count_tokens(text),
    )


def _nearest(
    reader: GraphReader,
    asked: AskedVector,
    *,
    where: Filter,
    known: Collection[str],
    wanted: int,
) -> list[_Found]:
    """The ``wanted`` nearest statements that may be recalled, nearest first, of equal sentences the
    latest; the index is read on until there are so many, or to its end."""
    found: dict[tuple[str | None, str], _Found] = {}
    done: set[int] = set()
    size = max(_FETCHED, 2 * (wanted + len(known)))
    while True:
        nearest = asked.nearest(size)
        fresh = {key: cosine for key, cosine in nearest if key not in done}
        rows = {row.key: row for row in reader.statements(fresh)}
        for key, cosine in fresh.items():
            row = rows.get(key)
            if row is None or row.passage_id in known or not meets(row, where):
                continue
            said = sentence(row)
            other = found.get(said)
            if other is None:
                if len(found) == wanted:
                    break
                found[said] = _Found(row, cosine)
            elif is_later(row, other.statement):
                found[said] = _Found(row, cosine)
        if len(found) == wanted or len(nearest) < size:
            return list(found.values())
        done.update(fresh)
        size *= 4


def _of_entities(
    reader: GraphReader,
    names: Collection[str],
    *,
    config: RecallConfig,
    where: Filter,
    known: Collection[str],
    besides: Collection[tuple[str | None, str]],
) -> list[StoredStatement]:
    """The sentences of the entities ``names``, each once and none of ``besides``: those that
    mention most of them first, of these the newest."""
    if not names:
        return []
    mentions = reader.mentions(names, limit=config.candidate_limit, where=where)
    held: dict[int, int] = {}
    for mentioned in mentions.values():
        for key in mentioned.keys:
            held[key] = held.get(key, 0) + 1
    latest: dict[tuple[str | None, str], StoredStatement] = {}
    for row in reader.statements(held):
        said = sentence(row)
        if row.passage_id in known or said in besides:
            continue
        if said not in latest or is_later(row, latest[said]):
            latest[said] = row
    newest = reversed(chronological(latest.values()))
    return sorted(newest, key=lambda row: -held[row.key])


def _fitting(
    ordered: Sequence[_Found],
    as_text: Callable[[Sequence[_Found]], str],
    limit: int | None,
    max_tokens: int | None,
    count_tokens: Callable[[str], int],
) -> list[_Found]:
    """The first ``limit`` of ``ordered`` whose text has at most ``max_tokens``; what has no room is
    passed over for a shorter one after it."""
    kept = list(ordered if limit is None else ordered[:limit])
    if max_tokens is None or count_tokens(as_text(kept)) <= max_tokens:
        return kept
    low, high = 0, len(kept) - 1  # so many of the first fit; the counter need not be additive
    while low < high:
        middle = (low + high + 1) // 2
        if count_tokens(as_text(kept[:middle])) <= max_tokens:
            low = middle
        else:
            high = middle - 1
    chosen = list(kept[:low])
    for one in ordered[low + 1 : low + 1 + _SPARE_TRIALS]:
        if limit is not None and len(chosen) == limit:
            break
        if count_tokens(as_text([*chosen, one])) <= max_tokens:
            chosen.append(one)
    return chosen


def _ement_text(found: Sequence[_Found]) -> str:
    near = [line(one.statement) for one in found if one.cosine is not None]
    told = chronological(one.statement for one in found if one.cosine is None)
    return "\n\n".join("\n".join(part) for part in (near, [line(it) for it in told]) if part)


def _chronological_text(found: Sequence[_Found]) -> str:
    return render(chronological(one.statement for one in found))


def _recalled(
    chosen: Iterable[_Found], place: Mapping[int, int], names: Mapping[str, str]
) -> tuple[RecalledStatement, ...]:
    return tuple(
        chronological(
            RecalledStatement.of(
                one.statement,
                contributions=None if one.cosine is None else {"cosine": one.cosine},
                path=tuple(_path(one.statement, place, names)),
            )
            for one in chosen
        )
    )


def _path(
    statement: StoredStatement, place: Mapping[int, int], names: Mapping[str, str]
) -> Iterator[str]:
    if statement.key in place:
        yield f"nearest by embedding: number {place[statement.key]}"
    for mention in statement.concepts:
        if mention.name in names:
            yield f"mentions essential concept {mention.label}"
