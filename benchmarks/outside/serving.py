"""What runners share: the loop over histories."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from typing import TypedDict

from benchmarks.minilm import KeptVectors, Rows, chroma_mini_lm

DEPTH = 100
"""How many memories a search asks for: enough for 25 turns and 4,000 tokens."""

Embed = Callable[[list[str]], Rows]
FoundTexts = list[tuple[Sequence[str], str]]


class Said(TypedDict):
    """A turn as it is sent to a runner; ``date`` is in ISO 8601."""

    id: str
    role: str
    content: str
    session: str
    date: str


Search = Callable[[list[Said], str, Embed], FoundTexts]
"""From the turns of a history, its question and the embedding to what a new memory of them finds,
best first: the ids of the turns that a text holds, and the text."""


def serve(search: Search) -> None:
    """Answer each line of standard input. Whatever the memory prints goes to standard error."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    embed = KeptVectors(chroma_mini_lm, sys.argv[1])
    for line in sys.stdin:
        history = json.loads(line)
        answers.write(json.dumps(search(history["turns"], history["question"], embed)) + "\n")
        answers.flush()


def headed(turn: Said) -> str:
    """The text of a turn as a reader gets it, with its day and who speaks."""
    return f"[{turn['date'][:10]}] {turn['role']}: {turn['content']}"
