"""``resolve``: the antecedents of a passage's pronouns.

A small network, the ranker, scores every candidate, and "no antecedent", by its features. A softmax
over the scores gives probabilities. ``python -m training.coreference`` fits the ranker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recallm.english.coreference.discourse import Anaphor, Candidate, Discourse, Referent, anaphors
from recallm.english.coreference.features import Features, Row, fit_of_gender
from recallm.english.coreference.passage import TextRead
from recallm.model import ConceptMention, Reference

Floats = NDArray[np.float32]

WEIGHTS: Final = "ranker.npz"
"""The file of the weights in ``recallm/english/data/coreference``."""

PARAMETERS: Final = ("hidden", "hidden_bias", "output", "direct", "threshold")
"""The arrays of that file beside the names of the features."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranker:
    """The weights: ``hidden`` has shape (features, units), ``hidden_bias`` and ``output`` (units,),
    ``direct`` (features,). ``features`` are the places of features by name. ``threshold`` is the
    least probability of an antecedent, an array without axes."""

    features: dict[str, int]
    hidden: Floats
    hidden_bias: Floats
    output: Floats
    direct: Floats
    threshold: Floats

    def probabilities(self, rows: Sequence[Row]) -> Floats:
        """The probability of each row of features (the first is "no antecedent")."""
        features = np.zeros((len(rows), len(self.features)), dtype=np.float32)
        for i, row in enumerate(rows):
            for name, value in row.items():
                if value and (place := self.features.get(name)) is not None:
                    features[i, place] = value
        units = np.maximum(features @ self.hidden + self.hidden_bias, 0.0)
        scores = units @ self.output + features @ self.direct
        shares = np.exp(scores - scores.max())
        probabilities: Floats = shares / shares.sum()
        return probabilities


@cache
def shipped_ranker() -> Ranker:
    """The ranker inside the package, loaded once."""
    path: Any = files("recallm.english").joinpath("data", "coreference", WEIGHTS)
    with path.open("rb") as file, np.load(file) as arrays:
        return Ranker(
            features={name: place for place, name in enumerate(arrays["features"].tolist())},
            **{name: arrays[name].astype(np.float32) for name in PARAMETERS},
        )


_MENTIONED: Final = 0.5
"""From this probability on an anaphor counts as a mention for those behind it."""
_OTHER_GENDER: Final = 0.05
"""The share of a gender among a name's bearers up to which nobody of that gender is meant. The
ranker has learnt from texts that call women by surnames such as "Nelson"; here a wrong antecedent
weighs more than a missing one."""


class FoundReference(NamedTuple):
    """A pronoun and what it stands for.

    ``start`` and ``end`` are its span in the text. ``concepts`` are the concept and the parts of
    its name. ``antecedent`` is the id of the passage that spells the concept, None
    where the text itself does.
    """

    start: int
    end: int
    concepts: tuple[ConceptMention, ...]
    antecedent: str | None

    def mentions(self, offset: int = 0) -> list[ConceptMention]:
        """The mentions of its concepts in a statement that begins at ``offset`` of the text."""
        reference = Reference(self.start - offset, self.end - offset, self.antecedent)
        return [replace(concept, reference=reference) for concept in self.concepts]


class Decision(NamedTuple):
    """An anaphor in its discourse, with its candidates and rows of features: one for "none", then
    one for each candidate."""

    discourse: Discourse
    anaphor: Anaphor
    candidates: list[Candidate]
    rows: list[Row]


def resolve(text: TextRead, earlier: Sequence[TextRead] = ()) -> list[FoundReference]:
    """The anaphors of a passage that have an antecedent, in textual order.

    ``earlier`` are the passages before it in the session, the newest last; the caller bounds them.
    Where no passage spells the antecedent, a passage that refers to the antecedent counts.
    The time is linear in the number of tokens: an anaphor has a bounded number of candidates.
    """
    ranker = shipped_ranker()
    found: list[FoundReference] = []

    def choose(decision: Decision) -> Referent | None:
        probabilities = ranker.probabilities(decision.rows)
        for i, (referent, _) in enumerate(decision.candidates, start=1):
            if referent.gender_known and fit_of_gender(decision.anaphor, referent) <= _OTHER_GENDER:
                probabilities[i] = 0.0
        best = int(probabilities.argmax())
        if not best or probabilities[best] < _MENTIONED:
            return None
        referent, _ = decision.candidates[best - 1]
        if probabilities[best] >= ranker.threshold:
            found.append(_found(text, earlier, decision.anaphor, referent))
        return referent

    for _ in decisions(text, earlier, choose):
        pass
    return found


def decisions(
    text: TextRead, earlier: Sequence[TextRead], choose: Callable[[Decision], Referent | None]
) -> Iterator[Decision]:
    """What must be decided for each anaphor, from left to right. ``choose`` decides: the referent
    that it gives counts as mentioned from there on."""
    discourse = Discourse(text, earlier)
    features = Features(text)
    for anaphor in anaphors(text):
        discourse.advance(anaphor.token)
        candidates = list(discourse.candidates(anaphor))
        if not candidates:
            continue
        decision = Decision(discourse, anaphor, candidates, features.rows(anaphor, candidates))
        if (referent := choose(decision)) is not None:
            discourse.refer(anaphor, referent)
        yield decision


def _found(
    text: TextRead, earlier: Sequence[TextRead], anaphor: Anaphor, referent: Referent
) -> FoundReference:
    start = text.starts[anaphor.token]
    end = start + len(text.words[anaphor.token].text)
    back = min(referent.spelled)
    concepts = referent.spelled[back]
    antecedent = None
    if back:
        reference = concepts[0].reference  # the earlier passage may have a pronoun, too
        antecedent = (reference and reference.antecedent) or earlier[-back].id
    return FoundReference(start, end, concepts, antecedent)
