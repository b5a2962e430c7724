"""Reads the part of the graph around a question's concepts that the paper's ranking orders.

For each essential concept c these are the concepts N within λ hops whose t_index lies in the
temporal window ``T(c) − s ≤ T(N) ≤ T(c)``. So does the authors' query; the condition printed in the
paper, with E the last relation of the path, lets old concepts through.

With ``RecallConfig(window="question")`` the question chooses the window (``question_window``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from datetime import UTC, datetime, time
from typing import NamedTuple

from recallm.config import RecallConfig
from recallm.english.dating import asked_dates
from recallm.model import ConceptRow, Filter, Question, Relation
from recallm.stores.base import GraphReader

RELATIONS_FOLLOWED = 256
"""Newest relations of one concept that the search follows. It bounds hubs; older relations seldom
lead into the temporal window."""


class QuestionWindow(NamedTuple):
    """The time that a question asks about: ``since`` a moment, ``until`` another; None where it
    names none. ``is_bounded``: where it names no beginning, the fixed window holds."""

    since: datetime | None = None
    until: datetime | None = None
    is_bounded: bool = True


def question_window(question: Question, asked_at: datetime | None) -> QuestionWindow:
    """The window that a question names, as asked at a moment: the dates in it, else its temporal
    intent. A date without its year is the latest that has begun."""
    zone = UTC if asked_at is None else asked_at.tzinfo
    today = datetime.now(UTC).date() if asked_at is None else asked_at.date()
    periods = [(asked.kind, asked.near(today)) for asked in asked_dates(question.text, asked_at)]
    starts = [each.start for kind, each in periods if each is not None and kind != "until"]
    ends = [each.last for kind, each in periods if each is not None and kind != "since"]
    if starts or ends:
        return QuestionWindow(
            since=datetime.combine(min(starts), time.min, zone) if starts else None,
            until=datetime.combine(max(ends), time.max, zone) if ends else None,
        )
    reading = question.time
    return QuestionWindow(is_bounded=reading.intent != "historical" and not reading.spread)


def _oldest(reader: GraphReader, window: QuestionWindow | None) -> int | None:
    """The t at which the window of a question begins; None where that is the fixed window's."""
    if window is None or (window.is_bounded and window.since is None):
        return None
    if window.since is None:
        return 0
    said = reader.t_indexes(Filter(since=window.since))
    return said[0] if said else None


def read_subgraph(
    reader: GraphReader,
    question: Question,
    config: RecallConfig,
    window: QuestionWindow | None = None,
) -> tuple[dict[str, ConceptRow], list[Relation], frozenset[str]]:
    """The concepts of the subgraph by name, the relations between them, and the names of the
    essential concepts among them. ``window`` is the question's own; None: the fixed one."""
    begin = _oldest(reader, window)
    essential = reader.concepts({concept.name for concept in question.concepts})
    near = _within_hops(reader, [concept.name for concept in essential], config.hops)
    rows = reader.concepts(set().union(*near.values()))
    nodes = {concept.name: concept for concept in essential}
    for concept in essential:
        oldest = concept.t_index - config.temporal_window if begin is None else begin
        inside = [
            row
            for row in rows
            if row.name in near[concept.name] and oldest <= row.t_index <= concept.t_index
        ]
        nodes.update((row.name, row) for row in inside[: config.max_nodes])
    relations = reader.relations(nodes, among=True)
    return nodes, relations, frozenset(concept.name for concept in essential)


def _within_hops(reader: GraphReader, starts: Collection[str], hops: int) -> dict[str, set[str]]:
    """For each start the names of the other concepts that are at most ``hops`` relations away. The
    concepts between may be of any age. The store is asked once a hop, for all starts together."""
    neighbours: defaultdict[str, set[str]] = defaultdict(set)
    reached: set[str] = set()
    frontier = set(starts)
    for _ in range(hops):
        if not frontier:
            break
        reached |= frontier
        for relation in reader.relations(frontier, limit=RELATIONS_FOLLOWED):
            neighbours[relation.a].add(relation.b)
            neighbours[relation.b].add(relation.a)
        frontier = neighbours.keys() - reached
    near: dict[str, set[str]] = {}
    for start in starts:
        found = {start}
        edge = found
        for _ in range(hops):
            edge = {other for name in edge for other in neighbours.get(name, ())} - found
            found = found | edge
        near[start] = found - {start}
    return near
