"""``python -m training.ranking``: fit the weights that ship, and those for measuring.

    python -m training.ranking --locomo DIR --realtalk DIR --duorc FILE
        [--left-out DIR] [--output FILE]

Folds leave whole conversations, films and generated worlds out. The weights that ship are fitted on
all. ``--left-out DIR`` also writes, for each conversation and film, the weights fitted without its
fold, as the benchmarks take them (``--weights DIR``). The same data and
versions give the same bytes.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tqdm import tqdm

from recallm.recall.ranking.signals import DATA, SIGNALS, Weights
from recallm.vectors.minilm import mini_lm
from training.ranking.examples import Unit, asked_of, units_of
from training.ranking.fitting import Measured, fit, measured

_FOLDS = 3
_FILMS = 120
_TABLES = {
    "words": (
        *("passage", "session", "answer", "meaning", "meaning rank", "similar", "near similar"),
        *("named alone", "kind", "date", "speaker", "person", "question"),
        *("user", "elsewhere"),
        *("newest", "superseded", "earliest", "like anchor", "neighbour state"),
    ),
    "vectors": (
        *("passage", "session", "answer", "meaning", "meaning rank"),
        *("similar", "similar window", "similar alone", "near similar"),
        *("kind", "date", "person", "question", "user", "elsewhere"),
        *("newest", "superseded", "earliest", "like anchor", "neighbour state"),
    ),
}
"""The signals of each table: docs/ranking.md says how they were chosen."""

_SHARES = {"LoCoMo": 1.0, "REALTALK": 1.0, "DuoRC": 1.5, "Temporal": 1.0}
"""What each data set weighs in the fit, whatever its size."""

_BY_HAND = {
    "user": 1.35,
    "elsewhere": -3.6,
    "newest": 8.0,
    "like anchor": 3.5,
    "neighbour state": 2.5,
}
"""Weights that take the place of the fitted ones: docs/ranking.md says why."""
_SUPERSEDED = 2.0
"""Factor on the fitted weight of ``superseded``, set by hand for standalone facts."""

_HEAD = """\
# The weights of the default ranking: log-odds that a statement helps to answer, one for each
# signal (recallm/recall/ranking/signals.py says what each measures; docs/ranking.md explains them).
# [words] is for memories without vectors, [vectors] for those with.
# Written by: python -m training.ranking --locomo DIR --realtalk DIR --duorc FILE
"""

Folds = dict[int, list[Measured]]


def main() -> None:
    """Fit, write."""
    parser = argparse.ArgumentParser(description="The weights of the default ranking")
    parser.add_argument("--locomo", type=Path, help="a folder of LoCoMo conversations")
    parser.add_argument("--realtalk", type=Path, help="a folder of REALTALK conversations")
    parser.add_argument("--duorc", type=Path, help="film plots and questions, JSON Lines (.gz)")
    parser.add_argument("--worlds", type=int, default=3, help="generated worlds, of the dev split")
    parser.add_argument("--left-out", type=Path, metavar="DIR")
    parser.add_argument("--output", type=Path, default=DATA)
    options = parser.parse_args()
    paths = (options.locomo, options.realtalk, options.duorc)
    units = list(units_of(*paths, plots=_FILMS, worlds=options.worlds))
    kinds = {unit.kind for unit in units}
    for kind, path in zip(_SHARES, paths, strict=False):
        if path is not None and kind not in kinds:
            parser.error(f"{path} holds nothing of {kind}")
    if not units:
        parser.error("no data: give --locomo, --realtalk, --duorc or --worlds")
    fitted: dict[str, Weights] = {}
    parted: dict[str, dict[int, Weights]] = {}
    for table, signals in _TABLES.items():
        folds = _measured(units, with_vectors=table == "vectors")
        parted[table] = {} if options.left_out is None else _fitted(folds, signals)
        fitted[table] = _fitted_on([one for fold in folds.values() for one in fold], signals)
    options.output.write_text(written(fitted["words"], fitted["vectors"]))
    if options.left_out is not None:
        options.left_out.mkdir(parents=True, exist_ok=True)
        for unit, fold in zip(units, _fold_of(units), strict=True):
            text = written(parted["words"][fold], parted["vectors"][fold])
            (options.left_out / f"{unit.name}.toml").write_text(text)


def written(words: Weights, vectors: Weights) -> str:
    """Both tables as TOML, in the order of the signals."""
    parts = [_HEAD]
    for name, weights in (("words", words), ("vectors", vectors)):
        level = ", ".join(f"{number:.2f}" for number in weights.level)
        lines = [f"[{name}]", f"intercept = {weights.intercept:.3f}"]
        if any(weights.level):
            lines.append(f"level = [{level}]  # of scores: a constant, of the best, of all")
        lines += [
            f'"{signal}" = {weights.signals[signal]:.3f}  # {meaning}'
            for signal, meaning in SIGNALS.items()
            if weights.signals.get(signal)
        ]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def _fold_of(units: Sequence[Unit]) -> list[int]:
    """The fold of each unit: those of a data set go round."""
    seen: Counter[str] = Counter()
    folds = []
    for unit in units:
        folds.append(seen[unit.kind] % _FOLDS)
        seen[unit.kind] += 1
    return folds


def _measured(units: Sequence[Unit], *, with_vectors: bool) -> Folds:
    """Each unit as a memory, its questions put to it and measured."""
    embedding = mini_lm() if with_vectors else None
    folds: Folds = {fold: [] for fold in range(_FOLDS)}
    for unit, fold in zip(tqdm(units, desc="memories", leave=False), _fold_of(units), strict=True):
        folds[fold] += measured(asked_of(unit, embedding))
    return {fold: known for fold, known in folds.items() if known}


def _fitted(folds: Folds, signals: Sequence[str]) -> dict[int, Weights]:
    """For each fold the weights of ``signals`` fitted on the others."""
    weights = {}
    for fold in tqdm(folds, desc="folds", leave=False):
        others = [one for other, some in folds.items() if other != fold for one in some]
        weights[fold] = _fitted_on(others or folds[fold], signals)
    return weights


def _fitted_on(known: Sequence[Measured], signals: Sequence[str]) -> Weights:
    """The weights of ``signals``: fitted, but for those that are set by hand."""
    weights = fit(known, signals=signals, shares=_SHARES)
    by_hand = {name: value for name, value in _BY_HAND.items() if name in signals}
    superseded = _SUPERSEDED * weights.signals.get("superseded", 0.0)
    return Weights(
        intercept=weights.intercept,
        signals={**weights.signals, **by_hand, "superseded": superseded},
        level=weights.level,
    )


if __name__ == "__main__":
    main()
