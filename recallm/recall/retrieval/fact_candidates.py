"""Reads the facts that may answer a question: triplets whose latest evidence no statement shows.

The entities that stand on the question's concepts lead to facts, and so do the relations that it
asks for. Only the newest evidence of each is read, never all of it. With a fact that no longer
holds comes what is true in its place. A triplet that a statement shows leads to that statement.

A question for every answer asks for a pattern, such as ``? — employed by → Pfizer``: all facts of
the pattern that hold are determined (``FactReader.matching``).

What holds is decided as ``FactMemory`` decides it (``recall.predicates.FactReading``), by evidence
within the horizon. The filter says which evidence is shown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from recallm.ground.untrusted_text import fact_line
from recallm.model import (
    NO_POSITION,
    ConceptMention,
    Passage,
    Question,
    StoredStatement,
    Trait,
    TripletEvidence,
    empty_mapping,
    statement_key,
)
from recallm.recall.predicates.held_facts import FactReading
from recallm.recall.ranking.candidates import GraphFact, TripletIds
from recallm.recall.request import RecallRequest
from recallm.recall.retrieval.nearest import meets
from recallm.recall.retrieval.relations import (
    AskedRelation,
    RelationIndex,
    essential_names,
    is_part_of_any,
    named_entities,
)
from recallm.stores.base import GraphReader

_OF_RELATIONS = 64
"""Newest pieces of evidence read of the asked relations, at each end."""

_OF_ENTITIES = 32
"""Newest pieces of evidence read of the question's entities, at each end."""

_OF_GROUPS = 256
"""Newest pieces of evidence read of what may have ended these."""

_PASSAGE_STATEMENTS = 4
"""Statements that a triplet leads to where it came with a text and none of them shows it."""

_SPACING = 4
"""Between the positions of facts: those of one update are not neighbours of one another."""

_TRAITS = {"number": Trait.NUMBER, "date": Trait.TIME}
"""What an object of these types is."""


class FactPattern(NamedTuple):
    """What facts match: ``line`` shows it, as ``? — employed by → Pfizer``; ``matches`` are the
    evidence and the answer of each fact that holds, the newest first."""

    line: str
    matches: Sequence[tuple[TripletEvidence, str]]


class ReadFacts(NamedTuple):
    """``facts``: the candidates, ascending by key. ``stated``: keys of statements that facts lead
    to, each with the line of its fact. ``keys``: for each triplet that was read the key of its
    fact, or of the statement that shows it."""

    facts: tuple[GraphFact, ...]
    stated: Mapping[int, str]
    keys: Mapping[TripletIds, int]


NO_FACTS = ReadFacts((), {}, {})


class FactReader:
    """Reads the facts of one question. ``index`` knows the stored relations; ``reading`` knows what
    holds within the question's horizon."""

    def __init__(
        self, reader: GraphReader, question: Question, request: RecallRequest, index: RelationIndex
    ) -> None:
        self._reader = reader
        self._question = question
        self._where = request.where
        self._index = index
        self.reading = FactReading(reader, index.relations, index.vocabulary)
        self._asked = index.asked(question)
        self._entities = named_entities(reader, question)
        self._passages: dict[str, Passage] = {}

    def matching(self) -> FactPattern | None:
        """All facts of the pattern that the question asks for; None where it asks for none.

        The pattern has the relations that the question asks for, those alone that it holds word for
        word if there are any. Facts that match have each entity of the question as their subject
        or object (if there is none, each that it calls by a name). There is no pattern where no
        entity bears a name of the question, or where more than one content word (the kind of
        answer) belongs to neither entities nor relations.
        """
        literal = {key: asked for key, asked in self._asked.items() if asked.is_literal}
        asked = literal or self._asked
        names = essential_names(self._question)
        if not asked or not all(is_part_of_any(name, self._entities) for name in names):
            return None
        named = [
            entity
            for entity in self._entities
            if " " in entity or any(is_part_of_any(name, [entity]) for name in names)
        ]
        return self._pattern(asked, [*self._entities]) or (
            self._pattern(asked, named) if len(named) < len(self._entities) else None
        )

    def _pattern(
        self, asked: Mapping[str, AskedRelation], entities: Sequence[str]
    ) -> FactPattern | None:
        """The facts of these relations that hold and have each of these entities, each by the
        newest evidence that meets the filter."""
        explained = {word for name in entities for word in name.split()}.union(
            *(relation.stems for relation in asked.values())
        )
        terms = set(self._question.search_terms) - self._question.listing_terms
        if len(terms - explained) > 1:
            return None
        required = [self._entities[name] for name in entities]
        found = self._read(required[0] if required else None, self._index.predicates(asked), None)
        held = {claim.fact for claim in self.reading.held(found, is_complete=not required)}
        newest_first = sorted(
            self._meeting(found), key=lambda each: (-each.t_index, _ids(each), -each.position)
        )
        matches: dict[tuple[str, ...], tuple[TripletEvidence, str]] = {}
        for claim in self.reading.claims(newest_first):
            evidence = claim.evidence
            ends = (evidence.subject, evidence.object)
            is_shown = claim.fact in held and not claim.negative
            if not is_shown or not all(ids.intersection(ends) for ids in required):
                continue
            answer = _answer(evidence, required)
            identity = (answer,) if answer and required else claim.ends
            matches.setdefault(identity, (evidence, answer))
        newest = list(matches.values())
        return FactPattern(_pattern(newest[0][0], required), newest) if newest else None

    def candidates(self, matches: Iterable[TripletEvidence], first_place: int) -> ReadFacts:
        """The facts that may answer, ``matches`` among them. Other candidates take the first
        ``first_place`` places behind the statements of an update."""
        ids = set().union(*self._entities.values())
        predicates = self._index.predicates(self._asked)
        found = [*matches]
        if ids:
            found += self._read(ids, predicates, _OF_RELATIONS) if predicates else ()
            found += self._read(ids, None, _OF_ENTITIES)
        elif predicates:
            found += self._read(None, predicates, _OF_RELATIONS)
        latest = _latest(self._meeting(found))
        endings = self._endings(found, latest)
        past = self._past(latest, endings)
        for triplet, denial in past.items():
            latest.pop(_ids(denial), None)
            del endings[triplet]
        for ending in endings.values():
            latest.setdefault(_ids(ending), ending)
        return self._as_candidates(latest, endings, first_place, past)

    def _past(
        self,
        latest: Mapping[TripletIds, TripletEvidence],
        endings: Mapping[TripletIds, TripletEvidence],
    ) -> dict[TripletIds, TripletEvidence]:
        """The triplets that hold no more and say so themselves, each with its denial, which says
        no more than that: a row that a table has lost. Statements cannot say so."""
        self._read_passages(latest.values())
        silent = {
            ids: ending
            for ids, ending in endings.items()
            if self._index.relations.of(ending.predicate).negative and not self._statements(ending)
        }
        stated = {_ids(end) for ids, end in silent.items() if self._statements(latest[ids])}
        return {ids: end for ids, end in silent.items() if _ids(end) not in stated}

    def _endings(
        self, found: Iterable[TripletEvidence], latest: Mapping[TripletIds, TripletEvidence]
    ) -> dict[TripletIds, TripletEvidence]:
        """For each triplet of ``latest`` that no longer holds by ``found`` and the newest evidence
        of its groups: what is true in its place, where that meets the filter."""
        ends = {
            span.latest.fact: span.end
            for span in self.reading.last_spans(found, _OF_GROUPS)
            if span.end is not None
        }
        endings: dict[TripletIds, TripletEvidence] = {}
        for claim in self.reading.claims(latest.values()):
            last = claim
            passed: set[object] = set()
            while not last.negative and last.fact in ends and last.fact not in passed:
                passed.add(last.fact)
                last = ends[last.fact]
            if last is not claim:
                endings[_ids(claim.evidence)] = last.evidence
        met = {(_ids(each), each.t_index) for each in self._meeting(endings.values())}
        return {ids: each for ids, each in endings.items() if (_ids(each), each.t_index) in met}

    # Reading.

    def _read(
        self, ids: Collection[str] | None, predicates: Collection[str] | None, limit: int | None
    ) -> list[TripletEvidence]:
        """Evidence with these predicates, of these entities at either end."""
        if ids is None:
            return self._reader.triplet_evidence(predicates=predicates, limit=limit)
        return [
            *self._reader.triplet_evidence(subjects=ids, predicates=predicates, limit=limit),
            *self._reader.triplet_evidence(objects=ids, predicates=predicates, limit=limit),
        ]

    def _meeting(self, evidence: Collection[TripletEvidence]) -> list[TripletEvidence]:
        """The evidence that meets every condition of the filter."""
        if not self._where:
            return list(evidence)
        self._read_passages(evidence)
        return [each for each in evidence if meets(self._statement(each, 0), self._where)]

    def _read_passages(self, evidence: Iterable[TripletEvidence]) -> None:
        ids = {each.passage for each in evidence if each.passage is not None}
        unread = ids - self._passages.keys()
        if unread:
            self._passages |= {it.id: it for it in self._reader.passages(ids=unread)}

    # As candidates.

    def _as_candidates(
        self,
        latest: Mapping[TripletIds, TripletEvidence],
        endings: Mapping[TripletIds, TripletEvidence],
        first_place: int,
        past: Mapping[TripletIds, TripletEvidence],
    ) -> ReadFacts:
        """Triplets as facts, or as the statements that show them; ``endings`` are what
        is true in their place, ``past`` the denials of those that say that they are past."""
        self._read_passages(latest.values())
        stated: dict[int, str] = {}
        keys: dict[TripletIds, int] = {}
        unstated: list[TripletEvidence] = []
        for triplet, evidence in latest.items():
            if statements := self._statements(evidence):
                keys[triplet] = statements[0]
                stated |= dict.fromkeys(statements, _line(evidence))
            else:
                unstated.append(evidence)
        unstated.sort(key=lambda evidence: (evidence.t_index, _ids(evidence)))
        first = NO_POSITION - _SPACING * (first_place + len(unstated))
        for place, evidence in enumerate(unstated):
            keys[_ids(evidence)] = statement_key(evidence.t_index, first + _SPACING * place)
        return ReadFacts(
            tuple(
                self._fact(each, keys, endings.get(_ids(each)), past.get(_ids(each)))
                for each in unstated
            ),
            stated,
            keys,
        )

    def _statements(self, evidence: TripletEvidence) -> list[int]:
        """The keys of the statements that show a triplet, or of those that came with it."""
        if evidence.position != NO_POSITION:
            return [statement_key(evidence.t_index, evidence.position)]
        passage = self._passages.get(evidence.passage or "")
        if passage is None or not passage.text.strip():
            return []
        positions = range(_PASSAGE_STATEMENTS)
        return [statement_key(evidence.t_index, position) for position in positions]

    def _fact(
        self,
        evidence: TripletEvidence,
        keys: Mapping[TripletIds, int],
        ending: TripletEvidence | None,
        denial: TripletEvidence | None,
    ) -> GraphFact:
        statement = self._statement(evidence, keys[_ids(evidence)])
        if denial is not None:
            statement = statement._replace(text=f"{statement.text} [{_until(denial)}]")
        return GraphFact(
            statement=statement,
            triplet=_ids(evidence),
            passage=evidence.passage,
            path=tuple(self._path(evidence)),
            ended_by=None if ending is None else keys[_ids(ending)],
        )

    def _path(self, evidence: TripletEvidence) -> Iterator[str]:
        """How the graph led from the question to a fact."""
        for ids in self._entities.values():
            if evidence.subject in ids:
                yield f"fact of {evidence.subject_label}"
            elif evidence.object in ids:
                yield f"fact of {evidence.object_label}"
        if self._index.relations.of(evidence.predicate).name in self._asked:
            yield f"fact of the relation {evidence.predicate}"

    def _statement(self, evidence: TripletEvidence, key: int) -> StoredStatement:
        """A fact as one more statement, with what is known of its passage."""
        passage = self._passages.get(evidence.passage or "")
        relations = self._index.relations
        mentions = {
            name: ConceptMention(name=name, label=label, kind="entity")
            for name, label in (
                (evidence.subject_concept, evidence.subject_label),
                (evidence.object_concept, evidence.object_label),
            )
            if name
        }
        terms = (
            evidence.subject_concept or evidence.subject_label.casefold(),
            relations.name(evidence.predicate).name,
            evidence.object_concept or evidence.object_label.casefold(),
        )
        line = _line(evidence)
        return StoredStatement(
            key=key or statement_key(evidence.t_index, evidence.position),
            passage_id=f"fact:{line}" if passage is None else passage.id,
            text=line,
            timestamp=evidence.timestamp,
            speaker=None if passage is None else passage.speaker,
            speaker_concept=None,
            source=evidence.source,
            session=None if passage is None else passage.session,
            session_key=None,
            metadata=empty_mapping() if passage is None else passage.metadata,
            terms=tuple(word for term in terms for word in term.split()),
            concepts=tuple(mentions.values()),
            traits=Trait.NAME
            | _TRAITS.get(evidence.object_type, Trait(0))
            | (Trait.NEGATION if relations.of(evidence.predicate).negative else Trait(0)),
            previous=None,
            next=None,
            item_path=None if passage is None or passage.key is None else passage.path,
        )


def _latest(evidence: Iterable[TripletEvidence]) -> dict[TripletIds, TripletEvidence]:
    """The latest evidence of each triplet."""
    return {
        _ids(each): each
        for each in sorted(evidence, key=lambda each: (each.t_index, each.position))
    }


def _ids(evidence: TripletEvidence) -> TripletIds:
    return evidence.subject, evidence.predicate, evidence.object


def _line(evidence: TripletEvidence) -> str:
    return fact_line(evidence.subject_label, evidence.predicate, evidence.object_label)


def _until(denial: TripletEvidence) -> str:
    """Since when a fact holds no more, in words."""
    return f"until {denial.timestamp:%Y-%m-%d}" if denial.timestamp else "no longer"


def _answer(evidence: TripletEvidence, required: Sequence[Collection[str]]) -> str:
    """The label at the end that the question does not name, the subject's if it names neither; ''
    if it names both."""
    if not any(evidence.subject in ids for ids in required):
        return evidence.subject_label
    if not any(evidence.object in ids for ids in required):
        return evidence.object_label
    return ""


def _pattern(evidence: TripletEvidence, required: Sequence[Collection[str]]) -> str:
    """A fact as a line, with a question mark at each end that the question does not name."""
    subject, object_ = (
        label if any(id in ids for ids in required) else "?"
        for id, label in (
            (evidence.subject, evidence.subject_label),
            (evidence.object, evidence.object_label),
        )
    )
    return fact_line(subject, evidence.predicate, object_)
