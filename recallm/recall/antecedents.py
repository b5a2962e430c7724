"""Names behind pronouns and days behind "yesterday": what recalled statements refer to.

A recalled statement stands without the text around it. Where no statement of the context spells the
antecedent of its pronoun, the context names the antecedent: ``She [Ingrid] moved to Porto.`` Which
days a relative date means follows from the day on which the statement was said: ``I moved last week
[2024-02-19 to 25].`` What a later statement replaced is marked: ``I live in Malaga. [no longer]``
The text of the statement itself stays verbatim.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from recallm.english.dating import Interval, named_dates
from recallm.ground.untrusted_text import one_line
from recallm.model import ConceptMention, StoredStatement
from recallm.recall.request import ROLES_OF_PERSONS

_SUPERSEDED = "no longer"

_ENDINGS = re.compile(r"['’](?:s|re|ve|ll|d|m)\b", re.IGNORECASE)
"""What belongs to a word: a note stands behind "she's"."""


class RecalledReference(NamedTuple):
    """A pronoun in a recalled statement.

    ``start`` and ``end`` are its span in the statement's text. ``concept`` is the name of the
    concept that it stands for, ``label`` the spelling. ``passage`` is the id of the passage that
    spells the concept, None where its own passage does. ``is_named``: the context's text shows the
    label behind it.
    """

    start: int
    end: int
    concept: str
    label: str
    passage: str | None
    is_named: bool = False


def recalled_references(
    statement: StoredStatement, named: Iterable[str] = ()
) -> tuple[RecalledReference, ...]:
    """The references of a statement in textual order; of a name and its parts the name alone.
    ``named`` are the concepts that the context names: at the first reference of each."""
    names = set(named)
    found: list[RecalledReference] = []
    for mention in _references(statement.concepts):
        reference = mention.reference
        if reference is None:
            continue
        is_named = mention.name in names
        names.discard(mention.name)
        found.append(
            RecalledReference(
                start=reference.start,
                end=reference.end,
                concept=mention.name,
                label=mention.label,
                passage=reference.antecedent,
                is_named=is_named,
            )
        )
    return tuple(found)


def named_references(
    statements: Sequence[StoredStatement],
) -> Mapping[int, tuple[RecalledReference, ...]]:
    """The references of the statements of a context, by the key of the statement. Those are named
    whose concept no statement of the context spells, nor has as its speaker; a role is no name."""
    referring = [
        statement
        for statement in statements
        if any(mention.reference is not None for mention in statement.concepts)
    ]
    if not referring:
        return {}
    spelled = {
        mention.name
        for statement in statements
        for mention in statement.concepts
        if mention.reference is None
    }
    return {
        statement.key: recalled_references(
            statement,
            (
                mention.name
                for mention in statement.concepts
                if spelled.isdisjoint((mention.name, *mention.name.split(" ")))
                and mention.name not in ROLES_OF_PERSONS
            ),
        )
        for statement in referring
    }


def annotated(
    text: str,
    references: Iterable[RecalledReference],
    timestamp: datetime | None,
    *,
    is_superseded: bool = False,
) -> str:
    """The text of a statement with the labels of the references that are named, with the days of
    its relative dates, as said at ``timestamp``, and with a mark if a later statement took its
    place."""
    notes = [(each.end, one_line(each.label)) for each in references if each.is_named]
    if is_superseded:
        notes.append((len(text), _SUPERSEDED))
    if timestamp is not None:
        notes += _days(text, timestamp.date())
    for end, note in sorted(notes, reverse=True):
        ending = _ENDINGS.match(text, end)
        end = end if ending is None else ending.end()
        text = f"{text[:end]} [{note}]{text[end:]}"
    return text


@lru_cache(maxsize=4096)
def _days(text: str, said_on: date) -> tuple[tuple[int, str], ...]:
    """The days that each relative date in a text means, with the place behind the date. What holds
    the day on which the text was said, which stands at the head of the line, needs no other."""
    return tuple(
        (named.end, named.means.shown())
        for named in named_dates(text, said_on)
        if named.is_relative
        and isinstance(named.means, Interval)
        and not named.means.start <= said_on < named.means.end
    )


def _references(mentions: Iterable[ConceptMention]) -> list[ConceptMention]:
    """The mentions by reference in textual order, without those of parts of a name."""
    found = sorted((mention for mention in mentions if mention.reference is not None), key=_span)
    whole: list[ConceptMention] = []
    for _, group in groupby(found, key=_span):
        at_one_place = list(group)
        whole += [
            mention
            for mention in at_one_place
            if not any(_is_part(mention.name, other.name) for other in at_one_place)
        ]
    return whole


def _span(mention: ConceptMention) -> tuple[int, int]:
    reference = mention.reference
    return (0, 0) if reference is None else (reference.start, reference.end)


def _is_part(name: str, other: str) -> bool:
    return name != other and name in other.split(" ")
