"""``python -m benchmarks.coreference FILE.tsv [--output OUT]``: pronouns of GAP, and of sessions.

``FILE.tsv`` has GAP's columns: texts with a pronoun and two names. The table shows F1 for masculine
and feminine pronouns, their ratio (bias) and the scores over all, as GAP's own scorer counts them.
``--output`` writes ``ID, A-coref, B-coref``, tab-separated, for that scorer.

Peers choose between the two names as well: one at random, the nearer one, the one nearer in the
dependency tree, and the parallelism baseline of GAP's paper (the nearest name with the pronoun's
grammatical role, subject or object; else the nearer one in the tree). The trees are those of the
parser inside the package.

The last line is for the hand-written sessions in ``benchmarks/coreference_dialogues.toml``: what
``resolve`` finds at the threshold that ships.
"""

from __future__ import annotations

import argparse
import random
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from recallm.english.coreference.passage import OBJECT, SUBJECT
from recallm.english.coreference.resolving import resolve, shipped_ranker
from recallm.english.plain_reading import TextReader
from recallm.ground.config import RecallConfig
from training.coreference.examples import undecided
from training.coreference.gap import (
    GapText,
    decide,
    predict,
    read_gap,
    table_of_scores,
    write_predictions,
)
from training.coreference.sessions import is_meant, read_sessions

_DIALOGUES = Path(__file__).with_name("coreference_dialogues.toml")
_EARLIER = 6

Answer = tuple[bool, bool]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print what was found; write the predictions if asked for."""
    parser = argparse.ArgumentParser(description="Coreference on GAP and on short sessions")
    parser.add_argument("file", type=Path, metavar="FILE.tsv", help="a file in GAP's form")
    parser.add_argument("--output", type=Path, help="where the predictions go (tab-separated)")
    options = parser.parse_args(arguments)
    try:
        texts = read_gap(options.file)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    ranker = shipped_ranker()
    # As in training, the pronouns before the one that is asked for stay undecided.
    predictions = [predict(text, decide(text, undecided), ranker) for text in texts]
    trees = _Trees(texts)
    chance = random.Random(0)
    rows = {
        "random": [_first(chance.random() < 0.5) for _ in texts],
        "token distance": [_nearer(text, _tokens_between) for text in texts],
        "syntactic distance": [_nearer(text, trees.distance) for text in texts],
        "parallelism": [_parallel(text, trees) for text in texts],
        "recallm, names found by itself": [_of_plain(text) for text in texts],
        "recallm": predictions,
    }
    print(table_of_scores("by", {name: (texts, answers) for name, answers in rows.items()}))
    if options.output:
        write_predictions(options.output, texts, predictions)
        print(f"written: {options.output}")
    result = score_dialogues()
    print(
        f"\nSessions by hand: {result.anaphors} anaphors, {result.resolved} resolved, "
        f"precision {100 * result.precision:.1f}, recall {100 * result.recall:.1f}"
    )


def _first(is_first: bool) -> Answer:
    return is_first, not is_first


class _Trees:
    """The parses of the texts, by text; their tokens are those of the texts as read."""

    def __init__(self, texts: Sequence[GapText]) -> None:
        passages = [text.read.text for text in texts]
        reads = TextReader(RecallConfig()).read(passages, parsed=True)
        self._heads: dict[str, list[int]] = {}
        self._relations: dict[str, list[str]] = {}
        for passage, read in zip(passages, reads, strict=True):
            heads = self._heads[passage] = []
            relations = self._relations[passage] = []
            for block in read.blocks:
                if block.tagged.tree is not None:
                    offset = len(heads)
                    heads += [offset + head for head in block.tagged.tree.heads]
                    relations += block.tagged.tree.relations

    def relation(self, text: GapText, token: int) -> str:
        return self._relations[text.read.text][token]

    def head_of_name(self, text: GapText, place: int) -> int:
        """The token of a name whose head lies outside of it."""
        name = text.read.names[place]
        heads = self._heads[text.read.text]
        tokens = range(name.first, name.last)
        return next((i for i in tokens if heads[i] not in tokens or heads[i] == i), name.first)

    def distance(self, text: GapText, place: int) -> float:
        """The steps in the tree from a name to the pronoun. Roots of sentences that follow one
        another are a step apart; with equal steps the fewer tokens decide."""
        up_name = self._to_root(text, self.head_of_name(text, place))
        up_pronoun = self._to_root(text, text.token)
        read = text.read
        common = next((i for i in up_name if i in up_pronoun), None)
        if common is not None:
            steps = up_name.index(common) + up_pronoun.index(common)
        else:
            between = abs(read.sentence_of(up_name[-1]) - read.sentence_of(up_pronoun[-1]))
            steps = len(up_name) + len(up_pronoun) - 2 + between
        return steps + _tokens_between(text, place) / 10_000

    def _to_root(self, text: GapText, token: int) -> list[int]:
        heads = self._heads[text.read.text]
        path = [token]
        while heads[path[-1]] != path[-1] and len(path) <= len(heads):
            path.append(heads[path[-1]])
        return path


def _tokens_between(text: GapText, place: int) -> float:
    return abs(text.read.names[place].first - text.token)


def _nearer(text: GapText, distance: Callable[[GapText, int], float]) -> Answer:
    a, b = (distance(text, place) for place in text.names)
    return _first(a < b)


def _parallel(text: GapText, trees: _Trees) -> Answer:
    """The parallelism baseline of GAP's paper."""
    for relations in (SUBJECT, OBJECT):
        if trees.relation(text, text.token) in relations:
            same = [
                trees.relation(text, trees.head_of_name(text, place)) in relations
                for place in text.names
            ]
            if same == [True, True]:
                return _nearer(text, _tokens_between)
            if any(same):
                return _first(same[0])
    return _nearer(text, trees.distance)


def _of_plain(text: GapText) -> Answer:
    """What ``resolve`` says where recallm finds the names itself, at the threshold that ships."""
    start = text.plain.starts[text.token]
    found = next((link for link in resolve(text.plain) if link.start == start), None)
    if found is None:
        return False, False
    meant = set(found.concepts[0].name.split())
    words = [set(text.read.names[place].place.concept.name.split()) for place in text.names]
    shared = [len(meant & own) / len(own) for own in words]
    return shared[0] > shared[1], shared[1] > shared[0]


class DialogueScore(NamedTuple):
    """``anaphors`` with an antecedent that is named, those that were ``resolved``, and how many of
    these are ``right``."""

    anaphors: int
    resolved: int
    right: int

    @property
    def precision(self) -> float:
        """The share of right ones among those resolved (0 to 1)."""
        return self.right / self.resolved if self.resolved else 0.0

    @property
    def recall(self) -> float:
        """The share of those that were found (0 to 1)."""
        return self.right / self.anaphors if self.anaphors else 0.0


def score_dialogues() -> DialogueScore:
    """The score on the hand-written sessions."""
    sessions = tomllib.loads(_DIALOGUES.read_text(encoding="utf-8"))["sessions"]
    named, found = 0, list[bool]()
    for session in read_sessions(sessions):
        passages = [turn.read for turn in session]
        for i, (passage, antecedents) in enumerate(session):
            named += sum(map(bool, antecedents.values()))
            for link in resolve(passage, passages[max(0, i - _EARLIER) : i]):
                meant = antecedents.get((link.start, link.end), "")
                found.append(is_meant(link.concepts[0].label, meant))
    return DialogueScore(named, len(found), sum(found))


if __name__ == "__main__":
    main()
