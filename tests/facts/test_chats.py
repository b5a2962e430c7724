"""Chats that change their mind: what holds when they end, and what held before."""

from __future__ import annotations

import re

from recallm import RecallM
from recallm.english.changes import _TABLE, Change, Said, _rules, changes_in
from recallm.facts import FactMemory

CHATS: tuple[tuple[str, str], ...] = (
    # What changes.
    ("A: My rent went up from 850 to 920 pounds.", "A rent 920 pounds"),
    ("A: They raised my rent to 900 euros. / A: My rent fell to 800 euros.", "A rent 800 euros"),
    ("A: My favourite colour used to be green, now it's red.", "A favourite colour red"),
    ("A: I used to work at Lidl, but now I work at Aldi.", "A work at Aldi"),
    ("A: I no longer work at Lidl. / A: I work at Lidl again.", "A work at Lidl"),
    ("A: I'm vegetarian. / A: I'm not vegetarian anymore.", ""),
    ("A: I don't live in Rome but in Milan.", "A live in Milan"),
    ("A: The party is on 3 May. / A: It was moved to 10 May.", "party be on 10 May"),
    ("A: The party is on 3 May. / A: They moved the party to Monday.", "party be on Monday"),
    ("A: The party is on 3 May. / A: The party was cancelled.", "party be cancelled"),
    ("A: The door code is 4471. / A: The door code is now 5512.", "door code be 5512"),
    ("A: I moved from Linz to Graz.", "A move to Graz"),
    # What is corrected.
    ("A: I moved to Kassel. / A: Actually, I meant Bremen, not Kassel.", "A move to Bremen"),
    ("A: I moved to Kassel. / A: Not Kassel, I meant Bremen.", "A move to Bremen"),
    ("A: My budget is 600 euros. / B: Nice! / A: Make that 750.", "A budget 750 euros"),
    ("A: The party is at 3 pm. / A: Let's make it 4 pm instead.", "party be at 4 pm"),
    ("A: I paid 40 euros. / A: Sorry, 45 euros.", "A pay 45 euros"),
    ("A: The shop opens at 9. / A: Correction: the shop opens at 10.", "shop open at 10"),
    # What ends.
    ("A: Bo is my boyfriend. / A: Bo and I broke up.", "A break up with Bo"),
    ("A: Bo is my husband. / A: I got divorced.", "A be divorced"),
    ("A: I'm single. / A: I'm dating Bo.", "A date Bo"),
    ("A: I'm engaged to Lea. / A: Lea and I got married.", "A married to Lea"),
    ("A: I work at Lidl. / A: I lost my job.", "A be unemployed"),
    ("A: I got a job at Lidl. / A: I quit my job at Lidl.", "A quit Lidl"),
    ("A: The lamp is broken. / A: They fixed the lamp.", "lamp be fixed"),
    (
        "A: The lamp broke. / A: The lamp works again. / A: The lamp isn't working.",
        "lamp be broken",
    ),
    ("A: I own a Volvo. / A: I sold the Volvo.", "A sell Volvo"),
    ("A: My dentist is Dr. Lee. / A: My dentist is Dr. Moss now.", "Dr. Moss dentist of A"),
    # What answers.
    ("B: Where do you live? / A: In Oslo.", "A live in Oslo"),
    ("A: I need a lamp. / B: Which colour? / A: Orange.", "A need lamp, lamp colour Orange"),
    ("B: Are you allergic to nuts? / A: No.", ""),
    ("B: Are you allergic to nuts? / A: Yes.", "A allergic to nuts"),
    ("B: Your favourite colour? / A: Green.", "A favourite colour Green"),
    # What does not change.
    ("A: I live in Oslo. / B: I meant business.", "A live in Oslo, B mean business"),
    ("A: My rent is 700 euros. / B: Make that clear.", "A rent 700 euros"),
    ("A: I have a dog. / A: Actually, I have a cat too.", "A have dog, A have cat"),
    ("A: Did your rent go up to 900 euros?", ""),
)


def written(messages: str) -> FactMemory:
    facts = FactMemory(RecallM(triplets=True))
    for message in messages.split(" / "):
        speaker, text = message.split(": ", 1)
        facts.memory.update(text, speaker=speaker, session="chat")
    return facts


def test_what_holds_when_a_chat_ends() -> None:
    wrong = []
    for messages, expected in CHATS:
        held = [
            f"{each.subject} {each.relation} {each.object}" for each in written(messages).read()
        ]
        if ", ".join(reversed(held)) != expected:
            wrong.append((messages, held))
    assert wrong == []


def test_what_changed_was_so_and_what_was_corrected_never() -> None:
    for messages, subject, relation, expected in (
        ("A: My rent went up from 850 to 920 pounds.", "A", "rent", ["850 pounds", "920 pounds"]),
        ("A: The party is on 3 May. / A: It was moved to 10 May.", "party", "is on",
         ["3 May", "10 May"]),
        ("A: I moved to Kassel. / A: I meant Bremen, not Kassel.", "A", "lives in", ["Bremen"]),
        ("A: I live in Rome. / A: I moved to Kassel. / A: I meant Bremen, not Kassel.", "A",
         "lives in", ["Rome", "Bremen"]),
    ):  # fmt: skip
        changes = written(messages).changes(subject, relation)
        assert [change.object for change in changes] == expected, messages
        assert [change.until_t is None for change in changes] == [
            *[False] * (len(changes) - 1),
            True,
        ]


def test_sentences_that_amend_nothing_are_read_once() -> None:
    """Each of these may amend any before, which may amend any before."""
    text = [Said("A", "Sorry, Tom.")] * 200
    assert list(changes_in([*text, Said("A", "I met Bo."), *text[:1]], list)) == [
        (201, Change(("I met Tom.",), was="I met Bo.", corrects=True))
    ]


def test_what_a_forgotten_message_changed_is_as_before() -> None:
    facts = written("A: The party is on 3 May. / A: It was moved to 10 May. / A: I met Bo.")
    facts.memory.forget(id=facts.memory.passages()[1].id)
    assert "3 May" in [fact.object for fact in facts.read("party")]


def test_a_role_is_found_from_either_side() -> None:
    facts = written("A: My dentist is Dr. Lee.")
    assert [fact.subject for fact in facts.read("A", "dentist")] == ["Dr. Lee"]
    assert facts.read("A", "dentist", match="exact") == []
    context = facts.memory.recall("Who is A's dentist?", limit=1)
    assert context.statements[0].text == "My dentist is Dr. Lee."


def test_a_row_that_a_table_lost_is_past() -> None:
    facts = FactMemory(RecallM())
    table = [{"name": "Kay", "salary": "48000"}, {"name": "Max", "salary": "52000"}]
    facts.load(table, key="name", name="staff")
    facts.load(table[:1], key="name", name="staff")
    lines = [each.text for each in facts.memory.recall("What is Max's salary?").statements]
    assert [line.partition(" [until ")[0] for line in lines] == ["Max — salary → 52000"]
    assert " [until " in lines[0]
    assert facts.read("Max") == []


def test_the_rules_fill_what_they_find() -> None:
    """Every part of a sentence that a rule makes is a group of one of its expressions."""
    own = {"be", "s", "at", "in", "state", "turned", "topic", "new"}
    for kind in ("changes", "amendments", "questions"):
        for row, rule in zip(_TABLE[kind], _rules(kind), strict=True):
            groups = {name for pattern in rule._says for name in pattern.groupindex}
            for text in (*rule.means, rule.before, *(rule.denies or ())):
                assert set(re.findall(r"\{(\w+)\}", text)) <= groups | own, row["says"]
