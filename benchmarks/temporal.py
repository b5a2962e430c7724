"""Does recall keep up with what changes, and keep what was told once?

    python -m benchmarks.temporal [--split test] [--without-vectors] [--plot FILE]
        [--weights FILE] [--json OUT]

After the paper's temporal experiment (Figures 5 and 6), with statements of our own: some 1,500
knowledge updates in 25 repetitions (see ``temporal_world``). Most questions share no word but a
name with the statements that answer them. After 1, 5, 10, 15, 20 and 25 repetitions each is asked,
and judged among five (and at last among ten) recalled statements, in the order in which they are
handed over:

- current: the last statement on the topic in question tells its current state: what is up to date
  is in the context, and has the last word on its subject;
- previous, first: a statement that tells the state before, or the first one, is in the context;
- before, after, at the time: the question names the value of a state ("Where did Ingrid live before
  Porto?", "Which job did Ingrid have when she lived in Oslo?"): a statement that tells the state
  before it, after it or at the same time is in the context; after the last repetition also judged
  with one statement;
- long-range: what was told once, at the start, is in the context.

After the last repetition they are also judged in contexts of 250 and 1,000 tokens. The paper's
ranking orders concepts, not statements: it stands there, and uncut (see ``uncut``).

The table stands after the last repetition. Below stands by how much each of recallm's rankings
differs from BM25 and from Chroma in time order (see ``intervals``; a unit is a person). ``--plot``
draws the standard questions (current, previous, first) and the long-range ones over the
repetitions, among five statements, to an SVG file.

``--split dev`` is what a ranking may be developed on, ``--split check`` what its rules may be
checked on; figures are those of ``test``. The phrases, names and values of each are all others.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from tqdm import tqdm

from benchmarks.intervals import Scores
from benchmarks.rankers import Found, Paper
from benchmarks.rankings import (
    BM25_ROW,
    EMENT_ROW,
    STATEMENTS_ROW,
    TIME_ROW,
    VECTORS_ROW,
    Item,
    Rows,
    WeightsFor,
    default_embedding,
    opened_rows,
    weights_in,
)
from benchmarks.report import machine, save, show
from benchmarks.temporal_world import (
    AFTER,
    AT,
    BEFORE,
    CURRENT,
    FIRST,
    LONG_RANGE,
    PREVIOUS,
    Question,
    World,
    tell,
)
from benchmarks.uncut import add_uncut, show_uncut
from recallm.vectors import Embedding

_LIMITS = (5, 10)
_TOKENS = (250, 1_000)
_NAMED_VALUE = (BEFORE, AFTER, AT)
_LIMITS_OF_NAMED_VALUE = (1, 5, 10)
_ASKED_AFTER = (1, 5, 10, 15, 20, 25)
_STANDARD_KINDS = (CURRENT, PREVIOUS, FIRST)
_COLUMNS = [
    *(f"{kind}@{k}" for kind in _STANDARD_KINDS for k in _LIMITS),
    *(f"{kind}@{k}" for kind in _NAMED_VALUE for k in _LIMITS_OF_NAMED_VALUE),
    *(f"{LONG_RANGE}@{k}" for k in _LIMITS),
]
_SHOWN = (
    *(f"{kind}@5" for kind in (*_STANDARD_KINDS, *_NAMED_VALUE)),
    f"{LONG_RANGE}@10",
)
_STANDARD = "standard@5"
_LONG_RANGE = f"{LONG_RANGE}@5"
_OURS = (STATEMENTS_ROW, VECTORS_ROW, EMENT_ROW)


def main(arguments: Sequence[str] | None = None) -> None:
    """Tell the world, ask after each of the repetitions, report."""
    parser = argparse.ArgumentParser(description="Belief updating and long-range recall")
    parser.add_argument("--split", choices=("dev", "check", "test"), default="test")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--without-vectors", action="store_true", help="no rows with embeddings")
    parser.add_argument("--last", action="store_true", help="ask after the last repetition alone")
    parser.add_argument("--plot", type=Path, help="an SVG file to write")
    parser.add_argument("--weights", type=Path, help="a file of weights")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    if options.plot is not None and options.last:
        parser.error("--plot needs all repetitions: leave --last out")
    world = tell(options.split, seed=options.seed)
    embedding = None if options.without_vectors else default_embedding()
    asked_after = _ASKED_AFTER[-1:] if options.last else _ASKED_AFTER
    scores = measure(
        world, embedding, asked_after=asked_after, weights_for=weights_in(options.weights)
    )
    end = scores[asked_after[-1]]
    asked = [row for row in end.rows if end.has(row, _COLUMNS[0])]
    table = end.table("ranking", asked, _COLUMNS)
    kinds = list(dict.fromkeys(kind for kind in end.kinds if kind is not None))
    in_tokens = (f"{kind} in {tokens}" for kind in kinds for tokens in _TOKENS)
    at_equal_tokens = end.table("ranking", end.rows, in_tokens)
    differences = end.differences(_OURS, (BM25_ROW, TIME_ROW), _COLUMNS)
    curves = {
        column: {
            row: [scores[repetition].mean(row, column) for repetition in asked_after]
            for row in end.rows
            if end.has(row, column)
        }
        for column in (_STANDARD, _LONG_RANGE)
    }
    title = f"{len(world.statements):,} updates, {len(end.units)} questions ({options.split})"
    show(f"Temporal: {title}", table)
    show("Temporal: at equal tokens", at_equal_tokens)
    uncut = show_uncut("Temporal", end, kinds)
    show(
        "Temporal: differences and their 95 % intervals",
        [{column: row[column] for column in ("difference", *_SHOWN)} for row in differences],
    )
    if options.plot is not None:
        from benchmarks.plot import draw_over_repetitions

        draw_over_repetitions(
            options.plot,
            asked_after,
            {"Standard questions": curves[_STANDARD], "Long-range questions": curves[_LONG_RANGE]},
        )
    if options.json is not None:
        save(
            options.json,
            machine=machine(),
            split=options.split,
            seed=options.seed,
            updates=len(world.statements),
            questions=len(end.units),
            rows=table,
            at_equal_tokens=at_equal_tokens,
            uncut=uncut,
            differences=differences,
            repetitions=asked_after,
            curves=curves,
        )


def measure(
    world: World,
    embedding: Embedding | None = None,
    *,
    asked_after: Sequence[int] = _ASKED_AFTER,
    weights_for: WeightsFor | None = None,
) -> dict[int, Scores]:
    """The scores of every row on every question, by the repetitions after which it is asked; among
    ten statements, and for named values, after the last of them alone."""
    result = {}
    with opened_rows(embedding, similarity_order=True, weights_for=weights_for) as rows:
        measured = rows("temporal")
        written = 0
        for repetition in asked_after:
            end = world.ends[repetition - 1]
            new = enumerate(world.statements[written:end], written)
            measured.write([Item(id=str(place), text=each.text) for place, each in new])
            written = end
            scores = result[repetition] = Scores()
            questions = world.questions[repetition - 1]
            for question in tqdm(
                questions, desc=f"repetition {repetition}", leave=False, disable=None
            ):
                if question.kind in _NAMED_VALUE and repetition != asked_after[-1]:
                    continue
                number = scores.question(question.subject, question.kind)
                if repetition == asked_after[-1]:
                    _add_at_tokens(scores, number, world, question, measured)
                for ranker in measured.rankers:
                    if isinstance(ranker, Paper):
                        continue
                    for limit in _limits(question, last=repetition == asked_after[-1]):
                        value = judge(world, question, ranker.context(question.text, limit=limit))
                        scores.add(ranker.name, f"{question.kind}@{limit}", number, value)
                        if question.kind in _STANDARD_KINDS:
                            scores.add(ranker.name, f"standard@{limit}", number, value)
    return result


def _add_at_tokens(
    scores: Scores, number: int, world: World, question: Question, rows: Rows
) -> None:
    """Judge a question in contexts of ``_TOKENS``, and uncut."""
    judged = partial(judge, world, question)
    for ranker in rows.rankers:
        for tokens in _TOKENS:
            value = judged(ranker.context(question.text, tokens=tokens))
            scores.add(ranker.name, f"{question.kind} in {tokens}", number, value)
    add_uncut(scores, number, question.text, rows.rankers, judged)


def _limits(question: Question, *, last: bool) -> Sequence[int]:
    if not last:
        return _LIMITS[:1]
    return _LIMITS_OF_NAMED_VALUE if question.kind in _NAMED_VALUE else _LIMITS


def judge(world: World, question: Question, context: Sequence[Found]) -> float:
    """1 where ``context`` answers, 0 where it does not."""
    statements = [world.statements[int(each.item)] for each in context]
    states = [each.states for each in statements if each.topic == question.topic]
    if question.kind == CURRENT:
        return float(bool(states) and states[-1][-1] == question.state)
    return float(any(question.state in each for each in states))


if __name__ == "__main__":
    main()
