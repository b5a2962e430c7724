"""The discourse that a text stands in: who speaks to whom, and what was said before.

"I" is the speaker. "You" is the other speaker of the session, where there is exactly one. "We" is
both. The antecedents of "she" and "the company" are looked for in the last passages of the session
(``recallm.english.coreference``).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from recallm.model.language import ConceptMention

EARLIER_PASSAGES = 6
"""Passages in which antecedents are looked for."""

SPEAKER_PASSAGES = 16
"""Passages whose speakers are the speakers of the session."""

_READ_CHARACTERS = 2_000
"""Characters of an earlier passage that are read: its last ones."""


class EarlierPassage(NamedTuple):
    """A passage of the session: its id, its speaker, the end of its text, and the concepts that it
    mentions by a pronoun or a noun phrase (None: not read yet)."""

    id: str
    speaker: str | None
    text: str
    references: tuple[ConceptMention, ...] | None = None


class StoredDiscourse(Protocol):
    """The stored passages of one session."""

    def passages(self) -> Iterable[EarlierPassage]:
        """The last passages, newest first."""
        ...

    def references(self, ids: Sequence[str]) -> Mapping[str, tuple[ConceptMention, ...]]:
        """The concepts that passages mention by a pronoun or a noun phrase, by passage id."""
        ...


class Discourse:
    """The last passages of one session, oldest first.

    Those that are ``stored`` are read when a text needs them. ``add`` appends the passages that are
    written later. ``rewritten``, which discourses share, has the ids that get another text → the
    latest passage that was added under each (None before): others under that id are gone. Not safe
    for several threads.
    """

    def __init__(
        self,
        stored: StoredDiscourse | None = None,
        rewritten: dict[str, EarlierPassage | None] | None = None,
    ) -> None:
        self._stored = stored
        self._rewritten = {} if rewritten is None else rewritten
        self._is_read = stored is None
        self._passages: deque[EarlierPassage] = deque(maxlen=SPEAKER_PASSAGES)

    def add(self, passage: EarlierPassage) -> None:
        """Append the passage that was said last."""
        passage = passage._replace(text=_end_of(passage.text))
        self._passages.append(passage)
        if passage.id in self._rewritten:
            self._rewritten[passage.id] = passage

    def earlier(self, before: str) -> list[EarlierPassage]:
        """The last passages before the passage with the id ``before``, oldest first."""
        found = self._others(before)[-EARLIER_PASSAGES:]
        unread = [passage.id for passage in found if passage.references is None]
        if unread and self._stored is not None:
            references = self._stored.references(unread)
            for place, passage in enumerate(self._passages):
                if passage.id in unread:
                    own = references.get(passage.id, ())
                    self._passages[place] = passage._replace(references=own)
            return self.earlier(before)
        return found

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
        if not self._is_read and self._stored is not None:
            self._is_read = True
            added = {passage.id for passage in self._passages}
            for passage in self._stored.passages():
                if len(self._passages) == SPEAKER_PASSAGES:
                    break
                if passage.id not in added:
                    self._passages.appendleft(passage._replace(text=_end_of(passage.text)))
        return self._passages


class Turn(NamedTuple):
    """A text to extract, with its speaker, the id of its passage, and the discourse that it
    stands in; extraction adds the passage to the discourse. ``is_assistant``: of the speaker."""

    text: str
    speaker: str | None = None
    id: str = ""
    discourse: Discourse | None = None
    is_assistant: bool = False


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
