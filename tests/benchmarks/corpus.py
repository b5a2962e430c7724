"""A conversation and films small enough to know what must come out."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from recallm.vectors import Embedding

_SUBJECTS = ("boat", "bread", "piano")


def write_conversation(folder: Path, **changes: Any) -> Path:
    folder.mkdir()
    said = {
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ann", "dia_id": "D1:1", "text": "I bought a boat."},
            {"speaker": "Ben", "dia_id": "D1:2", "text": "Look", "blip_caption": "a warm bread"},
        ],
        "session_2": [
            {
                "speaker": "Ann",
                "dia_id": "D2:1",
                "text": "The piano is out of tune.",
                "date_time": "09.05.2023, 10:00:00",
            },
            {
                "speaker": "Ben",
                "dia_id": "D2:2",
                "text": " ",
                "date_time": "09.05.2023, 10:01:00",
            },
        ],
        "qa": [
            {
                "question": "Who bought a boat?",
                "answer": "Ann",
                "evidence": ["D1:1"],
                "category": 4,
            },
            {
                "question": "What is it about the piano and the bread?",
                "adversarial_answer": "nothing",
                "evidence": ["D2:1; D1:2", "D9:9"],
                "category": 1,
            },
            {"question": "What is left out?", "answer": 3, "evidence": ["D7:7"], "category": 2},
        ],
    }
    path = folder / "talk.json"
    path.write_text(json.dumps(said | changes), encoding="utf-8")
    return path


def write_history(folder: Path, name: str = "one", **changes: Any) -> Path:
    """A history of LongMemEval: the earlier session stands last, and one session stands twice."""
    folder.mkdir(exist_ok=True)
    boat = [
        {"role": "user", "content": "I bought a red boat.", "has_answer": True},
        {"role": "assistant", "content": "Enjoy the water!"},
    ]
    bread = [{"role": "user", "content": "My bread is burnt."}]
    content = {
        "question_id": name,
        "question_type": "single-session-user",
        "question": "Which boat did I buy?",
        "answer": "a red one",
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_dates": [
            "2023/05/26 (Fri) 10:00",
            "2023/05/27 (Sat) 9:00",
            "2023/05/22 (Mon) 8:30",
        ],
        "haystack_session_ids": ["bread", "bread", "boat"],
        "haystack_sessions": [bread, bread, boat],
        "answer_session_ids": ["boat"],
    }
    path = folder / f"{name}.json.gz"
    path.write_bytes(gzip.compress(json.dumps(content | changes).encode()))
    return path


def write_films(path: Path) -> Path:
    films = [
        {"id": "none", "plot": "Nothing.", "questions": [_asked("Who?", "Nobody at all")]},
        {
            "id": "boat",
            "plot": "Ann steals a boat. Ben bakes bread in the harbour. They play the piano.",
            "questions": [
                _asked("Who steals a boat?", "ann", "The Queen"),
                _asked("Where is bread baked?", "in Rome"),
                _asked("Who bakes bread?", "Ben"),
            ],
        },
    ]
    path.write_text("".join(json.dumps(film) + "\n" for film in films), encoding="utf-8")
    return path


def subjects() -> Embedding:
    """Which of three subjects a text holds."""

    def embed(texts: list[str]) -> list[list[float]]:
        return [[0.1, *(float(word in text.lower()) for word in _SUBJECTS)] for text in texts]

    return Embedding(name="subjects", embed=embed)


def _asked(question: str, *answers: str) -> dict[str, Any]:
    return {"question": question, "answers": list(answers)}
