"""This tree beside another revision: the same work in both, in turns, with one interpreter.

    python -m benchmarks.paired REVISION [--rounds 5] [--histories PATH] [--statements 20000]
        [--embeddings default] [--json OUT]

The revision stands in a git worktree, which is removed at the end. In each round the work is done
once in each tree, in a process of its own; the tree that comes first changes from round to round.
The work is a long chat and many short statements (bulk, recalls, updates, on SQLite files), and the
output of a tool, 80 kB of rows, as one update. All times are those of the processor, so that other
work on the machine disturbs them less. A ratio, this tree over the revision, is the median of the
rounds' ratios.

``--histories`` takes the chat from LongMemEval (Wu et al. 2024): a folder of histories, a JSON file
each, gzipped or not. The first one is the chat, the questions are those of all. Without it the
chat is made of the benchmark's own statements.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.corpora import histories
from benchmarks.report import report
from benchmarks.statements import Talk

_TREE = Path(__file__).parents[1]
_QUESTIONS = 60
_TURNS = 1_200
_TURNS_OF_A_SESSION = 12
_STATEMENTS_OF_A_REPLY = 8

Figures = dict[str, float]


def chat_of(talk: Talk) -> list[dict[str, str]]:
    """Turns of a user, a statement each, and of an assistant, who writes much more."""
    said = talk.statements()
    return [
        {
            "text": " ".join(islice(said, _STATEMENTS_OF_A_REPLY if turn % 2 else 1)),
            "session": f"s{turn // _TURNS_OF_A_SESSION}",
            "speaker": "assistant" if turn % 2 else "user",
        }
        for turn in range(_TURNS)
    ]


def read_histories(folder: Path) -> tuple[list[dict[str, str]], list[str]]:
    """The turns of the first history in order of time, and the questions of all histories.

    Raises:
        SystemExit: no history is there.

    """
    read = list(islice(histories(folder), _QUESTIONS))
    if not read:
        raise SystemExit(f"{folder} holds no history of LongMemEval (*.json, *.json.gz)")
    turns = [
        {"text": turn.text, "session": turn.session, "speaker": turn.speaker}
        for turn in read[0].turns
        if turn.text.strip()
    ]
    return turns, [history.questions[0].question for history in read]


def work_of(histories: Path | None, statements: int, embeddings: str | None) -> dict[str, Any]:
    """What both trees do, as plain values."""
    talk = Talk()
    chat, asked = read_histories(histories) if histories else (chat_of(talk), [])
    questions = talk.questions(_QUESTIONS)
    new = list(islice(talk.statements(), 40))
    short = list(islice(talk.statements(), statements))
    rows = "".join(f"row {n}: status ok value {n % 7}\n" for n in range(3_000))
    return {
        "embeddings": embeddings,
        "chat": {"items": chat, "questions": asked or questions, "updates": new},
        "short statements": {
            "items": [{"text": text} for text in short],
            "questions": questions,
            "updates": new,
        },
        "tool output": f"{rows}The deploy key of Zed is K-99.",
    }


def run_in(tree: Path, work: str) -> Figures:
    """The figures of one run in ``tree``.

    Raises:
        SystemExit: the run failed.

    """
    # A safe path (-P), for beside the workload lie modules with the names of libraries.
    done = subprocess.run(
        [sys.executable, "-P", str(_TREE / "benchmarks" / "paired_workload.py"), str(tree)],
        env={**os.environ, "PYTHONPATH": str(tree)},
        input=work,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"the work failed in {tree}")
    return dict(json.loads(done.stdout))


@contextmanager
def worktree(revision: str) -> Iterator[Path]:
    """The tree of a revision, as long as it is needed."""
    git = ["git", "-C", str(_TREE), "worktree"]
    with tempfile.TemporaryDirectory(prefix="recallm-bench-") as folder:
        tree = Path(folder) / "base"
        subprocess.run([*git, "add", "--quiet", "--detach", str(tree), revision], check=True)
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def summary(rounds: Sequence[tuple[Figures, Figures]]) -> list[dict[str, Any]]:
    """A row for each figure: the medians of both trees, and the median of the rounds' ratios."""
    return [
        {
            "figure": name,
            "revision": statistics.median(before[name] for before, _ in rounds),
            "this tree": statistics.median(now[name] for _, now in rounds),
            "ratio": statistics.median(now[name] / before[name] for before, now in rounds),
        }
        for name in rounds[0][1]
    ]


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options of the command."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("revision", metavar="REVISION")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--histories", type=Path, metavar="PATH", help="of LongMemEval")
    parser.add_argument("--statements", type=int, default=20_000, help="short ones")
    parser.add_argument("--embeddings", choices=["default"], help="without it, words alone")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    return options


def main() -> None:
    """Measure both trees in turns, and report."""
    options = parsed(None)
    work = json.dumps(work_of(options.histories, options.statements, options.embeddings))
    rounds: list[tuple[Figures, Figures]] = []
    with worktree(options.revision) as base:
        for number in range(options.rounds):
            trees = (base, _TREE) if number % 2 == 0 else (_TREE, base)
            found = {tree: run_in(tree, work) for tree in trees}
            rounds.append((found[base], found[_TREE]))
    title = f"This tree beside {options.revision}: CPU, medians of {options.rounds} rounds"
    report(title, summary(rounds), options.json)


if __name__ == "__main__":
    main()
