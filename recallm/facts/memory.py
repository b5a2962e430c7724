"""``FactMemory``: facts that are written, read, and change (RET-LLM, section 3.1)."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import islice
from typing import Any, Self, get_args

from recallm.errors import ConflictError, InvalidInputError
from recallm.facts.fact import (
    PARTS,
    Change,
    Fact,
    Match,
    NewFact,
    Term,
    Terms,
    checked_facts,
    checked_terms,
    denied,
    update_arguments,
)
from recallm.facts.searching import Search, declared_relations
from recallm.facts.tables import TableLoad, TableReport, checked_rows
from recallm.facts.values import value_of
from recallm.ground import checks
from recallm.ground.methods import knows_its_arguments
from recallm.memory import RecallM
from recallm.memory.recallm import checked_memory
from recallm.memory.update_request import UpdateRequest
from recallm.model import NO_POSITION, Moment
from recallm.recall.predicates.held_facts import FactReading, PerVocabulary, Vocabulary
from recallm.recall.predicates.holding import Claim, Side


@knows_its_arguments
class FactMemory:
    """Facts in the graph of ``memory``: triplets, whoever wrote them.

    A fact that is written is one knowledge update of its own. What holds is derived from the
    evidence when it is read:

    * A relation is **single-valued** where a subject has one object at a time ("works for", "lives
      in"), or an object one subject ("president of"): a newer fact supersedes the older one, which
      stays in the history. ``single_valued`` and ``multi_valued`` say which relations have
      one value (predicates; a mapping gives the end, "subject" or "object"); for others a table of
      common English relations says so. A relation in neither keeps every value.
    * A denied predicate ("no longer works for", "not works for") **ends** a fact, whichever
      phrasing of the relation asserted it.
    * Order is that of ``said`` where every piece of evidence for a subject and a relation has it,
      else that of arrival. What is forgotten counts no more, so that the earlier value holds again.

    Terms are names, relations and values. A term finds what bears the same concept's name ("bmw"
    finds "BMW"); a relation also finds its other phrasings in the table ("works for", "employed
    by"). Numbers, dates and bools are stored by their one text (``recallm.facts.values``).

    >>> from recallm import RecallM
    >>> facts = FactMemory(RecallM())
    >>> for employer in ("Cisco", "BMW"):
    ...     fact = facts.write("Ada", "employed by", employer)
    >>> [fact.line for fact in facts.read("Ada", "works for")]
    ['Ada — employed by → BMW']
    >>> [fact.object for fact in facts.read("Ada", "works for", as_of=1)]
    ['Cisco']
    >>> [(change.object, change.ended_by) for change in facts.changes("Ada", "works for")]
    [('Cisco', 'superseded'), ('BMW', None)]

    Where an argument cannot be used, every method raises ``InvalidInputError``; where the store
    fails, ``StoreError``. ``as_of`` asks for what held at a t_index, or by what was said up to an
    aware datetime. Safe to use from several threads, as the memory is, and closed with it.
    """

    def __init__(
        self,
        memory: RecallM,
        *,
        single_valued: Iterable[str] | Mapping[str, Side] = (),
        multi_valued: Iterable[str] = (),
    ) -> None:
        self._memory = checked_memory(memory, "FactMemory(RecallM('memory.db'))")
        concept_name = memory.graph.concept_name
        self._relations = relations = declared_relations(concept_name, single_valued, multi_valued)
        self._vocabularies = PerVocabulary(lambda predicates: Vocabulary(predicates, relations))
        self._search = Search(concept_name, relations, memory.embedding)

    @property
    def memory(self) -> RecallM:
        """The memory whose graph holds the facts."""
        return self._memory

    def in_namespace(self, name: str) -> Self:
        """The facts of another owner, with the same settings."""
        other = copy.copy(self)
        other._memory = self._memory.in_namespace(name)
        return other

    # -- writing ---------------------------------------------------------------------------

    def write(
        self,
        subject: Term,
        relation: Term,
        object: Term,
        *,
        said: datetime | None = None,
        source: str | None = None,
        properties: Mapping[str, Any] | None = None,
        id: str | None = None,
    ) -> Fact:
        """Write a fact as one knowledge update, and return it.

        ``said`` (aware): when it was said; ``source``: where it comes from; ``properties``: JSON
        values of this evidence; ``id``: of the update's passage, by which ``memory.forget`` takes
        the fact back. The same ``id`` with the same fact changes nothing.

        Raises:
            ConflictError: ``id`` belongs to another fact or text.
        """
        new = NewFact(subject, relation, object, said, source, properties)
        arguments = update_arguments(new, new.terms, embeddings=self._search.embeddings)
        update = self._memory.update(**arguments, id=id)
        triplets = self._memory.graph.triplets(passages=[update.id]) if update.duplicate else []
        written = [(triplet.subject, triplet.predicate, triplet.object) for triplet in triplets]
        if update.duplicate and written != [new.terms]:
            raise ConflictError(update.id)
        written_subject, predicate, written_object = new.terms
        return Fact(
            subject=written_subject,
            relation=predicate,
            object=written_object,
            value=value_of(written_object),
            t_index=update.t_index,
            said=new.said,
            source=new.source,
            passage=update.id,
            properties=new.properties or {},
        )

    def write_text(
        self,
        text: str,
        *,
        speaker: str | None = None,
        said: datetime | None = None,
        source: str | None = None,
        session: str | None = None,
        id: str | None = None,
    ) -> list[Fact]:
        """Write a text as one knowledge update, with the facts that it states, and return these in
        the order of their statements.

        The text is recalled like any other, and forgetting it, or one of its statements, takes the
        facts along. What it denies is a fact with a denied relation; what it calls possible has a
        relation that says so ("may join"). ``speaker`` says "I"; the other arguments are those of
        ``write`` and of ``RecallM.update``. The same ``id`` with the same text changes nothing. It
        takes a parse, whatever the memory's own ``triplets``; texts are English.

        >>> from recallm import RecallM
        >>> facts = FactMemory(RecallM())
        >>> written = facts.write_text("Cyrus Alfred and Tia Batres are customers of Pfizer.")
        >>> [fact.line for fact in written]
        ['Cyrus Alfred — customer of → Pfizer', 'Tia Batres — customer of → Pfizer']

        Raises:
            ConflictError: ``id`` belongs to another text.
            PipelineError: the memory's spaCy pipeline is not English.
        """
        request = UpdateRequest(
            text=text,
            id=id,
            speaker=speaker,
            timestamp=said,
            source=source,
            session=session,
            states_facts=True,
        )
        update = self._memory.write(request)
        with self._memory.graph.reader() as reader:
            written = reader.triplets(passages=[update.id])
            found = reader.triplet_evidence(
                subjects={triplet.subject for triplet in written},
                predicates={triplet.predicate for triplet in written},
                objects={triplet.object for triplet in written},
            )
        of_text = [row for row in found if row.passage == update.id and row.position != NO_POSITION]
        return [Fact.of(row) for row in sorted(of_text, key=lambda row: row.position)]

    def write_many(
        self,
        facts: Iterable[NewFact | Sequence[Term]],
        *,
        batch_size: int = 1000,
    ) -> int:
        """Write many facts, each as a knowledge update of its own, in one transaction for each
        batch; return how many. A fact is a ``NewFact``, or its subject, relation and object.

        Raises:
            InvalidInputError: item ``index`` cannot be used. Nothing of its batch was written, the
                batches before it are. The same holds where the store fails.
        """
        size = checks.count(batch_size, "batch_size") or 1
        written = 0
        checked = checked_facts(facts)
        while batch := list(islice(checked, size)):
            self._search.embed([end for new in batch for end in new.terms[::2]])
            updates = [
                update_arguments(new, new.terms, embeddings=self._search.embeddings)
                for new in batch
            ]
            self._memory.update_many(updates, batch_size=size)
            written += len(batch)
        return written

    def end(
        self,
        subject: Term,
        relation: Term,
        object: Term | None = None,
        *,
        said: datetime | None = None,
        source: str | None = None,
    ) -> list[Fact]:
        """Write that a fact no longer holds, as one knowledge update with the denied predicate;
        without an ``object``, of every object that holds. Return the facts that ended.

        Terms are matched exactly. The denial of a fact that does not hold is written too: it ends
        what is reported later and was said earlier.
        """
        new = NewFact(subject, relation, subject if object is None else object, said, source)
        subject_text, predicate, object_text = new.terms
        if self._relations.of(predicate).negative:
            raise InvalidInputError(
                "relation is denied already; give the relation that ends", argument="relation"
            )
        asked = subject_text, predicate, None if object is None else object_text
        held = self._held(asked)
        ended = [
            (denial.evidence.subject, denied(denial.evidence.predicate), denial.evidence.object)
            for denial in held.values()
        ]
        if object is not None and not held:
            ended = [(subject_text, denied(predicate), object_text)]
        if not ended:
            return []
        self._memory.update(**update_arguments(new, *ended))
        still = self._held(asked)
        return [Fact.of(claim.evidence) for ends, claim in held.items() if ends not in still]

    def _held(self, asked: Terms) -> dict[tuple[str, str], Claim]:
        """What the terms find exactly and holds, by its ends, newest first."""
        with self._reading() as reading:
            found = reading.find(self._search.conditions(reading, asked))
        return {claim.ends: claim for claim in found.facts}

    def load(
        self,
        rows: Iterable[Mapping[str, Any]],
        *,
        key: str,
        name: str,
        said: datetime | None = None,
    ) -> TableReport:
        """Write the rows of a table as facts, or, if it was loaded before, what has changed in it.

        A row is a mapping, such as those of ``csv.DictReader`` and of a data frame's
        ``to_dict("records")``. The column ``key`` names the subject of each row; every other column
        is a relation, its cells the objects. ``name`` is the source of the facts. A fact of this
        source that the table no longer states (its cell changed or is blank, its row is gone) is
        ended, even if another source states it too. A cell that did not change is not written
        again, even if another source ended its fact. ``said`` (aware): when the rows were said;
        default: now. A row is never said before what it changes. The metadata of its passage is its
        ``key`` and ``row``.

        A cell is a text (stripped; as written, so that "1.50" stays), a finite number, a date, a
        bool, or a list of these, each a fact of its own. Blank texts, None, NaN and NaT are none.
        All rows are checked before anything is written; an error names the row. Keys that differ in
        case alone are refused.

        A load of more than some thousand facts is several transactions; one that was cut off is
        completed by loading the table again.

        >>> from recallm import RecallM
        >>> facts = FactMemory(RecallM())
        >>> staff = [{"name": "Ada", "works for": "BMW"}, {"name": "Bo", "works for": "Cisco"}]
        >>> facts.load(staff, key="name", name="staff").added
        2
        >>> facts.load([{"name": "Ada", "works for": "Pfizer"}], key="name", name="staff")
        TableReport(rows=1, added=0, changed=1, ended=1, unchanged=0)
        """
        source = checks.name(name, "name")
        moment = checks.timestamp(said, "said") or self._memory.now()
        table = checked_rows(rows, checks.string(key, "key"), self._relations)
        return TableLoad(
            self._memory, self._relations, self._search.embeddings, source, moment
        ).write(table)

    # -- reading ---------------------------------------------------------------------------

    def read(
        self,
        subject: Term | None = None,
        relation: Term | None = None,
        object: Term | None = None,
        *,
        as_of: Moment | None = None,
        match: Match = "similar",
        limit: int | None = None,
        min_confidence: float | None = None,
    ) -> list[Fact]:
        """The facts that hold, newest first; at most ``limit``, those that arrived last.

        None stands for any subject, relation or object: the paper's six forms, the full one, and
        everything. A denied relation ("no longer works for") finds denials. Evidence of less
        confidence than ``min_confidence`` (0 to 1) does not count; 0 also counts what texts call
        possible, ask or wish ("may join"). None: 0.5 for single-valued relations, 0.85 for
        others.
        """
        checks.choice(get_args(Match), match, "match")
        at_most = checks.count(limit, "limit")
        least = checks.probability(min_confidence, "min_confidence")
        with self._reading(as_of, least) as reading:
            terms = checked_terms(subject, relation, object)
            return self._search.facts(reading, terms, match, at_most)

    def changes(
        self, subject: Term, relation: Term, *, as_of: Moment | None = None
    ) -> list[Change]:
        """The values that the relation has or had for a subject, in the order in which they began.

        Terms are matched exactly. A value that came back is listed twice.
        """
        terms = checked_terms(subject, relation, None)
        with self._reading(as_of) as reading:
            spans = reading.history(self._search.conditions(reading, terms))
        return [Change.of(span) for span in spans]

    def count(
        self,
        subject: Term | None = None,
        relation: Term | None = None,
        object: Term | None = None,
        *,
        as_of: Moment | None = None,
        match: Match = "similar",
    ) -> int:
        """How many different values the one term that is not given has; with more or none of them
        not given, how many facts hold."""
        found = self.read(subject, relation, object, as_of=as_of, match=match)
        terms = subject, relation, object
        parts = (PARTS[terms.index(None)],) if terms.count(None) == 1 else PARTS
        key = self._search.key
        return len({tuple(key(part, getattr(fact, part)) for part in parts) for fact in found})

    # -- parts -----------------------------------------------------------------------------

    @contextmanager
    def _reading(
        self, as_of: Moment | None = None, min_confidence: float | None = None
    ) -> Iterator[FactReading]:
        """All reads within one horizon see one state."""
        with self._memory.graph.reader(as_of) as reader:
            vocabulary = self._vocabularies.of(self._memory.namespace, reader)
            yield FactReading(reader, self._relations, vocabulary, min_confidence)
