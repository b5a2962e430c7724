"""What a language model writes: scripts that a test gives it, and texts made of parts of calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hypothesis import strategies as st

from recallm.facts import Fact, FactMemory, NewFact

PARTS_OF_CALLS = ("[MEM_WRITE{", "[MEM_READ{", "[mem\\_read {", "[MEM", "}]", "}:")
OTHER_PARTS = (">>", "\\n", "\\u0041", "12 more", "least", "Ada Lovelace")
CHARACTERS = ">»{}[]:;\\\n\"”' ?_*ar\x00\u2028\u3000\ud800"
PIECES_OF_CALLS = st.sampled_from((*PARTS_OF_CALLS, *OTHER_PARTS, *CHARACTERS))
HOSTILE = st.lists(PIECES_OF_CALLS | st.text(max_size=3), max_size=12).map("".join)


class ScriptedModel:
    """Gives one text after the other, whole or (``by`` characters) in pieces."""

    def __init__(self, *texts: str, by: int | None = None) -> None:
        self.texts = list(texts)
        self.prompts: list[str] = []
        self.given = ""
        """What was taken of the latest text."""
        self.closed = 0
        self._by = by

    def __call__(self, prompt: str) -> str | Iterator[str]:
        self.prompts.append(prompt)
        text = self.texts.pop(0)
        return text if self._by is None else self._pieces(text, self._by)

    def _pieces(self, text: str, by: int) -> Iterator[str]:
        self.given = ""
        try:
            for start in range(0, len(text), by):
                piece = text[start : start + by]
                self.given += piece
                yield piece
        finally:
            self.closed += 1


def triplets(facts: Iterable[Fact | NewFact]) -> list[tuple[str, str, str]]:
    """The subjects, relations and objects as text."""
    return [(str(fact.subject), str(fact.relation), str(fact.object)) for fact in facts]


def all_facts(facts: FactMemory) -> list[tuple[str, str, str]]:
    """The triplets of all facts that hold, oldest first."""
    return triplets(facts.read())[::-1]
