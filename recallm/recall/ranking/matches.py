"""What matches a question that asks for every answer, and how much of it a context leaves out.

A **match** is a fact that holds, in the pattern that the question asks for (``? — employed by →
Pfizer``). Where not all matches fit into a context, its last line says how many there are, how many
are left out, and the names of some: ``[200 match ? — employed by → Pfizer; 190 more: Ann, …]``. No
stored text can pass for this line: a text that begins with a bracket stands in quotation marks.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from recallm.ground.untrusted_text import listed_name
from recallm.recall.ranking.budget import Budget, fitting_number

_MOST_NAMES = 50
"""Names in the line at most, however great the budget is."""


class Match(NamedTuple):
    """A fact that matches. ``key`` is that of its candidate or of the statement that shows the
    fact, None where there is none. ``answer`` is what it answers with, "" where that is unknown;
    ``passage`` the id of its passage, None where there is none."""

    key: int | None
    answer: str
    passage: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """All facts that match a question, the newest first. ``pattern`` is what they match, as a
    line; ``counts``: the question asks for their number."""

    facts: tuple[Match, ...]
    pattern: str
    counts: bool

    def left_out(self, chosen: Collection[int], known: Collection[str]) -> list[Match]:
        """The matches that are not among the statements with the keys ``chosen``, nor of the
        passages ``known``."""
        return [
            match for match in self.facts if match.key not in chosen and match.passage not in known
        ]

    def line(self, left: Sequence[Match], text: str, budget: Budget) -> str | None:
        """The line behind ``text`` where the matches ``left`` are not in it, with as many names as
        the budget holds; '' where nothing need be said, None where not even the number fits."""
        if not left and not self.counts:
            return ""
        names = list(dict.fromkeys(match.answer for match in left if match.answer))[:_MOST_NAMES]

        def following(number: int) -> str:
            return f"{text}\n{self._line(left, names[:number])}"

        if not budget.holds(following(0)):
            return None
        return self._line(left, names[: fitting_number(len(names), following, budget)])

    def _line(self, left: Sequence[Match], names: Sequence[str]) -> str:
        parts = [f"{len(self.facts)} match {self.pattern}"]
        if left:
            listed = ", ".join(map(listed_name, names))
            rest = ", …" if len(names) < len(left) else ""
            parts.append(f"{len(left)} more" + (f": {listed}{rest}" if listed else ""))
        return f"[{'; '.join(parts)}]"
