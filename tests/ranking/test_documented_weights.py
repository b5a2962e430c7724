"""docs/ranking.md tells of the signals and weights that ship."""

from __future__ import annotations

import re
from pathlib import Path

from recallm.recall.ranking.signals import SIGNALS, load_tables

DOCS = Path(__file__).parents[2] / "docs"


def table() -> dict[str, list[str]]:
    """The rows of the table of signals, by their first cell."""
    text = (DOCS / "ranking.md").read_text("utf-8")
    part = text[text.index("| signal |") :].split("\n\n")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in part.splitlines()[2:]]
    return {row[0]: row[1:] for row in rows}


def test_each_signal_stands_in_the_table_with_its_weights() -> None:
    tables = load_tables()
    rows = table()
    assert set(rows) == {*SIGNALS, "(intercept)"}
    for name, meaning in SIGNALS.items():
        shipped = [
            f"{weights.signals[name]:+.2f}" if name in weights.signals else ""
            for weights in (tables.words, tables.vectors)
        ]
        assert rows[name] == [meaning, *shipped], name


def test_nothing_is_left_to_fill_in() -> None:
    for page in DOCS.glob("*.md"):
        assert not re.search(r"@[A-Z]+@|TODO", page.read_text("utf-8")), page
