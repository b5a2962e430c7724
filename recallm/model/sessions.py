"""The session of a knowledge update: its session, else its source, or what time says.

A session key is ``"="`` and a name, or ``"@"`` and the t of the first update of a session without
a name. An update belongs to the session that it names. Without one:

* **A document**, which has a source and is no message, belongs to the session of its source.
* **A message** has a source, a speaker and a timestamp. If the session of its source has statements
  already, or the latest message has the same source, the source is a thread: the message belongs to
  the session of its source, and closes the open session. Else it continues the open session, or
  begins the session of its source, which is then the open one.
* **An update with a timestamp and without a source** continues the open session, or begins one.
* Others belong to no session.

The open session is the one of the latest update that began or continued a session by time. An
update continues it if their timestamps are less than an hour apart. This follows the order of
arrival. A session key stays as it was written, also where the update before it is forgotten. Where
the update that the next one may continue is forgotten, the next one begins a session.

Stores decide by this rule inside a write, and ``recallm.memory.discourses`` decides by it
beforehand which passages stand before a text: its *discourse*. There "I" is the speaker, "you" the
only other speaker of the session, and "we" both; the antecedents of "he" and "she" are looked for
in the last passages (``recallm.english.coreference``).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import NamedTuple, Protocol

from recallm.model.language import ConceptMention

SESSION_GAP = timedelta(hours=1)
"""Updates that belong together by time have timestamps less than this apart."""

NO_SESSION = ""
"""In place of a session key: passages that belong to no session."""

_NAMED = "="


class SessionMember(Protocol):
    """What of an update decides to which session it belongs."""

    @property
    def text(self) -> str | None:
        """The text; None for an update of the graph alone."""

    @property
    def session(self) -> str | None:
        """The session that the update names."""

    @property
    def source(self) -> str | None:
        """Where the text comes from."""

    @property
    def speaker(self) -> str | None:
        """Who said it."""

    @property
    def timestamp(self) -> datetime | None:
        """When it was said."""

    @property
    def key(self) -> str | None:
        """The key of an item; None for what is no item."""


class OpenSession(NamedTuple):
    """The session that the next update may continue by time: the t of the update that continued or
    began it last, its session key, and the timestamp and the source of that update."""

    t_index: int
    key: str
    timestamp: datetime
    source: str | None


class DecidedSession(NamedTuple):
    """The session key of an update (None: it belongs to no session), and the session that is open
    afterwards."""

    key: str | None
    open_session: OpenSession | None


def session_name_of(session: str | None, source: str | None) -> str | None:
    """The name of a statement's or update's session: ``session``, else ``source``."""
    return session if session is not None else source


def session_key_of(session: str | None, source: str | None) -> str | None:
    """The key of a named session; None where neither name is given."""
    name = session_name_of(session, source)
    return None if name is None else _NAMED + name


def session_name_in(key: str) -> str | None:
    """The name in a session key; None where the session has none."""
    return key.removeprefix(_NAMED) if key.startswith(_NAMED) else None


def is_message(update: SessionMember) -> bool:
    """Whether an update is a message that time may put into the session of other messages: with a
    source, a speaker and a timestamp, without a session, and no item."""
    return (
        update.text is not None
        and update.session is None
        and update.key is None
        and None not in (update.source, update.speaker, update.timestamp)
    )


def goes_by_time(update: SessionMember) -> bool:
    """Whether time says to which session an update belongs, and not its names alone."""
    is_timed = update.text is not None and update.timestamp is not None and update.session is None
    return is_timed and (update.source is None or is_message(update))


def decide_session(
    update: SessionMember,
    t_index: int,
    open_session: OpenSession | None,
    has_statements: Callable[[str], bool],
) -> DecidedSession:
    """The session of ``update``, which gets this t. ``has_statements`` says it of a session key."""
    own = session_key_of(update.session, update.source)
    said = update.timestamp
    if said is None or not goes_by_time(update):
        return DecidedSession(own, open_session)
    if own is not None:
        is_latest = open_session is not None and open_session.source == update.source
        if is_latest or has_statements(own):  # a thread
            return DecidedSession(own, None)
    key = own or f"@{t_index}"
    if open_session is not None and abs(said - open_session.timestamp) < SESSION_GAP:
        key = open_session.key
    return DecidedSession(key, OpenSession(t_index, key, said, update.source))


# What stands before a text in its session.

EARLIER_PASSAGES = 6
"""Passages in which antecedents are looked for."""

SPEAKER_PASSAGES = 16
"""Passages whose speakers are the speakers of the session."""

_READ_CHARACTERS = 2_000
"""Characters of an earlier passage that are read: its last ones."""


class EarlierPassage(NamedTuple):
    """A passage of the session: its id, its speaker, the end of its text, and the concepts that it
    mentions by a pronoun."""

    id: str
    speaker: str | None
    text: str
    references: tuple[ConceptMention, ...] = ()


class Discourse:
    """The last passages of one session, oldest first.

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
        self._passages: deque[EarlierPassage] = deque(maxlen=SPEAKER_PASSAGES)

    def add(self, passage: EarlierPassage) -> None:
        """Append the passage that was said last."""
        passage = passage._replace(text=_end_of(passage.text))
        self._passages.append(passage)
        if passage.id in self._rewritten:
            self._rewritten[passage.id] = passage

    def earlier(self, before: str) -> list[EarlierPassage]:
        """The last passages before the passage with the id ``before``, oldest first."""
        return self._others(before)[-EARLIER_PASSAGES:]

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
