"""The part of a memory that reads without a question: passages, histories, concepts, sessions."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Unpack

from recallm.ground import checks
from recallm.memory.open_memory import Part
from recallm.model import (
    LARGEST_NUMBER,
    ConceptRow,
    Filter,
    Moment,
    Passage,
    Session,
    Stats,
)
from recallm.recall.neighbourhood import known_name
from recallm.recall.request import FilterArguments
from recallm.recall.results import RecalledStatement, RelatedConcept, chronological


class Lookups(Part):
    """Reads one namespace."""

    def get(self, id: str) -> Passage | None:
        """The passage with this id, verbatim; None if there is none."""
        return next(iter(self.get_many([checks.string(id, "id")]).values()), None)

    def get_many(self, ids: Collection[str], *, withdrawn: bool = False) -> dict[str, Passage]:
        """The passages with these ids, by id, all read at one moment. Unknown ids are left out, and
        so are withdrawn passages, unless ``withdrawn`` is True."""
        distinct = dict.fromkeys(checks.strings(ids, "ids"))
        with self._opened.reader(withdrawn=checks.flag(withdrawn, "withdrawn")) as reader:
            found = {passage.id: passage for passage in reader.passages(ids=distinct)}
        return {id: found[id] for id in distinct if id in found}

    def passages(
        self,
        *,
        limit: int | None = None,
        as_of: Moment | None = None,
        withdrawn: bool = False,
        **filters: Unpack[FilterArguments],
    ) -> tuple[Passage, ...]:
        """The passages that meet the filters (as in ``recall``), in the order of their t_index:
        the latest ``limit`` of them; with ``withdrawn`` those that were withdrawn too."""
        at_most = checks.count(limit, "limit")
        where = checks.statement_filter(filters)
        with self._opened.reader(as_of, withdrawn=checks.flag(withdrawn, "withdrawn")) as reader:
            return tuple(reversed(reader.passages(where, limit=at_most)))

    def history(
        self,
        concept: str,
        *,
        limit: int | None = None,
        skip: int = 0,
        as_of: Moment | None = None,
    ) -> tuple[RecalledStatement, ...]:
        """Every statement that mentions ``concept`` (its label, or its name), in order; with a
        ``limit`` those that arrived last, after the last ``skip`` were left out."""
        label = checks.string(concept, "concept")
        at_most = checks.count(limit, "limit")
        skipped = min(checks.whole(skip, "skip", least=0), LARGEST_NUMBER)
        with self._opened.reader(as_of) as reader:
            name = known_name(reader, label, self._opened.concept_name)
            newest = None if at_most is None else min(skipped + at_most, LARGEST_NUMBER)
            found = reader.mentions([name], limit=newest, where=Filter()).get(name)
            rows = reader.statements(found.keys[skipped:]) if found else []
        return tuple(chronological(RecalledStatement.of(row) for row in rows))

    def concepts(
        self,
        labels: Iterable[str] | None = None,
        *,
        limit: int | None = None,
        as_of: Moment | None = None,
    ) -> tuple[ConceptRow, ...]:
        """The known concepts with these labels or names (all if None), latest t_index first."""
        spellings = None if labels is None else checks.strings(labels, "labels")
        at_most = checks.count(limit, "limit")
        with self._opened.reader(as_of) as reader:
            names = spellings and {
                known_name(reader, label, self._opened.concept_name) for label in spellings
            }
            return tuple(reader.concepts(names, limit=at_most))

    def relations(
        self, concept: str, *, limit: int | None = None, as_of: Moment | None = None
    ) -> tuple[RelatedConcept, ...]:
        """The concepts that are related to ``concept`` (its label, or its name), at most ``limit``:
        latest t_index first, then the strongest, then by name."""
        label = checks.string(concept, "concept")
        at_most = checks.count(limit, "limit")
        with self._opened.reader(as_of) as reader:
            name = known_name(reader, label, self._opened.concept_name)
            relations = {
                relation.b if relation.a == name else relation.a: relation
                for relation in reader.relations([name], limit=at_most)
            }
            labels = {row.name: row.label for row in reader.concepts(relations)}
        related = (
            RelatedConcept(
                name=other,
                label=labels.get(other, other),
                strength=found.strength,
                t_index=found.t_index,
            )
            for other, found in relations.items()
        )
        return tuple(sorted(related, key=lambda row: (-row.t_index, -row.strength, row.name)))

    def sessions(
        self, *, limit: int | None = None, as_of: Moment | None = None
    ) -> tuple[Session, ...]:
        """The conversations and documents of this namespace, the latest first, at most ``limit``.

        ``recall(session=name)`` and ``passages(session=name)`` read one; ``forget(session=name)``
        forgets what was given this session, or this source and no session.

        >>> from recallm import RecallM
        >>> memory = RecallM()
        >>> update = memory.update("Ann met Bob.", session="monday")
        >>> [(session.name, session.passages) for session in memory.sessions()]
        [('monday', 1)]
        """
        at_most = checks.count(limit, "limit")
        with self._opened.reader(as_of) as reader:
            return tuple(reader.sessions()[:at_most])

    def stats(self) -> Stats:
        """The size of this namespace. Expired passages count until a sweep forgets them."""
        with self._opened.reader() as reader:
            return reader.stats()
