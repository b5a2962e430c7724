"""Tools over a memory of facts, as a language model calls them (see ``memory_tools``)."""

# LlamaIndex reads the annotations of the methods: they must not be strings.

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, TypeAlias

from recallm.adapting.arguments import check_budget, named_moment, time_of_writing
from recallm.adapting.memory_tools import bounded_reply, says
from recallm.adapting.messages import MessageFilter, Redact, digest
from recallm.errors import InvalidInputError
from recallm.facts import Change, Fact, FactMemory
from recallm.ground import checks
from recallm.ground.untrusted_text import fact_line, storable
from recallm.memory.recallm import checked_memory

Value: TypeAlias = str | int | float | bool

_AnySubject: TypeAlias = Annotated[str | None, says("Whom or what the facts are about.")]
_AnyRelation: TypeAlias = Annotated[str | None, says("The relation, such as 'works for'.")]
_AnyObject: TypeAlias = Annotated[Value | None, says("The other side of the relation.")]
"""Terms of the facts that are looked up; None: open."""

_NOT_GIVEN = frozenset(("", "?", "*", "_"))
"""What models write for a term that they ask for."""


def checked_facts(memory: object) -> FactMemory:
    """``memory``, or the facts of it."""
    if isinstance(memory, FactMemory):
        checked_memory(memory.memory)
        return memory
    return FactMemory(checked_memory(memory))


class FactTools:
    """The operations of ``facts`` that a model calls.

    A result shows at most ``limit`` facts and has at most ``max_tokens`` tokens, by the memory's
    counter; it says how many more there are. Facts are written with ``source``. ``call`` identifies
    a call of a model: the fact of one call is written once. ``redact`` changes every text of a
    model before it is written or asked with, and the source.
    """

    NAMES = (
        "write_fact",
        "end_fact",
        "read_facts",
        "fact_history",
        "count_facts",
    )

    def __init__(
        self,
        facts: FactMemory,
        *,
        limit: int = 20,
        max_tokens: int | None = 1000,
        source: str | None = None,
        call: str | None = None,
        redact: Redact | None = None,
    ) -> None:
        self._facts = facts
        self._redacted = MessageFilter(redact=redact).redacted
        self._limit = checks.positive(limit, "limit")
        check_budget(facts.memory, max_tokens)
        self._max_tokens = max_tokens
        self._source = None if source is None else self._redacted(source)
        self._call = call

    def write_fact(
        self,
        subject: Annotated[str, says("Whom or what the fact is about, by the full name.")],
        relation: Annotated[str, says("A short relation, such as 'works for' or 'born in'.")],
        object: Annotated[
            Value, says("The other side of the relation: a name, a number or a date.")
        ],
        date: Annotated[
            str | None, says("The day since when it holds, as YYYY-MM-DD, if known.")
        ] = None,
    ) -> str:
        """Write down one fact as subject, relation and object: 'Ada', 'works for', 'BMW'.

        A new object takes the place of the former one where a relation has one at a time; the
        history stays.
        """
        terms = (
            self._given(subject, "subject"),
            self._given(relation, "relation"),
            self._given(object, "object"),
        )
        id = self._call and digest(str(self._source), self._call, *map(str, terms))
        said = time_of_writing(self._facts.memory, date)
        self._facts.write(*terms, said=said, source=self._source, id=id)
        return "Written."

    def end_fact(
        self,
        subject: Annotated[str, says("Whom or what the fact is about.")],
        relation: Annotated[str, says("The relation, such as 'works for'.")],
        object: Annotated[
            Value | None, says("The object that no longer holds; none: all that hold.")
        ] = None,
        date: Annotated[
            str | None,
            says("The day since when it no longer holds, as YYYY-MM-DD, if it is known."),
        ] = None,
    ) -> str:
        """Write down that a fact no longer holds, where no new object takes its place.

        The history stays.
        """
        ended = self._facts.end(
            self._given(subject, "subject"),
            self._given(relation, "relation"),
            self._term(object),
            said=time_of_writing(self._facts.memory, date),
            source=self._source,
        )
        if not ended:
            return "No such fact holds; nothing was ended."
        return self._reply(map(_fact_line, ended), "ended")

    def read_facts(
        self,
        subject: _AnySubject = None,
        relation: _AnyRelation = None,
        object: _AnyObject = None,
        as_of: Annotated[
            str | None, says("A day, as YYYY-MM-DD: what held then; none: what holds now.")
        ] = None,
    ) -> str:
        """Look up the facts that hold and have these terms, newest first; leave out what is asked.

        'Who works for BMW?' has a relation and an object, 'Where does Ada live?' a subject and a
        relation. Similar names and relations are found too, and marked.
        """
        terms = (self._term(subject), self._term(relation), self._term(object))
        if all(term is None for term in terms):
            raise InvalidInputError(
                "give at least one of subject, relation and object", argument="subject"
            )
        found = self._facts.read(*terms, as_of=checks.optional(named_moment, as_of, "as_of"))
        return self._reply(map(_fact_line, found), "matching")

    def fact_history(
        self,
        subject: Annotated[str, says("Whom or what the facts are about.")],
        relation: Annotated[str, says("The relation, such as 'works for'.")],
    ) -> str:
        """List all objects that a relation of a subject had, oldest first, with their times."""
        who, what = self._given(subject, "subject"), self._given(relation, "relation")
        changes = self._facts.changes(who, what)
        return self._reply(
            (_change_line(str(who), str(what), change) for change in changes), "former"
        )

    def count_facts(
        self,
        subject: _AnySubject = None,
        relation: _AnyRelation = None,
        object: _AnyObject = None,
    ) -> str:
        """Count exactly the facts that hold and have these terms; leave out what is asked.

        'How many people work for BMW?' has a relation and an object.
        """
        terms = (self._term(subject), self._term(relation), self._term(object))
        return f"The exact number is {self._facts.count(*terms)}."

    # -- arguments -------------------------------------------------------------------------

    def _term(self, given: Value | None) -> Value | None:
        """A term as it is asked for, redacted; None where the model leaves it open."""
        if not isinstance(given, str):
            # A number may be what is redacted; it stays a number where it is not.
            text = str(given)
            redacted = text if given is None else self._redacted(text)
            return given if redacted == text else redacted
        text = self._redacted(storable(given.strip())).strip()
        return None if text in _NOT_GIVEN else text

    def _given(self, given: Value | None, argument: str) -> Value:
        term = self._term(given)
        if term is None:
            raise InvalidInputError(f"{argument} is empty; nothing was done", argument=argument)
        return term

    def _reply(self, lines: Iterable[str], left_out: str) -> str:
        """The first of ``lines`` as data, as many as the bounds allow."""
        lines = list(lines)
        first = lines[: self._limit]
        return bounded_reply(
            self._facts.memory,
            first,
            values=range(len(first), 0, -1),
            max_tokens=self._max_tokens,
            beyond=len(lines) - len(first),
            more=f"{{}} more {left_out} results are not shown; ask for less, or count them.",
        )


# -- results -----------------------------------------------------------------------------------


def _fact_line(fact: Fact) -> str:
    when = "" if fact.said is None else f"[{fact.said.date().isoformat()}] "
    similar = "" if fact.match == "exact" else f" (similar {', '.join(fact.matched)})"
    return f"{when}{fact.line}{similar}"


def _change_line(subject: str, relation: str, change: Change) -> str:
    times = f"since {_time_text(change.since, change.since_t)}"
    if change.until_t is not None:
        times += f", until {_time_text(change.until, change.until_t)}"
    return f"{fact_line(subject, relation, change.object)} ({times})"


def _time_text(moment: datetime | None, t_index: int) -> str:
    return f"update {t_index}" if moment is None else moment.date().isoformat()
