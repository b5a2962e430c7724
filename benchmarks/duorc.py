"""Does the context hold the answer? Films of DuoRC.

    python -m benchmarks.duorc FILE [--films 120] [--without-vectors] [--weights PATH] [--json OUT]

``FILE`` is JSON Lines, gzipped or not, a film a line (see ``corpora``). Each film is a memory, its
plot one knowledge update, its sentences the statements; peers rank the same sentences. Over the
questions whose answer stands in the plot word for word: the share of those whose answer stands in a
statement of the context, word for word, in contexts of 100 to 400 tokens (characters / 4, marks and
prefix counted). Chroma stands here once: in which order its nearest are handed over changes
nothing. The row of the newest is left out: one plot is one update. Below stands by how much each of
recallm's rankings differs from BM25 and from Chroma (see ``intervals``). ``--weights`` leaves films
out: each is measured with weights that were not fitted on it. The contexts that recallm's rankings
hand over by themselves stand in a table of their own, with their tokens (see ``uncut``).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from tqdm import tqdm

from benchmarks.corpora import Asked, Film, films
from benchmarks.intervals import Scores
from benchmarks.rankers import Found, Ranker
from benchmarks.rankings import (
    BM25_ROW,
    CHROMA_ROW,
    EMENT_ROW,
    NEWEST_ROW,
    PAPER_ROW,
    STATEMENTS_ROW,
    VECTORS_ROW,
    WEIGHTS_HELP,
    Item,
    WeightsFor,
    default_embedding,
    opened_rows,
    weights_in,
)
from benchmarks.report import machine, save, show
from benchmarks.uncut import add_uncut, show_uncut
from recallm.vectors import Embedding

_TOKENS = (100, 200, 400)
_OURS = (PAPER_ROW, STATEMENTS_ROW, VECTORS_ROW, EMENT_ROW)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the films, and report."""
    parser = argparse.ArgumentParser(description="Answers in the context, on films of DuoRC")
    parser.add_argument("path", type=Path, metavar="FILE")
    parser.add_argument(
        "--films", type=int, default=120, help="the number of films, from the first on"
    )
    parser.add_argument("--without-vectors", action="store_true", help="no rows with embeddings")
    parser.add_argument("--weights", type=Path, help=WEIGHTS_HELP)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    if not options.path.is_file():
        parser.error(f"{options.path} does not exist: it must be a JSON Lines file, a film a line")
    plots = films(options.path, options.films)
    if not plots:
        parser.error(f"{options.path} holds no film with an answer that stands in its plot")
    embedding = None if options.without_vectors else default_embedding()
    scores = measure(plots, embedding, weights_for=weights_in(options.weights))
    columns = [f"{tokens} tokens" for tokens in _TOKENS]
    table = scores.table("ranking", scores.rows, columns)
    differences = scores.differences(_OURS, (BM25_ROW, CHROMA_ROW), columns)
    show(f"DuoRC: {len(scores.units)} answers of {len(plots)} films in the context", table)
    show("DuoRC: differences and their 95 % intervals", differences)
    uncut = show_uncut("DuoRC", scores)
    if options.json is not None:
        save(
            options.json,
            machine=machine(),
            questions=len(scores.units),
            films=len(plots),
            rows=table,
            uncut=uncut,
            differences=differences,
        )


def measure(
    plots: Sequence[Film],
    embedding: Embedding | None = None,
    *,
    weights_for: WeightsFor | None = None,
) -> Scores:
    """The scores of every row on every question."""
    scores = Scores()
    with opened_rows(embedding, weights_for=weights_for) as rows:
        for film in tqdm(plots, desc="films", leave=False, disable=None):
            measured = rows(film.name)
            measured.write([Item(id=film.name, text=film.plot, session=film.name)], whole=False)
            for asked in film.questions:
                question = scores.question(film.name)
                for ranker in measured.rankers:
                    if ranker.name != NEWEST_ROW:
                        for column, value in score(asked, ranker).items():
                            scores.add(ranker.name, column, question, value)
                add_uncut(
                    scores, question, asked.question, measured.rankers, partial(_answers, asked)
                )
    return scores


def score(asked: Asked, ranker: Ranker) -> dict[str, float]:
    """Whether an answer stands in what ``ranker`` hands over, for each number of tokens."""
    found: dict[str, float] = {}
    for tokens in _TOKENS:
        found[f"{tokens} tokens"] = _answers(asked, ranker.context(asked.question, tokens=tokens))
    return found


def _answers(asked: Asked, context: Sequence[Found]) -> float:
    """1 where an answer stands in a statement of a context, 0 where none does."""
    texts = [each.text.lower() for each in context]
    answers = [answer.lower() for answer in asked.answers]
    return float(any(answer in text for answer in answers for text in texts))


if __name__ == "__main__":
    main()
