"""Open triplets out of sentences, beside a naive baseline.

    python -m benchmarks.triplets SENTENCES.txt [--gold GOLD.tsv] [--output OUT]

SENTENCES.txt has a sentence a line, its tokens apart by spaces, as CaRB has them. ``--gold`` scores
the triplets as CaRB does (`benchmarks/carb.py`); ``--output`` writes them in the form that its
scorer takes with ``--tabbed``: sentence, confidence, predicate, subject, object, adjuncts.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from spacy.symbols import AUX, NOUN, PRON, PROPN, VERB

from benchmarks.carb import plain, read_gold, read_tabbed, score, tabbed
from benchmarks.report import report
from recallm.english.pipeline import TaggedText, load_pipeline
from recallm.english.syntax.tree import SentenceTree
from recallm.english.syntax.triplets import drafts, written
from recallm.model import OpenTriplet

_NOMINAL = (NOUN, PROPN, PRON)


def open_triplets(tagged: TaggedText) -> list[OpenTriplet]:
    """The open triplets of a parsed sentence, in textual order of their clauses; none where there
    is no parse."""
    if tagged.tree is None or not tagged.words:
        return []
    tree = SentenceTree(tagged, tagged.tree, (0, len(tagged.words)))
    read = drafts(tree)
    found: dict[tuple[str, str, str], OpenTriplet] = {}
    for draft in read:
        triplet = written(tree, draft, len(read))
        found.setdefault((triplet.subject, triplet.predicate, triplet.object), triplet)
    return list(found.values())


def arguments(triplet: OpenTriplet) -> list[str]:
    """The arguments of a triplet as CaRB counts them: subject, object, then each adjunct."""
    adjuncts = (f"{adjunct.preposition} {adjunct.text}".strip() for adjunct in triplet.adjuncts)
    return [triplet.subject, *([triplet.object] if triplet.object else []), *adjuncts]


def triplet_lines(sentence: str, tagged: TaggedText) -> Iterator[str]:
    """The triplets of a sentence in the tabbed form."""
    for triplet in open_triplets(tagged):
        yield tabbed(sentence, triplet.confidence, triplet.predicate, arguments(triplet))


def _naive_lines(sentence: str, tagged: TaggedText) -> Iterator[str]:
    """The naive baseline: each run of verbs with the runs of nouns before it and behind it."""
    runs: list[tuple[str, list[str]]] = []
    for word, tag in zip(tagged.words, tagged.tags, strict=True):
        kind = "verb" if tag in (VERB, AUX) else "noun" if tag in _NOMINAL else ""
        if kind and runs and runs[-1][0] == kind:
            runs[-1][1].append(word.text)
        else:
            runs.append((kind, [word.text]))
    named = [run for run in runs if run[0]]
    for before, verb, behind in zip(named, named[1:], named[2:], strict=False):
        if (before[0], verb[0], behind[0]) == ("noun", "verb", "noun"):
            parts = (" ".join(run[1]) for run in (before, behind))
            yield tabbed(sentence, 1.0, " ".join(verb[1]), parts)


_PEERS: dict[str, tuple[Callable[[str, TaggedText], Iterator[str]], bool]] = {
    "recallm": (triplet_lines, True),
    "naive: verbs and nearest nouns": (_naive_lines, False),
}
"""How each gives lines of a sentence, and whether it needs a parse."""


def main(options: Sequence[str] | None = None) -> None:
    """Read the sentences, print the table, write the predictions."""
    parser = argparse.ArgumentParser(description="Open triplets out of sentences")
    parser.add_argument("sentences", type=Path, metavar="SENTENCES.txt")
    parser.add_argument("--gold", type=Path, metavar="GOLD.tsv")
    parser.add_argument("--output", type=Path, metavar="OUT", help="the triplets, tabbed")
    parser.add_argument("--json", type=Path, metavar="OUT", help="the table")
    chosen = parser.parse_args(options)
    sentences = chosen.sentences.read_text(encoding="utf-8").splitlines()
    gold = read_gold(chosen.gold) if chosen.gold else None
    pipeline = load_pipeline(None)
    next(pipeline.tag(["Loading takes no part."], parsed=True))
    rows: list[dict[str, Any]] = []
    for name, (read, parsed) in _PEERS.items():
        begun = time.perf_counter()
        tagged = pipeline.tag([plain(sentence) for sentence in sentences], parsed=parsed)
        lines = [
            line
            for sentence, text in zip(sentences, tagged, strict=True)
            for line in read(sentence, text)
        ]
        seconds = time.perf_counter() - begun
        row: dict[str, Any] = {
            "extractor": name,
            "triplets": len(lines),
            "a sentence": round(len(lines) / max(1, len(sentences)), 2),
            "ms a sentence": round(1000 * seconds / max(1, len(sentences)), 2),
        }
        if gold is not None:
            row |= _scores(gold, lines)
        rows.append(row)
        if chosen.output and read is triplet_lines:
            chosen.output.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    report(f"open triplets of {len(sentences):,} sentences", rows, chosen.json)


def _scores(gold: Any, lines: Iterable[str]) -> dict[str, Any]:
    curve = score(gold, read_tabbed(lines))
    return {
        "precision": round(curve.precision, 3),
        "recall": round(curve.recall, 3),
        "F1": round(curve.f1, 3),
        "AUC": round(curve.auc, 3),
        "at confidence": round(curve.threshold, 2),
    }


if __name__ == "__main__":
    main()
