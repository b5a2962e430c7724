"""What the tests of both adapters' retrievers tell a memory, and what filters leave of that."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

MAY = datetime(2026, 5, 1, 12, 30, tzinfo=timezone(timedelta(hours=2)))
DRINKS = (
    "Brandon loves coffee.",
    "Brandon drinks tea now.",
    "Brandon drinks water at night.",
    "Brandon drinks juice on Sundays.",
)
CATS: list[dict[str, Any]] = [
    {
        "text": f"My cat number {day} is called {name}.",
        "speaker": "Anna" if day % 2 else "Bo",
        "session": "one" if day < 3 else "two",
        "timestamp": MAY + timedelta(days=day),
        "metadata": {"day": day},
    }
    for day, name in enumerate(["Mila", "Tom", "Kim", "Lu"], start=1)
]
"""Four turns in two conversations, a day apart."""
CATS_ASKED = "What is the cat called?"
FILTERS: list[tuple[dict[str, Any], list[int]]] = [
    ({}, [1, 2, 3, 4]),
    ({"speaker": "Anna"}, [1, 3]),
    ({"session": "two"}, [3, 4]),
    ({"since": 2, "until": 3}, [2, 3]),
    ({"since": MAY + timedelta(days=3)}, [3, 4]),
    ({"until": MAY + timedelta(days=2)}, [1, 2]),
    ({"as_of": 2}, [1, 2]),
    ({"as_of": MAY + timedelta(days=1)}, [1]),
    ({"where": {"day": 4}}, [4]),
    ({"speaker": "Anna", "session": "two"}, [3]),
    ({"min_score": 1.0}, []),
]
"""Arguments of a recall, and the days of what it finds about the cats."""
