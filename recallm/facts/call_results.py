"""Calls that ask: what a memory of facts answers, as the rows of a call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from recallm.errors import InvalidInputError
from recallm.facts.calls import Call, Variable, results_text
from recallm.facts.fact import PARTS, Fact, Part
from recallm.facts.memory import FactMemory
from recallm.facts.queries import Counted
from recallm.ground.untrusted_text import quoted, without_delimiters

_LONGEST_VALUE = 500
"""Characters of a value in a prompt."""


@dataclass(frozen=True, slots=True)
class AnsweredCall:
    """A call with its rows, the facts behind them, and the text of each row as it is stored."""

    call: Call
    facts: tuple[Fact, ...] = ()
    texts: tuple[str, ...] = ()


def answered(facts: FactMemory, call: Call, *, limit: int, max_characters: int) -> AnsweredCall:
    """``call`` with its results: at most ``limit`` rows and ``max_characters`` of text.

    Of facts that are read or found the newest are chosen, and stand in the order in which they were
    written, as in the paper. A call whose terms the memory cannot use has no results.
    """
    try:
        found = _found(facts, call)
    except InvalidInputError:  # such as a term of thousands of characters
        return AnsweredCall(replace(call, rows=()))
    rows: list[tuple[str, ...]] = []
    for values, _ in found[:limit]:
        shown = tuple(map(_shown, values))
        if len(results_text((*rows, shown))) > max_characters:
            break
        rows.append(shown)
    used = found[: len(rows)]
    more = len(found) - len(rows)
    if call.name in ("MEM_READ", "MEM_FIND"):
        rows.reverse()
    return AnsweredCall(
        replace(call, rows=tuple(rows), more=more),
        facts=tuple(fact for _, of_row in used for fact in of_row),
        texts=tuple(" ".join(values) for values, _ in used),
    )


_Row = tuple[tuple[str, ...], Sequence[Fact]]


def _found(facts: FactMemory, call: Call) -> list[_Row]:
    """Every row of the results, with the facts behind it."""
    first = call.patterns[0]
    marked: list[Part] = [PARTS[n] for n, term in enumerate(first) if isinstance(term, Variable)]
    subject, relation, object = (term if isinstance(term, str) else None for term in first)
    match call.name:
        case "MEM_COUNT":
            of: Counted = _COUNTED[marked[0]] if marked else "facts"
            return [((str(facts.count(subject, relation, object, of=of)),), ())]
        case "MEM_GROUP":
            order: Literal["most", "least"] = "least" if call.least else "most"
            groups = facts.group(
                subject, relation, object, by=marked[0], order=order, limit=call.limit
            )
            return [((group.value, str(group.count)), ()) for group in groups]
        case "MEM_TOP":
            top = facts.top(
                relation or "",
                subject=subject,
                order="least" if call.least else "greatest",
                limit=call.limit or 1,
            )
            return list(map(_triplet, top))
        case "MEM_FIND":
            solutions = facts.find(
                (_asked(subject), _asked(relation), _asked(object))
                for subject, relation, object in call.patterns
            )
            return [(tuple(found.values.values()), found.facts) for found in solutions]
        case _:
            return list(map(_triplet, facts.read(subject, relation, object)))


_COUNTED: dict[Part, Counted] = {"subject": "subjects", "object": "objects"}


def _asked(term: str | Variable | None) -> str | None:
    """A term as ``FactMemory.find`` takes it. A variable without a name stands for anything."""
    return None if term is None or term == Variable() else str(term)


def _triplet(fact: Fact) -> _Row:
    return (fact.subject, fact.relation, fact.object), (fact,)


def _shown(value: str) -> str:
    """A stored value in a prompt: on one line, cut, in quotation marks where it poses as the head
    of a line, without the delimiters of recalled text."""
    cut = value if len(value) <= _LONGEST_VALUE else f"{value[:_LONGEST_VALUE]} …"
    return without_delimiters(quoted(cut))
