"""What a language model writes: scripts that a test gives it, and texts made of parts of calls."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import strategies as st

from recallm.facts import Fact, FactMemory, NewFact

PARTS_OF_CALLS = ("[MEM_WRITE{", "[MEM_READ{", "[mem\\_read {", "[MEM", "}]", "}:")
OTHER_PARTS = (">>", "\\n", "\\u0041", "12 more", "least", "Ada Lovelace")
CHARACTERS = ">»{}[]:;\\\n\"”' ?_*ar\x00\u2028\u3000\ud800"
PIECES_OF_CALLS = st.sampled_from((*PARTS_OF_CALLS, *OTHER_PARTS, *CHARACTERS))
HOSTILE = st.lists(PIECES_OF_CALLS | st.text(max_size=3), max_size=12).map("".join)


class ScriptedModel:
    """Gives one text after the other."""

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)
        self.prompts: list[str] = []

    def __call__(self, prompt: str) -> str:
        self.prompts.append(prompt)
        return self.texts.pop(0)


def triplets(facts: Iterable[Fact | NewFact]) -> list[tuple[str, str, str]]:
    """The subjects, relations and objects as text."""
    return [(str(fact.subject), str(fact.relation), str(fact.object)) for fact in facts]


def all_facts(facts: FactMemory) -> list[tuple[str, str, str]]:
    """The triplets of all facts that hold, oldest first."""
    return triplets(facts.read())[::-1]
