"""Which stored passages stand before a text in its session, for extraction to find who is meant.

``recallm.model.keys`` says to which session an update belongs. It is asked here, before the
write, with what a reader knows of the namespace, and by the store inside the write. Where another
process writes in between, or a sweep forgets what has expired, the store may decide otherwise: then
the pronouns of a text were looked up in another session than the one that it is stored in.

Updates that belong to no session follow each other here: "She moved to Porto." goes on from the
latest text that has no session either. An item stands for itself.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from recallm.memory.open_memory import OpenMemory
from recallm.memory.update_request import UpdateRequest
from recallm.model import (
    NO_SESSION,
    ConceptMention,
    Discourse,
    EarlierPassage,
    Filter,
    OpenSession,
    decide_session,
    goes_by_time,
    is_message,
    session_key_of,
    statement_key,
)
from recallm.stores.base import GraphReader

_STATEMENTS = 6
"""Statements of an earlier passage whose references are read: the first ones."""

_EARLIER_PASSAGES = 6
"""Passages in which antecedents are looked for."""

_SPEAKER_PASSAGES = 16
"""Passages whose speakers are the speakers of the session."""

_READ_CHARACTERS = 2_000
"""Characters of an earlier passage that are read: its last ones."""


class StoredDiscourse:
    """The last passages of one session, oldest first, as extraction reads them (``Discourse``).

    ``stored`` reads those that are stored, newest first, when a text needs them. ``add`` appends
    the passages that are written later. ``rewritten``, which discourses share, has the ids that
    get another text → the latest passage that was added under each (None before): others under
    that id are gone. Not safe for several threads.
    """

    def __init__(
        self,
        stored: Callable[[], Iterable[EarlierPassage]] = tuple,
        rewritten: dict[str, EarlierPassage | None] | None = None,
    ) -> None:
        self._stored = stored
        self._rewritten = {} if rewritten is None else rewritten
        self._is_read = False
        self._passages: deque[EarlierPassage] = deque(maxlen=_SPEAKER_PASSAGES)

    def add(self, passage: EarlierPassage) -> None:
        """Append the passage that was said last."""
        passage = passage._replace(text=_end_of(passage.text))
        self._passages.append(passage)
        if passage.id in self._rewritten:
            self._rewritten[passage.id] = passage

    def earlier(self, before: str) -> list[EarlierPassage]:
        """The last passages before the passage with the id ``before``, oldest first."""
        return self._others(before)[-_EARLIER_PASSAGES:]

    def addressee(self, speaker: str, before: str) -> EarlierPassage | None:
        """The latest passage of whom ``speaker`` speaks to: the only other speaker of the session.
        None where there is no other speaker, or more than one."""
        others = {each.speaker: each for each in self._others(before) if each.speaker}
        others.pop(speaker, None)
        return next(iter(others.values())) if len(others) == 1 else None

    def _others(self, id: str) -> list[EarlierPassage]:
        """The last passages under other ids, without those that are gone."""
        return [
            passage
            for passage in self._all()
            if passage.id != id and (self._rewritten.get(passage.id) or passage) is passage
        ]

    def _all(self) -> deque[EarlierPassage]:
        if not self._is_read:
            self._is_read = True
            added = {passage.id for passage in self._passages}
            for passage in self._stored():
                if len(self._passages) == _SPEAKER_PASSAGES:
                    break
                if passage.id not in added:
                    self._passages.appendleft(passage._replace(text=_end_of(passage.text)))
        return self._passages


class Discourses:
    """The discourses that the updates of one batch continue. A discourse reads the stored passages
    of its session when a text needs them. Not safe for several threads at once."""

    def __init__(self, opened: OpenMemory) -> None:
        self._opened = opened
        self._sessions: dict[str, StoredDiscourse] = {}
        self._open_session: OpenSession | None = None
        self._open_id: str | None = None
        """The update of this batch that continued or began the open session last."""
        self._with_statements: set[str] = set()
        """The session keys that have statements, stored or of this batch."""
        self._known: dict[str, tuple[int, str]] = {}
        """What is stored, or stands before in the batch: id → t and text."""
        self._rewritten: dict[str, EarlierPassage | None] = {}
        """The ids that this batch gives another text → the latest passage."""
        self._last_t = 0
        """The updates are numbered downwards from -1: their t is not known yet."""

    def of_only(self, update: UpdateRequest) -> Discourse | None:
        """The discourse of the only update of a batch; None for an item. Nothing is read, unless
        the text needs it."""
        if update.key is not None:
            return None

        def key(reader: GraphReader) -> str:
            if goes_by_time(update):
                return self._keys(reader, [update])[0] or NO_SESSION
            return session_key_of(update.session, update.source) or NO_SESSION

        return StoredDiscourse(partial(self._stored, key))

    def of_batch(
        self, updates: Sequence[UpdateRequest], reader: GraphReader
    ) -> tuple[list[Discourse | None], list[bool]]:
        """The discourses of the updates (None for an item), and which updates are new: the others
        are stored already with the same text. ``reader`` shows what is withdrawn, and hides what
        has expired."""
        keys = self._keys(reader, updates)
        discourses = [
            None if update.key is not None else self._discourse(key)
            for update, key in zip(updates, keys, strict=True)
        ]
        return discourses, [key is not None for key in keys]

    def _discourse(self, key: str | None) -> Discourse:
        if key is None:
            return StoredDiscourse()
        if key not in self._sessions:
            stored = partial(self._stored, lambda _: key)
            self._sessions[key] = StoredDiscourse(stored, self._rewritten)
        return self._sessions[key]

    def _stored(self, key: Callable[[GraphReader], str]) -> list[EarlierPassage]:
        """The last stored passages of the session whose key ``key`` finds, newest first; for
        ``NO_SESSION`` those that belong to none."""
        with self._opened.reader() as reader:
            where = Filter(session_key=key(reader))
            found = [
                passage
                for passage in reader.passages(where, limit=_SPEAKER_PASSAGES)
                if passage.key is None
            ]
            references: dict[str, list[ConceptMention]] = {passage.id: [] for passage in found}
            keys = [
                statement_key(passage.t_index, position)
                for passage in found
                for position in range(_STATEMENTS)
            ]
            for statement in reader.statements(keys):
                references[statement.passage_id] += [
                    mention for mention in statement.concepts if mention.reference is not None
                ]
        return [
            EarlierPassage(each.id, each.speaker, each.text, tuple(references[each.id]))
            for each in found
        ]

    def _keys(self, reader: GraphReader, updates: Sequence[UpdateRequest]) -> list[str | None]:
        """The session keys of the updates; ``NO_SESSION`` where one belongs to none, None for one
        that is stored already with the same text: it is not written again."""
        threads = {
            session_key_of(None, update.source) or "" for update in updates if is_message(update)
        }
        self._open_session, sizes, stored = reader.together(
            lambda view: view.open_session(),
            lambda view: view.sizes(threads),
            lambda view: view.passages(ids={update.id for update in updates}),
        )
        self._with_statements.update(sizes.sessions)
        self._known = {passage.id: (passage.t_index, passage.text) for passage in stored}
        return [self._key(update) for update in updates]

    def _key(self, update: UpdateRequest) -> str | None:
        """The session key of the next update."""
        before_t, before = self._known.get(update.id, (0, None))
        if before == update.text:
            return None
        opened = self._open_session
        if before is not None:  # it is forgotten first
            self._rewritten.setdefault(update.id, None)
            if opened is not None and (opened.t_index == before_t or self._open_id == update.id):
                opened = None
        self._last_t -= 1
        self._known[update.id] = self._last_t, update.text
        decided = decide_session(update, self._last_t, opened, self._with_statements.__contains__)
        if decided.open_session is not opened:
            self._open_id = update.id
        self._open_session = decided.open_session
        if decided.key is not None and update.is_recalled and update.text.strip():
            self._with_statements.add(decided.key)
        return decided.key or NO_SESSION


def _end_of(text: str) -> str:
    """The last characters of a text, from the beginning of a line or a word."""
    if len(text) <= _READ_CHARACTERS:
        return text
    end = text[-_READ_CHARACTERS:]
    for separator in ("\n", " "):
        _, found, rest = end.partition(separator)
        if found:
            return rest
    return end
