"""Ids, acronyms and emojis among other words of a question: the statement with them is first."""

from __future__ import annotations

from recallm import RecallM

TEXTS = (
    "Nadia was on call for E-1042 last night.",
    "Omar was on call for E-1043 on Tuesday.",
    "The team discussed who is on call next week.",
    "v2.1.3 fixed the crash in the importer.",
    "The release fixed many old bugs.",
    "Bea likes 🍕 a lot.",
    "Carl likes pasta and salad a lot.",
    "IT says that laptops must be returned by Friday.",
    "The boss said something about laptops yesterday.",
    "WHO published new guidance on malaria.",
    "Nobody did publish something like that.",
    "The installer failed with 0x80070005 on Greta's machine.",
    "The installer failed with 0x80070002 on Hugo's machine.",
    "Ines has the address ines+news@mail.example.org.",
    "Jack has the address jack@mail.example.com.",
    "The dashboard is https://grafana.example.net/d/latency for the team.",
    "The wiki is https://wiki.example.com/start for the team.",
    "The table dbo.Users_2024 was dropped by Yuri.",
    "The table dbo.Orders_2024 was dropped by Zack.",
    "The key 7f3a9c2e-11bb-4c0d-9f7e-3d2a1b0c9d8e is for the test account.",
    "The key 7f3a9c2e-11bb-4c0d-9f7e-3d2a1b0c9d8f is for the live account.",
    "Dora was at #PyConDE in May.",
    "Eli was at #EuroPython in May.",
    "RT @queen_bee: Rob won the game.",
    "OK, the plan is fine, said Yan.",
    "Fay writes C++ at work.",
    "Gus writes Java at work.",
    f"The sum is {'8a4b' * 32} today.",
    f"The sum is {'8a4c' * 32} today.",
)


def test_the_statement_with_the_exact_word_is_first() -> None:
    memory = RecallM()
    memory.update_many(TEXTS)
    for question, first in (
        ("Who was on call for E-1042?", "Nadia"),
        ("Who was on call for e-1042?", "Nadia"),
        ("Who was on call for *E-1042*?", "Nadia"),
        ("Who was on call for E_1042?", "Nadia"),
        ("Who was on call for E\N{NON-BREAKING HYPHEN}1042?", "Nadia"),
        ("Which release fixed v2.1.3?", "v2.1.3"),
        ("Who likes 🍕?", "Bea"),
        ("What does IT say about laptops?", "IT"),
        ("Did WHO publish something?", "WHO"),
        ("Where did the installer fail with 0X80070005?", "Greta"),
        ("Who is at INES+NEWS@mail.example.org?", "Ines"),
        ("What is at grafana.example.net for the team?", "dashboard"),
        ("Who dropped DBO.USERS_2024?", "Yuri"),
        ("Which account has 7F3A9C2E-11BB-4C0D-9F7E-3D2A1B0C9D8F?", "live"),
        ("When was I at #europython?", "Eli"),
        ("What did @queen_bee say?", "Rob"),
        ("Who writes C++?", "Fay"),
        (f"What was the sum {'8A4C' * 32}?", "8a4c"),
    ):
        assert first in memory.recall(question, limit=1).text, question
    plain = memory.recall("Please, who likes pasta, ok?", limit=1)
    assert "🍕" not in plain.text, "without exact words all is as before"
