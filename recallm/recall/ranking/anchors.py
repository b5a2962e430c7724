"""Signals of an anchor: the state before, after or at the time of a value that a question names.

"Where did Ingrid live before Porto?" names a value of the history that it asks about. The
statements of the person that hold the anchor's stems tell when that state held. The state asked for
is told by the statement of the same topic that is nearest on the asked side of them. What tells the
topic: all other signals, and the similarity with the statements of the anchor, except for the
state at the time of an anchor, which may be of another topic ("Which job did she have when she
lived in Oslo?").

The first statement of a state is its **border** with the state before it, and may tell both
("traded Malaga for Porto"); so is the last one with the state after it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recallm.model import TemporalAnchor
from recallm.recall.ranking.candidates import Candidates
from recallm.recall.ranking.concepts import names_asked_for
from recallm.recall.ranking.replies import tells_change
from recallm.recall.ranking.stem_counts import Floats, Keys, matrix_product, rarity, weighted_sums
from recallm.recall.ranking.succession import IN_CONVERSATION, rare_stems, relative_matches

_LEAST_HELD = 0.5
"""Share of the anchor's stems, weighted by rarity, from which a statement tells the anchor."""

_MOST_CERTAIN = 0.95
"""No statement is taken for the first or last of the anchor's state with more certainty."""

_NEGLIGIBLE = 1e-3
"""Statements less likely to be the border are left out."""

_ONE_STATE, _TWO_STATES = 0.4, 0.9
"""How far the border counts as telling the state asked for, without and with a word of change;
further where it shares rare stems with a statement on the asked side."""


class _History(NamedTuple):
    """The candidates in the order in which the anchor's state lies behind the state asked for.

    ``order`` holds their places. The others have an entry for each place of ``order``: the share of
    the anchor's stems that it holds (``held``), the share of the names asked for that it mentions
    (``person``), how likely it tells the anchor's state (``telling``), how likely it is where that
    state begins on the asked side (``border``), how far such a border tells the other state too
    (``both``), and how likely it stands on the asked side (``beside``); all from 0 to 1.
    """

    order: Keys
    held: Floats
    person: Floats
    telling: Floats
    border: Floats
    both: Floats
    beside: Floats


def anchor_signals(
    candidates: Candidates, match: Floats, vectors: NDArray[Any], likeness_weight: float
) -> dict[str, Floats]:
    """The signals ``like anchor`` and ``neighbour state``; none where the question has no anchor,
    or no candidate tells it.

    ``match`` is the log-odds of each candidate by all other signals; ``vectors`` are unit vectors
    whose products say how alike two candidates are. ``likeness_weight`` is the weight of ``like
    anchor``.
    """
    anchor = candidates.question.time.anchor
    if anchor is None or not len(match):
        return {}
    history = _history(candidates, anchor, match)
    if history is None:
        return {}
    likeness = -history.held * (1.0 - history.border * history.both)
    if anchor.relation == "at":
        likeness *= 1.0 - _asked_share(candidates, anchor)[history.order]
    else:
        rows = vectors[history.order].astype(np.float32, copy=False)
        alike = np.clip(matrix_product(rows, rows), 0.0, 1.0) * history.telling[None, :]
        likeness += alike.max(axis=1) * (1.0 - history.held) * history.beside
    nearness = _nearness(history, match[history.order] + likeness_weight * likeness)
    weight = np.where(candidates.alone > 0, 1.0, IN_CONVERSATION)
    return {
        "like anchor": weight * _in_place(likeness, history.order),
        "neighbour state": weight * _in_place(nearness, history.order),
    }


def _history(candidates: Candidates, anchor: TemporalAnchor, match: Floats) -> _History | None:
    """The candidates beside the anchor's state; None where none tells it."""
    number = len(candidates.statements)
    holds = candidates.stems.counts(anchor.terms) > 0
    documents = holds.sum(axis=0, dtype=np.float64)
    rarities = np.where(documents > 0, rarity(documents, number), 0.0)
    shares = rarities**2 / max(float((rarities**2).sum()), 1e-9)
    held = weighted_sums(holds, shares)
    person = _persons(candidates)
    telling = held * person
    certain = telling >= _LEAST_HELD
    if not certain.any():
        return None
    telling = telling * np.exp(np.minimum(match - match[certain].max(), 0.0))
    telling = np.minimum(telling, _MOST_CERTAIN)
    times = candidates.moments
    order = np.argsort(-times if anchor.relation == "after" else times, kind="stable")
    held, telling, person = held[order], telling[order], person[order]
    if anchor.relation == "at":
        # What was said while the anchor's state held belongs to its time: the last one counts.
        border = _first_of_state(telling[::-1])[::-1]
        both = np.zeros(number)
    else:
        border = _first_of_state(telling)
        changes = [tells_change(candidates.statements[place].text) for place in order.tolist()]
        ties = _ties_before(rare_stems(candidates)[order], held, person)
        both = np.maximum(np.where(changes, _TWO_STATES, _ONE_STATE), ties)
    return _History(
        order=order,
        held=held,
        person=person,
        telling=telling,
        border=border,
        both=both,
        beside=border[::-1].cumsum()[::-1] - border,
    )


def _asked_share(candidates: Candidates, anchor: TemporalAnchor) -> Floats:
    """For each candidate the share of the stems asked for, beside names, that it holds: "She broke
    her arm when she fell off the bicycle" answers what she broke then."""
    names = {word for name in names_asked_for(candidates.question) for word in name.split(" ")}
    stems = [term for term in candidates.terms if term not in names and term not in anchor.terms]
    if not stems:
        return np.zeros(len(candidates.statements))
    holds: Floats = (candidates.stems.counts(stems) > 0).mean(axis=1)
    return holds


def _persons(candidates: Candidates) -> Floats:
    """For each candidate the share of the names asked for that it mentions; 1 where there are
    none."""
    names = {*names_asked_for(candidates.question)}
    mentioned = [
        len(names.intersection(mention.name for mention in statement.concepts))
        for statement in candidates.statements
    ]
    return np.array(mentioned) / len(names) if names else np.ones(len(mentioned))


def _first_of_state(telling: Floats) -> Floats:
    """For each statement how likely it is the first that tells the anchor's state."""
    first: Floats = telling * np.cumprod(np.concatenate(([1.0], 1.0 - telling[:-1])))
    return first


def _ties_before(stems: NDArray[np.float32], held: Floats, person: Floats) -> Floats:
    """For each statement how rare the stems are that it shares with one before it that mentions the
    person and does not hold the anchor (0 to 1)."""
    ties = np.minimum(matrix_product(stems, stems), 1.0) * ((1.0 - held) * person)[None, :]
    return np.asarray(np.tril(ties, -1).max(axis=1), dtype=np.float64)


def _nearness(history: _History, topic: Floats) -> Floats:
    """How near each statement stands to the anchor's state, on the asked side of it: 1 where none
    between the two matches the topic as well, 0 on the other side; less where the border itself
    tells the state asked for."""
    between = relative_matches(topic, np.arange(len(topic), dtype=np.float64))
    others = (1.0 - history.held) * history.person
    crowd = np.cumsum(between * others[None, :], axis=1)
    found = history.border * history.both
    for border in np.flatnonzero(history.border > _NEGLIGIBLE).tolist():
        if border:
            found[:border] += history.border[border] / (1.0 + crowd[:border, border - 1])
    return found


def _in_place(values: Floats, order: Keys) -> Floats:
    """The values of ``order`` by the candidates' own places."""
    found = np.empty(len(values))
    found[order] = values
    return found
