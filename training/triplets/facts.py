"""``python -m training.triplets.facts``: fit how sure facts are on marked ones, those of messages,
of chats and of short sentences; measure it on folds and on messages left out; write the trees."""

from __future__ import annotations

import argparse
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier

from benchmarks import chat_facts, fact_sentences
from recallm import RecallM
from recallm.english.syntax import triplets
from recallm.english.syntax.confidence import TreeModel, fact_features
from recallm.english.syntax.drafts import Draft
from recallm.english.syntax.tree import SentenceTree
from recallm.facts import FactMemory
from training.cards import table
from training.triplets.fitting import node

_OUTPUT = (
    Path(__file__).parents[2] / "recallm" / "english" / "syntax" / "data" / "fact_confidence.json"
)
_TREES = 150
_DEPTH = 3
_RATE = 0.05
_LEAF = 8
_FOLDS = 8
_PLAIN = 3
"""How often a fact of a plain statement counts: messages have few of them."""
_THRESHOLDS = (0.6, 0.7, 0.8, 0.84, 0.88)


class MarkedFact(NamedTuple):
    """The features of a fact, and whether the fact is right."""

    features: Mapping[str, float]
    right: bool


def read_messages(half: str) -> list[MarkedFact]:
    """The marked facts of one half of ``benchmarks/user_messages.toml``."""
    found: list[MarkedFact] = []
    with RecallM(triplets=True) as memory:
        for place, message in enumerate(_halves(chat_facts.MESSAGES)[half]):
            marks = chat_facts.marks_of(message)
            own = memory.in_namespace(str(place))
            for terms, features in _read(own, [f"user: {message['said']}"]):
                mark = marks.get(" | ".join(terms))
                if mark is not None:
                    found.append(MarkedFact(features, mark))
    return found


def read_plain_statements() -> Iterator[MarkedFact]:
    """The facts of the chats and of the short sentences that the rules were written on."""
    for chat in _halves(chat_facts.CHATS)["develop"]:
        yield from _compared(chat["said"], chat["holds"], chat["false"])
    for sentence, expected in fact_sentences.read_sentences()["develop"].items():
        yield from _compared([f"user: {sentence}"], expected, ())


def _compared(
    said: Sequence[str], right: Sequence[str], wrong: Sequence[str]
) -> Iterator[MarkedFact]:
    """What is read that one of two lists has."""
    with RecallM(triplets=True) as memory:
        matching = chat_facts.Matching(memory.graph.concept_name)
        for terms, features in _read(memory, said):
            for marked, is_right in ((right, True), (wrong, False)):
                if any(matching.is_expected(terms, each) for each in marked):
                    yield MarkedFact(features, is_right)


def _read(
    memory: RecallM, said: Sequence[str]
) -> Iterator[tuple[chat_facts.Terms, Mapping[str, float]]]:
    """The facts that hold when a chat ends, however sure they are, with their features."""
    seen: dict[str, Mapping[str, float]] = {}

    def recorded(tree: SentenceTree, draft: Draft, others: int) -> float:
        triplet = triplets.written(tree, draft, 1.0)
        seen[triplet.properties["said"]] = fact_features(tree, draft, others)
        return 1.0

    with patch.object(triplets, "fact_confidence", recorded):
        chat_facts.write_chat(memory, said, roles=False)
    for fact in FactMemory(memory).read():
        yield (fact.subject, fact.relation, fact.object), seen[fact.properties["said"]]


def _halves(path: Path) -> dict[str, list[dict[str, Any]]]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def fit_facts(examples: Sequence[MarkedFact]) -> TreeModel:
    """The trees whose sum is the logarithm of the odds that a fact is right."""
    names = sorted(examples[0].features)
    rows = [[float(example.features[name]) for name in names] for example in examples]
    right = np.array([example.right for example in examples])
    model = GradientBoostingClassifier(
        n_estimators=_TREES,
        max_depth=_DEPTH,
        learning_rate=_RATE,
        min_samples_leaf=_LEAF,
        subsample=0.6,
        max_features=0.3,
        random_state=0,
    )
    model.fit(rows, right)
    share = right.mean()
    trees = [node(stage[0].tree_, 0, _RATE) for stage in model.estimators_]
    return TreeModel(round(float(np.log(share / (1 - share))), 5), names, trees)


def _in_folds(facts: Sequence[MarkedFact], plain: Sequence[MarkedFact]) -> list[float]:
    """The values of facts by trees that they, and those around them, had no part in."""
    found: list[float] = []
    for part in np.array_split(np.arange(len(facts)), _FOLDS):
        others = [*facts[: part[0]], *facts[part[-1] + 1 :]]
        model = fit_facts([*others, *list(plain) * _PLAIN])
        found += [model.value(facts[i].features) for i in part]
    return found


def _rows(name: str, facts: Sequence[MarkedFact], values: Sequence[float]) -> Iterator[list[str]]:
    """For each threshold how many facts are shown, how many of those are right, and the share of
    all right ones."""
    right = np.array([fact.right for fact in facts])
    sure = 1 / (1 + np.exp(-np.array(values)))
    for least in _THRESHOLDS:
        shown = sure >= least
        kept = right[shown].sum() / right.sum()
        yield [name, f"{least}", f"{shown.sum()}", f"{right[shown].mean():.3f}", f"{kept:.3f}"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit, measure, write."""
    parser = argparse.ArgumentParser(description="Fit the confidence of facts")
    parser.add_argument("--output", type=Path, default=_OUTPUT, help="the trees (%(default)s)")
    options = parser.parse_args(arguments)
    marked, plain, kept = read_messages("fit"), [*read_plain_statements()], read_messages("kept")
    model = fit_facts([*marked, *plain * _PLAIN])
    content = {"base": model.base, "features": model.names, "trees": model.trees}
    options.output.write_text(f"{json.dumps(content)}\n", encoding="utf-8")
    rows = [
        *_rows("fit, in folds", marked, _in_folds(marked, plain)),
        *_rows("kept", kept, [model.value(fact.features) for fact in kept]),
    ]
    print(f"{len(model.trees)} trees, {len(marked)} facts of messages, {len(plain)} plain ones\n")
    print(table(("messages", "threshold", "shown", "right", "of all right ones"), rows))


if __name__ == "__main__":
    main()
