"""Two conversations and two films, so small that it is known what answers each question.

Each has a question twice that is answered in two ways: no weights put all answers first.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_TALKS = {
    "harbour": (
        [
            ("Ann", "I bought a green boat in the harbour."),
            ("Ben", "Lovely! Where did you find it?"),
            ("Ann", "An old sailor sold it."),
            ("Ben", "My bread came out of the oven."),
            ("Ann", " "),
            ("Ben", "The weather turned in the evening."),
        ],
        [
            ("What did Ann buy?", ["D1:1"], 4),
            ("And what did Ann buy?", ["D1:4"], 4),
            ("What happened in the oven?", ["D1:4"], 4),
            ("What about the boat and the bread?", ["D1:1; D1:4"], 1),
            ("What came of the boat?", ["D1:3", "D7:7"], 2),
            ("What is nowhere?", ["D9:9"], 5),
        ],
    ),
    "stage": (
        [
            ("Cy", "My sister plays the clarinet in Oslo."),
            ("Dee", "Mine dances on Fridays."),
            ("Cy", "The clarinet broke last week."),
            ("Dee", "Poor thing, who repairs it?"),
            ("Cy", "A friend repairs instruments."),
        ],
        [
            ("Which instrument does Cy's sister play?", ["D1:1"], 4),
            ("And which instrument does Cy's sister play?", ["D1:2"], 4),
            ("When did the clarinet break?", ["D1:3"], 2),
            ("Who repairs the clarinet?", ["D1:5"], 1),
            ("What does Dee's sister do?", ["D1:2"], 4),
        ],
    ),
}

_FILMS = {
    "boat": (
        "Ann steals a boat. Ben bakes bread in the harbour. They play the piano in the rain.",
        [
            ("Who steals a boat?", ["Ann"]),
            ("And who steals a boat?", ["piano"]),
            ("Who bakes bread in the harbour?", ["Ben", "a baker"]),
            ("What is played in the rain?", ["the piano"]),
            ("What happens to Rome?", ["Nothing at all"]),
        ],
    ),
    "train": (
        "A train leaves Vienna at night. The conductor hides a letter. Maria reads the letter.",
        [
            ("Who hides a letter?", ["the conductor"]),
            ("And who hides a letter?", ["Vienna"]),
            ("Who reads the letter?", ["Maria"]),
        ],
    ),
}


def write_talks(folder: Path) -> Path:
    """A folder of conversations as LoCoMo has them."""
    folder.mkdir()
    for name, (turns, questions) in _TALKS.items():
        (folder / f"{name}.json").write_text(json.dumps(_talk(turns, questions)), encoding="utf-8")
    return folder


def write_films(path: Path) -> Path:
    """A file of films as DuoRC has them."""
    rows = [
        {
            "id": name,
            "plot": plot,
            "questions": [{"question": text, "answers": answers} for text, answers in questions],
        }
        for name, (plot, questions) in _FILMS.items()
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def _talk(
    turns: Sequence[tuple[str, str]], questions: Sequence[tuple[str, list[str], int]]
) -> dict[str, Any]:
    return {
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": speaker, "dia_id": f"D1:{place}", "text": text}
            for place, (speaker, text) in enumerate(turns, start=1)
        ],
        "qa": [
            {"question": text, "answer": "?", "evidence": evidence, "category": category}
            for text, evidence, category in questions
        ],
    }
