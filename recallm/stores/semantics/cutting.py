"""What is left of an update without some of its statements, a concept, or entities and triplets."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, chain, compress
from typing import Any

from recallm.model import ElementKey, PreparedUpdate, TripletUpsert


def redact(
    text: str,
    spans: Sequence[tuple[int, int]],
    drop: Collection[int],
    propositions: Collection[int] = (),
) -> tuple[str, list[tuple[int, int]]]:
    """Cut the spans with the indexes ``drop`` out of ``text``.

    ``spans`` are (start, end) character offsets; those of propositions may overlap. Text that no
    span covers belongs to the spans that end before it, text before all spans to the first of them.
    What a span to drop shares with one to keep goes, unless that one repeats it: ``propositions``
    are the indexes of the statements that do not, since they have a text of their own. Trailing
    white space of the result is stripped.
    Returns the remaining text and the new spans of the kept statements, in order.
    """
    filled = sorted(span for span in spans if span[0] < span[1])
    starts = [start for start, _ in filled]
    furthest = [0, *accumulate((end for _, end in filled), max)]
    stays = bytearray(b"\1") * len(text)
    for is_kept in (False, True):
        for index, (start, end) in enumerate(spans):
            if start == end or (index in drop) is is_kept or (is_kept and index in propositions):
                continue
            begin, following = 0 if start == starts[0] else start, bisect_left(starts, end)
            if furthest[following] == end:  # no other span goes on behind it
                end = starts[following] if following < len(starts) else len(text)
            stays[begin:end] = bytes([is_kept]) * (end - begin)
    place = list(accumulate(stays, initial=0))
    moved = [(place[s], place[e]) for index, (s, e) in enumerate(spans) if index not in drop]
    remaining = "".join(compress(text, stays))
    tail = max((end for _, end in moved), default=0)
    return remaining[:tail] + remaining[tail:].rstrip(), moved


def cut(update: PreparedUpdate, gone: set[int]) -> PreparedUpdate:
    """``update`` without the statements at the positions ``gone``; itself where none stands
    there."""
    statements = update.statements
    if not any(statement.position in gone for statement in statements):
        return update
    text, spans = redact(
        update.text or "",
        [(s.start, s.end) for s in statements],
        {index for index, s in enumerate(statements) if s.position in gone},
        {index for index, s in enumerate(statements) if s.text is not None},
    )
    kept = [s for s in statements if s.position not in gone]
    return replace(
        update,
        text=text,
        statements=tuple(
            replace(s, start=start, end=end) for s, (start, end) in zip(kept, spans, strict=True)
        ),
        neighbours=tuple(n for n in update.neighbours if not {n.earlier, n.later} & gone),
        entities=tuple(e for e in update.entities if e.position not in gone),
        triplets=tuple(x for x in update.triplets if x.position not in gone),
        vectors=tuple(v for v in update.vectors if v.position not in gone),
    )


def without_concept(
    update: PreparedUpdate, *, name: str, elements: Collection[ElementKey]
) -> PreparedUpdate | None:
    """What is left of an update without a concept; ``elements`` stand on it or have an end there.
    Where an entity stands on another concept by now, what called it by this one goes.

    The ends of a triplet that goes stay where another triplet at their place names them: a row of a
    table keeps what its other cells say. A passage goes with its last statement, one without
    statements (a fact, a row) with its last entity or triplet.
    """
    said = [(s.position, m) for s in update.statements for m in s.concepts if m.name == name]
    left = cut(update, {position for position, _ in said})
    if update.statements and not left.statements:
        return None
    triplets = [x for x in left.triplets if x.element not in elements]
    named = [e for e in update.entities if e.id in elements or e.concept.name == name]
    ends = _ends(left.triplets) - _ends(triplets)
    left = replace(
        left,
        entities=tuple(
            e for e in left.entities if e not in named and (e.id, e.position) not in ends
        ),
        triplets=tuple(triplets),
    )
    if left.text is not None and not left.statements and not left.elements:
        return None
    labels = {m.label for _, m in said}
    labels.update(e.concept.label for e in named)
    return replace(left, metadata=without_entries(left.metadata, labels))


def _ends(triplets: Iterable[TripletUpsert]) -> set[tuple[str, int]]:
    """The ends of triplets, with the positions where they stand."""
    return {(end, x.position) for x in triplets for end in (x.subject, x.object)}


def without_elements(
    update: PreparedUpdate, *, elements: Collection[ElementKey]
) -> PreparedUpdate | None:
    """``update`` without these entities and triplets; None where no other, no statement and
    no text is left."""
    left = replace(
        update,
        entities=tuple(e for e in update.entities if e.id not in elements),
        triplets=tuple(x for x in update.triplets if x.element not in elements),
    )
    return left if left.elements or left.statements or (left.text or "").strip() else None


def without_entries(metadata: Mapping[str, Any], labels: Iterable[str]) -> Mapping[str, Any]:
    """``metadata`` without the entries in which a label stands, in any case, as whole words."""
    spelled = "|".join(map(re.escape, sorted(labels)))
    if not spelled:
        return metadata
    pattern = re.compile(rf"(?<!\w)(?:{spelled})(?!\w)", re.IGNORECASE)
    return {
        key: value
        for key, value in metadata.items()
        if not any(map(pattern.search, _texts([key, value])))
    }


def _texts(value: Any) -> Iterator[str]:
    """The texts in a JSON value."""
    if isinstance(value, Mapping):
        value = [*value.keys(), *value.values()]
    if isinstance(value, list | tuple):
        yield from chain.from_iterable(map(_texts, value))
    else:
        yield str(value)
