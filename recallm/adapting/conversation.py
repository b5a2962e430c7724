"""One conversation and the memory it belongs to: what all adapters write and recall by.

* The namespace says whose memory it is; the conversation is a session in it, so that what was said
  in one is recalled in the next. ``scope="session"`` keeps recall inside one.
* A message is one knowledge update, its id the message's: written again, it changes nothing.
* The messages of a turn are one transaction, in their order.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from recallm.adapting.texts import digest, storable
from recallm.errors import ConflictError, InvalidInputError
from recallm.memory import RecallM
from recallm.model import Passage
from recallm.results import KnowledgeUpdate, RecalledContext

__all__ = ["Conversation", "Said", "Scope"]

Scope = Literal["namespace", "session"]
"""What is recalled: all that the owner's memory holds, or this conversation alone."""

_LONGEST_ID = 200
_LONGEST_SESSION = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What is remembered of a message: its text (as it can be stored), who said it, in which role,
    and the message's id, if it has one."""

    text: str
    speaker: str
    role: str
    id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A session of a memory, and how far recall goes."""

    memory: RecallM
    session: str | None = None
    scope: Scope = "namespace"

    @staticmethod
    def name_of(conversation: object) -> str | None:
        """A framework's id of a conversation as a session can be named: none where it is empty or
        None, a digest where it is too long."""
        name = storable(str(conversation)) if conversation is not None else ""
        return (name if len(name) <= _LONGEST_SESSION else digest(name)) or None

    def within(self) -> str | None:
        """The one session that the scope is; None where it is the namespace.

        Raises:
            InvalidInputError: the scope is the session and there is none.

        """
        if self.scope == "namespace":
            return None
        if self.session is None:
            raise InvalidInputError(
                "scope='session' needs a conversation: give a session, or run in one that has "
                "an id, as in config={'configurable': {'thread_id': …}}",
                argument="scope",
            )
        return self.session

    def recall(self, question: str, *, besides: Sequence[Said] = (), **how: Any) -> RecalledContext:
        """What helps to answer ``question``; ``how`` are the arguments of ``RecallM.recall``.

        ``besides`` is what asks: where all of it is remembered already (a run goes on, or is tried
        again), what came before it is recalled, as it was at first. Where something is new, all is:
        between a question that nobody answered and this one, more may have been said.

        Raises:
            InvalidInputError: an argument cannot be used, or the scope is the session and there
                is none.
            StoreError: the store failed.

        """
        within = self.within()
        if within is not None:
            how["session"] = within
        asking = [self._passage_of(said) for said in besides]
        held = [passage for passage in asking if passage is not None]
        if held and len(held) == len(asking):
            how["until"] = min(passage.t_index for passage in held) - 1
        return self.memory.recall(question, **how)

    def passage_id(self, said: Said) -> str | None:
        """The id of the passage that holds ``said`` in this session, whole or cut; None if none
        does.

        Raises:
            StoreError: the store failed.

        """
        passage = self._passage_of(said)
        return None if passage is None else passage.id

    def passages_of(self, ids: Iterable[str]) -> dict[str, str]:
        """By message id, the passage that this session holds under it: read at once, whatever text
        the message has.

        Raises:
            StoreError: the store failed.

        """
        names = {id: _name_of(id) for id in ids}
        held = self.memory.get_many(set(names.values()))
        return {
            id: name
            for id, name in names.items()
            if name in held and held[name].session == self.session
        }

    def is_edited(self, said: Said) -> bool:
        """Whether this session holds another text under its id: not what a ``forget`` left of it.

        Raises:
            StoreError: the store failed.

        """
        return self._holds(_id(said)) and self._passage_of(said) is None

    def remember(
        self, spoken: Iterable[Said], *, at: datetime | None = None
    ) -> list[KnowledgeUpdate]:
        """Write what was said ``at`` a moment (None: now), all or nothing; what holds no text is
        passed over, and that of which something was forgotten: it stays forgotten.

        Raises:
            InvalidInputError: something cannot be stored.
            StoreError: the store failed; nothing was written.

        """
        moment = self.memory.now() if at is None else at
        items = [{**self._item(said), "timestamp": moment} for said in spoken if said.text.strip()]
        updates = self._written(items)
        elsewhere = {
            update.id for update in updates if update.duplicate and not self._holds(update.id)
        }
        if elsewhere:  # the same id and text, in another conversation
            for item in items:
                if item["id"] in elsewhere:
                    item["id"] = _own_id(item)
            updates = self._written(items)
        return updates

    def _item(self, said: Said) -> dict[str, Any]:
        """What is written of it."""
        return {
            "text": said.text,
            "speaker": said.speaker,
            "session": self.session,
            "id": _id(said),
            # The length tells what a forget has cut from what was edited.
            "metadata": {"role": said.role, "length": len(said.text)},
        }

    def _written(self, items: list[dict[str, Any]]) -> list[KnowledgeUpdate]:
        while items:
            try:
                return self.memory.update_many(items, batch_size=len(items))
            except ConflictError as error:
                place = error.index or 0
                item = items[place]
                kept = self.memory.get(item["id"])
                if kept is not None and kept.session == self.session and _is_of(kept, item):
                    del items[place]
                elif item["id"] == _own_id(item):
                    raise
                else:
                    # An id that another conversation uses too, or a message that was edited since.
                    item["id"] = _own_id(item)
        return []

    def _holds(self, id: str) -> bool:
        passage = self.memory.get(id)
        return passage is not None and passage.session == self.session

    def _passage_of(self, said: Said) -> Passage | None:
        """The passage that holds it in this session, whole or cut."""
        if not said.id:
            return None
        item = self._item(said)
        for id in (item["id"], _own_id(item)):
            kept = self.memory.get(id)
            if kept is not None and kept.session == self.session and _is_of(kept, item):
                return kept
        return None


def _id(said: Said) -> str:
    """The passage's id: the message's own, a new one where it has none."""
    return _name_of(said.id) if said.id else uuid.uuid4().hex


def _name_of(id: str) -> str:
    """A message's id as a passage can be named."""
    id = storable(id)
    return id if len(id) <= _LONGEST_ID else digest(id)


def _is_of(kept: Passage, item: Mapping[str, Any]) -> bool:
    """Whether ``kept`` holds an item's text, or what a ``forget`` left of it: its words, in order,
    of a text that was as long."""
    if kept.metadata.get("length") != len(item["text"]):
        return False
    words = iter(item["text"].split())
    return all(word in words for word in kept.text.split())


def _own_id(item: Mapping[str, Any]) -> str:
    """An id for a message whose own is taken: it depends on all that makes it another message."""
    return digest(str(item["session"]), item["speaker"], item["text"])
