"""Long messages: on disk as text before the model is called, read by extraction after it.

A postponed message is an item that recall does not look into, at a path of its own in the owner's
namespace. Whatever ends the process, its text is there, and the next run that ends in this
namespace reads it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from recallm.adapting.conversation import Conversation, Said
from recallm.adapting.texts import digest
from recallm.items import NewItem
from recallm.memory import RecallM
from recallm.model import Passage

__all__ = [
    "POSTPONED",
    "has_postponed",
    "is_long",
    "is_postponed",
    "postpone",
    "settle",
    "settle_some",
]

POSTPONED = ("recallm", "postponed")
"""The path of these items."""

_AT_ONCE = 20_000
"""Characters that are extracted before the model is called: some tenths of a second."""

_OTHERS = 50_000
"""Characters of other sessions that one run extracts: about a second."""


def is_long(spoken: Iterable[Said]) -> bool:
    """Whether the extraction of these messages would delay a call of the model."""
    return sum(len(said.text) for said in spoken) > _AT_ONCE


def is_postponed(conversation: Conversation, said: Said, place: int = 0) -> bool:
    """Whether the text of a message is there and waits; ``place`` tells messages without an id
    apart.

    Raises:
        StoreError: the store failed.

    """
    key = _key(conversation, said, place)
    return conversation.memory.items.get(POSTPONED, key) is not None


def _key(conversation: Conversation, said: Said, place: int) -> str:
    return digest(str(conversation.session), said.id or str(place), said.speaker, said.text)


def postpone(conversation: Conversation, spoken: Sequence[Said]) -> None:
    """Write the texts of messages in one transaction, without extraction; those that the session
    holds already, or that are postponed already, are passed over.

    Raises:
        InvalidInputError: a message cannot be stored.
        StoreError: the store failed; nothing was written.

    """
    memory, session = conversation.memory, conversation.session
    now = memory.now()
    items: list[NewItem] = []
    for place, said in enumerate(spoken):
        if not said.text.strip() or conversation.passage_id(said):
            continue
        if is_postponed(conversation, said, place):
            continue
        items.append(
            NewItem(
                path=POSTPONED,
                key=_key(conversation, said, place),
                text=said.text,
                recalled=False,
                speaker=said.speaker,
                timestamp=now,
                session=session,
                metadata={"postponed": {"role": said.role, "id": said.id}},
            )
        )
    memory.items.put(items)


def has_postponed(conversation: Conversation) -> bool:
    """Whether a message of this session is postponed.

    Raises:
        StoreError: the store failed.

    """
    return any(
        kept.session == conversation.session for kept in conversation.memory.items.below(POSTPONED)
    )


def settle_some(memory: RecallM, session: str | None) -> None:
    """Remember all messages of a session that were postponed, then the oldest of other sessions in
    this namespace: up to 50,000 characters, and of a longer message that one alone, where the
    session itself had none. The rest is left to later runs.

    Raises:
        StoreError: the store failed; what is left stays postponed.

    """
    waiting = _waiting(memory)
    own = [kept for kept in waiting if kept.session == session]
    others = [kept for kept in waiting if kept.session != session]
    room = _OTHERS
    for kept in own:
        _settle(memory, kept)
        room -= len(kept.text)
    for place, kept in enumerate(others):
        if len(kept.text) > room and (own or place):
            break
        _settle(memory, kept)
        room -= len(kept.text)


def settle(memory: RecallM, *, but: Collection[tuple[str | None, str]] = ()) -> None:
    """Remember the messages that were postponed in this namespace, in their order, each as of the
    moment when it was said; ``but`` are sessions and texts of messages that stay postponed. Several
    may do so at once: a message is remembered once.

    Raises:
        StoreError: the store failed; what is left stays postponed.

    """
    for kept in _waiting(memory):
        if (kept.session, kept.text) not in but:
            _settle(memory, kept)


def _waiting(memory: RecallM) -> list[Passage]:
    """What is postponed in this namespace, the oldest first."""
    return [
        kept
        for kept in reversed(memory.items.below(POSTPONED))
        # Not somebody else's item at this path.
        if isinstance(kept.metadata.get("postponed"), dict) and kept.key is not None
    ]


def _settle(memory: RecallM, kept: Passage) -> None:
    given, key = kept.metadata["postponed"], kept.key or ""
    said = Said(
        text=kept.text,
        speaker=kept.speaker or "",
        role=str(given.get("role")),
        id=given.get("id") or key,
    )
    conversation = Conversation(memory=memory, session=kept.session)
    conversation.remember([said], at=kept.timestamp)
    memory.items.delete(POSTPONED, key)
