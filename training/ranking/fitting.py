"""Fitting: which statement answers stands first, then probabilities.

The loss of a question is the mean over its groups of ``-log`` of the share that the group has of
all candidates under a softmax over their log-odds; data sets weigh the same, whatever their size.
What newer and older statements say depends on all other weights: these signals are measured with
the weights of the round before, until they hardly change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from recallm.recall.ranking.signals import SIGNALS, Weights, measure
from recallm.recall.ranking.stem_counts import Floats
from training.ranking.examples import Asked

_ROUNDS = 3
_PENALTY = 1e-3
_RIDGE = 1e-9
"""Keeps the scale finite where what answers can be told apart wholly."""
_START = {
    "passage": 2.0,
    "meaning": 4.0,
    "named alone": 1.0,
    "similar": 6.0,
    "speaker": 1.0,
    "like anchor": 2.0,
}
"""Weights that the first round measures with."""

_SUCCESSION = ("superseded", "earliest", "like anchor", "neighbour state")
"""Signals that depend on the weights of all others."""

_NOTHING = 0.01
"""A smaller weight is none."""
_TALKS = ("LoCoMo", "REALTALK")
_FIRST = 10
"""What a score means counts among the first ten statements of people's talks."""
_SCALE = 0.45
"""About what scaling to probabilities leaves of the weights that order best."""

Places = NDArray[np.signedinteger[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A question whose candidates are measured: ``values[i, j]`` is signal j of candidate i. No
    row where nothing of it is known."""

    asked: Asked
    values: Floats


def measured(questions: Sequence[Asked], weights: Mapping[str, float] = _START) -> list[Measured]:
    """The questions, measured."""
    return [
        Measured(
            asked=one,
            values=np.zeros((0, len(SIGNALS)))
            if one.candidates is None
            else measure(one.candidates, weights),
        )
        for one in questions
    ]


def remeasured(known: Sequence[Measured], weights: Mapping[str, float]) -> list[Measured]:
    """The questions, measured with other weights. Only the signals of succession depend on them: a
    question none of whose candidates has one stays as it is."""
    places = [list(SIGNALS).index(name) for name in _SUCCESSION]
    return [
        measured([one.asked], weights)[0] if one.values[:, places].any() else one for one in known
    ]


def fit(
    known: Sequence[Measured], *, signals: Collection[str], shares: Mapping[str, float]
) -> Weights:
    """The weights of ``signals`` for questions as ``measured`` gives them; other signals count
    nothing. ``shares``: what each data set weighs."""
    weights = Weights(intercept=0.0, signals=_START)
    for number in range(_ROUNDS):
        if number:
            known = remeasured(known, weights.signals)
        row = _order(known, weights, signals, shares)
        scale, intercept = _probabilities(known, row)
        fitted = {
            name: float(value * scale) for name, value in zip(SIGNALS, row, strict=True) if value
        }
        weights = Weights(intercept=intercept, signals=fitted)
    return replace(weights, level=_level(known, row * scale, intercept))


def _order(
    known: Sequence[Measured],
    begin: Weights,
    signals: Collection[str],
    shares: Mapping[str, float],
) -> Floats:
    """The weights that put what answers first."""
    used = [one for one in known if one.asked.groups]
    counts = Counter(one.asked.kind for one in used)
    columns = [place for place, name in enumerate(SIGNALS) if name in signals]
    values = np.vstack([one.values[:, columns] for one in used])
    starts = np.cumsum([0, *(len(one.values) for one in used)])
    groups, owners, parts = [], [], []
    for place, one in enumerate(used):
        share = shares.get(one.asked.kind, 1.0) / counts[one.asked.kind] / len(one.asked.groups)
        for group in one.asked.groups:
            groups.append(group + starts[place])
            owners.append(place)
            parts.append(share)
    part = np.array(parts)
    whole = np.bincount(owners, part, len(used))
    members = np.concatenate(groups)
    begins = np.cumsum([0, *map(len, groups)])[:-1]
    of_group = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    of_question = np.repeat(np.arange(len(used)), np.diff(starts))

    def loss(row: Floats) -> tuple[float, Floats]:
        odds = values @ row
        all_log, all_share = _softmax(odds, starts[:-1], of_question)
        some_log, some_share = _softmax(odds[members], begins, of_group)
        slope = whole[of_question] * all_share
        np.subtract.at(slope, members, part[of_group] * some_share)
        value = whole @ all_log - part @ some_log + _PENALTY * row @ row
        return float(value), values.T @ slope + 2 * _PENALTY * row

    start = np.array([begin.signals.get(name, 0.0) / _SCALE for name in SIGNALS])[columns]
    found = minimize(loss, start, jac=True, method="L-BFGS-B").x
    found[(~values.any(axis=0)) | (np.abs(found) < _NOTHING)] = 0.0
    row = np.zeros(len(SIGNALS))
    row[columns] = found
    return row


def _softmax(odds: Floats, starts: Places, owner: Places) -> tuple[Floats, Floats]:
    """For each run its log-sum-exp; for each member its share of it."""
    greatest = np.maximum.reduceat(odds, starts)
    raised = np.exp(odds - greatest[owner])
    total = np.add.reduceat(raised, starts)
    return np.log(total) + greatest, raised / total[owner]


def _probabilities(known: Sequence[Measured], row: Floats) -> tuple[float, float]:
    """The scale and the intercept that make log-odds of what ``row`` says (Platt scaling), over
    every candidate of every question of text that somebody wrote."""
    used = [one for one in known if one.asked.kind != "Temporal"] or list(known)
    counts = Counter(one.asked.kind for one in used)
    odds = np.concatenate([one.values @ row for one in used])
    answers = np.concatenate([_answers(one) for one in used])
    weight = np.concatenate(
        [np.full(len(one.values), 1.0 / counts[one.asked.kind]) for one in used]
    )
    weight /= weight.sum()

    def loss(pair: Floats) -> tuple[float, Floats]:
        logits = pair[0] * odds + pair[1]
        error = weight * (np.exp(-np.logaddexp(0.0, -logits)) - answers)
        value = weight @ (np.logaddexp(0.0, logits) - answers * logits) + _RIDGE * pair[0] ** 2
        return float(value), np.array([error @ odds + 2 * _RIDGE * pair[0], error.sum()])

    found = minimize(loss, np.array([0.5, -5.0]), jac=True, method="L-BFGS-B")
    return float(found.x[0]), float(found.x[1])


def _level(known: Sequence[Measured], row: Floats, intercept: float) -> tuple[float, float, float]:
    """What makes the scores of the best statements of a question probabilities: a constant, a
    factor on the log-odds of the best one, and a factor on the logarithm of the sum of all odds.
    Fitted on the first ten for each question of a conversation that has an answer; zeros without
    conversations."""
    used = [one for one in known if one.asked.kind in _TALKS and one.asked.groups]
    if not used:
        return (0.0, 0.0, 0.0)
    counts = Counter(one.asked.kind for one in used)
    odds, answers, values, weight = [], [], [], []
    for one in used:
        all_odds = one.values @ row + intercept
        first = np.argsort(-all_odds)[:_FIRST]
        odds.append(all_odds[first])
        answers.append(_answers(one)[first])
        values += [(1.0, all_odds.max(), np.logaddexp.reduce(all_odds))] * len(first)
        weight += [1.0 / counts[one.asked.kind]] * len(first)
    rest, is_answer = np.concatenate(odds), np.concatenate(answers)
    columns, shares = np.array(values), np.array(weight) / sum(weight)

    def loss(level: Floats) -> tuple[float, Floats]:
        logits = rest + columns @ level
        error = shares * (np.exp(-np.logaddexp(0.0, -logits)) - is_answer)
        value = shares @ (np.logaddexp(0.0, logits) - is_answer * logits) + _RIDGE * level @ level
        return float(value), columns.T @ error + 2 * _RIDGE * level

    constant, of_best, of_all = minimize(loss, np.zeros(3), jac=True, method="L-BFGS-B").x
    return float(constant), float(of_best), float(of_all)


def _answers(one: Measured) -> Floats:
    answers = np.zeros(len(one.values))
    for group in one.asked.groups:
        answers[group] = 1.0
    return answers
