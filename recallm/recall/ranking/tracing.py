"""Why a statement that was read for a question is not in the context.

A trace keeps the places that are left after each rule. At level DEBUG the logger ``recallm.recall``
tells how many statements were read, and which of them each rule left out and which were chosen: by
ids, those of facts and summaries, which hold words, by their t. No text and no question is logged.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Sequence

import numpy as np

from recallm.recall.ranking.budget import EqualSentences
from recallm.recall.ranking.candidates import Candidates
from recallm.recall.ranking.stem_counts import Floats
from recallm.recall.results import RecalledStatement

log = logging.getLogger("recallm.recall")


class Trace:
    """What was left of the ``candidates`` of one recall after each rule. ``scores`` are their
    probabilities."""

    def __init__(self, candidates: Candidates) -> None:
        self.candidates = candidates
        self.scores: Floats = np.zeros(len(candidates.statements))
        self._stages: list[tuple[str, Collection[int]]] = []

    def keep(self, places: Sequence[int], rule: str) -> None:
        """Note that only these places are left after a rule, which says why the others are not."""
        self._stages.append((rule, places))

    def reasons(self) -> Iterator[tuple[str, list[int]]]:
        """Each rule, with the places that it left out; what is equal to a chosen statement last."""
        key = EqualSentences.asked_by(self.candidates.question.time).key
        rows = self.candidates.statements
        left = set(range(len(rows)))
        chosen = self._stages[-1][1]
        said = {key(rows[place]) for place in chosen}
        equal = [place for place in left.difference(chosen) if key(rows[place]) in said]
        for rule, places in self._stages:
            if gone := sorted(left.difference(places, equal, chosen)):
                yield rule, gone
            left.intersection_update(places)
        if equal:
            yield "said already", equal

    def reason(self, id: str) -> str | None:
        """The rule that left out the candidate with this id, and its probability; None where there
        is no such candidate, or it was chosen."""
        for rule, places in self.reasons():
            for place in places:
                if id == self.id_of(place):
                    return f"{rule} (p={self.scores[place]:.3f}, the best {self.scores.max():.3f})"
        return None

    def id_of(self, place: int) -> str:
        """The id of a candidate, as a context shows it."""
        statement = self.candidates.statements[place]
        fact = self.candidates.facts.get(statement.key)
        if fact is None:
            return statement.id
        return RecalledStatement.of_fact(statement, fact.triplet, fact.passage).id

    def id_of_key(self, key: int | None) -> str | None:
        """The id of the candidate with this key; None where there is no such candidate."""
        if key is None:
            return None
        rows = enumerate(self.candidates.statements)
        return next((self.id_of(place) for place, row in rows if row.key == key), None)

    def write(self) -> None:
        """Tell the log."""
        log.debug("read %d statements", len(self.candidates.statements))
        for rule, places in self.reasons():
            log.debug("left out (%s): %s", rule.partition(":")[0], self._logged(places))
        log.debug("chose: %s", self._logged(self._stages[-1][1]))

    def _logged(self, places: Collection[int]) -> str:
        rows = (self.candidates.statements[place] for place in places)
        stored = self.candidates.context
        return ", ".join(row.id if row.key in stored else f"t={row.t_index}" for row in rows)
