"""Blind grading by hand in the terminal: a person gives each answer 0, 1 or 2 points.

The person sees the question, the reference answers and one answer, never the name of the system,
in an order that says nothing of the systems. An answer that several systems gave is graded once.
Every grade is written to a file at once: after ``q``, Ctrl-C or a closed terminal the next run goes
on with what is left. ``u`` takes the last grade back.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random

from benchmarks.grades import AnsweredQuestion
from recallm.cli.output import printable

_SCALE = """\
0: wrong
1: partly right, or right but with unrelated information
2: right and succinct"""

_KEYS = "0, 1, 2, u (undo), q (quit): "


class HandGrades:
    """Grades in a JSON file, each with its question, references and answer. A file that is missing
    is empty."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            rows = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
            self._points = {
                (row["question"], tuple(row["references"]), row["answer"]): int(row["points"])
                for row in rows
            }
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise SystemExit(f"{path} holds no grades by hand; name another file") from error

    def points(self, asked: AnsweredQuestion, system: str) -> int | None:
        """The points of a system's answer; None: it is not graded yet."""
        return self._points.get(_key(asked, system))

    def put(self, asked: AnsweredQuestion, system: str, points: int | None) -> None:
        """Grade a system's answer, or take its grade back (None), and write the file."""
        if points is None:
            self._points.pop(_key(asked, system), None)
        else:
            self._points[_key(asked, system)] = points
        rows = [
            {"question": question, "references": references, "answer": answer, "points": given}
            for (question, references, answer), given in self._points.items()
        ]
        self._path.parent.mkdir(parents=True, exist_ok=True)
        part = self._path.with_name(f"{self._path.name}.part")
        part.write_text(json.dumps(rows, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        part.replace(self._path)


def grade_by_hand(
    answered: Iterable[AnsweredQuestion],
    grades: HandGrades,
    *,
    read: Callable[[str], str] = input,
    write: Callable[[str], None] = print,
) -> None:
    """Ask for the points of every answer that has none. Returns when all are graded, or when the
    person quits."""
    tasks = {_key(asked, system): (asked, system) for asked in answered for system in asked.answers}
    order = sorted(tasks)
    Random(0).shuffle(order)
    left = [tasks[key] for key in order if grades.points(*tasks[key]) is None]
    place = 0
    while place < len(left):
        asked, system = left[place]
        graded = len(order) - len(left) + place
        write(f"\n{graded + 1} of {len(order)}\n\nQuestion:  {printable(asked.question)}")
        for reference in asked.references:
            write(f"Reference: {printable(reference)}")
        write(f"Answer:    {printable(asked.answers[system])}\n\n{_SCALE}")
        try:
            reply = read(_KEYS).strip().lower()
        except (EOFError, KeyboardInterrupt):
            return
        if reply == "q":
            return
        if reply == "u":
            place = max(place - 1, 0)
            grades.put(*left[place], None)
        elif reply in ("0", "1", "2"):
            grades.put(asked, system, int(reply))
            place += 1
        else:
            write("that is no grade")


def _key(asked: AnsweredQuestion, system: str) -> tuple[str, tuple[str, ...], str]:
    """What a person sees: equal keys have equal grades."""
    return asked.question, asked.references, asked.answers[system]
