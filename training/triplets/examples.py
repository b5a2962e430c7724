"""Examples: the triplets that `english.syntax` finds in CaRB's sentences, each with its features
and with how well it agrees with what people found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from benchmarks.carb import Extraction, agreement, plain, read_tabbed, sentence_key, tabbed
from benchmarks.triplets import arguments
from recallm.english.pipeline import load_pipeline
from recallm.english.syntax.confidence import features
from recallm.english.syntax.tree import SentenceTree
from recallm.english.syntax.triplets import drafts, written


class Example(NamedTuple):
    """A triplet of a sentence. ``agreement`` (0 to 1) is the F-measure of its precision against the
    gold extraction that is given to it and of its best recall."""

    sentence: str
    extraction: Extraction
    features: Mapping[str, float]
    agreement: float


def read_examples(
    sentences: Sequence[str], gold: Mapping[str, Sequence[Extraction]]
) -> list[Example]:
    """The examples of all sentences that have gold extractions."""
    found: list[Example] = []
    tagged_texts = load_pipeline(None).tag([plain(text) for text in sentences], parsed=True)
    for sentence, tagged in zip(sentences, tagged_texts, strict=True):
        key = sentence_key(sentence)
        if tagged.tree is None or key not in gold:
            continue
        tree = SentenceTree(tagged, tagged.tree, (0, len(tagged.words)))
        own: dict[str, Mapping[str, float]] = {}
        read = drafts(tree)
        for draft in read:
            triplet = written(tree, draft, len(read))
            line = tabbed(sentence, 1.0, triplet.predicate, arguments(triplet))
            own.setdefault(line, features(tree, draft, len(read)))
        extractions = read_tabbed(own).get(key, [])
        for extraction, values, value in zip(
            extractions, own.values(), agreement(gold[key], extractions), strict=True
        ):
            found.append(Example(key, extraction, values, value))
    return found
