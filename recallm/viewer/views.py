"""What the page shows, as values for JSON. Every list is bounded.

Arguments are those of a request: pydantic reads them by their annotations."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Annotated, Any, TypeAlias

from pydantic import Field, validate_call

from recallm.facts import Change, Fact, FactMemory
from recallm.memory import RecallM
from recallm.model import ConceptRow, StoredStatement, statement_key
from recallm.recall.ranking.signals import SIGNALS
from recallm.recall.results import RecalledContext, RecalledStatement, strongest_first

_PAGE = 30
"""Concepts, statements or facts on one page."""
_SEARCHED = 2_000
"""The newest concepts, among which a part of a label is looked for."""
_STATEMENTS = 16
"""The first statements of an update."""
_COMPARED = 200
"""The newest concepts, of which the most mentioned are shown first."""
_LATEST = 8
"""What an overview shows of each kind."""
_RELATIONS = 20
"""Relations of a subject whose values are shown."""
_EVIDENCE = 400
"""Newest pieces of evidence of a subject that name these relations."""

_NEIGHBOURS = 24
_MOST_NEIGHBOURS = 120
_MOST_STATEMENTS = 50

VIEWS = ("overview", "latest", "concepts", "graph", "timeline", "recall", "passage")
"""The methods that answer requests."""

Json = dict[str, Any]

_Text: TypeAlias = Annotated[str, Field(pattern=r"\S")]
_Count: TypeAlias = Annotated[int, Field(ge=0)]
_ExactInJavaScript: TypeAlias = Annotated[int, Field(lt=10**15)]
_AsOf: TypeAlias = Annotated[_ExactInJavaScript | str | None, Field(union_mode="left_to_right")]
"""A t_index, or a day or a time in ISO 8601."""


class MemoryViews:
    """The views of one namespace. ``as_of`` None: the present."""

    def __init__(self, memory: RecallM) -> None:
        self._memory = memory
        self._facts = FactMemory(memory)
        self._question: str | None = None

    def overview(self) -> Json:
        """The namespace, its size, and the last question that was asked here."""
        return {
            "namespace": self._memory.namespace,
            "stats": dataclasses.asdict(self._memory.stats()),
            "question": self._question,
        }

    @validate_call
    def latest(self, as_of: _AsOf = None) -> Json:
        """The most mentioned of the newest concepts; the last statements; the last facts that
        hold and that no statement says."""
        last = [RecalledStatement.of(row) for row in self._last_statements(as_of)]
        facts = self._facts.read(as_of=as_of, limit=_LATEST)
        newest = self._memory.concepts(limit=_COMPARED, as_of=as_of)
        most = sorted(newest, key=lambda row: (-row.updates, row.name))[:_LATEST]
        return {
            "concepts": [_concept(row) for row in most],
            "statements": self._with_superseded(last, as_of),
            "facts": [_fact(fact) for fact in facts if fact.statement is None],
            **self._moment(as_of),
        }

    # -- the graph -------------------------------------------------------------------------

    @validate_call
    def concepts(self, text: str = "", skip: _Count = 0, as_of: _AsOf = None) -> Json:
        """A page of concepts, latest first: all, or those that ``text`` names, however old, and
        those of the newest of whose label ``text`` is a part."""
        text = text.strip()
        size = _SEARCHED if text else skip + _PAGE + 1
        found = self._memory.concepts(limit=size, as_of=as_of)
        if text:
            folded = text.casefold()
            parts = [row for row in found if folded in row.label.casefold()]
            named = self._memory.concepts([text], as_of=as_of)
            found = tuple({row.name: row for row in (*named, *parts)}.values())
        return {
            "concepts": [_concept(row) for row in found[skip : skip + _PAGE]],
            "more": len(found) > skip + _PAGE,
        }

    def _last_statements(self, as_of: _AsOf) -> list[StoredStatement]:
        """Statements of the last updates up to ``as_of``, in order."""
        with self._memory.graph.reader(as_of) as reader:
            last = reader.state.t_index
            keys = [
                statement_key(t, position)
                for t in range(max(1, last - _PAGE + 1), last + 1)
                for position in range(_STATEMENTS)
            ]
            return reader.statements(keys)[-_LATEST:]

    @validate_call
    def graph(self, concept: _Text, limit: _Count = _NEIGHBOURS, as_of: _AsOf = None) -> Json:
        """A concept with at most ``limit`` neighbours, with the values that its relations have or
        had (``facts``), and with the facts that hold of which it is the object (``pointing``).
        ``ends`` are the concepts of these facts, by label, where the memory knows them."""
        at_most = min(max(limit, 1), _MOST_NEIGHBOURS)
        found = self._memory.graph.show(concept, limit=at_most, as_of=as_of)
        label = found.concepts[0].label if found else concept
        facts = self._facts_of(label, as_of)
        pointing = self._facts.read(object=label, as_of=as_of, match="exact", limit=_PAGE)
        labels = {value["object"] for each in facts for value in each["values"]}
        named = {
            each: self._memory.graph.concept_name(each)
            for each in labels.union(fact.subject for fact in pointing)
        }
        with self._memory.graph.reader(as_of) as reader:
            rows = {row.name: row for row in reader.concepts(set(named.values()))}
        return {
            **_fields(found, "t_index more"),
            "concepts": [_concept(row) for row in found.concepts],
            "relations": [_fields(each, "a b strength t_index") for each in found.relations],
            "facts": facts,
            "pointing": [_fact(fact) for fact in pointing],
            "ends": {each: _concept(rows[name]) for each, name in named.items() if name in rows},
            **self._moment(as_of),
        }

    @validate_call
    def timeline(self, concept: _Text, skip: _Count = 0, as_of: _AsOf = None) -> Json:
        """A page of the statements that mention a concept, those that arrived last on the first."""
        found = self._memory.history(concept, limit=_PAGE + 1, skip=skip, as_of=as_of)
        # The one beyond the page is the first to have arrived.
        last = sorted(found, key=attrgetter("t_index", "position"))[-_PAGE:]
        shown = {each.id for each in last}
        page = [each for each in found if each.id in shown]
        return {"statements": self._with_superseded(page, as_of), "more": len(found) > _PAGE}

    def _with_superseded(self, statements: Sequence[RecalledStatement], as_of: _AsOf) -> list[Json]:
        """Statements, each with whether a later one took its place."""
        superseded = self._memory.superseded(statements, as_of=as_of)
        return [
            {
                **_fields(statement, "id passage text t_index speaker source session"),
                "said": _moment(statement.timestamp),
                "superseded": statement.id in superseded or statement.superseded_by is not None,
                "stands_for": [
                    {"text": statement.text[each.start : each.end], "label": each.label}
                    for each in statement.references
                ],
            }
            for statement in statements
        ]

    def _moment(self, as_of: _AsOf) -> Json:
        """When the latest text up to ``as_of`` was said."""
        latest = self._memory.passages(limit=1, as_of=as_of)
        return {"said": _moment(latest[0].timestamp) if latest else None}

    # -- questions -------------------------------------------------------------------------

    @validate_call
    def recall(self, question: _Text, limit: _Count | None = None, as_of: _AsOf = None) -> Json:
        """What is recalled for a question, and how the graph led to each statement."""
        self._question = question
        at_most = None if limit is None else min(max(limit, 1), _MOST_STATEMENTS)
        context = self._memory.recall(question, limit=at_most, as_of=as_of)
        shown = self._with_superseded(context.statements, as_of)
        return {
            **_fields(context, "question text tokens intercept confidence unknown complete"),
            "time": [] if context.time is None else list(context.time.rules),
            "left_out": context.more,
            "statements": [
                {
                    **each,
                    **_fields(statement, "score path superseded_by"),
                    "signals": [
                        {"name": name, "part": part, "meaning": SIGNALS.get(name, "")}
                        for name, part in strongest_first(statement.contributions)
                    ],
                    "links": _links(statement, context),
                }
                for each, statement in zip(shown, context.statements, strict=True)
            ],
            "concepts": [_fields(concept, "name label essential") for concept in context.concepts],
            **self._moment(as_of),
        }

    # -- facts -----------------------------------------------------------------------------

    def _facts_of(self, subject: str, as_of: _AsOf) -> list[Json]:
        """The relations of a subject, each with the latest values that it has or had."""
        holding = self._facts.read(subject, as_of=as_of, match="exact", limit=_EVIDENCE)
        relations = [fact.relation for fact in holding]
        found: dict[tuple[Change, ...], str] = {}
        for relation in dict.fromkeys([*relations, *self._past(subject, as_of)]):
            changes = tuple(self._facts.changes(subject, relation, as_of=as_of))
            if changes:  # phrasings of one relation have the same changes
                found.setdefault(changes, relation)
            if len(found) == _RELATIONS:
                break
        return [
            {"relation": relation, "values": [_change(change) for change in changes[-_PAGE:]]}
            for changes, relation in found.items()
        ]

    def _past(self, subject: str, as_of: _AsOf) -> Iterable[str]:
        """The predicates of a subject's newest evidence, of what no longer holds too."""
        with self._memory.graph.reader(as_of) as reader:
            concept = self._memory.graph.concept_name(subject)
            ids = {entity.id for entity in reader.entities([subject], concepts=[concept])}
            evidence = reader.triplet_evidence(subjects=ids, limit=_EVIDENCE) if ids else ()
            return dict.fromkeys(row.predicate for row in evidence)

    # -- passages --------------------------------------------------------------------------

    @validate_call
    def passage(self, id: _Text) -> Json | None:
        """A passage, verbatim; None if there is none."""
        found = self._memory.get(id)
        return None if found is None else {"text": found.text}


def _concept(row: ConceptRow) -> Json:
    return _fields(row, "name label t_index statements updates")


def _links(statement: RecalledStatement, context: RecalledContext) -> list[list[str]]:
    """How the graph led to a statement: the concepts from one of the question's to one that the
    statement mentions. There are none where its words alone did."""
    mentioned = set(statement.concepts)
    return [
        [concept.name] if concept.through is None else [concept.through, concept.name]
        for concept in context.concepts
        if concept.name in mentioned
    ]


def _fact(fact: Fact) -> Json:
    return _fields(fact, "subject relation object t_index") | {"said": _moment(fact.said)}


def _change(change: Change) -> Json:
    times = {"since": _moment(change.since), "until": _moment(change.until)}
    return _fields(change, "object since_t until_t ended_by") | times


def _fields(value: object, names: str) -> Json:
    return {name: getattr(value, name) for name in names.split()}


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
