"""Signals of what is newer and what is older.

**Newer and older.** A later statement supersedes an earlier one as far as it answers the question
as well as that one (paper, Temporal Relations: later statements take precedence over earlier
ones), the more so the more similar the two are. All other signals together say how well a statement
answers: a statement that is merely newer supersedes nothing. Where both state the same relation of
one value of the same person ("moved to Porto", "lives in Rome"), the later one supersedes the
earlier one in any case.

**The newest state.** An update told as an event ("swapped Malaga for Porto") may share no word with
the question. Among standalone facts a statement is likely to tell the newest state if few later
ones are about the same person, and if it is near the question in meaning, or shares a rare word
with what is ("lives in Malaga"), most of all if it has a word of change: then it also supersedes
that one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recallm.recall.ranking.candidates import Candidates
from recallm.recall.ranking.concepts import names_asked_for
from recallm.recall.ranking.meaning import similar_in_topic
from recallm.recall.ranking.replies import tells_change
from recallm.recall.ranking.stem_counts import Floats, matrix_product

_NEWEST = 15.0
"""Number of later statements at which ``newest`` has fallen to 1/e in a conversation: the paper's
temporal window."""

_NEWEST_ALONE = 40.0
"""The same among standalone facts: a fact holds until another takes its place."""

_AGE_PART = 0.37
_NAMES_PART, _NEARNESS_PART, _SHARED_PART, _REPLACING_PART = 0.22, 0.29, 0.12, 0.25
"""What ``newest`` consists of: the age of a statement, and for standalone facts four measures of
what they are about. Set by hand on the development phrases of ``benchmarks.temporal``."""

_RECENCY_POWER = 3
"""For standalone facts ``newest`` counts by this power of recency, beside what replaces an earlier
one: a question in the plain present (0.7) may ask for what was told long ago and never changed."""

_MIDDLE = 0.45
"""What these parts come to for an average fact. All facts lose it, so that a question about the
present gives no greater probabilities than others."""

_FARTHEST, _NEAREST = -2.0, 4.0
"""Deviations from the mean nearness that count as no nearness at all, and as the greatest."""

_LEAST_SPREAD = 0.03
"""Added to the deviation of nearness: among few statements chance differences stay small."""

IN_CONVERSATION = 0.2
"""Factor on what newer statements say if a statement has others beside it in its session. Facts in
a chat are superseded as well, but one turn seldom states a new fact completely."""
_SUPERSEDED_IN_CONVERSATION = 0.1
"""The same for ``superseded``, except where a later statement states the same relation anew."""

_NO_ANCHOR = 0.2
"""Factor on ``neighbour state`` where the question names no value ("What did she do before?"): what
is taken for the newest state is uncertain."""


def succession_signals(
    candidates: Candidates, match: Floats, vectors: NDArray[Any], replaced: Floats
) -> dict[str, Floats]:
    """The signals ``superseded``, ``earliest`` and ``neighbour state``.

    ``match`` is the log-odds of each candidate by all other signals; ``vectors`` are unit vectors
    (or zeros) whose products say how alike two candidates are. ``replaced`` says how far a later
    change replaces each (``newest``).
    """
    reading = candidates.question.time
    nothing = np.zeros(len(match))
    found: dict[str, Floats] = dict.fromkeys(("superseded", "earliest", "neighbour state"), nothing)
    if not len(match):
        return found
    moments = candidates.moments
    if reading.order == "earliest":
        found["earliest"] = 1.0 / (1.0 + np.log1p(_later_matches(match, -moments)))
    elif reading.previous:
        later = np.log2(1.0 + _later_matches(match, moments))
        found["neighbour state"] = _NO_ANCHOR * later * np.exp(1.0 - later)
    elif reading.recency:
        weight = np.where(candidates.alone > 0, 1.0, _SUPERSEDED_IN_CONVERSATION)
        superseded = weight * np.maximum(_superseded(match, moments, vectors), replaced)
        superseded = np.maximum(superseded, _stated_anew(candidates, moments))
        found["superseded"] = reading.recency * superseded
    return found


def newest(
    candidates: Candidates, named: Floats, similar: Floats, vectors: NDArray[Any]
) -> tuple[Floats, Floats]:
    """The signal ``newest``, and how far a later change replaces each statement (0 to 1).

    ``newest`` says how few later statements mention the same names (by ``named``, their
    share), or how few later statements there are if the question names nobody. For standalone
    facts it also counts whom they are about, and how near they are in meaning (by the signal
    ``similar`` and the embeddings ``vectors``).
    """
    reading = candidates.question.time
    nothing = np.zeros(len(named))
    if reading.order != "latest" or reading.previous or not len(named):
        return nothing, nothing
    moments = candidates.moments
    same_names = named >= named.max() / 2
    of_same_names = np.sort(moments[same_names])
    later = len(of_same_names) - np.searchsorted(of_same_names, moments, side="right")
    turns = IN_CONVERSATION * np.exp(-later / _NEWEST)
    age = np.where(candidates.alone > 0, np.exp(-later / _NEWEST_ALONE), turns)
    if not candidates.alone.any():
        return reading.recency * _AGE_PART * age, nothing
    stems = rare_stems(candidates)
    shared = np.minimum(matrix_product(stems, stems), 1.0)
    np.fill_diagonal(shared, 0.0)
    replacing = _replacing(candidates, shared, same_names, moments)
    in_topic = similar_in_topic(candidates, same_names & (candidates.alone > 0), similar, vectors)
    about, nearness = _on_subject(candidates, same_names, named, in_topic)
    near = same_names * np.exp(np.minimum(nearness - nearness[same_names].max(), 0.0))
    near = near.astype(np.float32)
    subject = (
        _NAMES_PART * about
        + _NEARNESS_PART * _as_share(nearness)
        + _SHARED_PART * (shared * near).max(axis=1)
    )
    found = _AGE_PART * age + candidates.alone * (subject - _MIDDLE)
    recency = np.where(candidates.alone > 0, reading.recency**_RECENCY_POWER, reading.recency)
    found = recency * found + reading.recency * _REPLACING_PART * (replacing * near).max(axis=1)
    return found, replacing.max(axis=0).astype(np.float64)


def _on_subject(
    candidates: Candidates, same_names: NDArray[np.bool_], named: Floats, similar: Floats
) -> tuple[Floats, Floats]:
    """What tells that a statement is about what is asked for, whatever its words: its share of the
    names asked for, half of it where none of them is its first concept; and its nearness in
    meaning, in deviations from the mean of the statements of the same names."""
    asked = {*names_asked_for(candidates.question)}
    in_front = np.array(
        [bool(row.concepts) and row.concepts[0].name in asked for row in candidates.statements]
    )
    about = named * (1.0 + in_front) / (2.0 * named.max()) if named.any() else named
    others = similar[same_names]
    nearness = (similar - others.mean()) / (others.std() + _LEAST_SPREAD)
    return about, nearness


def _as_share(nearness: Floats) -> Floats:
    """Deviations from the mean as a number from 0 to 1."""
    share = (nearness - _FARTHEST) / (_NEAREST - _FARTHEST)
    return np.clip(share, 0.0, 1.0)


def _replacing(
    candidates: Candidates,
    shared: NDArray[np.float32],
    same_names: NDArray[np.bool_],
    moments: Floats,
) -> NDArray[np.float32]:
    """How far the statement of each row replaces that of each column (0 to 1), if a later
    standalone fact of the same names.

    It does where both state the same relation of one value ("moved to Porto" and "lives in Rome"),
    and, as far as the two share rare stems (``shared``), where the row has a word of change
    ("swapped Malaga for Porto")."""
    later: NDArray[np.bool_] = moments[:, None] > moments[None, :]
    facts = same_names & (candidates.alone > 0)
    may_replace = later & facts[:, None] & same_names[None, :]
    found = shared * may_replace
    rows = np.flatnonzero(found.any(axis=1))  # a third, and texts are slow to read
    changes = [tells_change(candidates.statements[place].text) for place in rows.tolist()]
    found[rows] *= np.array(changes, dtype=bool)[:, None]
    for alike in places_of_states(candidates.states).values():
        cells = np.ix_(alike, alike)
        found[cells] = may_replace[cells]
    return found


def _stated_anew(candidates: Candidates, moments: Floats) -> Floats:
    """1 for each statement of a relation of one value that a later statement states anew, in a
    conversation or alone; 0 for all others."""
    found = np.zeros(len(moments))
    for places in places_of_states(candidates.states).values():
        found[places] = np.maximum(found[places], moments[places] < moments[places].max())
    return found


def places_of_states(
    states: Mapping[int, AbstractSet[tuple[str, str]]],
) -> dict[tuple[str, str], list[int]]:
    """By each state that a statement states: the places of the statements that do. ``states``: by
    such places what is stated there."""
    places = defaultdict(list)
    for place, stated in states.items():
        for state in stated:
            places[state].append(place)
    return places


def _later_matches(match: Floats, moments: Floats) -> Floats:
    """For each candidate the number of later ones that match as well; worse ones count in part."""
    order = np.argsort(moments, kind="stable")
    later = np.empty(len(match))
    later[order] = relative_matches(match[order], moments[order]).sum(axis=1)
    return later


def _superseded(match: Floats, moments: Floats, vectors: NDArray[Any]) -> Floats:
    """The similarity of each candidate with a later one that matches as well."""
    order = np.argsort(moments, kind="stable")
    rows = vectors[order].astype(np.float32, copy=False)
    alike = np.clip(matrix_product(rows, rows), 0.0, 1.0)
    matches = relative_matches(match[order], moments[order])
    superseded = np.empty(len(match))
    superseded[order] = (matches * (alike * alike)).max(axis=1)
    return superseded


def relative_matches(match: Floats, moments: Floats) -> Floats:
    """How well each candidate (column) matches compared with each other (row): at most 1, and 0 if
    it is not later."""
    matches = np.exp(np.minimum(match[None, :] - match[:, None], 0.0))
    matches *= moments[None, :] > moments[:, None]
    return matches


def rare_stems(candidates: Candidates) -> NDArray[np.float32]:
    """A row for each candidate, a column for each stem that several candidates hold and the
    question does not: the root of the stem's rarity among the candidates, so that the product of
    two rows sums the rarities of the stems they share."""
    asked = {*candidates.question.terms}
    asked |= {word for concept in candidates.question.concepts for word in concept.name.split(" ")}
    number = len(candidates.statements)
    held = candidates.stems
    pairs = np.unique(held.stem_ids * number + held.rows)
    stems, rows = np.divmod(pairs, number)
    counts = np.bincount(stems, minlength=len(held.vocabulary))
    is_shared = counts > 1
    is_shared[[held.vocabulary[stem] for stem in asked & held.vocabulary.keys()]] = False
    counts = counts[is_shared]
    columns = np.cumsum(is_shared) - 1
    chosen = is_shared[stems]
    found = np.zeros((number, len(counts)), dtype=np.float32)
    weights = np.sqrt(np.log1p(number / counts) / np.log1p(number)).astype(np.float32)
    found[rows[chosen], columns[stems[chosen]]] = weights[columns[stems[chosen]]]
    return found
