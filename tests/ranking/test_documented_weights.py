"""docs/ranking.md tells of the signals and weights that ship."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from recallm.ranking.signals import SIGNALS, load_tables

DOCS = Path(__file__).parents[2] / "docs"


def table() -> dict[str, list[str]]:
    """The rows of the table of signals, by their first cell."""
    text = (DOCS / "ranking.md").read_text("utf-8")
    part = text[text.index("| signal |") :].split("\n\n")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in part.splitlines()[2:]]
    return {row[0]: row[1:] for row in rows}


@pytest.mark.parametrize("name", SIGNALS)
def test_each_signal_stands_in_the_table_with_its_weights(name: str) -> None:
    tables = load_tables()
    shipped = [
        f"{weights.signals[name]:+.2f}" if name in weights.signals else ""
        for weights in (tables.words, tables.vectors)
    ]
    assert table()[name] == [SIGNALS[name], *shipped]


def test_the_table_tells_of_no_other_signal() -> None:
    assert set(table()) == {*SIGNALS, "(intercept)"}


def test_nothing_is_left_to_fill_in() -> None:
    for page in DOCS.glob("*.md"):
        assert not re.search(r"@[A-Z]+@|TODO", page.read_text("utf-8")), page
