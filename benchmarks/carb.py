"""CaRB: its files, and its scores of open triplets.

Bhardwaj, Aggarwal, Mausam: "CaRB: A Crowdsourced Benchmark for Open IE", EMNLP 2019. The words of a
predicted extraction are compared with those of a gold one, part by part: predicate, first argument,
all further arguments together. Precision gives each prediction one gold extraction of its sentence
at most, the best left first; recall gives each gold extraction its best prediction. The scores
agree with the published scorer's.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import NamedTuple

_BE = frozenset(("be", "is", "am", "are", "was", "were", "been", "being"))
_SAID = ("said", "told", "added", "adds", "says")
_NO_POINT = (0.0, 0.0)
_BRACKETS = {
    "-LRB-": "(",
    "-RRB-": ")",
    "-LSB-": "[",
    "-RSB-": "]",
    "-LCB-": "{",
    "-RCB-": "}",
}
_QUOTES = {"``": "“", "''": "”"}
_CONTEXT = "C: "


class Extraction(NamedTuple):
    """An extraction as words. ``is_speech``: what is said may stand in the first argument."""

    predicate: list[str]
    arguments: list[list[str]]
    confidence: float = 1.0
    is_speech: bool = False

    @classmethod
    def of(cls, predicate: str, arguments: Sequence[str], confidence: float = 1.0) -> Extraction:
        """An extraction as text; all arguments behind the first are one."""
        joined = [*arguments[:1], *([" ".join(arguments[1:])] if len(arguments) > 1 else [])]
        speech = any(word in predicate for word in _SAID)
        return cls(predicate.split(), [part.split() for part in joined], confidence, speech)


class Curve(NamedTuple):
    """Precision and recall at the threshold with the best F1, and the area under the curve."""

    precision: float
    recall: float
    f1: float
    auc: float
    threshold: float


def plain(sentence: str) -> str:
    """A sentence of a treebank's tokens as plain text: brackets and quotes are characters."""
    marks = _BRACKETS | _QUOTES
    return " ".join(marks.get(word, word) for word in sentence.split(" "))


def tabbed(sentence: str, confidence: float, predicate: str, arguments: Iterable[str]) -> str:
    """A line of CaRB's tabbed form, in the sentence's own spelling of brackets and quotes."""
    parts = [predicate, *arguments]
    for spelled, mark in (_BRACKETS | _QUOTES).items():
        if spelled in sentence:
            parts = [part.replace(mark, spelled) for part in parts]
    return "\t".join([sentence, f"{confidence:.4f}", *parts])


def read_gold(path: Path) -> dict[str, list[Extraction]]:
    """The gold extractions of each sentence."""
    found: defaultdict[str, list[Extraction]] = defaultdict(list)
    for line in path.read_text(encoding="utf-8").splitlines():
        sentence, predicate, *arguments = (part.strip() for part in line.split("\t"))
        own = [part for part in arguments if part and _CONTEXT not in part]
        found[sentence_key(sentence)].append(Extraction.of(predicate, own))
    return dict(found)


def read_tabbed(lines: Iterable[str]) -> dict[str, list[Extraction]]:
    """The predicted extractions of each sentence, of lines in the tabbed form."""
    found: defaultdict[str, list[Extraction]] = defaultdict(list)
    for line in lines:
        if line.strip():
            sentence, confidence, predicate, *arguments = line.strip().split("\t")
            found[sentence_key(sentence)].append(
                Extraction.of(predicate, arguments, float(confidence))
            )
    return dict(found)


def sentence_key(sentence: str) -> str:
    """By what the gold and the predicted extractions of a sentence are brought together."""
    joined = sentence.replace(" ", "")
    for spelled, mark in _BRACKETS.items():
        joined = joined.replace(spelled, mark)
    return joined


def score(
    gold: Mapping[str, Sequence[Extraction]], predicted: Mapping[str, Sequence[Extraction]]
) -> Curve:
    """The best F1 over all thresholds of confidence, and the area under the curve."""
    thresholds = sorted({e.confidence for found in predicted.values() for e in found})
    place = {threshold: i for i, threshold in enumerate(thresholds)}
    matched, given, recalled, wanted = ([0.0] * (len(thresholds) + 1) for _ in range(4))

    def add(totals: list[float], first: int, behind: int, value: float) -> None:
        totals[first] += value
        totals[behind] -= value

    for sentence, golds in gold.items():
        found = predicted.get(sentence, ())
        points = [[_match(one, other) for other in found] for one in golds]
        first = 0
        for threshold in sorted({e.confidence for e in found}):
            behind = place[threshold] + 1
            chosen = [j for j, e in enumerate(found) if e.confidence >= threshold]
            add(matched, first, behind, sum(_given(points, chosen).values()))
            add(given, first, behind, len(chosen))
            add(recalled, first, behind, sum(max(row[j][1] for j in chosen) for row in points))
            add(wanted, first, behind, len(golds))
            first = behind
        add(wanted, first, len(thresholds), len(golds))
    sums = [list(accumulate(totals))[:-1] for totals in (matched, given, recalled, wanted)]
    precisions = [a / b if b > 0.5 else 1.0 for a, b in zip(sums[0], sums[1], strict=True)]
    recalls = [a / b if b > 0.5 else 0.0 for a, b in zip(sums[2], sums[3], strict=True)]
    return _curve(precisions, recalls, thresholds)


def agreement(gold: Sequence[Extraction], found: Sequence[Extraction]) -> list[float]:
    """How well each predicted extraction of a sentence agrees with the gold ones: the F-measure of
    its precision, against the gold extraction that it is given, and of its best recall."""
    points = [[_match(one, other) for other in found] for one in gold]
    given = _given(points, range(len(found)))
    recalls = [max(row[j][1] for row in points) for j in range(len(found))]
    return [
        2 * given[j] * recall / (given[j] + recall) if given.get(j) else 0.0
        for j, recall in enumerate(recalls)
    ]


def _given(
    points: Sequence[Sequence[tuple[float, float]]], chosen: Iterable[int]
) -> dict[int, float]:
    """The precision of each prediction that is given a gold extraction, none to two."""
    pairs = sorted(
        ((row[j][0], -i, -j) for j in chosen for i, row in enumerate(points)), reverse=True
    )
    rows: set[int] = set()
    given: dict[int, float] = {}
    for value, row, column in pairs:
        if row not in rows and -column not in given:
            rows.add(row)
            given[-column] = value
    return given


def _curve(
    precisions: Sequence[float], recalls: Sequence[float], thresholds: Sequence[float]
) -> Curve:
    if not thresholds:
        return Curve(0.0, 0.0, 0.0, 0.0, 0.0)
    f1s = [2 * p * r / (p + r) if p + r else 0.0 for p, r in zip(precisions, recalls, strict=True)]
    best = max(range(len(f1s)), key=f1s.__getitem__)
    ends = [*zip(precisions, recalls, strict=True), (1.0, 0.0)]
    auc = sum((r - s) * (p + q) / 2 for (p, r), (q, s) in pairwise(ends))
    return Curve(precisions[best], recalls[best], f1s[best], auc, thresholds[best])


def _match(gold: Extraction, found: Extraction) -> tuple[float, float]:
    """Precision and recall of a predicted extraction against a gold one."""
    point = _words_in_common(gold, found)
    if gold.is_speech and len(found.arguments) > 1:
        turned = found._replace(arguments=found.arguments[::-1])
        point = max(point, _words_in_common(gold, turned))
    return point


def _words_in_common(gold: Extraction, found: Extraction) -> tuple[float, float]:
    common = _overlap(gold.predicate, found.predicate)
    if "be" in found.predicate and "be" not in gold.predicate:
        common += any(word in _BE for word in gold.predicate)
    if not common or len(found.arguments) < len(gold.arguments):
        return _NO_POINT
    predicted, wanted = len(found.predicate), len(gold.predicate)
    for one, other in zip(gold.arguments, found.arguments, strict=False):
        common += _overlap(one, other)
        wanted += len(one)
        predicted += len(other)
    return common / predicted, common / wanted


def _overlap(one: Sequence[str], other: Sequence[str]) -> int:
    return (Counter(one) & Counter(other)).total()
