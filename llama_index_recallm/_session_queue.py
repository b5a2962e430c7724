"""The message queue of a session, and which of its messages are written.

LlamaIndex's messages have no ids. A block is shown the messages of a session's queue again and
again: new ones join at its end, the oldest leave it. So the messages that the block is shown are
aligned with those that were in the queue before; a message without a counterpart is new. A message
that was said twice stands in the queue twice.

* The id of a written message says its session, its place in the session, and a digest of its text:
  where another process continues a session, the memory itself knows what was written.
* In a session that another process began, a turn in the very words of an earlier turn may be taken
  for that turn; a turn in other words never is.
* A place without a passage was forgotten, and stays forgotten.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from recallm.adapting import Conversation, Message, digest, new_lock

_ID = re.compile(r"([0-9a-f]{16})-(\d+)-([0-9a-f]{32})")
"""Digest of the session, place, digest of the text."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """A message of the queue: the id of its passage, and the digest of its role and text (None:
    forgotten)."""

    id: str
    text_digest: str | None


class SessionQueue:
    """What is known of the queue of one session; safe to use from several threads."""

    def __init__(self, session: str) -> None:
        self._was_written = False
        self._session_digest = digest("llama-index", session)[:16]
        self._lock = new_lock()
        self._entries: list[_Entry] | None = None  # None: the memory has to be read
        self._resumed = False
        self._next_place = 0

    def remember(
        self,
        conversation: Conversation,
        messages: Sequence[Message],
        *,
        leaving: bool = False,
    ) -> tuple[list[Message], int]:
        """Write the new ones of ``messages``, all or nothing. ``messages`` are the whole queue, or
        with ``leaving`` its oldest messages, which leave it.

        Returns ``messages`` with their ids, and how many were new."""
        if not messages:
            return [], 0
        with self._lock:
            known, places = self._align(conversation, messages, leaving=leaving)
            entries: list[_Entry] = []
            new: list[Message] = []
            for message, place in zip(messages, places, strict=True):
                text_digest = _text_digest(message)
                if place is None:
                    id = f"{self._session_digest}-{self._next_place + len(new)}-{text_digest}"
                    new.append(replace(message, id=id))
                else:
                    id = known[place].id
                entries.append(_Entry(id, text_digest))
            conversation.remember(new)
            self._next_place += len(new)
            if leaving:
                self._forget_left(known, places)
            else:
                # Only the beginning was shown: the rest may follow, as where a question is retried.
                is_beginning = places == list(range(len(places)))
                rest = known[len(places) :] if is_beginning else []
                self._entries, self._resumed = entries + rest, False
            self._was_written = True
            with_ids = [
                replace(message, id=entry.id)
                for message, entry in zip(messages, entries, strict=True)
            ]
            return with_ids, len(new)

    def _forget_left(self, known: list[_Entry], places: list[int | None]) -> None:
        """Take messages that have left the queue out of its entries."""
        known_places = [place for place in places if place is not None]
        if known_places and self._resumed:
            self._entries = None  # the same text may stand at several places: which left is unknown
        elif known_places:
            self._entries, self._resumed = known[max(known_places) + 1 :], False
        elif not self._was_written:  # all messages are new: the known ones left earlier
            self._entries, self._resumed = [], False
        elif known:  # the messages were never in this queue
            self._entries = None

    def _align(
        self, conversation: Conversation, messages: Sequence[Message], *, leaving: bool
    ) -> tuple[list[_Entry], list[int | None]]:
        """The known entries, and the place among them of each message."""
        digests = [_text_digest(message) for message in messages]
        known = self._entries
        if known is None or (known and digests and known[0].text_digest not in (None, digests[0])):
            known = self._entries = self._written_entries(conversation)
            self._resumed = True
        held = [entry.text_digest for entry in known]
        return known, aligned(held, digests, resumed=self._resumed, leaving=leaving)

    def _written_entries(self, conversation: Conversation) -> list[_Entry]:
        """The entries that the memory holds of this session, in order, with gaps for forgotten
        ones."""
        found: list[tuple[int, _Entry]] = []
        for passage in conversation.memory.passages(session=conversation.session):
            id = _ID.fullmatch(passage.id)
            if id is not None and id[1] == self._session_digest:
                found.append((int(id[2]), _Entry(passage.id, id[3])))
        entries: list[_Entry] = []
        next_place = 0
        for place, entry in sorted(found, key=lambda numbered: numbered[0]):
            entries += [_Entry("", None)] * (place - next_place)
            entries.append(entry)
            next_place = place + 1
        self._next_place = max(self._next_place, next_place)
        return entries


def aligned(
    known: Sequence[str | None],
    given: Sequence[str],
    *,
    resumed: bool,
    leaving: bool,
) -> list[int | None]:
    """The place in ``known`` of each of ``given``, in order; None for what is new. A None in
    ``known`` matches anything.

    Where the queue was seen before, its beginning is the beginning of ``known``. Where it is
    ``resumed``, ``known`` is the session from its first message on, and the queue is its end;
    messages that are ``leaving`` may also be inside. Where neither fits, the history was edited:
    the longest common runs are taken, in order.
    """
    if not resumed:
        return _longest_runs(known, given, _run_length(known, 0, given, 0))
    most = min(len(known), len(given))
    if leaving and most == len(given):
        for start in range(len(known) - most, -1, -1):
            if _matches_at(known, start, given):
                return list(range(start, start + most))
    for length in range(most, 0, -1):
        start = len(known) - length
        if _run_length(known, start, given, 0) == length:
            return [*range(start, len(known)), *[None] * (len(given) - length)]
    return _longest_runs(known, given, 0)


def _longest_runs(
    known: Sequence[str | None], given: Sequence[str], common: int
) -> list[int | None]:
    """The places in the longest common runs, after a common beginning of length ``common``."""
    places: list[int | None] = list(range(common))
    places_by_key: dict[str | None, list[int]] = defaultdict(list)
    if common < min(len(known), len(given)):
        for place, key in enumerate(known):
            places_by_key[key].append(place)
    start = common
    while len(places) < len(given):
        candidates = places_by_key.get(given[len(places)], [])
        following = candidates[bisect_left(candidates, start) :]
        if not following:
            places.append(None)
            continue
        length, negated = max(
            (_run_length(known, place, given, len(places)), -place) for place in following
        )
        start = length - negated
        places += range(-negated, start)
    return places


def _run_length(known: Sequence[str | None], start: int, given: Sequence[str], place: int) -> int:
    """How many keys are the same from both places on, up to the last that is known to be."""
    length = 0
    for step in range(min(len(known) - start, len(given) - place)):
        key = known[start + step]
        if key == given[place + step]:
            length = step + 1
        elif key is not None:
            break
    return length


def _matches_at(known: Sequence[str | None], start: int, given: Sequence[str]) -> bool:
    """Whether ``known`` has all of ``given`` from ``start`` on, and not only forgotten places."""
    part = known[start : start + len(given)]
    pairs = zip(part, given, strict=True)
    return any(part) and all(key in (None, other) for key, other in pairs)


def _text_digest(message: Message) -> str:
    return digest(message.role, message.text)[:32]
