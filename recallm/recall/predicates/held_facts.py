"""Which triplets hold, held or are denied by the evidence that one reader sees.

``FactMemory`` and recall ask here.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import chain
from typing import Final, Generic, NamedTuple, TypeVar

from recallm.ground.entity_words import whole_name
from recallm.ground.forking import new_lock
from recallm.model import NO_POSITION, TripletEvidence
from recallm.recall.predicates.holding import (
    VALUE_TYPES,
    Claim,
    GroupKey,
    Holding,
    Side,
    Span,
    group_key,
    holding,
)
from recallm.recall.predicates.relations import PredicateName, Relations, opposed_qualities
from recallm.recall.predicates.similarity import RelationVectors, SimilarRelations
from recallm.recall.results import chronological
from recallm.stores.base import GraphReader

_BE = "be"
"""The name of the predicate before a quality: ⟨lamp, is, broken⟩."""

_QUALITY = "phrase"
"""The type of an entity that is a quality."""

_OF_SUBJECT = ("subject", "value")
"""The sides by which the claims of one subject decide."""

_SPELLINGS = 1000
"""Entities that stand on one concept and are read."""

_FIRST_ROWS = 64
"""Pieces of evidence that a limited read begins with."""


_SURE: Final = 0.85
_LIKELY: Final = 0.5
"""Confidence of evidence that counts where nobody says otherwise: of most relations; of those with
one value, and of what ends a fact, since what is out of date would be shown in its place."""


def evidence_confidence(evidence: TripletEvidence) -> float:
    """How sure it is that a text states what a piece of evidence says (0 to 1): 0 where the text
    calls it possible, asks or wishes it, 1 where it was written as a fact."""
    properties = evidence.properties
    if evidence.position == NO_POSITION:
        return 1.0
    return 0.0 if properties.get("modality") else float(properties.get("confidence", 1.0))


class Conditions(NamedTuple):
    """Which facts are meant: ids of subjects, the key of a relation, ids of objects. None: any."""

    subjects: Collection[str] | None = None
    relation: PredicateName | None = None
    objects: Collection[str] | None = None


_ALL = Conditions()


class Found(NamedTuple):
    """What meets the conditions. ``facts``: the latest claim for each fact that holds, newest
    first. ``is_known``: whether there is any evidence, also of what no longer holds."""

    facts: list[Claim]
    is_known: bool


class FactReading:
    """What holds in one namespace within the horizon of ``reader``, by evidence of at least
    ``min_confidence``; None: of 0.5 for single-valued relations, else of 0.85."""

    def __init__(
        self,
        reader: GraphReader,
        relations: Relations,
        vocabulary: Vocabulary,
        min_confidence: float | None = None,
    ) -> None:
        self.reader = reader
        self._min_confidence = min_confidence
        self.relations = relations
        self.vocabulary = vocabulary

    def on_concepts(self, concepts: Collection[str]) -> set[str]:
        """The ids of the entities that stand on these concepts."""
        words = [whole_name(concept) for concept in concepts]
        found = self.reader.entities_by_words(words, limit=_SPELLINGS)
        return {id for ids in found.values() for id in ids}

    def find(self, where: Conditions, limit: int | None = None) -> Found:
        """The facts that hold and meet the conditions; at most ``limit`` of them, those of latest
        t. Where the relation is a denied one: the denials that are the last word.

        With a limit the latest evidence is read first, and as much more as that takes. Whether a
        fact holds is always decided by all evidence of its group.
        """
        size = None if limit is None else max(_FIRST_ROWS, 2 * limit)
        while True:
            evidence = self._evidence(where, size)
            is_complete = size is None or len(evidence) < size
            claims = self.held(evidence, where, is_complete=is_complete)
            if size is None or is_complete or (limit is not None and len(claims) >= limit):
                claims.sort(key=lambda each: each.evidence[:1] + each.evidence[3:5])
                claims.sort(key=lambda each: (each.t_index, each.position), reverse=True)
                return Found(chronological(reversed(claims[:limit]))[::-1], bool(evidence))
            size *= 4

    def history(self, where: Conditions) -> list[Span]:
        """The spans of the facts that meet the conditions, in the order in which they began."""
        evidence = self._evidence(where, None)
        meant = {claim.ends for claim in self.claims(evidence)}
        groups = self._groups(where, evidence, is_complete=True)
        spans = {
            span.first.place: span
            for group in groups
            for span in group.spans
            if span.first.ends in meant
        }
        return [spans[each.place] for each in chronological(each.first for each in spans.values())]

    def last_spans(self, evidence: Iterable[TripletEvidence], limit: int) -> Iterator[Span]:
        """For each fact of the groups of ``evidence`` the last span of time in which it held, by
        few reads.

        Beside ``evidence`` the newest ``limit`` pieces decide for all relations that have one
        object, as many for those that have one subject, and for all others.
        """
        for group in self._groups(_ALL, evidence, is_complete=False, limit=limit):
            yield from {span.latest.fact: span for span in group.spans}.values()

    def current(self, evidence: Collection[TripletEvidence]) -> list[Claim]:
        """The claims of ``evidence`` that are so by now: facts that hold, and denials behind which
        their group has no other fact."""
        held: set[object] = set()
        for group in self._groups(_ALL, evidence, is_complete=False):
            latest = [span.latest for span in group.held]
            last = max((claim.t_index for claim in latest), default=0)
            denials = (claim for claim in group.denied.values() if claim.t_index >= last)
            held.update((claim.fact, claim.negative) for claim in (*latest, *denials))
        return [claim for claim in self.claims(evidence) if (claim.fact, claim.negative) in held]

    def held(
        self, evidence: Collection[TripletEvidence], where: Conditions = _ALL, *, is_complete: bool
    ) -> list[Claim]:
        """The latest claim for each fact of ``evidence`` that holds; the denials that are the last
        word where the conditions have a denied relation. ``is_complete``: ``evidence`` is all that
        meets the conditions."""
        denials = where.relation is not None and where.relation.negative
        meant = {claim.fact for claim in self.claims(evidence) if claim.negative == denials}
        found: list[Claim] = []
        for group in self._groups(where, evidence, is_complete=is_complete):
            if denials:
                latest: Iterable[Claim] = group.denied.values()
            else:
                latest = (span.latest for span in group.held)
            found += (claim for claim in latest if claim.fact in meant)
        return found

    def _groups(
        self,
        where: Conditions,
        evidence: Iterable[TripletEvidence],
        *,
        is_complete: bool,
        limit: int | None = None,
    ) -> Iterator[Holding]:
        """Each group with evidence that meets the conditions, and others. The rest of a group is
        read where the conditions or a limit left some of it out: the newest ``limit`` pieces."""
        by_side: dict[Side | None, list[Claim]] = {}
        for claim in self.claims(evidence):
            by_side.setdefault(self.relations.side(claim.relation), []).append(claim)
        for side, of_side in by_side.items():
            rivals = where.subjects if side == "object" else where.objects
            if side is None:  # nothing but a denial ends these facts
                open_ = [each for each in of_side if self.vocabulary.has_denials(each.relation)]
                has_all = is_complete or not open_
            else:
                open_, has_all = of_side, is_complete and rivals is None
            known: Collection[Claim] = of_side
            if not has_all:
                rest = self._of_groups(open_, side, limit)
                known = {each.place: each for each in (*of_side, *rest)}.values()
            groups: defaultdict[GroupKey, list[Claim]] = defaultdict(list)
            for claim in (*known, *self._endings(known)):
                groups[group_key(claim, side)].append(claim)
            for group in groups.values():
                yield holding(group, single_valued=side is not None)

    def _endings(self, claims: Iterable[Claim]) -> list[Claim]:
        """Denials of the claims by what ends their facts in other words: that Ada is divorced, that
        Bo broke up with her, that the lamp is fixed."""
        by_relation: dict[str, dict[object, Claim]] = {}
        for claim in claims:
            if not claim.negative and (claim.relation != _BE or self._rivals(claim)):
                by_relation.setdefault(claim.relation, {})[claim.fact] = claim
        return [
            denial
            for relation, facts in by_relation.items()
            for denial in self._endings_of(relation, facts.values())
        ]

    def _endings_of(self, relation: str, facts: Collection[Claim]) -> Iterator[Claim]:
        """Denials of the facts of one relation."""
        events, qualities = self.relations.endings(relation)
        keys = {*events, _BE} if qualities else set(events)
        if relation == _BE:
            keys = set[str]().union(*map(self._rivals, facts))
        asserted = self.vocabulary.asserted
        predicates = [each for key in sorted(keys) for each in asserted.get(key, ())]
        if not predicates:
            return
        ids = {*self._ends(facts, "subject"), *self._ends(facts, "object")}
        evidence = self.reader.triplet_evidence(subjects=ids, predicates=predicates)
        if relation == _BE:  # whoever is married by somebody is divorced no more, too
            evidence = [
                *evidence,
                *self.reader.triplet_evidence(objects=ids, predicates=predicates),
            ]
        of_subject: defaultdict[str, list[Claim]] = defaultdict(list)
        of_object: defaultdict[str, list[Claim]] = defaultdict(list)
        for fact in facts:
            of_subject[fact.subject].append(fact)
            of_object[fact.object].append(fact)
        for ending in self.claims(evidence, are_endings=True):
            near = (of_subject[ending.subject], of_subject[ending.object])
            ended = {
                fact.fact: fact
                for fact in chain(*near, of_object[ending.subject])
                if self._is_ended(fact, ending)
            }
            for fact in ended.values():
                yield fact._replace(negative=True, evidence=ending.evidence)

    def _rivals(self, claim: Claim) -> Collection[str]:
        """The keys of the relations that may end a quality; none for what ends by denials alone."""
        rivals = self.relations.ruled_out(_quality(claim))
        return {*rivals, _BE} if rivals or _opposed(claim) else ()

    def _is_ended(self, fact: Claim, ending: Claim) -> bool:
        """Whether a claim is ended by another one, which does not deny it."""
        if ending.negative:
            return False
        if ending.relation == _BE and fact.relation == _BE:
            return ending.subject == fact.subject and _quality(ending) in _opposed(fact)
        if ending.relation == _BE:
            _, qualities = self.relations.endings(fact.relation)
            return ending.subject in fact.ends and _quality(ending) in qualities
        if fact.relation == _BE:
            rivals = self.relations.ruled_out(_quality(fact))
            return fact.subject in ending.ends and ending.relation in rivals
        either = self.relations.is_of_either(ending.relation)
        return fact.ends == ending.ends or (either and fact.ends == ending.ends[::-1])

    def _of_groups(
        self, claims: Collection[Claim], side: Side | None, limit: int | None = None
    ) -> Iterator[Claim]:
        """The claims of the groups of these ones, whose relations have one value at ``side``; the
        newest ``limit``."""
        relations = sorted({claim.relation for claim in claims})
        evidence = self.reader.triplet_evidence(
            subjects=None if side == "object" else self._ends(claims, "subject"),
            predicates=[each for key in relations for each in self.vocabulary.predicates(key)],
            objects=None if side in _OF_SUBJECT else self._ends(claims, "object"),
            limit=limit,
        )
        return self.claims(evidence)

    def _ends(self, claims: Iterable[Claim], side: Side) -> Collection[str]:
        """The ids of the claims' subjects or objects, with those of other entities that stand on
        the same concepts."""
        ids: set[str] = set()
        concepts: set[str] = set()
        for claim in claims:
            id, _, concept = _end(claim.evidence, side)
            ids.add(id)
            if concept:
                concepts.add(concept)
        return ids | self.on_concepts(concepts)

    def _evidence(self, where: Conditions, limit: int | None) -> list[TripletEvidence]:
        predicates = None
        if where.relation is not None:
            predicates = self.vocabulary.predicates(where.relation.name)
        if any(ids is not None and not ids for ids in (where.subjects, predicates, where.objects)):
            return []
        return self.reader.triplet_evidence(
            subjects=where.subjects, predicates=predicates, objects=where.objects, limit=limit
        )

    def claims(
        self, evidence: Iterable[TripletEvidence], *, are_endings: bool = False
    ) -> Iterator[Claim]:
        """What each piece of evidence says that is sure enough."""
        of, end, least = self.relations.of, end_key, self._min_confidence
        for each in evidence:
            relation, negative = of(each.predicate)
            has_one_value = relation != _BE and self.relations.side(relation) is not None
            default = _LIKELY if are_endings or has_one_value else _SURE
            if evidence_confidence(each) < (default if least is None else least):
                continue
            subject = end(each.subject, each.subject_concept)
            object_ = end(each.object, each.object_concept)
            is_value = each.object_type in VALUE_TYPES or (
                relation == _BE
                and each.object_type != _QUALITY
                and self.relations.is_role(each.subject_label)
            )
            yield Claim(subject, relation, object_, negative, each, is_value)


def _quality(claim: Claim) -> str:
    """What a claim of "is" says of its subject."""
    return claim.evidence.object_label.casefold()


def _opposed(claim: Claim) -> Collection[str]:
    """The qualities that cannot hold beside the one of a claim."""
    return opposed_qualities().get(_quality(claim), ())


def _end(evidence: TripletEvidence, side: Side) -> tuple[str, str, str]:
    """Id, label and concept of one end."""
    return evidence[:3] if side == "subject" else evidence[4:7]


def end_key(id: str, concept: str) -> str:
    """What tells an end apart: the name of its concept, or its id behind a blank, which begins no
    name."""
    return concept or f" {id}"


# The predicates of a namespace.


_NAMESPACES = 64
"""Namespaces of which something is remembered."""

_T = TypeVar("_T")


class Vocabulary:
    """The predicates of a namespace, each with the number of its triplets, by the relation that
    they phrase."""

    def __init__(self, predicates: Mapping[str, int], relations: Relations) -> None:
        self.asserted: dict[str, list[str]] = {}
        """The predicates that assert a relation, by its key."""
        self._negative: dict[str, list[str]] = {}
        self._triplets: Counter[str] = Counter()
        self._compared: SimilarRelations | None = None
        for predicate, triplets in predicates.items():
            key, negative = relations.of(predicate)
            (self._negative if negative else self.asserted).setdefault(key, []).append(predicate)
            self._triplets[key] += triplets

    def predicates(self, key: str) -> list[str]:
        """Every predicate that phrases the relation, those that deny it too."""
        return self.asserted.get(key, []) + self._negative.get(key, [])

    def has_denials(self, key: str) -> bool:
        """Whether a predicate denies the relation."""
        return key in self._negative

    def compared(self, vectors: RelationVectors, most: int) -> SimilarRelations:
        """The ``most`` relations that have the most triplets, ready to be compared."""
        if self._compared is None:
            ranked = sorted(self.asserted, key=lambda key: (-self._triplets[key], key))
            chosen = {key: self.asserted[key] for key in ranked[:most]}
            self._compared = SimilarRelations(vectors, chosen)
        return self._compared


class PerVocabulary(Generic[_T]):
    """What ``make`` makes of the predicates of a namespace (with the numbers of their triplets),
    remembered until their set changes. Safe to use from several threads at once."""

    def __init__(self, make: Callable[[Mapping[str, int]], _T]) -> None:
        self._make = make
        self._made: OrderedDict[str, tuple[int, _T]] = OrderedDict()
        self._lock = new_lock()

    def of(self, namespace: str, reader: GraphReader) -> _T:
        """That of the namespace of ``reader``."""
        vocabulary = reader.state.vocabulary
        with self._lock:
            known = self._made.get(namespace)
            if known is None or known[0] != vocabulary:
                known = vocabulary, self._make(reader.predicates())
                self._made[namespace] = known
                if len(self._made) > _NAMESPACES:
                    self._made.popitem(last=False)
            self._made.move_to_end(namespace)
        return known[1]
