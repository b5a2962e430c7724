"""Long messages: written as text before the model is called, read by extraction after its answer.

A postponed message is an item that recall does not read, at a path of its own in the owner's
namespace. Whenever the process ends, the text is on disk, and the next run that ends in this
namespace extracts it. Where the store fails, every function raises ``StoreError``; what is not
extracted by then stays postponed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from recallm.adapting.conversation import Conversation
from recallm.adapting.messages import Message, digest
from recallm.memory import RecallM
from recallm.memory.items import NewItem
from recallm.model import Passage

POSTPONED_PATH = ("recallm", "postponed")
"""The path of the items that hold postponed messages."""

_MAX_IMMEDIATE = 20_000
"""Characters that are extracted before the model is called: some tenths of a second."""

_MAX_OF_OTHER_SESSIONS = 50_000
"""Characters of other sessions that one run extracts: about a second."""


def is_long(messages: Iterable[Message]) -> bool:
    """Whether the extraction of these messages would delay a call of the model."""
    return sum(len(message.text) for message in messages) > _MAX_IMMEDIATE


def is_postponed(conversation: Conversation, message: Message, place: int = 0) -> bool:
    """Whether a message is written and waits for extraction; ``place`` tells messages without an id
    apart."""
    key = _item_key(conversation, message, place)
    return conversation.memory.items.get(POSTPONED_PATH, key) is not None


def postpone(conversation: Conversation, messages: Sequence[Message]) -> None:
    """Write the texts of messages in one transaction, without extraction; without those that the
    session holds already, or that are postponed already."""
    memory = conversation.memory
    now = memory.now()
    memory.items.put(
        [
            NewItem(
                path=POSTPONED_PATH,
                key=_item_key(conversation, message, place),
                text=message.text,
                recalled=False,
                speaker=message.speaker,
                timestamp=now,
                session=conversation.session,
                metadata={
                    "postponed": {"role": message.role, "id": message.id, "thread": message.thread}
                },
            )
            for place, message in enumerate(messages)
            if message.text.strip()
            and conversation.passages_of_messages([message]) == [None]
            and not is_postponed(conversation, message, place)
        ]
    )


def has_postponed(conversation: Conversation) -> bool:
    """Whether a message of this session is postponed."""
    return any(
        item.session == conversation.session
        for item in conversation.memory.items.below(POSTPONED_PATH)
    )


def extract_postponed(
    memory: RecallM, *, except_messages: Collection[tuple[str | None, str]] = ()
) -> None:
    """Remember the postponed messages of a namespace in their order, each with the time when it was
    said. ``except_messages`` are sessions and texts of messages that stay postponed. Where several
    processes do this at once, a message is remembered once."""
    for item in _postponed_items(memory):
        if (item.session, item.text) not in except_messages:
            _extract(memory, item)


def extract_some_postponed(memory: RecallM, session: str | None) -> None:
    """Remember all postponed messages of a session, then the oldest of other sessions of the
    namespace: up to 50,000 characters. A longer message is remembered alone, in a run whose session
    had none. Later runs remember the rest."""
    items = _postponed_items(memory)
    own = [item for item in items if item.session == session]
    others = [item for item in items if item.session != session]
    room = _MAX_OF_OTHER_SESSIONS
    for item in own:
        _extract(memory, item)
        room -= len(item.text)
    for place, item in enumerate(others):
        if len(item.text) > room and (own or place):
            break
        _extract(memory, item)
        room -= len(item.text)


def _item_key(conversation: Conversation, message: Message, place: int) -> str:
    return digest(
        str(conversation.session), message.id or str(place), message.speaker, message.text
    )


def _postponed_items(memory: RecallM) -> list[Passage]:
    """The postponed messages of a namespace, the oldest first."""
    return [
        item
        for item in reversed(memory.items.below(POSTPONED_PATH))
        # A user's own item may stand at this path too.
        if isinstance(item.metadata.get("postponed"), dict) and item.key is not None
    ]


def _extract(memory: RecallM, item: Passage) -> None:
    given, key = item.metadata["postponed"], item.key or ""
    message = Message(
        text=item.text,
        speaker=item.speaker or "",
        role=str(given.get("role")),
        id=given.get("id") or key,
        thread=given.get("thread"),
    )
    conversation = Conversation(memory=memory, session=item.session)
    conversation.remember([message], at=item.timestamp)
    memory.items.delete(POSTPONED_PATH, key)
