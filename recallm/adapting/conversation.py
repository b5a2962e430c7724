"""One conversation of a memory: what adapters write its messages and recall by, and how they show
what was recalled.

* The namespace says whose memory it is. The conversation is a session in that namespace, so that
  what was said in one conversation is recalled in the next; ``scope="session"`` keeps recall inside
  the session.
* A message is one knowledge update under the message's id: written again, it changes nothing.
* The messages of a turn are written in their order, in one transaction.
* Of a message with a place in a thread, which goes into the passage's metadata, another text under
  the same id is an edited one: the text before is withdrawn.
* Where the store fails, every method raises ``StoreError``, and nothing is written.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeVar

from recallm.adapting.messages import Message, digest
from recallm.errors import ConflictError, InvalidInputError
from recallm.ground.untrusted_text import as_data, storable
from recallm.memory import RecallM
from recallm.model import Passage
from recallm.recall.results import KnowledgeUpdate, RecalledContext, RecalledStatement

Scope = Literal["namespace", "session"]
"""What recall searches: all of the owner's memory, or this conversation alone."""

_T = TypeVar("_T")

_MAX_TRIES = 8

_MAX_QUESTION = 4000
"""Characters of the user's words that recall asks with."""

_MAX_ID = 200
_MAX_SESSION = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A session of a memory, and the scope of recall in it."""

    memory: RecallM
    session: str | None = None
    scope: Scope = "namespace"

    @staticmethod
    def session_name(conversation_id: object) -> str | None:
        """The session of a framework's conversation: None for an id that is None or empty, a digest
        for one that is too long."""
        name = storable(str(conversation_id)) if conversation_id is not None else ""
        return (name if len(name) <= _MAX_SESSION else digest(name)) or None

    @staticmethod
    def passage_id(message_id: str) -> str:
        """The id of the passage that holds a message with this id: a digest of one that is too
        long."""
        id = storable(message_id)
        return id if len(id) <= _MAX_ID else digest(id)

    def only_session(self) -> str | None:
        """The one session that recall searches; None where it searches the namespace."""
        if self.scope == "namespace":
            return None
        if self.session is None:
            raise InvalidInputError(
                "scope='session' needs a conversation: give a session, or run in one that has "
                "an id, as in config={'configurable': {'thread_id': …}}",
                argument="scope",
            )
        return self.session

    def recall(
        self, question: str, *, asking: Sequence[Message] = (), **arguments: Any
    ) -> RecalledContext:
        """What helps to answer ``question``; ``arguments`` are those of ``RecallM.recall``.

        ``asking`` are the messages that ask; "I" in the question stands for their speaker. Where
        the session holds all of them already (a run is resumed or tried again), only what came
        before them is recalled, as in the first try. Where one is new, everything is recalled: more
        may have been said since a question that nobody answered."""
        session = self.only_session()
        if session is not None:
            arguments["session"] = session
        if asking:
            arguments.setdefault("asker", asking[-1].speaker)
        written = [passage for passage in self.passages_of_messages(asking) if passage is not None]
        if written and len(written) == len(asking):
            arguments["until"] = min(passage.t_index for passage in written) - 1
        return self.memory.recall(question, **arguments)

    def passages_of_messages(self, messages: Sequence[Message]) -> list[Passage | None]:
        """For each message the passage that holds it in this session, in full or in part, whether
        or not the passage is withdrawn; None also for a message without an id."""
        items = [self._update_item(message) for message in messages]
        ids = [
            (item["id"], _own_id(item)) if message.id else ()
            for item, message in zip(items, messages, strict=True)
        ]
        found = self.memory.get_many({id for each in ids for id in each}, withdrawn=True)
        return [
            next((found[id] for id in each if id in found and self._holds(found[id], item)), None)
            for item, each in zip(items, ids, strict=True)
        ]

    def remember(
        self, messages: Iterable[Message], *, at: datetime | None = None
    ) -> list[KnowledgeUpdate]:
        """Write messages that were said ``at`` a moment (None: now), all or nothing. Messages
        without text are left out, and so are those of which a part was forgotten: that part stays
        forgotten."""
        timestamp = self.memory.now() if at is None else at
        items = [
            {**self._update_item(message), "timestamp": timestamp}
            for message in messages
            if message.text.strip()
        ]
        updates = self._write(items)
        in_other_sessions = {
            update.id for update in updates if update.duplicate and not self.has_passage(update.id)
        }
        if in_other_sessions:  # another conversation has the same id with the same text
            for item in items:
                if item["id"] in in_other_sessions:
                    item["id"] = _own_id(item)
            updates = self._write(items)
        return updates

    def _update_item(self, message: Message) -> dict[str, Any]:
        """A message as an item of ``RecallM.update_many``."""
        return {
            "text": message.text,
            "speaker": message.speaker,
            "session": self.session,
            "id": self.passage_id(message.id) if message.id else uuid.uuid4().hex,
            # The length tells a text that a forget has shortened from one that was edited.
            "metadata": {"role": message.role, "length": len(message.text)}
            | ({"thread": dict(message.thread)} if message.thread else {}),
        }

    def _write(self, items: list[dict[str, Any]]) -> list[KnowledgeUpdate]:
        again: list[str] = []
        edited: list[str] = []
        updates: list[KnowledgeUpdate] = []
        while items:
            try:
                updates = self.memory.update_many(items, batch_size=len(items))
                break
            except ConflictError as error:
                place = error.index or 0
                item = items[place]
                passage = self._stored(item["id"])
                if passage is not None and self._holds(passage, item):
                    del items[place]
                    again += [passage.id] * (passage.withdrawn_t is not None)
                elif item["id"] == _own_id(item):
                    raise
                else:
                    # Another conversation uses the id too, or the message was edited since.
                    item["id"] = _own_id(item)
                    if passage is not None and passage.session == self.session:
                        is_followed = "thread" in item["metadata"] and "thread" in passage.metadata
                        edited += [passage.id] * is_followed
        if again:
            self.memory.withdraw(again, undo=True)
        if edited:
            self.memory.withdraw(edited)
        return updates

    def _stored(self, id: str) -> Passage | None:
        return self.memory.get_many([id], withdrawn=True).get(id)

    def _holds(self, passage: Passage, item: Mapping[str, Any]) -> bool:
        return passage.session == self.session and _has_text_of(passage, item)

    def has_passage(self, id: str) -> bool:
        """Whether this session has a passage with this id, withdrawn or not."""
        passage = self._stored(id)
        return passage is not None and passage.session == self.session


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureGuard:
    """Runs an adapter's work with its memory so that the agent goes on where that work fails."""

    log: logging.Logger
    raise_errors: bool

    def run(self, work: Callable[[], _T], loss: str) -> _T | None:
        """The result of ``work``; None where it fails: the failure is logged with the ``loss``,
        bad input in one line, anything else with its traceback."""
        try:
            return work()
        except Exception as error:
            if self.raise_errors:
                raise
            if isinstance(error, InvalidInputError):
                self.log.warning("%s: %s", loss, error)
            else:
                self.log.warning("the memory failed, the agent goes on: %s", loss, exc_info=True)
            return None


def _has_text_of(passage: Passage, item: Mapping[str, Any]) -> bool:
    """Whether a passage holds an item's text, or the part that a ``forget`` left: some of the words
    in their order, from a text of the same length."""
    if passage.metadata.get("length") != len(item["text"]):
        return False
    words = iter(item["text"].split())
    return all(word in words for word in passage.text.split())


def _own_id(item: Mapping[str, Any]) -> str:
    """An id for a message whose own id is taken: a digest of what makes it another message."""
    return digest(str(item["session"]), item["speaker"], item["text"])


# -- what is recalled, in a framework -----------------------------------------------------------


def delimiter_tokens(memory: RecallM) -> int:
    """The tokens of the delimiters alone, by the memory's counter."""
    return memory.count_tokens(as_data("\n"))


def data_within(
    max_tokens: int | None, memory: RecallM, recall: Callable[[int | None], RecalledContext]
) -> tuple[str, Sequence[RecalledStatement]]:
    """What ``recall`` gives, as delimited data of at most ``max_tokens`` tokens, delimiters
    included, by the memory's counter, and the statements in it; '' and none where nothing fits.
    ``recall`` is given a ``max_tokens`` for its own text."""
    if max_tokens is None:
        context = recall(None)
        return as_data(context.text), context.statements
    room = max_tokens - delimiter_tokens(memory)
    for _ in range(_MAX_TRIES):
        if room <= 0:
            break
        context = recall(room)
        text = as_data(context.text)
        excess = memory.count_tokens(text) - max_tokens
        if excess <= 0:
            return text, context.statements
        # A user's own counter may count the delimited text otherwise than the sum of its parts.
        room -= max(excess, room // 8)
    return "", ()


def shortened_question(question: str) -> str:
    """The beginning and the end of a long question: a question about a document stands before the
    document or after it."""
    if len(question) <= _MAX_QUESTION:
        return question
    half = _MAX_QUESTION // 2
    return f"{question[:half]}\n{question[-half:]}"


def statement_metadata(statement: RecalledStatement) -> dict[str, Any]:
    """The metadata of a document that shows a recalled statement, in JSON values, None where
    unknown: ``t_index``, ``timestamp`` (ISO 8601), ``speaker``, ``source``, ``session``, ``score``,
    ``concepts`` (names) and ``passage`` (an id), and the statement's own metadata. Own keys with
    the name of a field stand under ``own``, so that none is lost."""
    timestamp = statement.timestamp
    fields = {
        "t_index": statement.t_index,
        "timestamp": None if timestamp is None else timestamp.isoformat(),
        "speaker": statement.speaker,
        "source": statement.source,
        "session": statement.session,
        "score": statement.score,
        "concepts": list(statement.concepts),
        "passage": statement.passage,
    }
    reserved = {*fields, "own"}
    own = {key: value for key, value in statement.metadata.items() if key not in reserved}
    clashing = {key: value for key, value in statement.metadata.items() if key in reserved}
    return {**fields, **own, **({"own": clashing} if clashing else {})}
