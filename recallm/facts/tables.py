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
from decimal import Decimal
from itertools import chain, islice
from os import PathLike
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from recallm.errors import InvalidInputError
from recallm.facts.fact import NewFact, checked_term, denied, update_arguments
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


class Row(NamedTuple):
    """A checked row: its ``number`` from 1, its key, and the texts of each column that has some."""

    number: int
    subject: str
    cells: Mapping[str, Collection[str]]


def checked_rows(rows: object, key: str, relations: Relations) -> dict[str, Row]:
    """The rows of a table by ``same_key``. An InvalidInputError says which row cannot be used."""
    if isinstance(rows, str | PathLike):
        raise _unusable(
            "rows must be mappings, as csv.DictReader gives them of an open file, not the name of "
            "a file"
        )
    table: dict[str, Row] = {}
    for number, given in enumerate(checks.listed(rows, "rows"), 1):
        try:
            row = _checked_row(number, given, key, relations)
            known = table.setdefault(same_key(row.subject), row)
            if known is not row:
                raise _unusable(
                    f"the key {checks.shown(row.subject)} stands in row {known.number} already"
                )
        except InvalidInputError as error:
            raise _unusable(f"row {number}: {error.message}") from None
    return table


def same_key(text: str) -> str:
    """What two spellings of one key share: the text without case and further white space."""
    return " ".join(text.casefold().split())


def _checked_row(number: int, given: object, key: str, relations: Relations) -> Row:
    if not isinstance(given, Mapping):
        raise _unusable(f"a row must be a mapping of column → cell, not {type(given).__name__}")
    cells: dict[str, Collection[str]] = {}
    for column, cell in given.items():
        texts = _texts(cell, f"column {checks.shown(column)}")
        if column != key and texts:
            relation = checked_term(column, "the name of a column")
            checks.name(denied(relation), "the denial of a column")
            if relations.of(relation).negative:
                raise _unusable(
                    f"the column {checks.shown(column)} denies a relation, so that its cells would "
                    "end facts; give the column another name"
                )
            cells[relation] = texts
    subjects = list(_texts(given.get(key), "the key"))
    if len(subjects) != 1:
        raise _unusable(f"the key column {checks.shown(key)} has {len(subjects)} values, not one")
    return Row(number, subjects[0], cells)


def _texts(cell: object, argument: str) -> Collection[str]:
    """The texts of the values of a cell, each once; none where the cell is blank."""
    values = cell if isinstance(cell, list | tuple) else (cell,)
    given = (_plain(each) for each in values if not _is_blank(each))
    return dict.fromkeys(checked_term(each, argument) for each in given)


def _plain(value: object) -> object:
    """A cell as Python has it. Data frames and databases have NumPy's numbers and Decimals."""
    if isinstance(value, Decimal):
        return str(value)
    return value.item() if isinstance(value, np.generic) else value


def _is_blank(value: object) -> bool:
    """Whether a value is missing: None, a text of white space, NaN, or NaT and NA of pandas."""
    if value is None or type(value).__name__ == "NAType":  # which compares with nothing
        return True
    return value != value or (isinstance(value, str) and not value.strip())


def _unusable(problem: str) -> InvalidInputError:
    return InvalidInputError(problem, argument="rows")


@dataclass
class TableLoad:
    """One load of the table ``name`` into a memory, whose rows were said at ``moment``.
    ``embeddings`` gives the vectors of a new entity by its label."""

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

    def write(self, table: Mapping[str, Row]) -> TableReport:
        """Write what has changed in a table, whose rows come by ``same_key``."""
        updates = chain(self.of_rows(table.values()), self.of_removed_rows(table))
        while batch := list(islice(updates, ROWS_AT_ONCE)):
            self.memory.update_many(batch, batch_size=len(batch))
        return TableReport(rows=len(table), **self.counts)

    def of_rows(self, rows: Iterable[Row]) -> Iterator[dict[str, Any]]:
        """The update of each row that differs from what the table stated before."""
        iterator = iter(rows)
        while page := list(islice(iterator, ROWS_AT_ONCE)):
            evidence = self._evidence([row.subject for row in page])
            for row in page:
                known = evidence.get(same_key(row.subject), ())
                place = {"key": row.subject, "row": row.number}
                yield from self._update(row.subject, known, row.cells, place)

    def of_removed_rows(self, table: Collection[str]) -> Iterator[dict[str, Any]]:
        """The update of each row that earlier loads wrote and that the ``table`` (``same_key``)
        does not have any more."""
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
            subjects = {same_key(key): key for key in keys if isinstance(key, str)}
            subjects = {
                key: spelled
                for key, spelled in subjects.items()
                if key not in table and key not in ended
            }
            ended.update(subjects)
            for key, evidence in self._evidence(subjects.values()).items():
                yield from self._update(subjects[key], evidence, {}, {"key": subjects[key]})

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
        cells: Mapping[str, Collection[str]],
        place: Mapping[str, Any],
    ) -> Iterator[dict[str, Any]]:
        """The update that makes of what a row stated what it states now; none if it is the same."""
        stated = self._stated(evidence)
        now: dict[str, dict[str, str]] = {}  # relation → text of an object → predicate
        for predicate, texts in cells.items():
            objects = now.setdefault(self.relations.of(predicate).name, {})
            for text in texts:
                objects.setdefault(text, predicate)
        triplets: list[Triplet] = []
        for relation in now.keys() | stated.keys():
            fresh, gone = self._difference(now.get(relation, {}), stated.get(relation, {}))
            triplets += ((subject, predicate, text) for text, predicate in fresh.items())
            triplets += ((subject, denied(each.predicate), each.object) for each in gone)
        if not triplets:
            return
        latest = (each.timestamp for each in evidence if each.timestamp is not None)
        first = NewFact(*triplets[0], said=max(chain([self.moment], latest)), source=self.name)
        # Loads that run at once make one id of one difference, so that it is written once.
        state = [self.name, same_key(subject), max((row.t_index for row in evidence), default=0)]
        difference = json.dumps([*state, sorted(triplets)]).encode()
        yield {
            **update_arguments(first, *triplets, embeddings=self.embeddings),
            "id": hashlib.sha256(difference).hexdigest()[:32],
            "metadata": place,
        }

    def _difference(
        self, now: dict[str, str], held: Mapping[str, TripletEvidence]
    ) -> tuple[dict[str, str], list[TripletEvidence]]:
        """The objects of one relation that a row did not state before, with their predicates, and
        what it states no longer; all are counted.

        An object in another spelling is written, and the one before is not denied: to deny it would
        end both.
        """
        known = {each.object: key for key, each in held.items()}
        keys = {  # of two spellings of one object the first
            known.get(text) or text_key(text, self.graph.concept_name): text
            for text in reversed(now)
        }
        fresh = {
            text: now[text]
            for key, text in keys.items()
            if key not in held or held[key].object != text
        }
        gone = [each for key, each in held.items() if key not in keys]
        respelled = sum(text in fresh for key, text in keys.items() if key in held)
        replaced = min(len(fresh) - respelled, len(gone))
        self.counts["unchanged"] += len(keys) - len(fresh)
        self.counts["changed"] += respelled + replaced
        self.counts["added"] += len(fresh) - respelled - replaced
        self.counts["ended"] += len(gone) - replaced
        return fresh, gone

    def _stated(self, evidence: Iterable[TripletEvidence]) -> dict[str, dict[str, TripletEvidence]]:
        """Relation → key of an object → the last word of the table on this fact, where that
        asserts it. Where one update affirms and denies a fact, the denial is the last word
        (``recallm.recall.predicates.holding``)."""
        stated: dict[str, dict[str, TripletEvidence]] = {}

        def place(each: TripletEvidence) -> tuple[int, bool]:
            return each.t_index, self.relations.of(each.predicate).negative

        for each in sorted(evidence, key=place):
            relation, negative = self.relations.of(each.predicate)
            objects = stated.setdefault(relation, {})
            key = end_key(each.object, each.object_concept)
            objects.pop(key, None)
            if not negative:
                objects[key] = each
        return stated
