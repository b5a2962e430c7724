"""Tables as facts: the key of a row is the subject, a column the relation, a cell the object.

A table that is loaded again is compared, row by row, with what it said before, and only the
difference is written. What it said before is the evidence of its source: nothing is stored beside
it, so that forgetting the source forgets the table, and a load that was cut off is completed by the
next one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import chain, islice
from typing import Any, NamedTuple, TypeAlias

from tqdm import tqdm

from recallm.errors import InvalidInputError
from recallm.facts.fact import NewFact, Term, checked_term, denied, update_arguments
from recallm.facts.table_rows import TableRow, checked_rows, same_key, source_of
from recallm.facts.values import text_key
from recallm.ground import checks
from recallm.memory import RecallM
from recallm.model import Filter, TripletEvidence
from recallm.recall.predicates.held_facts import end_key
from recallm.recall.predicates.relations import Relations

ROWS_AT_ONCE = 1_000
"""Rows that are compared with the store, or written in one transaction."""

Triplet: TypeAlias = tuple[str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableReport:
    """What a load found. ``rows`` counts the rows of the table. The rest counts facts (a cell is
    one, a list one for each value): those that the table did not state before, those in place of
    another value, those that it states no longer, and those that it still states."""

    rows: int = 0
    added: int = 0
    changed: int = 0
    ended: int = 0
    unchanged: int = 0


class Stated(NamedTuple):
    """The latest evidence of a table for a fact of a row."""

    evidence: TripletEvidence
    negative: bool


def load_table(
    memory: RecallM,
    relations: Relations,
    table: object,
    *,
    embeddings: Callable[[str], Mapping[str, Sequence[float]]],
    key: str,
    name: str | None,
    columns: Mapping[str, str] | Sequence[str] | None,
    said: datetime | str | None,
    progress: bool,
) -> TableReport:
    """See ``FactMemory.load``. ``embeddings`` gives the vectors of a new entity by its label."""
    key = checks.string(key, "key")
    source = source_of(table, key=key)
    name = checks.optional_name(name, "name") or source.name
    if name is None:
        raise InvalidInputError(
            "name is missing; name the table, so that a later load knows its rows", argument="name"
        )
    said_in = said if isinstance(said, str) else None
    moment = None if isinstance(said, str) else checks.timestamp(said, "said")
    load = _Load(memory, relations, embeddings, checks.name(name, "name"), moment or memory.now())
    rows = partial(
        checked_rows,
        source,
        key=key,
        columns=_renamed(columns),
        said=said_in,
        check_relation=load.check_relation,
    )

    if source.is_rereadable:  # a bad row is found before anything is written
        for _ in tqdm(rows(), disable=not progress, unit="row", desc="checked"):
            pass
    seen: dict[str, int] = {}
    with tqdm(rows(seen=seen), disable=not progress, unit="row") as bar:
        updates = chain(load.of_rows(bar), load.of_removed_rows(seen))
        while batch := list(islice(updates, ROWS_AT_ONCE)):
            memory.update_many(batch, batch_size=len(batch))
    return TableReport(rows=len(seen), **load.counts)


def _renamed(columns: object) -> dict[str, str] | None:
    """Column → relation, for the columns that are read; None for all of them."""
    if columns is None:
        return None
    if isinstance(columns, Mapping):
        return {
            checks.string(column, "relations"): checked_term(relation, "relations")
            for column, relation in columns.items()
        }
    return {column: column.strip() for column in checks.strings(columns, "relations")}


@dataclass
class _Load:
    """One load of the table ``name`` into a memory; ``moment`` is when rows were said that do not
    say so themselves."""

    memory: RecallM
    relations: Relations
    embeddings: Callable[[str], Mapping[str, Sequence[float]]]
    name: str
    moment: datetime

    def __post_init__(self) -> None:
        self.graph = self.memory.graph
        with self.graph.reader() as reader:
            self.before = reader.state.t_index
        self.counts = {"added": 0, "changed": 0, "ended": 0, "unchanged": 0}

    def check_relation(self, relation: str) -> None:
        """Refuse a relation that cannot be denied: a denied one, or one too long for it."""
        checks.name(denied(relation), "the denial of a relation")
        if self.relations.of(relation).negative:
            raise InvalidInputError(
                f"the column {checks.shown(relation)} denies a relation, so that its cells would "
                "end facts; give the relation another name with relations={column: relation}",
                argument="table",
            )

    def of_rows(self, rows: Iterable[TableRow]) -> Iterator[dict[str, Any]]:
        """The update of each row that differs from what the table stated before."""
        iterator = iter(rows)
        while page := list(islice(iterator, ROWS_AT_ONCE)):
            subjects = [checked_term(row.key, "key") for row in page]
            evidence = self._evidence(subjects)
            for subject, row in zip(subjects, page, strict=True):
                place = {"key": subject, "row": row.number}
                update = self._update(
                    subject, evidence.get(same_key(subject), ()), row.cells, row.said, place
                )
                if update is not None:
                    yield update

    def of_removed_rows(self, seen: Mapping[str, int]) -> Iterator[dict[str, Any]]:
        """The update of each row that earlier loads wrote and that is not ``seen`` any more."""
        ended: set[str] = set()
        last = self.before
        while last > 0:
            with self.graph.reader() as reader:
                page = reader.passages(Filter(session=self.name, until=last), limit=ROWS_AT_ONCE)
            if not page:
                return
            last = page[-1].t_index - 1
            keys = dict.fromkeys(
                passage.metadata.get("key") for passage in page if passage.source == self.name
            )
            subjects = {
                same_key(key): key
                for key in keys
                if isinstance(key, str) and same_key(key) not in seen and same_key(key) not in ended
            }
            ended.update(subjects)
            for key, evidence in self._evidence(subjects.values()).items():
                update = self._update(subjects[key], evidence, {}, None, {"key": subjects[key]})
                if update is not None:
                    yield update

    def _evidence(self, subjects: Collection[str]) -> dict[str, list[TripletEvidence]]:
        """What earlier loads wrote about each subject, in any spelling of its key, by
        ``same_key``."""
        found: dict[str, list[TripletEvidence]] = {}
        if not subjects or not self.before:
            return found
        wanted = set(map(same_key, subjects))
        concepts = {self.graph.concept_name(subject) for subject in subjects} - {""}
        with self.graph.reader() as reader:
            entities = reader.entities(subjects, concepts=concepts)
            ids = {entity.id for entity in entities if same_key(entity.id) in wanted}
            for each in reader.triplet_evidence(subjects=ids):
                if each.source == self.name:
                    found.setdefault(same_key(each.subject), []).append(each)
        return found

    def _update(
        self,
        subject: str,
        evidence: Sequence[TripletEvidence],
        cells: Mapping[str, Sequence[Term]],
        said: datetime | None,
        place: Mapping[str, Any],
    ) -> dict[str, Any] | None:
        """The update that makes of what a row stated what it states now; None if it is the same."""
        stated = self._stated(evidence)
        now: dict[str, dict[str, str]] = {}  # relation → text of an object → predicate
        for predicate, terms in cells.items():
            objects = now.setdefault(self.relations.of(predicate).name, {})
            for term in terms:
                objects.setdefault(checked_term(term, "table"), predicate)
        triplets: list[Triplet] = []
        for relation in now.keys() | stated.keys():
            fresh, gone = self._difference(now.get(relation, {}), stated.get(relation, {}))
            triplets += ((subject, predicate, text) for text, predicate in fresh.items())
            triplets += (
                (subject, denied(ended.evidence.predicate), ended.evidence.object) for ended in gone
            )
        if not triplets:
            return None
        latest = (each.timestamp for each in evidence if each.timestamp is not None)
        moment = max(chain([said or self.moment], latest))
        first = NewFact(*triplets[0], said=moment, source=self.name)
        # Loads that run at once make one id of one difference, so that it is written once.
        state = [self.name, same_key(subject), max((row.t_index for row in evidence), default=0)]
        difference = json.dumps([*state, sorted(triplets)]).encode()
        return {
            **update_arguments(first, *triplets, embeddings=self.embeddings),
            "id": hashlib.sha256(difference).hexdigest()[:32],
            "metadata": place,
        }

    def _difference(
        self, now: Mapping[str, str], stated: Mapping[str, Stated]
    ) -> tuple[dict[str, str], list[Stated]]:
        """The objects of one relation that a row did not state before, with their predicates, and
        what it states no longer; all are counted.

        An object in another spelling is written, and the one before is not denied: to deny it would
        end both.
        """
        known = {fact.evidence.object: key for key, fact in stated.items()}
        held = {key: fact for key, fact in stated.items() if not fact.negative}
        same = {known[text] for text in now if text in known} & held.keys()
        fresh = {text: predicate for text, predicate in now.items() if known.get(text) not in same}
        gone = {key: fact for key, fact in held.items() if key not in same}
        respelled = 0
        if fresh and (gone or len(now) > 1):
            concept_name = self.graph.concept_name
            keys = {new: known.get(new) or text_key(new, concept_name) for new in reversed(fresh)}
            first = {key: text for text, key in keys.items() if key not in same}
            respelled = sum(gone.pop(key, None) is not None for key in first)
            kept = set(first.values())
            fresh = {text: predicate for text, predicate in fresh.items() if text in kept}
        replaced = min(len(fresh) - respelled, len(gone))
        self.counts["unchanged"] += len(same)
        self.counts["changed"] += respelled + replaced
        self.counts["added"] += len(fresh) - respelled - replaced
        self.counts["ended"] += len(gone) - replaced
        return fresh, list(gone.values())

    def _stated(self, evidence: Iterable[TripletEvidence]) -> dict[str, dict[str, Stated]]:
        """Relation → key of an object → the last word of the table on this fact. Where one update
        affirms and denies it, that is the denial (``recallm.recall.predicates.holding``)."""
        stated: dict[str, dict[str, Stated]] = {}
        for each in evidence:
            relation, negative = self.relations.of(each.predicate)
            objects = stated.setdefault(relation, {})
            key = end_key(each.object, each.object_concept)
            known = objects.get(key)
            if known is None or (each.t_index, negative) > (known.evidence.t_index, known.negative):
                objects[key] = Stated(each, negative)
        return stated
