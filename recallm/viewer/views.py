"""What the page shows, as values for JSON. Every list is bounded."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any, Literal

from recallm.facts import Change, FactMemory
from recallm.memory import RecallM
from recallm.model import ConceptRow, Moment, statement_key
from recallm.recall.neighbourhood import Neighbourhood
from recallm.recall.ranking.signals import SIGNALS
from recallm.recall.results import RecalledContext, RecalledStatement

_PAGE = 30
"""Concepts or statements on one page."""
_SEARCHED = 2_000
"""The newest concepts, among which a part of a label is looked for."""
_UPDATES = 400
"""The updates before a past t whose concepts are listed."""
_STATEMENTS = 16
"""The first statements of each."""
_WORDS = 8
"""Words of a search text whose runs are looked up as labels."""
_RELATIONS = 20
"""Relations of a subject whose values are shown."""
_EVIDENCE = 400
"""Newest pieces of evidence of a subject that name these relations."""

Json = dict[str, Any]


class MemoryViews:
    """The views of one namespace. ``as_of`` is a t_index, None for the present."""

    def __init__(self, memory: RecallM) -> None:
        self._memory = memory
        self._facts = FactMemory(memory)

    def overview(self) -> Json:
        """The namespace and its size."""
        return {
            "namespace": self._memory.namespace,
            "stats": dataclasses.asdict(self._memory.stats()),
        }

    # -- the graph -------------------------------------------------------------------------

    def concepts(self, text: str, skip: int, as_of: Moment | None) -> Json:
        """A page of concepts, latest first: all, or those that ``text`` names or is a part of.

        Labels and names are found however old they are, parts of labels among the newest concepts.
        ``of_updates``: of the past only the concepts of this many updates before it are listed.
        """
        if as_of is None:
            known = self._memory.concepts(limit=_SEARCHED if text else skip + _PAGE + 1)
            labels = {row.name: row.label for row in known}
        else:
            labels = self._mentioned_before(as_of)
        if text:
            folded = text.casefold()
            parts = {name: label for name, label in labels.items() if folded in label.casefold()}
            labels = {row.name: row.label for row in self._named(text, as_of)} | parts
        names = list(labels)[skip : skip + _PAGE]
        with self._memory.graph.reader(as_of) as reader:
            rows = {row.name: row for row in reader.concepts(names)} if names else {}
        return {
            "concepts": [_concept(rows[name]) for name in names if name in rows],
            "more": len(labels) > skip + _PAGE,
            "searched": _SEARCHED,
            "of_updates": None if as_of is None else _UPDATES,
        }

    def _mentioned_before(self, as_of: Moment) -> dict[str, str]:
        """The names and labels of the concepts of the last updates up to ``as_of``, latest first.
        A store orders concepts by their latest t now: as of an earlier t it would read all."""
        with self._memory.graph.reader(as_of) as reader:
            last = reader.state.t_index
            keys = [
                statement_key(t, position)
                for t in range(max(1, last - _UPDATES + 1), last + 1)
                for position in range(_STATEMENTS)
            ]
            rows = reader.statements(keys)
        return {it.name: it.label for row in reversed(rows) for it in row.concepts}

    def _named(self, text: str, as_of: Moment | None) -> Sequence[ConceptRow]:
        """The concepts that a run of the words of ``text`` names."""
        words = text.split()[:_WORDS]
        runs = [
            " ".join(words[first : first + length])
            for length in range(len(words), 0, -1)
            for first in range(len(words) - length + 1)
        ]
        return self._memory.concepts([text, *runs], as_of=as_of)

    def graph(self, concept: str, limit: int, as_of: Moment | None) -> Json:
        """A concept with at most ``limit`` neighbours."""
        found = self._memory.graph.show(concept, limit=limit, as_of=as_of)
        return {
            **_graph(found),
            "centre": found.concepts[0].name if found else None,
            "more": found.more,
            **self._moment(as_of),
        }

    def timeline(self, concept: str, skip: int, as_of: Moment | None) -> Json:
        """A page of the statements that mention a concept, those that arrived last on the first;
        each with whether a later one took its place."""
        found = self._memory.history(concept, limit=_PAGE + 1, skip=skip, as_of=as_of)
        # The one beyond the page is the first to have arrived.
        page = sorted(found, key=attrgetter("t_index", "position"))[-_PAGE:]
        shown = {it.id for it in page}
        superseded = self._memory.superseded(page, as_of=as_of)
        return {
            "statements": [
                {**_statement(it), "superseded": it.id in superseded}
                for it in found
                if it.id in shown
            ],
            "more": len(found) > _PAGE,
        }

    def _moment(self, as_of: Moment | None) -> Json:
        """When the latest text up to ``as_of`` was said."""
        latest = self._memory.passages(limit=1, as_of=as_of)
        return {"said": _moment(latest[0].timestamp) if latest else None}

    # -- questions -------------------------------------------------------------------------

    def recall(self, question: str, limit: int | None, as_of: Moment | None) -> Json:
        """What is recalled for a question, and how the graph led to each statement."""
        context = self._memory.recall(question, limit=limit, as_of=as_of)
        superseded = self._memory.superseded(context.statements, as_of=as_of)
        return {
            "question": context.question,
            "text": context.text,
            "tokens": context.tokens,
            "intercept": context.intercept,
            "time": [] if context.time is None else list(context.time.rules),
            "complete": context.complete,
            "left_out": context.more,
            "statements": [
                {
                    **_statement(it),
                    "superseded": it.id in superseded,
                    "score": it.score,
                    "signals": _signals(it.contributions),
                    "path": list(it.path),
                    "links": _links(it, context),
                }
                for it in context.statements
            ],
            "graph": self._used(context, as_of),
            **self._moment(as_of),
        }

    def _used(self, context: RecalledContext, as_of: Moment | None) -> Json:
        """The concepts that a recall used, and the relations among them."""
        essential = {it.name: it.essential for it in context.concepts}
        with self._memory.graph.reader(as_of) as reader:
            used = Neighbourhood(
                concepts=tuple(reader.concepts(essential)) if essential else (),
                relations=tuple(reader.relations(essential, among=True)) if essential else (),
                t_index=reader.state.t_index,
            )
        graph = _graph(used)
        for node in graph["concepts"]:
            node["essential"] = essential[node["name"]]
        return graph

    # -- facts -----------------------------------------------------------------------------

    def facts(self, subject: str, as_of: Moment | None) -> Json:
        """The relations of a subject, each with the values that it has or had."""
        holding = self._facts.read(subject, as_of=as_of, match="exact", limit=_EVIDENCE)
        relations = dict.fromkeys((*(it.relation for it in holding), *self._past(subject, as_of)))
        found: dict[tuple[Change, ...], str] = {}
        for relation in relations:
            changes = tuple(self._facts.changes(subject, relation, as_of=as_of))
            if changes:  # phrasings of one relation have the same changes
                found.setdefault(changes, relation)
            if len(found) == _RELATIONS:
                break
        return {
            "relations": [
                {"relation": relation, "values": [_change(it) for it in changes]}
                for changes, relation in found.items()
            ]
        }

    def _past(self, subject: str, as_of: Moment | None) -> Iterable[str]:
        """The predicates of a subject's newest evidence, of what no longer holds too."""
        with self._memory.graph.reader(as_of) as reader:
            concept = self._memory.graph.concept_name(subject)
            ids = {it.id for it in reader.entities([subject], concepts=[concept])}
            evidence = reader.triplet_evidence(subjects=ids, limit=_EVIDENCE) if ids else ()
            return dict.fromkeys(it.predicate for it in evidence)

    # -- passages --------------------------------------------------------------------------

    def passage(self, id: str) -> Json | None:
        """A passage, verbatim; None if there is none."""
        found = self._memory.get(id)
        if found is None:
            return None
        return _fields(found, "id text t_index speaker source session") | {
            "said": _moment(found.timestamp)
        }

    def forget(self, kind: Literal["statement", "passage"], id: str) -> Json:
        """Forget one statement or passage; how much is gone."""
        forget = self._memory.forget
        gone = forget(statement=id) if kind == "statement" else forget(id=id)
        return dataclasses.asdict(gone)


def _graph(found: Neighbourhood) -> Json:
    return {
        "concepts": [_concept(row) for row in found.concepts],
        "relations": [_fields(it, "a b strength t_index") for it in found.relations],
        "t_index": found.t_index,
    }


def _concept(row: ConceptRow) -> Json:
    return _fields(row, "name label kind t_index statements")


def _statement(it: RecalledStatement) -> Json:
    return _fields(it, "id passage text t_index speaker source session") | {
        "said": _moment(it.timestamp),
        "stands_for": [
            {"text": it.text[each.start : each.end], "label": each.label} for each in it.references
        ],
    }


def _signals(contributions: Mapping[str, float]) -> list[Json]:
    """What each signal added to the log-odds, the greatest part first."""
    ordered = sorted(contributions.items(), key=lambda item: (-abs(item[1]), item[0]))
    return [
        {"name": name, "part": part, "meaning": SIGNALS.get(name, "")}
        for name, part in ordered
        if part
    ]


def _links(statement: RecalledStatement, context: RecalledContext) -> list[list[str]]:
    """How the graph led to a statement: the concepts from one of the question's to one that the
    statement mentions. There are none where its words alone did."""
    mentioned = set(statement.concepts)
    return [
        [it.name] if it.through is None else [it.through, it.name]
        for it in context.concepts
        if it.name in mentioned
    ]


def _change(it: Change) -> Json:
    return _fields(it, "object since_t until_t ended_by passage") | {
        "since": _moment(it.since),
        "until": _moment(it.until),
    }


def _fields(it: object, names: str) -> Json:
    return {name: getattr(it, name) for name in names.split()}


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
