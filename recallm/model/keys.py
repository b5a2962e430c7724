"""How statements, terms and sessions are identified, and to which session an update belongs.

* A statement's **key** is ``t_index << POSITION_BITS | position``: the same in every store, and
  ascending in the order of arrival. The evidence of a relation has such a key too.
* A statement's **id** is ``<passage id>#<position>``: what users see.
* A **term** of a statement is the stem of a content word, or an exact token, which is marked.

The session of an update is its session, else its source, or what time says.

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
arrival. A session key stays as it was written; where the update that the next one may continue is
forgotten, the next one begins a session. Stores decide by this rule inside a write, and
``recallm.memory.discourses`` decides by it beforehand which passages stand before a text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, TypeAlias

POSITION_BITS = 20
"""How many low bits of a key hold the position."""

NO_POSITION = (1 << POSITION_BITS) - 1
"""The position of evidence that no statement shows (an update of the graph alone)."""

MAX_POSITION = NO_POSITION - 1
"""The last position that a statement can have in its passage."""

Scalar: TypeAlias = str | int | bool | None
"""A JSON value that is compared as a whole."""

LARGEST_NUMBER = 1 << 62
"""Greater than every key and t, and the largest count: stores hold signed integers of 64 bits."""


def statement_key(t_index: int, position: int) -> int:
    """The key of the statement at ``position`` of the knowledge update ``t_index``."""
    return t_index << POSITION_BITS | position


def t_index_of(key: int) -> int:
    """The temporal index in a key."""
    return key >> POSITION_BITS


def position_of(key: int) -> int:
    """The position in a key."""
    return key & NO_POSITION


def statement_id(passage_id: str, position: int) -> str:
    """The id of the statement at ``position`` of a passage."""
    return f"{passage_id}#{position}"


def parse_statement_id(id: str) -> tuple[str, int] | None:
    """The passage id and the position in a statement's id; None where ``id`` is not the id of a
    statement."""
    passage_id, _, digits = id.rpartition("#")
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= len(str(MAX_POSITION))):
        return None
    position = int(digits)
    is_canonical = id == statement_id(passage_id, position) and position <= MAX_POSITION
    return (passage_id, position) if is_canonical else None


def canonical_json(value: Any) -> str:
    """``value`` as JSON with sorted keys. Two JSON values are equal where these texts are equal:
    1, 1.0, true and "1" are four values."""
    return json.dumps(value, sort_keys=True)


empty_mapping: Callable[[], Mapping[str, Any]] = partial(MappingProxyType, {})
"""A read-only empty mapping, for defaults."""


# Terms.

_EXACT_MARK = '"'
"""No stem begins with it."""


def exact_token(*words: str) -> str:
    """The term that is the exact token of one word, or of several together."""
    return "".join(_EXACT_MARK + word for word in words)


def is_exact_token(term: str) -> bool:
    """Whether a term is an exact token."""
    return term.startswith(_EXACT_MARK)


def content_terms(terms: tuple[str, ...]) -> tuple[str, ...]:
    """``terms`` without exact tokens: the stems of content words."""
    if _EXACT_MARK not in "".join(terms):  # true of most: one test in place of one a term
        return terms
    return tuple(term for term in terms if not term.startswith(_EXACT_MARK))


def readable_term(term: str) -> str:
    """A term for people to read: an exact token without its marks."""
    return term[1:].replace(_EXACT_MARK, " ") if is_exact_token(term) else term


# Sessions.

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
