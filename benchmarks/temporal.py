"""Does recall keep up with what changes, and keep what was told once?

    python -m benchmarks.temporal [--split test] [--vectors] [--plot FILE.svg] [--json OUT]

After the paper's temporal experiment (Figures 5 and 6), with statements of our own: some 1,500
knowledge updates in 25 repetitions (see ``temporal_world``). Questions are worded differently
from the statements that answer them. After 1, 5, 10, 15, 20 and 25 repetitions it is asked, and
judged among five and ten recalled statements:

- current: the statement that tells the current state is in the context, and no other statement on
  the same topic that tells an older one stands after it: it has the last word on its subject;
- previous, first: a statement that tells that state is in the context;
- long-range: the statement that was told once, at the start, is in the context.

``--split dev`` is what a ranking may be developed on; figures are those of ``test``, whose
phrases, names and values are all others.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from tqdm import tqdm

from benchmarks.rankings import Found, Item, rows, why_no_vectors
from benchmarks.report import machine, report
from benchmarks.temporal_world import (
    CURRENT,
    FIRST,
    LONG_RANGE,
    PREVIOUS,
    Question,
    World,
    tell,
)

_LIMITS = (5, 10)
_ASKED_AFTER = (1, 5, 10, 15, 20, 25)
_SHOWN = (
    (CURRENT, 5),
    (CURRENT, 10),
    (PREVIOUS, 5),
    (PREVIOUS, 10),
    (FIRST, 5),
    (FIRST, 10),
    (LONG_RANGE, 5),
    (LONG_RANGE, 10),
)

Scores = dict[str, dict[int, dict[str, list[float]]]]
"""Row → repetitions → "kind@limit" → a value for each question."""


def main() -> None:
    """Tell the world, ask at each of the repetitions, report."""
    parser = argparse.ArgumentParser(description="Belief updating and long-range recall")
    parser.add_argument("--split", choices=("dev", "test"), default="test")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--vectors", action="store_true", help="the rows that need embeddings")
    parser.add_argument("--last", action="store_true", help="ask after the last repetition alone")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.vectors and (why := why_no_vectors()):
        print(f"recallm with vectors, and EMENT, are left out: {why}")
    world = tell(options.split, seed=options.seed)
    asked_after = _ASKED_AFTER[-1:] if options.last else _ASKED_AFTER
    scores = measure(world, asked_after, vectors=options.vectors)
    end = asked_after[-1]
    table = [
        {"ranking": name, **{f"{kind}@{k}": fmean(by[end][f"{kind}@{k}"]) for kind, k in _SHOWN}}
        for name, by in scores.items()
    ]
    title = (
        f"Temporal, {options.split}: {len(world.told):,} updates, "
        f"{len(world.questions[end - 1])} questions"
    )
    report(title, table, None)
    if options.json is not None:
        options.json.write_text(
            json.dumps({"machine": machine(), "rows": table, "scores": scores}, indent=2)
        )


def measure(world: World, asked_after: Sequence[int], *, vectors: bool) -> Scores:
    """Ask each row after so many repetitions."""
    scores: Scores = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    with rows(embeddings=vectors, similarity_order=True) as measured:
        written = 0
        for repetition in tqdm(asked_after, desc="repetitions", leave=False):
            end = world.ends[repetition - 1]
            told = enumerate(world.told[written:end], written)
            measured.write([Item(id=str(place), text=each.text) for place, each in told])
            written = end
            for ranker in measured.rankers:
                for question in world.questions[repetition - 1]:
                    for limit in _LIMITS:
                        found = ranker.context(question.text, limit=limit)
                        value = judge(world, question, found)
                        scores[ranker.name][repetition][f"{question.kind}@{limit}"].append(value)
    return {name: dict(by) for name, by in scores.items()}


def judge(world: World, question: Question, context: Sequence[Found]) -> float:
    """1 where ``context`` answers, 0 where it does not."""
    told = [world.told[int(each.item)] for each in context]
    states = [each.states for each in told if each.topic == question.topic]
    if question.kind == CURRENT:
        return float(bool(states) and states[-1][-1] == question.state)
    return float(any(question.state in each for each in states))


if __name__ == "__main__":
    main()
