"""The queue of a session, and which of its messages are written.

LlamaIndex's messages have no ids. A block is shown the messages of a session's queue again and
again: new ones join at its end, the oldest leave it. So what it is shown is laid beside what was in
the queue before; what has no counterpart there is new. A message that is said twice stands there
twice.

* A message's id tells its session, its place in it, and a digest of what it says: the memory itself
  knows what was written when a process goes on with a session that another began.
* Where a process goes on like that, a turn in the very words of an earlier one may pass for it;
  what is said in other words never does.
* A place that is missing there was forgotten; it stays so.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import OrderedDict, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from recallm.adapting import (
    Conversation,
    Said,
    digest,
    has_postponed,
    is_long,
    new_lock,
    postpone,
)

__all__ = ["Queue", "Queues", "aligned"]

_MOST = 1024
_FORM = re.compile(r"([0-9a-f]{16})-(\d+)-([0-9a-f]{32})")


@dataclass(frozen=True, slots=True)
class _Entry:
    """A message of the queue: its passage's id, and the digest of what it says; of what was
    forgotten nobody knows that."""

    id: str
    key: str | None


class Queue:
    """What is known of the queue of one session; safe to use from several threads.

    ``complete``: whatever leaves the queue was written while it was in it.
    """

    def __init__(self, session: str, *, complete: bool) -> None:
        self._complete = complete
        self._begun = False
        self._mark = digest("llama-index", session)[:16]
        self._lock = new_lock()
        self._entries: list[_Entry] | None = None
        self._resumed = False
        self._next = 0

    def shown(self, conversation: Conversation, spoken: Sequence[Said]) -> list[Said]:
        """``spoken``, with the ids of what is written; None where it is new.

        Raises:
            StoreError: the store failed.

        """
        with self._lock:
            known, places = self._laid(conversation, spoken, leaving=False)
            return [
                said if place is None else replace(said, id=known[place].id)
                for said, place in zip(spoken, places, strict=True)
            ]

    def remember(
        self,
        conversation: Conversation,
        spoken: Sequence[Said],
        *,
        leaving: bool = False,
        asked: bool = False,
    ) -> tuple[list[Said], int]:
        """Write what is new in ``spoken``, all or nothing: all that the queue holds, or with
        ``leaving`` the oldest, which leave it. Where the model is ``asked`` next, long messages,
        and those after them, are postponed. ``spoken``, with ids; how many were new.

        Raises:
            InvalidInputError: something cannot be stored.
            StoreError: the store failed; nothing was written.

        """
        if not spoken:
            return [], 0
        with self._lock:
            known, places = self._laid(conversation, spoken, leaving=leaving)
            following = self._next
            entries: list[_Entry] = []
            new: list[Said] = []
            for said, place in zip(spoken, places, strict=True):
                if place is None:
                    entries.append(self._entry(said, following))
                    new.append(replace(said, id=entries[-1].id))
                    following += 1
                else:
                    entries.append(_Entry(known[place].id, _key(said)))
            if asked and new and (is_long(new) or has_postponed(conversation)):
                postpone(conversation, new)
            else:
                conversation.remember(new)
            self._next = following
            if not leaving:
                # A beginning alone: the rest may come again, as a question that is tried again.
                rest = known[len(places) :] if places == list(range(len(places))) else []
                self._entries, self._resumed = entries + rest, False
            elif len(new) < len(spoken) and self._resumed:
                self._entries = None  # it may stand there several times: nobody knows what follows
            elif len(new) < len(spoken):
                last = max(place for place in places if place is not None)
                self._entries, self._resumed = known[last + 1 :], False
            elif not self._begun:  # all of it is new: what was known had left before
                self._entries, self._resumed = [], False
            elif known:  # it never was in this queue
                self._entries = None
            self._begun = True
            placed = zip(spoken, entries, strict=True)
            return [replace(said, id=entry.id) for said, entry in placed], len(new)

    def _laid(
        self, conversation: Conversation, spoken: Sequence[Said], *, leaving: bool
    ) -> tuple[list[_Entry], list[int | None]]:
        """What is known, and the place in it of each of ``spoken``."""
        keys = [_key(said) for said in spoken]
        known = self._entries
        if known is None or (known and keys and known[0].key not in (None, keys[0])):
            known = self._entries = self._written(conversation)
            self._resumed = True
        places = aligned(
            [entry.key for entry in known],
            keys,
            resumed=self._resumed,
            leaving=leaving,
            complete=self._complete,
        )
        return known, places

    def _written(self, conversation: Conversation) -> list[_Entry]:
        """What the memory holds of this session, in order, with what is missing there."""
        found: list[tuple[int, _Entry]] = []
        for passage in conversation.memory.passages(session=conversation.session):
            form = _FORM.fullmatch(passage.id)
            if form is not None and form[1] == self._mark:
                found.append((int(form[2]), _Entry(passage.id, form[3])))
        entries: list[_Entry] = []
        following = 0
        for place, entry in sorted(found, key=lambda it: it[0]):
            entries += [_Entry("", None)] * (place - following)
            entries.append(entry)
            following = place + 1
        self._next = max(self._next, following)
        return entries

    def _entry(self, said: Said, place: int) -> _Entry:
        key = _key(said)
        return _Entry(f"{self._mark}-{place}-{key}", key)


class Queues:
    """The queues of the sessions that were used last; safe to use from several threads."""

    def __init__(self, *, complete: bool) -> None:
        self._complete = complete
        self._queues: OrderedDict[str, Queue] = OrderedDict()
        self._lock = new_lock()

    def of(self, session: str) -> Queue:
        """The queue of a session; that which was used least recently goes where there are too
        many."""
        with self._lock:
            queue = self._queues.setdefault(session, Queue(session, complete=self._complete))
            self._queues.move_to_end(session)
            if len(self._queues) > _MOST:
                self._queues.popitem(last=False)
            return queue


def aligned(
    known: Sequence[str | None],
    given: Sequence[str],
    *,
    resumed: bool,
    leaving: bool,
    complete: bool = True,
) -> list[int | None]:
    """The place in ``known`` of each of ``given``, in order; None for what is new. What is None in
    ``known`` may be anything.

    Where the queue was seen before, its beginning stands at the beginning of ``known``. Where it is
    ``resumed``, ``known`` is the session from its first message on, and the queue its end; what is
    ``leaving`` may also stand inside. Where neither fits, the history was edited, and the longest
    common runs are taken, in order; or, where what is known is not ``complete``, all is new.
    """
    if resumed:
        most = min(len(known), len(given))
        if leaving and most == len(given):
            for start in range(len(known) - most, -1, -1):
                if _stands(known, start, given):
                    return list(range(start, start + most))
        for length in range(most, 0, -1):
            start = len(known) - length
            if _run(known, start, given, 0) == length:
                return [*range(start, len(known)), *[None] * (len(given) - length)]
        return _runs(known, given, 0) if complete else [None] * len(given)
    return _runs(known, given, _run(known, 0, given, 0))


def _runs(known: Sequence[str | None], given: Sequence[str], common: int) -> list[int | None]:
    """The longest common runs, after a ``common`` beginning."""
    places: list[int | None] = list(range(common))
    where: dict[str | None, list[int]] = defaultdict(list)
    if common < min(len(known), len(given)):
        for place, key in enumerate(known):
            where[key].append(place)
    start = common
    while len(places) < len(given):
        at = where.get(given[len(places)], [])
        found = at[bisect_left(at, start) :]
        if not found:
            places.append(None)
            continue
        length, best = max((_run(known, place, given, len(places)), -place) for place in found)
        places += range(-best, length - best)
        start = length - best
    return places


def _run(known: Sequence[str | None], start: int, given: Sequence[str], place: int) -> int:
    """How many are the same from there on, to the last that is known to be."""
    length = 0
    for step in range(min(len(known) - start, len(given) - place)):
        key = known[start + step]
        if key == given[place + step]:
            length = step + 1
        elif key is not None:
            break
    return length


def _stands(known: Sequence[str | None], start: int, given: Sequence[str]) -> bool:
    """Whether all of ``given`` stands there."""
    there = known[start : start + len(given)]
    pairs = list(zip(there, given, strict=True))
    return all(one in (None, other) for one, other in pairs) and any(there)


def _key(said: Said) -> str:
    return digest(said.role, said.text)[:32]
