"""Facts that chats state: what holds when a chat ends, against hand-written lists.

    python -m benchmarks.chat_facts [--half HALF] [--wrong] [--json OUT] [--roles | --messages]

Each chat of ``chat_facts.toml`` is written message by message with ``RecallM(triplets=True)``;
then ``FactMemory.read`` and ``changes`` are compared with its lists. ``--wrong`` shows all that is
read, and what is missing (+), false (-) and missing in the past (<). ``--roles`` writes the
messages of "user" and "assistant" as those of a chat API.

``--messages``: instead, each message of ``user_messages.toml`` alone, as the user's. What is read
now is right, wrong or unmarked, by marks made by hand; ``--wrong`` shows the latter two.
"""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.report import report
from recallm import RecallM
from recallm.facts import Fact, FactMemory
from recallm.recall.predicates.relations import PredicateNames, Relations

CHATS = Path(__file__).with_suffix(".toml")
MESSAGES = CHATS.with_name("user_messages.toml")
_HALVES = ("develop", "kept", "fit", "last", "fresh", "more", "unseen", "aside")
"""Chats have the first two."""
_ROLES = {"user": "Human", "assistant": "AI"}

Terms = tuple[str, str, str]


class Matching:
    """Whether facts are those that a list expects: terms by the names of their concepts, relations
    by their normal forms and known phrasings."""

    def __init__(self, name: Callable[[str], str]) -> None:
        self._name = name
        self._relations = Relations(PredicateNames(name))

    def is_expected(self, fact: Terms, expected: str) -> bool:
        """Whether each part of a fact has one of its forms."""
        parts = [[*map(str.strip, part.split(" / "))] for part in expected.split("|")]
        return all(
            "*" in forms or key(part) in map(key, forms)
            for part, forms, key in zip(
                fact, parts, (self._end, self._relation, self._end), strict=True
            )
        )

    def _end(self, text: str) -> str:
        words = text.split()
        is_named = len(words) > 1 and words[0].lower() in ("a", "an", "the")
        bare = " ".join(words[1:] if is_named else words)
        return self._name(bare) or bare.lower()

    def _relation(self, text: str) -> tuple[str, bool]:
        found = self._relations.of(text)
        return found.name, found.negative


def write_chat(memory: RecallM, messages: Sequence[str], *, roles: bool) -> None:
    """Write the messages of a chat, each as one knowledge update."""
    for message in messages:
        who, _, text = message.partition(": ")
        if roles and who in _ROLES:
            memory.update_many([{"role": who, "content": text, "session": "chat"}])
        else:
            memory.update(text, speaker=who, session="chat")


def _terms(fact: Fact) -> Terms:
    names = {name: role for role, name in _ROLES.items()}
    return names.get(fact.subject, fact.subject), fact.relation, names.get(fact.object, fact.object)


def _past(facts: FactMemory, terms: Sequence[Terms]) -> list[Terms]:
    """What held for the subjects and relations of ``terms`` and does not now."""
    return [
        (subject, relation, change.object)
        for subject, relation in dict.fromkeys(each[:2] for each in terms)
        for change in facts.changes(subject, relation)
        if change.until_t is not None
    ]


def _score(chats: Sequence[Mapping[str, Any]], *, wrong: bool, roles: bool) -> dict[str, Any]:
    """The row of one half."""
    holds = held = false = held_false = past = was_past = 0
    for chat in chats:
        with RecallM(triplets=True) as memory:
            matching = Matching(memory._opened.concept_name)
            write_chat(memory, chat["said"], roles=roles)
            facts = FactMemory(memory)
            read = [_terms(fact) for fact in facts.read()]
            spans = _past(
                facts, [(t.subject, t.predicate, t.object) for t in memory.graph.triplets()]
            )

        def met(found: Sequence[Terms], expected: Sequence[str]) -> list[str]:
            return [
                wanted
                for wanted in expected
                if any(matching.is_expected(fact, wanted) for fact in found)  # noqa: B023
            ]

        right, mistaken = met(read, chat["holds"]), met(read, chat["false"])
        ended = met(spans, chat.get("past", []))
        holds, held = holds + len(chat["holds"]), held + len(right)
        false, held_false = false + len(chat["false"]), held_false + len(mistaken)
        past, was_past = past + len(chat.get("past", [])), was_past + len(ended)
        if wrong:
            _show(chat, read, right, mistaken, ended)
    return {
        "chats": len(chats),
        "stated": holds,
        "held": held,
        "share": round(held / max(1, holds), 3),
        "false": false,
        "held as true": held_false,
        "past": past,
        "known as past": was_past,
    }


def _show(
    chat: Mapping[str, Any],
    read: Sequence[Terms],
    right: Sequence[str],
    mistaken: Sequence[str],
    ended: Sequence[str],
) -> None:
    print("\n".join(chat["said"]))
    for fact in reversed(read):
        print("      ", " | ".join(fact))
    for mark, lines in (
        ("+", [line for line in chat["holds"] if line not in right]),
        ("-", mistaken),
        ("<", [line for line in chat.get("past", []) if line not in ended]),
    ):
        for line in lines:
            print("  ", mark, line)
    print()


_NAMES = {True: "right", False: "wrong", None: "unmarked"}


def marks_of(message: Mapping[str, Any]) -> dict[str, bool]:
    """Whether the marked facts of a message are right."""
    wrong = {line.rpartition(" | ")[0]: False for line in message.get("wrong", [])}
    return wrong | dict.fromkeys(message.get("right", []), True)


def _marked(messages: Sequence[Mapping[str, Any]], *, wrong: bool) -> dict[str, Any]:
    """The row of one half of the messages."""
    counts = dict.fromkeys(_NAMES.values(), 0)
    with RecallM(triplets=True) as memory:
        for place, message in enumerate(messages):
            own = memory.in_namespace(str(place))
            own.update(message["said"], speaker="user")
            marks = marks_of(message)
            for fact in FactMemory(own).read():
                terms = f"{fact.subject} | {fact.relation} | {fact.object}"
                mark = _NAMES[marks.get(terms)]
                counts[mark] += 1
                if wrong and mark != "right":
                    print(f"{message['said']}\n   {mark}: {terms} ({fact.confidence:.2f})\n")
    marked = counts["right"] + counts["wrong"]
    share = round(counts["right"] / max(1, marked), 3)
    return {"messages": len(messages), **counts, "share right": share}


def main(options: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Facts that chats state")
    parser.add_argument("--half", choices=_HALVES, help="one part alone")
    parser.add_argument("--wrong", action="store_true", help="show what is missing and false")
    parser.add_argument("--roles", action="store_true", help="write messages of a chat API")
    parser.add_argument("--messages", action="store_true", help="single messages of users")
    parser.add_argument("--json", type=Path, metavar="OUT", help="the table")
    chosen = parser.parse_args(options)
    data = tomllib.loads((MESSAGES if chosen.messages else CHATS).read_text(encoding="utf-8"))
    score = _marked if chosen.messages else partial(_score, roles=chosen.roles)
    rows = [
        {"half": half, **score(data[half], wrong=chosen.wrong)}
        for half in _HALVES
        if half in data and chosen.half in (None, half)
    ]
    report("facts of chats", rows, chosen.json)


if __name__ == "__main__":
    main()
