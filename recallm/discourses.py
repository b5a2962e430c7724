"""Which stored passages stand before a text in its session, for extraction to find who is meant.

A session has a name (its own, or the source), or is derived from time: updates without a name, and
messages with a source each, whose timestamps are less than an hour apart
(``recallm.stores.semantics.sessions``). Updates with neither a name nor a timestamp follow each
other here too: "She moved to Porto." goes on from the text before. An item stands for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from functools import partial

from recallm.model import (
    SESSION_GAP,
    SPEAKER_PASSAGES,
    ConceptMention,
    Discourse,
    EarlierPassage,
    Filter,
    Horizon,
    Passage,
    session_name_of,
    statement_key,
)
from recallm.stores.base import GraphReader, GraphStore

__all__ = ["Discourses"]

_MOST_SESSIONS = 1_000
"""Sessions that one call of ``update_many`` remembers; older ones are read again."""

_STATEMENTS = 6
"""Statements of an earlier passage whose references are read: the first ones."""


class Discourses:
    """The discourses that the updates of one call continue. A discourse reads the stored passages
    of its session when a text needs them. Not safe for several threads at once.

    Those of a name stand with whether its first message continued another source's."""

    def __init__(self, store: GraphStore, namespace: str, clock: Callable[[], datetime]) -> None:
        self._open = partial(_StoredPassages, store, namespace, clock)
        self._named: dict[str, tuple[Discourse | None, bool]] = {}
        self._unnamed: dict[bool, tuple[datetime | None, Discourse]] = {}

    def of(
        self,
        *,
        session: str | None,
        source: str | None,
        speaker: str | None,
        timestamp: datetime | None,
    ) -> Discourse:
        """The discourse that an update goes on with."""
        name = session_name_of(session, source)
        is_message = session is None and None not in (source, speaker, timestamp)
        if name is None:
            return self._by_time(None, timestamp)[0]
        discourse, is_guest = self._named.pop(name, (None, False))
        if discourse is None and is_message:
            discourse, is_guest = self._by_time(name, timestamp)
        elif is_message:
            # Its source is a thread: it continues no other source, and no other one continues it.
            self._unnamed.pop(True, None)
            discourse, is_guest = None if is_guest else discourse, False
        if discourse is None:
            discourse = Discourse(self._open(name, None))
        if len(self._named) >= _MOST_SESSIONS:
            del self._named[next(iter(self._named))]
        self._named[name] = discourse, is_guest
        return discourse

    def _by_time(self, name: str | None, timestamp: datetime | None) -> tuple[Discourse, bool]:
        """The discourse of the latest update without a session, if time continues it, else a new
        one; and whether it is continued."""
        is_dated = timestamp is not None
        before, discourse = self._unnamed.get(is_dated, (None, None))
        is_continued = discourse is not None and _follows(timestamp, before)
        if discourse is None or not is_continued:
            discourse = Discourse(self._open(name, timestamp))
        self._unnamed[is_dated] = timestamp, discourse
        return discourse, is_continued


class _StoredPassages:
    """The stored passages of the session ``name``; without a name, or where the session of a
    message (which has a ``timestamp``) has none, those that come before by time."""

    def __init__(
        self,
        store: GraphStore,
        namespace: str,
        clock: Callable[[], datetime],
        name: str | None,
        timestamp: datetime | None,
    ) -> None:
        self._store = store
        self._namespace = namespace
        self._clock = clock
        self._name = name
        self._timestamp = timestamp
        self._t_indexes: dict[str, int] = {}

    def _reader(self) -> AbstractContextManager[GraphReader]:
        return self._store.reader(self._namespace, Horizon(now=self._clock()))

    def passages(self) -> Iterator[EarlierPassage]:
        """The last passages, newest first."""
        with self._reader() as reader:
            found = reader.passages(Filter(session=self._name), limit=SPEAKER_PASSAGES)
            by_time = self._name is None or (not found and self._timestamp is not None)
            if by_time and self._name is not None:
                found = reader.passages(limit=SPEAKER_PASSAGES)
        found = [passage for passage in found if passage.key is None]
        if by_time:
            found = list(_run_of(found, self._timestamp))
        self._t_indexes = {passage.id: passage.t_index for passage in found}
        for passage in found:
            yield EarlierPassage(passage.id, passage.speaker, passage.text)

    def references(self, ids: Sequence[str]) -> dict[str, tuple[ConceptMention, ...]]:
        """The concepts that passages mention by a pronoun or a noun phrase, by passage id."""
        keys = [
            statement_key(self._t_indexes[id], position)
            for id in ids
            if id in self._t_indexes
            for position in range(_STATEMENTS)
        ]
        with self._reader() as reader:
            statements = reader.statements(keys)
        found: dict[str, tuple[ConceptMention, ...]] = {}
        for statement in statements:
            mentions = tuple(it for it in statement.concepts if it.reference is not None)
            if mentions:
                found[statement.passage_id] = (*found.get(statement.passage_id, ()), *mentions)
        return found


def _run_of(passages: list[Passage], timestamp: datetime | None) -> Iterator[Passage]:
    """Of passages, newest first, those that lead to an update whose session time decides."""
    for passage in passages:
        is_named = passage.session is not None or (
            passage.source is not None and None in (passage.speaker, passage.timestamp)
        )
        if is_named or (passage.timestamp is None) != (timestamp is None):
            continue
        if not _follows(timestamp, passage.timestamp):
            return
        timestamp = passage.timestamp
        yield passage


def _follows(timestamp: datetime | None, before: datetime | None) -> bool:
    """Whether an update goes on with the one before by time."""
    if timestamp is None or before is None:
        return timestamp is before
    return abs(timestamp - before) < SESSION_GAP
