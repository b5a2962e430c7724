"""What the tools forget: by id, by what is mentioned, or everything of an owner."""

from __future__ import annotations

from langchain_core.tools import ToolException

from langchain_recallm._conversation import MessageConversation
from langchain_recallm._tool_building import checked_text
from recallm import Passage
from recallm.adapting import extract_postponed

__all__ = ["forget_about", "forget_everything", "forget_one", "passage_of"]


def passage_of(conversation: MessageConversation, id: str) -> Passage | None:
    """The passage with this id, or of the statement with this id; None where the conversation's
    scope has none."""
    memory, session = conversation.memory, conversation.only_session()
    passage = memory.get(id) or memory.get(id.rpartition("#")[0])
    is_known = passage is not None and session in (None, passage.session or passage.source)
    return passage if is_known else None


def forget_one(conversation: MessageConversation, id: str) -> str:
    memory = conversation.memory
    passage = passage_of(conversation, id)
    is_whole = passage is not None and passage.id == id
    if passage is None or not (memory.forget(id=id) if is_whole else memory.forget(statement=id)):
        raise ToolException(
            f"No statement has the id {id!r}; nothing was forgotten. recall_memory shows the ids."
        )
    kind = "statement" if not is_whole else "memory" if passage.text else "fact"
    return f"Forgot the {kind} {id}."


def forget_about(conversation: MessageConversation, about: str) -> str:
    memory, session = conversation.memory, conversation.only_session()
    about = checked_text(about, "about")
    extract_postponed(memory)  # long messages that wait for extraction may mention it too
    if session is None:
        forgotten = memory.forget(concept=about)
        counts = {"statement": forgotten.statements, "fact": forgotten.triplets}
    else:
        statements = sum(
            memory.forget(statement=it.id).statements
            for it in memory.history(about)
            if it.session == session
        )
        counts = {"statement": statements}
    if not any(counts.values()):
        return f"Nothing is remembered that mentions {about!r}; nothing was forgotten."
    texts = [f"{count} {kind}{'s' * (count > 1)}" for kind, count in counts.items() if count]
    return (
        f"Forgot {' and '.join(texts)} that mention{'s' * (sum(counts.values()) == 1)} {about!r}."
    )


def forget_everything(conversation: MessageConversation) -> str:
    """Forget all that the conversation's scope holds."""
    memory, session = conversation.memory, conversation.only_session()
    if session is None:
        forgotten = memory.forget(everything=True)
    else:
        forgotten = memory.forget(session=session)
    return f"Forgot everything: {forgotten.passages} memories."
