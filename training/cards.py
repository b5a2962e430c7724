"""Model cards: their prose stands in the cards that ship, and a training run writes the figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

NAME = "MODEL_CARD.md"
_BEGIN = "<!-- Figures of the training run: begin -->\n"
_END = "<!-- Figures of the training run: end -->\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    first, *others = (f"| {' | '.join(cells)} |" for cells in (head, *rows))
    return "\n".join((first, f"|{'---|' * len(head)}", *others))


def with_figures(card: str, figures: str) -> str:
    """A card with other figures between its marks."""
    before, _, rest = card.partition(_BEGIN)
    _, _, behind = rest.partition(_END)
    return f"{before}{_BEGIN}{figures.strip()}\n{_END}{behind}"


def write_card(folder: Path, figures: str, *, shipped: Path) -> None:
    """Write the card of the folder ``shipped`` into ``folder``, with these figures."""
    card = (shipped / NAME).read_text(encoding="utf-8")
    (folder / NAME).write_text(with_figures(card, figures), encoding="utf-8")
