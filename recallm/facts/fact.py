"""The values of a memory of facts: what callers give, what they get, and what is written for
them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Annotated, Any, Literal, TypeAlias

from recallm.errors import InvalidInputError
from recallm.facts.values import Value, text_of, value_of
from recallm.graph import NewEntity, NewTriplet
from recallm.ground import checks
from recallm.ground.untrusted_text import fact_line
from recallm.model import NO_POSITION, TripletEvidence, empty_mapping, statement_id
from recallm.recall.predicates.held_facts import evidence_confidence
from recallm.recall.predicates.holding import Ending, Span

Term: TypeAlias = str | Value
"""A subject, a relation or an object as callers give it."""

Terms: TypeAlias = tuple[str | None, str | None, str | None]
"""Subject, relation and object as texts; None: any."""

Part: TypeAlias = Literal["subject", "relation", "object"]

PARTS: tuple[Part, Part, Part] = ("subject", "relation", "object")

Match: TypeAlias = Literal["exact", "similar"]
"""How the terms of a question may be found."""


def checked_term(value: object, argument: str) -> str:
    """The text of a term, without white space around it.

    Raises:
        InvalidInputError: it is neither a str nor a value, or it is blank or too long.

    """
    if not isinstance(value, str | Value):
        raise InvalidInputError(
            f"{argument} must be a text, a number, a date or a bool, not {type(value).__name__}",
            argument=argument,
        )
    if not isinstance(value, str):
        return text_of(value, argument)
    text = checks.name(value, argument).strip()
    if not text:
        raise InvalidInputError(
            f"{argument} is blank; give a text, a number, a date or a bool"
            + ("" if argument == "relation" else " (None for any)"),
            argument=argument,
        )
    return text


def checked_terms(subject: Term | None, relation: Term | None, object: Term | None) -> Terms:
    """The texts of the terms that are given."""
    return (
        checks.optional(checked_term, subject, "subject"),
        checks.optional(checked_term, relation, "relation"),
        checks.optional(checked_term, object, "object"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """⟨subject, relation, object⟩ as written, with the latest evidence for it.

    ``value`` is the object as a number, date or bool, None where it is none. ``t_index``, ``said``,
    ``source``, ``passage`` and ``properties`` are those of the evidence; ``confidence`` says how
    sure the evidence is (0 to 1). ``statement`` is the id of the statement that states the fact,
    None where it was written as a fact. ``match`` says how the
    question's terms found it, with a ``score`` from 0 to 1; ``matched`` holds the terms that were
    found by others: "subject", "relation" or "object" → (asked, found, score).
    """

    subject: str
    relation: str
    object: str
    value: Value | None
    t_index: int
    said: datetime | None = None
    source: str | None = None
    passage: str | None = None
    statement: str | None = None
    properties: Mapping[str, Any] = field(default_factory=empty_mapping)
    confidence: float = 1.0
    match: Match = "exact"
    score: float = 1.0
    matched: Mapping[str, tuple[str, str, float]] = field(default_factory=empty_mapping)

    @property
    def line(self) -> str:
        """The fact on one line: "Ada — employed by → BMW"."""
        return fact_line(self.subject, self.relation, self.object)

    @classmethod
    def of(
        cls,
        evidence: TripletEvidence,
        matched: Mapping[str, tuple[str, str, float]] | None = None,
    ) -> Fact:
        """The fact that a piece of evidence shows; ``matched`` as in the class."""
        scores = [score for _, _, score in (matched or {}).values()]
        passage, position = evidence.passage, evidence.position
        is_in_text = passage is not None and position != NO_POSITION
        return cls(
            subject=evidence.subject_label,
            relation=evidence.predicate,
            object=evidence.object_label,
            value=value_of(evidence.object_label),
            t_index=evidence.t_index,
            said=evidence.timestamp,
            source=evidence.source,
            passage=passage,
            statement=statement_id(passage or "", position) if is_in_text else None,
            properties=evidence.properties,
            confidence=evidence_confidence(evidence),
            match="similar" if matched else "exact",
            score=min(scores, default=1.0),
            matched=matched or empty_mapping(),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A value of a relation, and the time for which it held.

    ``since_t`` and ``since`` are the t_index and the timestamp of the evidence that began it;
    ``until_t`` and ``until`` those of the evidence that ended it, None while it holds. ``passage``
    and ``ended_passage`` are the ids of their passages.
    """

    object: str
    value: Value | None
    since_t: int
    since: datetime | None
    until_t: int | None
    until: datetime | None
    ended_by: Ending | None
    passage: str | None
    ended_passage: str | None

    @classmethod
    def of(cls, span: Span) -> Change:
        """A span as callers get it."""
        first = span.first.evidence
        end = None if span.end is None else span.end.evidence
        return cls(
            object=first.object_label,
            value=value_of(first.object_label),
            since_t=first.t_index,
            since=first.timestamp,
            until_t=None if end is None else end.t_index,
            until=None if end is None else end.timestamp,
            ended_by=span.ended_by,
            passage=first.passage,
            ended_passage=None if end is None else end.passage,
        )


@dataclass(frozen=True, slots=True)
class NewFact:
    """A fact to write; the terms become their texts. The rest is as in ``FactMemory.write``.

    Raises:
        InvalidInputError: a value cannot be used.

    """

    subject: Annotated[Term, checked_term]
    relation: Annotated[Term, checked_term]
    object: Annotated[Term, checked_term]
    said: Annotated[datetime | None, checks.timestamp] = None
    source: Annotated[str | None, checks.name] = None
    properties: Annotated[Mapping[str, Any] | None, checks.properties] = None

    def __post_init__(self) -> None:
        checks.check_fields(self)

    @property
    def terms(self) -> tuple[str, str, str]:
        """The texts of subject, relation and object."""
        return str(self.subject), str(self.relation), str(self.object)


def checked_facts(facts: object) -> Iterator[NewFact]:
    """The items of ``FactMemory.write_many``. An error names the place of its item."""
    for index, item in enumerate(checks.listed(facts, "facts")):
        try:
            if isinstance(item, NewFact):
                yield item
            elif isinstance(item, tuple | list) and len(item) == 3:
                yield NewFact(*item)
            else:
                raise InvalidInputError(
                    f"a fact is a NewFact or (subject, relation, object), not {checks.shown(item)}",
                    argument="facts",
                )
        except InvalidInputError as error:
            raise InvalidInputError(error.message, argument=error.argument, index=index) from None


# -- the updates that write facts ----------------------------------------------------------------

_TYPES: Mapping[type[Value], str] = {
    **dict.fromkeys((int, float), "number"),
    **dict.fromkeys((date, datetime), "date"),
    bool: "boolean",
}


def denied(predicate: str) -> str:
    """The predicate that denies ``predicate``, as ``recallm.english.stated_facts`` writes it."""
    return f"not {predicate}"


def update_arguments(
    new: NewFact,
    *triplets: tuple[str, str, str],
    embeddings: Callable[[str], Mapping[str, Sequence[float]]] | None = None,
) -> dict[str, Any]:
    """The arguments of ``RecallM.update`` that write ``triplets`` with what ``new`` says beside its
    terms. ``embeddings`` gives the vectors of a new entity by its label."""
    ends = dict.fromkeys(end for triplet in triplets for end in triplet[::2])
    return {
        "text": "",
        "timestamp": new.said,
        "source": new.source,
        "entities": [_entity(end, {} if embeddings is None else embeddings(end)) for end in ends],
        "triplets": [
            NewTriplet(
                subject=subject, predicate=predicate, object=object, properties=new.properties or {}
            )
            for subject, predicate, object in triplets
        ],
    }


def _entity(text: str, embeddings: Mapping[str, Sequence[float]]) -> NewEntity:
    """The end of a triplet that a term names: a value stands on no concept."""
    value = value_of(text)
    if value is None:
        return NewEntity(id=text, embeddings=embeddings, mentioned=True)
    return NewEntity(id=text, type=_TYPES[type(value)], concept=False, mentioned=True)
