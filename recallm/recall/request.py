"""A recall as one value: its arguments, checked at the door, with the settings they are read by."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import Any, TypedDict

from recallm.ground.config import RecallConfig
from recallm.model import Filter, Horizon, Moment, StoredStatement

ROLES_OF_PERSONS = ("human", "user", "me")
"""Concepts of speakers who have no name but a role, as agents and chat APIs have them: of such a
speaker any name may be asked for, and in a question whose asker nobody names "I" is this
speaker."""


def quarter_of_characters(text: str) -> int:
    """Tokens of ``text`` at four characters each, rounded up."""
    return -(-len(text) // 4)


def _in_zone(moment: datetime | None, zone: tzinfo) -> datetime | None:
    try:
        return None if moment is None else moment.astimezone(zone)
    except OverflowError:  # the first or the last day of the calendar
        return moment


class FilterArguments(TypedDict, total=False):
    """Which statements or passages are read."""

    since: Moment | None
    until: Moment | None
    speaker: str | None
    session: str | None
    metadata: Mapping[str, Any] | None
    path: Sequence[str] | None


class RecallArguments(FilterArguments, total=False):
    """What ``RecallM.recall`` takes beside the question."""

    limit: int | None
    max_tokens: int | None
    as_of: Moment | None
    min_score: float | None
    known: Collection[str]
    asker: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallRequest:
    """What one recall asks for. ``recall.recalling.checked_request`` makes it from the arguments
    of ``RecallM.recall``, whose names its fields have; nothing behind it checks them again.

    ``where`` holds the conditions on statements. ``known`` are ids of passages to leave out.
    ``asker`` is whom "I" stands for in the question; None: a speaker with the role of a person, if
    the memory has one. ``now`` is the moment at which the
    question is asked: what has expired by then is not shown.
    """

    question: str
    limit: int | None = None
    max_tokens: int | None = None
    as_of: int | datetime | None = None
    where: Filter = field(default_factory=Filter)
    min_score: float | None = None
    known: frozenset[str] = frozenset()
    asker: str | None = None
    now: datetime | None = None
    config: RecallConfig = field(default_factory=RecallConfig)
    count_tokens: Callable[[str], int] = quarter_of_characters

    @property
    def horizon(self) -> Horizon:
        """What the recall may see."""
        return Horizon(as_of=self.as_of, now=self.now)

    @property
    def zone(self) -> tzinfo:
        """The reader's time zone, that of the memory's clock."""
        return (None if self.now is None else self.now.tzinfo) or UTC

    def as_days(self, statements: Iterable[StoredStatement]) -> list[StoredStatement]:
        """The statements with their timestamps in the reader's time zone, by whose days they are
        shown and dated; as they are where the clock gives UTC."""
        zone = self.zone
        if zone is UTC:
            return list(statements)
        return [row._replace(timestamp=_in_zone(row.timestamp, zone)) for row in statements]

    @property
    def asked_at(self) -> datetime | None:
        """The moment that "yesterday" in the question stands for the day before."""
        return self.as_of if isinstance(self.as_of, datetime) else self.now
