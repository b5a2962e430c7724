"""The branches of a thread: what the state of a thread does not hold any more is withdrawn after a
fork, an edited message or another answer, and what it holds again is there again.

A passage that a run with a checkpointer wrote has its place in the thread in its metadata: the ids
of its message, of the message before it, and of the run's checkpoint. The state of a run abandons
such a passage where it holds the message before it (or abandons that one too), but neither the
message nor a later one that was remembered. Of a thread that begins anew only its checkpointer can
tell: it still has the checkpoint of the passage, on another branch.

Messages that left the state because the thread was summarised or trimmed stand before those that
the state holds: nothing abandons them. Without a checkpointer, and inside another graph, a state is
no whole thread, and abandons nothing.
"""

from __future__ import annotations

from langchain_recallm._conversation import MessageConversation, ThreadState, latest_question
from recallm import Passage

_CHUNK = 8
_MOST_UNKNOWN = 64
"""Messages of the state that are looked for in the memory from the latest back, till it has one."""
_MOST_OF_OTHERS = 20
"""Passages of a session that are looked through for the latest of this thread."""


def follow_branch(conversation: MessageConversation) -> None:
    """Withdraw the passages of this session that the state of its thread abandons, and undo this
    for those that the state holds."""
    state, memory = conversation.thread, conversation.memory
    if state is None or conversation.session is None:
        return
    shared, again = _latest_held(conversation, state)
    if again:
        memory.withdraw(again, undo=True)
    elif shared is None and not _begins_anew(conversation, state):
        return
    since = 0 if shared is None else shared.t_index + 1
    placed = [
        (passage, place)
        for passage in memory.passages(session=conversation.session, since=since)
        if isinstance(place := passage.metadata.get("thread"), dict)
    ]
    if not placed:
        return
    known = {place["message"] for _, place in placed}
    ids = [conversation.written_id(message) for message in state.messages]
    held = conversation.passages_of(
        message for message, id in zip(state.messages, ids, strict=True) if id in known
    )
    before = set(ids)
    abandoned: list[str] = []
    for passage, place in placed:
        if passage.id in held:
            continue
        after, checkpoint = place["after"], place["checkpoint"]
        if after in before if after else state.has_branch(checkpoint):
            abandoned.append(passage.id)
            before.add(place["message"])
    if abandoned:
        memory.withdraw(abandoned)


def _latest_held(
    conversation: MessageConversation, state: ThreadState
) -> tuple[Passage | None, list[str]]:
    """The latest passage that is not withdrawn and of which the state holds the message, and the
    ids of the withdrawn ones of which it holds later messages."""
    again: list[str] = []
    unknown = 0
    for end in range(len(state.messages), 0, -_CHUNK):
        chunk = conversation.core_messages(state.messages[max(0, end - _CHUNK) : end])
        for passage in reversed(
            conversation.passages_of_messages([message for message in chunk if message.id])
        ):
            if passage is None:
                unknown += 1
            elif passage.withdrawn_t is None:
                return passage, again
            else:
                again.append(passage.id)
        if unknown >= _MOST_UNKNOWN:
            break
    return None, again


def _begins_anew(conversation: MessageConversation, state: ThreadState) -> bool:
    """Whether a thread of which messages are remembered begins with other ones in this run."""
    asking, _ = latest_question(state.messages)
    if not asking or state.messages[0] is not asking[0]:
        return False
    passages = conversation.memory.passages(session=conversation.session, limit=_MOST_OF_OTHERS)
    places = (passage.metadata.get("thread") for passage in reversed(passages))
    place = next((found for found in places if isinstance(found, dict)), None)
    return place is not None and state.has_branch(place["checkpoint"])
