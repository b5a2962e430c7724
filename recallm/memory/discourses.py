"""Which stored passages stand before a text in its session, for extraction to find who is meant.

``recallm.model.keys`` says to which session an update belongs. It is asked here, before the
write, with what a reader knows of the namespace, and by the store inside the write. Where another
process writes in between, or a sweep forgets what has expired, the store may decide otherwise: then
the pronouns of a text were looked up in another session than the one that it is stored in.

Updates that belong to no session follow each other here: "She moved to Porto." goes on from the
latest text that has no session either. An item stands for itself.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from recallm.memory.open_memory import OpenMemory
from recallm.memory.update_request import UpdateRequest
from recallm.model import (
    NO_SESSION,
    ConceptMention,
    Discourse,
    EarlierPassage,
    Filter,
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


class Discourses:
    """The discourses that the updates of one batch continue. What is stored is read when a text
    needs it. Not safe for several threads at once."""

    def __init__(self, opened: OpenMemory, updates: Sequence[UpdateRequest]) -> None:
        self._opened = opened
        self._updates = updates
        self._keys: list[str | None] = []
        self._added: list[tuple[int, EarlierPassage]] = []
        """The passages of the batch that are not in ``_passages`` yet, with the places of their
        updates."""
        self._passages: defaultdict[str, deque[EarlierPassage]]
        self._passages = defaultdict(partial(deque, maxlen=_SPEAKER_PASSAGES))
        """The last passages by session key, oldest first; those that are stored where the key was
        asked for."""
        self._asked: set[str] = set()
        self._latest: dict[str, EarlierPassage] = {}
        """The passages of the batch by their ids: others under these ids are gone."""

    def of(self, place: int) -> Discourse | None:
        """The discourse of the update at this place; None for an item."""
        return None if self._updates[place].key is not None else _Discourse(self, place)

    def add(self, place: int, passage: EarlierPassage) -> None:
        """Note the passage of the update at this place, which was said last."""
        self._added.append((place, passage._replace(text=_end_of(passage.text))))

    def before(self, place: int, id: str) -> list[EarlierPassage]:
        """The last passages under other ids than ``id`` before the update at this place, oldest
        first."""
        for other, passage in self._added:
            if (key := self.keys[other]) is not None:
                self._passages[key].append(passage)
                self._latest[passage.id] = passage
        self._added.clear()
        key = self.keys[place]
        if key is None:
            return []
        passages = self._passages[key]
        if key not in self._asked:
            self._asked.add(key)
            passages.extendleft(self._stored(key)[: _SPEAKER_PASSAGES - len(passages)])
        return [
            passage
            for passage in passages
            if passage.id != id and self._latest.get(passage.id, passage) is passage
        ]

    @property
    def keys(self) -> list[str | None]:
        """The session keys of the updates; ``NO_SESSION`` where one belongs to none, None for one
        that is stored already with the same text: it is not written again."""
        if not self._keys:
            first = self._updates[0]
            if len(self._updates) == 1 and not goes_by_time(first):
                # It need not be known whether it is stored already.
                self._keys = [session_key_of(first.session, first.source) or NO_SESSION]
            else:
                with self._opened.reader(withdrawn=True) as reader:
                    self.read(reader)
        return self._keys

    def read(self, reader: GraphReader) -> None:
        """Find the ``keys`` with a reader that shows what is withdrawn, and hides what has
        expired."""
        updates = self._updates
        threads = {
            session_key_of(None, update.source) or "" for update in updates if is_message(update)
        }
        opened, sizes, stored = reader.together(
            lambda view: view.open_session(),
            lambda view: view.sizes(threads),
            lambda view: view.passages(ids={update.id for update in updates}),
        )
        known = {passage.id: (passage.t_index, passage.text) for passage in stored}
        begun = set(sizes.sessions)
        # The t of the updates are not known yet: they are numbered downwards.
        for t_index, update in enumerate(updates, -len(updates)):
            before_t, before = known.get(update.id, (0, None))
            if before == update.text:
                self._keys.append(None)
                continue
            if opened is not None and before is not None and opened.t_index == before_t:
                opened = None  # it is forgotten first
            known[update.id] = t_index, update.text
            decided = decide_session(update, t_index, opened, begun.__contains__)
            opened = decided.open_session
            if decided.key is not None and update.recalled and update.text.strip():
                begun.add(decided.key)
            self._keys.append(decided.key or NO_SESSION)

    def _stored(self, key: str) -> list[EarlierPassage]:
        """The last stored passages of a session, newest first; for ``NO_SESSION`` those that belong
        to none."""
        with self._opened.reader() as reader:
            found = [
                passage
                for passage in reader.passages(Filter(session_key=key), limit=_SPEAKER_PASSAGES)
                if passage.key is None
            ]
            references: dict[str, list[tuple[ConceptMention, str]]] = {
                each.id: [] for each in found
            }
            keys = [
                statement_key(passage.t_index, position)
                for passage in found
                for position in range(_STATEMENTS)
            ]
            for statement in reader.statements(keys):
                references[statement.passage_id] += [
                    (mention, statement.text[span.start : span.end])
                    for mention in statement.concepts
                    if (span := mention.reference) is not None
                ]
        return [
            EarlierPassage(each.id, each.speaker, _end_of(each.text), tuple(references[each.id]))
            for each in found
        ]


class _Discourse(NamedTuple):
    """The discourse of one update."""

    discourses: Discourses
    place: int

    def add(self, passage: EarlierPassage) -> None:
        self.discourses.add(self.place, passage)

    def earlier(self, before: str) -> list[EarlierPassage]:
        return self.discourses.before(self.place, before)[-_EARLIER_PASSAGES:]

    def addressee(self, speaker: str, before: str) -> EarlierPassage | None:
        passages = self.discourses.before(self.place, before)
        others = {each.speaker: each for each in passages if each.speaker}
        others.pop(speaker, None)
        return next(iter(others.values())) if len(others) == 1 else None


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
