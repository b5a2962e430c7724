"""Scores of a pipeline on raw text, against the words as the annotators cut them.

Each sentence is one input. spaCy's scorer aligns the tokens with the gold words; where the
tokenizer cuts a gold word, its pieces are scored as training learns them (``examples``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from spacy.language import Language

from training.pipeline.examples import example_of
from training.pipeline.passages import Passage, respelled
from training.pipeline.treebank import Sentence

_FIGURES = {
    "token_f": "tokens",
    "pos_acc": "UPOS",
    "tag_acc": "roles",
    "sents_f": "sentences",
    "ents_f": "entities, spans and types",
    "dep_uas": "UAS",
    "dep_las": "LAS",
    "lemma_acc": "lemmas",
}
"""What spaCy calls the figures, and what the model card calls them."""


def scores(
    nlp: Language,
    sentences: Sequence[Sentence],
    *,
    trees: bool = False,
    respell: Callable[[str], str] | None = None,
) -> dict[str, float]:
    """F1 or accuracy in per cent of what the components of `nlp` find, each of `sentences` one
    input; with `trees` of trees and lemmas alone.

    `respell` changes the words but not their length (lower-cased words, say).
    """
    passages = (Passage(sentences=(sentence,), separators=("",)) for sentence in sentences)
    found = nlp.evaluate(
        [
            example_of(nlp, respelled(passage, respell) if respell else passage, trees=trees)
            for passage in passages
        ]
    )
    of_trees = ("dep_uas", "dep_las", "lemma_acc")
    figures = {
        name: 100 * found[key]
        for key, name in _FIGURES.items()
        if found.get(key) is not None and (key in of_trees) is trees
    }
    if not trees:
        types = sorted((found.get("ents_per_type") or {}).items())
        figures |= {kind: 100 * score["f"] for kind, score in types}
    return figures


def words_per_second(nlp: Language, sentences: Sequence[Sentence], repeats: int = 5) -> float:
    """Tokens from raw text in batches for each second of one core, the best of `repeats` runs.

    Processor time is counted, so that a busy machine does not make the pipeline look slow.
    """
    texts = [sentence.text for sentence in sentences]
    best = 0.0
    for _ in range(repeats):
        started = time.process_time()
        tokens = sum(len(doc) for doc in nlp.pipe(texts, batch_size=256))
        best = max(best, tokens / (time.process_time() - started))
    return best
