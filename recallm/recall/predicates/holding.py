"""What holds by the evidence of triplets, and what held before.

Nothing of this is stored. Evidence of one group is read in the order in which it became true
(``recall.results.chronological``: by timestamp where all of it has one, else by t), update by
update:

* Evidence of a predicate begins a span, or prolongs the one that is open.
* Evidence of the denied predicate ends the span of its subject and object. If it corrects what was
  said by mistake, there was no such span.
* Where the relation is single-valued, evidence of another value ends the span too. Two values in
  one update do not end each other.

So a fact that was reported late but true earlier is never the current one, and forgetting the
evidence that ended a span opens it again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Literal, NamedTuple, TypeAlias

from recallm.model import TripletEvidence
from recallm.recall.results import chronological

Side: TypeAlias = Literal["subject", "object", "value"]
"""The end of which a single-valued relation has one: "subject", where a subject has one object
(works for); "object", where an object has one subject (capital of); "value", where a subject has
one number or date, and any number of things (is)."""

Ending: TypeAlias = Literal["superseded", "ended"]
"""What ended a span: another value, or a denial."""

VALUE_TYPES = frozenset(("number", "date", "boolean"))
"""The types of entities that are values."""

_A_VALUE = " value"
"""In the place of an object: any value. No name begins with a blank."""

GroupKey: TypeAlias = tuple[str, str | None, str | None]
"""Relation, subject and object of the claims that can end one another; None: any thing."""


class Claim(NamedTuple):
    """What one piece of evidence says. ``subject`` and ``object`` are the names of the concepts, or
    other keys that tell two ends apart; ``relation`` is the key of the relation. ``is_value``: the
    object is a number, a date or a bool, or the one value of a role ("the password")."""

    subject: str
    relation: str
    object: str
    negative: bool
    evidence: TripletEvidence
    is_value: bool = False

    @property
    def ends(self) -> tuple[str, str]:
        """Subject and object."""
        return self.subject, self.object

    @property
    def fact(self) -> tuple[str, str, str]:
        """Relation, subject and object: what other evidence of the same fact shares."""
        return self.relation, self.subject, self.object

    @property
    def place(self) -> tuple[str, str, str, int, int]:
        """What tells this piece of evidence from all others of a namespace."""
        each = self.evidence
        return each.subject, each.predicate, each.object, each.t_index, each.position

    @property
    def timestamp(self) -> datetime | None:
        """When it was said."""
        return self.evidence.timestamp

    @property
    def t_index(self) -> int:
        """The temporal index of its knowledge update."""
        return self.evidence.t_index

    @property
    def position(self) -> int:
        """The place of its statement in the passage."""
        return self.evidence.position


@dataclass(slots=True)
class Span:
    """The time for which a subject and an object stood in a relation.

    ``first`` is the evidence that began it, ``latest`` the evidence for it of greatest t.
    ``end`` is the evidence that ended it, None while it holds.
    """

    first: Claim
    latest: Claim
    end: Claim | None = None
    ended_by: Ending | None = None


@dataclass(frozen=True, slots=True)
class Holding:
    """What the claims of one group come to: every span, in the order of their beginnings, and for
    each pair of ends whose last claim is a denial that claim."""

    spans: list[Span]
    denied: Mapping[tuple[str, str], Claim]

    @property
    def held(self) -> Iterator[Span]:
        """The spans that did not end."""
        return (span for span in self.spans if span.end is None)


def group_key(claim: Claim, side: Side | None) -> GroupKey:
    """The group of a claim: what decides together whether it holds. ``side`` is None for a relation
    with many values. A value is no rival of a thing: "born in 1972", "born in Lima"."""
    is_value = claim.is_value and side in ("subject", "value")
    object_ = None if side == "subject" else claim.object
    subject = None if side == "object" else claim.subject
    return claim.relation, subject, _A_VALUE if is_value else object_


def holding(claims: Iterable[Claim], *, single_valued: bool) -> Holding:
    """What holds and what held by all ``claims`` of one group."""
    spans: list[Span] = []
    current: dict[tuple[str, str], Span] = {}
    denied: dict[tuple[str, str], Claim] = {}
    # At one place a denial comes last.
    ordered = sorted(claims, key=lambda claim: (claim.negative, claim.ends))
    for _, update in groupby(chronological(ordered), key=lambda claim: claim.t_index):
        claimed = list(update)
        if single_valued:
            _supersede(current, [claim for claim in claimed if not claim.negative])
        for claim in claimed:
            if claim.negative:
                denied[claim.ends] = claim
                ended = current.pop(claim.ends, None)
                if claim.evidence.properties.get("corrects"):
                    spans = _without_last(spans, claim.ends)
                elif ended is not None:
                    ended.end, ended.ended_by = claim, "ended"
                continue
            denied.pop(claim.ends, None)
            span = current.get(claim.ends)
            if span is None:
                current[claim.ends] = span = Span(claim, claim)
                spans.append(span)
            elif (claim.t_index, claim.position) > (span.latest.t_index, span.latest.position):
                span.latest = claim
    return Holding(spans, denied)


def _without_last(spans: list[Span], ends: tuple[str, str]) -> list[Span]:
    """The spans but for the last one of these ends, which was a mistake."""
    last = max((place for place, span in enumerate(spans) if span.first.ends == ends), default=None)
    return [span for place, span in enumerate(spans) if place != last]


def _supersede(current: dict[tuple[str, str], Span], asserted: Sequence[Claim]) -> None:
    """End the spans whose values an update that asserts other values does not repeat."""
    for ends in current.keys() - {claim.ends for claim in asserted} if asserted else ():
        ended = current.pop(ends)
        ended.end, ended.ended_by = asserted[0], "superseded"
