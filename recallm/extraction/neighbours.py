"""Neighbour pairs: which concepts of a passage stand next to each other."""

from __future__ import annotations

from collections.abc import Sequence

from recallm.model import Neighbours

__all__ = ["neighbour_pairs"]


def neighbour_pairs(
    places: Sequence[tuple[str, int]], distance: int, *, speaker: str | None = None
) -> tuple[Neighbours, ...]:
    """The pairs of concepts at most ``distance`` places apart (paper, Knowledge Update).

    ``places`` are the concepts of a passage in textual order, with the positions of their
    statements; ``speaker`` stands before them all. As every statement mentions the speaker, a
    pair with the speaker is shown by the other concept's statement alone. A concept is no
    neighbour of itself; each (a, b, earlier, later) stands once, in textual order.
    """
    found: dict[tuple[str, str, int, int], None] = {}
    for i, (name, position) in enumerate(places):
        if speaker is not None and i < distance and name != speaker:
            a, b = (name, speaker) if name < speaker else (speaker, name)
            found[a, b, position, position] = None
        for earlier_name, earlier in places[max(0, i - distance) : i]:
            if earlier_name != name:
                a, b = (earlier_name, name) if earlier_name < name else (name, earlier_name)
                found[a, b, earlier, position] = None
    return tuple(
        Neighbours(a=a, b=b, earlier=earlier, later=later) for a, b, earlier, later in found
    )
